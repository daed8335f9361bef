//! Builders that never leave the expression they are made in.
//!
//! Compilers before Java 9 turn `a + b` into `new StringBuilder().append(a).append(b).toString()`.
//! Such a builder is seen by nobody else, so its calls need no probe. This finds who pushed the
//! receiver of a call: the chain must lead, on the stack alone, to a `new` in the same method.

use std::collections::HashMap;

use culprit_classfile::{Instruction, Simulation, op, simulate};

use crate::Error;
use crate::method::{MemberTarget, Weaver};

const BUILDERS: [&str; 2] = ["java/lang/StringBuilder", "java/lang/StringBuffer"];

/// What the search needs of a method, made when it is first asked for.
pub(crate) struct Flow {
    simulation: Simulation,
    /// Instructions in order.
    pcs: Vec<u32>,
    /// Jumps by their target.
    jumps: HashMap<u32, Vec<u32>>,
}

impl Flow {
    fn of(weaver: &Weaver<'_>) -> Result<Flow, Error> {
        let mut pcs = Vec::new();
        let mut jumps: HashMap<u32, Vec<u32>> = HashMap::new();
        for instruction in weaver.code.instructions() {
            let instruction = instruction?;
            pcs.push(instruction.pc);
            for target in instruction.targets() {
                if let Ok(target) = u32::try_from(target) {
                    jumps.entry(target).or_default().push(instruction.pc);
                }
            }
        }
        let simulation = simulate(weaver.code, weaver.pool, weaver.context)?;
        Ok(Flow {
            simulation,
            pcs,
            jumps,
        })
    }

    fn stack_height(&self, pc: u32) -> Option<usize> {
        self.simulation.at(pc).map(|state| state.stack.len())
    }

    /// The instruction that pushed what lies at `height` when `pc` is reached: the last one before
    /// it with less on the stack, provided that nobody jumps in between from elsewhere.
    fn pusher(&self, pc: u32, height: usize) -> Option<u32> {
        let at = self.pcs.binary_search(&pc).ok()?;
        let found = self.pcs[..at]
            .iter()
            .rev()
            .copied()
            .find(|before| self.stack_height(*before).is_none_or(|h| h <= height))?;
        self.stack_height(found)?;
        let joins = self.pcs[..=at].iter().rev().take_while(|p| **p > found);
        for target in joins {
            let from_elsewhere = |jump: &u32| *jump <= found || *jump >= pc;
            if self
                .jumps
                .get(target)
                .is_some_and(|jumps| jumps.iter().any(from_elsewhere))
            {
                return None;
            }
        }
        Some(found)
    }
}

/// Whether a call is on a builder that was made in the same expression.
pub(crate) fn is_fresh_builder(
    weaver: &mut Weaver<'_>,
    instruction: &Instruction<'_>,
    target: &MemberTarget<'_>,
) -> Result<bool, Error> {
    if instruction.opcode != op::INVOKEVIRTUAL || !BUILDERS.contains(&target.owner) {
        return Ok(false);
    }
    if weaver.flow.is_none() {
        weaver.flow = Some(Flow::of(weaver)?);
    }
    let Some(flow) = &weaver.flow else {
        return Ok(false);
    };
    let mut call = *instruction;
    loop {
        let Some(height) = receiver_height(weaver, flow, &call)? else {
            return Ok(false);
        };
        let Some(pusher) = flow.pusher(call.pc, height) else {
            return Ok(false);
        };
        let pushed_by = Instruction::decode(&weaver.code.bytes, pusher)?;
        match pushed_by.opcode {
            op::NEW => return Ok(true),
            op::INVOKEVIRTUAL if is_builder_call(weaver, &pushed_by)? => call = pushed_by,
            _ => return Ok(false),
        }
    }
}

/// A method of a builder that returns the builder itself.
fn is_builder_call(weaver: &Weaver<'_>, call: &Instruction<'_>) -> Result<bool, Error> {
    let Some(index) = call.pool_index() else {
        return Ok(false);
    };
    let member = weaver.pool.member(index)?;
    let returns_itself = member.descriptor.ends_with(&format!(")L{};", member.owner));
    Ok(BUILDERS.contains(&&*member.owner) && returns_itself)
}

/// Where on the stack the receiver of a call lies.
fn receiver_height(
    weaver: &Weaver<'_>,
    flow: &Flow,
    call: &Instruction<'_>,
) -> Result<Option<usize>, Error> {
    let Some(index) = call.pool_index() else {
        return Ok(None);
    };
    let descriptor = weaver.pool.member(index)?.descriptor.into_owned();
    let slots: usize = crate::method::parameter_shapes(&descriptor)?
        .into_iter()
        .map(|shape| usize::from(crate::probe::local_kind(shape).slots()))
        .sum();
    Ok(flow
        .stack_height(call.pc)
        .and_then(|height| height.checked_sub(slots + 1)))
}
