//! Arithmetic, conversions, comparisons and branches. `model` has the meaning of the operators. An
//! operation on a value that comes from the program becomes a statement, and a branch on one a guard.

use std::rc::Rc;

use culprit_classfile::op;
use culprit_jvmti::{Jni, Local};
use culprit_model::Value;
use culprit_model::script::{Operation, Operator, compute};
use culprit_model::value::Shape;

use super::Following;
use super::value::{Held, JvmValue, Variable};
use crate::lock::LockSafe;

/// The cases of a switch that are excluded, one by one, if none was taken.
const MOST_CASES: usize = 16;

/// The types of arithmetic instructions, in the order of their opcodes.
const NUMBERS: [Shape; 4] = [Shape::Int, Shape::Long, Shape::Float, Shape::Double];

/// The operators of `iadd` to `drem`, four types each.
const SUMS: [Operator; 5] = [
    Operator::Add,
    Operator::Subtract,
    Operator::Multiply,
    Operator::Divide,
    Operator::Remainder,
];

/// The operators of `ishl` to `lxor`, two types each.
const BITS: [Operator; 6] = [
    Operator::ShiftLeft,
    Operator::ShiftRight,
    Operator::ShiftRightUnsigned,
    Operator::And,
    Operator::Or,
    Operator::Xor,
];

/// The conversions `i2l` to `i2s`.
const CONVERSIONS: [Operation; 15] = [
    Operator::ToLong.of(Shape::Int),
    Operator::ToFloat.of(Shape::Int),
    Operator::ToDouble.of(Shape::Int),
    Operator::ToInt.of(Shape::Long),
    Operator::ToFloat.of(Shape::Long),
    Operator::ToDouble.of(Shape::Long),
    Operator::ToInt.of(Shape::Float),
    Operator::ToLong.of(Shape::Float),
    Operator::ToDouble.of(Shape::Float),
    Operator::ToInt.of(Shape::Double),
    Operator::ToLong.of(Shape::Double),
    Operator::ToFloat.of(Shape::Double),
    Operator::ToByte.of(Shape::Int),
    Operator::ToChar.of(Shape::Int),
    Operator::ToShort.of(Shape::Int),
];

/// The operation of an arithmetic instruction.
fn operation(opcode: u8) -> Option<Operation> {
    let at = |first: u8| usize::from(opcode - first);
    match opcode {
        op::IADD..=op::DREM => {
            let at = at(op::IADD);
            Some(SUMS.get(at / 4)?.of(NUMBERS[at % 4]))
        }
        op::INEG..=op::DNEG => Some(Operator::Negate.of(NUMBERS[at(op::INEG)])),
        op::ISHL..=op::LXOR => {
            let at = at(op::ISHL);
            Some(BITS.get(at / 2)?.of(NUMBERS[at % 2]))
        }
        op::I2L..=op::I2S => CONVERSIONS.get(at(op::I2L)).copied(),
        _ => None,
    }
}

/// The relation that a branch on numbers tests.
fn relation(opcode: u8) -> Operator {
    match opcode {
        op::IFEQ | op::IF_ICMPEQ => Operator::IsEqual,
        op::IFNE | op::IF_ICMPNE => Operator::IsDifferent,
        op::IFLT | op::IF_ICMPLT => Operator::IsLess,
        op::IFGE | op::IF_ICMPGE => Operator::IsAtLeast,
        op::IFGT | op::IF_ICMPGT => Operator::IsGreater,
        _ => Operator::IsAtMost,
    }
}

/// The relation that holds if `relation` does not.
fn opposite(relation: Operator) -> Operator {
    relation.opposite().unwrap_or(relation)
}

impl Following {
    /// An arithmetic instruction: a binary operator, a negation or a conversion.
    pub(super) fn compute<'j>(
        &self,
        jni: &Jni<'j>,
        opcode: u8,
        operands: &[Held<'j>],
    ) -> Result<Held<'j>, Local<'j>> {
        let Some(operation) = operation(opcode) else {
            return Err(super::machine::odd(jni));
        };
        let scalars: Vec<Value> = operands.iter().map(Held::scalar).collect();
        let Some(result) = compute(operation, &scalars) else {
            let letter = operation.shape.code() as u8;
            let passed: Vec<_> = operands.iter().map(|held| held.to_pass(letter)).collect();
            let done = self.operate(jni, operation, &passed);
            if let Err(thrown) = &done {
                let operands: Vec<&Held<'_>> = operands.iter().collect();
                self.note_failed(jni, operation, &operands, thrown);
            }
            return done.map(Held::passed);
        };
        let slot = JvmValue::of_scalar(&result);
        if !self.is_noting() || operands.iter().all(|held| held.origin.is_none()) {
            return Ok(Held::new(slot));
        }
        let given = operands.iter().zip(scalars);
        let given = given.map(|(held, scalar)| held.origin.map_or(scalar, Value::from));
        let origin = self.writer.lock_safe().operate(operation, given.collect());
        Ok(Held::with(slot, Some(origin)))
    }

