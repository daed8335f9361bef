//! Types of locals and stack before each instruction, by abstract execution.
//!
//! Classes with frames (version 51 on, and 50 when it has a `StackMapTable`) need one pass: every block whose entry
//! merges paths starts with a frame, and inside a block each instruction's effect is known exactly, as in the
//! verifier by type checking. Code no frame and no path reaches has no state.
//!
//! Older classes are done with a worklist that merges states, as in the verifier by type inference, with two
//! shortcuts. Two different classes merge to `java/lang/Object`, since the class hierarchy is not known here. After
//! a subroutine call, locals the subroutine may write are unknown. Stack shape and initialisation state do not
//! suffer from either.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use crate::code::{Code, MethodContext};
use crate::descriptor::{MethodDescriptor, ValueType, parse_field};
use crate::error::{Error, Result};
use crate::frames::{Frame, VerificationType, parse_frames};
use crate::instruction::{Instruction, op};
use crate::mutf8;
use crate::pool::{Pool, tag};
use crate::relocate::only;

/// Slots all states of a method may hold together, and slots a worklist may touch. Real methods stay far below.
const MAX_SLOTS: usize = 8 << 20;
const MAX_WORK: usize = 256 << 20;

/// A class or array type met in a simulation; see [`Simulation::class_name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClassId(u32);

/// What one slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotType {
    /// Nothing usable; also the second slot of a `long` or `double`.
    Top,
    /// `int` and everything narrower.
    Integer,
    /// `float`.
    Float,
    /// First slot of a `long`.
    Long,
    /// First slot of a `double`.
    Double,
    /// `null`.
    Null,
    /// The receiver of a constructor before `super(...)` or `this(...)`.
    UninitializedThis,
    /// The result of the `new` at this pc, before its constructor ran.
    Uninitialized(u32),
    /// An instance of a class.
    Object(ClassId),
    /// Where a subroutine returns to.
    ReturnAddress,
}

/// Locals and operand stack by slot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimulatedState {
    /// Locals; those past the end hold nothing.
    pub locals: Vec<SlotType>,
    /// Operand stack, bottom first.
    pub stack: Vec<SlotType>,
}

impl SimulatedState {
    /// What a local holds.
    pub fn local(&self, local: u16) -> SlotType {
        self.locals
            .get(usize::from(local))
            .copied()
            .unwrap_or(SlotType::Top)
    }

    /// Whether the receiver still awaits `super(...)` or `this(...)`.
    pub fn is_this_uninitialized(&self) -> bool {
        self.locals
            .iter()
            .chain(&self.stack)
            .any(|t| *t == SlotType::UninitializedThis)
    }
}

/// The result of [`simulate`].
#[derive(Debug, Clone)]
pub struct Simulation {
    /// By old pc.
    states: Vec<Option<Box<SimulatedState>>>,
    this_inits: BTreeSet<u32>,
    names: ClassNames,
    merges_classes: bool,
}

impl Simulation {
    /// The state before the instruction at `pc`; nothing where no path leads or no instruction starts.
    pub fn at(&self, pc: u32) -> Option<&SimulatedState> {
        self.states.get(pc as usize)?.as_deref()
    }

