//! The editor: code goes in between instructions, and everything that names a pc follows.
//!
//! Inserted code is straight-line and leaves the operand stack as it found it, so every frame of the method stays true
//! and only moves. Three things need more: a local that lives through the whole method is added to every frame; a
//! conditional jump that no longer reaches becomes an inverted jump over a `goto_w`, which needs one new frame that the
//! simulator supplies; and entry code may skip a part of itself, where the frame is that of the method's start.
//!
//! Layout of the result: entry code, then per old instruction the code before it, the instruction (or its replacement)
//! and the code after it, then the bodies of added handlers.

use std::collections::BTreeSet;

use crate::asm::{Asm, LocalKind};
use crate::class::Attribute;
use crate::code::{Code, Handler, MethodContext};
use crate::error::{Error, Result};
use crate::frames::{Frame, VerificationType, initial_frame, parse_frames, write_frames};
use crate::instruction::{Instruction, Instructions, op};
use crate::layout::{Layout, MAX_CODE, emit_instruction};
use crate::pool::Pool;
use crate::reader::count16;
use crate::relocate::{self, PcMap};
use crate::simulate::{Simulation, simulate};

/// A position in the edited method, named by old pcs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EditPosition {
    /// After the entry code, before everything else.
    AfterEntry,
    /// Before the code inserted before the instruction at this pc.
    Before(u32),
    /// At the instruction itself, after the code inserted before it.
    At(u32),
    /// Right after the instruction, before the code inserted after it.
    After(u32),
    /// After the last old instruction and the code inserted after it.
    End,
}

/// An exception handler to be appended to the method, with the lowest priority of all.
///
/// Constructors need care. Up to the call of `super(...)` or `this(...)`, local 0 of the frame must be
/// `UninitializedThis`; after it, a handler without locals is fine. From version 51 on, no handler can cover the call
/// itself: HotSpot checks the handler's frame against the state before the call and the one after it, and no frame
/// fits both (seen on 17 and 25). So end the first range `At` the call and start the second `After` it. The old
/// verifier, for versions up to 49, and for 50 as its second chance, accepts a range that includes the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerSpec {
    /// Start of the range covered.
    pub from: EditPosition,
    /// End of the range covered, itself not covered. An empty range adds no handler.
    pub to: EditPosition,
    /// Class constant of what is caught, 0 for anything.
    pub catch_type: u16,
    /// Locals the body may rely on, from local 0 on, one entry per value; they must hold throughout the range.
    /// Empty is always sound, except where `this` is not yet initialised. Live locals are added by the editor.
    pub frame_locals: Vec<VerificationType>,
    /// Starts with the exception on the stack and must end in `athrow`, a return or another terminal instruction.
    pub body: Asm,
}

/// Edits one method. Nothing is checked until [`Editor::finish`].
#[derive(Debug, Clone)]
pub struct Editor<'a> {
    code: &'a Code,
    method: MethodContext,
    entry: Vec<EntryCode>,
    insertions: Vec<Insertion>,
    handlers: Vec<HandlerSpec>,
    live: Vec<(u16, VerificationType)>,
    /// Where `new` became null.
    nulls: BTreeSet<u32>,
    /// Next free local; wider than `u16` so that overflow shows at the end.
    next_local: u32,
    /// Treats every 16-bit jump as out of range. For tests of the far forms.
    pub widen_all: bool,
}

/// A piece of the code that runs once, when the method is entered.
#[derive(Debug, Clone)]
enum EntryCode {
    Always(Asm),
    /// Skipped if the integer on the stack is 0; `carried` are the values below it.
    Optional {
        asm: Asm,
        carried: Vec<VerificationType>,
    },
}

impl EntryCode {
    fn len(&self) -> usize {
        match self {
            EntryCode::Always(asm) => asm.len(),
            EntryCode::Optional { asm, .. } => SKIP_LENGTH + asm.len(),
        }
    }

    fn emit(&self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            EntryCode::Always(asm) => out.extend(asm.bytes()),
            EntryCode::Optional { asm, .. } => {
                let offset =
                    i16::try_from(self.len()).map_err(|_| Error::BadInsertion("skips too much"))?;
                out.push(op::IFEQ);
                out.extend(offset.to_be_bytes());
                out.extend(asm.bytes());
            }
        }
        Ok(())
    }
}

