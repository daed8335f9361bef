//! The plan for an instruction trace: every block reports that it begins, and every instruction whose effect the code
//! alone does not tell reports it once it is done. A replay of the code with these reports knows each instruction that
//! was run.
//!
//! With the report of an instruction, all instructions of its block before it are done too. An instruction that may
//! throw and has no effect to report is *silent*; it reports only that it is done, and only if another one follows in
//! its block that may throw, so that it is always known which instruction has thrown.
//!
//! Reports come after the instruction. Its operands are in temporaries then; an object that is not initialised cannot
//! be, so that a constructor's writes before `super(...)` are silent, and the object is reported after that call.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use culprit_classfile::{
    Asm, ClassFile, Code, Instruction, LocalKind, Simulation, SlotType, VerificationType, op,
};
use culprit_model::options::Arrays;
use culprit_model::value::split_descriptor;

use crate::method::{self, Weaver};
use crate::{Error, Purpose, References, Settings, SiteNumbers};

/// The runtime's class that writes traces.
pub const TRACE: &str = "culprit/runtime/Trace";

/// Numbers for blocks, unique in a JVM.
#[derive(Debug, Default)]
pub struct BlockNumbers(AtomicU32);

/// The largest number of a block and one: an event has 27 bits for it.
const MOST_BLOCKS: u32 = 1 << 27;

impl BlockNumbers {
    /// The first of some consecutive numbers.
    fn take(&self, count: usize) -> Result<u32, Error> {
        let count = u32::try_from(count).unwrap_or(MOST_BLOCKS);
        let first = self.0.fetch_add(count, Ordering::Relaxed);
        match first
            .checked_add(count)
            .is_some_and(|end| end < MOST_BLOCKS)
        {
            true => Ok(first),
            false => Err(Error::Trace("there are too many blocks")),
        }
    }
}

/// A class that reports its instructions.
#[derive(Debug)]
pub struct Traced {
    pub bytes: Vec<u8>,
    pub methods: Vec<TracedMethod>,
    /// Methods that stay as they were, each with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Where a method reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TracedMethod {
    /// Its position in the class.
    pub index: u16,
    /// The number of its first block; the others follow.
    pub first_block: u32,
    /// Where its blocks begin.
    pub blocks: Vec<u16>,
    /// The instructions that report that they are done.
    pub reporting: Vec<u16>,
}

/// Weaves a class so that it reports its instructions.
pub fn traced(class: ClassFile, numbers: &BlockNumbers) -> Result<Traced, Error> {
    with_reports(class, numbers, |_| false)
}

/// The same, but a thread reports nothing during the static initialiser.
pub fn traced_later(class: ClassFile, numbers: &BlockNumbers) -> Result<Traced, Error> {
    with_reports(class, numbers, |method| method == "<clinit>")
}

fn with_reports(
    class: ClassFile,
    numbers: &BlockNumbers,
    is_muted: impl Fn(&str) -> bool,
) -> Result<Traced, Error> {
    let name = class.name()?.into_owned();
    let traced = RefCell::new(Vec::new());
    let woven = weave(class, |weaver| {
        if is_muted(weaver.name) {
            mute(weaver)?;
            return Ok(true);
        }
        let method = MethodPlan::new(weaver, numbers)?.weave()?;
        let key = format!("{name}.{}{}", weaver.name, weaver.descriptor);
        traced.borrow_mut().push((key, method));
        Ok(true)
    })?;
    let mut methods = traced.into_inner();
    methods.retain(|(key, _)| !woven.skipped.iter().any(|(skipped, _)| skipped == key));
    Ok(Traced {
        bytes: woven.bytes,
        methods: methods.into_iter().map(|(_, method)| method).collect(),
        skipped: woven.skipped,
    })
}

