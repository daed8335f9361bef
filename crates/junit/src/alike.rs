//! Literals that are the same, and arrays that are but for their elements.

use culprit_model::value::Contents;
use culprit_model::{Reference, Value};

use crate::values::is_same;

pub(crate) fn is_array(value: &Value) -> bool {
    matches!(value, Value::Reference(Reference::Array { .. }))
}

/// The same literals, also within arrays.
pub(crate) fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (
            Value::Reference(Reference::Array { contents, .. }),
            Value::Reference(Reference::Array {
                contents: contents2,
                ..
            }),
        ) => {
            let mut pairs = contents.elements().iter().zip(contents2.elements());
            is_framed_alike(one, other) && pairs.all(|(one, other)| is_equal(one, other))
        }
        _ => is_same(one, other),
    }
}

pub(crate) fn is_framed_alike(one: &Value, other: &Value) -> bool {
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
        && is_told_alike(contents, contents2)
        && pairs.all(|(one, other)| is_framed_alike(one, other))
}

fn is_told_alike(one: &Contents, other: &Contents) -> bool {
    match (one, other) {
        (Contents::Elements(one), Contents::Elements(other)) => one.len() == other.len(),
        (
            Contents::Part { from, known },
            Contents::Part {
                from: from2,
                known: known2,
            },
        ) => from == from2 && is_told_alike(known, known2),
        (one, other) => one == other,
    }
}
