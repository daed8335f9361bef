//! Stand-ins of plain runs: objects that statements use and no statement makes. One is made where an
//! interface is wanted, and answers as `model` defines it.

use std::collections::BTreeMap;
use std::sync::Arc;

use culprit_classfile::access;
use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::script::{AnswerPlace, StandIn, StatementEnd};
use culprit_model::{ObjectId, Reference, Script, Value};

use super::{Halt, Worker};
use crate::lock::LockSafe;

/// The stand-ins of a run, and the questions that they were asked.
#[derive(Default)]
pub(super) struct StandIns {
    /// The script, with the definitions of the sites of its answers.
    script: Arc<Script>,
    stand_ins: BTreeMap<ObjectId, StandIn>,
    /// The number of questions to a method, which is known by its first answer.
    asked: BTreeMap<AnswerPlace, usize>,
}

impl StandIns {
    pub(super) fn of(script: Arc<Script>) -> StandIns {
        let has_answers = |script: &Script| {
            let mut statements = script.statements.iter();
            statements.any(|statement| !statement.answers().is_empty())
        };
        let stand_ins = match has_answers(&script) {
            true => script.stand_ins(),
            false => BTreeMap::new(),
        };
        StandIns {
            script,
            stand_ins,
            asked: BTreeMap::new(),
        }
    }

    /// The answer to the next question to a method.
    fn next(&mut self, object: ObjectId, name: &str, descriptor: &str) -> Option<StatementEnd> {
        let method = self.stand_ins.get(&object)?.method(name, descriptor)?;
        let asked = self.asked.entry(method.answer(0)?).or_default();
        let place = method.answer(*asked)?;
        *asked += 1;
        Some(self.script.answer(place)?.end.clone())
    }
}

impl Worker {
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

    /// The answer of a stand-in, boxed, or the exception that it throws.
    pub(super) fn answer_plainly<'j>(
        &self,
        jni: &Jni<'j>,
        object: ObjectId,
        name: &str,
        descriptor: &str,
    ) -> Result<Result<Option<Local<'j>>, Local<'j>>, Halt> {
        let answer = self
            .run
            .lock_safe()
            .stand_ins
            .next(object, name, descriptor);
        let boxed = |value: &Value| -> Result<Option<Local<'j>>, Halt> {
            match self.made(jni, value)? {
                Passed::Reference(object) => Ok(object),
                scalar => self.java()?.boxed(jni, scalar.letter(), scalar),
            }
        };
        match answer {
            Some(StatementEnd::Returned(None) | StatementEnd::Open) => Ok(Ok(None)),
            Some(StatementEnd::Returned(Some(value))) => Ok(Ok(boxed(&value)?)),
            Some(StatementEnd::Threw(value)) => match boxed(&value)? {
                Some(thrown) => Ok(Err(thrown)),
                None => Ok(Ok(None)),
            },
            None => Err(Halt::Unsupported(format!(
                "{object} has no answer to {name}"
            ))),
        }
    }
}
