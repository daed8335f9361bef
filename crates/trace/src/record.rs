//! Records: how events lie in the buffers of the subject's threads, and so in events blocks.
//! Knows sites and types, since they say what follows a record's header; knows nothing of files.

use culprit_model::site::TypeDef;
use culprit_model::value::{Contents, Shape, method_shapes};
use culprit_model::{BlobId, EventKind, ObjectId, Reference, Site, SiteId, Turn, TypeId, Value};

use crate::Table;
use crate::codec::{Cursor, Malformed, Put};

const SITE_BITS: u32 = 26;
const SITE_MASK: u32 = (1 << SITE_BITS) - 1;
const PAYLOAD_BITS: u32 = 24;
const PAYLOAD_MASK: u32 = (1 << PAYLOAD_BITS) - 1;

const KIND_TURN: u8 = 16;
const KIND_UNWOUND: u8 = 17;
const KIND_GAP: u8 = 18;
const KIND_PAD: u8 = 19;

const REF_NULL: u32 = 0;
const REF_OBJECT: u32 = 1;
const REF_OBJECT_WIDE: u32 = 2;
const REF_STRING8: u32 = 3;
const REF_STRING16: u32 = 4;
const REF_STRING_BLOB: u32 = 5;
const REF_CLASS: u32 = 6;
const REF_ENUM: u32 = 7;
const REF_BOXED: u32 = 8;
const REF_ARRAY: u32 = 9;
const REF_ARRAY_BLOB: u32 = 10;
const REF_ARRAY_REF: u32 = 11;
const REF_REDACTED: u32 = 12;
const REF_UNKNOWN: u32 = 13;
const REF_ARRAY_PART: u32 = 14;
const REF_ARRAY_PART_BLOB: u32 = 15;
const REF_STRUCTURE: u32 = 16;
const REF_PIECE: u32 = 17;
const REF_CONSTANT: u32 = 18;

/// Java allows arrays of 255 dimensions; no array nests deeper.
const MAX_NESTING: u32 = 255;

/// The header of a record, with the payload of control records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Record {
    /// The values follow.
    Event(EventKind, SiteId),
    Turn(Turn),
    Unwound(u32),
    Gap {
        reason: u32,
        count: u64,
    },
    Pad,
}

/// Reads up to the values of an event, or all of a control record.
#[inline]
pub(crate) fn record(cursor: &mut Cursor<'_>) -> Result<Record, Malformed> {
    let header = cursor.u32()?;
    let code = (header >> SITE_BITS) as u8;
    if let Some(kind) = kind_of(code) {
        return Ok(Record::Event(kind, SiteId(header & SITE_MASK)));
    }
    Ok(match code {
        KIND_TURN => Record::Turn(Turn(cursor.u64()?)),
        KIND_UNWOUND => Record::Unwound(cursor.u32()?),
        KIND_GAP => Record::Gap {
            reason: cursor.u32()?,
            count: cursor.u64()?,
        },
        KIND_PAD => {
            let length = cursor.u32()?;
            cursor.take(length as usize)?;
            Record::Pad
        }
        _ => return Err(Malformed("a known kind of record")),
    })
}

#[inline]
fn kind_of(code: u8) -> Option<EventKind> {
    if code >= KIND_TURN {
        return EventKind::from_code(code);
    }
    // `EventKind::ALL` is in the order of the codes, which start at 1.
    EventKind::ALL
        .get(usize::from(code).wrapping_sub(1))
        .copied()
}

/// The layout of the values of a site's events, computed once per site.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    has_receiver: bool,
    is_static: bool,
    /// Arguments and result of a method; `None` where the target is no method.
    method: Option<(Vec<Shape>, Option<Shape>)>,
    /// Type of a field or of an array element.
    accessed: Option<Shape>,
}

impl Layout {
    /// For events whose site is not known: those whose values are the same for every site.
    pub(crate) const UNKNOWN: Layout = Layout {
        has_receiver: false,
        is_static: false,
        method: None,
        accessed: None,
    };