    /// The `invokespecial` instructions that initialise the receiver: `super(...)` and `this(...)`, as opposed to the
    /// constructors of new objects. Rising pcs.
    pub fn this_inits(&self) -> impl Iterator<Item = u32> + '_ {
        self.this_inits.iter().copied()
    }

    /// Whether two different classes came to one place and are `java/lang/Object` from there on.
    pub fn merges_classes(&self) -> bool {
        self.merges_classes
    }

    /// The internal name of a class, or the descriptor of an array.
    pub fn class_name(&self, class: ClassId) -> Cow<'_, str> {
        mutf8::decode(self.names.get(class))
    }

    /// A state as a frame, without the topmost `popped` slots of its stack.
    pub fn frame(&self, state: &SimulatedState, popped: usize, pool: &mut Pool) -> Result<Frame> {
        let kept = state.stack.len().saturating_sub(popped);
        Ok(Frame {
            locals: self.values(&state.locals, pool)?,
            stack: self.values(&state.stack[..kept], pool)?,
        })
    }

    fn values(&self, slots: &[SlotType], pool: &mut Pool) -> Result<Vec<VerificationType>> {
        let mut values = Vec::with_capacity(slots.len());
        let mut slots = slots.iter();
        while let Some(slot) = slots.next() {
            values.push(match slot {
                SlotType::Top | SlotType::ReturnAddress => VerificationType::Top,
                SlotType::Integer => VerificationType::Integer,
                SlotType::Float => VerificationType::Float,
                SlotType::Long | SlotType::Double => {
                    slots.next();
                    if *slot == SlotType::Long {
                        VerificationType::Long
                    } else {
                        VerificationType::Double
                    }
                }
                SlotType::Null => VerificationType::Null,
                SlotType::UninitializedThis => VerificationType::UninitializedThis,
                SlotType::Uninitialized(pc) => VerificationType::Uninitialized(*pc as u16),
                SlotType::Object(class) => {
                    VerificationType::Object(pool.add_class_bytes(self.names.get(*class))?)
                }
            });
        }
        Ok(values)
    }
}

/// Finds the types of locals and stack before each instruction.
pub fn simulate(code: &Code, pool: &Pool, method: MethodContext) -> Result<Simulation> {
    let mut machine = Machine::new(code, pool, method)?;
    let table = only(&code.attributes, pool, "StackMapTable")?;
    match table {
        Some(table) if method.major >= 50 => machine.follow_frames(&table.bytes)?,
        None if method.major > 50 => machine.follow_frames(&[0, 0])?,
        _ => machine.merge_states()?,
    }
    Ok(Simulation {
        states: machine.states,
        this_inits: machine.this_inits,
        names: machine.names,
        merges_classes: machine.merges_classes,
    })
}

/// The classes met so far, each once.
#[derive(Debug, Clone, Default)]
struct ClassNames {
    names: Vec<Box<[u8]>>,
    ids: HashMap<Box<[u8]>, ClassId>,
}

impl ClassNames {
    fn get(&self, class: ClassId) -> &[u8] {
        self.names
            .get(class.0 as usize)
            .map_or(b"java/lang/Object", |name| name)
    }

    fn intern(&mut self, name: &[u8]) -> SlotType {
        if let Some(id) = self.ids.get(name) {
            return SlotType::Object(*id);
        }
        let id = ClassId(self.names.len() as u32);
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        SlotType::Object(id)
    }
}

struct Machine<'a> {
    code: &'a Code,
    pool: &'a Pool,
    this: SlotType,
    initial: SimulatedState,
    states: Vec<Option<Box<SimulatedState>>>,
    this_inits: BTreeSet<u32>,
    names: ClassNames,
    /// Slots kept in `states`.
    slots: usize,
    merges_classes: bool,
}

impl<'a> Machine<'a> {
    fn new(code: &'a Code, pool: &'a Pool, method: MethodContext) -> Result<Self> {
        let mut names = ClassNames::default();
        let this = names.intern(pool.class_name_bytes(method.this_class)?);
        let mut initial = SimulatedState::default();
        if !method.is_static() {
            let starts_raw = method.starts_uninitialized(pool);
            initial.locals.push(if starts_raw {
                SlotType::UninitializedThis
            } else {
                this
            });
        }
        for argument in MethodDescriptor::parse(pool.utf8_bytes(method.descriptor)?)?.arguments() {
            push_value(&mut initial.locals, argument, &mut names);
        }
        Ok(Machine {
            code,
            pool,
            this,
            initial,
            states: vec![None; code.bytes.len()],
            this_inits: BTreeSet::new(),
            names,
            slots: 0,
            merges_classes: false,
        })
    }