/// Bytes of the jump over optional entry code.
const SKIP_LENGTH: usize = 3;

#[derive(Debug, Clone)]
pub(crate) struct Insertion {
    pc: u32,
    side: Side,
    pub(crate) asm: Asm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Before,
    Instead,
    After,
}

/// An edited method and what had to be done to it.
#[derive(Debug, Clone)]
pub struct Edited {
    /// The new code.
    pub code: Code,
    /// UTF-8 constants naming the attributes left out because they may hold pcs nobody here understands.
    pub dropped: Vec<u16>,
    /// Jumps that had to take a far form.
    pub widened: u32,
    /// Where old instructions went.
    pub map: PcMap,
}

impl<'a> Editor<'a> {
    /// An editor without edits.
    pub fn new(code: &'a Code, method: MethodContext) -> Editor<'a> {
        Editor {
            code,
            method,
            entry: Vec::new(),
            insertions: Vec::new(),
            handlers: Vec::new(),
            live: Vec::new(),
            nulls: BTreeSet::new(),
            next_local: u32::from(code.max_locals),
            widen_all: false,
        }
    }

    /// Runs whenever control reaches `pc`: by falling through, by a jump, or as the entry of an exception handler.
    pub fn insert_before(&mut self, pc: u32, asm: Asm) {
        self.insertions.push(Insertion {
            pc,
            side: Side::Before,
            asm,
        });
    }

    /// Runs after the instruction at `pc` when control falls through it. Jumps to the next instruction do not run it.
    /// After an instruction that never falls through it is left out, since no frame could describe it.
    pub fn insert_after(&mut self, pc: u32, asm: Asm) {
        self.insertions.push(Insertion {
            pc,
            side: Side::After,
            asm,
        });
    }

    /// Replaces the instruction at `pc`. The replacement falls through exactly if the instruction does, and has the
    /// same effect on the stack.
    pub fn replace(&mut self, pc: u32, mut asm: Asm) {
        if asm.is_empty() {
            // A range of the exception table may cover just this instruction, and must not become empty.
            asm.op(op::NOP);
        }
        self.insertions.push(Insertion {
            pc,
            side: Side::Instead,
            asm,
        });
    }

    /// Drops the object that the `new` at `pc` makes, and puts null in its place, in the code and in every frame. The
    /// caller sees to what becomes of the constructor call, which null would not survive.
    pub fn replace_new_by_null(&mut self, pc: u32) {
        let mut asm = Asm::new();
        asm.pop().aconst_null();
        self.insertions.push(Insertion {
            pc,
            side: Side::After,
            asm,
        });
        self.nulls.insert(pc);
    }

    /// Runs once, when the method is entered. A jump back to pc 0 does not run it again.
    pub fn insert_entry(&mut self, asm: Asm) {
        self.entry.push(EntryCode::Always(asm));
    }

    /// Entry code that runs only if the integer left on the stack by the entry code before it is not 0. Below that
    /// integer are `carried`, and nothing else; the code leaves as many values of the same types. More entry code must
    /// follow, and no live local may be set before.
    pub fn insert_entry_if(&mut self, asm: Asm, carried: Vec<VerificationType>) {
        self.entry.push(EntryCode::Optional { asm, carried });
    }

    /// A temporary that no frame mentions: it may be read only in straight-line succession after it is written,
    /// with no jump target and no jump in between.
    pub fn new_local(&mut self, kind: LocalKind) -> u16 {
        self.take_local(kind.slots())
    }

    /// A local that keeps its value through the whole method and may be read anywhere after the entry code, which
    /// must set it.
    pub fn new_live_local(&mut self, kind: VerificationType) -> u16 {
        let local = self.take_local(kind.slots());
        self.live.push((local, kind));
        local
    }

    fn take_local(&mut self, slots: u16) -> u16 {
        let local = self.next_local;
        self.next_local = local.saturating_add(u32::from(slots));
        // An overflow is reported by `finish`; the number given out until then does not matter.
        local.min(u32::from(u16::MAX)) as u16
    }

    /// Adds a handler at the end of the code and of the exception table.
    pub fn add_handler(&mut self, handler: HandlerSpec) {
        self.handlers.push(handler);
    }

    /// Writes the edited method.
    pub fn finish(self, pool: &mut Pool) -> Result<Code> {
        self.finish_with_report(pool).map(|edited| edited.code)
    }

    /// Writes the edited method and tells what was lost and moved. On an error the pool may have gained unused
    /// constants, which is harmless.
    pub fn finish_with_report(mut self, pool: &mut Pool) -> Result<Edited> {
        if !self.live.is_empty() && self.entry.iter().all(|entry| entry.len() == 0) {
            return Err(Error::BadInsertion("never sets a live local"));
        }
        if self.next_local > u32::from(u16::MAX) {
            return Err(Error::TooMany {
                what: "locals",
                count: self.next_local as usize,
            });
        }
        // Stable, so that insertions at one place keep their order.
        self.insertions.sort_by_key(|i| (i.pc, i.side));
        let steps = self.steps()?;
        let mut limits = StackLimits {
            locals: self.next_local,
            extra: 0,
        };
        self.measure(&steps, &mut limits, pool)?;

        let mut layout = Layout::new(&steps, self.code.bytes.len(), self.widen_all)?;
        layout.settle(self.entry.iter().map(EntryCode::len).sum(), &steps)?;
        let ranges = self.ranges(&layout.map)?;
        let (bytes, bodies) = self.emit(&steps, &layout, &ranges)?;

        let max_stack =
            (u32::from(self.code.max_stack) + limits.extra).max(limits.handler_floor(&ranges));
        let mut code = Code {
            max_stack: count16("stack slots", max_stack as usize)?,
            max_locals: count16("locals", limits.locals as usize)?,
            bytes,
            handlers: self.exception_table(&layout.map, &ranges, &bodies)?,
            attributes: Vec::new(),
        };
        let frames = self.frames(&steps, &layout, &ranges, &bodies, pool)?;
        let dropped = self.attributes(&layout.map, frames, pool, &mut code)?;
        Ok(Edited {
            code,
            dropped,
            widened: layout.widened(),
            map: layout.map,
        })
    }

    /// Pairs every instruction with the code that goes around it.
    fn steps(&self) -> Result<Vec<EditStep<'_>>> {
        let mut steps = Vec::with_capacity(self.code.bytes.len() / 2);
        let mut rest = self.insertions.as_slice();
        for instruction in self.code.instructions() {
            let instruction = instruction?;
            let here = rest.partition_point(|i| i.pc <= instruction.pc);
            let (mine, others) = rest.split_at(here);
            rest = others;
            if let Some(stray) = mine.iter().find(|i| i.pc != instruction.pc) {
                return Err(Error::BadTarget {
                    what: "insertion",
                    pc: i64::from(stray.pc),
                });
            }
            let before = mine.partition_point(|i| i.side < Side::Instead);
            let instead = mine.partition_point(|i| i.side < Side::After);
            let replacement = match &mine[before..instead] {
                [] => None,
                [only] => Some(&only.asm),
                _ => return Err(Error::BadInsertion("replaces one instruction twice")),
            };
            let falls_through = match replacement {
                Some(asm) => last_falls_through(asm)?,
                None => instruction.falls_through(),
            };
            let after = if falls_through { &mine[instead..] } else { &[] };
            steps.push(EditStep {
                instruction,
                before: &mine[..before],
                replacement,
                after,
            });
        }
        match rest.first() {
            Some(stray) => Err(Error::BadTarget {
                what: "insertion",
                pc: i64::from(stray.pc),
            }),
            None => Ok(steps),
        }
    }