    pub(crate) fn of(site: &Site) -> Layout {
        let method = method_shapes(&site.target.descriptor)
            .map(|(arguments, _)| (arguments, site.result_shape()));
        Layout {
            has_receiver: site.has_receiver(),
            is_static: site.is_static,
            method,
            accessed: Shape::of(&site.target.descriptor),
        }
    }

    /// Visits the shapes of the values of an event, in order.
    #[inline]
    fn each(
        &self,
        kind: EventKind,
        mut visit: impl FnMut(Shape) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let method = || self.method.as_ref().ok_or(Malformed("a site of a method"));
        let accessed = || self.accessed.ok_or(Malformed("a site of an access"));
        match kind {
            EventKind::IncomingCall | EventKind::OutgoingCall => {
                if self.has_receiver {
                    visit(Shape::Reference)?;
                }
                method()?.0.iter().try_for_each(|shape| visit(*shape))
            }
            EventKind::IncomingReturn | EventKind::OutgoingReturn => {
                method()?.1.map_or(Ok(()), visit)
            }
            EventKind::IncomingThrow
            | EventKind::OutgoingThrow
            | EventKind::ArrayContents
            | EventKind::Constructed
            // And as many more as it says.
            | EventKind::ObjectState
            | EventKind::Held => visit(Shape::Reference),
            EventKind::OutgoingRead
            | EventKind::OutgoingWrite
            | EventKind::IncomingRead
            | EventKind::IncomingWrite => {
                if !self.is_static {
                    visit(Shape::Reference)?;
                }
                visit(accessed()?)
            }
            EventKind::ArrayRead | EventKind::ArrayWrite => {
                visit(Shape::Reference)?;
                visit(Shape::Int)?;
                visit(accessed()?)
            }
            EventKind::IdentityHash | EventKind::Apart => {
                visit(Shape::Reference)?;
                visit(Shape::Int)
            }
            EventKind::Born => {
                visit(Shape::Reference)?;
                visit(Shape::Int)?;
                visit(Shape::Long)
            }
        }
    }

    /// Steps over the values of an event.
    #[inline]
    pub(crate) fn skip(
        &self,
        kind: EventKind,
        cursor: &mut Cursor<'_>,
        types: &Table<TypeDef>,
    ) -> Result<(), Malformed> {
        self.each(kind, |shape| skip_value(shape, cursor, types, 0))?;
        if kind.is_list() {
            for _ in 0..cursor.u32()? {
                skip_reference(cursor, types, 0)?;
            }
        }
        Ok(())
    }

    /// Decodes the references among the values of an event, in the place of what `into` held.
    pub(crate) fn references(
        &self,
        kind: EventKind,
        cursor: &mut Cursor<'_>,
        types: &Table<TypeDef>,
        into: &mut Vec<Value>,
    ) -> Result<(), Malformed> {
        into.clear();
        self.each(kind, |shape| {
            if shape == Shape::Reference {
                into.push(value(shape, cursor, types, 0)?);
                return Ok(());
            }
            skip_value(shape, cursor, types, 0)
        })?;
        more(kind, cursor, types, into)
    }

    /// Decodes the values of an event.
    pub(crate) fn values(
        &self,
        kind: EventKind,
        cursor: &mut Cursor<'_>,
        types: &Table<TypeDef>,
    ) -> Result<Vec<Value>, Malformed> {
        let mut values = Vec::new();
        self.each(kind, |shape| {
            values.push(value(shape, cursor, types, 0)?);
            Ok(())
        })?;
        more(kind, cursor, types, &mut values)?;
        if matches!(kind, EventKind::ArrayRead | EventKind::ArrayWrite) {
            tell_boolean(&mut values, types);
        }
        Ok(values)
    }
}

/// The rest of a list after its first element.
fn more(
    kind: EventKind,
    cursor: &mut Cursor<'_>,
    types: &Table<TypeDef>,
    into: &mut Vec<Value>,
) -> Result<(), Malformed> {
    if kind.is_list() {
        for _ in 0..cursor.u32()? {
            into.push(value(Shape::Reference, cursor, types, 0)?);
        }
    }
    Ok(())
}

