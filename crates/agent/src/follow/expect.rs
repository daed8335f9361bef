//! Exceptions that the driver expects: one that a call should have thrown and did not, and those that the
//! driver would have caught besides the one that was thrown.

use culprit_jvmti::{Jni, Local};
use culprit_model::script::{Operator, StatementEnd};
use culprit_model::value::Shape;
use culprit_model::{Member, Reference, Value};

use super::Following;
use super::calls::CallKind;
use super::machine::MachineFrame;
use super::value::Held;
use crate::classes::internal_name;
use crate::lock::LockSafe;

impl Following {
    /// The driver states that something should have been thrown: by the last call into the program within the
    /// same `try`.
    pub(super) fn expect(&self, frame: &MachineFrame<'_, '_>) {
        let Some((handler, class)) = frame.ready_for().next() else {
            return;
        };
        let within = u32::from(handler.start)..u32::from(handler.end);
        let calls = frame.calls.iter().rev();
        let calls = calls.filter(|call| within.contains(&call.pc));
        let into = calls.clone().find(|call| call.into_program);
        let Some(call) = into.or_else(|| calls.clone().next()) else {
            return;
        };
        // `if (wrong) fail();` is about the answer.
        let is_answered = self.writer.lock_safe().has_condition_behind(call.statement);
        if !is_answered {
            let others = calls.filter(|it| it.into_program && it.statement < call.statement);
            let others: Vec<usize> = others.map(|it| it.statement).collect();
            self.require_missing(call.statement, others, &class);
        }
    }

    /// The script continues only if a call did not throw what it should. The driver takes it from calls before it, too.
    fn require_missing(&self, call: usize, others: Vec<usize>, class: &str) {
        let mut writer = self.writer.lock_safe();
        writer.ready_at(others, class);
        let Some(expected) = writer.expected(call, class) else {
            return;
        };
        let is_null = Operator::IsNull.of(Shape::Reference);
        writer.guard(is_null, vec![expected.into()]);
    }

    /// The driver catches an exception. What it does then it does only if that was thrown: if a call threw it, the
    /// script continues only then.
    pub(super) fn caught(&self, jni: &Jni<'_>, thrown: &Local<'_>) {
        if !self.is_noting() {
            return;
        }
        let known = self.tag(thrown).map(|tag| tag.id);
        let is_known = known.is_some_and(|id| self.writer.lock_safe().thrown.contains(&id));
        if is_known {
            let exception = self.thrown(jni, thrown);
            let is_thrown = Operator::IsNotNull.of(Shape::Reference);
            self.writer.lock_safe().guard(is_thrown, vec![exception]);
        }
    }

    /// An exception arrives in the driver, which is ready for others there.
    pub(super) fn arrived(&self, jni: &Jni<'_>, frame: &MachineFrame<'_, '_>, thrown: &Local<'_>) {
        for (_, class) in frame.ready_for() {
            if self.tolerate(jni, thrown, &class) {
                return;
            }
        }
    }

    /// The call that threw an exception might throw others as well, for all that the driver knows. Not so if the
    /// others are of a class that this one has: whether there are others.
    fn tolerate(&self, jni: &Jni<'_>, thrown: &Local<'_>, class: &str) -> bool {
        let Some(tag) = self.tag(thrown) else {
            return false;
        };
        if self.kinds(jni, thrown).iter().any(|kind| kind == class) {
            return false;
        }
        self.writer.lock_safe().tolerate(tag.id, class);
        true
    }

    /// A test that says what it throws has ended.
    pub(super) fn ended(&self, jni: &Jni<'_>, expected: &str, end: Result<(), &Local<'_>>) {
        if let Err(thrown) = end {
            if let (true, Some(tag)) = (self.tolerate(jni, thrown, expected), self.tag(thrown)) {
                self.writer.lock_safe().tolerate_throughout(tag.id);
            }
            return;
        }
        let message = format!("Expected exception: {}", expected.replace('/', "."));
        let target = Member {
            owner: "org/junit/Assert".to_owned(),
            name: "fail".to_owned(),
            descriptor: "(Ljava/lang/String;)V".to_owned(),
        };
        let mut writer = self.writer.lock_safe();
        writer.expect(expected);
        let thrown = writer.variable("java/lang/AssertionError");
        let message = Value::text(&message);
        writer.call(
            target,
            true,
            vec![message],
            StatementEnd::Threw(thrown.into()),
        );
    }

    /// A framework ran something of the driver and says that it should have thrown, or not.
    pub(super) fn missed(
        &self,
        jni: &Jni<'_>,
        frame: &mut MachineFrame<'_, '_>,
        target: &Member,
        given: &[Held<'_>],
        thrown: &Local<'_>,
        before: usize,
    ) {
        // A message may come before the class.
        let mut references = given.iter().filter_map(Held::reference);
        let expected = references.find_map(|class| self.jvmti.class_signature(&class).ok());
        let expected = expected.as_deref().map(internal_name);
        let mut writer = self.writer.lock_safe();
        let last = writer.last_call_since(before);
        if let Some(other) = last.and_then(|call| writer.thrown_by(call)) {
            // Something else was thrown.
            if let Some(class) = expected {
                writer.tolerate(other, class);
            }
            return;
        }
        let others = writer.calls_since(before).into_iter();
        let others: Vec<usize> = others.filter(|it| Some(*it) < last).collect();
        drop(writer);
        if let (Some(class), Some(call)) = (expected, last) {
            self.require_missing(call, others, class);
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
        let end = StatementEnd::Threw(self.thrown(jni, thrown));
        self.note(frame, target, CallKind::Static, vec![message], end);
    }
}
