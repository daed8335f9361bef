//! The event slice: the statements that share an object, directly or through others, with the
//! failing one, or guard one that does. What a program shares in other ways, by static fields say, it does not see: ask
//! whether the slice still fails.

use std::collections::{HashMap, HashSet};

use culprit_model::ObjectId;
use culprit_model::script::Wait;

use crate::Script;

/// The numbers of the statements that have to do with a given one, which is among them. Takes time
/// linear in the number of objects of all statements.
pub fn slice(script: &Script, from: usize) -> Vec<usize> {
    let mut having: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    let objects: Vec<Vec<ObjectId>> = script.statements.iter().map(|s| s.objects()).collect();
    for (number, of_this) in objects.iter().enumerate() {
        for id in of_this {
            having.entry(*id).or_default().push(number);
        }
    }
    let mut met = HashSet::from([from]);
    let mut open = vec![from];
    while let Some(number) = open.pop() {
        let from = |statement| Wait { statement, on: 0 };
        for wait in script.waits.range(from(number)..from(number + 1)) {
            if met.insert(wait.on) {
                open.push(wait.on);
            }
        }
        for id in &objects[number] {
            // Once its statements are met an object leads nowhere else.
            for other in having.remove(id).unwrap_or_default() {
                if met.insert(other) {
                    open.push(other);
                }
            }
        }
    }
    met.extend(0..script.prelude);
    let mut kept: Vec<usize> = met.into_iter().collect();
    kept.sort_unstable();
    kept
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use culprit_model::value::Contents;
    use culprit_model::{Reference, Tables, TypeId, Value};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::Statement;
    use culprit_model::script::{Builder, MemberName};

    /// The slice as JINSI's A6 has it: take what shares an object with what was taken, until nothing
    /// is added.
    fn naive(script: &Script, from: usize) -> Vec<usize> {
        let mut taken = BTreeSet::from([from]);
        loop {
            let objects = taken.iter().flat_map(|n| script.statements[*n].objects());
            let objects: BTreeSet<ObjectId> = objects.collect();
            let shares = |s: &Statement| s.objects().iter().any(|id| objects.contains(id));
            let statements = script.statements.iter().enumerate();
            let sharing = statements.filter(|(_, statement)| shares(statement));
            let before = taken.len();
            taken.extend(sharing.map(|(number, _)| number).collect::<Vec<_>>());
            if taken.len() == before {
                break;
            }
        }
        taken.extend(0..script.prelude);
        taken.into_iter().collect()
    }

    fn object(id: u64) -> Value {
        Value::Reference(Reference::Object {
            id: ObjectId(id),
            class: TypeId(1),
        })
    }

    /// Objects, arrays and what is in arrays.
    fn value() -> impl Strategy<Value = Value> {
        let array = (0u64..30, vec(0u64..30, 0..3)).prop_map(|(id, elements)| {
            Value::Reference(Reference::Array {
                id: ObjectId(id),
                class: TypeId(1),
                length: elements.len() as u32,
                contents: Contents::Elements(elements.into_iter().map(object).collect()),
            })
        });
        prop_oneof![4 => (0u64..30).prop_map(object), 1 => array, 1 => Just(Value::Int(1))]
    }

    fn script() -> impl Strategy<Value = Script> {
        let statement = (vec(value(), 0..3), proptest::option::of(value()));
        (vec(statement, 1..40), 0usize..4).prop_map(|(statements, prelude)| {
            let mut builder = Builder::with(Tables::default(), ObjectId(100));
            let mut call =
                |(given, made)| builder.call_static(MemberName::of("T", "m", "()V"), given, made);
            let statements: Vec<Statement> = statements.into_iter().map(&mut call).collect();
            Script {
                prelude: prelude.min(statements.len()),
                statements,
                ..Script::default()
            }
        })
    }

    #[test]
    fn what_guards_a_statement_has_to_do_with_it() {
        let mut builder = Builder::with(Tables::default(), ObjectId(100));
        let mut call =
            |id| builder.call_static(MemberName::of("T", "m", "()V"), vec![object(id)], None);
        let statements = [1, 2, 1, 3, 4].map(&mut call);
        let script = Script {
            statements: statements.to_vec(),
            waits: BTreeSet::from([Wait {
                statement: 4,
                on: 2,
            }]),
            ..Script::default()
        };
        assert_eq!(slice(&script, 4), [0, 2, 4]);
        assert_eq!(slice(&script, 2), [0, 2]);
    }

    proptest! {
        #[test]
        fn it_is_the_fixpoint_of_sharing_an_object(script in script(), at: prop::sample::Index) {
            let from = at.index(script.statements.len());
            prop_assert_eq!(slice(&script, from), naive(&script, from));
        }
    }
}
