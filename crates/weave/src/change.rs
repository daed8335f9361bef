//! Code that can be changed while it runs: chosen instructions hand their values to `culprit.change.Change`, which returns
//! others when a run is an experiment.

use std::cell::RefCell;
use std::collections::BTreeMap;

use culprit_classfile::{Asm, ClassFile, Instruction, SlotType, op};

use crate::Error;
use crate::method::Weaver;
use crate::trace::weave;

/// The class that changes values, for the class path of the program.
pub const CHANGE: &str = "culprit/change/Change";

/// Its class file.
pub const CHANGE_CLASS: &[u8] =
    include_bytes!("../../../java/change/classes/culprit/change/Change.class");

/// An instruction of a class: the name and the descriptor of its method, and its place in the code.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstructionPlace {
    pub method: String,
    pub descriptor: String,
    pub pc: u32,
}

/// What can be changed of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changeable {
    /// The way that it goes.
    Branch,
    /// The value that it leaves.
    Value(ChangedKind),
}

/// The kind of a value that can be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangedKind {
    /// `int` and everything narrower.
    Int,
    Long,
    Float,
    Double,
    /// A string, or null.
    Text,
}

impl ChangedKind {
    /// The descriptor of the type.
    fn descriptor(self) -> &'static str {
        match self {
            ChangedKind::Int => "I",
            ChangedKind::Long => "J",
            ChangedKind::Float => "F",
            ChangedKind::Double => "D",
            ChangedKind::Text => "Ljava/lang/String;",
        }
    }
}

/// A class with instructions that can be changed.
#[derive(Debug)]
pub struct ChangeableClass {
    pub bytes: Vec<u8>,
    /// By their numbers.
    pub kinds: BTreeMap<u32, Changeable>,
}

/// Makes some instructions of a class changeable, each by its number. Those that have nothing to change are left out.
pub fn changeable(
    class: ClassFile,
    places: &BTreeMap<InstructionPlace, u32>,
) -> Result<ChangeableClass, Error> {
    let kinds = RefCell::new(BTreeMap::new());
    let woven = weave(class, |weaver| {
        let own = places.iter().filter(|(place, _)| {
            place.method == weaver.name && place.descriptor == weaver.descriptor
        });
        let own: BTreeMap<u32, u32> = own.map(|(place, number)| (place.pc, *number)).collect();
        if own.is_empty() {
            return Ok(false);
        }
        let code = weaver.code;
        for instruction in code.instructions() {
            let instruction = instruction?;
            if let Some(number) = own.get(&instruction.pc) {
                let kind = change(weaver, &instruction, *number)?;
                kinds.borrow_mut().extend(kind.map(|kind| (*number, kind)));
            }
        }
        Ok(true)
    })?;
    Ok(ChangeableClass {
        bytes: woven.bytes,
        kinds: kinds.into_inner(),
    })
}

/// Has an instruction use another value, or leave one.
fn change(
    weaver: &mut Weaver<'_>,
    instruction: &Instruction<'_>,
    number: u32,
) -> Result<Option<Changeable>, Error> {
    let mut asm = Asm::new();
    let unary = match instruction.opcode {
        op::IFEQ | op::IFNE => Some("otherThanZero"),
        op::IFLT | op::IFGE => Some("otherThanNegative"),
        op::IFGT | op::IFLE => Some("otherThanPositive"),
        _ => None,
    };
    let binary = match instruction.opcode {
        op::IF_ICMPEQ | op::IF_ICMPNE => Some("otherThanEqual"),
        op::IF_ICMPLT | op::IF_ICMPGE => Some("otherThanLess"),
        op::IF_ICMPGT | op::IF_ICMPLE => Some("otherThanGreater"),
        _ => None,
    };
    const REFERENCE: &str = "Ljava/lang/Object;";
    let before = match (instruction.opcode, unary, binary) {
        (_, Some(name), _) => (name, "(II)I".to_owned(), false),
        (_, _, Some(name)) => (name, "(III)I".to_owned(), true),
        (op::IFNULL | op::IFNONNULL, ..) => {
            ("otherThanNull", format!("({REFERENCE}I){REFERENCE}"), false)
        }
        (op::IF_ACMPEQ | op::IF_ACMPNE, ..) => (
            "otherThanSame",
            format!("({REFERENCE}{REFERENCE}I){REFERENCE}"),
            true,
        ),
        _ => return change_value(weaver, instruction, number),
    };
    let (name, descriptor, is_binary) = before;
    if is_binary {
        asm.dup2();
    }
    asm.push_int(weaver.pool, number as i32)?;
    asm.invokestatic(weaver.pool.add_method_ref(CHANGE, name, &descriptor)?);
    if is_binary {
        asm.swap().pop();
    }
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(Some(Changeable::Branch))
}

