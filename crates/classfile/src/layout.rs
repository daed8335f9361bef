//! Where everything goes, and how instructions are written there.
//!
//! A jump is near until it does not reach; then it takes its far form, for good. Padding of switches may shrink as
//! code moves, but the set of far jumps only grows, so layout ends.

use crate::asm::Asm;
use crate::edit::{EditStep, Insertion};
use crate::error::{Error, Result};
use crate::instruction::{Instruction, Instructions, op};
use crate::relocate::PcMap;

/// The largest code a method can have.
pub(crate) const MAX_CODE: usize = u16::MAX as usize;

/// Where everything goes, and which jumps take a far form.
pub(crate) struct Layout {
    pub(crate) far: Vec<bool>,
    /// For jumps, the index of the instruction jumped to.
    targets: Vec<Option<usize>>,
    pub(crate) map: PcMap,
}

impl Layout {
    pub(crate) fn new(steps: &[EditStep<'_>], length: usize, widen_all: bool) -> Result<Layout> {
        let map = PcMap::new(steps.iter().map(|s| s.instruction.pc), length);
        let mut targets = Vec::with_capacity(steps.len());
        for step in steps {
            let target = match step.instruction.target() {
                Some(pc) if step.replacement.is_none() => Some(map.index(pc, "jump")?),
                _ => None,
            };
            targets.push(target);
        }
        let far = steps.iter().zip(&targets).map(|(step, target)| {
            widen_all
                && target.is_some()
                && !matches!(step.instruction.opcode, op::GOTO_W | op::JSR_W)
        });
        Ok(Layout {
            far: far.collect(),
            targets,
            map,
        })
    }

    /// Lays out until every near jump reaches. Jumps only ever become far, so this ends.
    pub(crate) fn settle(&mut self, entry: usize, steps: &[EditStep<'_>]) -> Result<()> {
        loop {
            let size = self.place(entry, steps);
            if size > MAX_CODE {
                return Err(Error::CodeTooLarge { size });
            }
            let mut changed = false;
            for (i, step) in steps.iter().enumerate() {
                let Some(target) = self.targets[i] else {
                    continue;
                };
                if self.far[i] || matches!(step.instruction.opcode, op::GOTO_W | op::JSR_W) {
                    continue;
                }
                let offset =
                    i64::from(self.map.starts[target]) - i64::from(self.map.instructions[i]);
                if i16::try_from(offset).is_err() {
                    self.far[i] = true;
                    changed = true;
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }

    /// One pass of layout. Gives the size, and stops early when that is too large anyway.
    fn place(&mut self, entry: usize, steps: &[EditStep<'_>]) -> usize {
        let mut at = entry;
        for (i, step) in steps.iter().enumerate() {
            if at > MAX_CODE {
                return at;
            }
            self.map.starts[i] = at as u32;
            at += size(step.before);
            self.map.instructions[i] = at as u32;
            if let (Some(asm), op::NEW) = (step.replacement, step.instruction.opcode) {
                // Frames that speak of the new object must name the instruction that makes it now.
                self.map.instructions[i] += new_inside(asm);
            }
            at += match step.replacement {
                Some(asm) => asm.len(),
                None => new_length(&step.instruction, self.far[i], at),
            };
            self.map.afters[i] = at as u32;
            at += size(step.after);
        }
        self.map.starts[steps.len()] = at as u32;
        at
    }

    pub(crate) fn widened(&self) -> u32 {
        self.far.iter().filter(|far| **far).count() as u32
    }
}

fn new_length(instruction: &Instruction<'_>, far: bool, at: usize) -> usize {
    match instruction.switch() {
        Some(switch) => 1 + (3 - at % 4) + switch.body().len(),
        None if !far => instruction.bytes.len(),
        None if instruction.is_conditional() => 8,
        None => 5,
    }
}

pub(crate) fn emit_instruction(
    out: &mut Vec<u8>,
    instruction: &Instruction<'_>,
    far: bool,
    map: &PcMap,
) -> Result<()> {
    let at = out.len() as i64;
    let offset = |from: i64, target: i64| -> Result<i64> {
        Ok(i64::from(map.starts[map.index(target, "jump")?]) - from)
    };
    if let Some(switch) = instruction.switch() {
        out.push(instruction.opcode);
        out.resize(out.len().next_multiple_of(4), 0);
        let body = switch.body();
        out.extend((offset(at, switch.default_target())? as i32).to_be_bytes());
        out.extend(&body[4..if switch.is_table() { 12 } else { 8 }]);
        for (key, target) in switch.cases() {
            if !switch.is_table() {
                out.extend(key.to_be_bytes());
            }
            out.extend((offset(at, target)? as i32).to_be_bytes());
        }
        return Ok(());
    }
    let Some(target) = instruction.target() else {
        out.extend(instruction.bytes);
        return Ok(());
    };
    match instruction.opcode {
        op::GOTO_W | op::JSR_W => {
            out.push(instruction.opcode);
            out.extend((offset(at, target)? as i32).to_be_bytes());
        }
        op::GOTO | op::JSR if far => {
            out.push(if instruction.opcode == op::GOTO {
                op::GOTO_W
            } else {
                op::JSR_W
            });
            out.extend((offset(at, target)? as i32).to_be_bytes());
        }
        opcode if far => {
            out.push(inverted(opcode));
            out.extend(8_u16.to_be_bytes());
            out.push(op::GOTO_W);
            out.extend((offset(at + 3, target)? as i32).to_be_bytes());
        }
        opcode => {
            out.push(opcode);
            out.extend((offset(at, target)? as i16).to_be_bytes());
        }
    }
    Ok(())
}

/// The conditional jump that jumps exactly when this one does not.
fn inverted(opcode: u8) -> u8 {
    match opcode {
        op::IFNULL => op::IFNONNULL,
        op::IFNONNULL => op::IFNULL,
        _ => ((opcode + 1) ^ 1) - 1,
    }
}

/// Offset of the first `new` in a replacement.
fn new_inside(asm: &Asm) -> u32 {
    let mut all = Instructions::new(asm.bytes()).filter_map(Result::ok);
    all.find(|i| i.opcode == op::NEW).map_or(0, |i| i.pc)
}

fn size(insertions: &[Insertion]) -> usize {
    insertions.iter().map(|i| i.asm.len()).sum()
}
