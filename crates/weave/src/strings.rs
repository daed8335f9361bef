//! Where observed code asks whether two references are the same. Strings are told by content, so of two equal ones a
//! replay does not know whether they are one; what was found is told, and on replay decides.

use culprit_classfile::{Asm, Instruction, Simulation, SlotType};

use crate::Error;
use crate::method::Weaver;

/// The types that strings have.
const TYPES: [&str; 7] = [
    "java/lang/String",
    "java/lang/Object",
    "java/lang/CharSequence",
    "java/lang/Comparable",
    "java/io/Serializable",
    "java/lang/constant/Constable",
    "java/lang/constant/ConstantDesc",
];

const PROBE: &str = "compared";

/// Puts what is to be compared in the place of the second of two references that may both be strings. Whether they may.
pub(crate) fn weave(weaver: &mut Weaver<'_>, instruction: &Instruction<'_>) -> Result<bool, Error> {
    let simulation = weaver.simulation()?;
    let Some(state) = simulation.at(instruction.pc) else {
        return Ok(false);
    };
    let [.., one, other] = state.stack[..] else {
        return Ok(false);
    };
    if !may_be_string(&simulation, one) || !may_be_string(&simulation, other) {
        return Ok(false);
    }
    let mut asm = Asm::new();
    asm.dup2();
    weaver.probe(&mut asm, PROBE)?;
    asm.swap().pop();
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(true)
}

/// Whether the call of a probe is that before such a question.
pub(crate) fn is_probe(weaver: &Weaver<'_>, call: &Instruction<'_>) -> Result<bool, Error> {
    let named = weaver.named(call)?;
    Ok(named.is_some_and(|named| named.target().name == PROBE))
}

fn may_be_string(simulation: &Simulation, slot: SlotType) -> bool {
    match slot {
        SlotType::Object(class) => TYPES.contains(&&*simulation.class_name(class)),
        _ => false,
    }
}