    /// Checks all inserted code and finds how much stack and how many locals it needs.
    fn measure(&self, steps: &[EditStep<'_>], limits: &mut StackLimits, pool: &Pool) -> Result<()> {
        let mut depth = 0;
        for entry in &self.entry {
            match entry {
                EntryCode::Always(asm) => limits.straight(asm, &mut depth, pool)?,
                EntryCode::Optional { asm, carried } => {
                    let below: u16 = carried.iter().map(|kind| kind.slots()).sum();
                    if depth != i64::from(below) + 1 {
                        return Err(Error::BadInsertion("skips with another stack than told"));
                    }
                    depth -= 1;
                    limits.straight(asm, &mut depth, pool)?;
                    if depth != i64::from(below) {
                        return Err(Error::BadInsertion(
                            "leaves another stack than skipping does",
                        ));
                    }
                }
            }
        }
        if matches!(self.entry.last(), Some(EntryCode::Optional { .. })) {
            return Err(Error::BadInsertion("skips to the end of the entry code"));
        }
        for step in steps {
            let mut depth = 0;
            for insertion in step.before {
                limits.straight(&insertion.asm, &mut depth, pool)?;
            }
            if let Some(asm) = step.replacement {
                let mut inside = depth;
                limits.code(asm, &mut inside, pool)?;
            }
            for insertion in step.after {
                limits.straight(&insertion.asm, &mut depth, pool)?;
            }
        }
        for handler in &self.handlers {
            // The handler starts with one value on an otherwise empty stack.
            let mut depth = 1;
            if !limits.code(&handler.body, &mut depth, pool)? {
                return Err(Error::BadInsertion("falls off the end of a handler"));
            }
        }
        Ok(())
    }

    /// The ranges of added handlers, without those that cover nothing.
    fn ranges<'h>(&'h self, map: &PcMap) -> Result<Vec<(u32, u32, &'h HandlerSpec)>> {
        let mut ranges = Vec::new();
        for handler in &self.handlers {
            let (from, to) = (map.place(handler.from)?, map.place(handler.to)?);
            if from > to {
                return Err(Error::BadInsertion(
                    "has a handler range that ends before it starts",
                ));
            }
            if from < to {
                ranges.push((from, to, handler));
            }
        }
        Ok(ranges)
    }

