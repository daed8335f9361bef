//! Objects of the program that the failing call was given and that no call returned: the caller took
//! them out of a collection. Where it did is not recorded, so some ways to do so are tried.

use std::collections::BTreeSet;
use std::sync::Arc;

use culprit_model::observe::is_jdk_name;
use culprit_model::script::{Builder, MemberName, Wait};
use culprit_model::{ObjectId, Reference, TypeId, Value};

use culprit_program::Program;

use crate::dependencies::{closure, needs};
use crate::{Script, Statement};

/// Elements of a list that are tried.
const ELEMENTS: i32 = 8;

/// Ways that are tried in all.
const MOST_VARIANTS: usize = 64;

const LIST: &str = "java/util/List";
const ITERABLE: &str = "java/lang/Iterable";
const ITERATOR: &str = "java/util/Iterator";

/// The script itself if nothing behind its last statement is given what is not made, otherwise scripts
/// that fetch it out of what earlier statements return, the latest first.
pub fn fetches(script: &Script, program: &Program) -> Vec<Script> {
    let mut done = Vec::new();
    let mut open = vec![script.clone()];
    while let Some(script) = open.pop() {
        let ways = match unmade(&script, program) {
            Some(wanted) => ways(&script, &wanted, program),
            None => Vec::new(),
        };
        match ways.is_empty() {
            true => done.push(script),
            false => open.extend(ways.into_iter().rev()),
        }
        if done.len() >= MOST_VARIANTS {
            break;
        }
    }
    done
}

/// An object that is not made: its id and class, and the statement that is given it first.
struct Wanted {
    id: ObjectId,
    class: TypeId,
    by: usize,
}

/// The ways to fetch an object.
fn ways(script: &Script, wanted: &Wanted, program: &Program) -> Vec<Script> {
    let mut ways = Vec::new();
    for (number, statement) in script.statements[..wanted.by].iter().enumerate().rev() {
        let Some(Value::Reference(Reference::Object { id, class })) = statement.result() else {
            continue;
        };
        let holder = Value::Reference(Reference::Object {
            id: *id,
            class: *class,
        });
        let name = script.class_name(*class);
        let made = Value::Reference(Reference::Object {
            id: wanted.id,
            class: wanted.class,
        });
        if program.is_a(name, LIST) {
            for index in 0..ELEMENTS {
                ways.push(with(script, number, |builder| {
                    let get = MemberName::of(LIST, "get", "(I)Ljava/lang/Object;");
                    let given = vec![Value::Int(index)];
                    vec![builder.call(get, holder.clone(), given, Some(made.clone()))]
                }));
            }
        } else if program.is_a(name, ITERABLE) {
            ways.push(with(script, number, |builder| {
                let iterator = builder.variable(ITERATOR);
                let begin = MemberName::of(ITERABLE, "iterator", "()Ljava/util/Iterator;");
                let next = MemberName::of(ITERATOR, "next", "()Ljava/lang/Object;");
                vec![
                    builder.call(begin, holder, Vec::new(), Some(iterator.clone())),
                    builder.call(next, iterator, Vec::new(), Some(made)),
                ]
            }));
        }
    }
    ways
}

/// The first object that something behind the last statement is given and nothing makes.
fn unmade(script: &Script, program: &Program) -> Option<Wanted> {
    let last = script.statements.len().checked_sub(1)?;
    let behind = closure(&needs(script), last);
    let mut made = BTreeSet::new();
    for (number, statement) in script.statements.iter().enumerate() {
        if behind.contains(&number) {
            let mut found = None;
            for value in &statement.given {
                value.each_reference(&mut |reference| {
                    if let Reference::Object { id, class } = reference
                        && !made.contains(id)
                    {
                        found.get_or_insert(Wanted {
                            id: *id,
                            class: *class,
                            by: number,
                        });
                    }
                });
            }
            // Something stands in for an object of the JDK.
            let is_concrete = |wanted: &Wanted| {
                let class = script.class_name(wanted.class);
                !is_jdk_name(class) && !program.is_interface(class)
            };
            if let Some(wanted) = found.filter(is_concrete) {
                return Some(wanted);
            }
        }
        made.extend(statement.defines());
        made.extend(statement.catches());
    }
    None
}

/// The script with further statements after one.
fn with(
    script: &Script,
    after: usize,
    make: impl FnOnce(&mut Builder) -> Vec<Statement>,
) -> Script {
    let mut script = script.clone();
    let mut builder = Builder::of(&script);
    let made = make(&mut builder);
    script.tables = Arc::new(builder.finish());
    let place = |number: usize| match number > after {
        true => number + made.len(),
        false => number,
    };
    let waits = script.waits.iter().map(|wait| Wait {
        statement: place(wait.statement),
        on: place(wait.on),
    });
    script.waits = waits.collect();
    let rest = script.statements.split_off(after + 1);
    script.statements.extend(made);
    script.statements.extend(rest);
    script
}
