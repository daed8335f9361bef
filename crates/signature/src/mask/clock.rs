//! Dates, times and durations.

use super::place::{Match, Place, digits, ends, fixed, run};

pub(super) fn shape(place: &Place<'_>) -> Match {
    let (first, rest) = (place.first()?, place.rest);
    if place.is_inside_word() || !first.is_ascii_alphanumeric() {
        return None;
    }
    match first.is_ascii_digit() {
        true => date(rest)
            .or_else(|| time(rest).map(|length| (length, "<time>")))
            .or_else(|| duration(rest)),
        false => written_date(rest).or_else(|| iso_duration(rest)),
    }
}

/// `2024-03-31`, with or without a time and a zone.
fn date(rest: &str) -> Match {
    let mut at = fixed(rest, 4)?;
    let separator = rest[at..]
        .chars()
        .next()
        .filter(|c| matches!(c, '-' | '/'))?;
    at += 1;
    at += fixed(&rest[at..], 2)?;
    at += rest[at..].starts_with(separator).then_some(1)?;
    at += fixed(&rest[at..], 2)?;
    if rest[at..].starts_with(['T', ' ']) {
        let clock = time(&rest[at + 1..]).or_else(|| minutes(&rest[at + 1..]));
        at += clock.map_or(0, |length| 1 + length);
    }
    ends(rest, at).then_some((at, "<time>"))
}

/// `02:30:15`, with or without fractions and a zone.
fn time(rest: &str) -> Option<usize> {
    let mut at = fixed(rest, 2)?;
    for _ in 0..2 {
        at += rest[at..].starts_with(':').then_some(1)?;
        at += fixed(&rest[at..], 2)?;
    }
    if let Some(fraction) = rest[at..].strip_prefix(['.', ',']) {
        // Digits that were masked already belong to something longer than a fraction.
        if fraction.starts_with('<') {
            return None;
        }
        let digits = digits(fraction);
        at += if digits > 0 { 1 + digits } else { 0 };
    }
    at += zone(&rest[at..]);
    ends(rest, at).then_some(at)
}

/// `02:30` behind a date.
fn minutes(rest: &str) -> Option<usize> {
    let mut at = fixed(rest, 2)?;
    at += rest[at..].starts_with(':').then_some(1)?;
    at += fixed(&rest[at..], 2)?;
    at += zone(&rest[at..]);
    ends(rest, at).then_some(at)
}

/// `Z`, `+01:00`, and the name in brackets that `ZonedDateTime` adds.
fn zone(rest: &str) -> usize {
    let offset = |rest: &str| {
        let hours = fixed(rest.strip_prefix(['+', '-'])?, 2)? + 1;
        let colon = usize::from(rest[hours..].starts_with(':'));
        Some(hours + colon + fixed(&rest[hours + colon..], 2)?)
    };
    let length = if rest.starts_with('Z') {
        1
    } else {
        offset(rest).unwrap_or(0)
    };
    let name = rest[length..].strip_prefix('[').and_then(|tail| {
        let end = run(tail, |byte| {
            byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte)
        });
        tail[end..].starts_with(']').then_some(end + 2)
    });
    // Brackets in the middle of a word hold no name: numbers in them may be masked before the next time.
    let name = name.filter(|name| length > 0 && ends(rest, length + name));
    length + name.unwrap_or(0)
}

/// `Sun Mar 31 02:30:15 CET 2024`, as `Date.toString` has it.
fn written_date(rest: &str) -> Match {
    const DAYS: [&str; 7] = ["Mon ", "Tue ", "Wed ", "Thu ", "Fri ", "Sat ", "Sun "];
    DAYS.iter().find(|day| rest.starts_with(**day))?;
    let mut at = 4;
    let month = run(&rest[at..], |byte| byte.is_ascii_alphabetic());
    at += (month == 3 && rest[at + 3..].starts_with(' ')).then_some(4)?;
    at += fixed(&rest[at..], 2)?;
    at += rest[at..].starts_with(' ').then_some(1)?;
    at += time(&rest[at..])?;
    at += rest[at..].starts_with(' ').then_some(1)?;
    let zone = run(&rest[at..], |byte| {
        byte.is_ascii_alphanumeric() || b"+-:".contains(&byte)
    });
    at += (zone > 0 && rest[at + zone..].starts_with(' ')).then_some(zone + 1)?;
    at += fixed(&rest[at..], 4)?;
    ends(rest, at).then_some((at, "<time>"))
}

/// `PT1.5S`, as `Duration.toString` has it.
fn iso_duration(rest: &str) -> Match {
    let length = run(rest, |byte| {
        byte.is_ascii_digit() || b"PTDHMS.-".contains(&byte)
    });
    let text = &rest[..length];
    let units = text.strip_prefix("PT")?;
    let fits = units.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && units.ends_with(['H', 'M', 'S'])
        && ends(rest, length);
    fits.then_some((length, "<duration>"))
}

/// `50 ms`, `0.25s`.
fn duration(rest: &str) -> Match {
    const UNITS: [&str; 20] = [
        "ns",
        "us",
        "µs",
        "ms",
        "s",
        "sec",
        "secs",
        "second",
        "seconds",
        "min",
        "mins",
        "minute",
        "minutes",
        "millis",
        "millisecond",
        "milliseconds",
        "nanos",
        "nanoseconds",
        "microseconds",
        "micros",
    ];
    let mut at = digits(rest);
    if let Some(tail) = rest[at..].strip_prefix('.') {
        let digits = digits(tail);
        at += if digits > 0 { 1 + digits } else { 0 };
    }
    at += usize::from(rest[at..].starts_with(' '));
    let letters = rest[at..].find(|c: char| !c.is_alphabetic());
    let unit = &rest[at..letters.map_or(rest.len(), |it| at + it)];
    let length = at + unit.len();
    (UNITS.contains(&unit) && ends(rest, length)).then_some((length, "<duration>"))
}