/// Methods that the JVM calls when it loads or links something, at a moment that depends on what ran before: the events
/// of their thread are none of the program's.
const MUTED: [(&str, &str); 6] = [
    ("java/lang/ClassLoader", "loadClass"),
    ("java/lang/invoke/MethodHandleNatives", "linkCallSite"),
    ("java/lang/invoke/MethodHandleNatives", "linkMethod"),
    (
        "java/lang/invoke/MethodHandleNatives",
        "linkDynamicConstant",
    ),
    (
        "java/lang/invoke/MethodHandleNatives",
        "linkMethodHandleConstant",
    ),
    (
        "java/lang/invoke/MethodHandleNatives",
        "findMethodHandleType",
    ),
];

/// The classes with methods during which a thread reports nothing.
pub fn muted_classes() -> BTreeSet<&'static str> {
    MUTED.iter().map(|(class, _)| *class).collect()
}

/// Weaves a class whose methods stop the reports of their thread.
pub fn muted(class: ClassFile) -> Result<Vec<u8>, Error> {
    let name = class.name()?.into_owned();
    let woven = weave(class, |weaver| {
        if !MUTED.contains(&(name.as_str(), weaver.name)) {
            return Ok(false);
        }
        mute(weaver)?;
        Ok(true)
    })?;
    Ok(woven.bytes)
}

/// Has a method stop the reports of its thread until it ends.
fn mute(weaver: &mut Weaver<'_>) -> Result<(), Error> {
    let call = |weaver: &mut Weaver<'_>, name: &str| {
        let mut asm = Asm::new();
        asm.invokestatic(weaver.pool.add_method_ref(TRACE, name, "()V")?);
        Ok::<Asm, Error>(asm)
    };
    let mute = call(weaver, "mute")?;
    let unmute = call(weaver, "unmute")?;
    weaver.editor.insert_entry(mute);
    weaver.at_returns(&unmute)?;
    weaver.around(&unmute)?;
    Ok(())
}

