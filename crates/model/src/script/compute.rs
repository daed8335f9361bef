//! The meaning of the operators on scalars, for the worker that runs scripts and for the interpreter that
//! follows a driver. Operators on objects, and those that throw, are left to the JVM.

use std::cmp::Ordering;

use super::operator::{Operation, Operator};
use crate::Value;

/// Two numbers of one shape: the method of whole numbers, and the sign of the others.
macro_rules! number {
    ($a:expr, $b:expr, $wrapping:ident, $sign:tt) => {
        match ($a, $b) {
            (Value::Int(a), Value::Int(b)) => Some(Value::Int(a.$wrapping(*b))),
            (Value::Long(a), Value::Long(b)) => Some(Value::Long(a.$wrapping(*b))),
            (Value::Float(a), Value::Float(b)) => Some(Value::Float(a $sign b)),
            (Value::Double(a), Value::Double(b)) => Some(Value::Double(a $sign b)),
            _ => None,
        }
    };
}

/// The result of an operation on scalars of the shapes of its form; `None` if only a JVM can do it: it
/// looks at objects, or throws for these operands.
pub fn compute(operation: Operation, operands: &[Value]) -> Option<Value> {
    use Operator as O;
    let (a, b) = match operands {
        [a] => (a, a),
        [a, b] => (a, b),
        _ => return None,
    };
    match operation.operator {
        O::Add => number!(a, b, wrapping_add, +),
        O::Subtract => number!(a, b, wrapping_sub, -),
        O::Multiply => number!(a, b, wrapping_mul, *),
        O::Divide | O::Remainder if matches!(b, Value::Int(0) | Value::Long(0)) => None,
        O::Divide => number!(a, b, wrapping_div, /),
        O::Remainder => number!(a, b, wrapping_rem, %),
        O::And => whole(a, b, |a, b| a & b),
        O::Or => whole(a, b, |a, b| a | b),
        O::Xor => whole(a, b, |a, b| a ^ b),
        O::ShiftLeft => shift(a, b, i32::wrapping_shl, i64::wrapping_shl),
        O::ShiftRight => shift(a, b, i32::wrapping_shr, i64::wrapping_shr),
        O::ShiftRightUnsigned => shift(
            a,
            b,
            |a, by| (a as u32).wrapping_shr(by) as i32,
            |a, by| (a as u64).wrapping_shr(by) as i64,
        ),
        O::Negate => match a {
            Value::Int(v) => Some(Value::Int(v.wrapping_neg())),
            Value::Long(v) => Some(Value::Long(v.wrapping_neg())),
            Value::Float(v) => Some(Value::Float(-v)),
            Value::Double(v) => Some(Value::Double(-v)),
            _ => None,
        },
        // Casts of Rust saturate as those of Java do.
        O::ToInt => cast(a, |v| v as i32, |v| v as i32, |v| v as i32).map(Value::Int),
        O::ToLong => cast(a, |v| v, |v| v as i64, |v| v as i64).map(Value::Long),
        O::ToFloat => cast(a, |v| v as f32, |v| v, |v| v as f32).map(Value::Float),
        O::ToDouble => cast(a, |v| v as f64, f64::from, |v| v).map(Value::Double),
        O::ToByte => cast(a, |v| v as i8, |v| v as i8, |v| v as i8).map(Value::Byte),
        O::ToChar => cast(a, |v| v as u16, |v| v as u16, |v| v as u16).map(Value::Char),
        O::ToShort => cast(a, |v| v as i16, |v| v as i16, |v| v as i16).map(Value::Short),
        O::IsEqual => holds(a, b, Ordering::is_eq).map(Value::Boolean),
        O::IsDifferent => holds(a, b, Ordering::is_eq).map(|is| Value::Boolean(!is)),
        O::IsLess => holds(a, b, Ordering::is_lt).map(Value::Boolean),
        O::IsAtLeast => holds(a, b, Ordering::is_ge).map(Value::Boolean),
        O::IsGreater => holds(a, b, Ordering::is_gt).map(Value::Boolean),
        O::IsAtMost => holds(a, b, Ordering::is_le).map(Value::Boolean),
        O::IsTrue | O::IsFalse => match a {
            Value::Boolean(v) => Some(Value::Boolean(*v == (operation.operator == O::IsTrue))),
            _ => None,
        },
        O::IsSame | O::IsOther | O::IsNull | O::IsNotNull | O::IsInstance | O::Concat => None,
        O::Element | O::Store | O::Length | O::Array | O::Raise | O::Cast => None,
    }
}

