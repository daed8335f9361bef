//! Literals of different rounds compared: equal, or arrays that differ only in their elements.

use crate::value::Contents;
use crate::{Reference, Value};

pub(super) fn is_array(value: &Value) -> bool {
    matches!(value, Value::Reference(Reference::Array { .. }))
}

/// Equal literals, also within arrays, whatever the names of the arrays are.
pub(super) fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (
            Value::Reference(Reference::Array { contents, .. }),
            Value::Reference(Reference::Array {
                contents: contents2,
                ..
            }),
        ) => {
            let mut pairs = contents.elements().iter().zip(contents2.elements());
            has_equal_frame(one, other) && pairs.all(|(one, other)| is_equal(one, other))
        }
        _ => one.is_identical(other),
    }
}

/// Arrays of one class and length, whose elements may differ; or no arrays.
pub(super) fn has_equal_frame(one: &Value, other: &Value) -> bool {
    let (
        Value::Reference(Reference::Array {
            class,
            length,
            contents,
            ..
        }),
        Value::Reference(Reference::Array {
            class: class2,
            length: length2,
            contents: contents2,
            ..
        }),
    ) = (one, other)
    else {
        return !is_array(one) && !is_array(other);
    };
    let mut pairs = contents.elements().iter().zip(contents2.elements());
    class == class2
        && length == length2
        && is_known_alike(contents, contents2)
        && pairs.all(|(one, other)| has_equal_frame(one, other))
}

/// Contents of which the same elements are known.
fn is_known_alike(one: &Contents, other: &Contents) -> bool {
    match (one, other) {
        (Contents::Elements(one), Contents::Elements(other)) => one.len() == other.len(),
        (
            Contents::Part { from, known },
            Contents::Part {
                from: from2,
                known: known2,
            },
        ) => from == from2 && is_known_alike(known, known2),
        (one, other) => one == other,
    }
}