    fn follow_frames(&mut self, table: &[u8]) -> Result<()> {
        // Reference arguments may have no class constant. Index 0 stands for them: it keeps its position in every
        // relative frame, and no full frame can hold it.
        let mut values = Vec::new();
        let mut holders = Vec::new();
        let mut slots = self.initial.locals.iter();
        while let Some(slot) = slots.next() {
            holders.push(*slot);
            values.push(match slot {
                SlotType::Integer => VerificationType::Integer,
                SlotType::Float => VerificationType::Float,
                SlotType::Long => VerificationType::Long,
                SlotType::Double => VerificationType::Double,
                SlotType::UninitializedThis => VerificationType::UninitializedThis,
                _ => VerificationType::Object(0),
            });
            if matches!(slot, SlotType::Long | SlotType::Double) {
                slots.next();
            }
        }
        let frames = parse_frames(
            table,
            &Frame {
                locals: values,
                stack: Vec::new(),
            },
        )?;
        let mut frames = frames.into_iter().peekable();
        let mut current = Some(self.initial.clone());
        for instruction in self.code.instructions() {
            let instruction = instruction?;
            while let Some((pc, frame)) = frames.next_if(|(pc, _)| *pc <= instruction.pc) {
                if pc != instruction.pc {
                    return Err(Error::BadTarget {
                        what: "StackMapTable",
                        pc: i64::from(pc),
                    });
                }
                current = Some(SimulatedState {
                    locals: self.slots_of(&frame.locals, &holders)?,
                    stack: self.slots_of(&frame.stack, &[])?,
                });
            }
            if let Some(state) = &mut current {
                self.keep(instruction.pc, state)?;
                self.step(state, &instruction)?;
            }
            if !instruction.falls_through() {
                current = None;
            }
        }
        Ok(())
    }

    fn slots_of(
        &mut self,
        values: &[VerificationType],
        holders: &[SlotType],
    ) -> Result<Vec<SlotType>> {
        let mut slots = Vec::with_capacity(values.len() + 2);
        for (i, value) in values.iter().enumerate() {
            slots.push(match value {
                VerificationType::Top => SlotType::Top,
                VerificationType::Integer => SlotType::Integer,
                VerificationType::Float => SlotType::Float,
                VerificationType::Long => SlotType::Long,
                VerificationType::Double => SlotType::Double,
                VerificationType::Null => SlotType::Null,
                VerificationType::UninitializedThis => SlotType::UninitializedThis,
                VerificationType::Uninitialized(pc) => SlotType::Uninitialized(u32::from(*pc)),
                VerificationType::Object(0) => holders
                    .get(i)
                    .copied()
                    .ok_or(Error::BadAttribute("StackMapTable"))?,
                VerificationType::Object(index) => {
                    self.names.intern(self.pool.class_name_bytes(*index)?)
                }
            });
            if value.slots() == 2 {
                slots.push(SlotType::Top);
            }
        }
        Ok(slots)
    }

    fn keep(&mut self, pc: u32, state: &SimulatedState) -> Result<()> {
        self.slots += state.locals.len() + state.stack.len();
        if self.slots > MAX_SLOTS {
            return Err(Error::BadSimulation {
                pc,
                what: "too many slots",
            });
        }
        if let Some(place) = self.states.get_mut(pc as usize) {
            *place = Some(Box::new(state.clone()));
        }
        Ok(())
    }

