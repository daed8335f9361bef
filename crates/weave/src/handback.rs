//! Methods of observed classes that library code may call with objects of its own, such as `Format.parseObject` does
//! with a `ParsePosition`. Library code runs live and looks into them afterwards. Where they have left observed code
//! meanwhile, others may have changed them, so their state is told when the method returns. Whether library code knows
//! the method, and whether anything has left, shows at run time.

use culprit_classfile::{Asm, LocalKind, VerificationType, access, op};
use culprit_model::SiteId;
use culprit_model::value::split_descriptor;

use crate::Error;
use crate::library;
use crate::method::{Weaver, stores_local_zero};

/// What the JDK declares as this is something of others, into which it does not look.
const ANYTHING: &str = "Ljava/lang/Object;";

/// Has the method tell what it gives back.
pub(crate) fn weave(weaver: &mut Weaver<'_>, token: u16, site: SiteId) -> Result<(), Error> {
    const HIDDEN: u16 = access::STATIC | access::PRIVATE;
    if weaver.access & HIDDEN != 0 || weaver.is_constructor() {
        return Ok(());
    }
    let (parameters, result) = split_descriptor(weaver.descriptor)
        .ok_or_else(|| Error::Descriptor(weaver.descriptor.to_owned()))?;
    let mut local = 1;
    let mut lent = Vec::new();
    for parameter in parameters {
        if has_state(parameter) && !stores(weaver, local)? {
            lent.push(local);
        }
        local += LocalKind::of(parameter).slots();
    }
    let returns = has_state(result);
    if lent.is_empty() && !returns || stores_local_zero(weaver.code)? {
        return Ok(());
    }
    let events = weaver.editor.new_live_local(VerificationType::Long);
    let mut entry = Asm::new();
    entry.lload(token);
    weaver.probe(&mut entry, "events")?;
    entry.lstore(events);
    weaver.editor.insert_entry(entry);
    let mut leaving = Asm::new();
    if returns {
        leaving.dup();
        tell(weaver, &mut leaving, events, token, site)?;
    }
    for local in lent {
        leaving.aload(local);
        tell(weaver, &mut leaving, events, token, site)?;
    }
    weaver.at_returns(&leaving)
}

/// Has the value on top of the stack told.
fn tell(
    weaver: &mut Weaver<'_>,
    asm: &mut Asm,
    events: u16,
    token: u16,
    site: SiteId,
) -> Result<(), Error> {
    asm.aload(0);
    asm.ldc(weaver.pool.add_string(weaver.name)?);
    asm.lload(events).lload(token);
    weaver.push_site(asm, site)?;
    weaver.probe(asm, "handsBack")
}

fn has_state(parameter: &str) -> bool {
    !parameter.starts_with('[') && parameter != ANYTHING && library::may_have_state(parameter)
}

/// Whether any instruction writes a local.
fn stores(weaver: &Weaver<'_>, local: u16) -> Result<bool, Error> {
    for instruction in weaver.code.instructions() {
        let instruction = instruction?;
        let opcode = instruction.generic_opcode();
        let wide = matches!(opcode, op::LSTORE | op::DSTORE);
        let written = instruction
            .local()
            .filter(|_| (op::ISTORE..=op::ASTORE).contains(&opcode));
        if written.is_some_and(|w| w == local || wide && w + 1 == local) {
            return Ok(true);
        }
    }
    Ok(false)
}
