//! Exceptions of the JDK.

use culprit_model::Value;

use super::Recipe::{By, Of};
use super::Table;
use super::items;
use super::object_maker::{ObjectMaker, null};
use super::state_piece::StatePiece;

pub(super) const RECIPES: Table = &[
    (
        "java/text/ParseException",
        Of(
            "java/text/ParseException.<init>(Ljava/lang/String;I)V",
            &["detailMessage", "errorOffset"],
        ),
    ),
    ("java/lang/AssertionError", By(assertion)),
    // With constructors for nothing, a message, a cause, and both.
    ("java/lang/Throwable", By(with_cause)),
    ("java/lang/Exception", By(with_cause)),
    ("java/lang/RuntimeException", By(with_cause)),
    ("java/lang/Error", By(with_cause)),
    ("java/lang/IllegalArgumentException", By(with_cause)),
    ("java/lang/IllegalStateException", By(with_cause)),
    ("java/lang/UnsupportedOperationException", By(with_cause)),
    ("java/lang/SecurityException", By(with_cause)),
    ("java/lang/ReflectiveOperationException", By(with_cause)),
    ("java/io/IOException", By(with_cause)),
    ("java/util/ConcurrentModificationException", By(with_cause)),
    ("java/security/GeneralSecurityException", By(with_cause)),
    // For nothing, and a message.
    ("java/lang/ArithmeticException", By(with_message)),
    ("java/lang/ArrayIndexOutOfBoundsException", By(with_message)),
    ("java/lang/ArrayStoreException", By(with_message)),
    ("java/lang/ClassCastException", By(with_message)),
    ("java/lang/ClassNotFoundException", By(with_message)),
    ("java/lang/CloneNotSupportedException", By(with_message)),
    ("java/lang/IllegalAccessException", By(with_message)),
    ("java/lang/IllegalMonitorStateException", By(with_message)),
    ("java/lang/IndexOutOfBoundsException", By(with_message)),
    ("java/lang/InstantiationException", By(with_message)),
    ("java/lang/InterruptedException", By(with_message)),
    ("java/lang/NegativeArraySizeException", By(with_message)),
    ("java/lang/NoSuchFieldException", By(with_message)),
    ("java/lang/NoSuchMethodException", By(with_message)),
    ("java/lang/NullPointerException", By(with_message)),
    ("java/lang/NumberFormatException", By(with_message)),
    (
        "java/lang/StringIndexOutOfBoundsException",
        By(with_message),
    ),
    ("java/lang/NoClassDefFoundError", By(with_message)),
    ("java/lang/OutOfMemoryError", By(with_message)),
    ("java/lang/StackOverflowError", By(with_message)),
    ("java/io/EOFException", By(with_message)),
    ("java/io/FileNotFoundException", By(with_message)),
    ("java/io/UnsupportedEncodingException", By(with_message)),
    ("java/net/ConnectException", By(with_message)),
    ("java/net/MalformedURLException", By(with_message)),
    ("java/net/ProtocolException", By(with_message)),
    ("java/net/SocketException", By(with_message)),
    ("java/net/SocketTimeoutException", By(with_message)),
    ("java/net/UnknownHostException", By(with_message)),
    ("java/util/EmptyStackException", By(with_message)),
    ("java/util/InputMismatchException", By(with_message)),
    ("java/util/NoSuchElementException", By(with_message)),
    (
        "java/util/concurrent/CancellationException",
        By(with_message),
    ),
    ("java/util/concurrent/TimeoutException", By(with_message)),
    ("java/util/zip/DataFormatException", By(with_message)),
    ("java/util/zip/ZipException", By(with_message)),
];

/// The cause of an exception: null if it has none, or is its own, which says that none is known.
fn cause<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<Value> {
    let is_itself = held.get("cause")? == made || maker.is_being_made(held, held.get("cause")?);
    match is_itself {
        true => Some(null()),
        false => maker.field(held, "cause"),
    }
}

fn with_cause<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let cause = cause(maker, held, made)?;
    if cause == null() {
        return with_message(maker, held, made);
    }
    let (descriptor, given) = match is_of_cause(held) {
        true => ("(Ljava/lang/Throwable;)V", vec![cause]),
        false => (
            "(Ljava/lang/String;Ljava/lang/Throwable;)V",
            vec![maker.field(held, "detailMessage")?, cause],
        ),
    };
    maker.make(&format!("{}.<init>{descriptor}", held.class()), given, made)?;
    suppressed(maker, held, made)
}

/// Whether the message is the text of the cause, as it is where no other was given.
fn is_of_cause(held: StatePiece<'_>) -> bool {
    let text = held.open("cause").map(|cause| {
        let class = cause.class().replace('/', ".");
        match cause.string("detailMessage") {
            Some(message) => format!("{class}: {message}"),
            None => class,
        }
    });
    text.is_some() && text == held.string("detailMessage")
}

fn with_message<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let cause = cause(maker, held, made)?;
    let message = maker.field(held, "detailMessage")?;
    let (descriptor, given) = match message == null() {
        true => ("()V", vec![]),
        false => ("(Ljava/lang/String;)V", vec![message]),
    };
    let class = held.class();
    maker.make(&format!("{class}.<init>{descriptor}"), given, made)?;
    if cause != null() {
        let set = "java/lang/Throwable.initCause(Ljava/lang/Throwable;)Ljava/lang/Throwable;";
        maker.send(set, made, vec![cause], None)?;
    }
    suppressed(maker, held, made)
}

fn assertion<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let cause = cause(maker, held, made)?;
    let message = maker.field(held, "detailMessage")?;
    let (descriptor, given) = match (message == null(), cause == null()) {
        (true, true) => ("()V", vec![]),
        (false, true) => ("(Ljava/lang/Object;)V", vec![message]),
        (_, false) => (
            "(Ljava/lang/String;Ljava/lang/Throwable;)V",
            vec![message, cause],
        ),
    };
    maker.make(&format!("{}.<init>{descriptor}", held.class()), given, made)?;
    suppressed(maker, held, made)
}

/// What was thrown meanwhile; a constant stands for none.
fn suppressed<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let Some(list) = held.open("suppressedExceptions") else {
        return Some(());
    };
    let add = "java/lang/Throwable.addSuppressed(Ljava/lang/Throwable;)V";
    maker.fill(add, made, items::array_list(list)?)
}