pub(crate) fn weave(
    class: ClassFile,
    plan: impl Fn(&mut Weaver<'_>) -> Result<bool, Error>,
) -> Result<crate::Woven, Error> {
    let settings = Settings {
        lines: None,
        strangers: &[],
        purpose: Purpose::Record,
        arrays: Arrays::Contents,
        id_field: false,
        kin: false,
        references: References::Kept(&[]),
    };
    let numbers = SiteNumbers::default();
    method::weave_class(class, settings, &numbers, |_, _| false, plan, |_| Ok(()))
}

/// Packages of the JDK whose code is not traced, with the reasons: locks and pools are run by threads of the JVM and
/// wait in native code; archives and logs serve class loading; locales and bundles are looked up by the JVM itself.
const UNTRACED: [&str; 12] = [
    "java/util/concurrent/",
    "java/util/jar/",
    "java/util/zip/",
    "java/util/logging/",
    "java/util/prefs/",
    "java/util/spi/",
    "java/util/ServiceLoader",
    "java/util/ResourceBundle",
    "java/util/Locale",
    "java/util/TimeZone",
    "java/util/Properties",
    "java/util/Timer",
];

/// Classes in `java.lang` that are traced, with the classes nested in them.
const TRACED: [&str; 22] = [
    "java/lang/AbstractStringBuilder",
    "java/lang/Boolean",
    "java/lang/Byte",
    "java/lang/CharSequence",
    "java/lang/Character",
    "java/lang/CharacterData",
    "java/lang/CharacterDataLatin1",
    "java/lang/Comparable",
    "java/lang/Double",
    "java/lang/Float",
    "java/lang/Integer",
    "java/lang/Iterable",
    "java/lang/Long",
    "java/lang/Math",
    "java/lang/Number",
    "java/lang/Short",
    "java/lang/String",
    "java/lang/StringBuffer",
    "java/lang/StringBuilder",
    "java/lang/StringCoding",
    "java/lang/StringLatin1",
    "java/lang/StringUTF16",
];

/// True for a class of the JDK that is traced with the program.
pub fn is_traced_library(class: &str) -> bool {
    if class.starts_with("java/util/") {
        return !UNTRACED.iter().any(|untraced| class.starts_with(untraced));
    }
    let outer = class.split_once('$').map_or(class, |(outer, _)| outer);
    TRACED.contains(&outer)
}

/// Numbers of temporaries.
const VALUE: usize = 0;
const OBJECT: usize = 1;
const INDEX: usize = 2;
const OTHER: usize = 3;
const OTHER_INDEX: usize = 4;
const LENGTH: usize = 5;

const OBJECT_CLASS: &str = "java/lang/Object";

/// A method and its reports.
struct MethodPlan<'w, 'a> {
    weaver: &'w mut Weaver<'a>,
    simulation: std::rc::Rc<Simulation>,
    /// The local with the depth of the activation.
    depth: u16,
    first_block: u32,
    blocks: Vec<u16>,
    reporting: Vec<u16>,
}

impl<'w, 'a> MethodPlan<'w, 'a> {
    fn new(
        weaver: &'w mut Weaver<'a>,
        numbers: &BlockNumbers,
    ) -> Result<MethodPlan<'w, 'a>, Error> {
        let blocks = block_starts(weaver.code)?;
        Ok(MethodPlan {
            simulation: weaver.simulation()?,
            depth: weaver.editor.new_live_local(VerificationType::Integer),
            first_block: numbers.take(blocks.len())?,
            blocks,
            reporting: Vec::new(),
            weaver,
        })
    }

    fn weave(mut self) -> Result<TracedMethod, Error> {
        self.enter()?;
        self.begin_blocks()?;
        let code = self.weaver.code;
        let mut silent: Option<u32> = None;
        for instruction in code.instructions() {
            let instruction = instruction?;
            if self.blocks.binary_search(&(instruction.pc as u16)).is_ok() {
                silent = None;
            }
            if may_throw(&instruction) {
                // A silent one must report now that another follows.
                if let Some(pc) = silent.take() {
                    self.done(pc)?;
                }
            }
            if is_silent(&instruction) {
                silent = Some(instruction.pc);
            } else if self.report(&instruction)? {
                self.reporting.push(instruction.pc as u16);
            }
        }
        let mut left = Asm::new();
        left.dup().iload(self.depth);
        self.call(&mut left, "left", "(Ljava/lang/Object;I)V")?;
        self.weaver.around(&left)?;
        self.reporting.sort_unstable();
        let index = u16::try_from(self.weaver.number);
        Ok(TracedMethod {
            index: index.map_err(|_| Error::Trace("there are too many methods"))?,
            first_block: self.first_block,
            blocks: self.blocks,
            reporting: self.reporting,
        })
    }

    fn call(&mut self, asm: &mut Asm, name: &str, descriptor: &str) -> Result<(), Error> {
        asm.invokestatic(self.weaver.pool.add_method_ref(TRACE, name, descriptor)?);
        Ok(())
    }

    /// Reports the activation, its receiver and its arguments.
    fn enter(&mut self) -> Result<(), Error> {
        let mut asm = Asm::new();
        asm.push_int(self.weaver.pool, self.first_block as i32)?;
        self.call(&mut asm, "enter", "(I)I")?;
        asm.istore(self.depth);
        if !self.weaver.is_static() && !self.weaver.is_constructor() {
            asm.aload(0);
            self.call(&mut asm, "argument", "(Ljava/lang/Object;)V")?;
        }
        let mut local = u16::from(!self.weaver.is_static());
        let descriptor = self.weaver.descriptor;
        let parts = split_descriptor(descriptor);
        let (parameters, _) = parts.ok_or_else(|| Error::Descriptor(descriptor.to_owned()))?;
        for parameter in parameters {
            let kind = LocalKind::of(parameter);
            asm.load(kind, local);
            self.call(&mut asm, "argument", &format!("({})V", letter(kind)))?;
            local += kind.slots();
        }
        self.weaver.editor.insert_entry(asm);
        Ok(())
    }

    /// Reports each block where it begins. The first one is reported by the entry, and again where a jump leads to it.
    fn begin_blocks(&mut self) -> Result<(), Error> {
        let code = self.weaver.code;
        let handlers: BTreeSet<u16> = code.handlers.iter().map(|it| it.handler).collect();
        let mut is_start_jumped_to = false;
        for instruction in code.instructions() {
            is_start_jumped_to |= instruction?.targets().any(|target| target == 0);
        }
        for (number, pc) in (self.first_block..).zip(self.blocks.clone()) {
            let mut asm = Asm::new();
            if handlers.contains(&pc) {
                asm.dup().push_int(self.weaver.pool, number as i32)?;
                asm.iload(self.depth);
                self.call(&mut asm, "caught", "(Ljava/lang/Object;II)V")?;
            } else if pc > 0 || is_start_jumped_to {
                asm.push_int(self.weaver.pool, number as i32)?;
                self.call(&mut asm, "block", "(I)V")?;
            }
            self.weaver.editor.insert_before(u32::from(pc), asm);
        }
        Ok(())
    }

    /// Has a silent instruction report that it is done.
    fn done(&mut self, pc: u32) -> Result<(), Error> {
        let mut asm = Asm::new();
        self.call(&mut asm, "done", "()V")?;
        self.weaver.editor.insert_after(pc, asm);
        self.reporting.push(pc as u16);
        Ok(())
    }

    /// Has an instruction report its effect; true if it does.
    fn report(&mut self, instruction: &Instruction<'_>) -> Result<bool, Error> {
        let mut after = Asm::new();
        match instruction.opcode {
            op::GETFIELD | op::GETSTATIC | op::PUTFIELD | op::PUTSTATIC => {
                if !self.field(instruction, &mut after)? {
                    return Ok(false);
                }
            }
            op::IALOAD..=op::SALOAD => self.load_element(instruction, &mut after)?,
            op::IASTORE..=op::SASTORE => self.store_element(instruction, &mut after)?,
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => self.invoke(instruction, &mut after)?,
            op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY => {
                after.dup();
                self.call(&mut after, "array", "(Ljava/lang/Object;)V")?;
            }
            op::IRETURN..=op::RETURN => {
                let mut before = Asm::new();
                let result = return_kind(instruction.opcode);
                self.value_and_depth(&mut before, result, "returned")?;
                self.weaver.editor.insert_before(instruction.pc, before);
                return Ok(false);
            }
            _ => return Ok(false),
        }
        self.weaver.editor.insert_after(instruction.pc, after);
        Ok(true)
    }

    /// Calls a probe with a copy of the value on the stack, if there is one, and with the depth.
    fn value_and_depth(
        &mut self,
        asm: &mut Asm,
        value: Option<LocalKind>,
        name: &str,
    ) -> Result<(), Error> {
        if let Some(kind) = value {
            asm.dup_value(kind);
        }
        asm.iload(self.depth);
        let letter = value.map_or("", letter);
        self.call(asm, name, &format!("({letter}I)V"))
    }

    fn temporary(&mut self, number: usize, kind: LocalKind) -> u16 {
        self.weaver.temporary_for(number, kind, OBJECT_CLASS)
    }

    /// Moves the reference on the stack to a temporary in which only its identity matters.
    fn keep_object(&mut self, asm: &mut Asm, number: usize) -> Result<u16, Error> {
        let local = self.temporary(number, LocalKind::Reference);
        self.weaver.blur(asm)?;
        asm.astore(local);
        Ok(local)
    }

    fn field(&mut self, instruction: &Instruction<'_>, after: &mut Asm) -> Result<bool, Error> {
        let named = self.weaver.named(instruction)?;
        let named = named.ok_or(Error::Trace("an access names no field"))?;
        let descriptor = named.target().descriptor.to_owned();
        let kind = LocalKind::of(&descriptor);
        let probe = format!("({}Ljava/lang/Object;)V", letter(kind));
        let mut before = Asm::new();
        match instruction.opcode {
            op::GETSTATIC => {
                after.dup_value(kind).aconst_null();
            }
            op::GETFIELD => {
                before.dup();
                let object = self.keep_object(&mut before, OBJECT)?;
                after.dup_value(kind).aload(object);
            }
            op::PUTSTATIC => {
                before.dup_value(kind);
                let value = match kind {
                    LocalKind::Reference => self.keep_object(&mut before, VALUE)?,
                    _ => {
                        let value = self.temporary(VALUE, kind);
                        before.store(kind, value);
                        value
                    }
                };
                after.load(kind, value).aconst_null();
            }
            _ => {
                let state = self.simulation.at(instruction.pc);
                let below = usize::from(kind.slots()) + 1;
                let owner =
                    state.and_then(|it| it.stack.len().checked_sub(below).map(|at| it.stack[at]));
                if owner == Some(SlotType::UninitializedThis) {
                    return Ok(false);
                }
                let value = self.weaver.temporary_for(VALUE, kind, &descriptor);
                before.store(kind, value).dup();
                let object = self.keep_object(&mut before, OBJECT)?;
                before.load(kind, value);
                after.load(kind, value).aload(object);
            }
        }
        self.weaver.editor.insert_before(instruction.pc, before);
        self.call(after, "field", &probe)?;
        Ok(true)
    }

    fn load_element(
        &mut self,
        instruction: &Instruction<'_>,
        after: &mut Asm,
    ) -> Result<(), Error> {
        let kind = element_kind(instruction.opcode - op::IALOAD);
        let index = self.temporary(INDEX, LocalKind::Int);
        let mut before = Asm::new();
        before.dup2().istore(index);
        let array = self.keep_object(&mut before, OBJECT)?;
        self.weaver.editor.insert_before(instruction.pc, before);
        after.dup_value(kind).aload(array).iload(index);
        self.call(
            after,
            "element",
            &format!("({}Ljava/lang/Object;I)V", letter(kind)),
        )
    }

    fn store_element(
        &mut self,
        instruction: &Instruction<'_>,
        after: &mut Asm,
    ) -> Result<(), Error> {
        let kind = element_kind(instruction.opcode - op::IASTORE);
        let index = self.temporary(INDEX, LocalKind::Int);
        let value = self.temporary(VALUE, kind);
        let mut before = Asm::new();
        if kind == LocalKind::Reference {
            self.weaver.blur(&mut before)?;
        }
        before.store(kind, value).dup2().istore(index);
        let array = self.keep_object(&mut before, OBJECT)?;
        before.load(kind, value);
        self.weaver.editor.insert_before(instruction.pc, before);
        after.load(kind, value).aload(array).iload(index);
        self.call(
            after,
            "element",
            &format!("({}Ljava/lang/Object;I)V", letter(kind)),
        )
    }

    fn invoke(&mut self, instruction: &Instruction<'_>, after: &mut Asm) -> Result<(), Error> {
        let index = instruction.pool_index().unwrap_or(0);
        let descriptor = self.weaver.pool.descriptor_bytes(index)?;
        let descriptor = String::from_utf8_lossy(descriptor).into_owned();
        let result = split_descriptor(&descriptor).map(|(_, result)| result.to_owned());
        let result = result.ok_or_else(|| Error::Descriptor(descriptor.clone()))?;
        let result = (result != "V").then(|| LocalKind::of(&result));
        let (owner, name) = match instruction.opcode {
            op::INVOKEDYNAMIC => (String::new(), String::new()),
            _ => {
                let member = self.weaver.pool.member(index)?;
                (member.owner.into_owned(), member.name.into_owned())
            }
        };
        let is_clone = name == "clone"
            && descriptor == "()Ljava/lang/Object;"
            && instruction.opcode != op::INVOKESTATIC;
        if (owner.as_str(), name.as_str()) == ("java/lang/System", "arraycopy") {
            self.arraycopy(instruction, after)?;
        } else if is_clone {
            let mut before = Asm::new();
            before.dup();
            let original = self.keep_object(&mut before, OBJECT)?;
            self.weaver.editor.insert_before(instruction.pc, before);
            after.dup().aload(original);
            let descriptor = "(Ljava/lang/Object;Ljava/lang/Object;)V";
            self.call(after, "cloned", descriptor)?;
        }
        self.value_and_depth(after, result, "result")?;
        if name == "<init>" && instruction.opcode == op::INVOKESPECIAL {
            self.initialised(instruction, &descriptor, after)?;
        }
        Ok(())
    }

    fn arraycopy(&mut self, instruction: &Instruction<'_>, after: &mut Asm) -> Result<(), Error> {
        let length = self.temporary(LENGTH, LocalKind::Int);
        let into = self.temporary(OTHER_INDEX, LocalKind::Int);
        let at = self.temporary(INDEX, LocalKind::Int);
        let mut before = Asm::new();
        before.istore(length).istore(into);
        let to = self.keep_object(&mut before, OTHER)?;
        before.istore(at);
        let from = self.keep_object(&mut before, OBJECT)?;
        let mut all = Asm::new();
        all.aload(from)
            .iload(at)
            .aload(to)
            .iload(into)
            .iload(length);
        before.append(&all);
        after.append(&all);
        self.weaver.editor.insert_before(instruction.pc, before);
        self.call(
            after,
            "copied",
            "(Ljava/lang/Object;ILjava/lang/Object;II)V",
        )
    }

    /// Reports the object that a constructor call has initialised, where code can name it.
    fn initialised(
        &mut self,
        instruction: &Instruction<'_>,
        descriptor: &str,
        after: &mut Asm,
    ) -> Result<(), Error> {
        let Some(state) = self.simulation.at(instruction.pc) else {
            return Ok(());
        };
        let slots = method::parameter_shapes(descriptor)?.into_iter();
        let slots: u16 = slots.map(|it| crate::probe::local_kind(it).slots()).sum();
        let receiver = state.stack.len().checked_sub(usize::from(slots) + 1);
        let Some(receiver) = receiver else {
            return Ok(());
        };
        match state.stack[receiver] {
            SlotType::UninitializedThis if state.local(0) == SlotType::UninitializedThis => {
                after.aload(0);
            }
            new @ SlotType::Uninitialized(_)
                if receiver > 0 && state.stack[receiver - 1] == new =>
            {
                after.dup();
            }
            _ => return Ok(()),
        }
        self.call(after, "initialised", "(Ljava/lang/Object;)V")
    }
}

/// Where blocks begin: at the start, at targets of jumps, after instructions that jump or end, and at handlers.
fn block_starts(code: &Code) -> Result<Vec<u16>, Error> {
    let mut starts = BTreeSet::from([0]);
    starts.extend(code.handlers.iter().map(|it| i64::from(it.handler)));
    for instruction in code.instructions() {
        let instruction = instruction?;
        if matches!(instruction.opcode, op::JSR | op::JSR_W | op::RET) {
            return Err(Error::Trace("it has subroutines"));
        }
        starts.extend(instruction.targets());
        let ends = !instruction.falls_through() || instruction.is_conditional();
        if ends && (instruction.next_pc() as usize) < code.bytes.len() {
            starts.insert(i64::from(instruction.next_pc()));
        }
    }
    let starts = starts.into_iter().map(u16::try_from);
    starts
        .collect::<Result<_, _>>()
        .map_err(|_| Error::Trace("a jump leads out of it"))
}

/// True for an instruction that may throw.
fn may_throw(instruction: &Instruction<'_>) -> bool {
    is_silent(instruction)
        || matches!(
            instruction.opcode,
            op::IALOAD..=op::SALOAD
                | op::IASTORE..=op::SASTORE
                | op::GETSTATIC..=op::INVOKEDYNAMIC
                | op::NEWARRAY
                | op::ANEWARRAY
                | op::MULTIANEWARRAY
                | op::ATHROW
        )
}

/// True for an instruction that may throw and whose effect the code alone tells.
fn is_silent(instruction: &Instruction<'_>) -> bool {
    matches!(
        instruction.opcode,
        op::IDIV
            | op::LDIV
            | op::IREM
            | op::LREM
            | op::ARRAYLENGTH
            | op::CHECKCAST
            | op::MONITORENTER
    )
}

/// The kind of elements by the distance from the first instruction of its group.
fn element_kind(distance: u8) -> LocalKind {
    match distance {
        1 => LocalKind::Long,
        2 => LocalKind::Float,
        3 => LocalKind::Double,
        4 => LocalKind::Reference,
        _ => LocalKind::Int,
    }
}

fn return_kind(opcode: u8) -> Option<LocalKind> {
    match opcode {
        op::RETURN => None,
        opcode => Some(element_kind(opcode - op::IRETURN)),
    }
}

/// The parameter of a probe that takes a value.
fn letter(kind: LocalKind) -> &'static str {
    match kind {
        LocalKind::Int => "I",
        LocalKind::Long => "J",
        LocalKind::Float => "F",
        LocalKind::Double => "D",
        LocalKind::Reference => "Ljava/lang/Object;",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_classfile::{access, tag};

    const RUNTIME: &[u8] =
        include_bytes!("../../../java/runtime/classes/culprit/runtime/Trace.class");
    const EXAMPLE: &[u8] =
        include_bytes!("../../../java/runtime/classes/culprit/runtime/Values.class");

    #[test]
    fn the_runtime_has_every_probe_of_a_trace() {
        let runtime = ClassFile::parse(RUNTIME).unwrap();
        let public = runtime
            .methods
            .iter()
            .filter(|it| it.access & access::PUBLIC != 0);
        let name = |index| runtime.pool.utf8(index).unwrap().into_owned();
        let offered: BTreeSet<_> = public
            .map(|it| (name(it.name), name(it.descriptor)))
            .collect();
        let example = ClassFile::parse(EXAMPLE).unwrap();
        let traced = traced(example, &BlockNumbers::default()).unwrap();
        assert_eq!(traced.skipped, []);
        let woven = ClassFile::parse(&traced.bytes).unwrap();
        let mut used = BTreeSet::new();
        for index in 1..woven.pool.count() as u16 {
            if woven.pool.tag(index) == Some(tag::METHOD) {
                let member = woven.pool.member(index).unwrap();
                if member.owner == TRACE {
                    used.insert((member.name.into_owned(), member.descriptor.into_owned()));
                }
            }
        }
        assert!(used.len() > 12, "{used:?}");
        let missing: Vec<_> = used.difference(&offered).collect();
        assert_eq!(missing, Vec::<&(String, String)>::new());
    }

    #[test]
    fn blocks_of_methods_have_numbers_of_their_own() {
        let example = ClassFile::parse(EXAMPLE).unwrap();
        let traced = traced(example, &BlockNumbers::default()).unwrap();
        let mut next = 0;
        for method in &traced.methods {
            assert_eq!(method.first_block, next);
            assert_eq!(method.blocks.first(), Some(&0));
            assert!(method.reporting.is_sorted());
            next += method.blocks.len() as u32;
        }
    }

    #[test]
    fn collections_and_strings_are_traced_and_locks_are_not() {
        for (class, expect) in [
            ("java/util/ArrayList", true),
            ("java/util/HashMap$Node", true),
            ("java/util/stream/ReferencePipeline", true),
            ("java/util/concurrent/locks/ReentrantLock", false),
            ("java/util/zip/ZipFile", false),
            ("java/lang/Integer$IntegerCache", true),
            ("java/lang/StringLatin1", true),
            ("java/lang/Thread", false),
            ("java/lang/ClassLoader", false),
        ] {
            assert_eq!(is_traced_library(class), expect, "{class}");
        }
    }
}
