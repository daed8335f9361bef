//! What an object is told to hold, field by field.

use std::borrow::Cow;

use culprit_model::site::TypeDef;
use culprit_model::value::{Contents, Shape};
use culprit_model::{BlobId, ObjectId, Reference, TypeId, Value};

use super::RecipeSources;

/// A piece of what was told of an object: its class and its fields.
#[derive(Clone, Copy)]
pub(super) struct StatePiece<'a> {
    sources: RecipeSources<'a>,
    class: Option<&'a TypeDef>,
    fields: &'a [Value],
    /// All pieces that were told with it, and of which object.
    pieces: &'a [Value],
    of: ObjectId,
}

impl<'a> StatePiece<'a> {
    /// What holds nothing.
    pub(super) fn nothing(sources: RecipeSources<'a>) -> StatePiece<'a> {
        StatePiece {
            sources,
            class: None,
            fields: &[],
            pieces: &[],
            of: ObjectId(0),
        }
    }

    /// What an object holds. Of those without fields nothing is told.
    pub(super) fn object(
        sources: RecipeSources<'a>,
        id: ObjectId,
        class: TypeId,
    ) -> Option<StatePiece<'a>> {
        let mut held = StatePiece {
            class: type_def(sources, class),
            of: id,
            ..StatePiece::nothing(sources)
        };
        if let Some(state) = sources.states.get(&id) {
            held.pieces = &state.pieces;
            held = held.structure(state.pieces.first()?)?;
        }
        Some(held)
    }

    fn structure(self, piece: &'a Value) -> Option<StatePiece<'a>> {
        match piece {
            Value::Reference(Reference::Structure { class, fields }) => Some(StatePiece {
                class: Some(type_def(self.sources, *class)?),
                fields,
                ..self
            }),
            _ => None,
        }
    }

    /// A piece that was told with this one.
    pub(super) fn piece(&self, number: u32) -> Option<&'a Value> {
        self.pieces.get(number as usize)
    }

    /// The object that it was told with.
    pub(super) fn of(&self) -> ObjectId {
        self.of
    }

    /// The name of the class.
    pub(super) fn class(&self) -> &'a str {
        self.class.map_or("", |class| &class.name)
    }

    /// A field by its name: that of the subclass, if several have it.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        let fields = self.class?.fields.iter();
        let place = fields.rev().position(|field| field.name == name)?;
        let place = self.class?.fields.len() - 1 - place;
        self.fields.get(place)
    }

    /// The first of the fields that there is. Versions of the JDK differ.
    pub(super) fn any(&self, names: &[&str]) -> Option<&'a Value> {
        names.iter().find_map(|name| self.get(name))
    }

    /// A field that is a number, a character or a truth.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        integer(self.get(name)?)
    }

    pub(super) fn is_null(&self, name: &str) -> bool {
        self.get(name) == Some(&Value::Reference(Reference::Null))
    }

    /// The object that a field holds.
    pub(super) fn open(&self, name: &str) -> Option<StatePiece<'a>> {
        self.look(self.get(name)?)
    }

    /// The object that a value of this piece is.
    pub(super) fn look(&self, value: &'a Value) -> Option<StatePiece<'a>> {
        match value {
            Value::Reference(Reference::Piece(number)) => self.structure(self.piece(*number)?),
            Value::Reference(Reference::Object { id, class }) => {
                StatePiece::object(self.sources, *id, *class)
            }
            Value::Reference(Reference::Structure { .. }) => self.structure(value),
            _ => None,
        }
    }

    /// The text that a field holds.
    pub(super) fn text(&self, name: &str) -> Option<Vec<u16>> {
        match self.get(name)? {
            Value::Reference(Reference::String(units)) => Some(units.clone()),
            Value::Reference(Reference::StringBlob(blob)) => {
                let bytes = self.blob(*blob)?;
                let units = bytes.chunks_exact(2);
                Some(units.map(|b| u16::from_le_bytes([b[0], b[1]])).collect())
            }
            _ => None,
        }
    }

    /// The same, where it has no half of a pair.
    pub(super) fn string(&self, name: &str) -> Option<String> {
        String::from_utf16(&self.text(name)?).ok()
    }

    /// The name of a constant or a class that a field holds.
    pub(super) fn constant(&self, name: &str) -> Option<&'a str> {
        match self.get(name)? {
            Value::Reference(Reference::Constant { name, .. }) => Some(name),
            Value::Reference(Reference::Enum { class, ordinal }) => {
                let constants = &type_def(self.sources, *class)?.constants;
                constants.get(*ordinal as usize).map(String::as_str)
            }
            _ => None,
        }
    }

    /// The array that a field holds.
    pub(super) fn array(&self, name: &str) -> Option<&'a Value> {
        let value = match self.get(name)? {
            Value::Reference(Reference::Piece(number)) => self.piece(*number)?,
            other => other,
        };
        matches!(value, Value::Reference(Reference::Array { .. })).then_some(value)
    }

    /// The elements of the array that a field holds. Where a constant is held, it is an empty one.
    pub(super) fn elements(&self, name: &str) -> Option<Cow<'a, [Value]>> {
        if let Value::Reference(Reference::Constant { .. }) = self.get(name)? {
            return Some(Cow::Borrowed(&[]));
        }
        let Value::Reference(Reference::Array {
            class, contents, ..
        }) = self.array(name)?
        else {
            return None;
        };
        match contents {
            Contents::Elements(elements) => Some(Cow::Borrowed(elements)),
            Contents::Blob(blob) => {
                let class = type_def(self.sources, *class)?;
                let shape = Shape::of(class.name.strip_prefix('[')?)?;
                let elements = Value::elements_from_le_bytes(shape, &self.blob(*blob)?);
                Some(Cow::Owned(elements?))
            }
            Contents::Unknown | Contents::Part { .. } => None,
        }
    }

    /// The elements of an array of objects, which can be looked at.
    pub(super) fn references(&self, name: &str) -> Option<&'a [Value]> {
        match self.elements(name)? {
            Cow::Borrowed(elements) => Some(elements),
            Cow::Owned(_) => None,
        }
    }

    /// The elements of an array of numbers.
    pub(super) fn integers(&self, name: &str) -> Option<Vec<i64>> {
        self.elements(name)?.iter().map(integer).collect()
    }

    fn blob(&self, id: BlobId) -> Option<Vec<u8>> {
        self.sources.blobs.blob(id).ok().flatten()
    }
}

fn type_def(sources: RecipeSources<'_>, id: TypeId) -> Option<&TypeDef> {
    sources.tables.class(id)
}

/// A scalar as a whole number.
pub(super) fn integer(value: &Value) -> Option<i64> {
    Some(match value {
        Value::Boolean(v) => i64::from(*v),
        Value::Byte(v) => i64::from(*v),
        Value::Short(v) => i64::from(*v),
        Value::Char(v) => i64::from(*v),
        Value::Int(v) => i64::from(*v),
        Value::Long(v) => *v,
        Value::Float(_) | Value::Double(_) | Value::Reference(_) => return None,
    })
}
