//! Recipes: calls that make an object of the library which holds what one was told to hold.

use std::collections::BTreeMap;

use culprit_model::{ObjectId, Reference, Step, TypeId, Value};

use crate::Statement;
use crate::script::Author;

/// What an object held: its class, and its pieces.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub object: Value,
    pub class: TypeId,
    pub pieces: Vec<Value>,
}

impl State {
    /// What a step tells of an object.
    pub fn told(step: &Step) -> Option<(ObjectId, State)> {
        let (object, pieces) = step.values.split_first()?;
        let Value::Reference(Reference::Object { id, class }) = object else {
            return None;
        };
        let state = State {
            object: object.clone(),
            class: *class,
            pieces: pieces.to_vec(),
        };
        Some((*id, state))
    }
}

/// The statements that make an object, or `None` if there is no recipe for it.
pub fn make(
    author: &mut Author,
    states: &BTreeMap<ObjectId, State>,
    id: ObjectId,
) -> Option<Vec<Statement>> {
    let _ = (author, states.get(&id)?);
    None
}
