//! Arguments that observed code gives to library code which runs live. One that came from outside is
//! an empty object on replay; before the call looks into it, its state is told. What an argument is
//! shows at run time; here is decided where to look.

use culprit_classfile::{Asm, Instruction, LocalKind};
use culprit_model::SiteKind;
use culprit_model::value::split_descriptor;

use crate::calls;
use crate::identity;
use crate::library;
use crate::method::{MemberTarget, Weaver};
use crate::{Error, World};

/// Looks at the arguments of a call that never leaves; those of other calls are looked at where
/// these are recorded.
pub(crate) fn weave(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    token: u16,
    instruction: &Instruction<'_>,
    own: bool,
) -> Result<(), Error> {
    let Some(named) = weaver.named(instruction)? else {
        return Ok(());
    };
    let target = named.target();
    let opcode = instruction.opcode;
    if !world.is_library(target.owner)
        || library::looks_away(target.owner, target.name)
        || identity::tells_argument(&target)
        || calls::leaves(opcode, &target, own, weaver, world)
    {
        return Ok(());
    }
    let (parameters, _) = split_descriptor(target.descriptor)
        .ok_or_else(|| Error::Descriptor(target.descriptor.to_owned()))?;
    arguments(weaver, token, instruction, &target, &parameters)
}

/// Looks at those of the values on the stack that may have a state.
fn arguments(
    weaver: &mut Weaver<'_>,
    token: u16,
    instruction: &Instruction<'_>,
    target: &MemberTarget<'_>,
    parameters: &[&str],
) -> Result<(), Error> {
    let matters = |parameter: &&str| library::may_have_state(parameter);
    let Some(first) = parameters.iter().position(matters) else {
        return Ok(());
    };
    let site = weaver.site(SiteKind::Call, Some(instruction.pc), target);
    // All but the first are moved out of the way.
    let mut locals = Vec::new();
    for (i, parameter) in parameters.iter().enumerate().skip(first + 1) {
        let kind = LocalKind::of(parameter);
        locals.push((kind, weaver.temporary_for(i + 2, kind, parameter)));
    }
    let mut asm = Asm::new();
    for (kind, local) in locals.iter().rev() {
        asm.store(*kind, *local);
    }
    look(weaver, &mut asm, token, site)?;
    for (parameter, (kind, local)) in parameters[first + 1..].iter().zip(&locals) {
        asm.load(*kind, *local);
        if matters(parameter) {
            look(weaver, &mut asm, token, site)?;
        }
    }
    calls::forget(&mut asm, &locals);
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(())
}

/// Looks at the value on top of the stack.
fn look(
    weaver: &mut Weaver<'_>,
    asm: &mut Asm,
    token: u16,
    site: culprit_model::SiteId,
) -> Result<(), Error> {
    asm.dup().lload(token);
    weaver.push_site(asm, site)?;
    weaver.probe(asm, "given")
}
