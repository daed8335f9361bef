//! An activation of a method: executes instructions on shadows.

use culprit_trace::instructions::{Event, EventKind};

use super::World;
use super::calls::Pending;
use crate::control::RegionStack;
use crate::graph::{DefinedValue, Dependence, NodeId, Origin};
use crate::operation::{Operation, ValueKind};
use crate::program::{Method, Program, Step};
use crate::shadow::{ArrayCopy, Cell, FRESH, Part, Slot};

/// Locals that all open activations may have together: the last local of a method has its place with a single store.
const MOST_LOCALS: usize = 1 << 24;

/// The report of an instruction that is done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Report {
    Field { object: u32, value: u64 },
    Element { array: u32, index: u32, value: u64 },
    Result(u64),
    Array(u32),
    Done,
}

/// An activation of a method.
pub(super) struct Activation {
    pub(super) method: usize,
    pub(super) depth: u32,
    /// The block that is run, and the next instruction in it.
    pub(super) block: usize,
    pub(super) next: usize,
    pub(super) locals: Vec<Slot>,
    pub(super) stack: Vec<Slot>,
    pub(super) regions: RegionStack,
    /// The call that began it.
    pub(super) caller: Option<NodeId>,
    /// The instruction that is under way, if it has called something.
    pub(super) pending: Option<Pending>,
    /// The copy that was reported before the end of its call.
    pub(super) copy: Option<ReportedCopy>,
    /// The receiver of the last constructor call.
    pub(super) constructed: u32,
    /// The value that it returns.
    pub(super) returned: Option<Slot>,
    /// Its entry, and the next argument there.
    pub(super) entry: usize,
    pub(super) argument: usize,
    pub(super) argument_slot: usize,
    /// It is called by the call site that is under way in its caller, and not by code in between.
    pub(super) is_direct: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ReportedCopy {
    Elements(ArrayCopy),
    Object { original: u32, copy: u32 },
}

impl Activation {
    pub(super) fn method<'p>(&self, program: &'p Program) -> &'p Method {
        &program.methods[self.method]
    }

    /// The instruction that is next, unless the block is over.
    pub(super) fn step(&self, program: &Program) -> Option<Step> {
        let method = self.method(program);
        let end = method.blocks.get(self.block + 1).copied().unwrap_or(0);
        method
            .steps
            .get(self.next)
            .copied()
            .filter(|_| self.next < end)
    }

    /// The origin of the instruction that is next.
    pub(super) fn origin(&self, program: &Program) -> Origin {
        let method = self.method(program);
        let last = method.steps.len().saturating_sub(1);
        Origin::Instruction(method.first_instruction + self.next.min(last) as u32)
    }

    /// The branch or call because of which the current instruction runs.
    pub(super) fn control(&self) -> Option<NodeId> {
        self.regions.current().or(self.caller)
    }

    /// Pops a value; its lowest slot.
    pub(super) fn pop(&mut self, slots: u8) -> Slot {
        let left = self.stack.len().saturating_sub(usize::from(slots));
        let slot = self.stack.get(left).copied().unwrap_or(Slot::UNKNOWN);
        self.stack.truncate(left);
        slot
    }

    pub(super) fn push(&mut self, slot: Slot, slots: u8) {
        self.stack.extend((0..slots).map(|_| slot));
    }

    /// The topmost slots.
    pub(super) fn top(&self, slots: usize) -> &[Slot] {
        &self.stack[self.stack.len().saturating_sub(slots)..]
    }

    /// Sets a local; `None` if all activations have too many.
    fn set_local(
        &mut self,
        world: &mut World<'_>,
        local: u16,
        slots: u8,
        slot: Slot,
    ) -> Option<()> {
        let end = usize::from(local) + usize::from(slots);
        if self.locals.len() < end {
            world.locals += end - self.locals.len();
            if world.locals > MOST_LOCALS {
                return None;
            }
            self.locals.resize(end, Slot::UNKNOWN);
        }
        self.locals[usize::from(local)..end].fill(slot);
        Some(())
    }

    fn local(&self, local: u16) -> Slot {
        let slot = self.locals.get(usize::from(local));
        slot.copied().unwrap_or(Slot::UNKNOWN)
    }

    /// Adds a node for the instruction that is next.
    pub(super) fn node(
        &self,
        program: &Program,
        world: &mut World<'_>,
        parents: impl IntoIterator<Item = (NodeId, Dependence)>,
    ) -> Option<NodeId> {
        world
            .graph
            .add(self.origin(program), self.control(), parents)
    }

    /// Executes instructions up to the next one that reports.
    pub(super) fn run(&mut self, program: &Program, world: &mut World<'_>) -> Option<()> {
        while let Some(step) = self.step(program) {
            if step.reports {
                break;
            }
            self.execute(program, world, &step, Report::Done)?;
        }
        Some(())
    }

    /// Executes the instruction that is next, whether it reports or not.
    pub(super) fn run_one(&mut self, program: &Program, world: &mut World<'_>) -> Option<()> {
        match self.step(program) {
            Some(step) => self.execute(program, world, &step, Report::Done),
            None => Some(()),
        }
    }

    /// The next instruction that reports is done.
    pub(super) fn report(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        report: Report,
    ) -> Option<()> {
        self.run(program, world)?;
        match self.step(program) {
            Some(step) if fits(step.operation, report) => {
                self.execute(program, world, &step, report)
            }
            _ => {
                world.misfits += 1;
                Some(())
            }
        }
    }

    /// Another block begins.
    pub(super) fn go_on_with(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        number: u32,
    ) -> Option<()> {
        let method = self.method(program);
        let block = number.wrapping_sub(method.first_block) as usize;
        if block + 1 >= method.blocks.len() {
            world.misfits += 1;
            return Some(());
        }
        if (block, self.block, self.next) == (0, 0, 0) {
            return Some(());
        }
        self.run(program, world)?;
        if self.step(program).is_some() {
            world.misfits += 1;
        }
        self.begin(program, block);
        Some(())
    }

    fn begin(&mut self, program: &Program, block: usize) {
        self.regions.reach(block);
        self.enter_handler(program, block);
    }

    /// Continues with a block whose regions are known.
    pub(super) fn enter_handler(&mut self, program: &Program, block: usize) {
        let method = self.method(program);
        self.block = block;
        self.next = method.blocks.get(block).copied().unwrap_or(0);
        self.pending = None;
        self.copy = None;
    }

    /// Executes the instruction that is next, which is done.
    fn execute(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        step: &Step,
        report: Report,
    ) -> Option<()> {
        world.instructions += 1;
        match step.operation {
            Operation::None | Operation::Check => {}
            Operation::Constant { slots } => {
                let node = self.node(program, world, [])?;
                self.push(Slot::of(node, Dependence::Value), slots);
            }
            Operation::Load { local, slots } => {
                let slot = self.local(local);
                self.push(slot, slots);
            }
            Operation::Store { local, slots } => {
                let value = self.pop(slots);
                let node = self.node(program, world, value.parent())?;
                let stored = value.definition.and_then(|it| world.graph.value(it));
                if let Some(stored) = stored {
                    world.graph.define(node, stored);
                }
                let slot = Slot::of(node, Dependence::Value).with_object(value.object);
                self.set_local(world, local, slots, slot)?;
            }
            Operation::Increment { local } => {
                let node = self.node(program, world, self.local(local).parent())?;
                self.set_local(world, local, 1, Slot::of(node, Dependence::Value))?;
            }
            Operation::Compute { pops, pushes } => {
                let node = self.operand_node(program, world, usize::from(pops))?;
                self.pop(pops);
                self.push(Slot::of(node, Dependence::Value), pushes);
            }
            Operation::Copy { count, under } => {
                let (count, under) = (usize::from(count), usize::from(under));
                let copied = self.top(count).to_vec();
                let at = self.stack.len().saturating_sub(count + under);
                self.stack.splice(at..at, copied);
            }
            Operation::Swap => {
                if let [.., one, other] = self.stack.as_mut_slice() {
                    std::mem::swap(one, other);
                }
            }
            Operation::Pop { slots } => drop(self.pop(slots)),
            Operation::Branch { pops } => {
                let node = self.operand_node(program, world, usize::from(pops))?;
                self.pop(pops);
                let graph = &self.method(program).post_dominators;
                self.regions.branch(node, self.block, graph);
            }
            Operation::GetField { .. } | Operation::PutField { .. } => {
                self.field(program, world, step, report)?;
            }
            Operation::LoadElement { .. } | Operation::StoreElement { .. } => {
                self.element(program, world, step, report)?;
            }
            Operation::Invoke { call } => {
                let value = match report {
                    Report::Result(value) => value,
                    _ => 0,
                };
                self.end_call(program, world, call, value)?;
            }
            Operation::New => {
                let node = self.node(program, world, [])?;
                let fresh = world.heap.fresh();
                self.push(Slot::of(node, Dependence::Value).with_object(fresh), 1);
            }
            Operation::NewArray { pops } => {
                let node = self.operand_node(program, world, usize::from(pops))?;
                self.pop(pops);
                let object = match report {
                    Report::Array(object) => object,
                    _ => 0,
                };
                self.push(Slot::of(node, Dependence::Value).with_object(object), 1);
            }
            Operation::Return { slots } => {
                if slots > 0 {
                    let value = self.pop(slots);
                    let node = self.node(program, world, value.parent())?;
                    let slot = Slot::of(node, Dependence::Return).with_object(value.object);
                    self.returned = Some(slot);
                }
            }
            Operation::Throw => drop(self.pop(1)),
        }
        self.pending = None;
        self.next += 1;
        Some(())
    }

    /// A node that uses the topmost slots.
    fn operand_node(
        &self,
        program: &Program,
        world: &mut World<'_>,
        slots: usize,
    ) -> Option<NodeId> {
        let parents = self.top(slots).iter().filter_map(|slot| slot.parent());
        self.node(program, world, parents)
    }

    fn field(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        step: &Step,
        report: Report,
    ) -> Option<()> {
        let kind = step.value.unwrap_or(ValueKind::Int);
        let (reported, bits) = match report {
            Report::Field { object, value } => (Some(object), Some(value)),
            _ => (None, None),
        };
        let reference = |bits: Option<u64>| match kind {
            ValueKind::Object => bits.unwrap_or(0) as u32,
            _ => 0,
        };
        match step.operation {
            Operation::GetField {
                field,
                slots,
                is_static,
            } => {
                let base = match is_static {
                    true => Slot::UNKNOWN,
                    false => self.pop(1),
                };
                let mut parents: Vec<_> = base.base().into_iter().collect();
                match is_static {
                    true => parents.extend(world.heap.read_static(field)),
                    false => {
                        let object = reported.unwrap_or(base.object);
                        parents.extend(world.heap.read(object, Part::Field(field)));
                    }
                }
                let node = self.node(program, world, parents)?;
                if let Some(bits) = bits {
                    world.graph.define(node, DefinedValue::of(kind, bits));
                }
                let slot = Slot::of(node, Dependence::Value).with_object(reference(bits));
                self.push(slot, slots);
            }
            Operation::PutField {
                field,
                slots,
                is_static,
            } => {
                let value = self.pop(slots);
                let base = match is_static {
                    true => Slot::UNKNOWN,
                    false => self.pop(1),
                };
                let parents = value.parent().into_iter().chain(base.base());
                let node = self.node(program, world, parents)?;
                if let Some(bits) = bits {
                    world.graph.define(node, DefinedValue::of(kind, bits));
                }
                let cell = Cell {
                    definition: node,
                    object: bits.map_or(value.object, |bits| reference(Some(bits))),
                };
                match is_static {
                    true => world.heap.write_static(field, cell),
                    false => {
                        let object = reported.unwrap_or(base.object);
                        world.heap.write(object, Part::Field(field), cell);
                    }
                }
            }
            _ => {}
        }
        Some(())
    }

    fn element(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        step: &Step,
        report: Report,
    ) -> Option<()> {
        let kind = step.value.unwrap_or(ValueKind::Int);
        let Report::Element {
            array,
            index,
            value,
        } = report
        else {
            return Some(());
        };
        let reference = match kind {
            ValueKind::Object => value as u32,
            _ => 0,
        };
        let is_store = matches!(step.operation, Operation::StoreElement { .. });
        let stored = match is_store {
            true => self.pop(kind.slots()).parent(),
            false => None,
        };
        let at = self.pop(1);
        let base = self.pop(1);
        let mut parents: Vec<_> = stored
            .into_iter()
            .chain(base.base())
            .chain(at.parent())
            .collect();
        if !is_store {
            parents.extend(world.heap.read(array, Part::Element(index)));
        }
        let node = self.node(program, world, parents)?;
        world.graph.define(node, DefinedValue::of(kind, value));
        if is_store {
            let cell = Cell {
                definition: node,
                object: reference,
            };
            world.heap.write(array, Part::Element(index), cell);
        } else {
            let slot = Slot::of(node, Dependence::Value).with_object(reference);
            self.push(slot, kind.slots());
        }
        Some(())
    }

    /// The object of the last constructor call has this id.
    pub(super) fn initialised(&mut self, world: &mut World<'_>, object: u32) {
        let fresh = self.constructed;
        if fresh & FRESH == 0 || object == 0 {
            return;
        }
        world.heap.name(fresh, object);
        for slot in self.locals.iter_mut().chain(&mut self.stack) {
            if slot.object == fresh {
                slot.object = object;
            }
        }
    }

    /// A copy was made by the call that is under way.
    pub(super) fn copied(
        &mut self,
        program: &Program,
        world: &mut World<'_>,
        event: &Event<'_>,
    ) -> Option<()> {
        self.run(program, world)?;
        self.copy = Some(match event.kind {
            EventKind::Cloned => ReportedCopy::Object {
                original: event.operand,
                copy: event.word(0),
            },
            _ => ReportedCopy::Elements(ArrayCopy {
                from: event.operand,
                at: event.word(0),
                to: event.word(1),
                into: event.word(2),
                length: event.word(3),
            }),
        });
        Some(())
    }
}

/// True if an instruction may report this.
fn fits(operation: Operation, report: Report) -> bool {
    match report {
        Report::Field { .. } => {
            matches!(
                operation,
                Operation::GetField { .. } | Operation::PutField { .. }
            )
        }
        Report::Element { .. } => {
            matches!(
                operation,
                Operation::LoadElement { .. } | Operation::StoreElement { .. }
            )
        }
        Report::Result(_) => matches!(operation, Operation::Invoke { .. }),
        Report::Array(_) => matches!(operation, Operation::NewArray { .. }),
        Report::Done => matches!(
            operation,
            Operation::Compute { .. } | Operation::Check | Operation::Pop { .. }
        ),
    }
}