    fn merge_states(&mut self) -> Result<()> {
        let code = self.code;
        let mut starts = vec![false; code.bytes.len()];
        for instruction in code.instructions() {
            starts[instruction?.pc as usize] = true;
        }
        let mut subroutines = HashMap::new();
        let mut work = BTreeSet::new();
        let initial = self.initial.clone();
        self.merge(0, &initial, &starts, &mut work)?;
        let mut effort = 0;
        while let Some(pc) = work.pop_first() {
            let instruction = Instruction::decode(&code.bytes, pc)?;
            let Some(before) = self.states[pc as usize].clone() else {
                continue;
            };
            effort += before.locals.len() + before.stack.len() + 1 + code.handlers.len();
            if effort > MAX_WORK {
                return Err(Error::BadSimulation {
                    pc,
                    what: "too much work",
                });
            }
            let mut state = (*before).clone();
            self.step(&mut state, &instruction)?;
            for handler in &code.handlers {
                if (u32::from(handler.start)..u32::from(handler.end)).contains(&pc) {
                    let caught = match handler.catch_type {
                        0 => self.names.intern(b"java/lang/Throwable"),
                        index => self.names.intern(self.pool.class_name_bytes(index)?),
                    };
                    let entry = SimulatedState {
                        locals: before.locals.clone(),
                        stack: vec![caught],
                    };
                    self.merge(i64::from(handler.handler), &entry, &starts, &mut work)?;
                }
            }
            if matches!(instruction.opcode, op::JSR | op::JSR_W) {
                let target = instruction.target().unwrap_or(-1);
                let mut inside = state.clone();
                inside.stack.push(SlotType::ReturnAddress);
                self.merge(target, &inside, &starts, &mut work)?;
                let written = subroutines
                    .entry(target)
                    .or_insert_with(|| written_locals(&code.bytes, target));
                for local in written.iter() {
                    if let Some(slot) = state.locals.get_mut(usize::from(*local)) {
                        *slot = SlotType::Top;
                    }
                }
            } else {
                for target in instruction.targets() {
                    self.merge(target, &state, &starts, &mut work)?;
                }
            }
            if instruction.falls_through() {
                self.merge(i64::from(instruction.next_pc()), &state, &starts, &mut work)?;
            }
        }
        Ok(())
    }

    /// Adds what one path brings to a pc, and queues it if that tells something new.
    fn merge(
        &mut self,
        pc: i64,
        state: &SimulatedState,
        starts: &[bool],
        work: &mut BTreeSet<u32>,
    ) -> Result<()> {
        let index = usize::try_from(pc)
            .ok()
            .filter(|pc| starts.get(*pc) == Some(&true));
        let index = index.ok_or(Error::BadTarget { what: "jump", pc })?;
        let Some(old) = self.states[index].as_deref_mut() else {
            self.keep(index as u32, state)?;
            work.insert(index as u32);
            return Ok(());
        };
        if old.stack.len() != state.stack.len() {
            return Err(Error::BadSimulation {
                pc: index as u32,
                what: "stack depths differ",
            });
        }
        let mut changed = old.locals.len() > state.locals.len();
        old.locals.truncate(state.locals.len());
        for (old, new) in old
            .locals
            .iter_mut()
            .zip(&state.locals)
            .chain(old.stack.iter_mut().zip(&state.stack))
        {
            let merged = match (*old, *new) {
                (a, b) if a == b => a,
                (SlotType::Object(a), SlotType::Null) | (SlotType::Null, SlotType::Object(a)) => {
                    SlotType::Object(a)
                }
                (SlotType::Object(_), SlotType::Object(_)) => {
                    self.merges_classes = true;
                    self.names.intern(b"java/lang/Object")
                }
                _ => SlotType::Top,
            };
            changed |= merged != *old;
            *old = merged;
        }
        if changed {
            work.insert(index as u32);
        }
        Ok(())
    }

