//! Hashes that the JVM makes up: what `Object.hashCode` answers differs from run to run, and with it
//! what `Object.toString` does. Where observed code asks for them, directly or by a few methods of
//! the JDK that do nothing else, the hash is recorded. Which class has them of its own is known at
//! run time alone.

use culprit_classfile::{Asm, Instruction, LocalKind, op};
use culprit_model::SiteKind;
use culprit_model::value::split_descriptor;

use crate::calls;
use crate::library::{self, Role};
use crate::method::{Target, Weaver};
use crate::{Error, MemberKind, World};

/// What is asked for, and how; the numbers are those of `Probe.java`.
const TEXT: i32 = 1;
/// By a call that is recorded in another way where the receiver is outside.
const DIRECT: i32 = 2;
/// From `Object` itself, whatever the class overrides.
const SUPER: i32 = 4;

/// Methods of the JDK that ask their only argument, or their last one.
const ASKING: [(&str, &str, i32); 6] = [
    ("java/lang/String", "valueOf", TEXT),
    ("java/util/Objects", "toString", TEXT),
    ("java/util/Objects", "hashCode", 0),
    ("java/lang/StringBuilder", "append", TEXT),
    ("java/lang/StringBuffer", "append", TEXT),
    ("java/io/StringWriter", "append", TEXT),
];

/// Records the hash that a call asks for: before the call, since the hash stays what it is, and
/// after the probe that records the call itself where its receiver is outside.
pub(crate) fn weave(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    token: u16,
    instruction: &Instruction<'_>,
) -> Result<(), Error> {
    if instruction.opcode == op::INVOKEDYNAMIC {
        return concatenation(weaver, token, instruction);
    }
    let Some(named) = weaver.named(instruction)? else {
        return Ok(());
    };
    let target = named.target();
    let Some(how) = direct(instruction.opcode, &target, world).or_else(|| by_library(&target))
    else {
        return Ok(());
    };
    let site = weaver.site(SiteKind::Call, Some(instruction.pc), &target);
    let mut asm = Asm::new();
    // The receiver or the last argument, whichever: it is on top.
    asm.dup().push_int(weaver.pool, how)?;
    asm.lload(token);
    weaver.push_site(&mut asm, site)?;
    weaver.probe(&mut asm, "identity")?;
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(())
}

/// A call of `hashCode` or `toString` that may come to `Object`.
fn direct(opcode: u8, target: &Target<'_>, world: &dyn World) -> Option<i32> {
    let what = match (target.name, target.descriptor) {
        ("hashCode", "()I") => 0,
        ("toString", "()Ljava/lang/String;") => TEXT,
        _ => return None,
    };
    let owner = target.owner;
    if opcode == op::INVOKESPECIAL {
        return (owner == "java/lang/Object").then_some(what | SUPER);
    }
    let may_inherit = if owner.starts_with('[') {
        true
    } else if world.is_library(owner) {
        matches!(
            owner,
            "java/lang/Object" | "java/lang/Enum" | "java/lang/Class"
        )
    } else {
        let kind = MemberKind::Method;
        let declaring = world.declaring(owner, kind, target.name, target.descriptor);
        declaring.is_none_or(|class| world.is_library(&class))
    };
    may_inherit.then_some(what | DIRECT)
}

fn by_library(target: &Target<'_>) -> Option<i32> {
    if !target.descriptor.starts_with("(Ljava/lang/Object;)") {
        return None;
    }
    let asks =
        |(owner, name, _): &&(&str, &str, i32)| (*owner, *name) == (target.owner, target.name);
    ASKING.iter().find(asks).map(|(.., how)| *how)
}

/// `"order " + order`, as compilers since Java 9 say it.
fn concatenation(
    weaver: &mut Weaver<'_>,
    token: u16,
    instruction: &Instruction<'_>,
) -> Result<(), Error> {
    let Some(index) = instruction.pool_index() else {
        return Ok(());
    };
    let site = weaver.pool.dynamic(index)?;
    let (name, descriptor) = (site.name.into_owned(), site.descriptor.into_owned());
    let (parameters, _) =
        split_descriptor(&descriptor).ok_or_else(|| Error::Descriptor(descriptor.clone()))?;
    let asked = |parameter: &&&str| {
        let class = parameter.strip_prefix('L').map(|p| p.trim_end_matches(';'));
        parameter.starts_with('[') || class.is_some_and(|class| !has_text(class))
    };
    let Some(first) = parameters.iter().position(|p| asked(&p)) else {
        return Ok(());
    };
    if !name.starts_with("makeConcat") {
        return Ok(());
    }
    let target = Target {
        owner: "java/lang/invoke/StringConcatFactory",
        name: &name,
        descriptor: &descriptor,
        is_static: true,
    };
    let site = weaver.site(SiteKind::Call, Some(instruction.pc), &target);
    let parameters = &parameters[first..];
    let mut locals = Vec::new();
    for (i, parameter) in parameters.iter().enumerate() {
        let kind = LocalKind::of(parameter);
        locals.push((kind, weaver.temporary_for(i + 2, kind, parameter)));
    }
    let mut asm = Asm::new();
    for (kind, local) in locals.iter().rev() {
        asm.store(*kind, *local);
    }
    for (parameter, (kind, local)) in parameters.iter().zip(&locals) {
        asm.load(*kind, *local);
        if asked(&parameter) {
            asm.dup().push_int(weaver.pool, TEXT)?;
            asm.lload(token);
            weaver.push_site(&mut asm, site)?;
            weaver.probe(&mut asm, "identity")?;
        }
    }
    calls::forget(&mut asm, &locals);
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(())
}

/// Whether all objects of a class have a text that is their own.
fn has_text(class: &str) -> bool {
    library::role(class) == Role::Value
        || matches!(class, "java/lang/StringBuilder" | "java/lang/CharSequence")
}