/// The shapes of the fields of a type.
fn field_shapes(
    class: TypeId,
    types: &Table<TypeDef>,
) -> Result<impl Iterator<Item = Result<Shape, Malformed>>, Malformed> {
    let class = types.get(class.0).ok_or(Malformed("a defined type"))?;
    let shapes = class.fields.iter().map(|f| Shape::of(&f.descriptor));
    Ok(shapes.map(|shape| shape.ok_or(Malformed("the descriptor of a field"))))
}

/// The instructions of byte arrays serve boolean arrays as well, so their sites say byte; the array
/// knows better.
fn tell_boolean(values: &mut [Value], types: &Table<TypeDef>) {
    if let [
        Value::Reference(Reference::Array { class, .. }),
        _,
        element @ Value::Byte(_),
    ] = values
        && element_shape(*class, types) == Ok(Shape::Boolean)
    {
        *element = Value::Boolean(*element != Value::Byte(0));
    }
}

fn shape_of_boxed(payload: u32) -> Result<Shape, Malformed> {
    u8::try_from(payload)
        .ok()
        .and_then(|code| Shape::of((code as char).encode_utf8(&mut [0; 4])))
        .filter(|shape| *shape != Shape::Reference)
        .ok_or(Malformed("a boxed primitive type"))
}

fn element_shape(class: TypeId, types: &Table<TypeDef>) -> Result<Shape, Malformed> {
    types
        .get(class.0)
        .and_then(|class| class.name.strip_prefix('['))
        .and_then(Shape::of)
        .ok_or(Malformed("a defined array type"))
}

fn nested(depth: u32) -> Result<u32, Malformed> {
    if depth < MAX_NESTING {
        Ok(depth + 1)
    } else {
        Err(Malformed("arrays nested at most 255 deep"))
    }
}

#[inline]
fn skip_value(
    shape: Shape,
    cursor: &mut Cursor<'_>,
    types: &Table<TypeDef>,
    depth: u32,
) -> Result<(), Malformed> {
    match shape.width() {
        Some(width) => cursor.take(width).map(drop),
        None => skip_reference(cursor, types, depth),
    }
}

fn skip_reference(
    cursor: &mut Cursor<'_>,
    types: &Table<TypeDef>,
    depth: u32,
) -> Result<(), Malformed> {
    let word = cursor.u32()?;
    let payload = word & PAYLOAD_MASK;
    let length = match word >> PAYLOAD_BITS {
        REF_NULL | REF_CLASS | REF_REDACTED | REF_UNKNOWN | REF_PIECE => 0,
        REF_OBJECT | REF_STRING_BLOB | REF_ENUM => 4,
        REF_OBJECT_WIDE => 8,
        REF_STRING8 => payload as usize,
        REF_STRING16 => 2 * payload as usize,
        REF_BOXED => shape_of_boxed(payload)?.width().unwrap_or(0),
        REF_ARRAY => {
            cursor.u64()?;
            let length = cursor.u32()?;
            let shape = element_shape(TypeId(payload), types)?;
            if let Some(width) = shape.width() {
                width.saturating_mul(length as usize)
            } else {
                let depth = nested(depth)?;
                for _ in 0..length {
                    skip_reference(cursor, types, depth)?;
                }
                0
            }
        }
        REF_ARRAY_PART => {
            cursor.take(16)?; // id, length, first
            let count = cursor.u32()?;
            let width = element_shape(TypeId(payload), types)?.width();
            let width = width.ok_or(Malformed("a part of a primitive array"))?;
            width.saturating_mul(count as usize)
        }
        REF_STRUCTURE => {
            let depth = nested(depth)?;
            for shape in field_shapes(TypeId(payload), types)? {
                skip_value(shape?, cursor, types, depth)?;
            }
            0
        }
        REF_CONSTANT => {
            skip_reference(cursor, types, nested(depth)?)?;
            0
        }
        REF_ARRAY_PART_BLOB => 20,
        REF_ARRAY_BLOB => 16,
        REF_ARRAY_REF => 12,
        _ => return Err(Malformed("a known kind of reference")),
    };
    cursor.take(length).map(drop)
}

