//! Results that are written where they are used, instead of getting a variable: those that one
//! statement uses, once, if everything still happens in the order in which it did.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::{ObjectId, Reference, Value};

use crate::flow::Flow;
use crate::loops::Loops;
use crate::operators::Operator;
use crate::story::{Action, End, Kind, Maker, Role, Story, identity};
use crate::types::{parameters, result};

/// Columns that a statement should have at most, and those that it is indented by.
const WIDTH: usize = 100;
const INDENT: usize = 8;

/// Calls within each other.
const DEPTH: usize = 3;

#[derive(Default)]
pub(crate) struct Inline {
    /// Objects without a variable: the statement that makes them.
    made: BTreeMap<ObjectId, usize>,
    /// Statements that are written within others, or not at all.
    within: BTreeSet<usize>,
}

impl Inline {
    /// Looks at each statement once. Arguments are evaluated from left to right, so the last one must
    /// come from the statement right before, and so on. Some are to be variables anyway.
    pub(crate) fn plan(
        story: &Story<'_>,
        flow: &Flow,
        loops: &Loops,
        kept: &BTreeSet<ObjectId>,
    ) -> Inline {
        let mut plan = Inline::default();
        // Where what is written within a statement starts.
        let mut starts: Vec<usize> = Vec::new();
        // Those that do nothing but give a value.
        let mut pure: BTreeSet<usize> = BTreeSet::new();
        for action in &story.actions {
            let mut start = action.place;
            let mut within_are_pure = true;
            let is_caught = is_caught(story, action);
            if Operator::of(action) == Some(Operator::Each) {
                plan.within.insert(action.place);
                let row = result_of(action).filter(|id| loops.column(*id).is_some());
                plan.made.extend(row.map(|id| (id, action.place)));
            } else if is_left_out(story, action) && !loops.is_assigned(action.place) {
                plan.within.insert(action.place);
            } else {
                for operand in operands(story, action, flow).into_iter().rev() {
                    let made = match operand {
                        // The flow has seen to it that nothing comes between.
                        Operand::Linked(place) => place,
                        Operand::Object(id) => match made_for(story, id, action) {
                            // What is to be caught is thrown by the statement itself.
                            Some(made)
                                if made + 1 == start
                                    && loops.are_together(made, action.place)
                                    && Operator::of(&story.actions[made])
                                        != Some(Operator::Each)
                                    && !kept.contains(&id)
                                    && (!is_caught || pure.contains(&made)) =>
                            {
                                plan.made.insert(id, made);
                                made
                            }
                            _ => continue,
                        },
                    };
                    plan.within.insert(made);
                    within_are_pure &= pure.contains(&made);
                    start = starts[made];
                }
            }
            if within_are_pure && is_pure(action) {
                pure.insert(action.place);
            }
            starts.push(start);
        }
        plan
    }

    /// The statement whose result is written where it is used.
    pub(crate) fn made_at(&self, id: ObjectId) -> Option<usize> {
        self.made.get(&id).copied()
    }

    /// Statements that are statements of the test, too.
    pub(crate) fn roots(&self, story: &Story<'_>) -> Vec<usize> {
        let all = 0..story.actions.len();
        all.filter(|place| !self.within.contains(place)).collect()
    }

    /// The first of the results that are written within a statement, and where it is made.
    pub(crate) fn first_within(&self, action: &Action<'_>) -> Option<(ObjectId, usize)> {
        let mut all = Vec::new();
        for value in receiver_and_arguments(action) {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, .. } = reference {
                    all.push(*id);
                }
            });
        }
        all.into_iter().find_map(|id| Some((id, self.made_at(id)?)))
    }
}

/// Whether a statement is more than one can read at a glance.
pub(crate) fn is_too_much(text: &str, depth: usize) -> bool {
    let mut lines = text.lines();
    lines.any(|line| INDENT + line.len() > WIDTH) || depth > DEPTH
}

fn result_of(action: &Action<'_>) -> Option<ObjectId> {
    match action.end {
        End::Returned(Some(value)) => identity(value),
        _ => None,
    }
}

/// Nothing is written of an operator whose result nobody uses, unless it can fail.
fn is_left_out(story: &Story<'_>, action: &Action<'_>) -> bool {
    let Some(operator) = Operator::of(action) else {
        return false;
    };
    let result = result_of(action).and_then(|id| story.objects.get(&id));
    let used = result.is_some_and(|object| {
        object.maker == Maker::Result(action.place) && !object.uses.is_empty()
    });
    operator.is_pure() && !used
}

fn is_caught(story: &Story<'_>, action: &Action<'_>) -> bool {
    matches!(action.end, End::Threw(_)) && action.place + 1 < story.actions.len()
}

/// Whether a statement does nothing but give a value.
fn is_pure(action: &Action<'_>) -> bool {
    let target = &action.site.target;
    let boxes = || {
        let of = result(&target.descriptor).and_then(|of| of.unboxed());
        let taken = parameters(&target.descriptor);
        target.name == "valueOf" && action.receiver.is_none() && taken.first() == of.as_ref()
    };
    Operator::of(action).map_or_else(boxes, Operator::is_pure)
}

enum Operand {
    Object(ObjectId),
    /// What the statement with this place returned, by its value.
    Linked(usize),
}

/// What a statement is given, in the order in which it is evaluated. No objects where more is written
/// than the statement itself.
fn operands(story: &Story<'_>, action: &Action<'_>, flow: &Flow) -> Vec<Operand> {
    let linked: Vec<Operand> = (0..action.arguments.len())
        .filter_map(|at| flow.sources.get(&(action.place, at)))
        .filter(|source| flow.inline.contains(*source))
        .map(|source| Operand::Linked(*source))
        .collect();
    // A lambda holds what there is when it is made.
    let is_lambda = Operator::of(action) == Some(Operator::Lambda);
    let mut objects = Vec::new();
    let alone = receiver_and_arguments(action).all(|value| note(story, value, &mut objects));
    if !linked.is_empty() || is_lambda || !alone {
        return linked;
    }
    objects.into_iter().map(Operand::Object).collect()
}

fn receiver_and_arguments<'s>(action: &Action<'s>) -> impl Iterator<Item = &'s Value> {
    action.receiver.into_iter().chain(action.arguments)
}

/// Adds the objects of a value. Not if the value is an array with a variable, which gets its elements
/// before, or an object that a stand-in notes, which may do so meanwhile.
fn note(story: &Story<'_>, value: &Value, all: &mut Vec<ObjectId>) -> bool {
    let Value::Reference(reference) = value else {
        return true;
    };
    let object = identity(value).and_then(|id| story.objects.get(&id));
    match reference {
        Reference::Object { id, .. } => {
            all.push(*id);
            object.is_none_or(|object| object.maker != Maker::Captured)
        }
        Reference::Array { contents, .. } => {
            object.is_none_or(|object| object.uses.len() <= 1)
                && contents
                    .elements()
                    .iter()
                    .all(|element| note(story, element, all))
        }
        _ => true,
    }
}

/// The statement that makes an object for another one alone.
fn made_for(story: &Story<'_>, id: ObjectId, user: &Action<'_>) -> Option<usize> {
    let object = story.objects.get(&id)?;
    let (Maker::Result(place), [only]) = (object.maker, object.uses.as_slice()) else {
        return None;
    };
    let maker = story.actions.get(place)?;
    let returned = match maker.end {
        End::Returned(Some(value)) => identity(value) == Some(id),
        _ => false,
    };
    let written = !matches!(only.role, Role::Answer(..)) && maker.kind != Kind::Write;
    (returned && written && only.action == user.place).then_some(place)
}
