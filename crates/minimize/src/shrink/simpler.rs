//! Which literals are simpler than another, for somebody who reads a test.

use culprit_model::{Reference, Tables, Value};

/// What takes the place of a character that is hard to read.
pub(super) const LETTER: u16 = b'a' as u16;

/// The code units of a text.
pub(super) fn units(value: &Value, tables: &Tables) -> Option<Vec<u16>> {
    match value {
        Value::Reference(Reference::String(units)) => Some(units.clone()),
        Value::Reference(Reference::StringBlob(blob)) => {
            let units = tables.blobs.get(blob)?.chunks_exact(2);
            Some(units.map(|b| u16::from_le_bytes([b[0], b[1]])).collect())
        }
        _ => None,
    }
}

/// The characters of a text: pairs of code units stay together.
pub(super) fn characters(mut text: &[u16]) -> Vec<&[u16]> {
    let mut found = Vec::new();
    while let Some(first) = text.first() {
        let is_pair = matches!(first, 0xD800..0xDC00)
            && text
                .get(1)
                .is_some_and(|second| matches!(second, 0xDC00..0xE000));
        let (character, rest) = text.split_at(if is_pair { 2 } else { 1 });
        found.push(character);
        text = rest;
    }
    found
}

/// Pairs of characters that come and go together, both ways: brackets, and quotes. A text whose brackets match
/// is hardly ever wrong for that, so they still match in what is left of it. Those of a kind that do not match
/// are characters like others.
pub(super) fn partners(text: &[&[u16]]) -> Vec<(u32, u32)> {
    const BRACKETS: [(u8, u8); 4] = [(b'(', b')'), (b'[', b']'), (b'{', b'}'), (b'<', b'>')];
    const QUOTES: [u8; 2] = [b'"', b'\''];
    let mut found = Vec::new();
    let is = |character: &[u16], sign: u8| character == [u16::from(sign)];
    for (opening, closing) in BRACKETS {
        let (mut open, mut pairs) = (Vec::new(), Vec::new());
        let mut matches = true;
        for (at, character) in (0..).zip(text) {
            if is(character, opening) {
                open.push(at);
            } else if is(character, closing) {
                match open.pop() {
                    Some(partner) => pairs.push((partner, at)),
                    None => matches = false,
                }
            }
        }
        if matches && open.is_empty() {
            found.extend(pairs);
        }
    }
    for quote in QUOTES {
        let places = (0..)
            .zip(text)
            .filter(|(_, character)| is(character, quote));
        let places: Vec<u32> = places.map(|(at, _)| at).collect();
        if places.len() % 2 == 0 {
            found.extend(places.chunks_exact(2).map(|pair| (pair[0], pair[1])));
        }
    }
    let turned: Vec<(u32, u32)> = found.iter().map(|(one, other)| (*other, *one)).collect();
    found.extend(turned);
    found
}

/// Characters of a text that is short enough for anybody.
const SHORT: usize = 40;

/// Elements of an array that are few enough.
pub(super) const FEW: usize = 8;

/// From here on a number is hard to grasp.
const LARGE: f64 = 1000.0;

/// Whether a literal is small enough to be left alone: nobody would read the test more easily, and with another
/// one the program may be right to fail.
pub(super) fn is_small(value: &Value, tables: &Tables) -> bool {
    if let Some(units) = units(value, tables) {
        let is_line = !units.contains(&u16::from(b'\n'));
        return is_line && units.len() <= SHORT && characters(&units).iter().all(|c| is_plain(c));
    }
    match value {
        Value::Byte(_) | Value::Boolean(_) => true,
        Value::Char(unit) => is_plain(&[*unit]),
        Value::Short(v) => f64::from(*v).abs() < LARGE,
        Value::Int(v) => f64::from(*v).abs() < LARGE,
        Value::Long(v) => (*v as f64).abs() < LARGE,
        Value::Float(v) => v.abs() < LARGE as f32 && v.to_string().len() <= 6,
        Value::Double(v) => v.abs() < LARGE && v.to_string().len() <= 6,
        Value::Reference(Reference::Boxed(value)) => is_small(value, tables),
        _ => false,
    }
}

/// Whether a character can be read without trouble.
pub(super) fn is_plain(character: &[u16]) -> bool {
    matches!(character, [0x0A | 0x20..0x7F])
}

/// Literals that are simpler than one, the simplest first.
pub(super) fn simpler(value: &Value) -> Vec<Value> {
    match value {
        Value::Boolean(true) => vec![Value::Boolean(false)],
        Value::Boolean(false) => Vec::new(),
        Value::Char(unit) if is_plain(&[*unit]) => Vec::new(),
        Value::Char(_) => vec![Value::Char(LETTER)],
        Value::Byte(v) => integers(i64::from(*v), i64::from(i8::MAX), |v| Value::Byte(v as i8)),
        Value::Short(v) => integers(i64::from(*v), i64::from(i16::MAX), |v| {
            Value::Short(v as i16)
        }),
        Value::Int(v) => integers(i64::from(*v), i64::from(i32::MAX), |v| Value::Int(v as i32)),
        Value::Long(v) => integers(*v, i64::MAX, Value::Long),
        Value::Float(v) => {
            let simpler = fractions(f64::from(*v));
            simpler.map(|v| Value::Float(v as f32)).collect()
        }
        Value::Double(v) => fractions(*v).map(Value::Double).collect(),
        Value::Reference(Reference::Boxed(value)) => {
            let boxed = |value| Value::Reference(Reference::Boxed(Box::new(value)));
            simpler(value).into_iter().map(boxed).collect()
        }
        Value::Reference(_) => Vec::new(),
    }
}

