//! Values: a tag, then what belongs to it.

use culprit_model::value::Contents;
use culprit_model::{BlobId, ObjectId, Reference, TypeId, Value};

use crate::WireError;
use crate::codec::{Cursor, Put, Result};

const FALSE: u8 = 0;
const TRUE: u8 = 1;
const BYTE: u8 = 2;
const SHORT: u8 = 3;
const CHAR: u8 = 4;
const INT: u8 = 5;
const LONG: u8 = 6;
const FLOAT: u8 = 7;
const DOUBLE: u8 = 8;
const NULL: u8 = 16;
const OBJECT: u8 = 17;
const STRING8: u8 = 18;
const STRING16: u8 = 19;
const STRING_BLOB: u8 = 20;
const REDACTED: u8 = 21;
const UNKNOWN: u8 = 22;
const CLASS: u8 = 23;
const ENUM: u8 = 24;
const BOXED: u8 = 25;
const ARRAY: u8 = 26;
const STRUCTURE: u8 = 27;
const PIECE: u8 = 28;
const CONSTANT: u8 = 29;

const CONTENTS_UNKNOWN: u8 = 0;
const CONTENTS_ELEMENTS: u8 = 1;
const CONTENTS_BLOB: u8 = 2;
const CONTENTS_PART: u8 = 3;

/// Java allows arrays of 255 dimensions; each may be told in part, and the last may hold boxed
/// values. Nothing nests deeper.
const MAX_NESTING: u32 = 2 * 255 + 2;

pub(crate) fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Boolean(value) => out.put_u8(if *value { TRUE } else { FALSE }),
        Value::Byte(value) => {
            out.put_u8(BYTE);
            out.put(&value.to_le_bytes());
        }
        Value::Short(value) => {
            out.put_u8(SHORT);
            out.put_signed(i64::from(*value));
        }
        Value::Char(value) => {
            out.put_u8(CHAR);
            out.put_varint(u64::from(*value));
        }
        Value::Int(value) => {
            out.put_u8(INT);
            out.put_signed(i64::from(*value));
        }
        Value::Long(value) => {
            out.put_u8(LONG);
            out.put_signed(*value);
        }
        // The bits, so that a NaN keeps what it carries.
        Value::Float(value) => {
            out.put_u8(FLOAT);
            out.put(&value.to_bits().to_le_bytes());
        }
        Value::Double(value) => {
            out.put_u8(DOUBLE);
            out.put(&value.to_bits().to_le_bytes());
        }
        Value::Reference(reference) => put_reference(out, reference),
    }
}

fn put_reference(out: &mut Vec<u8>, reference: &Reference) {
    match reference {
        Reference::Null => out.put_u8(NULL),
        Reference::Object { id, class } => {
            out.put_u8(OBJECT);
            out.put_varint(id.0);
            out.put_varint(u64::from(class.0));
        }
        Reference::String(units) => put_string(out, units),
        Reference::StringBlob(blob) => {
            out.put_u8(STRING_BLOB);
            out.put_varint(u64::from(blob.0));
        }
        Reference::Redacted => out.put_u8(REDACTED),
        Reference::Unknown => out.put_u8(UNKNOWN),
        Reference::Class(class) => {
            out.put_u8(CLASS);
            out.put_varint(u64::from(class.0));
        }
        Reference::Enum { class, ordinal } => {
            out.put_u8(ENUM);
            out.put_varint(u64::from(class.0));
            out.put_varint(u64::from(*ordinal));
        }
        Reference::Boxed(value) => {
            out.put_u8(BOXED);
            put_value(out, value);
        }
        Reference::Structure { class, fields } => {
            out.put_u8(STRUCTURE);
            out.put_varint(u64::from(class.0));
            out.put_list(fields, put_value);
        }
        Reference::Piece(number) => {
            out.put_u8(PIECE);
            out.put_varint(u64::from(*number));
        }
        Reference::Constant { class, name } => {
            out.put_u8(CONSTANT);
            out.put_varint(u64::from(class.0));
            out.put_str(name);
        }
        Reference::Array {
            id,
            class,
            length,
            contents,
        } => {
            out.put_u8(ARRAY);
            out.put_varint(id.0);
            out.put_varint(u64::from(class.0));
            out.put_varint(u64::from(*length));
            put_contents(out, contents);
        }
    }
}

/// One byte for each unit where all of them fit, as most texts of most programs do.
fn put_string(out: &mut Vec<u8>, units: &[u16]) {
    if units.iter().all(|unit| *unit < 256) {
        out.put_u8(STRING8);
        out.put_varint(units.len() as u64);
        out.extend(units.iter().map(|unit| *unit as u8));
    } else {
        out.put_u8(STRING16);
        out.put_varint(units.len() as u64);
        out.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    }
}

fn put_contents(out: &mut Vec<u8>, contents: &Contents) {
    match contents {
        Contents::Unknown => out.put_u8(CONTENTS_UNKNOWN),
        Contents::Elements(elements) => {
            out.put_u8(CONTENTS_ELEMENTS);
            out.put_list(elements, put_value);
        }
        Contents::Blob(blob) => {
            out.put_u8(CONTENTS_BLOB);
            out.put_varint(u64::from(blob.0));
        }
        Contents::Part { from, known } => {
            out.put_u8(CONTENTS_PART);
            out.put_varint(u64::from(*from));
            put_contents(out, known);
        }
    }
}

pub(crate) fn value(cursor: &mut Cursor<'_>) -> Result<Value> {
    nested_value(cursor, 0)
}

