//! Dates, times, zones and clocks.

use culprit_model::Value;

use super::Recipe::{By, Of};
use super::Table;
use super::object_maker::ObjectMaker;
use super::state_piece::StatePiece;

pub(super) const RECIPES: Table = &[
    ("java/util/Date", By(date)),
    ("java/sql/Date", By(date)),
    ("java/sql/Time", By(date)),
    ("java/sql/Timestamp", By(timestamp)),
    ("java/util/GregorianCalendar", By(calendar)),
    (
        "sun/util/calendar/ZoneInfo",
        Of(
            "java/util/TimeZone.getTimeZone(Ljava/lang/String;)Ljava/util/TimeZone;",
            &["ID"],
        ),
    ),
    ("java/util/SimpleTimeZone", By(simple_zone)),
    (
        "java/time/LocalDate",
        Of(
            "java/time/LocalDate.of(III)Ljava/time/LocalDate;",
            &["year", "month", "day"],
        ),
    ),
    (
        "java/time/LocalTime",
        Of(
            "java/time/LocalTime.of(IIII)Ljava/time/LocalTime;",
            &["hour", "minute", "second", "nano"],
        ),
    ),
    (
        "java/time/LocalDateTime",
        Of(
            "java/time/LocalDateTime.of(Ljava/time/LocalDate;Ljava/time/LocalTime;)Ljava/time/LocalDateTime;",
            &["date", "time"],
        ),
    ),
    (
        "java/time/Instant",
        Of(
            "java/time/Instant.ofEpochSecond(JJ)Ljava/time/Instant;",
            &["seconds", "nanos"],
        ),
    ),
    (
        "java/time/Duration",
        Of(
            "java/time/Duration.ofSeconds(JJ)Ljava/time/Duration;",
            &["seconds", "nanos"],
        ),
    ),
    (
        "java/time/Period",
        Of(
            "java/time/Period.of(III)Ljava/time/Period;",
            &["years", "months", "days"],
        ),
    ),
    (
        "java/time/ZoneRegion",
        Of(
            "java/time/ZoneId.of(Ljava/lang/String;)Ljava/time/ZoneId;",
            &["id"],
        ),
    ),
    (
        "java/time/ZoneOffset",
        Of(
            "java/time/ZoneOffset.ofTotalSeconds(I)Ljava/time/ZoneOffset;",
            &["totalSeconds"],
        ),
    ),
    (
        "java/time/ZonedDateTime",
        Of(
            "java/time/ZonedDateTime.ofLocal(Ljava/time/LocalDateTime;Ljava/time/ZoneId;Ljava/time/ZoneOffset;)Ljava/time/ZonedDateTime;",
            &["dateTime", "zone", "offset"],
        ),
    ),
    (
        "java/time/OffsetDateTime",
        Of(
            "java/time/OffsetDateTime.of(Ljava/time/LocalDateTime;Ljava/time/ZoneOffset;)Ljava/time/OffsetDateTime;",
            &["dateTime", "offset"],
        ),
    ),
    (
        "java/time/OffsetTime",
        Of(
            "java/time/OffsetTime.of(Ljava/time/LocalTime;Ljava/time/ZoneOffset;)Ljava/time/OffsetTime;",
            &["time", "offset"],
        ),
    ),
    (
        "java/time/Year",
        Of("java/time/Year.of(I)Ljava/time/Year;", &["year"]),
    ),
    (
        "java/time/YearMonth",
        Of(
            "java/time/YearMonth.of(II)Ljava/time/YearMonth;",
            &["year", "month"],
        ),
    ),
    (
        "java/time/MonthDay",
        Of(
            "java/time/MonthDay.of(II)Ljava/time/MonthDay;",
            &["month", "day"],
        ),
    ),
    (
        "java/time/Clock$FixedClock",
        Of(
            "java/time/Clock.fixed(Ljava/time/Instant;Ljava/time/ZoneId;)Ljava/time/Clock;",
            &["instant", "zone"],
        ),
    ),
    (
        "java/time/Clock$SystemClock",
        Of(
            "java/time/Clock.system(Ljava/time/ZoneId;)Ljava/time/Clock;",
            &["zone"],
        ),
    ),
];

/// The time of a date. One whose fields were set may not have it yet.
fn millis(held: StatePiece<'_>) -> Option<i64> {
    let is_settled = held.is_null("cdate") || held.open("cdate")?.int("normalized")? != 0;
    is_settled.then_some(held.int("fastTime")?)
}

fn date<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let time = vec![Value::Long(millis(held)?)];
    maker.make(&format!("{}.<init>(J)V", held.class()), time, made)
}

/// Keeps whole seconds as a date does, and the rest apart.
fn timestamp<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let nanos = held.int("nanos")?;
    let time = Value::Long(millis(held)? + nanos / 1_000_000);
    maker.make("java/sql/Timestamp.<init>(J)V", vec![time], made)?;
    if nanos % 1_000_000 == 0 {
        return Some(());
    }
    let nanos = Value::Int(i32::try_from(nanos).ok()?);
    maker.send("java/sql/Timestamp.setNanos(I)V", made, vec![nanos], None)
}

fn simple_zone<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    (held.int("useDaylight")? == 0).then_some(())?;
    let target = "java/util/SimpleTimeZone.<init>(ILjava/lang/String;)V";
    maker.of(target, held, &["rawOffset", "ID"], made)
}

fn calendar<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let class = held.class();
    let target = format!("{class}.<init>(Ljava/util/TimeZone;)V");
    maker.of(&target, held, &["zone"], made)?;
    // They come of the locale, which is not told.
    for (field, by) in [
        ("firstDayOfWeek", "setFirstDayOfWeek(I)V"),
        ("minimalDaysInFirstWeek", "setMinimalDaysInFirstWeek(I)V"),
    ] {
        let given = vec![maker.field(held, field)?];
        maker.send(&format!("{class}.{by}"), made, given, None)?;
    }
    if held.int("lenient")? == 0 {
        let given = vec![Value::Boolean(false)];
        maker.send(&format!("{class}.setLenient(Z)V"), made, given, None)?;
    }
    if held.int("isTimeSet")? != 0 {
        let given = vec![maker.field(held, "time")?];
        return maker.send(&format!("{class}.setTimeInMillis(J)V"), made, given, None);
    }
    maker.send(&format!("{class}.clear()V"), made, vec![], None)?;
    for (field, value) in set_fields(held)? {
        let given = vec![Value::Int(field), Value::Int(value)];
        maker.send(&format!("{class}.set(II)V"), made, given, None)?;
    }
    Some(())
}

/// The fields of a calendar that were set, and not computed, in the order in which they were.
fn set_fields(held: StatePiece<'_>) -> Option<Vec<(i32, i32)>> {
    const COMPUTED: i64 = 1;
    let (stamps, values) = (held.integers("stamp")?, held.integers("fields")?);
    let all = stamps.into_iter().zip(values).zip(0..);
    let mut set: Vec<_> = all.filter(|((stamp, _), _)| *stamp > COMPUTED).collect();
    set.sort_unstable();
    let set = set.into_iter();
    Some(
        set.map(|((_, value), field)| (field, value as i32))
            .collect(),
    )
}
