//! Where in a script something is given that can be made smaller.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::script::Input;
use culprit_model::value::{Contents, Shape};
use culprit_model::{ObjectId, Reference, Tables, Value};

use crate::Statement;

/// The most elements of an array that are looked at.
const LARGE: u32 = 100_000;

/// The position of a value: the statement, the value that comes from the script, and elements of arrays within
/// that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ValuePosition {
    statement: usize,
    input: Input,
    within: Vec<usize>,
}

impl ValuePosition {
    pub(super) fn get<'s>(&self, statements: &'s [Statement]) -> Option<&'s Value> {
        let mut value = statements.get(self.statement)?.input(self.input)?;
        for at in &self.within {
            let Value::Reference(Reference::Array { contents, .. }) = value else {
                return None;
            };
            value = contents.elements().get(*at)?;
        }
        Some(value)
    }

    pub(super) fn get_mut<'s>(&self, statements: &'s mut [Statement]) -> Option<&'s mut Value> {
        let statement = statements.get_mut(self.statement)?;
        let mut value = statement.input_mut(self.input)?;
        for at in &self.within {
            let Value::Reference(Reference::Array { contents, .. }) = value else {
                return None;
            };
            let Contents::Elements(elements) = contents else {
                return None;
            };
            value = elements.get_mut(*at)?;
        }
        Some(value)
    }

    /// Puts another value there, if there is such a place.
    pub(super) fn set(&self, statements: &mut [Statement], new: Value) {
        if let Some(value) = self.get_mut(statements) {
            *value = new;
        }
    }
}

/// Arrays that can be made shorter, those that hold others first.
pub(super) fn arrays(statements: &[Statement], prelude: usize) -> Vec<ValuePosition> {
    find(statements, prelude, |value| {
        matches!(value, Value::Reference(Reference::Array { .. }))
    })
}

/// Texts and numbers, elements of arrays last.
pub(super) fn leaves(statements: &[Statement], prelude: usize) -> Vec<ValuePosition> {
    let mut found = find(statements, prelude, |value| match value {
        Value::Reference(reference) => matches!(
            reference,
            Reference::String(_) | Reference::StringBlob(_) | Reference::Boxed(_)
        ),
        _ => true,
    });
    found.sort_by_key(|place| place.within.len());
    found
}

/// The elements of an array, if all are known.
pub(super) fn array(value: &Value, tables: &Tables) -> Option<Vec<Value>> {
    let Value::Reference(Reference::Array {
        class,
        length,
        contents,
        ..
    }) = value
    else {
        return None;
    };
    if *length > LARGE {
        return None;
    }
    let elements: Vec<Value> = match contents {
        Contents::Elements(elements) => elements.clone(),
        Contents::Blob(blob) => {
            let class = tables.class(*class)?;
            let shape = Shape::of(class.name.strip_prefix('[')?)?;
            Value::elements_from_le_bytes(shape, tables.blobs.get(blob)?)?
        }
        Contents::Unknown | Contents::Part { .. } => return None,
    };
    (elements.len() == *length as usize).then_some(elements)
}

/// Gives an array other elements. Where it is met again without contents, it has the new length too.
pub(super) fn set_elements(place: &ValuePosition, statements: &mut [Statement], new: Vec<Value>) {
    let Some(Value::Reference(Reference::Array { id, class, .. })) = place.get(statements) else {
        return;
    };
    let (id, class, length) = (*id, *class, new.len() as u32);
    let array = Reference::Array {
        id,
        class,
        length,
        contents: Contents::Elements(new),
    };
    place.set(statements, Value::Reference(array));
    if id.0 == 0 {
        return;
    }
    for value in statements.iter_mut().flat_map(Statement::values_mut) {
        if let Value::Reference(Reference::Array {
            id: of, length: it, ..
        }) = value
            && *of == id
        {
            *it = length;
        }
    }
}

/// Arrays that are given again, and what they hold then: mostly what the program itself put there.
pub(super) fn arrays_again(statements: &[Statement], prelude: usize) -> Vec<ValuePosition> {
    let mut met = BTreeSet::new();
    let mut again = Vec::new();
    for (number, statement) in statements.iter().enumerate() {
        for (input, value) in statement.each_value() {
            let Value::Reference(Reference::Array { id, contents, .. }) = value else {
                continue;
            };
            let input = input.filter(|_| number >= prelude);
            if let (false, Some(input)) = (met.insert(*id), input)
                && *contents != Contents::Unknown
            {
                again.push(ValuePosition {
                    statement: number,
                    input,
                    within: Vec::new(),
                });
            }
        }
    }
    again
}

/// Tells what arrays of a statement that goes hold where they are met next, if nothing is told there.
pub(super) fn hand_on(gone: &Statement, rest: &mut [Statement]) {
    for array in gone.values() {
        let Value::Reference(Reference::Array { id, contents, .. }) = array else {
            continue;
        };
        let mut values = rest.iter_mut().flat_map(Statement::values_mut);
        let next = values.find_map(|value| match value {
            Value::Reference(Reference::Array {
                id: of, contents, ..
            }) if of == id => Some(contents),
            _ => None,
        });
        if let Some(next) = next.filter(|next| **next == Contents::Unknown) {
            *next = contents.clone();
        }
    }
}

/// The places of what statements are given and stand-ins answer. What sets up the surroundings stays
/// as it is, and so do arrays of which more is told than what they hold at first.
fn find(
    statements: &[Statement],
    prelude: usize,
    wanted: impl Fn(&Value) -> bool,
) -> Vec<ValuePosition> {
    let mut told: BTreeMap<ObjectId, Told> = BTreeMap::new();
    for value in statements.iter().flat_map(Statement::values) {
        value.each_reference(&mut |reference| {
            if let Reference::Array { id, contents, .. } = reference {
                let is_told = *contents != Contents::Unknown;
                let first = told.entry(*id).or_insert(Told {
                    at_first: is_told,
                    times: 0,
                });
                first.times += usize::from(is_told);
            }
        });
    }
    let mut finder = Finder {
        told,
        wanted,
        found: Vec::new(),
    };
    for (number, statement) in statements.iter().enumerate().skip(prelude) {
        for (input, value) in statement.inputs() {
            let place = ValuePosition {
                statement: number,
                input,
                within: Vec::new(),
            };
            finder.look(value, place);
        }
    }
    finder.found
}

/// What is told of the contents of an array.
struct Told {
    /// Whether something is where it is met first.
    at_first: bool,
    /// How often something is.
    times: usize,
}

struct Finder<F> {
    told: BTreeMap<ObjectId, Told>,
    wanted: F,
    found: Vec<ValuePosition>,
}

impl<F: Fn(&Value) -> bool> Finder<F> {
    fn look(&mut self, value: &Value, place: ValuePosition) {
        if let Value::Reference(Reference::Array { id, contents, .. }) = value {
            let told = self.told.get(id);
            if id.0 != 0 && told.is_none_or(|told| !told.at_first || told.times > 1) {
                return;
            }
            if (self.wanted)(value) {
                self.found.push(place.clone());
            }
            if let Contents::Elements(elements) = contents {
                for (at, element) in elements.iter().enumerate() {
                    let mut place = place.clone();
                    place.within.push(at);
                    self.look(element, place);
                }
            }
        } else if (self.wanted)(value) {
            self.found.push(place);
        }
    }
}
