//! Values of the interpreter: each is what the JVM would have on its operand stack, with its origin, which is
//! the variable of the script that holds it.

use std::rc::Rc;

use culprit_jvmti::{Local, Passed};
use culprit_model::value::Shape;
use culprit_model::{ObjectId, TypeId, Value};

/// A value on the operand stack or in a local variable.
#[derive(Clone)]
pub(super) struct Held<'j> {
    pub(super) slot: Slot<'j>,
    /// The variable that holds it in the script. A value without one is the driver's own, and a literal in the
    /// script. Objects other than strings and boxed values have their names in their JVMTI tags instead.
    pub(super) origin: Option<Variable>,
    /// Of the result of a comparison (`lcmp` and the like): the two values.
    pub(super) compared: Option<Rc<(Held<'j>, Held<'j>)>>,
}

/// A value as the JVM has it.
#[derive(Clone, Copy)]
pub(super) enum Slot<'j> {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Reference(Option<Local<'j>>),
    /// An object that no constructor has seen, made by the instruction at a pc.
    New(u32),
}

impl<'j> Slot<'j> {
    /// A scalar as the operand stack has it: the small types as an `int`.
    pub(super) fn of_scalar(value: &Value) -> Slot<'j> {
        match value {
            Value::Boolean(v) => Slot::Int(i32::from(*v)),
            Value::Byte(v) => Slot::Int(i32::from(*v)),
            Value::Short(v) => Slot::Int(i32::from(*v)),
            Value::Char(v) => Slot::Int(i32::from(*v)),
            Value::Int(v) => Slot::Int(*v),
            Value::Long(v) => Slot::Long(*v),
            Value::Float(v) => Slot::Float(*v),
            Value::Double(v) => Slot::Double(*v),
            Value::Reference(_) => Slot::Reference(None),
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
    pub(super) fn new(slot: Slot<'j>) -> Held<'j> {
        Held {
            slot,
            origin: None,
            compared: None,
        }
    }

    pub(super) fn with(slot: Slot<'j>, origin: Option<Variable>) -> Held<'j> {
        Held {
            slot,
            origin,
            compared: None,
        }
    }

    pub(super) fn int(value: i32) -> Held<'j> {
        Held::new(Slot::Int(value))
    }

    pub(super) fn null() -> Held<'j> {
        Held::new(Slot::Reference(None))
    }

    /// A value that the JVM returned.
    pub(super) fn passed(value: Passed<'j>) -> Held<'j> {
        Held::new(match value {
            Passed::Boolean(v) => Slot::Int(i32::from(v)),
            Passed::Byte(v) => Slot::Int(i32::from(v)),
            Passed::Short(v) => Slot::Int(i32::from(v)),
            Passed::Char(v) => Slot::Int(i32::from(v)),
            Passed::Int(v) => Slot::Int(v),
            Passed::Long(v) => Slot::Long(v),
            Passed::Float(v) => Slot::Float(v),
            Passed::Double(v) => Slot::Double(v),
            Passed::Reference(v) => Slot::Reference(v),
        })
    }

    /// As the JVM takes it, for a parameter or field whose descriptor begins with a letter.
    pub(super) fn to_pass(&self, letter: u8) -> Passed<'j> {
        match (self.slot, letter) {
            (Slot::Int(v), b'Z') => Passed::Boolean(v & 1 != 0),
            (Slot::Int(v), b'B') => Passed::Byte(v as i8),
            (Slot::Int(v), b'S') => Passed::Short(v as i16),
            (Slot::Int(v), b'C') => Passed::Char(v as u16),
            (Slot::Int(v), _) => Passed::Int(v),
            (Slot::Long(v), _) => Passed::Long(v),
            (Slot::Float(v), _) => Passed::Float(v),
            (Slot::Double(v), _) => Passed::Double(v),
            (Slot::Reference(v), _) => Passed::Reference(v),
            (Slot::New(_), _) => Passed::Reference(None),
        }
    }

    /// Whether it takes two places of the stack.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.slot, Slot::Long(_) | Slot::Double(_))
    }

    pub(super) fn reference(&self) -> Option<Local<'j>> {
        match self.slot {
            Slot::Reference(reference) => reference,
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
            Slot::Int(v) => Value::Int(v),
            Slot::Long(v) => Value::Long(v),
            Slot::Float(v) => Value::Float(v),
            Slot::Double(v) => Value::Double(v),
            Slot::Reference(_) | Slot::New(_) => Value::zero(Shape::Reference),
        }
    }

    pub(super) fn as_int(&self) -> i32 {
        match self.slot {
            Slot::Int(v) => v,
            _ => 0,
        }
    }
}