    fn step(&mut self, state: &mut SimulatedState, instruction: &Instruction<'_>) -> Result<()> {
        let pc = instruction.pc;
        let opcode = instruction.generic_opcode();
        let index = instruction.pool_index().unwrap_or(0);
        let underflow = Error::BadSimulation {
            pc,
            what: "stack underflow",
        };
        let SimulatedState { locals, stack } = state;
        let pop = |stack: &mut Vec<SlotType>, count: usize| match stack.len().checked_sub(count) {
            Some(left) => {
                stack.truncate(left);
                Ok(())
            }
            None => Err(underflow.clone()),
        };
        match opcode {
            op::ACONST_NULL => stack.push(SlotType::Null),
            op::LDC | op::LDC_W | op::LDC2_W => self.load_constant(stack, index)?,
            op::ALOAD => {
                let local = usize::from(instruction.local().unwrap_or(0));
                stack.push(locals.get(local).copied().unwrap_or(SlotType::Top));
            }
            op::AALOAD => {
                let array = stack.len().checked_sub(2).map(|at| stack[at]);
                pop(stack, 2)?;
                stack.push(self.component(array.unwrap_or(SlotType::Top)));
            }
            op::ISTORE..=op::ASTORE => {
                let slots = if matches!(opcode, op::LSTORE | op::DSTORE) {
                    2
                } else {
                    1
                };
                let value = stack.len().checked_sub(slots).map(|at| stack[at]);
                pop(stack, slots)?;
                let value = value.unwrap_or(SlotType::Top);
                set_local(
                    locals,
                    usize::from(instruction.local().unwrap_or(0)),
                    value,
                    slots,
                );
            }
            op::DUP => copy_under(stack, 1, 0, &underflow)?,
            op::DUP_X1 => copy_under(stack, 1, 1, &underflow)?,
            op::DUP_X2 => copy_under(stack, 1, 2, &underflow)?,
            op::DUP2 => copy_under(stack, 2, 0, &underflow)?,
            op::DUP2_X1 => copy_under(stack, 2, 1, &underflow)?,
            op::DUP2_X2 => copy_under(stack, 2, 2, &underflow)?,
            op::SWAP => match stack.as_mut_slice() {
                [.., a, b] => std::mem::swap(a, b),
                _ => return Err(underflow),
            },
            op::GETSTATIC | op::GETFIELD => {
                pop(stack, usize::from(opcode == op::GETFIELD))?;
                push_value(
                    stack,
                    parse_field(self.pool.descriptor_bytes(index)?)?,
                    &mut self.names,
                );
            }
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                let descriptor = MethodDescriptor::parse(self.pool.descriptor_bytes(index)?)?;
                pop(stack, descriptor.argument_slots() as usize)?;
                if !matches!(opcode, op::INVOKESTATIC | op::INVOKEDYNAMIC) {
                    let receiver = stack.pop().ok_or(underflow)?;
                    if opcode == op::INVOKESPECIAL {
                        self.initialize(locals, stack, receiver, index, pc)?;
                    }
                }
                if let Some(result) = descriptor.returns() {
                    push_value(stack, result, &mut self.names);
                }
            }
            op::NEW => {
                // An older object of the same instruction can no longer be told from this one.
                for slot in locals
                    .iter_mut()
                    .filter(|slot| **slot == SlotType::Uninitialized(pc))
                {
                    *slot = SlotType::Top;
                }
                stack.push(SlotType::Uninitialized(pc));
            }
            op::NEWARRAY => {
                pop(stack, 1)?;
                let kind = usize::from(instruction.bytes.get(1).copied().unwrap_or(0));
                let name: &[u8] = match b"ZCFDBSIJ".get(kind.wrapping_sub(4)) {
                    Some(letter) => &[b'[', *letter],
                    None => return Err(Error::BadInstruction { pc, opcode }),
                };
                stack.push(self.names.intern(name));
            }
            op::ANEWARRAY => {
                pop(stack, 1)?;
                let element = self.pool.class_name_bytes(index)?;
                let name = match element.first() {
                    Some(b'[') => [b"[", element].concat(),
                    _ => [b"[L", element, b";"].concat(),
                };
                stack.push(self.names.intern(&name));
            }
            op::CHECKCAST => {
                pop(stack, 1)?;
                stack.push(self.names.intern(self.pool.class_name_bytes(index)?));
            }
            op::MULTIANEWARRAY => {
                pop(
                    stack,
                    usize::from(instruction.bytes.get(3).copied().unwrap_or(0)),
                )?;
                stack.push(self.names.intern(self.pool.class_name_bytes(index)?));
            }
            // The subroutine's view of the stack is the business of whoever follows the jump.
            op::JSR | op::JSR_W => {}
            _ => {
                // What is left pops some slots and pushes at most one primitive value, known by the opcode.
                let result = result_of(opcode);
                let pushed = match result {
                    None => 0,
                    Some(SlotType::Long | SlotType::Double) => 2,
                    Some(_) => 1,
                };
                let popped = pushed - instruction.stack_change(self.pool)?;
                pop(stack, usize::try_from(popped).unwrap_or(0))?;
                stack.extend(result);
                if pushed == 2 {
                    stack.push(SlotType::Top);
                }
            }
        }
        Ok(())
    }

    fn load_constant(&mut self, stack: &mut Vec<SlotType>, index: u16) -> Result<()> {
        let name: &[u8] = match self.pool.tag(index) {
            Some(tag::INTEGER) => return stack_push(stack, SlotType::Integer, 1),
            Some(tag::FLOAT) => return stack_push(stack, SlotType::Float, 1),
            Some(tag::LONG) => return stack_push(stack, SlotType::Long, 2),
            Some(tag::DOUBLE) => return stack_push(stack, SlotType::Double, 2),
            Some(tag::STRING) => b"java/lang/String",
            Some(tag::CLASS) => b"java/lang/Class",
            Some(tag::METHOD_TYPE) => b"java/lang/invoke/MethodType",
            Some(tag::METHOD_HANDLE) => b"java/lang/invoke/MethodHandle",
            Some(tag::DYNAMIC) => {
                push_value(
                    stack,
                    parse_field(self.pool.descriptor_bytes(index)?)?,
                    &mut self.names,
                );
                return Ok(());
            }
            _ => {
                return Err(Error::BadConstant {
                    index,
                    wanted: "loadable constant",
                });
            }
        };
        stack.push(self.names.intern(name));
        Ok(())
    }

    fn component(&mut self, array: SlotType) -> SlotType {
        let SlotType::Object(class) = array else {
            return array;
        };
        let name = self.names.get(class).to_vec();
        match name.strip_prefix(b"[") {
            Some([b'L', inner @ .., b';']) => self.names.intern(inner),
            Some(inner) if inner.starts_with(b"[") => self.names.intern(inner),
            // An array that lost its type in a merge.
            _ => self.names.intern(b"java/lang/Object"),
        }
    }

    /// After a constructor ran, every copy of its receiver is an ordinary object.
    fn initialize(
        &mut self,
        locals: &mut [SlotType],
        stack: &mut [SlotType],
        receiver: SlotType,
        index: u16,
        pc: u32,
    ) -> Result<()> {
        let (owner, name, _) = self.pool.member_bytes(index)?;
        if name != b"<init>" {
            return Ok(());
        }
        let ready = match receiver {
            SlotType::UninitializedThis => {
                self.this_inits.insert(pc);
                self.this
            }
            SlotType::Uninitialized(_) => self.names.intern(owner),
            _ => return Ok(()),
        };
        for slot in locals
            .iter_mut()
            .chain(stack)
            .filter(|slot| **slot == receiver)
        {
            *slot = ready;
        }
        Ok(())
    }
}

