//! The plan for classes of the program outside the observed set: accesses to observed fields, and
//! the methods that live library code may call on behalf of observed code.

use culprit_classfile::{Asm, op};
use culprit_model::{EventKind, SiteKind};

use crate::library;
use crate::method::{Target, Weaver};
use crate::observed::access;
use crate::reflection;
use crate::{Error, MemberKind, Settings, World};

pub(crate) fn weave(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    settings: Settings,
) -> Result<bool, Error> {
    let mut edited = false;
    let watched = library::is_called_back(weaver.name, weaver.descriptor)
        || (settings.kin && weaver.name != "<init>");
    if watched {
        callee(weaver)?;
        edited = true;
    }
    for instruction in weaver.code.instructions() {
        let instruction = instruction?;
        let kind = match instruction.opcode {
            op::GETFIELD | op::GETSTATIC => EventKind::IncomingRead,
            op::PUTFIELD | op::PUTSTATIC => EventKind::IncomingWrite,
            op::INVOKEVIRTUAL => {
                edited |= reflection::weave(weaver, &instruction)?;
                continue;
            }
            _ => continue,
        };
        let Some(index) = instruction.pool_index() else {
            continue;
        };
        let member = weaver.pool.member(index)?;
        let (owner, name, descriptor) = (
            member.owner.into_owned(),
            member.name.into_owned(),
            member.descriptor.into_owned(),
        );
        let declaring = world.declaring(&owner, MemberKind::Field, &name, &descriptor);
        if !world.is_observed(declaring.as_deref().unwrap_or(&owner)) {
            continue;
        }
        let is_static = matches!(instruction.opcode, op::GETSTATIC | op::PUTSTATIC);
        let target = Target {
            owner: &owner,
            name: &name,
            descriptor: &descriptor,
            is_static,
        };
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
    Ok(edited)
}

/// Watches a method from inside: called while observed code runs, it is an outgoing call.
fn callee(weaver: &mut Weaver<'_>) -> Result<(), Error> {
    let token = weaver.token();
    let site = weaver.own_site(SiteKind::Callee);
    weaver.enter(token, site, "calleeEnter", "left")?;
    weaver.before_returns(token, site, "back")?;
    let mut leaving = Asm::new();
    leaving.dup().lload(token);
    weaver.probe(&mut leaving, "calleeThrew")?;
    weaver.around(&leaving)
}
