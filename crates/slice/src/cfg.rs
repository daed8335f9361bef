//! The control flow graph of a method: its blocks, and the edges of jumps, switches and `athrow`.
//!
//! Any call may throw, and any access of a null object; with an edge for each of them, every statement of a method would
//! depend on all before it that could have thrown and did not. So the graph has exceptional edges of `athrow` alone, to
//! the handlers that cover it, and `control` adds those that a run takes.

use culprit_classfile::{Code, op};

use crate::postdominators::PostDominators;

/// The blocks of a method and their edges. The block after the last is the exit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfg {
    successors: Vec<Vec<usize>>,
}

impl Cfg {
    /// The graph of a method whose blocks begin at these places, in order, the first at 0. `None` if an edge leads to
    /// no block.
    pub fn of(code: &Code, starts: &[u16]) -> Option<Cfg> {
        let exit = starts.len();
        let block_at = |pc: i64| {
            let pc = u16::try_from(pc).ok()?;
            starts.binary_search(&pc).ok()
        };
        let mut successors = vec![Vec::new(); exit];
        let mut block = 0;
        for instruction in code.instructions() {
            let instruction = instruction.ok()?;
            if let Some(next) = block_at(i64::from(instruction.pc)) {
                block = next;
            }
            let edges = successors.get_mut(block)?;
            for target in instruction.targets() {
                edges.push(block_at(target)?);
            }
            if instruction.is_return() {
                edges.push(exit);
            }
            if instruction.opcode == op::ATHROW {
                let mut is_caught = false;
                for handler in &code.handlers {
                    let range = u32::from(handler.start)..u32::from(handler.end);
                    if !is_caught && range.contains(&instruction.pc) {
                        edges.push(block_at(i64::from(handler.handler))?);
                        is_caught = handler.catch_type == 0;
                    }
                }
                if !is_caught {
                    edges.push(exit);
                }
            }
            if instruction.falls_through() {
                if let Some(next) = block_at(i64::from(instruction.next_pc())) {
                    edges.push(next);
                }
            }
        }
        for edges in &mut successors {
            edges.sort_unstable();
            edges.dedup();
        }
        Some(Cfg { successors })
    }

    /// The blocks that may follow each block.
    pub fn successors(&self) -> &[Vec<usize>] {
        &self.successors
    }

    /// The post-dominators of the blocks.
    pub fn post_dominators(&self) -> PostDominators {
        PostDominators::of(&self.successors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_classfile::Handler;

    fn code(bytes: &[u8], handlers: Vec<Handler>) -> Code {
        Code {
            max_stack: 9,
            max_locals: 9,
            bytes: bytes.to_vec(),
            handlers,
            attributes: Vec::new(),
        }
    }

    #[test]
    fn a_branch_has_two_successors_and_a_return_the_exit() {
        let bytes = [op::ICONST_0, op::IFEQ, 0, 4, op::RETURN, op::RETURN];
        let cfg = Cfg::of(&code(&bytes, Vec::new()), &[0, 4, 5]).unwrap();
        assert_eq!(cfg.successors(), [vec![1, 2], vec![3], vec![3]]);
    }

    #[test]
    fn a_throw_leads_to_the_handlers_that_cover_it() {
        let bytes = [op::ACONST_NULL, op::ATHROW, op::ATHROW, op::ATHROW];
        let handler = |handler, catch_type| Handler {
            start: 0,
            end: 2,
            handler,
            catch_type,
        };
        let starts = [0, 2, 3];
        let some = code(&bytes, vec![handler(2, 7)]);
        let cfg = Cfg::of(&some, &starts).unwrap();
        assert_eq!(cfg.successors(), [vec![1, 3], vec![3], vec![3]]);
        let any = code(&bytes, vec![handler(2, 0), handler(3, 0)]);
        let cfg = Cfg::of(&any, &starts).unwrap();
        assert_eq!(cfg.successors(), [vec![1], vec![3], vec![3]]);
    }

    #[test]
    fn an_edge_to_no_block_is_refused() {
        let bytes = [op::GOTO, 0, 3, op::RETURN];
        assert_eq!(Cfg::of(&code(&bytes, Vec::new()), &[0]), None);
    }
}
