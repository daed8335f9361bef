//! Arithmetic, comparisons and branches. What is computed of the program's results alone becomes steps.

use std::cmp::Ordering;
use std::rc::Rc;

use culprit_classfile::op;
use culprit_jvmti::{Jni, Local};
use culprit_model::Value;

use super::Following;
use super::naming::primitive;
use super::value::{Held, Slot};
use crate::lock::LockSafe;

/// Names of the operators, in the order of their opcodes, four types each.
const NAMES: [&str; 5] = ["add", "subtract", "multiply", "divide", "remainder"];

/// Names of conversions, from `i2l` on, and their descriptors.
const CONVERSIONS: [(&str, &str); 15] = [
    ("toLong", "(I)J"),
    ("toFloat", "(I)F"),
    ("toDouble", "(I)D"),
    ("toInt", "(J)I"),
    ("toFloat", "(J)F"),
    ("toDouble", "(J)D"),
    ("toInt", "(F)I"),
    ("toLong", "(F)J"),
    ("toDouble", "(F)D"),
    ("toInt", "(D)I"),
    ("toLong", "(D)J"),
    ("toFloat", "(D)F"),
    ("toByte", "(I)B"),
    ("toChar", "(I)C"),
    ("toShort", "(I)S"),
];

impl Following {
    pub(super) fn binary<'j>(
        &self,
        jni: &Jni<'j>,
        opcode: u8,
        left: &Held<'j>,
        right: &Held<'j>,
    ) -> Result<Held<'j>, Local<'j>> {
        let Some(slot) = compute(opcode, left.slot, right.slot) else {
            // The JVM has words for it.
            let given = [left.to_pass(b'I'), right.to_pass(b'I')];
            let descriptor = match left.is_wide() {
                true => "(JJ)J",
                false => "(II)I",
            };
            return self
                .operate(jni, "divide", descriptor, &given)
                .map(Held::passed);
        };
        if !self.is_noting() || left.from.is_none() && right.from.is_none() {
            return Ok(Held::new(slot));
        }
        let (name, result, second) = describe(opcode);
        let given = vec![
            self.given(jni, left, result),
            self.given(jni, right, second),
        ];
        let (r, s) = (char::from(result), char::from(second));
        let descriptor = format!("({r}{s}){r}");
        let mut journal = self.journal.lock_safe();
        let from = journal.operator(name, &descriptor, given, primitive(result));
        Ok(Held::with(slot, Some(from)))
    }

    pub(super) fn unary<'j>(&self, jni: &Jni<'j>, opcode: u8, held: &Held<'j>) -> Held<'j> {
        let slot = convert(opcode, held.slot);
        if !self.is_noting() || held.from.is_none() {
            return Held::new(slot);
        }
        let negated = ["(I)I", "(J)J", "(F)F", "(D)D"];
        let (name, descriptor) = match opcode {
            op::INEG..=op::DNEG => ("negate", negated[usize::from(opcode - op::INEG)]),
            _ => CONVERSIONS[usize::from(opcode - op::I2L)],
        };
        let bytes = descriptor.as_bytes();
        let given = vec![self.given(jni, held, bytes[1])];
        let mut journal = self.journal.lock_safe();
        let from = journal.operator(name, descriptor, given, primitive(bytes[3]));
        Held::with(slot, Some(from))
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
                holds(relation(opcode), left.as_int().cmp(&right.as_int()))
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
        let objects = "(Ljava/lang/Object;Ljava/lang/Object;)Z";
        match opcode {
            op::IFNULL | op::IFNONNULL => {
                if self.is_of_program(left) {
                    let name = match left.reference() {
                        None => "isNull",
                        Some(_) => "isNotNull",
                    };
                    let given = vec![self.given(jni, left, b'L')];
                    self.guard(name, "(Ljava/lang/Object;)Z", given);
                }
            }
            op::IF_ACMPEQ | op::IF_ACMPNE => {
                if self.is_of_program(left) || self.is_of_program(right) {
                    let name = match taken == (opcode == op::IF_ACMPEQ) {
                        true => "isSame",
                        false => "isOther",
                    };
                    let given = vec![self.given(jni, left, b'L'), self.given(jni, right, b'L')];
                    self.guard(name, objects, given);
                }
            }
            _ => {
                let relation = relation(opcode);
                let relation = if taken { relation } else { opposite(relation) };
                if let Some(pair) = &left.compared {
                    let (left, right) = &**pair;
                    if left.from.is_some() || right.from.is_some() {
                        self.guard_relation(jni, relation, left, right);
                    }
                } else if let Some(from) = left.from
                    && matches!(opcode, op::IFEQ | op::IFNE)
                    && self.is_boolean(from)
                {
                    let name = match relation {
                        "isDifferent" => "isTrue",
                        _ => "isFalse",
                    };
                    self.guard(name, "(Z)Z", vec![from.into()]);
                } else if left.from.is_some() || right.from.is_some() {
                    self.guard_relation(jni, relation, left, right);
                }
            }
        }
    }

    fn is_boolean(&self, variable: super::value::Variable) -> bool {
        self.journal.lock_safe().class("boolean") == variable.class
    }

    fn guard_relation<'j>(&self, jni: &Jni<'j>, relation: &str, left: &Held<'j>, right: &Held<'j>) {
        let letter = match left.slot {
            Slot::Long(_) => b'J',
            Slot::Float(_) => b'F',
            Slot::Double(_) => b'D',
            _ => b'I',
        };
        let given: Vec<Value> = vec![
            self.given(jni, left, letter),
            self.given(jni, right, letter),
        ];
        let letter = char::from(letter);
        let descriptor = format!("({letter}{letter})Z");
        if is_ordered(left, right) {
            self.guard(relation, &descriptor, given);
            return;
        }
        // Nothing is less or greater than what is no number.
        let negated = opposite(relation);
        let mut journal = self.journal.lock_safe();
        let holds = journal.operator(negated, &descriptor, given, "boolean");
        drop(journal);
        self.guard("isFalse", "(Z)Z", vec![holds.into()]);
    }
}

