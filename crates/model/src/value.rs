//! Values as they cross the border: scalars, strings, boxed values, enum constants and classes
//! by value; every other object as an id and a run-time type; arrays with their contents when
//! they come in.

use crate::{BlobId, ObjectId, TypeId};

/// A Java value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Boolean(bool),
    Byte(i8),
    Short(i16),
    Char(u16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Reference(Reference),
}

/// A value of reference type.
#[derive(Clone, PartialEq, Debug)]
pub enum Reference {
    Null,
    /// Any object that is not one of the cases below.
    Object {
        id: ObjectId,
        class: TypeId,
    },
    /// A string, as UTF-16 code units (Java strings may hold unpaired surrogates).
    String(Vec<u16>),
    /// A long string, stored once as a blob of UTF-16 code units.
    StringBlob(BlobId),
    /// A string that `--redact` masked before it reached the disk.
    Redacted,
    /// A value that could not be recorded; the losses say why.
    Unknown,
    /// A `java.lang.Class` value.
    Class(TypeId),
    /// An enum constant; the type's definition in the recording names its constants.
    Enum {
        class: TypeId,
        ordinal: u32,
    },
    /// A boxed primitive (`java.lang.Integer` and its siblings).
    Boxed(Box<Value>),
    /// Where it is a piece of a state, an array may have no id: then that is 0.
    Array {
        id: ObjectId,
        class: TypeId,
        length: u32,
        contents: Contents,
    },
    /// A piece of a state: the fields of an object, as the definition of its type lists them.
    Structure {
        class: TypeId,
        fields: Vec<Value>,
    },
    /// Another piece of the same state, by its number from 0.
    Piece(u32),
    /// What a static field of the JDK holds that never changes.
    Constant {
        class: TypeId,
        name: String,
    },
}

/// What is known of an array's elements at the moment of an event.
#[derive(Clone, PartialEq, Debug)]
pub enum Contents {
    /// Not stored: the array went out, or was over a limit.
    Unknown,
    Elements(Vec<Value>),
    /// Primitive elements stored once as a blob of little-endian elements.
    Blob(BlobId),
    /// Those from one element on, stored in one of the two ways above; nothing is said of others.
    Part {
        from: u32,
        known: Box<Contents>,
    },
}

impl Value {
    pub fn shape(&self) -> Shape {
        match self {
            Value::Boolean(_) => Shape::Boolean,
            Value::Byte(_) => Shape::Byte,
            Value::Short(_) => Shape::Short,
            Value::Char(_) => Shape::Char,
            Value::Int(_) => Shape::Int,
            Value::Long(_) => Shape::Long,
            Value::Float(_) => Shape::Float,
            Value::Double(_) => Shape::Double,
            Value::Reference(_) => Shape::Reference,
        }
    }

    /// The object that this is, or the array with a name.
    pub fn identity(&self) -> Option<ObjectId> {
        match self {
            Value::Reference(Reference::Object { id, .. }) => Some(*id),
            Value::Reference(Reference::Array { id, .. }) if id.0 != 0 => Some(*id),
            _ => None,
        }
    }