/// The primitive value an instruction pushes, for those whose operands do not matter.
fn result_of(opcode: u8) -> Option<SlotType> {
    Some(match opcode {
        op::ICONST_M1..=op::ICONST_5 | op::BIPUSH | op::SIPUSH | op::ILOAD => SlotType::Integer,
        op::LCONST_0 | op::LCONST_1 | op::LLOAD | op::LALOAD => SlotType::Long,
        op::FCONST_0..=op::FCONST_2 | op::FLOAD | op::FALOAD => SlotType::Float,
        op::DCONST_0 | op::DCONST_1 | op::DLOAD | op::DALOAD => SlotType::Double,
        op::IALOAD | op::BALOAD..=op::SALOAD => SlotType::Integer,
        op::IADD..=op::DNEG => match opcode % 4 {
            0 => SlotType::Integer,
            1 => SlotType::Long,
            2 => SlotType::Float,
            _ => SlotType::Double,
        },
        op::ISHL..=op::LXOR if opcode % 2 == 0 => SlotType::Integer,
        op::ISHL..=op::LXOR => SlotType::Long,
        op::I2L | op::F2L | op::D2L => SlotType::Long,
        op::I2F | op::L2F | op::D2F => SlotType::Float,
        op::I2D | op::L2D | op::F2D => SlotType::Double,
        op::L2I | op::F2I | op::D2I | op::I2B..=op::DCMPG => SlotType::Integer,
        op::ARRAYLENGTH | op::INSTANCEOF => SlotType::Integer,
        _ => return None,
    })
}

