//! The sources of the arguments of assertions. Numbers and strings of a recording have no identity, so the script
//! does not state that an assertion compares the result of a call; a test that compared the recorded values would
//! never pass. Most likely the call right before the assertion returned the value.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::script::{Action, ObjectOrigin, StatementEnd};
use culprit_model::{Reference, Value};

use crate::graph::{Graph, Node, Object};
use crate::scope::Scope;
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

pub(crate) fn flow(graph: &Graph<'_>) -> Flow {
    let mut flow = Flow::default();
    let is_told = is_told(graph);
    for node in &graph.nodes {
        if !node.target().is_some_and(Scope::is_assertion) {
            continue;
        }
        if !is_told {
            flow.nearest(graph, node);
        }
        let is_last = node.number + 1 == graph.nodes.len();
        let found = flow.sources.keys().any(|(place, _)| *place == node.number);
        let objects = node
            .arguments
            .iter()
            .any(|value| value.identity().is_some());
        if is_last && !found && !objects {
            flow.is_constant = match is_told {
                true => !graph.nodes.iter().any(Node::is_guard),
                false => !flow.earlier(graph, node),
            };
        }
    }
    flow
}

/// Numbers and strings have names, as in the script of a followed driver, which states the source of each.
fn is_told(graph: &Graph<'_>) -> bool {
    let is_value = |class: &str| {
        let of = Type::of_class(class);
        matches!(of, Type::Primitive(_)) || of.name() == Some("java/lang/String")
    };
    let is_told = |node: &Node<'_>| {
        let is_of_loop = matches!(node.statement.action, Action::Loop(_));
        node.site.is_none() && !is_of_loop
    };
    let of_loop = |object: &Object<'_>| match object.origin {
        ObjectOrigin::Result(at) => graph.nodes[at].is_loop_value(),
        _ => false,
    };
    let mut objects = graph.objects.values();
    objects.any(|object| is_value(object.class) && !of_loop(object))
        || graph.nodes.iter().any(is_told)
}

impl Flow {
    /// Calls right before the assertion, the last one first, for its arguments, the last one first:
    /// so they stay in order. What is asserted comes after what is expected.
    fn nearest(&mut self, graph: &Graph<'_>, assertion: &Node<'_>) {
        let mut source = assertion.number;
        for (place, value) in asserted(assertion) {
            let before = source.checked_sub(1).map(|at| &graph.nodes[at]);
            let Some(before) = before.filter(|before| returns(before, value)) else {
                continue;
            };
            source = before.number;
            self.sources.insert((assertion.number, place), source);
            self.inline.insert(source);
        }
    }

    /// A call further back; its result gets a variable.
    fn earlier(&mut self, graph: &Graph<'_>, assertion: &Node<'_>) -> bool {
        for (place, value) in asserted(assertion) {
            let mut before = graph.nodes[..assertion.number].iter().rev();
            if let Some(source) = before.find(|before| returns(before, value)) {
                self.inline.remove(&source.number);
                self.sources
                    .insert((assertion.number, place), source.number);
                return true;
            }
        }
        false
    }
}

/// The arguments that may be what a call returned, the last one first: not how much two numbers may
/// differ.
fn asserted<'s>(assertion: &Node<'s>) -> impl Iterator<Item = (usize, &'s Value)> + use<'s> {
    let arguments: &'s [Value] = assertion.arguments;
    let real = |place: usize| real(&arguments[place]).is_some();
    let delta = (2..arguments.len()).find(|place| (place - 2..=*place).all(real));
    let all = arguments.iter().enumerate().rev();
    all.filter(move |(place, _)| Some(*place) != delta)
}

/// The statement returned this value, which has no identity.
fn returns(node: &Node<'_>, value: &Value) -> bool {
    let StatementEnd::Returned(Some(result)) = node.end else {
        return false;
    };
    result.identity().is_none() && same(result, value)
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
