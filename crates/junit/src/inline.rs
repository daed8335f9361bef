//! Results that are written where they are used, instead of in a variable: those that one statement uses once, if
//! the order of evaluation remains the same.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::script::loops::Loops;
use culprit_model::script::{ObjectOrigin, StatementEnd};
use culprit_model::{ObjectId, Reference, Value};

use crate::flow::Flow;
use crate::graph::{Graph, Node, Role};
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
        graph: &Graph<'_>,
        flow: &Flow,
        loops: &Loops,
        kept: &BTreeSet<ObjectId>,
    ) -> Inline {
        let mut plan = Inline::default();
        // Where what is written within a statement starts.
        let mut starts: Vec<usize> = Vec::new();
        // Those that do nothing but give a value.
        let mut pure: BTreeSet<usize> = BTreeSet::new();
        for node in &graph.nodes {
            let mut start = node.number;
            let mut within_are_pure = true;
            let is_caught = is_caught(graph, node);
            if node.is_loop_value() {
                plan.within.insert(node.number);
                let row = node.result().filter(|id| loops.column(*id).is_some());
                plan.made.extend(row.map(|id| (id, node.number)));
            } else if is_left_out(graph, node) && loops.assigned(node.number).is_none() {
                plan.within.insert(node.number);
            } else {
                for operand in operands(graph, node, flow).into_iter().rev() {
                    let made = match operand {
                        // The flow has seen to it that nothing comes between.
                        Operand::Linked(place) => place,
                        Operand::Object(id) => match made_for(graph, id, node) {
                            // What is to be caught is thrown by the statement itself.
                            Some(made)
                                if made + 1 == start
                                    && loops.are_together(made, node.number)
                                    && !graph.nodes[made].is_loop_value()
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
            if within_are_pure && is_pure(node) {
                pure.insert(node.number);
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
    pub(crate) fn roots(&self, graph: &Graph<'_>) -> Vec<usize> {
        let all = 0..graph.nodes.len();
        all.filter(|place| !self.within.contains(place)).collect()
    }

    /// The first of the results that are written within a statement, and where it is made.
    pub(crate) fn first_within(&self, node: &Node<'_>) -> Option<(ObjectId, usize)> {
        let mut all = Vec::new();
        for value in receiver_and_arguments(node) {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, .. } = reference {
                    all.push(*id);
                }
            });
        }
        all.into_iter().find_map(|id| Some((id, self.made_at(id)?)))
    }
}

/// A statement that is too long or too deep to read at a glance.
pub(crate) fn is_too_much(text: &str, depth: usize) -> bool {
    let mut lines = text.lines();
    lines.any(|line| INDENT + line.len() > WIDTH) || depth > DEPTH
}

/// Nothing is written of an operator whose result nobody uses, unless it can fail.
fn is_left_out(graph: &Graph<'_>, node: &Node<'_>) -> bool {
    let result = node.result().and_then(|id| graph.objects.get(&id));
    let used = result.is_some_and(|object| {
        object.origin == ObjectOrigin::Result(node.number) && !object.uses.is_empty()
    });
    node.statement.is_pure() && !used
}

fn is_caught(graph: &Graph<'_>, node: &Node<'_>) -> bool {
    matches!(node.end, StatementEnd::Threw(_)) && node.number + 1 < graph.nodes.len()
}

/// A statement without an effect besides its result.
fn is_pure(node: &Node<'_>) -> bool {
    let boxes = node.target().is_some_and(|target| {
        let of = result(&target.descriptor).and_then(|of| of.unboxed());
        let taken = parameters(&target.descriptor);
        target.name == "valueOf" && node.receiver.is_none() && taken.first() == of.as_ref()
    });
    boxes || node.statement.is_pure()
}

enum Operand {
    Object(ObjectId),
    /// The result of the statement with this number, by its value.
    Linked(usize),
}

/// The operands of a statement, in the order of evaluation. No objects where the statement needs further lines.
fn operands(graph: &Graph<'_>, node: &Node<'_>, flow: &Flow) -> Vec<Operand> {
    let linked: Vec<Operand> = (0..node.arguments.len())
        .filter_map(|at| flow.sources.get(&(node.number, at)))
        .filter(|source| flow.inline.contains(*source))
        .map(|source| Operand::Linked(*source))
        .collect();
    // A lambda holds what there is when it is made.
    let is_lambda = node.lambda().is_some();
    let mut objects = Vec::new();
    let alone = receiver_and_arguments(node).all(|value| note(graph, value, &mut objects));
    if !linked.is_empty() || is_lambda || !alone {
        return linked;
    }
    objects.into_iter().map(Operand::Object).collect()
}

fn receiver_and_arguments<'s>(node: &Node<'s>) -> impl Iterator<Item = &'s Value> {
    node.receiver.into_iter().chain(node.arguments)
}

/// Adds the objects of a value. Not if the value is an array with a variable, which gets its elements
/// before, or an object that a stand-in notes, which may do so meanwhile.
fn note(graph: &Graph<'_>, value: &Value, all: &mut Vec<ObjectId>) -> bool {
    let Value::Reference(reference) = value else {
        return true;
    };
    let object = value.identity().and_then(|id| graph.objects.get(&id));
    match reference {
        Reference::Object { id, .. } => {
            all.push(*id);
            object.is_none_or(|object| !matches!(object.origin, ObjectOrigin::Captured { .. }))
        }
        Reference::Array { contents, .. } => {
            object.is_none_or(|object| object.uses.len() <= 1)
                && contents
                    .elements()
                    .iter()
                    .all(|element| note(graph, element, all))
        }
        _ => true,
    }
}

/// The statement that makes an object for another one alone.
fn made_for(graph: &Graph<'_>, id: ObjectId, user: &Node<'_>) -> Option<usize> {
    let object = graph.objects.get(&id)?;
    let (ObjectOrigin::Result(place), [only]) = (object.origin, object.uses.as_slice()) else {
        return None;
    };
    let maker = graph.nodes.get(place)?;
    let returned = maker.result() == Some(id);
    let written = !matches!(only.role, Role::Answer(..));
    (returned && written && only.statement == user.number).then_some(place)
}
