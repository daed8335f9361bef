//! Operations of the JVM that the interpreter has done by a method with the one instruction (`HelperMethod`), and
//! the statements about the driver as a whole: guards, exceptions that leave it, objects that it is.

use culprit_jvmti::{Jni, Local, Passed};
use culprit_model::script::{Operation, Operator, StatementEnd};
use culprit_model::value::{Shape, split_descriptor};
use culprit_model::{Member, Reference, Value};
use culprit_weave::follow::HelperMethod;

use super::activity::ACTIVITY;
use super::script_writer::is_full;
use super::value::{Held, JvmValue, Variable};
use super::{Followed, Following, machine};
use crate::lock::LockSafe;

/// The result of an operation, or the exception that it threw.
pub(super) type OperationResult<'j> = Result<Held<'j>, Local<'j>>;

/// The first letter of a descriptor.
pub(super) fn letter(descriptor: &str) -> u8 {
    descriptor.as_bytes().first().copied().unwrap_or(b'V')
}

impl Following {
    /// Whether what the driver does now becomes statements.
    pub(super) fn is_noting(&self) -> bool {
        ACTIVITY.with_borrow(|activity| activity.depth == 0) && !is_full()
    }

    /// Does an instruction.
    pub(super) fn perform<'j>(
        &self,
        jni: &Jni<'j>,
        followed: &Followed,
        helper: &HelperMethod,
        given: &[Held<'j>],
    ) -> Result<Passed<'j>, Local<'j>> {
        let (Some(class), Some(ready)) = (followed.loaded.get(), followed.ready.get(&helper.name))
        else {
            return Err(machine::odd(jni));
        };
        let class = class.local(jni);
        let found = ready.method.get().copied().or_else(|| {
            let found = jni
                .static_method(&class, &helper.name, &helper.erased)
                .ok()?;
            Some(*ready.method.get_or_init(|| found))
        });
        let (Some(method), Some((parameters, result))) =
            (found, split_descriptor(&helper.descriptor))
        else {
            return Err(machine::odd(jni));
        };
        let passed: Vec<Passed<'j>> = given
            .iter()
            .zip(&parameters)
            .map(|(held, parameter)| held.to_pass(letter(parameter)))
            .collect();
        jni.invoke_statically(&class, method, &passed, letter(result))
    }

    /// `object instanceof class`
    pub(super) fn is_instance<'j>(
        &self,
        jni: &Jni<'j>,
        object: &Held<'j>,
        class: &str,
        is: bool,
    ) -> Held<'j> {
        let slot = JvmValue::Int(i32::from(is));
        if !self.is_noting() || !self.is_of_program(object) {
            return Held::new(slot);
        }
        let object = self.given(jni, object, b'L');
        let mut writer = self.writer.lock_safe();
        let class = Value::Reference(Reference::Class(writer.class(class)));
        let is_instance = Operator::IsInstance.of(Shape::Reference);
        let origin = writer.operate(is_instance, vec![object, class]);
        Held::with(slot, Some(origin))
    }

    /// `(class) object`, which the JVM refused.
    pub(super) fn note_failed_cast(
        &self,
        jni: &Jni<'_>,
        object: &Held<'_>,
        class: &str,
        thrown: &Local<'_>,
    ) {
        if !self.is_noting() || !self.is_of_program(object) {
            return;
        }
        let object = self.given(jni, object, b'L');
        let class = Reference::Class(self.writer.lock_safe().class(class));
        let cast = Operator::Cast.of(Shape::Reference);
        self.note_throwing(jni, cast, vec![object, Value::Reference(class)], thrown);
    }

    /// An operator of the driver threw. It becomes a statement if the program has to do with an operand.
    pub(super) fn note_failed(
        &self,
        jni: &Jni<'_>,
        operation: Operation,
        operands: &[&Held<'_>],
        thrown: &Local<'_>,
    ) {
        if !self.is_noting() || !operands.iter().any(|held| self.is_of_program(held)) {
            return;
        }
        let descriptor = operation.descriptor();
        let (parameters, _) = split_descriptor(&descriptor).unwrap_or_default();
        let given = operands.iter().zip(&parameters);
        let given = given.map(|(held, parameter)| self.given(jni, held, letter(parameter)));
        let given = given.collect();
        self.note_throwing(jni, operation, given, thrown);
    }

    fn note_throwing(
        &self,
        jni: &Jni<'_>,
        operation: Operation,
        given: Vec<Value>,
        thrown: &Local<'_>,
    ) {
        let thrown = self.thrown(jni, thrown);
        let mut writer = self.writer.lock_safe();
        writer.operate_throwing(operation, given, thrown);
    }

    /// A branch depended on a value of the program: the script continues only if it is taken alike again.
    pub(super) fn guard(&self, condition: Operation, operands: Vec<Value>) {
        self.writer.lock_safe().guard(condition, operands);
    }

    /// A branch depended on values that the driver computed without the program.
    pub(super) fn own_branch(&self) {
        self.writer.lock_safe().own_branch();
    }

    /// An exception as a statement has it.
    pub(super) fn thrown(&self, jni: &Jni<'_>, thrown: &Local<'_>) -> Value {
        let class = self.class_of(jni, thrown);
        let tag = self.tagged(thrown, true);
        let mut writer = self.writer.lock_safe();
        writer.thrown.insert(tag.id);
        let class = writer.class(&class);
        Variable { id: tag.id, class }.into()
    }

    /// An exception leaves the driver: one that a call threw, or its own.
    pub(super) fn raised(&self, jni: &Jni<'_>, thrown: &Local<'_>) {
        let known = self.tag(thrown).map(|tag| tag.id);
        let is_known = known.is_some_and(|id| self.writer.lock_safe().thrown.contains(&id));
        let value = self.thrown(jni, thrown);
        let mut writer = self.writer.lock_safe();
        if is_known {
            writer.left(value);
            return;
        }
        writer.raise(value);
    }

    /// The driver makes an object of its own.
    pub(super) fn constructed(&self, jni: &Jni<'_>, followed: &Followed, given: &[Held<'_>]) {
        let Some((this, arguments)) = given.split_first() else {
            return;
        };
        let Some((parameters, _)) = split_descriptor(&followed.method.descriptor) else {
            return;
        };
        let pairs = arguments.iter().zip(&parameters);
        let values = pairs.map(|(held, parameter)| self.given(jni, held, letter(parameter)));
        let values: Vec<Value> = values.collect();
        let JvmValue::Reference(Some(object)) = this.slot else {
            return;
        };
        // A constructor of a superclass made no object of its own.
        if self.class_of(jni, &object) != followed.class {
            return;
        }
        let (_, made) = self.result(jni, this.slot, "L", false);
        let target = Member {
            owner: followed.class.clone(),
            name: "<init>".to_owned(),
            descriptor: followed.method.descriptor.clone(),
        };
        let mut writer = self.writer.lock_safe();
        writer.call(target, false, values, StatementEnd::Returned(Some(made)));
    }
}
