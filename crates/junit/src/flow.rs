//! Where the arguments of assertions come from. Numbers and strings have no identity, so a scenario
//! does not say that what is compared is what a call returned; a test that compared the recorded
//! values would fail for ever. What is compared was asked for right before, most likely.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::{Reference, Value};

use crate::operators::Operator;
use crate::scope::Scope;
use crate::story::{Action, End, Kind, Maker, Object, Story, identity};
use crate::types::Type;

#[derive(Default)]
pub(crate) struct Flow {
    /// For an argument of an assertion, by the places of both: the statement that returned it.
    pub(crate) sources: BTreeMap<(usize, usize), usize>,
    /// Statements that are written as arguments of the assertion that follows them.
    pub(crate) inline: BTreeSet<usize>,
    /// The last statement is an assertion, and compares nothing but constants.
    pub(crate) is_constant: bool,
}

pub(crate) fn flow(story: &Story<'_>) -> Flow {
    let mut flow = Flow::default();
    let is_told = is_told(story);
    for action in &story.actions {
        if !Scope::is_assertion(&action.site.target) {
            continue;
        }
        if !is_told {
            flow.nearest(story, action);
        }
        let is_last = action.place + 1 == story.actions.len();
        let found = flow.sources.keys().any(|(place, _)| *place == action.place);
        let objects = action
            .arguments
            .iter()
            .any(|value| identity(value).is_some());
        if is_last && !found && !objects {
            flow.is_constant = match is_told {
                true => !story.actions.iter().any(is_condition),
                false => !flow.earlier(story, action),
            };
        }
    }
    flow
}

/// Whether numbers and strings have an identity: then the scenario says where each comes from.
fn is_told(story: &Story<'_>) -> bool {
    let is_value = |class: &str| {
        let of = Type::of_class(class);
        matches!(of, Type::Primitive(_)) || of.name() == Some("java/lang/String")
    };
    let is_told = |action: &Action<'_>| match Operator::of(action) {
        Some(Operator::Start | Operator::Each) | None => false,
        Some(_) => true,
    };
    let of_loop = |object: &Object<'_>| match object.maker {
        Maker::Result(at) => Operator::of(&story.actions[at]) == Some(Operator::Each),
        _ => false,
    };
    let mut objects = story.objects.values();
    objects.any(|object| is_value(object.class) && !of_loop(object))
        || story.actions.iter().any(is_told)
}

fn is_condition(action: &Action<'_>) -> bool {
    Operator::of(action) == Some(Operator::Require)
}

impl Flow {
    /// Calls right before the assertion, the last one first, for its arguments, the last one first:
    /// so they stay in order. What is asserted comes after what is expected.
    fn nearest(&mut self, story: &Story<'_>, assertion: &Action<'_>) {
        let mut source = assertion.place;
        for (place, value) in asserted(assertion) {
            let before = source.checked_sub(1).map(|at| &story.actions[at]);
            let Some(before) = before.filter(|before| returns(before, value)) else {
                continue;
            };
            source = before.place;
            self.sources.insert((assertion.place, place), source);
            self.inline.insert(source);
        }
    }

    /// A call further back; its result gets a variable.
    fn earlier(&mut self, story: &Story<'_>, assertion: &Action<'_>) -> bool {
        for (place, value) in asserted(assertion) {
            let mut before = story.actions[..assertion.place].iter().rev();
            if let Some(source) = before.find(|before| returns(before, value)) {
                self.inline.remove(&source.place);
                self.sources.insert((assertion.place, place), source.place);
                return true;
            }
        }
        false
    }
}

/// The arguments that may be what a call returned, the last one first: not how much two numbers may
/// differ.
fn asserted<'s>(assertion: &Action<'s>) -> impl Iterator<Item = (usize, &'s Value)> + use<'s> {
    let arguments: &'s [Value] = assertion.arguments;
    let real = |place: usize| real(&arguments[place]).is_some();
    let delta = (2..arguments.len()).find(|place| (place - 2..=*place).all(real));
    let all = arguments.iter().enumerate().rev();
    all.filter(move |(place, _)| Some(*place) != delta)
}

/// Whether the statement returned this value, which has no identity.
fn returns(action: &Action<'_>, value: &Value) -> bool {
    let End::Returned(Some(result)) = action.end else {
        return false;
    };
    action.kind != Kind::Write && identity(result).is_none() && same(result, value)
}

/// Equal, boxed or not, and as numbers of whatever width.
fn same(one: &Value, other: &Value) -> bool {
    match (unboxed(one), unboxed(other)) {
        (Value::Reference(one), Value::Reference(other)) => one == other,
        (one, other) => match (whole(one), whole(other)) {
            (Some(one), Some(other)) => one == other,
            _ => match (real(one), real(other)) {
                (Some(one), Some(other)) => one.to_bits() == other.to_bits(),
                _ => one == other,
            },
        },
    }
}

fn unboxed(value: &Value) -> &Value {
    match value {
        Value::Reference(Reference::Boxed(inner)) => inner,
        other => other,
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Byte(value) => Some((*value).into()),
        Value::Short(value) => Some((*value).into()),
        Value::Int(value) => Some((*value).into()),
        Value::Long(value) => Some(*value),
        _ => None,
    }
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some((*value).into()),
        Value::Double(value) => Some(*value),
        _ => None,
    }
}
