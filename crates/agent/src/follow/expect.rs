//! What the driver expects to be thrown: whatever should have been and was not, and what it is ready for
//! beside the exception that came.

use culprit_jvmti::{Jni, Local};
use culprit_model::{Member, Reference, Value};

use super::Following;
use super::journal::End;
use super::machine::Frame;
use super::value::Held;
use crate::classes::internal_name;
use crate::lock::LockSafe;

impl Following {
    /// The driver says that something should have been thrown: by the last call into the program that
    /// stands in the same `try`.
    pub(super) fn expect(&self, frame: &Frame<'_, '_>) {
        let Some((handler, class)) = frame.ready_for().next() else {
            return;
        };
        let within = u32::from(handler.start)..u32::from(handler.end);
        let mut calls = frame.calls.iter().rev();
        let call = calls.find(|(pc, _)| within.contains(pc));
        if let Some((_, call)) = call {
            self.require_missing(*call, &class);
        }
    }

    /// Goes on only if a call did not throw what it should.
    fn require_missing(&self, call: usize, class: &str) {
        let mut journal = self.journal.lock_safe();
        let Some(expected) = journal.expected(call, class) else {
            return;
        };
        let is_null = journal.operator(
            "isNull",
            "(Ljava/lang/Object;)Z",
            vec![expected.into()],
            "boolean",
        );
        journal.act("require", "(Z)V", vec![is_null.into()]);
    }

    /// An exception arrives in the driver, which is ready for others there.
    pub(super) fn arrived(&self, frame: &Frame<'_, '_>, thrown: &Local<'_>) {
        if let Some((_, class)) = frame.ready_for().next() {
            self.tolerate(thrown, &class);
        }
    }

    /// The call that threw an exception might throw others as well, for all that the driver knows.
    fn tolerate(&self, thrown: &Local<'_>, class: &str) {
        let Some(tag) = self.tag(thrown) else {
            return;
        };
        let mut journal = self.journal.lock_safe();
        if let Some(call) = journal.call_that_threw(tag.id) {
            journal.tolerate(call, class);
        }
    }

    /// A test that says what it throws has ended.
    pub(super) fn ended(&self, expected: &str, end: Result<(), &Local<'_>>) {
        if let Err(thrown) = end {
            return self.tolerate(thrown, expected);
        }
        let message = format!("Expected exception: {}", expected.replace('/', "."));
        let target = Member {
            owner: "org/junit/Assert".to_owned(),
            name: "fail".to_owned(),
            descriptor: "(Ljava/lang/String;)V".to_owned(),
        };
        let mut journal = self.journal.lock_safe();
        let class = Value::Reference(Reference::Class(journal.class(expected)));
        journal.act("expect", "(Ljava/lang/Class;)V", vec![class]);
        let thrown = journal.variable("java/lang/AssertionError");
        let message = Value::Reference(Reference::String(message.encode_utf16().collect()));
        journal.call(target, true, vec![message], End::Threw(thrown.into()));
    }

    /// A framework ran something of the driver and says that it should have thrown, or not.
    pub(super) fn missed(
        &self,
        jni: &Jni<'_>,
        frame: &mut Frame<'_, '_>,
        target: &Member,
        given: &[Held<'_>],
        thrown: &Local<'_>,
        before: usize,
    ) {
        let expected = given.first().and_then(Held::reference);
        let expected = expected.and_then(|class| self.jvmti.class_signature(&class).ok());
        let expected = expected.as_deref().map(internal_name);
        let last = self.journal.lock_safe().last_call_since(before);
        if let Some(call) = last.filter(|call| self.journal.lock_safe().threw(*call)) {
            // Something else was thrown.
            if let Some(class) = expected {
                self.journal.lock_safe().tolerate(call, class);
            }
            return;
        }
        if let (Some(class), Some(call)) = (expected, last) {
            self.require_missing(call, class);
        }
        let class = jni.object_class(thrown);
        let message = jni
            .method(&class, "getMessage", "()Ljava/lang/String;")
            .and_then(|method| jni.call_object(thrown, method, &[]));
        let message = match message {
            Ok(Some(message)) => jni.string_units(&message),
            _ => Vec::new(),
        };
        let result = match target.owner.contains("jupiter") {
            true => "Ljava/lang/Object;",
            false => "V",
        };
        let target = Member {
            owner: target.owner.clone(),
            name: "fail".to_owned(),
            descriptor: format!("(Ljava/lang/String;){result}"),
        };
        let message = Value::Reference(Reference::String(message));
        let end = End::Threw(self.thrown(jni, thrown));
        self.note(frame, target, false, false, vec![message], end);
    }
}