    /// Whether a branch is taken.
    pub(super) fn branch<'j>(
        &self,
        jni: &Jni<'j>,
        opcode: u8,
        left: &Held<'j>,
        right: Option<&Held<'j>>,
    ) -> bool {
        let zero = Held::int(0);
        let taken = match opcode {
            op::IFNULL => left.reference().is_none(),
            op::IFNONNULL => left.reference().is_some(),
            op::IF_ACMPEQ | op::IF_ACMPNE => {
                let other = right.and_then(Held::reference);
                let same = match (left.reference(), other) {
                    (Some(one), Some(other)) => jni.is_same(&one, &other),
                    (None, None) => true,
                    _ => false,
                };
                same == (opcode == op::IF_ACMPEQ)
            }
            _ => {
                let right = right.unwrap_or(&zero);
                let operands = [left.scalar(), right.scalar()];
                let holds = compute(relation(opcode).of(Shape::Int), &operands);
                holds == Some(Value::Boolean(true))
            }
        };
        if self.is_noting() {
            self.note_branch(jni, opcode, taken, left, right.unwrap_or(&zero));
        }
        taken
    }

    fn note_branch<'j>(
        &self,
        jni: &Jni<'j>,
        opcode: u8,
        taken: bool,
        left: &Held<'j>,
        right: &Held<'j>,
    ) {
        match opcode {
            op::IFNULL | op::IFNONNULL if self.is_of_program(left) => {
                let condition = match left.reference() {
                    None => Operator::IsNull,
                    Some(_) => Operator::IsNotNull,
                };
                let given = vec![self.given(jni, left, b'L')];
                self.guard(condition.of(Shape::Reference), given);
            }
            op::IF_ACMPEQ | op::IF_ACMPNE
                if self.is_of_program(left) || self.is_of_program(right) =>
            {
                let condition = match taken == (opcode == op::IF_ACMPEQ) {
                    true => Operator::IsSame,
                    false => Operator::IsOther,
                };
                let given = vec![self.given(jni, left, b'L'), self.given(jni, right, b'L')];
                self.guard(condition.of(Shape::Reference), given);
            }
            op::IFNULL | op::IFNONNULL | op::IF_ACMPEQ | op::IF_ACMPNE => self.own_branch(),
            _ => {
                let relation = relation(opcode);
                let relation = if taken { relation } else { opposite(relation) };
                let (left, right) = match &left.compared {
                    Some(pair) => (&pair.0, &pair.1),
                    None => (left, right),
                };
                if let Some(origin) = left.origin
                    && matches!(opcode, op::IFEQ | op::IFNE)
                    && self.is_boolean(origin)
                {
                    let condition = match relation {
                        Operator::IsDifferent => Operator::IsTrue,
                        _ => Operator::IsFalse,
                    };
                    self.guard(condition.of(Shape::Boolean), vec![origin.into()]);
                } else if left.origin.is_some() || right.origin.is_some() {
                    self.guard_relation(relation, left, right);
                } else {
                    self.own_branch();
                }
            }
        }
    }

    /// A switch continued with the case `taken`, or with none of `cases`.
    pub(super) fn note_switch(
        &self,
        key: &Held<'_>,
        taken: Option<i32>,
        cases: impl Iterator<Item = i32>,
    ) {
        if key.origin.is_none() {
            self.own_branch();
            return;
        }
        match taken {
            Some(case) => self.guard_relation(Operator::IsEqual, key, &Held::int(case)),
            None => cases.take(MOST_CASES).for_each(|case| {
                self.guard_relation(Operator::IsDifferent, key, &Held::int(case));
            }),
        }
    }

    fn is_boolean(&self, variable: Variable) -> bool {
        let mut writer = self.writer.lock_safe();
        writer.class(Shape::Boolean.class_name()) == variable.class
    }

    /// A guard for a relation of two numbers.
    pub(super) fn guard_relation(&self, relation: Operator, left: &Held<'_>, right: &Held<'_>) {
        let (one, other) = (left.scalar(), right.scalar());
        let shape = one.shape();
        let holds = compute(relation.of(shape), &[one.clone(), other.clone()]);
        let given = vec![
            left.origin.map_or(one, Value::from),
            right.origin.map_or(other, Value::from),
        ];
        if holds == Some(Value::Boolean(true)) {
            self.guard(relation.of(shape), given);
            return;
        }
        // One of them is NaN, and neither the relation nor its opposite holds.
        let opposite = opposite(relation).of(shape);
        let holds = self.writer.lock_safe().operate(opposite, given);
        self.guard(Operator::IsFalse.of(Shape::Boolean), vec![holds.into()]);
    }
}

/// -1, 0 or 1, and the values that were compared.
pub(super) fn compare<'j>(opcode: u8, left: Held<'j>, right: Held<'j>) -> Held<'j> {
    let order = match (left.slot, right.slot) {
        (JvmValue::Long(a), JvmValue::Long(b)) => Some(a.cmp(&b)),
        (JvmValue::Float(a), JvmValue::Float(b)) => a.partial_cmp(&b),
        (JvmValue::Double(a), JvmValue::Double(b)) => a.partial_cmp(&b),
        _ => None,
    };
    let result = match (order, opcode) {
        (Some(order), _) => order as i32,
        (None, op::FCMPL | op::DCMPL) => -1,
        (None, _) => 1,
    };
    Held {
        slot: JvmValue::Int(result),
        origin: None,
        compared: Some(Rc::new((left, right))),
    }
}