/// Has an instruction leave another value on the stack, or in its local.
fn change_value(
    weaver: &mut Weaver<'_>,
    instruction: &Instruction<'_>,
    number: u32,
) -> Result<Option<Changeable>, Error> {
    let mut asm = Asm::new();
    if instruction.opcode == op::IINC {
        let local = instruction.local().unwrap_or(0);
        asm.iload(local).push_int(weaver.pool, number as i32)?;
        asm.invokestatic(weaver.pool.add_method_ref(CHANGE, "value", "(II)I")?);
        asm.istore(local);
        weaver.editor.insert_after(instruction.pc, asm);
        return Ok(Some(Changeable::Value(ChangedKind::Int)));
    }
    let simulation = weaver.simulation()?;
    let (before, after) = (
        simulation.at(instruction.pc),
        simulation.at(instruction.next_pc()),
    );
    let (Some(before), Some(after)) = (before, after) else {
        return Ok(None);
    };
    // It leaves nothing.
    if after.stack.is_empty() || after.stack.len() < before.stack.len() && !leaves(instruction) {
        return Ok(None);
    }
    let top = match after.stack.as_slice() {
        [
            ..,
            wide @ (SlotType::Long | SlotType::Double),
            SlotType::Top,
        ] => *wide,
        [.., top] => *top,
        [] => return Ok(None),
    };
    let kind = match top {
        SlotType::Integer => ChangedKind::Int,
        SlotType::Float => ChangedKind::Float,
        SlotType::Long => ChangedKind::Long,
        SlotType::Double => ChangedKind::Double,
        SlotType::Object(class) if simulation.class_name(class) == "java/lang/String" => {
            ChangedKind::Text
        }
        _ => return Ok(None),
    };
    let own = kind.descriptor();
    asm.push_int(weaver.pool, number as i32)?;
    let descriptor = format!("({own}I){own}");
    asm.invokestatic(weaver.pool.add_method_ref(CHANGE, "value", &descriptor)?);
    weaver.editor.insert_after(instruction.pc, asm);
    Ok(Some(Changeable::Value(kind)))
}

/// True for an instruction that leaves a value where it has taken more than one.
fn leaves(instruction: &Instruction<'_>) -> bool {
    matches!(
        instruction.opcode,
        op::IALOAD..=op::SALOAD
            | op::IADD..=op::LXOR
            | op::L2I..=op::DCMPG
            | op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC
            | op::GETFIELD
            | op::ARRAYLENGTH
            | op::INSTANCEOF
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use culprit_classfile::{Code, access, tag};

    use super::*;

    const EXAMPLE: &[u8] =
        include_bytes!("../../../java/runtime/classes/culprit/runtime/Values.class");

    /// All instructions of a class, numbered.
    fn places(class: &ClassFile) -> BTreeMap<InstructionPlace, u32> {
        let text = |index| class.pool.utf8(index).unwrap().into_owned();
        let mut places = BTreeMap::new();
        for method in &class.methods {
            let Some(code) = method.attribute(&class.pool, "Code") else {
                continue;
            };
            for instruction in Code::parse(code, &class.pool).unwrap().instructions() {
                let place = InstructionPlace {
                    method: text(method.name),
                    descriptor: text(method.descriptor),
                    pc: instruction.unwrap().pc,
                };
                let number = places.len() as u32;
                places.insert(place, number);
            }
        }
        places
    }

    #[test]
    fn every_method_that_changes_a_value_exists() {
        let example = ClassFile::parse(EXAMPLE).unwrap();
        let places = places(&example);
        let changed = changeable(example, &places).unwrap();
        assert!(changed.kinds.len() > 200, "{}", changed.kinds.len());
        let woven = ClassFile::parse(&changed.bytes).unwrap();
        let members = (1..woven.pool.count() as u16)
            .filter(|index| woven.pool.tag(*index) == Some(tag::METHOD))
            .map(|index| woven.pool.member(index).unwrap());
        let used: BTreeSet<_> = members
            .filter(|member| member.owner == CHANGE)
            .map(|member| (member.name.into_owned(), member.descriptor.into_owned()))
            .collect();
        assert!(used.len() > 6, "{used:?}");
        let change = ClassFile::parse(CHANGE_CLASS).unwrap();
        let name = |index| change.pool.utf8(index).unwrap().into_owned();
        let offered: BTreeSet<_> = change
            .methods
            .iter()
            .filter(|method| method.access & access::PUBLIC != 0)
            .map(|method| (name(method.name), name(method.descriptor)))
            .collect();
        let missing: Vec<_> = used.difference(&offered).collect();
        assert_eq!(missing, Vec::<&(String, String)>::new());
    }

    #[test]
    fn a_class_without_chosen_instructions_is_as_it_was() {
        let example = ClassFile::parse(EXAMPLE).unwrap();
        let same = example.write().unwrap();
        let changed = changeable(example, &BTreeMap::new()).unwrap();
        assert_eq!((changed.bytes == same, changed.kinds.len()), (true, 0));
    }
}