fn value(
    shape: Shape,
    cursor: &mut Cursor<'_>,
    types: &Table<TypeDef>,
    depth: u32,
) -> Result<Value, Malformed> {
    cursor.allowance().charge_items::<Value>(1)?;
    Ok(match shape {
        Shape::Boolean => Value::Boolean(cursor.u8()? != 0),
        Shape::Byte => Value::Byte(cursor.u8()? as i8),
        Shape::Short => Value::Short(cursor.u16()? as i16),
        Shape::Char => Value::Char(cursor.u16()?),
        Shape::Int => Value::Int(cursor.u32()? as i32),
        Shape::Long => Value::Long(cursor.u64()? as i64),
        Shape::Float => Value::Float(f32::from_bits(cursor.u32()?)),
        Shape::Double => Value::Double(f64::from_bits(cursor.u64()?)),
        Shape::Reference => Value::Reference(reference(cursor, types, depth)?),
    })
}

fn reference(
    cursor: &mut Cursor<'_>,
    types: &Table<TypeDef>,
    depth: u32,
) -> Result<Reference, Malformed> {
    let word = cursor.u32()?;
    let payload = word & PAYLOAD_MASK;
    let class = TypeId(payload);
    Ok(match word >> PAYLOAD_BITS {
        REF_NULL => Reference::Null,
        REF_OBJECT => Reference::Object {
            id: ObjectId(cursor.u32()?.into()),
            class,
        },
        REF_OBJECT_WIDE => Reference::Object {
            id: ObjectId(cursor.u64()?),
            class,
        },
        REF_STRING8 => {
            let bytes = cursor.take(payload as usize)?;
            cursor.allowance().charge_allocation(2 * bytes.len())?;
            Reference::String(bytes.iter().map(|b| u16::from(*b)).collect())
        }
        REF_STRING16 => {
            let bytes = cursor.take(2 * payload as usize)?;
            cursor.allowance().charge_allocation(bytes.len())?;
            let units = bytes.chunks_exact(2);
            Reference::String(units.map(|u| u16::from_le_bytes([u[0], u[1]])).collect())
        }
        REF_STRING_BLOB => Reference::StringBlob(BlobId(cursor.u32()?)),
        REF_CLASS => Reference::Class(class),
        REF_ENUM => Reference::Enum {
            class,
            ordinal: cursor.u32()?,
        },
        REF_BOXED => {
            let shape = shape_of_boxed(payload)?;
            Reference::Boxed(Box::new(value(shape, cursor, types, depth)?))
        }
        tag @ (REF_ARRAY | REF_ARRAY_BLOB | REF_ARRAY_REF | REF_ARRAY_PART
        | REF_ARRAY_PART_BLOB) => {
            let id = ObjectId(cursor.u64()?);
            let length = cursor.u32()?;
            let contents = match tag {
                REF_ARRAY => Contents::Elements(elements(cursor, types, class, length, depth)?),
                REF_ARRAY_BLOB => Contents::Blob(BlobId(cursor.u32()?)),
                REF_ARRAY_PART | REF_ARRAY_PART_BLOB => part(tag, cursor, types, class)?,
                _ => Contents::Unknown,
            };
            Reference::Array {
                id,
                class,
                length,
                contents,
            }
        }
        REF_STRUCTURE => {
            let depth = nested(depth)?;
            let fields = field_shapes(class, types)?
                .map(|shape| value(shape?, cursor, types, depth))
                .collect::<Result<_, _>>()?;
            Reference::Structure { class, fields }
        }
        REF_PIECE => Reference::Piece(payload),
        REF_CONSTANT => match reference(cursor, types, nested(depth)?)? {
            Reference::String(units) => Reference::Constant {
                class,
                name: String::from_utf16_lossy(&units),
            },
            _ => return Err(Malformed("the name of a constant")),
        },
        REF_REDACTED => Reference::Redacted,
        REF_UNKNOWN => Reference::Unknown,
        _ => return Err(Malformed("a known kind of reference")),
    })
}

