//! Reflective field accesses: `Field.get` and `Field.set` reach fields that no instruction names,
//! so the runtime looks which field it was, once the call is done.

use culprit_classfile::{Asm, Instruction, LocalKind, op};
use culprit_model::EventKind;

use crate::Error;
use crate::calls;
use crate::method::{MemberTarget, Weaver, parameter_shapes};
use crate::probe::local_kind;

const FIELD: &str = "java/lang/reflect/Field";

/// Whether a call reads or writes a field by reflection.
pub(crate) fn is_field_access(target: &MemberTarget<'_>) -> bool {
    let accessor = |prefix: &str| {
        target.name.strip_prefix(prefix).is_some_and(|rest| {
            [
                "", "Boolean", "Byte", "Short", "Char", "Int", "Long", "Float", "Double",
            ]
            .contains(&rest)
        })
    };
    target.owner == FIELD
        && target.descriptor.starts_with("(Ljava/lang/Object;")
        && (accessor("get") || accessor("set"))
}

/// After the call: the runtime records the access if the field is observed.
pub(crate) fn record(
    weaver: &mut Weaver<'_>,
    after: &mut Asm,
    target: &MemberTarget<'_>,
    field: u16,
    object: u16,
) -> Result<(), Error> {
    let reads = target.name.starts_with("get");
    let kind = if reads {
        EventKind::IncomingRead
    } else {
        EventKind::IncomingWrite
    };
    after
        .aload(field)
        .aload(object)
        .push_int(weaver.pool, kind as i32)?;
    weaver.probe(after, "reflected")
}

/// Watches a reflective access in external code.
pub(crate) fn weave(weaver: &mut Weaver<'_>, instruction: &Instruction<'_>) -> Result<bool, Error> {
    let Some(index) = instruction.pool_index() else {
        return Ok(false);
    };
    if instruction.opcode != op::INVOKEVIRTUAL {
        return Ok(false);
    }
    let member = weaver.pool.member(index)?;
    if member.owner != FIELD {
        return Ok(false);
    }
    let (name, descriptor) = (member.name.into_owned(), member.descriptor.into_owned());
    let target = MemberTarget {
        owner: FIELD,
        name: &name,
        descriptor: &descriptor,
        is_static: false,
    };
    if !is_field_access(&target) {
        return Ok(false);
    }
    let field = weaver.temporary(1, LocalKind::Reference);
    let mut locals = Vec::new();
    for (i, shape) in parameter_shapes(&descriptor)?.into_iter().enumerate() {
        let kind = local_kind(shape);
        locals.push((kind, weaver.temporary(i + 2, kind)));
    }
    let mut before = Asm::new();
    for (kind, local) in locals.iter().rev() {
        before.store(*kind, *local);
    }
    before.dup().astore(field);
    for (kind, local) in &locals {
        before.load(*kind, *local);
    }
    weaver.editor.insert_before(instruction.pc, before);
    let mut after = Asm::new();
    if let Some((_, object)) = locals.first() {
        record(weaver, &mut after, &target, field, *object)?;
    }
    calls::forget(&mut after, &locals);
    calls::forget(&mut after, &[(LocalKind::Reference, field)]);
    weaver.editor.insert_after(instruction.pc, after);
    Ok(true)
}
