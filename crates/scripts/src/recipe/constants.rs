//! What static fields of the JDK hold. A test can name the public ones; for most others there is a
//! method that returns them.

use culprit_model::{TypeId, Value};

use super::object_maker::{ObjectMaker, null, string};

/// Classes whose constants are public: all of them, or those named.
const PUBLIC: &[(&str, &[&str])] = &[
    ("java/util/Locale", &[]),
    ("java/time/Duration", &[]),
    ("java/time/Instant", &[]),
    ("java/time/LocalDate", &[]),
    ("java/time/LocalDateTime", &[]),
    ("java/time/LocalTime", &[]),
    ("java/time/OffsetDateTime", &[]),
    ("java/time/OffsetTime", &[]),
    ("java/time/Period", &[]),
    ("java/time/ZoneOffset", &[]),
    ("java/time/format/DateTimeFormatter", &[]),
    ("java/math/MathContext", &[]),
    ("java/math/BigInteger", &["ZERO", "ONE", "TWO", "TEN"]),
    ("java/math/BigDecimal", &["ZERO", "ONE", "TWO", "TEN"]),
    ("java/nio/ByteOrder", &["BIG_ENDIAN", "LITTLE_ENDIAN"]),
];

/// Constants that methods return: the class, the constant, the method.
const RETURNED: &[(&str, &str, &str)] = &[
    (
        "java/util/Optional",
        "EMPTY",
        "java/util/Optional.empty()Ljava/util/Optional;",
    ),
    (
        "java/util/OptionalInt",
        "EMPTY",
        "java/util/OptionalInt.empty()Ljava/util/OptionalInt;",
    ),
    (
        "java/util/OptionalLong",
        "EMPTY",
        "java/util/OptionalLong.empty()Ljava/util/OptionalLong;",
    ),
    (
        "java/util/OptionalDouble",
        "EMPTY",
        "java/util/OptionalDouble.empty()Ljava/util/OptionalDouble;",
    ),
    (
        "java/util/ImmutableCollections",
        "EMPTY_LIST",
        "java/util/List.of()Ljava/util/List;",
    ),
    (
        "java/util/ImmutableCollections",
        "EMPTY_SET",
        "java/util/Set.of()Ljava/util/Set;",
    ),
    (
        "java/util/ImmutableCollections",
        "EMPTY_MAP",
        "java/util/Map.of()Ljava/util/Map;",
    ),
    (
        "java/util/ImmutableCollections$ListN",
        "EMPTY_LIST",
        "java/util/List.of()Ljava/util/List;",
    ),
    (
        "java/util/ImmutableCollections$SetN",
        "EMPTY_SET",
        "java/util/Set.of()Ljava/util/Set;",
    ),
    (
        "java/util/ImmutableCollections$MapN",
        "EMPTY_MAP",
        "java/util/Map.of()Ljava/util/Map;",
    ),
    (
        "java/util/Collections",
        "EMPTY_LIST",
        "java/util/Collections.emptyList()Ljava/util/List;",
    ),
    (
        "java/util/Collections",
        "EMPTY_SET",
        "java/util/Collections.emptySet()Ljava/util/Set;",
    ),
    (
        "java/util/Collections",
        "EMPTY_MAP",
        "java/util/Collections.emptyMap()Ljava/util/Map;",
    ),
    (
        "java/util/Collections$EmptyIterator",
        "EMPTY_ITERATOR",
        "java/util/Collections.emptyIterator()Ljava/util/Iterator;",
    ),
    (
        "java/util/Collections$EmptyListIterator",
        "EMPTY_ITERATOR",
        "java/util/Collections.emptyListIterator()Ljava/util/ListIterator;",
    ),
    (
        "java/util/Collections$EmptyEnumeration",
        "EMPTY_ENUMERATION",
        "java/util/Collections.emptyEnumeration()Ljava/util/Enumeration;",
    ),
    (
        "java/util/Collections$UnmodifiableNavigableSet",
        "EMPTY_NAVIGABLE_SET",
        "java/util/Collections.emptyNavigableSet()Ljava/util/NavigableSet;",
    ),
    (
        "java/util/Collections$UnmodifiableNavigableMap",
        "EMPTY_NAVIGABLE_MAP",
        "java/util/Collections.emptyNavigableMap()Ljava/util/NavigableMap;",
    ),
    (
        "java/util/Collections$ReverseComparator",
        "REVERSE_ORDER",
        "java/util/Collections.reverseOrder()Ljava/util/Comparator;",
    ),
    (
        "java/util/Comparators$NaturalOrderComparator",
        "INSTANCE",
        "java/util/Comparator.naturalOrder()Ljava/util/Comparator;",
    ),
    (
        "java/time/Clock$SystemClock",
        "UTC",
        "java/time/Clock.systemUTC()Ljava/time/Clock;",
    ),
];

/// Constants that stand for null where a collection cannot have it.
const NULLS: &[(&str, &str)] = &[
    ("java/util/IdentityHashMap", "NULL_KEY"),
    ("java/util/WeakHashMap", "NULL_KEY"),
    ("java/util/EnumMap", "NULL"),
];

/// The charsets that `StandardCharsets` has, with the names of its fields.
const CHARSETS: &[(&str, &str)] = &[
    ("UTF-8", "UTF_8"),
    ("US-ASCII", "US_ASCII"),
    ("ISO-8859-1", "ISO_8859_1"),
    ("UTF-16", "UTF_16"),
    ("UTF-16BE", "UTF_16BE"),
    ("UTF-16LE", "UTF_16LE"),
];

/// What a statement can be given for a constant of a class, an enum's too.
pub(super) fn give(
    maker: &mut ObjectMaker<'_, '_>,
    class: TypeId,
    name: &str,
    value: &Value,
) -> Option<Value> {
    let owner = maker.class_name(class)?;
    if owner == "java/nio/charset/Charset" {
        return charset(maker, name);
    }
    if NULLS.contains(&(owner, name)) {
        return Some(null());
    }
    let mut returned = RETURNED.iter();
    if let Some((_, _, by)) = returned.find(|(class, field, _)| (*class, *field) == (owner, name)) {
        return maker.fresh(owner, by, vec![]);
    }
    let is_public = PUBLIC
        .iter()
        .any(|(class, names)| *class == owner && (names.is_empty() || names.contains(&name)));
    let is_enum = matches!(
        value,
        Value::Reference(culprit_model::Reference::Enum { .. })
    );
    (is_public || is_enum).then(|| value.clone())
}

fn charset(maker: &mut ObjectMaker<'_, '_>, name: &str) -> Option<Value> {
    let standard = CHARSETS.iter().find(|(charset, _)| *charset == name);
    if let Some((_, field)) = standard {
        return Some(maker.constant("java/nio/charset/StandardCharsets", field));
    }
    let class = "java/nio/charset/Charset";
    let by = format!("{class}.forName(Ljava/lang/String;)L{class};");
    maker.fresh(class, &by, vec![string(name)])
}
