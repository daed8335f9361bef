//! The ends of loops of the driver, as conditions of a failure that follows them.
//!
//! A driver adds up what a loop gave, or takes it from the last round, and then finds it wrong. A fixed version may need
//! another number of rounds. The straight script has those of the failing run, and what they gave is wrong for every
//! version. So the failing statement waits for the condition that ended the loop: with another number of rounds the
//! script has passed.

use std::collections::BTreeMap;

use culprit_model::script::{Operation, Operator, Wait};
use culprit_model::{ObjectId, SiteId};

use crate::{Script, Statement, closure, needs};

/// A question of the driver whose answer decides on another round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Question {
    /// The object that is asked.
    on: ObjectId,
    /// The call that asks; `None` for the length of an array.
    call: Option<SiteId>,
}

/// A guard on the answer to a question.
#[derive(Clone, Copy)]
struct Answer {
    guard: usize,
    /// The condition of the guard.
    condition: Operation,
}

/// The waits of the last statement for the ends of the loops that its values come from.
///
/// A loop is seen by its question: it was answered in one way first and in the opposite way last, and a statement in
/// between, which the last one depends on, uses the object that was asked.
pub(crate) fn loop_ends(script: &Script) -> Vec<Wait> {
    let Some(last) = script.statements.len().checked_sub(1) else {
        return Vec::new();
    };
    let answers = answers(script, last);
    if answers.values().all(|answers| answers.len() < 2) {
        return Vec::new();
    }
    let behind = closure(&needs(script), last);
    let ends = answers.iter().filter_map(|(question, answers)| {
        let (first, end) = ended(answers)?;
        let is_of_loop = |number: &usize| {
            (first.guard..end.guard).contains(number)
                && script.statements[*number].uses().contains(&question.on)
        };
        behind.iter().any(is_of_loop).then_some(Wait {
            statement: last,
            on: end.guard,
        })
    });
    ends.collect()
}

/// The first answer of a loop and the one that ended it. The same may be asked for other reasons before and after.
fn ended(answers: &[Answer]) -> Option<(&Answer, &Answer)> {
    answers.iter().enumerate().rev().find_map(|(at, end)| {
        let is_opposite = |first: &&Answer| first.condition.opposite() == Some(end.condition);
        Some((answers[..at].iter().find(is_opposite)?, end))
    })
}

/// By question, the guards on its answers before a statement, in their order.
fn answers(script: &Script, end: usize) -> BTreeMap<Question, Vec<Answer>> {
    let mut asked: BTreeMap<ObjectId, Question> = BTreeMap::new();
    let mut conditions: BTreeMap<ObjectId, Operation> = BTreeMap::new();
    let mut found: BTreeMap<Question, Vec<Answer>> = BTreeMap::new();
    for (guard, statement) in script.statements[..end].iter().enumerate() {
        let uses = statement.uses();
        if statement.is_guard() {
            let id = uses.first();
            let question = id.and_then(|id| asked.get(id));
            let condition = id.and_then(|id| conditions.get(id));
            if let (Some(question), Some(&condition)) = (question, condition) {
                let answers = found.entry(*question).or_default();
                answers.push(Answer { guard, condition });
            }
            continue;
        }
        let Some(made) = statement.defines() else {
            continue;
        };
        let passed_on = || uses.iter().find_map(|id| asked.get(id)).copied();
        let is_operation = statement.is_pure();
        let question = question(script, statement).or_else(|| passed_on().filter(|_| is_operation));
        asked.extend(question.map(|question| (made, question)));
        conditions.extend(statement.operation().map(|operation| (made, operation)));
    }
    found
}

/// The question that a statement asks: a call on an object, or the length of an array.
fn question(script: &Script, statement: &Statement) -> Option<Question> {
    match statement.operator() {
        Some(Operator::Length) => {
            let on = statement.uses().first().copied()?;
            Some(Question { on, call: None })
        }
        _ => Some(Question {
            on: script.receiver(statement)?,
            call: Some(statement.site()?),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\
script 1
type 1 boolean
type 2 java/util/Iterator
type 3 shop/Order
type 4 int
type 5 shop/Order[]
site 1 entry shop/Orders.all()Ljava/util/Iterator;
site 2 entry java/util/Iterator.hasNext()Z
site 3 entry java/util/Iterator.next()Ljava/lang/Object;
site 4 entry shop/Order.total()I
site 5 entry static org/junit/Assert.assertEquals(JJ)V
site 6 entry static shop/Orders.array()[Lshop/Order;
=> @1() on #90:@2
<= @1 = #1:@2
";

    /// The statements that the last one waits for.
    fn ends(rest: &str) -> Vec<usize> {
        let script: Script = format!("{HEAD}{rest}").parse().unwrap();
        loop_ends(&script).iter().map(|wait| wait.on).collect()
    }

    fn round(hint: u32, answer: &str) -> String {
        format!(
            "=> @2() on #1:@2\n<= @2 = #{hint}0:@1\ndo {answer} boolean (#{hint}0:@1) = #{hint}1:@1\n\
             guard (#{hint}1:@1)\n"
        )
    }

    const NEXT: &str = "=> @3() on #1:@2\n<= @3 = #50:@3\n=> @4() on #50:@3\n<= @4 = #51:@4\n";
    const ASSERTION: &str = "=> @5(3, #51:@4)\n<= @5\n";

    #[test]
    fn what_was_added_up_depends_on_the_end_of_the_loop() {
        let (more, over) = (round(2, "isTrue"), round(3, "isFalse"));
        assert_eq!(ends(&format!("{more}{NEXT}{over}{ASSERTION}")), [8]);
    }

    #[test]
    fn within_a_loop_nothing_depends_on_its_end() {
        let (first, second) = (round(2, "isTrue"), round(3, "isTrue"));
        assert_eq!(ends(&format!("{first}{NEXT}{second}{ASSERTION}")), []);
        assert_eq!(ends(&format!("{first}{NEXT}{ASSERTION}")), []);
    }

    #[test]
    fn the_question_may_be_asked_once_more_after_the_loop() {
        let (more, over, again) = (round(2, "isTrue"), round(3, "isFalse"), round(4, "isFalse"));
        let again = again.replace("isFalse boolean", "isEqual int");
        assert_eq!(ends(&format!("{more}{NEXT}{over}{again}{ASSERTION}")), [8]);
    }

    #[test]
    fn a_loop_whose_values_are_not_used_does_not_count() {
        let (more, over) = (round(2, "isTrue"), round(3, "isFalse"));
        let other = "=> @3() on #1:@2\n<= @3\n";
        let after = "=> @3() on #1:@2\n<= @3 = #60:@3\n=> @4() on #60:@3\n<= @4 = #51:@4\n";
        assert_eq!(ends(&format!("{more}{other}{over}{after}{ASSERTION}")), []);
    }

    #[test]
    fn the_length_of_an_array_is_a_question() {
        let array = "=> @6()\n<= @6 = #70:@5\ndo length object (#70:@5) = #71:@4\n";
        let more = "do isLess int (0, #71:@4) = #72:@1\nguard (#72:@1)\n";
        let element = "do element object (#70:@5, 0) = #50:@3\n=> @4() on #50:@3\n<= @4 = #51:@4\n";
        let over = "do isAtLeast int (1, #71:@4) = #73:@1\nguard (#73:@1)\n";
        let script = format!("{array}{more}{element}{over}{ASSERTION}");
        assert_eq!(ends(&script), [8]);
    }
}
