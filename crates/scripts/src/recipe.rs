//! Recipes: calls that make an object of the library which holds what one was told to hold.
//!
//! What is told of an object are its fields, and these differ between versions of the JDK. A recipe
//! reads them by name ([`StatePiece`]), makes what they hold first ([`ObjectMaker`]), and gives up where something
//! is not as it expects: there is no recipe then. The tables of recipes, by class, are in the modules
//! below. Collections are filled one call at a time, so that what is not needed can be taken out.

mod collections;
mod constants;
mod decimal;
mod errors;
mod formats;
mod items;
mod object_maker;
mod places;
mod state_piece;
mod streams;
#[cfg(test)]
mod tests;
mod texts;
mod times;
mod values;
mod views;

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::script::Builder;
use culprit_model::{ObjectId, Reference, Step, Tables, Value};
use culprit_replay::Blobs;

use crate::Statement;
use items::Items;
use object_maker::ObjectMaker;
use state_piece::StatePiece;

/// The recorded contents of an object, piece by piece.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RecordedState {
    pub(crate) pieces: Vec<Value>,
}

impl RecordedState {
    /// What a step tells of an object.
    pub(crate) fn told(step: &Step) -> Option<(ObjectId, RecordedState)> {
        let (object, pieces) = step.values.split_first()?;
        let Value::Reference(Reference::Object { id, .. }) = object else {
            return None;
        };
        let pieces = pieces.to_vec();
        Some((*id, RecordedState { pieces }))
    }
}

/// The recorded data that objects are made from.
#[derive(Clone, Copy)]
pub(crate) struct RecipeSources<'a> {
    /// The classes of the recording.
    pub(crate) tables: &'a Tables,
    /// What objects of the library held when last told.
    pub(crate) states: &'a BTreeMap<ObjectId, RecordedState>,
    /// Objects that some statement has made.
    pub(crate) made: &'a BTreeSet<ObjectId>,
    pub(crate) blobs: &'a dyn Blobs,
}

/// A value, with the statements that make it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct MadeValue {
    pub(crate) statements: Vec<Statement>,
    pub(crate) value: Value,
}

/// Makes a value; `None` if there is no recipe for something that it is or holds. An object stays the
/// object that it is; constants that no other code can name become what a call returns.
pub(crate) fn make(
    builder: &mut Builder,
    sources: RecipeSources<'_>,
    value: &Value,
) -> Option<MadeValue> {
    let mut maker = ObjectMaker::new(builder, sources);
    let value = maker.give(StatePiece::nothing(sources), value)?;
    let statements = maker.statements;
    Some(MadeValue { statements, value })
}

/// How an object of a class is made.
#[derive(Clone, Copy)]
enum Recipe {
    /// A constructor or a static method is given what some fields hold.
    Of(&'static str, &'static [&'static str]),
    /// The same, of an object whose fields have these values.
    When(
        &'static [(&'static str, i64)],
        &'static str,
        &'static [&'static str],
    ),
    /// A method of what the first field holds is given what the others hold.
    On(&'static str, &'static [&'static str]),
    /// An object is made of nothing, and filled by a method, as often as it takes.
    Fill(Items, &'static str),
    /// What a static field holds: its class, name and descriptor.
    Field(&'static str, &'static str, &'static str),
    By(By),
}

/// Makes an object, which is the last argument, of what is held.
type By = for<'a> fn(&mut ObjectMaker<'a, '_>, StatePiece<'a>, &Value) -> Option<()>;

type Table = &'static [(&'static str, Recipe)];

const TABLES: [Table; 9] = [
    collections::RECIPES,
    errors::RECIPES,
    formats::RECIPES,
    places::RECIPES,
    streams::RECIPES,
    texts::RECIPES,
    times::RECIPES,
    values::RECIPES,
    views::RECIPES,
];

/// The recipe for objects of a class.
fn recipe(class: &str) -> Option<Recipe> {
    let all = TABLES.iter().flat_map(|table| table.iter());
    let mut of_class = all.filter(|(name, _)| *name == class);
    of_class.next().map(|(_, recipe)| *recipe)
}
