//! The runtime's class `Operators`: Java code for the operators that only a JVM can do, because they look
//! into arrays, make strings, or throw. The interpreter that follows a driver and the worker that runs
//! scripts both call it.

use std::collections::HashMap;

use culprit_jvmti::{Global, Jni, Local, Passed, StaticMethodId};
use culprit_model::script::{Operation, Operator};
use culprit_model::value::Shape;

use crate::agent::Trouble;

/// The internal name of the class.
pub(crate) const CLASS: &str = "culprit/runtime/Operators";

/// The methods of the class, found once.
pub(crate) struct Operators {
    class: Global,
    methods: HashMap<Operation, StaticMethodId>,
}

impl Operators {
    pub(crate) fn find(jni: &Jni<'_>, class: &Local<'_>) -> Result<Operators, Trouble> {
        let mut methods = HashMap::new();
        for operation in Operation::all().filter(|operation| is_in_java(*operation)) {
            let (name, descriptor) = (operation.operator.name(), operation.descriptor());
            methods.insert(operation, jni.static_method(class, name, &descriptor)?);
        }
        Ok(Operators {
            class: jni.global(class)?,
            methods,
        })
    }

    /// Does an operation that has a method; the exception is the one that the JVM throws for it.
    pub(crate) fn call<'j>(
        &self,
        jni: &Jni<'j>,
        operation: Operation,
        operands: &[Passed<'_>],
    ) -> Result<Passed<'j>, Local<'j>> {
        let Some(method) = self.methods.get(&operation) else {
            unreachable!("{operation:?} has no method in Java");
        };
        let result = operation.result().map_or('V', Shape::code);
        jni.invoke_statically(&self.class.local(jni), *method, operands, result as u8)
    }
}

/// Whether an operation has a method of its name in the class. The others are computed here, or are a
/// single function of JNI.
fn is_in_java(operation: Operation) -> bool {
    use Operator as O;
    match operation.operator {
        // A division throws for zero.
        O::Divide | O::Remainder => matches!(operation.shape, Shape::Int | Shape::Long),
        O::Concat | O::Element | O::Store | O::Length | O::Raise => true,
        O::Add | O::Subtract | O::Multiply | O::And | O::Or | O::Xor | O::Negate => false,
        O::ShiftLeft | O::ShiftRight | O::ShiftRightUnsigned => false,
        O::ToInt | O::ToLong | O::ToFloat | O::ToDouble => false,
        O::ToByte | O::ToChar | O::ToShort => false,
        O::IsEqual | O::IsDifferent | O::IsLess | O::IsAtLeast | O::IsGreater | O::IsAtMost => {
            false
        }
        O::IsSame | O::IsOther | O::IsNull | O::IsNotNull => false,
        O::IsTrue | O::IsFalse | O::IsInstance | O::Array => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_classfile::{ClassFile, access};

    #[test]
    fn java_has_a_method_for_each_operation_that_needs_one() {
        let class = crate::runtime::FOLLOW
            .iter()
            .find(|(name, _)| *name == CLASS);
        let class = ClassFile::parse(class.unwrap().1).unwrap();
        for operation in Operation::all().filter(|operation| is_in_java(*operation)) {
            let (name, descriptor) = (operation.operator.name(), operation.descriptor());
            let found = class.methods.iter().find(|method| {
                class.pool.utf8(method.name).unwrap() == name
                    && class.pool.utf8(method.descriptor).unwrap() == descriptor
            });
            let found = found.unwrap_or_else(|| panic!("{name}{descriptor}"));
            assert_ne!(found.access & access::STATIC, 0, "{name}{descriptor}");
        }
    }
}