/// The part of a primitive array that may have changed.
fn part(
    tag: u32,
    cursor: &mut Cursor<'_>,
    types: &Table<TypeDef>,
    class: TypeId,
) -> Result<Contents, Malformed> {
    let from = cursor.u32()?;
    let known = if tag == REF_ARRAY_PART_BLOB {
        Contents::Blob(BlobId(cursor.u32()?))
    } else {
        if element_shape(class, types)? == Shape::Reference {
            return Err(Malformed("a part of a primitive array"));
        }
        let count = cursor.u32()?;
        Contents::Elements(elements(cursor, types, class, count, 0)?)
    };
    Ok(Contents::Part {
        from,
        known: Box::new(known),
    })
}

fn elements(
    cursor: &mut Cursor<'_>,
    types: &Table<TypeDef>,
    class: TypeId,
    length: u32,
    depth: u32,
) -> Result<Vec<Value>, Malformed> {
    let shape = element_shape(class, types)?;
    let depth = nested(depth)?;
    // A reference takes at least one word: no length can ask for more than there is.
    if shape.width().unwrap_or(4).saturating_mul(length as usize) > cursor.left() {
        return Err(Malformed("as many elements as counted"));
    }
    (0..length)
        .map(|_| value(shape, cursor, types, depth))
        .collect()
}

/// Builds records as the Java runtime does. The agent has no use for it; tests and tools that
/// make recordings have.
#[derive(Clone, Debug, Default)]
pub struct RecordBuffer {
    bytes: Vec<u8>,
    events: u32,
}

impl RecordBuffer {
    /// An empty buffer.
    pub fn new() -> RecordBuffer {
        RecordBuffer::default()
    }

    /// The records.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of events among the records.
    pub fn events(&self) -> u32 {
        self.events
    }

    /// Empties the buffer.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.events = 0;
    }

    /// From here on the events belong to this turn.
    pub fn turn(&mut self, turn: Turn) {
        self.header(KIND_TURN, SiteId(0));
        self.bytes.put_u64(turn.0);
    }

    /// Crossings of the thread were left without being seen.
    pub fn unwound(&mut self, crossings: u32) {
        self.header(KIND_UNWOUND, SiteId(0));
        self.bytes.put_u32(crossings);
    }

    /// Events were dropped here.
    pub fn gap(&mut self, reason: u32, count: u64) {
        self.header(KIND_GAP, SiteId(0));
        self.bytes.put_u32(reason);
        self.bytes.put_u64(count);
    }

    /// Bytes without meaning.
    pub fn pad(&mut self, length: u32) {
        self.header(KIND_PAD, SiteId(0));
        self.bytes.put_u32(length);
        self.bytes.resize(self.bytes.len() + length as usize, 0);
    }

    /// Adds an event that is a record already.
    pub(crate) fn whole(&mut self, record: &[u8]) {
        self.bytes.put(record);
        self.events += 1;
    }

    /// An event. The values must be those the site's layout asks for.
    pub fn event(&mut self, kind: EventKind, site: SiteId, values: &[Value]) {
        self.header(kind as u8, site);
        for (place, value) in values.iter().enumerate() {
            if kind.is_list() && place == 1 {
                self.bytes.put_u32(values.len() as u32 - 1);
            }
            put_value(&mut self.bytes, value);
        }
        if kind.is_list() && values.len() == 1 {
            self.bytes.put_u32(0);
        }
        self.events += 1;
    }

    fn header(&mut self, kind: u8, site: SiteId) {
        self.bytes
            .put_u32(u32::from(kind) << SITE_BITS | site.0 & SITE_MASK);
    }
}

