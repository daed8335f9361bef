//! The plan for classes of the program outside the observed set: accesses to observed fields, and
//! the methods that live library code may call on behalf of observed code.

use culprit_classfile::{Asm, Instruction, LocalKind, VerificationType, op};
use culprit_model::value::split_descriptor;
use culprit_model::{EventKind, SiteKind};

use crate::library;
use crate::loading;
use crate::method::{Entrance, Weaver};
use crate::observed::access;
use crate::reflection;
use crate::{Error, MemberKind, Purpose, Settings, World};

pub(crate) fn weave(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    settings: Settings<'_>,
) -> Result<bool, Error> {
    let mut edited = false;
    let mut constructs = false;
    for instruction in weaver.code.instructions() {
        let instruction = instruction?;
        let kind = match instruction.opcode {
            op::GETFIELD | op::GETSTATIC => EventKind::IncomingRead,
            op::PUTFIELD | op::PUTSTATIC => EventKind::IncomingWrite,
            op::INVOKEVIRTUAL | op::INVOKESPECIAL | op::INVOKEINTERFACE => {
                edited |= weaver.after_clone(&instruction)?;
                edited |= reflection::weave(weaver, &instruction)?;
                constructs |= may_construct(weaver, world, &instruction)?;
                continue;
            }
            _ => continue,
        };
        let Some(named) = weaver.named(&instruction)? else {
            continue;
        };
        let target = named.target();
        let declaring = world.declaring(
            target.owner,
            MemberKind::Field,
            target.name,
            target.descriptor,
        );
        if !world.is_observed(declaring.as_deref().unwrap_or(target.owner)) {
            continue;
        }
        access(
            weaver,
            instruction.pc,
            &target,
            kind,
            |weaver, asm, site| {
                asm.push_int(weaver.pool, kind as i32)?;
                weaver.push_site(asm, site)?;
                weaver.probe(asm, "accessFromOutside")
            },
        )?;
        edited = true;
    }
    let called_back = library::is_called_back(weaver.name, weaver.descriptor);
    let watched = called_back || (settings.kin && weaver.name != "<init>");
    let call_ends = match watched {
        true => callee(weaver, called_back)?,
        false => Asm::new(),
    };
    // What happens when an exception leaves the method, innermost first.
    let mut leaving = Asm::new();
    if constructs {
        constructor_calls(weaver, &mut leaving)?;
    }
    leaving.append(&call_ends);
    // One that an observed class inherits is watched instead.
    if !watched && is_loader_entry(weaver) {
        let ends = loading::mute(&mut weaver.editor, weaver.pool, weaver.code)?;
        leaving.append(&ends);
    }
    if !leaving.is_empty() {
        weaver.around(&leaving)?;
        edited = true;
    }
    Ok(edited)
}

/// Whether the JVM may enter a class loader by the method.
fn is_loader_entry(weaver: &Weaver<'_>) -> bool {
    weaver.purpose == Purpose::Record
        && !weaver.is_static()
        && (weaver.name, weaver.descriptor) == loading::LOADS
}

/// Whether a call constructs an observed object, or may do so by reflection.
fn may_construct(
    weaver: &Weaver<'_>,
    world: &dyn World,
    instruction: &Instruction<'_>,
) -> Result<bool, Error> {
    let Some(index) = instruction.pool_index() else {
        return Ok(false);
    };
    let member = weaver.pool.member(index)?;
    Ok(match &*member.name {
        "<init>" => world.is_observed(&member.owner),
        name => library::may_construct(&member.owner, name),
    })
}

/// Nothing but watching the constructor that the method calls.
pub(crate) fn constructing(weaver: &mut Weaver<'_>) -> Result<bool, Error> {
    let mut leaving = Asm::new();
    constructor_calls(weaver, &mut leaving)?;
    weaver.around(&leaving)?;
    Ok(true)
}

/// Sees exceptions that leave observed constructors where those cannot see them.
fn constructor_calls(weaver: &mut Weaver<'_>, leaving: &mut Asm) -> Result<(), Error> {
    let token = weaver.token();
    let mut entry = Asm::new();
    weaver.probe(&mut entry, "outside")?;
    entry.lstore(token);
    weaver.editor.insert_entry(entry);
    weaver.at_handlers(token, "reached")?;
    leaving.dup().lload(token);
    weaver.probe(leaving, "reached")
}

/// Watches a method from inside: called while observed code runs, it is an outgoing call. Where
/// libraries call it, they look into what it returns. Gives what happens when an exception leaves it.
fn callee(weaver: &mut Weaver<'_>, called_back: bool) -> Result<Asm, Error> {
    let token = weaver.token();
    let site = weaver.own_site(SiteKind::Callee);
    let entrance = Entrance {
        here: "here",
        crosses: "isInside",
        enter: "calleeEnter",
        commit: "left",
    };
    weaver.enter(token, site, &entrance)?;
    let mut leaving = Asm::new();
    let arrays = arrays(weaver)?;
    if !arrays.is_empty() {
        for array in arrays {
            leaving.aload(array).lload(token);
            weaver.probe(&mut leaving, "contents")?;
        }
        weaver.at_returns(&leaving)?;
    }
    weaver.before_returns(token, site, "back")?;
    if called_back && weaver.descriptor.ends_with(';') {
        let mut lent = Asm::new();
        lent.dup().lload(token);
        weaver.push_site(&mut lent, site)?;
        weaver.probe(&mut lent, "lent")?;
        weaver.at_returns(&lent)?;
    }
    leaving.dup().lload(token);
    weaver.probe(&mut leaving, "calleeThrew")?;
    Ok(leaving)
}

/// Locals that hold the arrays that the method was given: its own may come to hold other values.
fn arrays(weaver: &mut Weaver<'_>) -> Result<Vec<u16>, Error> {
    let descriptor = weaver.descriptor;
    let (parameters, _) =
        split_descriptor(descriptor).ok_or_else(|| Error::Descriptor(descriptor.to_owned()))?;
    let object = weaver.pool.add_class("java/lang/Object")?;
    let mut local = u16::from(!weaver.is_static());
    let mut arrays = Vec::new();
    let mut entry = Asm::new();
    for parameter in parameters {
        if parameter.starts_with('[') {
            let array = (weaver.editor).new_live_local(VerificationType::Object(object));
            entry.aload(local);
            weaver.blur(&mut entry)?;
            entry.astore(array);
            arrays.push(array);
        }
        local += LocalKind::of(parameter).slots();
    }
    if !entry.is_empty() {
        weaver.editor.insert_entry(entry);
    }
    Ok(arrays)
}
