//! Scripts: what a test does. A script is a straight line of statements over literals and over the results
//! of earlier statements, which runs on the program as it is. `follow` and recordings make scripts,
//! reduction removes statements, a worker runs them, and `junit` prints them.
//!
//! A statement is a call or an access of a field of the program or a library, an operator of Java, a lambda,
//! a loop, a guard, an expectation, or a mark of the interpreter. An object that a statement uses and none makes is a stand-in, which answers
//! as it was recorded. Invariant: a script that [`Script::check`] accepts can be run and printed.

mod build;
mod check;
mod compute;
mod group;
mod lambda;
pub mod loops;
mod missing;
mod objects;
mod operator;
mod stand_in;
mod statement;
pub mod text;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::scenario::Uses;
use crate::value::{class_of_descriptor, split_descriptor};
use crate::{Member, ObjectId, Reference, Site, Tables, TypeId, Value};

pub use build::{Builder, MemberName, Operated};
pub use check::{Inconsistency, Problem};
pub use compute::compute;
pub use group::{Grouper, Ungrouped};
pub use lambda::{HandleKind, Lambda};
pub use missing::Missing;
pub use objects::{Object, ObjectOrigin, Role, Use};
pub use operator::{Effect, Form, Operation, Operator};
pub use stand_in::{AnswerPlace, AnsweredMethod, StandIn};
pub use statement::{
    Action, Answer, ByAlias, Call, Expectation, Input, LoopVariable, Mark, Statement, StatementEnd,
};

/// A straight line of statements.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// The definitions that statements refer to, shared by all candidates made of one script.
    pub tables: Arc<Tables>,
    pub statements: Vec<Statement>,
    /// The number of statements at the beginning that set up the surroundings; all others depend on them.
    pub prelude: usize,
    /// Dependencies besides those by values.
    pub waits: BTreeSet<Wait>,
}

/// A statement, and an earlier one that it depends on without being given its result, such as the guard
/// that lets it be reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Wait {
    pub statement: usize,
    pub on: usize,
}

impl Script {
    /// The statement that should have thrown an exception, if the script fails because it did not.
    pub fn missing(&self) -> Option<Missing> {
        Missing::of(self)
    }

    /// The site of a call or access.
    pub fn site(&self, statement: &Statement) -> Option<&Site> {
        self.tables.site(statement.site()?)
    }

    /// The method that a statement calls, or the field that it accesses.
    pub fn target(&self, statement: &Statement) -> Option<&Member> {
        self.site(statement).map(|site| &site.target)
    }

    pub fn class_name(&self, class: TypeId) -> &str {
        self.tables.class_name(class)
    }

    /// The object that a statement calls or accesses something of.
    pub fn receiver(&self, statement: &Statement) -> Option<ObjectId> {
        statement.receiver(&self.tables)
    }

    /// The class that a statement declares its result to have: that of the object may be a subclass of it.
    pub fn result_class<'s>(&'s self, statement: &'s Statement) -> Option<&'s str> {
        match &statement.action {
            Action::Call(call) => {
                let site = self.tables.site(call.site)?;
                if site.is_constructor() {
                    return Some(&site.target.owner);
                }
                let (_, result) = split_descriptor(&site.target.descriptor)?;
                class_of_descriptor(result)
            }
            Action::Read(site) => class_of_descriptor(&self.tables.site(*site)?.target.descriptor),
            Action::Operate(operation) => {
                let array = match statement.given.first() {
                    Some(Value::Reference(
                        Reference::Array { class, .. } | Reference::Object { class, .. },
                    )) => Some(self.class_name(*class)),
                    _ => None,
                };
                let own = match operation.operator.form() {
                    Form::Array => array,
                    Form::Element => array
                        .and_then(|array| array.strip_prefix('['))
                        .and_then(class_of_descriptor),
                    _ => None,
                };
                own.or_else(|| Some(operation.result()?).map(|_| operation.result_class()))
            }
            Action::Lambda(lambda) => Some(self.class_name(lambda.interface)),
            Action::Loop(LoopVariable::Start(class) | LoopVariable::Each(class)) => {
                Some(self.class_name(*class))
            }
            Action::Write(_) | Action::Guard | Action::Expect(_) | Action::Mark(_) => None,
        }
    }

    /// A call for its effect: it returns nothing, or its receiver.
    pub fn is_command(&self, statement: &Statement) -> bool {
        let receiver = self.receiver(statement);
        receiver.is_some() && (statement.result().is_none() || statement.defines() == receiver)
    }

    /// The script of some of its statements, in order.
    pub fn keep(&self, kept: &[usize]) -> Script {
        let place = |number: usize| kept.binary_search(&number).ok();
        let waits = self.waits.iter().filter_map(|wait| {
            Some(Wait {
                statement: place(wait.statement)?,
                on: place(wait.on)?,
            })
        });
        Script {
            tables: Arc::clone(&self.tables),
            statements: kept.iter().map(|n| self.statements[*n].clone()).collect(),
            prelude: kept.iter().filter(|n| **n < self.prelude).count(),
            waits: waits.collect(),
        }
    }

    /// Makes a statement depend on an earlier one.
    pub fn wait(&mut self, statement: usize, on: usize) {
        self.waits.insert(Wait { statement, on });
    }

    /// The largest name in it.
    pub fn largest(&self) -> ObjectId {
        let mut largest = ObjectId(0);
        for value in self.statements.iter().flat_map(Statement::values) {
            value.each_reference(&mut |reference| {
                if let Reference::Object { id, .. } | Reference::Array { id, .. } = reference {
                    largest = largest.max(*id);
                }
            });
        }
        let aliases = self
            .statements
            .iter()
            .filter_map(|statement| statement.alias);
        aliases.fold(largest, ObjectId::max)
    }

    /// The definitions that the statements refer to.
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        for statement in &self.statements {
            uses.sites.extend(statement.site());
            uses.sites
                .extend(statement.answers().iter().map(|answer| answer.site));
            uses.types.extend(statement.classes());
            statement.values().for_each(|value| uses.value(value));
        }
        uses
    }

    /// The script without the definitions that no statement refers to.
    pub fn pruned(&self) -> Script {
        let mut tables = (*self.tables).clone();
        tables.keep(&self.uses());
        Script {
            tables: Arc::new(tables),
            ..self.clone()
        }
    }
}