    /// Equal by bits: NaN is identical to itself, and a negative zero differs from zero.
    pub fn is_identical(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
            (Value::Double(one), Value::Double(other)) => one.to_bits() == other.to_bits(),
            (
                Value::Reference(Reference::Boxed(one)),
                Value::Reference(Reference::Boxed(other)),
            ) => one.is_identical(other),
            _ => self == other,
        }
    }

    /// A string.
    pub fn text(text: &str) -> Value {
        Value::Reference(Reference::String(text.encode_utf16().collect()))
    }

    /// Zero, false or null: the value of a field that nothing has set.
    pub fn zero(shape: Shape) -> Value {
        match shape {
            Shape::Boolean => Value::Boolean(false),
            Shape::Byte => Value::Byte(0),
            Shape::Short => Value::Short(0),
            Shape::Char => Value::Char(0),
            Shape::Int => Value::Int(0),
            Shape::Long => Value::Long(0),
            Shape::Float => Value::Float(0.0),
            Shape::Double => Value::Double(0.0),
            Shape::Reference => Value::Reference(Reference::Null),
        }
    }

    /// A scalar from its bytes, little endian; `None` if there are too few or too many.
    fn from_le_bytes(shape: Shape, bytes: &[u8]) -> Option<Value> {
        Some(match shape {
            Shape::Boolean => Value::Boolean(u8::from_le_bytes(bytes.try_into().ok()?) != 0),
            Shape::Byte => Value::Byte(i8::from_le_bytes(bytes.try_into().ok()?)),
            Shape::Short => Value::Short(i16::from_le_bytes(bytes.try_into().ok()?)),
            Shape::Char => Value::Char(u16::from_le_bytes(bytes.try_into().ok()?)),
            Shape::Int => Value::Int(i32::from_le_bytes(bytes.try_into().ok()?)),
            Shape::Long => Value::Long(i64::from_le_bytes(bytes.try_into().ok()?)),
            Shape::Float => Value::Float(f32::from_le_bytes(bytes.try_into().ok()?)),
            Shape::Double => Value::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
            Shape::Reference => return None,
        })
    }

    /// The elements of a primitive array, from their bytes.
    pub fn elements_from_le_bytes(shape: Shape, bytes: &[u8]) -> Option<Vec<Value>> {
        let elements = bytes.chunks(shape.width()?);
        elements
            .map(|bytes| Value::from_le_bytes(shape, bytes))
            .collect()
    }

    /// Calls `visit` for this value, if it is a reference, and for the references within it.
    pub fn each_reference<'v>(&'v self, visit: &mut impl FnMut(&'v Reference)) {
        let Value::Reference(reference) = self else {
            return;
        };
        visit(reference);
        let within = reference.within().iter();
        within.for_each(|value| value.each_reference(visit));
    }

    /// Bytes of memory that it takes, with what is within it.
    pub fn memory(&self) -> usize {
        let Value::Reference(reference) = self else {
            return size_of::<Value>();
        };
        let text = match reference {
            Reference::String(units) => 2 * units.len(),
            Reference::Constant { name, .. } => name.len(),
            _ => 0,
        };
        let within: usize = reference.within().iter().map(Value::memory).sum();
        size_of::<Value>() + text + within
    }
}

impl Reference {
    /// The values that this one is made of.
    fn within(&self) -> &[Value] {
        match self {
            Reference::Boxed(value) => std::slice::from_ref(&**value),
            Reference::Array { contents, .. } => contents.elements(),
            Reference::Structure { fields, .. } => fields,
            _ => &[],
        }
    }
}

impl Contents {
    /// The elements that are told here.
    pub fn elements(&self) -> &[Value] {
        match self {
            Contents::Elements(elements) => elements,
            Contents::Part { known, .. } => known.elements(),
            Contents::Unknown | Contents::Blob(_) => &[],
        }
    }

    pub fn elements_mut(&mut self) -> &mut [Value] {
        match self {
            Contents::Elements(elements) => elements,
            Contents::Part { known, .. } => known.elements_mut(),
            Contents::Unknown | Contents::Blob(_) => &mut [],
        }
    }

    /// The blob that tells them.
    pub fn blob(&self) -> Option<BlobId> {
        match self {
            Contents::Blob(blob) => Some(*blob),
            Contents::Part { known, .. } => known.blob(),
            Contents::Unknown | Contents::Elements(_) => None,
        }
    }
}

/// How a value is laid out: the first character of its descriptor, with `L` for every reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Shape {
    Boolean,
    Byte,
    Short,
    Char,
    Int,
    Long,
    Float,
    Double,
    Reference,
}

impl Shape {
    /// The shape of a field descriptor; `None` for `V` and for anything malformed.
    pub fn of(descriptor: &str) -> Option<Shape> {
        Shape::of_letter(*descriptor.as_bytes().first()?)
    }

    /// The shape of a descriptor with this first letter.
    pub fn of_letter(letter: u8) -> Option<Shape> {
        Some(match letter {
            b'Z' => Shape::Boolean,
            b'B' => Shape::Byte,
            b'S' => Shape::Short,
            b'C' => Shape::Char,
            b'I' => Shape::Int,
            b'J' => Shape::Long,
            b'F' => Shape::Float,
            b'D' => Shape::Double,
            b'L' | b'[' => Shape::Reference,
            _ => return None,
        })
    }

