//! Numbers, and other small things of `java.lang`, `java.math` and `java.util`.

use culprit_model::Value;

use super::Recipe::{By, Field, Of, When};
use super::Table;
use super::decimal::{decimal, digits};
use super::object_maker::{ObjectMaker, string};
use super::state_piece::StatePiece;

pub(super) const RECIPES: Table = &[
    ("java/lang/Object", Of("java/lang/Object.<init>()V", &[])),
    (
        "java/lang/ThreadLocal",
        Of("java/lang/ThreadLocal.<init>()V", &[]),
    ),
    (
        "java/lang/InheritableThreadLocal",
        Of("java/lang/InheritableThreadLocal.<init>()V", &[]),
    ),
    (
        "java/lang/String$CaseInsensitiveComparator",
        Field(
            "java/lang/String",
            "CASE_INSENSITIVE_ORDER",
            "Ljava/util/Comparator;",
        ),
    ),
    (
        "java/util/concurrent/atomic/AtomicInteger",
        Of(
            "java/util/concurrent/atomic/AtomicInteger.<init>(I)V",
            &["value"],
        ),
    ),
    (
        "java/util/concurrent/atomic/AtomicLong",
        Of(
            "java/util/concurrent/atomic/AtomicLong.<init>(J)V",
            &["value"],
        ),
    ),
    (
        "java/util/concurrent/atomic/AtomicBoolean",
        Of(
            "java/util/concurrent/atomic/AtomicBoolean.<init>(Z)V",
            &["value"],
        ),
    ),
    (
        "java/util/concurrent/atomic/AtomicReference",
        Of(
            "java/util/concurrent/atomic/AtomicReference.<init>(Ljava/lang/Object;)V",
            &["value"],
        ),
    ),
    (
        "java/util/concurrent/atomic/AtomicIntegerArray",
        Of(
            "java/util/concurrent/atomic/AtomicIntegerArray.<init>([I)V",
            &["array"],
        ),
    ),
    (
        "java/util/concurrent/atomic/AtomicLongArray",
        Of(
            "java/util/concurrent/atomic/AtomicLongArray.<init>([J)V",
            &["array"],
        ),
    ),
    ("java/util/concurrent/atomic/LongAdder", By(adder)),
    ("java/util/concurrent/CountDownLatch", By(synchroniser)),
    ("java/util/concurrent/Semaphore", By(synchroniser)),
    (
        "java/util/concurrent/locks/ReentrantLock",
        Of("java/util/concurrent/locks/ReentrantLock.<init>()V", &[]),
    ),
    (
        "java/util/concurrent/locks/ReentrantReadWriteLock",
        Of(
            "java/util/concurrent/locks/ReentrantReadWriteLock.<init>()V",
            &[],
        ),
    ),
    (
        "java/lang/ref/WeakReference",
        Of(
            "java/lang/ref/WeakReference.<init>(Ljava/lang/Object;)V",
            &["referent"],
        ),
    ),
    (
        "java/lang/ref/SoftReference",
        Of(
            "java/lang/ref/SoftReference.<init>(Ljava/lang/Object;)V",
            &["referent"],
        ),
    ),
    (
        "java/util/Optional",
        Of(
            "java/util/Optional.of(Ljava/lang/Object;)Ljava/util/Optional;",
            &["value"],
        ),
    ),
    (
        "java/util/OptionalInt",
        When(
            &[("isPresent", 1)],
            "java/util/OptionalInt.of(I)Ljava/util/OptionalInt;",
            &["value"],
        ),
    ),
    (
        "java/util/OptionalLong",
        When(
            &[("isPresent", 1)],
            "java/util/OptionalLong.of(J)Ljava/util/OptionalLong;",
            &["value"],
        ),
    ),
    (
        "java/util/OptionalDouble",
        When(
            &[("isPresent", 1)],
            "java/util/OptionalDouble.of(D)Ljava/util/OptionalDouble;",
            &["value"],
        ),
    ),
    ("java/util/UUID", By(uuid)),
    ("java/util/Random", By(random)),
    ("java/util/Locale", By(locale)),
    (
        "java/util/Currency",
        Of(
            "java/util/Currency.getInstance(Ljava/lang/String;)Ljava/util/Currency;",
            &["currencyCode"],
        ),
    ),
    ("java/math/BigInteger", By(big_integer)),
    ("java/math/BigDecimal", By(big_decimal)),
    (
        "java/math/MathContext",
        Of(
            "java/math/MathContext.<init>(ILjava/math/RoundingMode;)V",
            &["precision", "roundingMode"],
        ),
    ),
];