fn put_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Boolean(v) => out.put_u8(u8::from(*v)),
        Value::Byte(v) => out.put_u8(*v as u8),
        Value::Short(v) => out.put_u16(*v as u16),
        Value::Char(v) => out.put_u16(*v),
        Value::Int(v) => out.put_u32(*v as u32),
        Value::Long(v) => out.put_u64(*v as u64),
        Value::Float(v) => out.put_u32(v.to_bits()),
        Value::Double(v) => out.put_u64(v.to_bits()),
        Value::Reference(v) => put_reference(out, v),
    }
}

fn put_reference(out: &mut Vec<u8>, reference: &Reference) {
    let word = |tag: u32, payload: u32| tag << PAYLOAD_BITS | payload & PAYLOAD_MASK;
    match reference {
        Reference::Null => out.put_u32(word(REF_NULL, 0)),
        Reference::Object { id, class } => match u32::try_from(id.0) {
            Ok(id) => {
                out.put_u32(word(REF_OBJECT, class.0));
                out.put_u32(id);
            }
            Err(_) => {
                out.put_u32(word(REF_OBJECT_WIDE, class.0));
                out.put_u64(id.0);
            }
        },
        Reference::String(units) => {
            if units.iter().all(|unit| *unit < 0x100) {
                out.put_u32(word(REF_STRING8, units.len() as u32));
                out.extend(units.iter().map(|unit| *unit as u8));
            } else {
                out.put_u32(word(REF_STRING16, units.len() as u32));
                units.iter().for_each(|unit| out.put_u16(*unit));
            }
        }
        Reference::StringBlob(blob) => {
            out.put_u32(word(REF_STRING_BLOB, 0));
            out.put_u32(blob.0);
        }
        Reference::Class(class) => out.put_u32(word(REF_CLASS, class.0)),
        Reference::Enum { class, ordinal } => {
            out.put_u32(word(REF_ENUM, class.0));
            out.put_u32(*ordinal);
        }
        Reference::Boxed(value) => {
            out.put_u32(word(REF_BOXED, u32::from(value.shape().code())));
            put_value(out, value);
        }
        Reference::Array {
            id,
            class,
            length,
            contents,
        } => {
            let tag = match contents {
                Contents::Unknown => REF_ARRAY_REF,
                Contents::Elements(_) => REF_ARRAY,
                Contents::Blob(_) => REF_ARRAY_BLOB,
                Contents::Part { known, .. } => match **known {
                    Contents::Blob(_) => REF_ARRAY_PART_BLOB,
                    _ => REF_ARRAY_PART,
                },
            };
            out.put_u32(word(tag, class.0));
            out.put_u64(id.0);
            out.put_u32(*length);
            put_contents(out, contents);
        }
        Reference::Structure { class, fields } => {
            out.put_u32(word(REF_STRUCTURE, class.0));
            fields.iter().for_each(|field| put_value(out, field));
        }
        Reference::Piece(number) => out.put_u32(word(REF_PIECE, *number)),
        Reference::Constant { class, name } => {
            out.put_u32(word(REF_CONSTANT, class.0));
            put_reference(out, &Reference::String(name.encode_utf16().collect()));
        }
        Reference::Redacted => out.put_u32(word(REF_REDACTED, 0)),
        Reference::Unknown => out.put_u32(word(REF_UNKNOWN, 0)),
    }
}

fn put_contents(out: &mut Vec<u8>, contents: &Contents) {
    match contents {
        Contents::Unknown => {}
        Contents::Elements(values) => values.iter().for_each(|v| put_value(out, v)),
        Contents::Blob(blob) => out.put_u32(blob.0),
        Contents::Part { from, known } => {
            out.put_u32(*from);
            if let Contents::Elements(values) = &**known {
                out.put_u32(values.len() as u32);
            }
            put_contents(out, known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_of_the_model_are_those_that_are_no_control_records() {
        for kind in EventKind::ALL {
            assert_eq!(kind_of(kind as u8), Some(kind));
        }
        for control in [0, KIND_TURN, KIND_UNWOUND, KIND_GAP, KIND_PAD, 24] {
            assert_eq!(kind_of(control), None);
        }
    }
}
