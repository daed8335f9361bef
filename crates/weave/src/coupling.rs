//! The plan for `--suggest`: every method notes who called it, and what is not woven (the JDK) or
//! not called (fields) is counted where the code names it. Nothing is recorded.
//!
//! Counting at the callee's entry makes the counts exact where a call site is not: it sees the
//! class that dynamic dispatch chose, and calls that came through the JDK.

use culprit_classfile::{Asm, ClassFile, Instruction, op};
use culprit_model::observe::is_jdk_name;
use culprit_model::options::Arrays;
use culprit_model::value::split_descriptor;

use crate::fresh;
use crate::library::{self, CallPolicy, ClassRole};
use crate::method::{self, MemberTarget, Weaver};
use crate::{Error, Purpose, References, Settings, SiteNumbers, Woven};

/// The runtime's class that counts.
pub const COUNTER: &str = "culprit/runtime/Counter";

/// Its probes: name and descriptor.
const PROBES: [(&str, &str); 5] = [
    ("enter", "(I)J"),
    ("given", "(IIJ)V"),
    ("leave", "(J)V"),
    ("resume", "(IJ)V"),
    ("count", "(III)V"),
];

/// What is counted of a class, by the number that is added to four times the class's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum CouplingCount {
    /// Calls of methods.
    Calls = 0,
    /// Calls of constructors.
    Constructions = 1,
    /// Arrays given to either.
    Arrays = 2,
    /// Accesses to fields.
    Accesses = 3,
}

impl CouplingCount {
    /// The kind of a row.
    pub fn of_row(row: u32) -> CouplingCount {
        match row & 3 {
            0 => CouplingCount::Calls,
            1 => CouplingCount::Constructions,
            2 => CouplingCount::Arrays,
            _ => CouplingCount::Accesses,
        }
    }
}

/// Numbers for what is counted.
pub trait Numbers {
    /// The number of a class, by its internal name.
    fn class(&self, name: &str) -> u32;

    /// The number under which accesses to a field are counted: that of the class which declares
    /// it, or one that stands for the field until that class is known.
    fn field(&self, owner: &str, name: &str) -> u32;

    /// The number under which calls of live library code are counted.
    fn live(&self) -> u32;
}

/// Weaves a class with counters.
pub fn counted(class: ClassFile, numbers: &dyn Numbers) -> Result<Woven, Error> {
    let settings = Settings {
        lines: None,
        strangers: &[],
        purpose: Purpose::Record,
        arrays: Arrays::Contents,
        id_field: false,
        kin: false,
        references: References::Kept(&[]),
    };
    let own = numbers.class(&class.name()?);
    method::weave_class(
        class,
        settings,
        &SiteNumbers::default(),
        |_, _| false,
        |weaver| weave(weaver, numbers, own),
        |_| Ok(()),
    )
}

fn weave(weaver: &mut Weaver<'_>, numbers: &dyn Numbers, own: u32) -> Result<bool, Error> {
    let token = weaver.token();
    let arrays = arrays_in(weaver.descriptor)?;
    let entered = if weaver.is_constructor() {
        CouplingCount::Constructions
    } else {
        CouplingCount::Calls
    };
    let mut entry = Asm::new();
    push(weaver, &mut entry, row(own, entered))?;
    probe(weaver, &mut entry, "enter")?;
    entry.lstore(token);
    if arrays > 0 {
        push(weaver, &mut entry, row(own, CouplingCount::Arrays))?;
        push(weaver, &mut entry, arrays)?;
        entry.lload(token);
        probe(weaver, &mut entry, "given")?;
    }
    weaver.editor.insert_entry(entry);

    let mut leave = Asm::new();
    leave.lload(token);
    probe(weaver, &mut leave, "leave")?;
    let mut resume = Asm::new();
    push(weaver, &mut resume, own)?;
    resume.lload(token);
    probe(weaver, &mut resume, "resume")?;
    let mut handlers: Vec<u16> = weaver.code.handlers.iter().map(|h| h.handler).collect();
    handlers.sort_unstable();
    handlers.dedup();
    for handler in handlers {
        weaver
            .editor
            .insert_before(u32::from(handler), resume.clone());
    }

    let this_calls = if weaver.is_constructor() {
        weaver.this_calls()?
    } else {
        Vec::new()
    };
    let code = weaver.code;
    for instruction in code.instructions() {
        let instruction = instruction?;
        match instruction.opcode {
            op::INVOKESPECIAL if this_calls.contains(&instruction.pc) => {}
            op::INVOKEVIRTUAL | op::INVOKESPECIAL | op::INVOKESTATIC | op::INVOKEINTERFACE => {
                call(weaver, numbers, own, &instruction)?;
            }
            op::GETFIELD | op::GETSTATIC | op::PUTFIELD | op::PUTSTATIC => {
                field(weaver, numbers, own, &instruction)?;
            }
            _ if instruction.is_return() => {
                weaver.editor.insert_before(instruction.pc, leave.clone());
            }
            _ => {}
        }
    }
    weaver.around(&leave)?;
    Ok(true)
}

