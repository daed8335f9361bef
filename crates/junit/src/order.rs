//! The order of declarations: the statement before which each stand-in and array is made, and the variables that
//! must be fields of the test because a stand-in refers to them earlier.

use std::collections::BTreeSet;

use culprit_model::script::ObjectOrigin;
use culprit_model::{ObjectId, Value};

use crate::graph::{Graph, Object};
use crate::inline::Inline;

pub(crate) struct Order {
    /// Objects that need a variable.
    pub(crate) named: BTreeSet<ObjectId>,
    /// For each statement, what is made before it.
    pub(crate) before: Vec<Vec<ObjectId>>,
    /// The variables that are fields.
    pub(crate) fields: BTreeSet<ObjectId>,
}

struct Walk<'a> {
    graph: &'a Graph<'a>,
    order: Order,
    declared: BTreeSet<ObjectId>,
    open: BTreeSet<ObjectId>,
}

/// Goes through the statements once.
pub(crate) fn order(graph: &Graph<'_>, inline: &Inline) -> Order {
    let named = graph
        .objects
        .iter()
        .filter(|(_, object)| match object.origin {
            // An array that is used once is written where it is used.
            ObjectOrigin::Array(_) => object.uses.len() > 1,
            _ => !object.uses.is_empty(),
        })
        .map(|(id, _)| *id)
        .filter(|id| inline.made_at(*id).is_none())
        .collect();
    let mut walk = Walk {
        graph,
        order: Order {
            named,
            before: vec![Vec::new(); graph.nodes.len()],
            fields: BTreeSet::new(),
        },
        declared: BTreeSet::new(),
        open: BTreeSet::new(),
    };
    // A stand-in gives those to the test.
    let captured = graph.objects.iter().filter(|(id, object)| {
        matches!(object.origin, ObjectOrigin::Captured { .. }) && walk.order.named.contains(id)
    });
    walk.order.fields.extend(captured.map(|(id, _)| *id));
    let mut left_by = vec![Vec::new(); graph.nodes.len()];
    for (id, object) in &graph.objects {
        if let ObjectOrigin::Result(at) | ObjectOrigin::Thrown(at) = object.origin
            && let Some(left) = left_by.get_mut(at)
        {
            left.push(*id);
        }
    }
    for ((place, node), left) in graph.nodes.iter().enumerate().zip(left_by) {
        for value in node.receiver.into_iter().chain(node.arguments) {
            walk.value(value, place);
        }
        walk.declared.extend(left);
    }
    walk.order
}

impl Walk<'_> {
    /// All that a value needs is made before the statement.
    fn value(&mut self, value: &Value, node: usize) {
        let mut ids = Vec::new();
        value.each_reference(&mut |reference| {
            ids.extend(Value::Reference(reference.clone()).identity());
        });
        for id in ids {
            self.object(id, node);
        }
    }

    fn object(&mut self, id: ObjectId, node: usize) {
        let Some(object) = self.graph.objects.get(&id) else {
            return;
        };
        let made_here = matches!(
            object.origin,
            ObjectOrigin::StandIn | ObjectOrigin::Array(_)
        );
        if !made_here || self.declared.contains(&id) || !self.open.insert(id) {
            return;
        }
        for needed in self.needs(object) {
            if needed == id {
                continue;
            }
            self.object(needed, node);
            // Where it threw, it is assigned twice, and no stand-in may refer to such a variable.
            let thrown = self
                .graph
                .objects
                .get(&needed)
                .is_some_and(|needed| matches!(needed.origin, ObjectOrigin::Thrown(_)));
            if (thrown || !self.declared.contains(&needed)) && self.order.named.contains(&needed) {
                self.order.fields.insert(needed);
            }
        }
        self.open.remove(&id);
        self.declared.insert(id);
        if self.order.named.contains(&id) {
            self.order.before[node].push(id);
        }
    }

    fn needs(&self, object: &Object<'_>) -> Vec<ObjectId> {
        let mut ids = Vec::new();
        let mut note = |value: &Value| {
            value.each_reference(&mut |reference| {
                ids.extend(Value::Reference(reference.clone()).identity());
            });
        };
        // Elements are made before what holds them.
        if let ObjectOrigin::Array(value) = object.origin {
            note(value);
        }
        for asked in &object.asked {
            if let Some(value) = asked.answer.value() {
                note(value);
            }
            asked.filled.iter().for_each(|(_, array)| note(array));
        }
        ids
    }
}
