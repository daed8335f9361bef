//! When variables get their values: before which statement stand-ins and arrays are made, and which
//! variables must be fields of the test because a stand-in refers to them earlier than that.

use std::collections::BTreeSet;

use culprit_model::{ObjectId, Value};

use crate::inline::Inline;
use crate::story::{Answer, Maker, Object, Story, identity};

pub(crate) struct Order {
    /// Objects that need a variable.
    pub(crate) named: BTreeSet<ObjectId>,
    /// For each statement, what is made before it.
    pub(crate) before: Vec<Vec<ObjectId>>,
    /// Those of the variables that are fields.
    pub(crate) fields: BTreeSet<ObjectId>,
}

struct Walk<'a> {
    story: &'a Story<'a>,
    order: Order,
    declared: BTreeSet<ObjectId>,
    open: BTreeSet<ObjectId>,
}

/// Goes through the statements once.
pub(crate) fn order(story: &Story<'_>, inline: &Inline) -> Order {
    let named = story
        .objects
        .iter()
        .filter(|(_, object)| match object.maker {
            // An array that is used once is written where it is used.
            Maker::Array(_) => object.uses.len() > 1,
            _ => !object.uses.is_empty(),
        })
        .map(|(id, _)| *id)
        .filter(|id| inline.made_at(*id).is_none())
        .collect();
    let mut walk = Walk {
        story,
        order: Order {
            named,
            before: vec![Vec::new(); story.actions.len()],
            fields: BTreeSet::new(),
        },
        declared: BTreeSet::new(),
        open: BTreeSet::new(),
    };
    // A stand-in gives those to the test.
    let captured = story
        .objects
        .iter()
        .filter(|(id, object)| object.maker == Maker::Captured && walk.order.named.contains(id));
    walk.order.fields.extend(captured.map(|(id, _)| *id));
    for (place, action) in story.actions.iter().enumerate() {
        for value in action.receiver.into_iter().chain(action.arguments) {
            walk.value(value, place);
        }
        for (id, object) in &story.objects {
            if matches!(object.maker, Maker::Result(at) | Maker::Thrown(at) if at == place) {
                walk.declared.insert(*id);
            }
        }
    }
    walk.order
}

impl Walk<'_> {
    /// All that a value needs is made before the statement.
    fn value(&mut self, value: &Value, action: usize) {
        let mut ids = Vec::new();
        value.each_reference(&mut |reference| {
            ids.extend(identity(&Value::Reference(reference.clone())));
        });
        for id in ids {
            self.object(id, action);
        }
    }

    fn object(&mut self, id: ObjectId, action: usize) {
        let Some(object) = self.story.objects.get(&id) else {
            return;
        };
        let made_here = matches!(object.maker, Maker::StandIn | Maker::Array(_));
        if !made_here || self.declared.contains(&id) || !self.open.insert(id) {
            return;
        }
        for needed in self.needs(object) {
            if needed == id {
                continue;
            }
            self.object(needed, action);
            // Where it threw, it is assigned twice, and no stand-in may refer to such a variable.
            let thrown = self
                .story
                .objects
                .get(&needed)
                .is_some_and(|needed| matches!(needed.maker, Maker::Thrown(_)));
            if (thrown || !self.declared.contains(&needed)) && self.order.named.contains(&needed) {
                self.order.fields.insert(needed);
            }
        }
        self.open.remove(&id);
        self.declared.insert(id);
        if self.order.named.contains(&id) {
            self.order.before[action].push(id);
        }
    }

    fn needs(&self, object: &Object<'_>) -> Vec<ObjectId> {
        let mut ids = Vec::new();
        let mut note = |value: &Value| {
            value.each_reference(&mut |reference| {
                ids.extend(identity(&Value::Reference(reference.clone())));
            });
        };
        // Elements are made before what holds them.
        if let Maker::Array(value) = object.maker {
            note(value);
        }
        for asked in &object.asked {
            if let Answer::Return(Some(value)) | Answer::Throw(value) = asked.answer {
                note(value);
            }
            asked.filled.iter().for_each(|(_, array)| note(array));
        }
        ids
    }
}