fn stack_push(stack: &mut Vec<SlotType>, value: SlotType, slots: usize) -> Result<()> {
    stack.push(value);
    if slots == 2 {
        stack.push(SlotType::Top);
    }
    Ok(())
}

fn push_value(slots: &mut Vec<SlotType>, value: ValueType<'_>, names: &mut ClassNames) {
    match value {
        ValueType::Int(_) => slots.push(SlotType::Integer),
        ValueType::Float => slots.push(SlotType::Float),
        ValueType::Long => slots.extend([SlotType::Long, SlotType::Top]),
        ValueType::Double => slots.extend([SlotType::Double, SlotType::Top]),
        ValueType::Reference(name) => slots.push(names.intern(name)),
    }
}

/// Inserts a copy of the topmost `count` slots below `under` more.
fn copy_under(
    stack: &mut Vec<SlotType>,
    count: usize,
    under: usize,
    underflow: &Error,
) -> Result<()> {
    let at = stack
        .len()
        .checked_sub(count + under)
        .ok_or_else(|| underflow.clone())?;
    let copied = stack[stack.len() - count..].to_vec();
    stack.splice(at..at, copied);
    Ok(())
}

/// Writes a local, which spoils any two-slot value it overlaps.
fn set_local(locals: &mut Vec<SlotType>, local: usize, value: SlotType, slots: usize) {
    if locals.len() < local + slots {
        locals.resize(local + slots, SlotType::Top);
    }
    let is_wide = |t: SlotType| matches!(t, SlotType::Long | SlotType::Double);
    if local > 0 && is_wide(locals[local - 1]) {
        locals[local - 1] = SlotType::Top;
    }
    let last = local + slots - 1;
    if is_wide(locals[last]) && last + 1 < locals.len() {
        locals[last + 1] = SlotType::Top;
    }
    locals[local] = value;
    if slots == 2 {
        locals[local + 1] = SlotType::Top;
    }
}

/// Locals written on any path from the start of a subroutine to its `ret`.
fn written_locals(code: &[u8], start: i64) -> BTreeSet<u16> {
    let mut written = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![start];
    while let Some(pc) = work.pop() {
        let Ok(at) = u32::try_from(pc) else { continue };
        let Ok(instruction) = Instruction::decode(code, at) else {
            continue;
        };
        if !seen.insert(at) {
            continue;
        }
        if matches!(instruction.generic_opcode(), op::ISTORE..=op::ASTORE) {
            let local = instruction.local().unwrap_or(0);
            written.insert(local);
            if matches!(instruction.generic_opcode(), op::LSTORE | op::DSTORE) {
                written.insert(local.saturating_add(1));
            }
        }
        work.extend(instruction.targets());
        if instruction.falls_through() {
            work.push(i64::from(instruction.next_pc()));
        }
    }
    written
}
