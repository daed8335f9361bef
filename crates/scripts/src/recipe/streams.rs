//! Streams and buffers of bytes, and readers and writers around others. Where one has already read
//! ahead there is no recipe: what it wraps is not where it was.

use culprit_model::Value;
use culprit_model::script::MemberName;

use super::Recipe::{By, Of, When};
use super::Table;
use super::object_maker::ObjectMaker;
use super::state_piece::StatePiece;
use super::texts::{units, wrapped, write};

pub(super) const RECIPES: Table = &[
    ("java/io/ByteArrayInputStream", By(bytes_in)),
    ("java/io/ByteArrayOutputStream", By(bytes_out)),
    ("java/io/InputStreamReader", By(decoder)),
    (
        "java/io/BufferedReader",
        When(
            &[("nChars", 0), ("nextChar", 0)],
            "java/io/BufferedReader.<init>(Ljava/io/Reader;)V",
            &["in"],
        ),
    ),
    (
        "java/io/LineNumberReader",
        When(
            &[("nChars", 0), ("nextChar", 0), ("lineNumber", 0)],
            "java/io/LineNumberReader.<init>(Ljava/io/Reader;)V",
            &["in"],
        ),
    ),
    (
        "java/io/PushbackReader",
        When(
            &[("pos", 1)],
            "java/io/PushbackReader.<init>(Ljava/io/Reader;)V",
            &["in"],
        ),
    ),
    (
        "java/io/BufferedInputStream",
        When(
            &[("count", 0), ("pos", 0)],
            "java/io/BufferedInputStream.<init>(Ljava/io/InputStream;)V",
            &["in"],
        ),
    ),
    (
        "java/io/PushbackInputStream",
        When(
            &[("pos", 1)],
            "java/io/PushbackInputStream.<init>(Ljava/io/InputStream;)V",
            &["in"],
        ),
    ),
    (
        "java/io/DataInputStream",
        Of(
            "java/io/DataInputStream.<init>(Ljava/io/InputStream;)V",
            &["in"],
        ),
    ),
    (
        "java/io/PrintWriter",
        Of(
            "java/io/PrintWriter.<init>(Ljava/io/Writer;Z)V",
            &["out", "autoFlush"],
        ),
    ),
    ("java/io/BufferedWriter", By(buffered_writer)),
    ("java/io/OutputStreamWriter", By(encoder)),
    ("java/io/PrintStream", By(print_stream)),
    (
        "java/io/BufferedOutputStream",
        When(
            &[("count", 0)],
            "java/io/BufferedOutputStream.<init>(Ljava/io/OutputStream;)V",
            &["out"],
        ),
    ),
    (
        "java/io/DataOutputStream",
        When(
            &[("written", 0)],
            "java/io/DataOutputStream.<init>(Ljava/io/OutputStream;)V",
            &["out"],
        ),
    ),
    (
        "java/io/InputStream$1",
        When(
            &[("closed", 0)],
            "java/io/InputStream.nullInputStream()Ljava/io/InputStream;",
            &[],
        ),
    ),
    (
        "java/io/OutputStream$1",
        When(
            &[("closed", 0)],
            "java/io/OutputStream.nullOutputStream()Ljava/io/OutputStream;",
            &[],
        ),
    ),
    ("java/nio/HeapByteBuffer", By(byte_buffer)),
];

/// Bytes of an array, from one up to another. A whole array stays as it was told.
fn bytes<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    array: &str,
    (from, to): (i64, i64),
) -> Option<Value> {
    let all = held.integers(array)?;
    let (from, to) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
    if (from, to) == (0, all.len()) {
        return maker.field(held, array);
    }
    let part = all.get(from..to)?.iter();
    Some(maker.array("[B", part.map(|byte| Value::Byte(*byte as i8)).collect()))
}

fn bytes_in<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let left = (held.int("pos")?, held.int("count")?);
    let bytes = bytes(maker, held, "buf", left)?;
    let target = "java/io/ByteArrayInputStream.<init>([B)V";
    maker.make(target, vec![bytes], made)
}

fn bytes_out<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let class = held.class();
    maker.make(&format!("{class}.<init>()V"), vec![], made)?;
    match held.int("count")? {
        0 => Some(()),
        count => {
            let bytes = bytes(maker, held, "buf", (0, count))?;
            maker.send(&format!("{class}.write([B)V"), made, vec![bytes], None)
        }
    }
}

fn decoder<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let decoder = held.open("sd")?;
    let is_new = decoder.open("bb")?.int("limit")? == 0 && decoder.int("haveLeftoverChar")? == 0;
    is_new.then_some(())?;
    let target =
        "java/io/InputStreamReader.<init>(Ljava/io/InputStream;Ljava/nio/charset/Charset;)V";
    maker.of(target, decoder, &["in", "cs"], made)
}

fn encoder<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let encoder = held.open("se")?;
    let is_new = encoder.open("bb")?.int("position")? == 0;
    is_new.then_some(())?;
    let target =
        "java/io/OutputStreamWriter.<init>(Ljava/io/OutputStream;Ljava/nio/charset/Charset;)V";
    maker.of(target, encoder, &["out", "cs"], made)
}

fn buffered_writer<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let class = held.class();
    let target = format!("{class}.<init>(Ljava/io/Writer;)V");
    maker.of(&target, held, &["out"], made)?;
    let waiting = units(held, "cb", 0, held.int("nextChar")?)?;
    write(maker, class, &waiting, made)
}

/// That of the JVM's own streams, or one around another.
fn print_stream<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    if let Some(number) = file_number(held) {
        let name = match number {
            1 => "out",
            2 => "err",
            _ => return None,
        };
        let field = MemberName::of("java/lang/System", name, "Ljava/io/PrintStream;");
        return maker.read(field, made);
    }
    let target = "java/io/PrintStream.<init>(Ljava/io/OutputStream;Z)V";
    maker.of(target, held, &["out", "autoFlush"], made)
}

/// The number of the open file that a stream writes to in the end.
fn file_number(held: StatePiece<'_>) -> Option<i64> {
    let mut at = held.open("out")?;
    while at.class() == "java/io/BufferedOutputStream" || at.class().starts_with("java/io/Print") {
        at = at.open("out")?;
    }
    let is_file = ["java/io/FileOutputStream", "java/lang/System$Out"].contains(&at.class());
    is_file.then_some(())?;
    at.open("fd")?.int("fd")
}

fn byte_buffer<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let class = "java/nio/ByteBuffer";
    wrapped(maker, held, made, class, 'B')?;
    if held.int("bigEndian")? != 0 {
        return Some(());
    }
    let order = maker.constant("java/nio/ByteOrder", "LITTLE_ENDIAN");
    let target = format!("{class}.order(Ljava/nio/ByteOrder;)L{class};");
    maker.send(&target, made, vec![order], None)
}
