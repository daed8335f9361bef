//! Merges objects: where one will do for two of a class, the calls that make the other go.

use culprit_model::script::Action;
use culprit_model::{ObjectId, Reference, TypeId, Value};

use culprit_scripts::{closure, finds_fault, needs, rename};

use crate::{Error, Script, Statement};

/// The script with as few objects as still fail, until there is no time left. Where an assertion fails only values are merged: of
/// one object it may be right to say what was wrong of two.
pub(crate) fn merge(
    script: Script,
    is_over: &dyn Fn() -> bool,
    fails: &dyn Fn(&Script) -> Result<bool, Error>,
) -> Result<Script, Error> {
    let mut best = script;
    let mut at = best.prelude;
    let mut in_vain = 0;
    while at < best.statements.len() && in_vain < MOST_IN_VAIN && !is_over() {
        let mut smaller = None;
        for replacement in replacements(&best, at) {
            let candidate = replacement.applied_to(&best, at);
            if is_over() {
                break;
            }
            if fails(&candidate)? {
                smaller = Some(candidate);
                break;
            }
            in_vain += 1;
        }
        match smaller {
            Some(smaller) => {
                best = smaller;
                in_vain = 0;
            }
            None => at += 1,
        }
    }
    Ok(best)
}

/// A way to do without a statement that makes an object.
enum Replacement {
    /// An earlier statement gave the same object.
    None,
    /// One object takes the place of another.
    Object { of: ObjectId, by: ObjectId },
}

impl Replacement {
    fn applied_to(&self, script: &Script, at: usize) -> Script {
        let mut merged = without(script, at);
        if let Replacement::Object { of, by } = self {
            for statement in &mut merged.statements {
                let values = statement.values_mut();
                values.for_each(|value| rename(value, *of, *by));
            }
        }
        merged
    }
}

/// The most tries in vain, one after the other: a script with a long loop has thousands of objects of a class.
const MOST_IN_VAIN: usize = 300;

/// The most earlier objects of a class that are tried in the place of another one.
const MOST_TRIED: usize = 100;

/// Earlier objects of its class that may take the place of what a statement makes.
fn replacements(script: &Script, at: usize) -> Vec<Replacement> {
    let Some((second, class)) = made(&script.statements[at]) else {
        return Vec::new();
    };
    let is_last = at + 1 == script.statements.len();
    let uses_itself = script.statements[at].uses().contains(&second);
    if is_last || uses_itself {
        return Vec::new();
    }
    // A value is not an object that another could stand for.
    let name = script.class_name(class);
    let is_value = name == "java/lang/String" || !name.contains(['/', '[']);
    if (finds_fault(script) || asserts_by_name(script)) && !is_value {
        return Vec::new();
    }
    // An object that an earlier statement gave already needs no other one.
    let mut earlier = script.statements[..at].iter();
    if earlier.any(|statement| statement.defines() == Some(second)) {
        return vec![Replacement::None];
    }
    let earlier = script.statements[..at].iter().enumerate();
    let of_class = earlier.filter_map(|(number, statement)| {
        let (first, of) = made(statement)?;
        (of == class && first != second).then_some((number, first))
    });
    let alike = of_class.filter(|(number, _)| !is_value || is_alike(script, *number, at));
    let alike: Vec<(usize, ObjectId)> = alike.take(MOST_TRIED).collect();
    if alike.is_empty() {
        return Vec::new();
    }
    // What an object was made from differs from it in just what it was made for.
    let behind = closure(&needs(script), at);
    let apart = alike.into_iter();
    apart
        .filter(|(number, _)| behind.binary_search(number).is_err())
        .map(|(_, first)| Replacement::Object {
            of: second,
            by: first,
        })
        .collect()
}

fn without(script: &Script, at: usize) -> Script {
    let others: Vec<usize> = (0..script.statements.len()).filter(|n| *n != at).collect();
    script.keep(&others)
}

/// Whether the last call is an assertion of the user's own, by its name: it compares what it is given.
fn asserts_by_name(script: &Script) -> bool {
    let last = script.statements.last();
    let target = last.and_then(|last| script.target(last));
    target.is_some_and(|target| target.name.starts_with("assert"))
}

/// How methods begin that change nothing.
const QUESTIONS: [&str; 7] = ["get", "is", "has", "size", "length", "to", "contains"];

/// Whether a method, by its name, only answers.
pub(crate) fn is_question(name: &str) -> bool {
    QUESTIONS.iter().any(|start| name.starts_with(start))
}

/// Whether two statements do the same with the same, and nothing is done to that in between.
fn is_alike(script: &Script, first: usize, second: usize) -> bool {
    let (one, other) = (&script.statements[first], &script.statements[second]);
    let (given, also) = (&one.given, &other.given);
    let same_call = is_same_action(&one.action, &other.action);
    if !same_call
        || given.len() != also.len()
        || !given.iter().zip(also).all(|(a, b)| is_same(a, b))
    {
        return false;
    }
    let objects = one.uses();
    let mut between = script.statements[first + 1..second].iter();
    let asks = |statement: &Statement| match script.target(statement) {
        Some(target) => is_question(&target.name),
        None => true,
    };
    let touched = between.any(|statement| {
        !asks(statement) && statement.uses().iter().any(|id| objects.contains(id))
    });
    !touched && asks(one)
}

/// Whether two actions are the same, whatever stand-ins answered.
pub(crate) fn is_same_action(one: &Action, other: &Action) -> bool {
    match (one, other) {
        (Action::Call(one), Action::Call(other)) => one.site == other.site,
        _ => one == other,
    }
}

/// Whether two values are the same, arrays by what they hold.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (
            Value::Reference(Reference::Array {
                class, contents, ..
            }),
            Value::Reference(Reference::Array {
                class: also,
                contents: held,
                ..
            }),
        ) => class == also && contents == held,
        _ => one == other,
    }
}

/// The object that a statement makes, and its class.
fn made(statement: &Statement) -> Option<(ObjectId, TypeId)> {
    match statement.result()? {
        Value::Reference(Reference::Object { id, class }) => Some((*id, *class)),
        _ => None,
    }
}
