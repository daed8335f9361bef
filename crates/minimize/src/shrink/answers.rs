//! What stand-ins answer: within a statement, the calls to them and their ends.

use culprit_model::EventKind;

use crate::Statement;

/// A call to a stand-in: the number of its statement, and of its step in there.
pub(super) type Answer = (usize, usize);

/// All answers, in order.
pub(super) fn all(statements: &[Statement]) -> Vec<Answer> {
    let numbered = statements.iter().enumerate();
    let answers = numbered.flat_map(|(number, statement)| {
        let steps = statement.steps.iter().enumerate();
        let calls = steps.filter(|(_, step)| step.kind == EventKind::OutgoingCall);
        calls.map(move |(at, _)| (number, at))
    });
    answers.collect()
}

/// The statements with some of the answers. A call to a stand-in has what lies within it, and its end.
pub(super) fn keep(statements: &[Statement], is_kept: &dyn Fn(&Answer) -> bool) -> Vec<Statement> {
    let numbered = statements.iter().enumerate();
    let kept = numbered.map(|(number, statement)| {
        // The depth of the call that is left out at the moment.
        let mut without = None;
        let mut steps = Vec::new();
        for (at, step) in statement.steps.iter().enumerate() {
            if without.is_some_and(|depth| step.depth <= depth) {
                without = None;
            }
            let goes = step.kind == EventKind::OutgoingCall && !is_kept(&(number, at));
            if without.is_none() && goes {
                without = Some(step.depth);
            }
            if without.is_none() {
                steps.push(step.clone());
            }
        }
        Statement::new(steps)
    });
    kept.collect()
}
