//! Exceptions: which instruction has thrown, and where control continues.

use super::activation::Activation;
use super::{ThreadStep, World};
use crate::graph::Dependence;
use crate::operation::Operation;
use crate::program::{Program, Step};
use crate::shadow::Slot;

impl ThreadStep<'_, '_> {
    /// An exception leaves the activation of a depth.
    pub(super) fn left(&mut self, depth: u32, exception: u32) -> Option<()> {
        self.unwind_to(depth);
        let Some(mut activation) = self.thread.activations.pop() else {
            self.world.misfits += 1;
            return Some(());
        };
        let flying = self.thread.flying.take();
        let thrown = activation.thrown(self.program, self.world, flying, exception)?;
        self.world.forget(&activation);
        self.thread.flying = Some((exception, thrown));
        self.thread.left = thrown.definition;
        if self.thread.activations.is_empty() && self.thread.statement.is_some() {
            self.world.exception = thrown.definition;
        }
        Some(())
    }

    /// A handler of the activation of a depth begins.
    pub(super) fn caught(&mut self, block: u32, depth: u32, exception: u32) -> Option<()> {
        self.unwind_to(depth);
        let Some(activation) = self.thread.activations.last_mut() else {
            self.world.misfits += 1;
            return Some(());
        };
        let method = activation.method(self.program);
        let handler = block.wrapping_sub(method.first_block) as usize;
        if handler + 1 >= method.blocks.len() {
            self.world.misfits += 1;
            return Some(());
        }
        let flying = self.thread.flying.take();
        let thrown = activation.thrown(self.program, self.world, flying, exception)?;
        let graph = &method.post_dominators;
        let thrown_in = activation.block;
        activation.regions.leave_for(handler, graph);
        activation.enter_handler(self.program, handler);
        let node = activation.node(self.program, self.world, thrown.parent())?;
        activation.regions.catch(node, thrown_in, handler, graph);
        let slot = Slot::of(node, Dependence::Exception).with_object(exception);
        activation.stack = vec![slot];
        Some(())
    }
}

impl Activation {
    /// The exception that the instruction which is under way has thrown, or that has passed through it.
    fn thrown(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        flying: Option<(u32, Slot)>,
        exception: u32,
    ) -> Option<Slot> {
        if let (Some(_), Some((id, slot))) = (&self.pending, flying)
            && id == exception
        {
            return Some(slot);
        }
        while let Some(step) = self.step(program) {
            if step.may_throw && !is_silent_write(&step) || self.pending.is_some() {
                break;
            }
            self.run_one(program, world)?;
        }
        let operation = self
            .step(program)
            .map_or(Operation::None, |step| step.operation);
        let mut parents: Vec<_> = match operation {
            Operation::Invoke { call } => {
                let slots = program
                    .calls
                    .get(call as usize)
                    .map_or(0, |it| it.argument_slots());
                self.top(slots)
                    .iter()
                    .filter_map(|slot| slot.parent())
                    .collect()
            }
            operation => {
                let stored = stored(operation, world.class(exception));
                let operands = self.top(operands(operation));
                let operands = operands.iter().take(operands.len().saturating_sub(stored));
                operands.filter_map(|slot| slot.parent()).collect()
            }
        };
        if let Some(pending) = self.pending.take() {
            parents.push((pending.node, Dependence::Value));
            let callbacks = pending.callbacks.iter();
            parents.extend(callbacks.map(|node| (*node, Dependence::Return)));
            // The code in between may have thrown another exception instead.
            parents.extend(flying.and_then(|(_, slot)| slot.parent()));
        }
        let node = self.node(program, world, parents)?;
        Some(Slot::of(node, Dependence::Exception).with_object(exception))
    }
}

/// A write to an object that is not initialised reports nothing, and cannot throw.
fn is_silent_write(step: &Step) -> bool {
    matches!(step.operation, Operation::PutField { .. }) && !step.reports
}

/// The slots of the value that an instruction was to store. It does not decide whether the instruction throws, unless it does not
/// fit into the array.
fn stored(operation: Operation, exception: Option<&str>) -> usize {
    match operation {
        Operation::StoreElement { .. } if exception == Some("java/lang/ArrayStoreException") => 0,
        Operation::PutField { slots, .. } | Operation::StoreElement { slots } => usize::from(slots),
        _ => 0,
    }
}

/// The slots of the operands of an instruction that has thrown.
fn operands(operation: Operation) -> usize {
    usize::from(match operation {
        Operation::Compute { pops, .. } | Operation::NewArray { pops } => pops,
        Operation::GetField {
            is_static: false, ..
        } => 1,
        Operation::PutField {
            slots, is_static, ..
        } => slots + u8::from(!is_static),
        Operation::LoadElement { .. } => 2,
        Operation::StoreElement { slots } => slots + 2,
        Operation::Throw | Operation::Check => 1,
        Operation::Pop { slots } => slots,
        _ => 0,
    })
}