/// Counts a call to the JDK, whose code is not woven. Other calls are counted where they arrive.
fn call(
    weaver: &mut Weaver<'_>,
    numbers: &dyn Numbers,
    own: u32,
    instruction: &Instruction<'_>,
) -> Result<(), Error> {
    let Some(named) = weaver.named(instruction)? else {
        return Ok(());
    };
    let target = named.target();
    let MemberTarget {
        owner,
        name,
        descriptor,
        is_static,
    } = target;
    if !is_jdk_name(owner) {
        return Ok(());
    }
    let policy = match instruction.opcode {
        _ if is_static || name == "<init>" => library::static_call(owner, name, descriptor),
        op::INVOKESPECIAL => library::super_call(owner, descriptor),
        _ => library::instance_call(owner, name, descriptor),
    };
    let (number, arrays) = match policy {
        CallPolicy::Inside => return Ok(()),
        CallPolicy::ByReceiver | CallPolicy::ByArguments
            if library::role(owner) != ClassRole::External =>
        {
            if fresh::is_fresh_builder(weaver, instruction, &target)? {
                return Ok(());
            }
            (numbers.live(), 0)
        }
        _ => (numbers.class(owner), arrays_in(descriptor)?),
    };
    let mut asm = Asm::new();
    count(weaver, &mut asm, row(number, CouplingCount::Calls), own, 1)?;
    if arrays > 0 {
        count(
            weaver,
            &mut asm,
            row(number, CouplingCount::Arrays),
            own,
            arrays,
        )?;
    }
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(())
}

/// Counts an access to a field of another class.
fn field(
    weaver: &mut Weaver<'_>,
    numbers: &dyn Numbers,
    own: u32,
    instruction: &Instruction<'_>,
) -> Result<(), Error> {
    let Some(index) = instruction.pool_index() else {
        return Ok(());
    };
    let member = weaver.pool.member(index)?;
    let (owner, name) = (member.owner.into_owned(), member.name.into_owned());
    let is_static = matches!(instruction.opcode, op::GETSTATIC | op::PUTSTATIC);
    if is_jdk_name(&owner) && !(is_static && library::is_external_static(&owner, &name)) {
        return Ok(());
    }
    let number = numbers.field(&owner, &name);
    if number == own {
        return Ok(());
    }
    let mut asm = Asm::new();
    count(
        weaver,
        &mut asm,
        row(number, CouplingCount::Accesses),
        own,
        1,
    )?;
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(())
}

fn row(number: u32, tally: CouplingCount) -> u32 {
    number << 2 | tally as u32
}

fn count(
    weaver: &mut Weaver<'_>,
    asm: &mut Asm,
    row: u32,
    column: u32,
    by: u32,
) -> Result<(), Error> {
    push(weaver, asm, row)?;
    push(weaver, asm, column)?;
    push(weaver, asm, by)?;
    probe(weaver, asm, "count")
}

fn push(weaver: &mut Weaver<'_>, asm: &mut Asm, number: u32) -> Result<(), Error> {
    asm.push_int(weaver.pool, number as i32)?;
    Ok(())
}

fn probe(weaver: &mut Weaver<'_>, asm: &mut Asm, name: &str) -> Result<(), Error> {
    let (name, descriptor) = PROBES
        .iter()
        .find(|(n, _)| *n == name)
        .ok_or_else(|| Error::NoProbe(name.to_owned()))?;
    let method = weaver.pool.add_method_ref(COUNTER, name, descriptor)?;
    asm.invokestatic(method);
    Ok(())
}

fn arrays_in(descriptor: &str) -> Result<u32, Error> {
    let (parameters, _) =
        split_descriptor(descriptor).ok_or_else(|| Error::Descriptor(descriptor.to_owned()))?;
    Ok(parameters.iter().filter(|p| p.starts_with('[')).count() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_classfile::access;

    #[test]
    fn the_runtime_has_every_counting_probe() {
        let bytes = include_bytes!("../../../java/runtime/classes/culprit/runtime/Counter.class");
        let class = ClassFile::parse(bytes).unwrap();
        let utf8 = |index| class.pool.utf8(index).unwrap().into_owned();
        let mut offered: Vec<_> = class
            .methods
            .iter()
            .filter(|m| m.access & access::PUBLIC != 0)
            .map(|m| (utf8(m.name), utf8(m.descriptor)))
            .collect();
        let mut expected: Vec<_> = PROBES
            .iter()
            .map(|(n, d)| ((*n).to_owned(), (*d).to_owned()))
            .collect();
        offered.sort();
        expected.sort();
        assert_eq!(offered, expected);
    }

    #[test]
    fn a_row_tells_what_is_counted() {
        for tally in [
            CouplingCount::Calls,
            CouplingCount::Constructions,
            CouplingCount::Arrays,
            CouplingCount::Accesses,
        ] {
            assert_eq!(CouplingCount::of_row(row(7, tally)), tally);
        }
    }
}
