//! Runs that end with the exception that a script expects and that was missing.

use culprit_model::script::{Action, Expectation};
use culprit_model::{Statement, Tables, TypeId};
use culprit_program::Program;
use culprit_signature::Thrown;

/// An exception that ended some statements.
pub(crate) struct EndedBy<'a> {
    /// The number of the statement that threw it.
    pub(crate) at: usize,
    pub(crate) trace: &'a str,
}

/// True if the statement that threw an exception is expected to: the last call, where the whole script is to throw.
pub(crate) fn is_expected(
    tables: &Tables,
    statements: &[&Statement],
    program: &Program,
    ended: &EndedBy<'_>,
) -> bool {
    let before = ended.at.checked_sub(1).and_then(|it| statements.get(it));
    let class = match before.map(|it| &it.action) {
        Some(Action::Expect(Expectation::Next(class))) => Some(*class),
        _ => expected_of_whole(statements).and_then(|(number, class)| {
            let mut between = statements.get(ended.at + 1..number)?.iter();
            let is_last = between.all(|it| it.site().is_none());
            is_last.then_some(class)
        }),
    };
    let is_a = |class: TypeId| {
        let thrown = Thrown::parse(ended.trace);
        let name = thrown.map(|it| it.class.replace('.', "/"));
        name.is_some_and(|name| program.is_a(&name, tables.class_name(class)))
    };
    class.is_some_and(is_a)
}

/// The exception that all of some statements expect, and the number of the one that says so.
fn expected_of_whole(statements: &[&Statement]) -> Option<(usize, TypeId)> {
    let mut statements = statements.iter().enumerate();
    statements.find_map(|(number, statement)| match statement.action {
        Action::Expect(Expectation::Whole(class)) => Some((number, class)),
        _ => None,
    })
}
