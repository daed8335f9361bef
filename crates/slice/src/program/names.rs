//! The roles of instructions, with the names that the source has for them.

use super::{Method, Program};
use crate::operation::Operation;

/// The part that an instruction has in a line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// Assigns a local variable, whose name is known if the class was compiled with it.
    Variable(Option<String>),
    /// Writes a field.
    Field(String),
    /// Writes a static field.
    Static(String),
    /// Writes an element of an array.
    Element,
    /// Decides where to continue.
    Branch,
    /// Calls a method of this name.
    Call(String),
    /// Ends a method of this name with a result.
    Return(String),
    /// Computes or reads a value.
    Value,
}

impl Program {
    /// The role of an instruction.
    pub fn role(&self, instruction: u32) -> Role {
        let Some((method, at)) = self.step_of(instruction) else {
            return Role::Value;
        };
        let Some(step) = method.steps.get(at) else {
            return Role::Value;
        };
        match step.operation {
            Operation::Store { local, .. } | Operation::Increment { local } => {
                // A variable begins behind the instruction that assigns it first.
                let next = method.steps.get(at + 1).map_or(step.pc + 1, |it| it.pc);
                let names = &method.variables;
                let name = names.name_at(local, next);
                let name = name.or_else(|| names.name_at(local, step.pc));
                Role::Variable(name.map(str::to_owned))
            }
            Operation::PutField {
                field, is_static, ..
            } => {
                let name = self.field_name(field).unwrap_or_default().to_owned();
                match is_static {
                    true => Role::Static(name),
                    false => Role::Field(name),
                }
            }
            Operation::StoreElement { .. } => Role::Element,
            Operation::Branch { .. } => Role::Branch,
            Operation::Invoke { call } => {
                let call = self.calls.get(call as usize);
                Role::Call(call.map(|it| it.name.clone()).unwrap_or_default())
            }
            Operation::Return { .. } => Role::Return(method.name.clone()),
            _ => Role::Value,
        }
    }

    /// True for an instruction that throws an exception it is given.
    pub fn is_throw(&self, instruction: u32) -> bool {
        let step = self.step_of(instruction);
        let step = step.and_then(|(method, at)| method.steps.get(at));
        step.is_some_and(|step| matches!(step.operation, Operation::Throw))
    }

    fn step_of(&self, instruction: u32) -> Option<(&Method, usize)> {
        let after = self
            .methods
            .partition_point(|it| it.first_instruction <= instruction);
        let method = self.methods.get(after.checked_sub(1)?)?;
        Some((method, (instruction - method.first_instruction) as usize))
    }

    fn field_name(&self, field: u32) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(_, number)| **number == field)?;
        Some(&found.0.1)
    }
}