fn is_ordered(left: &Held<'_>, right: &Held<'_>) -> bool {
    match (left.slot, right.slot) {
        (Slot::Float(a), Slot::Float(b)) => a.partial_cmp(&b).is_some(),
        (Slot::Double(a), Slot::Double(b)) => a.partial_cmp(&b).is_some(),
        _ => true,
    }
}

/// The name of an operator, and the types of its result and of its second operand.
fn describe(opcode: u8) -> (&'static str, u8, u8) {
    match opcode {
        op::IADD..=op::DREM => {
            let at = usize::from(opcode - op::IADD);
            let letter = b"IJFD"[at % 4];
            (NAMES[at / 4], letter, letter)
        }
        _ => {
            let at = usize::from(opcode - op::ISHL);
            let letter = b"IJ"[at % 2];
            let (name, shifts) = [
                ("shiftLeft", true),
                ("shiftRight", true),
                ("shiftRightUnsigned", true),
                ("and", false),
                ("or", false),
                ("xor", false),
            ][at / 2];
            (name, letter, if shifts { b'I' } else { letter })
        }
    }
}

/// Nothing where the JVM throws.
fn compute<'j>(opcode: u8, left: Slot<'j>, right: Slot<'j>) -> Option<Slot<'j>> {
    Some(match (left, right) {
        (Slot::Int(a), Slot::Int(b)) => Slot::Int(match opcode {
            op::IADD => a.wrapping_add(b),
            op::ISUB => a.wrapping_sub(b),
            op::IMUL => a.wrapping_mul(b),
            op::IDIV if b != 0 => a.wrapping_div(b),
            op::IREM if b != 0 => a.wrapping_rem(b),
            op::ISHL => a.wrapping_shl(b as u32),
            op::ISHR => a.wrapping_shr(b as u32),
            op::IUSHR => (a as u32).wrapping_shr(b as u32) as i32,
            op::IAND => a & b,
            op::IOR => a | b,
            op::IXOR => a ^ b,
            _ => return None,
        }),
        (Slot::Long(a), Slot::Long(b)) => Slot::Long(match opcode {
            op::LADD => a.wrapping_add(b),
            op::LSUB => a.wrapping_sub(b),
            op::LMUL => a.wrapping_mul(b),
            op::LDIV if b != 0 => a.wrapping_div(b),
            op::LREM if b != 0 => a.wrapping_rem(b),
            op::LAND => a & b,
            op::LOR => a | b,
            op::LXOR => a ^ b,
            _ => return None,
        }),
        (Slot::Long(a), Slot::Int(b)) => Slot::Long(match opcode {
            op::LSHL => a.wrapping_shl(b as u32),
            op::LSHR => a.wrapping_shr(b as u32),
            op::LUSHR => (a as u64).wrapping_shr(b as u32) as i64,
            _ => return None,
        }),
        (Slot::Float(a), Slot::Float(b)) => Slot::Float(match opcode {
            op::FADD => a + b,
            op::FSUB => a - b,
            op::FMUL => a * b,
            op::FDIV => a / b,
            _ => a % b,
        }),
        (Slot::Double(a), Slot::Double(b)) => Slot::Double(match opcode {
            op::DADD => a + b,
            op::DSUB => a - b,
            op::DMUL => a * b,
            op::DDIV => a / b,
            _ => a % b,
        }),
        _ => return None,
    })
}