    /// Writes the instructions. Also gives where each handler body starts.
    fn emit(
        &self,
        steps: &[EditStep<'_>],
        layout: &Layout,
        ranges: &[(u32, u32, &HandlerSpec)],
    ) -> Result<(Vec<u8>, Vec<u32>)> {
        let map = &layout.map;
        let mut out = Vec::with_capacity(map.end() as usize + 64);
        for entry in &self.entry {
            entry.emit(&mut out)?;
        }
        for (step, far) in steps.iter().zip(&layout.far) {
            for insertion in step.before {
                out.extend(insertion.asm.bytes());
            }
            match step.replacement {
                Some(asm) => out.extend(asm.bytes()),
                None => emit_instruction(&mut out, &step.instruction, *far, map)?,
            }
            for insertion in step.after {
                out.extend(insertion.asm.bytes());
            }
        }
        debug_assert_eq!(out.len(), map.end() as usize);
        let mut bodies = Vec::with_capacity(ranges.len());
        for (_, _, handler) in ranges {
            bodies.push(out.len() as u32);
            out.extend(handler.body.bytes());
        }
        if out.len() > MAX_CODE {
            return Err(Error::CodeTooLarge { size: out.len() });
        }
        Ok((out, bodies))
    }

    fn exception_table(
        &self,
        map: &PcMap,
        ranges: &[(u32, u32, &HandlerSpec)],
        bodies: &[u32],
    ) -> Result<Vec<Handler>> {
        let mut handlers = Vec::with_capacity(self.code.handlers.len() + ranges.len());
        for old in &self.code.handlers {
            let find = |pc: u16| {
                map.target(u32::from(pc), "exception table")
                    .map(|pc| pc as u16)
            };
            handlers.push(Handler {
                start: find(old.start)?,
                end: map.start(u32::from(old.end), "exception table")? as u16,
                handler: find(old.handler)?,
                catch_type: old.catch_type,
            });
        }
        for ((from, to, handler), body) in ranges.iter().zip(bodies) {
            handlers.push(Handler {
                start: *from as u16,
                end: *to as u16,
                handler: *body as u16,
                catch_type: handler.catch_type,
            });
        }
        Ok(handlers)
    }

    /// The content of the new `StackMapTable`, if the method needs one.
    fn frames(
        &self,
        steps: &[EditStep<'_>],
        layout: &Layout,
        ranges: &[(u32, u32, &HandlerSpec)],
        bodies: &[u32],
        pool: &mut Pool,
    ) -> Result<Option<Vec<u8>>> {
        // Older versions have no frames; a table in such a class means nothing.
        if self.method.major < 50 {
            return Ok(None);
        }
        let old = relocate::only(&self.code.attributes, pool, "StackMapTable")?;
        let has_far_condition = steps
            .iter()
            .zip(&layout.far)
            .any(|(s, far)| *far && s.instruction.is_conditional());
        // A version 50 class without frames is checked by the old verifier, which wants none.
        let wants_frames = self.method.major > 50 || old.is_some();
        let skips = self
            .entry
            .iter()
            .any(|e| matches!(e, EntryCode::Optional { .. }));
        let needs_new = (has_far_condition || skips) && wants_frames;
        if old.is_none() && !needs_new && ranges.is_empty() {
            return Ok(None);
        }
        let map = &layout.map;
        let initial = initial_frame(self.method, pool)?;
        let mut frames = match old {
            Some(attribute) => parse_frames(&attribute.bytes, &initial)?,
            None => Vec::new(),
        };
        for (pc, frame) in &mut frames {
            *pc = map.target(*pc, "StackMapTable")?;
            self.move_frame(frame, map)?;
        }
        if has_far_condition && wants_frames {
            self.far_frames(steps, layout, &mut frames, pool)?;
        }
        for ((_, _, handler), body) in ranges.iter().zip(bodies) {
            let caught = match handler.catch_type {
                0 => pool.add_class("java/lang/Throwable")?,
                class => class,
            };
            let mut frame = Frame {
                locals: handler.frame_locals.clone(),
                stack: vec![VerificationType::Object(caught)],
            };
            self.move_frame(&mut frame, map)?;
            frames.push((*body, frame));
        }
        frames.splice(..0, self.entry_frames(&initial));
        write_frames(&frames, &initial).map(Some)
    }

    /// The frames where entry code goes on after a part that may have been skipped.
    fn entry_frames(&self, initial: &Frame) -> Vec<(u32, Frame)> {
        let mut pc = 0;
        let mut frames = Vec::new();
        for entry in &self.entry {
            pc += entry.len() as u32;
            if let EntryCode::Optional { carried, .. } = entry {
                let frame = Frame {
                    locals: initial.locals.clone(),
                    stack: carried.clone(),
                };
                frames.push((pc, frame));
            }
        }
        frames
    }

    /// Relocates the types in a frame and adds the live locals.
    fn move_frame(&self, frame: &mut Frame, map: &PcMap) -> Result<()> {
        for value in frame.locals.iter_mut().chain(&mut frame.stack) {
            if let VerificationType::Uninitialized(pc) = value {
                if self.nulls.contains(&u32::from(*pc)) {
                    *value = VerificationType::Null;
                    continue;
                }
                *pc = map.instruction(u32::from(*pc), "StackMapTable")? as u16;
            }
        }
        if self.live.is_empty() {
            return Ok(());
        }
        let mut slots = frame.local_slots();
        if slots > usize::from(self.code.max_locals) {
            return Err(Error::BadAttribute("StackMapTable"));
        }
        for (local, kind) in &self.live {
            let gap = usize::from(*local) - slots;
            frame
                .locals
                .extend(std::iter::repeat_n(VerificationType::Top, gap));
            frame.locals.push(*kind);
            slots = usize::from(*local + kind.slots());
        }
        Ok(())
    }

    /// The frames after far conditional jumps, merged into those there are.
    fn far_frames(
        &self,
        steps: &[EditStep<'_>],
        layout: &Layout,
        frames: &mut Vec<(u32, Frame)>,
        pool: &mut Pool,
    ) -> Result<()> {
        let simulation: Simulation = simulate(self.code, pool, self.method)?;
        let mut added = Vec::new();
        for (step, far) in steps.iter().zip(&layout.far) {
            let instruction = &step.instruction;
            if !far || !instruction.is_conditional() {
                continue;
            }
            let at = layout.map.after(instruction.pc, "far jump")?;
            if frames.binary_search_by_key(&at, |(pc, _)| *pc).is_ok() {
                continue;
            }
            let state = simulation
                .at(instruction.pc)
                .ok_or(Error::NoFrame { pc: instruction.pc })?;
            let popped = -instruction.stack_change(pool)?;
            let mut frame = simulation.frame(state, popped as usize, pool)?;
            self.move_frame(&mut frame, &layout.map)?;
            added.push((at, frame));
        }
        frames.append(&mut added);
        frames.sort_by_key(|(pc, _)| *pc);
        Ok(())
    }

    /// Moves the nested attributes over. Gives those left out.
    fn attributes(
        &self,
        map: &PcMap,
        frames: Option<Vec<u8>>,
        pool: &mut Pool,
        code: &mut Code,
    ) -> Result<Vec<u16>> {
        let mut dropped = Vec::new();
        for attribute in &self.code.attributes {
            let bytes = match pool.utf8_bytes(attribute.name)? {
                b"StackMapTable" => continue,
                b"LineNumberTable" => relocate::lines(&attribute.bytes, map)?,
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    relocate::variables(&attribute.bytes, map)?
                }
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    relocate::type_annotations(&attribute.bytes, map)?
                }
                _ => {
                    dropped.push(attribute.name);
                    continue;
                }
            };
            code.attributes.push(Attribute {
                name: attribute.name,
                bytes,
            });
        }
        if let Some(bytes) = frames {
            code.attributes.push(Attribute {
                name: pool.add_utf8("StackMapTable")?,
                bytes,
            });
        }
        Ok(dropped)
    }
}

/// One old instruction and what surrounds it.
pub(crate) struct EditStep<'e> {
    pub(crate) instruction: Instruction<'e>,
    pub(crate) before: &'e [Insertion],
    pub(crate) replacement: Option<&'e Asm>,
    pub(crate) after: &'e [Insertion],
}

