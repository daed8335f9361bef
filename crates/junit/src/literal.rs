//! Scalars and strings as Java source. The compiled literal has the same value, bit for bit.

use culprit_model::literal;
use culprit_model::value::Value;

/// Bytes of modified UTF-8 that a literal can have: one less than a class file can hold, since
/// javac refuses literals of 65535 characters.
const LONGEST: usize = 65_534;

/// A scalar where its type is wanted by nobody: `(byte) 5`, `5L`. `None` for references.
pub fn scalar(value: &Value) -> Option<String> {
    Some(match value {
        Value::Byte(value) => format!("(byte) {value}"),
        Value::Short(value) => format!("(short) {value}"),
        _ => constant(value)?,
    })
}

/// A scalar where its type is wanted, as in the initializer of an array: bytes need no cast.
pub fn constant(value: &Value) -> Option<String> {
    Some(match value {
        Value::Boolean(value) => value.to_string(),
        Value::Byte(value) => value.to_string(),
        Value::Short(value) => value.to_string(),
        Value::Char(unit) => literal::character(*unit),
        Value::Int(i32::MIN) => "Integer.MIN_VALUE".to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Long(i64::MIN) => "Long.MIN_VALUE".to_owned(),
        Value::Long(value) => format!("{value}L"),
        Value::Float(value) => float(*value),
        Value::Double(value) => double(*value),
        Value::Reference(_) => return None,
    })
}

/// A string expression. One that is too long for a constant is put together at run time, since
/// the compiler would make one constant of a sum of literals.
pub fn string(units: &[u16]) -> String {
    let pieces = pieces(units);
    match pieces.as_slice() {
        [] => "\"\"".to_owned(),
        [one] => quoted(one),
        many => {
            let quoted: Vec<String> = many.iter().map(|piece| quoted(piece)).collect();
            format!("String.join(\"\", {})", quoted.join(", "))
        }
    }
}

fn quoted(units: &[u16]) -> String {
    literal::string(units.iter().copied(), usize::MAX)
}

/// Pieces that each fit a constant.
fn pieces(units: &[u16]) -> Vec<&[u16]> {
    let mut pieces = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (place, unit) in units.iter().enumerate() {
        let width = match unit {
            0x01..=0x7f => 1,
            0 | 0x80..=0x7ff => 2,
            _ => 3,
        };
        if size + width > LONGEST {
            pieces.push(&units[start..place]);
            (start, size) = (place, 0);
        }
        size += width;
    }
    pieces.extend((start < units.len()).then(|| &units[start..]));
    pieces
}

fn float(value: f32) -> String {
    if value.is_nan() {
        return match value.to_bits() {
            0x7fc0_0000 => "Float.NaN".to_owned(),
            bits => format!("Float.intBitsToFloat(0x{bits:08x})"),
        };
    }
    match value {
        f32::INFINITY => "Float.POSITIVE_INFINITY".to_owned(),
        f32::NEG_INFINITY => "Float.NEGATIVE_INFINITY".to_owned(),
        value => format!("{value:?}f"),
    }
}

fn double(value: f64) -> String {
    if value.is_nan() {
        return match value.to_bits() {
            0x7ff8_0000_0000_0000 => "Double.NaN".to_owned(),
            bits => format!("Double.longBitsToDouble(0x{bits:016x}L)"),
        };
    }
    match value {
        f64::INFINITY => "Double.POSITIVE_INFINITY".to_owned(),
        f64::NEG_INFINITY => "Double.NEGATIVE_INFINITY".to_owned(),
        value => format!("{value:?}"),
    }
}

/// Source with nothing but ASCII in it, so that it compiles whatever encoding the compiler takes
/// it for.
pub fn ascii(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    for c in source.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_written_as_source_has_them() {
        for (value, expect) in [
            (Value::Byte(-1), "(byte) -1"),
            (Value::Int(i32::MIN), "Integer.MIN_VALUE"),
            (Value::Long(i64::MIN), "Long.MIN_VALUE"),
            (Value::Long(7), "7L"),
            (Value::Float(0.5), "0.5f"),
            (Value::Float(1e20), "1e20f"),
            (Value::Double(-0.0), "-0.0"),
            (Value::Double(f64::NAN), "Double.NaN"),
            (
                Value::Double(f64::from_bits(0x7ff8_0000_0000_0001)),
                "Double.longBitsToDouble(0x7ff8000000000001L)",
            ),
            (Value::Double(f64::NEG_INFINITY), "Double.NEGATIVE_INFINITY"),
            (Value::Char(0x27), "'\\''"),
        ] {
            assert_eq!(scalar(&value).as_deref(), Some(expect));
        }
    }

    #[test]
    fn a_string_that_is_too_long_for_a_constant_is_split() {
        let units = vec![u16::from(b'a'); LONGEST + 1];
        let text = string(&units);
        assert!(text.starts_with("String.join(\"\", \"aaa"));
        assert!(text.ends_with("\", \"a\")"));
        assert!(!string(&units[1..]).starts_with("String"));
    }
}
