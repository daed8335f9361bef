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

/// Statements of all the scripts that are tried.
const MOST_STATEMENTS: usize = 1 << 16;

/// Objects that are fetched for one script.
const MOST_FETCHED: usize = 32;

const LIST: &str = "java/util/List";
const ITERABLE: &str = "java/lang/Iterable";
const ITERATOR: &str = "java/util/Iterator";

/// The script itself if nothing behind its last statement is given what is not made, otherwise scripts
/// that fetch it out of what earlier statements return, the latest first.
pub fn fetches(script: &Script, program: &Program) -> Vec<Script> {
    let most = MOST_STATEMENTS / script.statements.len().max(1);
    let mut search = Search {
        program,
        most: most.clamp(1, MOST_VARIANTS),
        done: Vec::new(),
    };
    match search.complete(script.clone(), MOST_FETCHED) {
        Ok(()) => search.done,
        Err(TooMany) => vec![script.clone()],
    }
}

/// There are more objects to fetch than a test can be expected to.
struct TooMany;

/// The search for complete scripts, depth first.
struct Search<'a> {
    program: &'a Program,
    most: usize,
    done: Vec<Script>,
}

impl Search<'_> {
    /// Adds the ways to complete a script that fetch at most so many objects.
    fn complete(&mut self, script: Script, fetched: usize) -> Result<(), TooMany> {
        let wanted = unmade(&script, self.program);
        let ways = match &wanted {
            Some(wanted) => ways(&script, wanted, self.program, self.most),
            None => Vec::new(),
        };
        let Some(wanted) = wanted.filter(|_| !ways.is_empty()) else {
            self.done.push(script);
            return Ok(());
        };
        let fetched = fetched.checked_sub(1).ok_or(TooMany)?;
        for way in ways {
            if self.done.len() == self.most {
                break;
            }
            self.complete(way.added(&script, &wanted), fetched)?;
        }
        Ok(())
    }
}

/// An object that is not made: its id and class, and the statement that is given it first.
struct Wanted {
    id: ObjectId,
    class: TypeId,
    by: usize,
}

/// A way to fetch an object out of what a statement returns.
struct Way {
    statement: usize,
    holder: Value,
    element: Element,
}

enum Element {
    /// The one with this index of a list.
    At(i32),
    /// The first one of an iterable object.
    First,
}

/// The ways to fetch an object, at most so many.
fn ways(script: &Script, wanted: &Wanted, program: &Program, most: usize) -> Vec<Way> {
    let mut ways = Vec::new();
    for (statement, holder) in script.statements[..wanted.by].iter().enumerate().rev() {
        let Some(holder @ Value::Reference(Reference::Object { class, .. })) = holder.result()
        else {
            continue;
        };
        let name = script.class_name(*class);
        let mut add = |element| {
            ways.push(Way {
                statement,
                holder: holder.clone(),
                element,
            });
        };
        if program.is_a(name, LIST) {
            (0..ELEMENTS).map(Element::At).for_each(add);
        } else if program.is_a(name, ITERABLE) {
            add(Element::First);
        }
        if ways.len() >= most {
            break;
        }
    }
    ways.truncate(most);
    ways
}

impl Way {
    /// A script that fetches the object in this way.
    fn added(self, script: &Script, wanted: &Wanted) -> Script {
        let holder = self.holder;
        let made = Some(Value::Reference(Reference::Object {
            id: wanted.id,
            class: wanted.class,
        }));
        with(script, self.statement, |builder| match self.element {
            Element::At(index) => {
                let get = MemberName::of(LIST, "get", "(I)Ljava/lang/Object;");
                vec![builder.call(get, holder, vec![Value::Int(index)], made)]
            }
            Element::First => {
                let iterator = builder.variable(ITERATOR);
                let begin = MemberName::of(ITERABLE, "iterator", "()Ljava/util/Iterator;");
                let next = MemberName::of(ITERATOR, "next", "()Ljava/lang/Object;");
                vec![
                    builder.call(begin, holder, Vec::new(), Some(iterator.clone())),
                    builder.call(next, iterator, Vec::new(), made),
                ]
            }
        })
    }
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
