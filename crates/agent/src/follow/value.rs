//! Values of the interpreter: each is what the JVM would have on its operand stack, with its origin, which is
//! the variable of the script that holds it.

use std::rc::Rc;

use culprit_jvmti::{Local, Passed};
use culprit_model::value::Shape;
use culprit_model::{ObjectId, TypeId, Value};

/// A value on the operand stack or in a local variable.
#[derive(Clone)]
pub(super) struct Held<'j> {
    pub(super) slot: JvmValue<'j>,
    /// The variable that holds it in the script. A value without one is the driver's own, and a literal in the
    /// script. Objects other than strings and boxed values have their names in their JVMTI tags instead.
    pub(super) origin: Option<Variable>,
    /// Of the result of a comparison (`lcmp` and the like): the two values.
    pub(super) compared: Option<Rc<(Held<'j>, Held<'j>)>>,
}

/// A value as the JVM has it.
#[derive(Clone, Copy)]
pub(super) enum JvmValue<'j> {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Reference(Option<Local<'j>>),
    /// An object that no constructor has seen, made by the instruction at a pc.
    New(u32),
}

impl<'j> JvmValue<'j> {
    /// A scalar as the operand stack has it: the small types as an `int`.
    pub(super) fn of_scalar(value: &Value) -> JvmValue<'j> {
        match value {
            Value::Boolean(v) => JvmValue::Int(i32::from(*v)),
            Value::Byte(v) => JvmValue::Int(i32::from(*v)),
            Value::Short(v) => JvmValue::Int(i32::from(*v)),
            Value::Char(v) => JvmValue::Int(i32::from(*v)),
            Value::Int(v) => JvmValue::Int(*v),
            Value::Long(v) => JvmValue::Long(*v),
            Value::Float(v) => JvmValue::Float(*v),
            Value::Double(v) => JvmValue::Double(*v),
            Value::Reference(_) => JvmValue::Reference(None),
        }
    }
}

/// A variable of the script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Variable {
    pub(super) id: ObjectId,
    pub(super) class: TypeId,
}

impl<'j> Held<'j> {
    pub(super) fn new(slot: JvmValue<'j>) -> Held<'j> {
        Held {
            slot,
            origin: None,
            compared: None,
        }
    }

    pub(super) fn with(slot: JvmValue<'j>, origin: Option<Variable>) -> Held<'j> {
        Held {
            slot,
            origin,
            compared: None,
        }
    }

    pub(super) fn int(value: i32) -> Held<'j> {
        Held::new(JvmValue::Int(value))
    }

    pub(super) fn null() -> Held<'j> {
        Held::new(JvmValue::Reference(None))
    }

    /// A value that the JVM returned.
    pub(super) fn passed(value: Passed<'j>) -> Held<'j> {
        Held::new(match value {
            Passed::Boolean(v) => JvmValue::Int(i32::from(v)),
            Passed::Byte(v) => JvmValue::Int(i32::from(v)),
            Passed::Short(v) => JvmValue::Int(i32::from(v)),
            Passed::Char(v) => JvmValue::Int(i32::from(v)),
            Passed::Int(v) => JvmValue::Int(v),
            Passed::Long(v) => JvmValue::Long(v),
            Passed::Float(v) => JvmValue::Float(v),
            Passed::Double(v) => JvmValue::Double(v),
            Passed::Reference(v) => JvmValue::Reference(v),
        })
    }

    /// As the JVM takes it, for a parameter or field whose descriptor begins with a letter.
    pub(super) fn to_pass(&self, letter: u8) -> Passed<'j> {
        match (self.slot, letter) {
            (JvmValue::Int(v), b'Z') => Passed::Boolean(v & 1 != 0),
            (JvmValue::Int(v), b'B') => Passed::Byte(v as i8),
            (JvmValue::Int(v), b'S') => Passed::Short(v as i16),
            (JvmValue::Int(v), b'C') => Passed::Char(v as u16),
            (JvmValue::Int(v), _) => Passed::Int(v),
            (JvmValue::Long(v), _) => Passed::Long(v),
            (JvmValue::Float(v), _) => Passed::Float(v),
            (JvmValue::Double(v), _) => Passed::Double(v),
            (JvmValue::Reference(v), _) => Passed::Reference(v),
            (JvmValue::New(_), _) => Passed::Reference(None),
        }
    }

    /// Whether it takes two places of the stack.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.slot, JvmValue::Long(_) | JvmValue::Double(_))
    }

    pub(super) fn reference(&self) -> Option<Local<'j>> {
        match self.slot {
            JvmValue::Reference(reference) => reference,
            _ => None,
        }
    }

    /// Calls something with each reference that it is or has in it.
    pub(super) fn each_reference(&self, f: &mut impl FnMut(Local<'j>)) {
        self.reference().into_iter().for_each(&mut *f);
        if let Some(pair) = &self.compared {
            pair.0.each_reference(f);
            pair.1.each_reference(f);
        }
    }

    /// The number that this is; null for a reference.
    pub(super) fn scalar(&self) -> Value {
        match self.slot {
            JvmValue::Int(v) => Value::Int(v),
            JvmValue::Long(v) => Value::Long(v),
            JvmValue::Float(v) => Value::Float(v),
            JvmValue::Double(v) => Value::Double(v),
            JvmValue::Reference(_) | JvmValue::New(_) => Value::zero(Shape::Reference),
        }
    }

    pub(super) fn as_int(&self) -> i32 {
        match self.slot {
            JvmValue::Int(v) => v,
            _ => 0,
        }
    }
}