fn shift(
    value: &Value,
    by: &Value,
    int: fn(i32, u32) -> i32,
    long: fn(i64, u32) -> i64,
) -> Option<Value> {
    match (value, by) {
        (Value::Int(v), Value::Int(by)) => Some(Value::Int(int(*v, *by as u32))),
        (Value::Long(v), Value::Int(by)) => Some(Value::Long(long(*v, *by as u32))),
        _ => None,
    }
}

fn whole(a: &Value, b: &Value, bits: fn(i64, i64) -> i64) -> Option<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => {
            Some(Value::Int(bits(i64::from(*a), i64::from(*b)) as i32))
        }
        (Value::Long(a), Value::Long(b)) => Some(Value::Long(bits(*a, *b))),
        _ => None,
    }
}

fn cast<T>(
    value: &Value,
    whole: fn(i64) -> T,
    float: fn(f32) -> T,
    double: fn(f64) -> T,
) -> Option<T> {
    match value {
        Value::Int(v) => Some(whole(i64::from(*v))),
        Value::Long(v) => Some(whole(*v)),
        Value::Float(v) => Some(float(*v)),
        Value::Double(v) => Some(double(*v)),
        _ => None,
    }
}

/// A relation of two numbers; none holds if one of them is NaN.
fn holds(a: &Value, b: &Value, is: fn(Ordering) -> bool) -> Option<bool> {
    let order = match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Long(a), Value::Long(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        _ => return None,
    };
    Some(order.is_some_and(is))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Shape;

    #[test]
    fn scalars_are_computed_as_java_does() {
        let int = |v| Value::Int(v);
        for (operator, shape, operands, result) in [
            (
                Operator::Add,
                Shape::Int,
                vec![int(i32::MAX), int(1)],
                Some(int(i32::MIN)),
            ),
            (
                Operator::Divide,
                Shape::Int,
                vec![int(i32::MIN), int(-1)],
                Some(int(i32::MIN)),
            ),
            (Operator::Divide, Shape::Int, vec![int(1), int(0)], None),
            (
                Operator::Remainder,
                Shape::Double,
                vec![Value::Double(-5.5), Value::Double(2.0)],
                Some(Value::Double(-1.5)),
            ),
            (
                Operator::ShiftLeft,
                Shape::Int,
                vec![int(1), int(33)],
                Some(int(2)),
            ),
            (
                Operator::ShiftRightUnsigned,
                Shape::Long,
                vec![Value::Long(-1), int(63)],
                Some(Value::Long(1)),
            ),
            (
                Operator::ToInt,
                Shape::Double,
                vec![Value::Double(f64::NAN)],
                Some(int(0)),
            ),
            (
                Operator::ToInt,
                Shape::Long,
                vec![Value::Long(1 << 32)],
                Some(int(0)),
            ),
            (
                Operator::ToChar,
                Shape::Int,
                vec![int(-1)],
                Some(Value::Char(0xffff)),
            ),
            (
                Operator::IsDifferent,
                Shape::Float,
                vec![Value::Float(f32::NAN), Value::Float(f32::NAN)],
                Some(Value::Boolean(true)),
            ),
            (
                Operator::IsAtMost,
                Shape::Float,
                vec![Value::Float(f32::NAN), Value::Float(1.0)],
                Some(Value::Boolean(false)),
            ),
            (
                Operator::IsNull,
                Shape::Reference,
                vec![Value::Reference(crate::Reference::Null)],
                None,
            ),
        ] {
            assert_eq!(
                compute(operator.of(shape), &operands),
                result,
                "{operator:?}"
            );
        }
    }
}
