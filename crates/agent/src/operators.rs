//! Operators in the JVM. The interpreter that follows a driver and the worker that runs scripts do every
//! operation that `model` cannot compute by itself here: on objects, and where it throws. Java code for
//! that is in the runtime's class `Operators`, in methods with the names of the operators.

use std::collections::HashMap;

use culprit_jvmti::{Global, Jni, Local, Passed, StaticMethodId};
use culprit_model::Value;
use culprit_model::script::{Operation, Operator, compute};
use culprit_model::value::{Shape, split_descriptor};

use crate::agent::Trouble;

/// The internal name of the class.
pub(crate) const CLASS: &str = "culprit/runtime/Operators";

/// The method that makes a lambda or method reference.
const LAMBDA: &str = "lambda";
const LAMBDA_DESCRIPTOR: &str = "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;I\
    Ljava/lang/Class;Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;\
    [Ljava/lang/Object;)Ljava/lang/Object;";

/// The operations, with what they need of the JVM, found once.
pub(crate) struct Operators {
    class: Global,
    lambda: StaticMethodId,
    known: HashMap<Operation, KnownOperation>,
}

/// An operation in the JVM.
struct KnownOperation {
    operands: Vec<Operand>,
    /// The method in Java, if it needs one.
    method: Option<StaticMethodId>,
}

/// An operand of an operation.
pub(crate) struct Operand {
    pub(crate) descriptor: String,
    /// The class that it must be of, unless every object or every scalar of its shape will do.
    class: Option<Global>,
}

/// A function of JNI that does an operation.
type Function = for<'j> fn(&Jni<'j>, &[Passed<'j>]) -> Passed<'j>;

/// The way an operation is done.
enum Execution {
    /// `model` computes it.
    Compute,
    /// `model` computes it, and Java throws where there is no result.
    ComputeOrThrow,
    Jni(Function),
    Java,
}

/// The one place that decides how an operator is done.
fn execution(operator: Operator) -> Execution {
    use Operator as O;
    match operator {
        O::Add | O::Subtract | O::Multiply | O::Negate | O::And | O::Or | O::Xor => {
            Execution::Compute
        }
        O::ShiftLeft | O::ShiftRight | O::ShiftRightUnsigned => Execution::Compute,
        O::ToInt | O::ToLong | O::ToFloat | O::ToDouble => Execution::Compute,
        O::ToByte | O::ToChar | O::ToShort => Execution::Compute,
        O::IsEqual | O::IsDifferent | O::IsLess | O::IsAtLeast => Execution::Compute,
        O::IsGreater | O::IsAtMost | O::IsTrue | O::IsFalse => Execution::Compute,
        O::Divide | O::Remainder => Execution::ComputeOrThrow,
        O::IsSame => Execution::Jni(|jni, operands| Passed::Boolean(are_same(jni, operands))),
        O::IsOther => Execution::Jni(|jni, operands| Passed::Boolean(!are_same(jni, operands))),
        O::IsNull => Execution::Jni(|_, operands| Passed::Boolean(object(operands, 0).is_none())),
        O::IsNotNull => {
            Execution::Jni(|_, operands| Passed::Boolean(object(operands, 0).is_some()))
        }
        O::IsInstance => Execution::Jni(is_instance),
        // The operand is the array.
        O::Array => Execution::Jni(|_, operands| Passed::Reference(object(operands, 0))),
        O::Concat | O::Element | O::Store | O::Length | O::Raise | O::Cast => Execution::Java,
    }
}

/// Whether an operation has a method in Java.
fn is_in_java(operation: Operation) -> bool {
    match execution(operation.operator) {
        Execution::Java => true,
        Execution::ComputeOrThrow => matches!(operation.shape, Shape::Int | Shape::Long),
        Execution::Compute | Execution::Jni(_) => false,
    }
}

fn object<'j>(operands: &[Passed<'j>], at: usize) -> Option<Local<'j>> {
    match operands.get(at) {
        Some(Passed::Reference(object)) => *object,
        _ => None,
    }
}

fn are_same(jni: &Jni<'_>, operands: &[Passed<'_>]) -> bool {
    match (object(operands, 0), object(operands, 1)) {
        (Some(one), Some(other)) => jni.is_same(&one, &other),
        (None, None) => true,
        _ => false,
    }
}