    /// The descriptor of the primitive type; that of `Object` for references.
    pub fn descriptor(self) -> &'static str {
        match self {
            Shape::Boolean => "Z",
            Shape::Byte => "B",
            Shape::Short => "S",
            Shape::Char => "C",
            Shape::Int => "I",
            Shape::Long => "J",
            Shape::Float => "F",
            Shape::Double => "D",
            Shape::Reference => "Ljava/lang/Object;",
        }
    }

    /// The descriptor character.
    pub fn code(self) -> char {
        char::from(self.descriptor().as_bytes()[0])
    }

    /// All shapes, scalars first.
    pub const ALL: [Shape; 9] = [
        Shape::Boolean,
        Shape::Byte,
        Shape::Short,
        Shape::Char,
        Shape::Int,
        Shape::Long,
        Shape::Float,
        Shape::Double,
        Shape::Reference,
    ];

    /// The name of the primitive type, which a script uses as a class; `java/lang/Object` for references.
    pub fn class_name(self) -> &'static str {
        match self {
            Shape::Boolean => "boolean",
            Shape::Byte => "byte",
            Shape::Short => "short",
            Shape::Char => "char",
            Shape::Int => "int",
            Shape::Long => "long",
            Shape::Float => "float",
            Shape::Double => "double",
            Shape::Reference => "java/lang/Object",
        }
    }

    /// The class that boxes a primitive type; `java/lang/Object` for references.
    pub fn box_name(self) -> &'static str {
        match self {
            Shape::Boolean => "java/lang/Boolean",
            Shape::Byte => "java/lang/Byte",
            Shape::Short => "java/lang/Short",
            Shape::Char => "java/lang/Character",
            Shape::Int => "java/lang/Integer",
            Shape::Long => "java/lang/Long",
            Shape::Float => "java/lang/Float",
            Shape::Double => "java/lang/Double",
            Shape::Reference => "java/lang/Object",
        }
    }

    /// The primitive types.
    pub fn scalars() -> impl Iterator<Item = Shape> {
        let all = Shape::ALL.into_iter();
        all.filter(|shape| *shape != Shape::Reference)
    }

    /// The primitive type of a name.
    pub fn named(name: &str) -> Option<Shape> {
        Shape::scalars().find(|shape| shape.class_name() == name)
    }

    /// The primitive type that a class boxes.
    pub fn boxed_by(class: &str) -> Option<Shape> {
        Shape::scalars().find(|shape| shape.box_name() == class)
    }

    /// The shape of values of a class: a primitive type by its name, or a reference.
    pub fn of_class(name: &str) -> Shape {
        Shape::named(name).unwrap_or(Shape::Reference)
    }

    /// Bytes a scalar of this shape takes; `None` for references, whose size varies.
    pub fn width(self) -> Option<usize> {
        Some(match self {
            Shape::Boolean | Shape::Byte => 1,
            Shape::Short | Shape::Char => 2,
            Shape::Int | Shape::Float => 4,
            Shape::Long | Shape::Double => 8,
            Shape::Reference => return None,
        })
    }
}

/// The parameter shapes and the return shape (`None` for `void`) of a method descriptor.
pub fn method_shapes(descriptor: &str) -> Option<(Vec<Shape>, Option<Shape>)> {
    let (parameters, result) = split_descriptor(descriptor)?;
    let shapes = parameters
        .iter()
        .map(|p| Shape::of(p))
        .collect::<Option<Vec<_>>>()?;
    let result = match result {
        "V" => None,
        other => Some(Shape::of(other)?),
    };
    Some((shapes, result))
}

/// The class of a field descriptor, as tables name it: `int`, `[I`, `java/lang/String`. `None` for `void`.
pub fn class_of_descriptor(descriptor: &str) -> Option<&str> {
    if descriptor.starts_with('[') {
        return Some(descriptor);
    }
    match Shape::of(descriptor)? {
        Shape::Reference => descriptor.strip_prefix('L')?.strip_suffix(';'),
        scalar => (descriptor.len() == 1).then(|| scalar.class_name()),
    }
}

/// The parameter descriptors and the return descriptor of a method descriptor.
pub fn split_descriptor(descriptor: &str) -> Option<(Vec<&str>, &str)> {
    let inner = descriptor.strip_prefix('(')?;
    let close = inner.find(')')?;
    let (mut rest, result) = (&inner[..close], &inner[close + 1..]);
    let mut parameters = Vec::new();
    while !rest.is_empty() {
        let dims = rest.bytes().take_while(|b| *b == b'[').count();
        let end = match rest.as_bytes().get(dims)? {
            b'L' => rest.find(';')? + 1,
            b'Z' | b'B' | b'S' | b'C' | b'I' | b'J' | b'F' | b'D' => dims + 1,
            _ => return None,
        };
        parameters.push(&rest[..end]);
        rest = &rest[end..];
    }
    if result.is_empty() {
        return None;
    }
    Some((parameters, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_split_into_parameters_and_result() {
        let (parameters, result) = split_descriptor("(I[[Ljava/lang/String;J[B)V").unwrap();
        assert_eq!(parameters, ["I", "[[Ljava/lang/String;", "J", "[B"]);
        assert_eq!(result, "V");
    }

    #[test]
    fn malformed_descriptors_are_refused() {
        for bad in ["", "I", "(", "(I", "(Lfoo)V", "(Q)V", "()", "([)V"] {
            assert_eq!(split_descriptor(bad), None, "{bad}");
        }
    }
}
