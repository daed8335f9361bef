//! Scalars and strings in Kotlin.

use culprit_model::Value;
use culprit_model::value::Shape;

use super::{Level, Text};

/// Units of a string that one literal has at most: its constant must fit into a class file.
const LONGEST: usize = 20_000;

/// A scalar of its own type, or where a constant of this type is wanted.
pub(super) fn scalar(value: &Value, is_wanted: bool) -> Text {
    let number = |number: i64| {
        let level = match number < 0 {
            true => Level::Prefix,
            false => Level::Postfix,
        };
        Text::new(number.to_string()).at(level)
    };
    match value {
        Value::Boolean(value) => Text::new(value.to_string()),
        Value::Byte(value) if is_wanted => number((*value).into()),
        Value::Short(value) if is_wanted => number((*value).into()),
        Value::Byte(value) => Text::new(format!("{}.toByte()", number((*value).into()).closed())),
        Value::Short(value) => Text::new(format!("{}.toShort()", number((*value).into()).closed())),
        Value::Char(unit) => Text::new(format!("'{}'", escaped(*unit, '\''))),
        Value::Int(i32::MIN) => Text::new("Int.MIN_VALUE"),
        Value::Int(value) => number((*value).into()),
        Value::Long(i64::MIN) => Text::new("Long.MIN_VALUE"),
        Value::Long(value) => {
            let text = number(*value);
            Text::new(format!("{}L", text.text)).at(text.level)
        }
        Value::Float(value) => real(f64::from(*value), &format!("{value:?}f"), "Float", || {
            format!("Float.fromBits({})", value.to_bits() as i32)
        }),
        Value::Double(value) => real(*value, &format!("{value:?}"), "Double", || {
            format!("Double.fromBits({})", value.to_bits() as i64)
        }),
        Value::Reference(_) => Text::new("null").nullable(true),
    }
}

fn real(value: f64, text: &str, class: &str, bits: impl Fn() -> String) -> Text {
    if value.is_nan() {
        let is_usual = value.to_bits() == f64::NAN.to_bits();
        return Text::new(match is_usual {
            true => format!("{class}.NaN"),
            false => bits(),
        });
    }
    if value.is_infinite() {
        let sign = if value > 0.0 { "POSITIVE" } else { "NEGATIVE" };
        return Text::new(format!("{class}.{sign}_INFINITY"));
    }
    let level = match text.starts_with('-') {
        true => Level::Prefix,
        false => Level::Postfix,
    };
    Text::new(text).at(level)
}

/// A whole number as a constant of another type, as Kotlin converts none.
pub(super) fn converted(value: &Value, to: Shape) -> Option<Value> {
    let number = match value {
        Value::Byte(value) => i64::from(*value),
        Value::Short(value) => i64::from(*value),
        Value::Char(value) => i64::from(*value),
        Value::Int(value) => i64::from(*value),
        Value::Long(value) => *value,
        _ => return None,
    };
    Some(match to {
        Shape::Int => Value::Int(i32::try_from(number).ok()?),
        Shape::Long => Value::Long(number),
        Shape::Float => Value::Float(number as f32),
        Shape::Double => Value::Double(number as f64),
        _ => return None,
    })
}

/// A string, put together at run time if it is long.
pub(super) fn string(units: &[u16]) -> String {
    let quoted = |units: &[u16]| {
        let text: String = units.iter().map(|unit| escaped(*unit, '"')).collect();
        format!("\"{text}\"")
    };
    if units.len() <= LONGEST {
        return quoted(units);
    }
    let pieces: Vec<String> = units.chunks(LONGEST).map(quoted).collect();
    format!("arrayOf({}).joinToString(\"\")", pieces.join(", "))
}

/// A unit of a literal in these quotes. A dollar would begin a template.
fn escaped(unit: u16, quote: char) -> String {
    let letter = char::from_u32(unit.into()).filter(|c| (' '..='~').contains(c));
    match (unit, letter) {
        (0x09, _) => "\\t".to_owned(),
        (0x0a, _) => "\\n".to_owned(),
        (0x0d, _) => "\\r".to_owned(),
        (_, Some('\\')) => "\\\\".to_owned(),
        (_, Some('$')) if quote == '"' => "\\$".to_owned(),
        (_, Some(letter)) if letter == quote => format!("\\{letter}"),
        (_, Some(letter)) => letter.to_string(),
        (unit, None) => format!("\\u{unit:04x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_say_their_type() {
        for (value, expect) in [
            (Value::Byte(-1), "(-1).toByte()"),
            (Value::Short(7), "7.toShort()"),
            (Value::Int(i32::MIN), "Int.MIN_VALUE"),
            (Value::Long(-7), "-7L"),
            (Value::Float(0.5), "0.5f"),
            (Value::Double(f64::NEG_INFINITY), "Double.NEGATIVE_INFINITY"),
            (
                Value::Double(f64::from_bits(0x7ff8_0000_0000_0001)),
                "Double.fromBits(9221120237041090561)",
            ),
            (Value::Char(0x27), "'\\''"),
            (Value::Char(0x24), "'$'"),
        ] {
            assert_eq!(scalar(&value, false).text, expect);
        }
        assert_eq!(scalar(&Value::Byte(-1), true).text, "-1");
    }

    #[test]
    fn no_string_is_a_template() {
        let units: Vec<u16> = "a$b \"c\" \\ \n\u{e9}".encode_utf16().collect();
        assert_eq!(string(&units), r#""a\$b \"c\" \\ \n\u00e9""#);
        let long = vec![u16::from(b'a'); LONGEST + 1];
        assert!(string(&long).ends_with("\", \"a\").joinToString(\"\")"));
    }
}