/// Negation and conversions, as Java defines them; casts of Rust saturate as Java's do.
fn convert(opcode: u8, slot: Slot<'_>) -> Slot<'_> {
    match (opcode, slot) {
        (op::INEG, Slot::Int(v)) => Slot::Int(v.wrapping_neg()),
        (op::LNEG, Slot::Long(v)) => Slot::Long(v.wrapping_neg()),
        (op::FNEG, Slot::Float(v)) => Slot::Float(-v),
        (op::DNEG, Slot::Double(v)) => Slot::Double(-v),
        (op::I2L, Slot::Int(v)) => Slot::Long(i64::from(v)),
        (op::I2F, Slot::Int(v)) => Slot::Float(v as f32),
        (op::I2D, Slot::Int(v)) => Slot::Double(f64::from(v)),
        (op::L2I, Slot::Long(v)) => Slot::Int(v as i32),
        (op::L2F, Slot::Long(v)) => Slot::Float(v as f32),
        (op::L2D, Slot::Long(v)) => Slot::Double(v as f64),
        (op::F2I, Slot::Float(v)) => Slot::Int(v as i32),
        (op::F2L, Slot::Float(v)) => Slot::Long(v as i64),
        (op::F2D, Slot::Float(v)) => Slot::Double(f64::from(v)),
        (op::D2I, Slot::Double(v)) => Slot::Int(v as i32),
        (op::D2L, Slot::Double(v)) => Slot::Long(v as i64),
        (op::D2F, Slot::Double(v)) => Slot::Float(v as f32),
        (op::I2B, Slot::Int(v)) => Slot::Int(i32::from(v as i8)),
        (op::I2C, Slot::Int(v)) => Slot::Int(i32::from(v as u16)),
        (op::I2S, Slot::Int(v)) => Slot::Int(i32::from(v as i16)),
        (_, slot) => slot,
    }
}

/// -1, 0 or 1, and what was compared.
pub(super) fn compare<'j>(opcode: u8, left: Held<'j>, right: Held<'j>) -> Held<'j> {
    let order = match (left.slot, right.slot) {
        (Slot::Long(a), Slot::Long(b)) => Some(a.cmp(&b)),
        (Slot::Float(a), Slot::Float(b)) => a.partial_cmp(&b),
        (Slot::Double(a), Slot::Double(b)) => a.partial_cmp(&b),
        _ => None,
    };
    let result = match (order, opcode) {
        (Some(order), _) => order as i32,
        (None, op::FCMPL | op::DCMPL) => -1,
        (None, _) => 1,
    };
    Held {
        slot: Slot::Int(result),
        from: None,
        compared: Some(Rc::new((left, right))),
    }
}

fn relation(opcode: u8) -> &'static str {
    match opcode {
        op::IFEQ | op::IF_ICMPEQ => "isEqual",
        op::IFNE | op::IF_ICMPNE => "isDifferent",
        op::IFLT | op::IF_ICMPLT => "isLess",
        op::IFGE | op::IF_ICMPGE => "isAtLeast",
        op::IFGT | op::IF_ICMPGT => "isGreater",
        _ => "isAtMost",
    }
}

fn opposite(relation: &str) -> &'static str {
    match relation {
        "isEqual" => "isDifferent",
        "isDifferent" => "isEqual",
        "isLess" => "isAtLeast",
        "isAtLeast" => "isLess",
        "isGreater" => "isAtMost",
        _ => "isGreater",
    }
}

fn holds(relation: &str, order: Ordering) -> bool {
    match relation {
        "isEqual" => order.is_eq(),
        "isDifferent" => order.is_ne(),
        "isLess" => order.is_lt(),
        "isAtLeast" => order.is_ge(),
        "isGreater" => order.is_gt(),
        _ => order.is_le(),
    }
}