fn is_instance<'j>(jni: &Jni<'j>, operands: &[Passed<'j>]) -> Passed<'j> {
    Passed::Boolean(match (object(operands, 0), object(operands, 1)) {
        (Some(object), Some(class)) => jni.is_instance(&object, &class),
        _ => false,
    })
}

impl Operators {
    pub(crate) fn find(jni: &Jni<'_>, class: &Local<'_>) -> Result<Operators, Trouble> {
        let mut known = HashMap::new();
        for operation in Operation::all() {
            let (name, descriptor) = (operation.operator.name(), operation.descriptor());
            let (parameters, _) = split_descriptor(&descriptor).unwrap_or_default();
            let mut operands = Vec::with_capacity(parameters.len());
            for parameter in parameters {
                operands.push(Operand::of(jni, parameter)?);
            }
            let method = match is_in_java(operation) {
                true => Some(jni.static_method(class, name, &descriptor)?),
                false => None,
            };
            known.insert(operation, KnownOperation { operands, method });
        }
        Ok(Operators {
            lambda: jni.static_method(class, LAMBDA, LAMBDA_DESCRIPTOR)?,
            class: jni.global(class)?,
            known,
        })
    }

    /// The operands that an operation takes.
    pub(crate) fn operands(&self, operation: Operation) -> &[Operand] {
        let known = self.known.get(&operation);
        known.map_or(&[], |known| &known.operands)
    }

    /// Does an operation on operands that it takes; the exception is the one that the JVM has for it.
    pub(crate) fn perform<'j>(
        &self,
        jni: &Jni<'j>,
        operation: Operation,
        operands: &[Passed<'j>],
    ) -> Result<Passed<'j>, Local<'j>> {
        match execution(operation.operator) {
            Execution::Jni(function) => return Ok(function(jni, operands)),
            Execution::Compute | Execution::ComputeOrThrow => {
                let scalars: Vec<Value> = operands.iter().map(scalar).collect();
                if let Some(value) = compute(operation, &scalars) {
                    return Ok(passed(&value));
                }
            }
            Execution::Java => {}
        }
        self.call(jni, operation, operands)
    }

    /// Does an operation that has a method in Java.
    pub(crate) fn call<'j>(
        &self,
        jni: &Jni<'j>,
        operation: Operation,
        operands: &[Passed<'_>],
    ) -> Result<Passed<'j>, Local<'j>> {
        let method = self.known.get(&operation).and_then(|known| known.method);
        let Some(method) = method else {
            unreachable!("{operation:?} has no method in Java");
        };
        let result = operation.result().map_or('V', Shape::code);
        jni.invoke_statically(&self.class.local(jni), method, operands, result as u8)
    }

    /// Makes a lambda or method reference of the parameters of the method in Java.
    pub(crate) fn make_lambda<'j>(
        &self,
        jni: &Jni<'j>,
        parameters: &[Passed<'j>; 10],
    ) -> Result<Passed<'j>, Local<'j>> {
        jni.invoke_statically(&self.class.local(jni), self.lambda, parameters, b'L')
    }
}

impl Operand {
    fn of(jni: &Jni<'_>, descriptor: &str) -> Result<Operand, Trouble> {
        let name = descriptor
            .strip_prefix('L')
            .and_then(|name| name.strip_suffix(';'));
        let class = match name {
            Some("java/lang/Object") => None,
            Some(name) => Some(jni.find_class(name)?),
            None if descriptor.starts_with('[') => Some(jni.find_class(descriptor)?),
            None => None,
        };
        Ok(Operand {
            descriptor: descriptor.to_owned(),
            class: class.map(|class| jni.global(&class)).transpose()?,
        })
    }

    /// Whether an object can be this operand. JNI does not check.
    pub(crate) fn takes(&self, jni: &Jni<'_>, passed: &Passed<'_>) -> bool {
        match (passed, &self.class) {
            (Passed::Reference(Some(object)), Some(class)) => {
                jni.is_instance(object, &class.local(jni))
            }
            _ => true,
        }
    }
}

/// The value of a scalar that the JVM is passed; null for a reference.
pub(crate) fn scalar(passed: &Passed<'_>) -> Value {
    match *passed {
        Passed::Boolean(v) => Value::Boolean(v),
        Passed::Byte(v) => Value::Byte(v),
        Passed::Short(v) => Value::Short(v),
        Passed::Char(v) => Value::Char(v),
        Passed::Int(v) => Value::Int(v),
        Passed::Long(v) => Value::Long(v),
        Passed::Float(v) => Value::Float(v),
        Passed::Double(v) => Value::Double(v),
        Passed::Reference(_) => Value::zero(Shape::Reference),
    }
}

pub(crate) fn passed<'j>(scalar: &Value) -> Passed<'j> {
    match *scalar {
        Value::Boolean(v) => Passed::Boolean(v),
        Value::Byte(v) => Passed::Byte(v),
        Value::Short(v) => Passed::Short(v),
        Value::Char(v) => Passed::Char(v),
        Value::Int(v) => Passed::Int(v),
        Value::Long(v) => Passed::Long(v),
        Value::Float(v) => Passed::Float(v),
        Value::Double(v) => Passed::Double(v),
        Value::Reference(_) => Passed::Reference(None),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use culprit_classfile::{ClassFile, access};

    #[test]
    fn java_has_the_methods_of_the_operations_that_need_one_and_no_others() {
        let class = crate::runtime::FOLLOW
            .iter()
            .find(|(name, _)| *name == CLASS);
        let class = ClassFile::parse(class.unwrap().1).unwrap();
        let public = class.methods.iter().filter(|method| {
            let wanted = access::STATIC | access::PUBLIC;
            method.access & wanted == wanted
        });
        let in_java: BTreeSet<String> = public
            .map(|method| {
                let name = class.pool.utf8(method.name).unwrap();
                format!("{name}{}", class.pool.utf8(method.descriptor).unwrap())
            })
            .collect();
        let operations = Operation::all().filter(|operation| is_in_java(*operation));
        let mut wanted: BTreeSet<String> = operations
            .map(|it| format!("{}{}", it.operator.name(), it.descriptor()))
            .collect();
        wanted.insert(format!("{LAMBDA}{LAMBDA_DESCRIPTOR}"));
        assert_eq!(in_java, wanted);
    }
}
