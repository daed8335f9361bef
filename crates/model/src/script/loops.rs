//! Loops of a script. Drivers have loops; a script is the straight line of what they did. Statements that repeat
//! are found again ([`Looped::repetitions`]) and written once ([`Looped::rerolled`]), as LLVM's loop rerolling
//! does for unrolled loops.
//!
//! Invariant: a script with loops makes the calls of the straight script, with the same values, in the same order.

mod literals;
mod repetition;
mod reroll;
mod rounds;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::Script;
use crate::{ObjectId, Value};

pub use repetition::Repetition;

/// Loops within each other, at most.
pub const DEEPEST: usize = 3;

/// A script with loops.
#[derive(Clone, Debug)]
pub struct Looped {
    /// The statements as they are written. The variables of loops are statements of their own
    /// ([`super::LoopVariable`]).
    pub script: Script,
    pub loops: Loops,
    /// For each statement its number in the straight script; `None` for the variables of loops.
    pub origins: Vec<Option<usize>>,
}

/// The loops of a script. Two loops are nested or disjoint.
#[derive(Clone, Default, Debug)]
pub struct Loops {
    pub all: Vec<Loop>,
    /// Statements that give a variable from before their loop its next value.
    pub assignments: Vec<Assignment>,
}

#[derive(Clone, Debug)]
pub struct Loop {
    /// The statements that are written in it.
    pub body: Range<usize>,
    pub rounds: usize,
    pub head: Head,
}

/// The values that differ between the rounds.
#[derive(Clone, Debug)]
pub enum Head {
    Nothing,
    /// A number that grows by one, from its first value on.
    Count {
        variable: ObjectId,
        first: i32,
    },
    /// A value for each round.
    Each(Column),
    /// Several values for each round.
    Rows(Vec<Column>),
}

/// A variable of a loop, and its value in each round.
#[derive(Clone, Debug)]
pub struct Column {
    pub variable: ObjectId,
    pub values: Vec<Value>,
}

/// A statement whose result a variable has from then on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assignment {
    pub statement: usize,
    pub variable: ObjectId,
}

impl Head {
    /// The variables that it gives a value in each round.
    pub fn variables(&self) -> Vec<ObjectId> {
        match self {
            Head::Nothing => Vec::new(),
            Head::Count { variable, .. } => vec![*variable],
            Head::Each(column) => vec![column.variable],
            Head::Rows(columns) => columns.iter().map(|column| column.variable).collect(),
        }
    }
}

impl Looped {
    /// A script without loops.
    pub fn straight(script: &Script) -> Looped {
        Looped {
            script: script.clone(),
            loops: Loops::default(),
            origins: (0..script.statements.len()).map(Some).collect(),
        }
    }
}

impl Loops {
    /// The loops around a statement, the outermost first.
    pub fn around(&self, statement: usize) -> Vec<&Loop> {
        let mut found: Vec<&Loop> = self.all.iter().collect();
        found.retain(|each| each.body.contains(&statement));
        found.sort_by_key(|each| std::cmp::Reverse(each.body.len()));
        found
    }

    /// Two statements with the same innermost loop, which run equally often.
    pub fn are_together(&self, one: usize, other: usize) -> bool {
        let bodies = |statement| self.around(statement).last().map(|each| each.body.clone());
        bodies(one) == bodies(other)
    }

    /// The statement that gives a variable its next value.
    pub fn assigns(&self, variable: ObjectId) -> Option<usize> {
        let mut all = self.assignments.iter();
        let found = all.find(|it| it.variable == variable);
        found.map(|it| it.statement)
    }

    /// The variable that a statement gives its next value.
    pub fn assigned(&self, statement: usize) -> Option<ObjectId> {
        let mut all = self.assignments.iter();
        let found = all.find(|it| it.statement == statement);
        found.map(|it| it.variable)
    }

    /// The loop whose head gives a variable its value in each round.
    pub fn of_variable(&self, variable: ObjectId) -> Option<&Loop> {
        let mut all = self.all.iter();
        all.find(|each| each.head.variables().contains(&variable))
    }

    /// The place of a variable in the row of its round, if the loop has several variables.
    pub fn column(&self, variable: ObjectId) -> Option<usize> {
        self.all.iter().find_map(|each| match &each.head {
            Head::Rows(columns) => columns.iter().position(|it| it.variable == variable),
            _ => None,
        })
    }
}
