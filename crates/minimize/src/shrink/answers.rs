//! What stand-ins answer within the calls of a script.

use culprit_model::script::Action;

use crate::Statement;

/// A question to a stand-in: the number of its statement, and its own in there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Question {
    pub(super) statement: usize,
    pub(super) number: usize,
}

/// All questions, in order.
pub(super) fn all(statements: &[Statement]) -> Vec<Question> {
    let numbered = statements.iter().enumerate();
    let questions = numbered.flat_map(|(statement, it)| {
        (0..it.answers().len()).map(move |number| Question { statement, number })
    });
    questions.collect()
}

/// The statements with some of the answers.
pub(super) fn keep(
    statements: &[Statement],
    is_kept: &dyn Fn(&Question) -> bool,
) -> Vec<Statement> {
    let mut kept = statements.to_vec();
    for (statement, it) in kept.iter_mut().enumerate() {
        if let Action::Call(call) = &mut it.action {
            let mut numbers = 0..;
            call.answers.retain(|_| {
                let number = numbers.next().unwrap_or_default();
                is_kept(&Question { statement, number })
            });
        }
    }
    kept
}