fn nested_value(cursor: &mut Cursor<'_>, nesting: u32) -> Result<Value> {
    if nesting > MAX_NESTING {
        return Err(WireError::Malformed("values that nest less deeply"));
    }
    let reference = match cursor.u8()? {
        FALSE => return Ok(Value::Boolean(false)),
        TRUE => return Ok(Value::Boolean(true)),
        BYTE => return Ok(Value::Byte(i8::from_le_bytes(cursor.array()?))),
        SHORT => return narrow(cursor.signed()?).map(Value::Short),
        CHAR => return narrow(cursor.varint()?).map(Value::Char),
        INT => return narrow(cursor.signed()?).map(Value::Int),
        LONG => return cursor.signed().map(Value::Long),
        FLOAT => {
            let bits = u32::from_le_bytes(cursor.array()?);
            return Ok(Value::Float(f32::from_bits(bits)));
        }
        DOUBLE => {
            let bits = u64::from_le_bytes(cursor.array()?);
            return Ok(Value::Double(f64::from_bits(bits)));
        }
        NULL => Reference::Null,
        OBJECT => Reference::Object {
            id: ObjectId(cursor.varint()?),
            class: TypeId(cursor.varint_u32()?),
        },
        STRING8 => Reference::String(cursor.bytes()?.iter().map(|b| u16::from(*b)).collect()),
        STRING16 => Reference::String(string16(cursor)?),
        STRING_BLOB => Reference::StringBlob(BlobId(cursor.varint_u32()?)),
        REDACTED => Reference::Redacted,
        UNKNOWN => Reference::Unknown,
        CLASS => Reference::Class(TypeId(cursor.varint_u32()?)),
        ENUM => Reference::Enum {
            class: TypeId(cursor.varint_u32()?),
            ordinal: cursor.varint_u32()?,
        },
        BOXED => {
            cursor.charge::<Value>(1)?;
            Reference::Boxed(Box::new(nested_value(cursor, nesting + 1)?))
        }
        ARRAY => Reference::Array {
            id: ObjectId(cursor.varint()?),
            class: TypeId(cursor.varint_u32()?),
            length: cursor.varint_u32()?,
            contents: contents(cursor, nesting + 1)?,
        },
        STRUCTURE => Reference::Structure {
            class: TypeId(cursor.varint_u32()?),
            fields: cursor.list(|cursor| nested_value(cursor, nesting + 1))?,
        },
        PIECE => Reference::Piece(cursor.varint_u32()?),
        CONSTANT => Reference::Constant {
            class: TypeId(cursor.varint_u32()?),
            name: cursor.string()?,
        },
        _ => return Err(WireError::Malformed("a known kind of value")),
    };
    Ok(Value::Reference(reference))
}

fn narrow<W, N: TryFrom<W>>(wide: W) -> Result<N> {
    N::try_from(wide).map_err(|_| WireError::Malformed("a number in the range of its type"))
}

fn string16(cursor: &mut Cursor<'_>) -> Result<Vec<u16>> {
    let length = usize::try_from(cursor.varint()?).ok();
    let bytes = length
        .and_then(|length| length.checked_mul(2))
        .ok_or(WireError::Malformed("more bytes"))?;
    let units = cursor.take(bytes)?.chunks_exact(2);
    Ok(units
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect())
}

fn contents(cursor: &mut Cursor<'_>, nesting: u32) -> Result<Contents> {
    if nesting > MAX_NESTING {
        return Err(WireError::Malformed("values that nest less deeply"));
    }
    Ok(match cursor.u8()? {
        CONTENTS_UNKNOWN => Contents::Unknown,
        CONTENTS_ELEMENTS => {
            Contents::Elements(cursor.list(|cursor| nested_value(cursor, nesting + 1))?)
        }
        CONTENTS_BLOB => Contents::Blob(BlobId(cursor.varint_u32()?)),
        CONTENTS_PART => Contents::Part {
            from: cursor.varint_u32()?,
            known: Box::new(contents(cursor, nesting + 1)?),
        },
        _ => return Err(WireError::Malformed("a known kind of contents")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::TRUSTED;

    #[test]
    fn a_nan_keeps_its_bits() {
        let (float, double) = (0x7fc0_1234, 0xfff8_0000_dead_beef);
        let mut bytes = Vec::new();
        put_value(&mut bytes, &Value::Float(f32::from_bits(float)));
        put_value(&mut bytes, &Value::Double(f64::from_bits(double)));
        let mut cursor = Cursor::new(&bytes, TRUSTED);
        assert!(matches!(value(&mut cursor), Ok(Value::Float(it)) if it.to_bits() == float));
        assert!(matches!(value(&mut cursor), Ok(Value::Double(it)) if it.to_bits() == double));
    }

    #[test]
    fn endless_nesting_is_refused() {
        let boxes = [BOXED; 100_000];
        assert!(value(&mut Cursor::new(&boxes, TRUSTED)).is_err());
        let parts = [ARRAY, 1, 1, 1]
            .into_iter()
            .chain([CONTENTS_PART, 0].into_iter().cycle().take(100_000))
            .collect::<Vec<u8>>();
        assert!(value(&mut Cursor::new(&parts, TRUSTED)).is_err());
    }

    #[test]
    fn an_array_of_255_dimensions_survives() {
        let array = |contents| {
            Value::Reference(Reference::Array {
                id: ObjectId(1),
                class: TypeId(1),
                length: 1,
                contents,
            })
        };
        let mut deep = Value::Reference(Reference::Boxed(Box::new(Value::Int(1))));
        for _ in 0..255 {
            deep = array(Contents::Elements(vec![deep]));
        }
        let mut bytes = Vec::new();
        put_value(&mut bytes, &deep);
        assert_eq!(value(&mut Cursor::new(&bytes, TRUSTED)).unwrap(), deep);
    }
}