fn adder<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    // Threads that were in each other's way have cells of their own.
    held.is_null("cells").then_some(())?;
    let class = held.class();
    maker.make(&format!("{class}.<init>()V"), vec![], made)?;
    match held.int("base")? {
        0 => Some(()),
        sum => maker.send(
            &format!("{class}.add(J)V"),
            made,
            vec![Value::Long(sum)],
            None,
        ),
    }
}

/// A latch or a semaphore with the count that it has, or 1 if that is not recorded: one thread neither waits for it nor is waited for.
fn synchroniser<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let class = held.class();
    let count = held.open("sync").and_then(|sync| sync.int("state"));
    let count = count.and_then(|count| i32::try_from(count).ok());
    let given = vec![Value::Int(count.unwrap_or(1))];
    maker.make(&format!("{class}.<init>(I)V"), given, made)
}

fn uuid<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let (high, low) = (
        held.int("mostSigBits")? as u64,
        held.int("leastSigBits")? as u64,
    );
    let all = format!("{high:016x}{low:016x}");
    let parts = [
        &all[..8],
        &all[8..12],
        &all[12..16],
        &all[16..20],
        &all[20..],
    ];
    let target = "java/util/UUID.fromString(Ljava/lang/String;)Ljava/util/UUID;";
    maker.make(target, vec![string(&parts.join("-"))], made)
}

/// One whose next numbers are the same. It scrambles the seed that it is given.
fn random<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    (held.int("haveNextNextGaussian")? == 0).then_some(())?;
    let seed = held.open("seed")?.int("value")? ^ 0x5_DEEC_E66D;
    maker.make("java/util/Random.<init>(J)V", vec![Value::Long(seed)], made)
}

fn locale<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    held.is_null("localeExtensions").then_some(())?;
    let base = held.open("baseLocale")?;
    let [language, script, region, variant] =
        ["language", "script", "region", "variant"].map(|field| base.string(field));
    let (language, script, region) = (language?, script?, region?);
    let class = "java/util/Locale";
    if !variant?.is_empty() {
        script.is_empty().then_some(())?;
        let text = "Ljava/lang/String;";
        let target = format!("{class}.<init>({text}{text}{text})V");
        return maker.of(&target, base, &["language", "region", "variant"], made);
    }
    let language = if language.is_empty() {
        "und".to_owned()
    } else {
        language
    };
    let mut tag = vec![language];
    tag.extend([script, region].into_iter().filter(|part| !part.is_empty()));
    let target = format!("{class}.forLanguageTag(Ljava/lang/String;)L{class};");
    maker.make(&target, vec![string(&tag.join("-"))], made)
}

/// The digits of a `BigInteger`.
fn integer_digits(held: StatePiece<'_>) -> Option<String> {
    let words = held.integers("mag")?;
    let words: Vec<u32> = words.iter().map(|word| *word as u32).collect();
    let digits = digits(&words);
    Some(match held.int("signum")? {
        -1 => format!("-{digits}"),
        _ => digits,
    })
}

fn big_integer<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let digits = integer_digits(held)?;
    match digits.parse() {
        Ok(small) => {
            let target = "java/math/BigInteger.valueOf(J)Ljava/math/BigInteger;";
            maker.make(target, vec![Value::Long(small)], made)
        }
        Err(_) => {
            let target = "java/math/BigInteger.<init>(Ljava/lang/String;)V";
            maker.make(target, vec![string(&digits)], made)
        }
    }
}

fn big_decimal<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let unscaled = match held.int("intCompact")? {
        i64::MIN => integer_digits(held.open("intVal")?)?,
        small => small.to_string(),
    };
    let text = string(&decimal(&unscaled, held.int("scale")?));
    let target = "java/math/BigDecimal.<init>(Ljava/lang/String;)V";
    maker.make(target, vec![text], made)
}
