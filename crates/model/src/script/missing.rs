//! Failures that are about an exception which is missing: the script expects it, and nothing is thrown.

use super::{Operator, Script, Statement};
use crate::ObjectId;

/// The statement that should have thrown an exception.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// The last one that runs code, whose exception all of the script expects.
    Last,
    /// The one of this number.
    Of(usize),
}

impl Missing {
    /// Of a script that fails because nothing was thrown.
    pub(super) fn of(script: &Script) -> Option<Missing> {
        let (last, earlier) = script.statements.split_last()?;
        if earlier.last().is_some_and(Statement::is_expectation) {
            return Some(Missing::Last);
        }
        // Otherwise the failure is about values.
        if !last.uses().is_empty() {
            return None;
        }
        let thrower = |tested: ObjectId| earlier.iter().position(|it| it.catches() == Some(tested));
        let missing = |test: &Statement| {
            let is_null = test.operator() == Some(Operator::IsNull);
            thrower(test.uses().first().copied().filter(|_| is_null)?)
        };
        earlier
            .iter()
            .rev()
            .filter(|it| it.is_guard())
            .find_map(|guard| {
                let condition = guard.uses().first().copied()?;
                let mut makers = earlier.iter().filter(|it| it.defines() == Some(condition));
                makers.find_map(missing).map(Missing::Of)
            })
    }
}