fn last_falls_through(asm: &Asm) -> Result<bool> {
    match Instructions::new(asm.bytes()).last() {
        Some(instruction) => Ok(instruction?.falls_through()),
        None => Ok(true),
    }
}

/// How much stack and how many locals inserted code needs.
struct StackLimits {
    locals: u32,
    /// Slots above the old maximum.
    extra: u32,
}

impl StackLimits {
    /// Code that must fall through.
    fn straight(&mut self, asm: &Asm, depth: &mut i64, pool: &Pool) -> Result<()> {
        match self.code(asm, depth, pool)? {
            true => Err(Error::BadInsertion("does not fall through")),
            false => Ok(()),
        }
    }

    /// Tells whether the code ends in a terminal instruction.
    fn code(&mut self, asm: &Asm, depth: &mut i64, pool: &Pool) -> Result<bool> {
        let mut terminal = false;
        for instruction in Instructions::new(asm.bytes()) {
            let instruction = instruction?;
            if terminal {
                return Err(Error::BadInsertion("goes on after a terminal instruction"));
            }
            if matches!(instruction.opcode, op::RET | op::JSR | op::JSR_W)
                || instruction.targets().next().is_some()
            {
                return Err(Error::BadInsertion("jumps"));
            }
            terminal = !instruction.falls_through();
            *depth += i64::from(instruction.stack_change(pool)?);
            self.extra = self
                .extra
                .max((*depth).clamp(0, i64::from(u32::MAX / 2)) as u32);
            if let Some(local) = instruction.local() {
                let wide = matches!(
                    instruction.generic_opcode(),
                    op::LLOAD | op::DLOAD | op::LSTORE | op::DSTORE
                );
                self.locals = self.locals.max(u32::from(local) + 1 + u32::from(wide));
            }
        }
        Ok(terminal)
    }

    /// What handlers need in a method whose own code needs no stack: the exception, and what their bodies push.
    fn handler_floor(&self, ranges: &[(u32, u32, &HandlerSpec)]) -> u32 {
        if ranges.is_empty() {
            0
        } else {
            self.extra.max(1)
        }
    }
}
