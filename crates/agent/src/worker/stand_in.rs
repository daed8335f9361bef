//! Stand-ins of plain runs: objects of the outside that no statement makes. One is made where an
//! interface is wanted, and answers its calls as it was recorded to: for each of its methods in that
//! order, and always the same if there is but one answer.

use std::collections::{HashMap, VecDeque};

use culprit_classfile::access;
use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::{EventKind, ObjectId, Reference, Value};

use super::{Halt, Worker};
use crate::lock::LockSafe;

/// A method of a stand-in: its name, and how many arguments it takes.
type Method = (String, usize);

/// What all stand-ins of a run answer.
#[derive(Default)]
pub(super) struct StandIns {
    answers: HashMap<(ObjectId, Method), VecDeque<Answer>>,
}

#[derive(Clone, PartialEq)]
enum Answer {
    Nothing,
    Value(Value),
    Thrown(Value),
}

impl StandIns {
    fn add(&mut self, object: ObjectId, method: Method, answer: Answer) {
        let answers = self.answers.entry((object, method)).or_default();
        answers.push_back(answer);
    }

    fn next(&mut self, object: ObjectId, method: &Method) -> Option<Answer> {
        let answers = self.answers.get_mut(&(object, method.clone()))?;
        let first = answers.front()?.clone();
        if answers.iter().any(|other| *other != first) {
            answers.pop_front();
        }
        Some(first)
    }
}

impl Worker {
    /// Takes note of what stand-ins answer within the call that is about to be made.
    pub(super) fn learn_answers(&self, depth: u32) {
        let mut run = self.run.lock_safe();
        let mut calls = Vec::new();
        let mut ahead = 0;
        while let Some(step) = run.look(ahead, &self.incoming).cloned() {
            ahead += 1;
            if step.depth <= depth {
                return;
            }
            match step.kind {
                EventKind::OutgoingCall => calls.push(step),
                EventKind::OutgoingReturn | EventKind::OutgoingThrow => {
                    let Some(call) = calls.pop() else { continue };
                    let Some(site) = run.site(call.site) else {
                        continue;
                    };
                    let Some(Value::Reference(Reference::Object { id, .. })) = call.values.first()
                    else {
                        continue;
                    };
                    let method = (site.target.name.clone(), call.values.len() - 1);
                    let answer = match (step.kind, step.values.first()) {
                        (_, None) => Answer::Nothing,
                        (EventKind::OutgoingThrow, Some(thrown)) => Answer::Thrown(thrown.clone()),
                        (_, Some(value)) => Answer::Value(value.clone()),
                    };
                    run.stand_ins.add(*id, method, answer);
                }
                _ => {}
            }
        }
    }

    /// A stand-in for a value that nothing has made, where an interface is wanted.
    pub(super) fn stand_in<'j>(
        &self,
        jni: &Jni<'j>,
        value: &Value,
        descriptor: &str,
    ) -> Result<Option<Local<'j>>, Halt> {
        let Value::Reference(Reference::Object { id, .. }) = value else {
            return Ok(None);
        };
        {
            let run = self.run.lock_safe();
            if run.bindings.here(*id).is_some() || run.scalar(*id).is_some() {
                return Ok(None);
            }
        }
        let class = descriptor
            .strip_prefix('L')
            .and_then(|d| d.strip_suffix(';'));
        let Some(class) = class else {
            return Ok(None);
        };
        let interface = self.class_named(jni, class, 0)?;
        if self.jvmti.class_modifiers(&interface)? & i32::from(access::INTERFACE) == 0 {
            return Ok(None);
        }
        let Some(made) = self.java()?.stand_in(jni, &interface, *id)? else {
            return Ok(None);
        };
        let here = self.java()?.adopt(jni, &made)?;
        self.run.lock_safe().bindings.bind(*id, here);
        Ok(Some(made))
    }

    /// What a stand-in answers, boxed, or throws.
    pub(super) fn answer_plainly<'j>(
        &self,
        jni: &Jni<'j>,
        object: ObjectId,
        method: Method,
    ) -> Result<Result<Option<Local<'j>>, Local<'j>>, Halt> {
        let answer = self.run.lock_safe().stand_ins.next(object, &method);
        let boxed = |value: &Value| -> Result<Option<Local<'j>>, Halt> {
            match self.made(jni, value)? {
                Passed::Reference(object) => Ok(object),
                scalar => self.java()?.boxed(jni, scalar.letter(), scalar),
            }
        };
        match answer {
            Some(Answer::Nothing) => Ok(Ok(None)),
            Some(Answer::Value(value)) => Ok(Ok(boxed(&value)?)),
            Some(Answer::Thrown(value)) => match boxed(&value)? {
                Some(thrown) => Ok(Err(thrown)),
                None => Ok(Ok(None)),
            },
            None => {
                let name = method.0;
                Err(Halt::Unsupported(format!(
                    "{object} has no answer to {name}"
                )))
            }
        }
    }
}
