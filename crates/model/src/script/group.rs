//! Groups the steps of a recording, or of a text, into statements: a call, the questions to the outside
//! while it runs with their answers, and its end.

use std::collections::BTreeMap;

use super::{Action, Answer, Call, Statement, StatementEnd};
use crate::{EventKind, Step, ThreadId};

/// Takes steps one by one. Each thread has its own open call.
#[derive(Debug, Default)]
pub struct Grouper {
    open: BTreeMap<ThreadId, Statement>,
}

/// A step that no statement can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ungrouped {
    /// A call into the program from a call of it.
    Callback,
    /// The end of a call that is not open.
    Stray,
}

impl Grouper {
    /// Takes the next step; appends the statements that it completes.
    pub fn step(&mut self, step: Step, done: &mut Vec<Statement>) -> Result<(), Ungrouped> {
        let Step {
            thread,
            kind,
            site,
            mut values,
            depth,
            ..
        } = step;
        if depth == 0 && !kind.is_aside() {
            // A call before it ended unseen.
            done.extend(self.open.remove(&thread));
        }
        match kind {
            EventKind::IncomingCall if depth > 0 => return Err(Ungrouped::Callback),
            EventKind::IncomingCall => {
                let answers = Vec::new();
                let call = Action::Call(Call { site, answers });
                let call = Statement::new(call, values, StatementEnd::Open);
                self.open.insert(thread, call);
            }
            EventKind::IncomingReturn | EventKind::IncomingThrow => {
                let mut call = self.open.remove(&thread).ok_or(Ungrouped::Stray)?;
                if call.site() != Some(site) {
                    return Err(Ungrouped::Stray);
                }
                call.end = end(kind == EventKind::IncomingThrow, values);
                done.push(call);
            }
            EventKind::IncomingRead => {
                let found = values.pop();
                done.push(Statement::new(
                    Action::Read(site),
                    values,
                    StatementEnd::Returned(found),
                ));
            }
            EventKind::IncomingWrite => {
                done.push(Statement::new(
                    Action::Write(site),
                    values,
                    StatementEnd::Returned(None),
                ));
            }
            EventKind::OutgoingCall => {
                let answer = Answer {
                    site,
                    asked: values,
                    end: StatementEnd::Open,
                    filled: Vec::new(),
                };
                if let Some(answers) = self.answers(thread) {
                    answers.push(answer);
                }
            }
            EventKind::OutgoingReturn | EventKind::OutgoingThrow | EventKind::ArrayContents => {
                let answers = self.answers(thread).map(|answers| answers.last_mut());
                let asked = answers
                    .flatten()
                    .filter(|asked| asked.end == StatementEnd::Open);
                match (asked, kind) {
                    (Some(asked), EventKind::ArrayContents) => asked.filled.append(&mut values),
                    (Some(asked), kind) => {
                        asked.end = end(kind == EventKind::OutgoingThrow, values);
                    }
                    (None, _) => {}
                }
            }
            // No statement looks at the rest.
            _ => {}
        }
        Ok(())
    }

    /// The calls that nobody saw end.
    pub fn finish(self) -> impl Iterator<Item = Statement> {
        self.open.into_values()
    }

    fn answers(&mut self, thread: ThreadId) -> Option<&mut Vec<Answer>> {
        match &mut self.open.get_mut(&thread)?.action {
            Action::Call(call) => Some(&mut call.answers),
            _ => None,
        }
    }
}

fn end(threw: bool, values: Vec<crate::Value>) -> StatementEnd {
    let value = values.into_iter().next();
    match value {
        Some(thrown) if threw => StatementEnd::Threw(thrown),
        value => StatementEnd::Returned(value),
    }
}