/// Zero, one, minus one, and numbers between zero and a given one, from far to near.
fn integers(value: i64, largest: i64, of: impl Fn(i64) -> Value) -> Vec<Value> {
    let far = (1..64).rev().map(|times| value >> times);
    let near = (2..64).map(|times| value - (value >> times));
    let next = value - value.signum();
    let all = [0, 1, -1].into_iter().chain(far).chain(near).chain([next]);
    let weight = weight(value, largest);
    let mut simpler: Vec<i64> = all.filter(|v| self::weight(*v, largest) < weight).collect();
    simpler.dedup();
    simpler.into_iter().map(of).collect()
}

/// How hard a whole number is to read. The largest and the smallest of a type have names.
fn weight(value: i64, largest: i64) -> (u32, u64, bool) {
    let has_name = value == largest || value == -largest - 1;
    let digits = value.unsigned_abs().checked_ilog10().unwrap_or(0);
    let digits = if has_name { digits.min(3) } else { digits };
    (digits, value.unsigned_abs(), value < 0)
}

/// Zero, one, and the whole numbers around a number with a fraction.
fn fractions(value: f64) -> impl Iterator<Item = f64> {
    let length = |v: f64| format!("{v:?}").len();
    let all = [0.0, 1.0, -1.0, value.trunc(), value.round()];
    let simpler = move |v: &f64| {
        (length(*v), v.abs()) < (length(value), value.abs()) || value.is_nan() && !v.is_nan()
    };
    all.into_iter().filter(simpler)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_is_left_alone() {
        let small = |value: Value| is_small(&value, &Tables::default());
        let text = |text: &str| Value::Reference(Reference::String(text.encode_utf16().collect()));
        assert!(small(text("a,,c")) && !small(text(&"a".repeat(41))) && !small(text("a\nb")));
        assert!(!small(text("\u{e9}")));
        assert!(
            small(Value::Int(-999)) && !small(Value::Int(1000)) && !small(Value::Long(i64::MIN))
        );
        assert!(small(Value::Double(0.25)) && !small(Value::Double(0.1234567)));
        assert!(small(Value::Boolean(true)));
    }

    #[test]
    fn brackets_that_match_have_partners() {
        let check = |text: &str, expected: &[(u32, u32)]| {
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut found = partners(&characters(&units));
            found.retain(|(one, other)| one < other);
            assert_eq!(found, expected, "{text}");
        };
        check("a(b[c]())", &[(6, 7), (1, 8), (3, 5)]);
        check("(]\"x\"'", &[(2, 4)]);
        check(")(", &[]);
    }

    #[track_caller]
    fn leads_to(value: Value, needs: impl Fn(&Value) -> bool, left: Value) {
        let mut value = value;
        while let Some(next) = simpler(&value).into_iter().find(&needs) {
            value = next;
        }
        assert_eq!(value, left);
    }

    #[test]
    fn a_number_comes_down_to_the_smallest_that_will_do() {
        let at_least =
            |least: i32| move |value: &Value| matches!(value, Value::Int(v) if *v >= least);
        leads_to(Value::Int(123_456), at_least(0), Value::Int(0));
        leads_to(Value::Int(123_456), at_least(1), Value::Int(1));
        leads_to(Value::Int(123_456), at_least(4711), Value::Int(4711));
        let below = |value: &Value| matches!(value, Value::Long(v) if *v < -5);
        leads_to(Value::Long(-70_000), below, Value::Long(-6));
        leads_to(Value::Long(i64::MIN), below, Value::Long(-6));
    }

    #[test]
    fn a_number_with_a_name_stays_unless_a_short_one_will_do() {
        let near = |value: &Value| matches!(value, Value::Int(v) if *v > i32::MAX - 40);
        leads_to(Value::Int(i32::MAX), near, Value::Int(i32::MAX));
        let large = |value: &Value| matches!(value, Value::Int(v) if *v > 60);
        leads_to(Value::Int(i32::MAX), large, Value::Int(61));
    }

    #[test]
    fn every_simpler_number_is_another() {
        for value in [0, 1, -1, 2, 7, -100, i32::MAX, i32::MIN] {
            let value = Value::Int(value);
            assert!(!simpler(&value).contains(&value), "{value:?}");
        }
        for value in [0.0, 1.0, -1.0, 2.5, 1e300, f64::NAN, f64::INFINITY] {
            let simpler = simpler(&Value::Double(value));
            assert!(!simpler.contains(&Value::Double(value)), "{value:?}");
        }
    }

    #[test]
    fn a_fraction_becomes_a_whole_number() {
        let large = |value: &Value| matches!(value, Value::Double(v) if *v > 2.0);
        leads_to(Value::Double(17.25), large, Value::Double(17.0));
        let any = |_: &Value| true;
        leads_to(Value::Float(17.25), any, Value::Float(0.0));
        let boxed = |value| Value::Reference(Reference::Boxed(Box::new(value)));
        leads_to(boxed(Value::Int(7)), any, boxed(Value::Int(0)));
    }

    #[test]
    fn half_pairs_are_characters_of_their_own() {
        let text = [0x61, 0xD83D, 0xDE00, 0xD83D, 0xDE00u16 - 0x400, 0xDE00];
        let lengths: Vec<usize> = characters(&text).iter().map(|it| it.len()).collect();
        assert_eq!(lengths, [1, 2, 1, 2]);
    }
}
