//! Hashes that the JVM makes up: what `Object.hashCode` answers differs from run to run, and with it
//! what `Object.toString` does and the order of what is in a hash table. Where observed code asks for
//! them, directly or by a few methods of the JDK that do nothing else, and where it hands a key to
//! what may be a hash table, the hash is recorded. Which class has them of its own is known at run
//! time alone.
//!
//! Library code may ask at any time. So a class that inherits the method from `Object` gets one of
//! its own, which tells.

use culprit_classfile::{Asm, ClassFile, Code, Instruction, LocalKind, Member, Pool, access, op};
use culprit_model::SiteKind;
use culprit_model::value::split_descriptor;

use crate::calls;
use crate::fresh;
use crate::library::{self, ClassRole};
use crate::method::{MemberTarget, Weaver};
use crate::probe;
use crate::{Error, MemberKind, World};

/// What is asked for, and how; the numbers are those of `Probe.java`.
const TEXT: i32 = 1;
/// By a call that is recorded in another way where the receiver is outside.
const DIRECT: i32 = 2;
/// From `Object` itself, whatever the class overrides.
const SUPER: i32 = 4;
/// By library code that looks into the object, and nobody else has a look at its state.
const GIVEN: i32 = 8;

/// The elements of an array, each.
const EACH: i32 = 16;

/// Methods of the JDK that ask the elements of their last argument.
const ASKING_EACH: [(&str, &str, i32); 8] = [
    ("java/lang/String", "format", TEXT),
    ("java/lang/String", "formatted", TEXT),
    ("java/util/Formatter", "format", TEXT),
    ("java/text/MessageFormat", "format", TEXT),
    ("java/util/Arrays", "toString", TEXT),
    ("java/util/Arrays", "deepToString", TEXT),
    ("java/util/Arrays", "hashCode", 0),
    ("java/util/Objects", "hash", 0),
];

/// Methods of the JDK that ask their only argument, or their last one.
const ASKING: [(&str, &str, i32); 6] = [
    ("java/lang/String", "valueOf", TEXT),
    ("java/util/Objects", "toString", TEXT),
    ("java/util/Objects", "hashCode", 0),
    ("java/lang/StringBuilder", "append", TEXT),
    ("java/lang/StringBuffer", "append", TEXT),
    ("java/io/StringWriter", "append", TEXT),
];

/// Classes of the JDK whose objects are hash tables, or may be.
const TABLES: [&str; 15] = [
    "java/util/Map",
    "java/util/AbstractMap",
    "java/util/HashMap",
    "java/util/Hashtable",
    "java/util/Dictionary",
    "java/util/Properties",
    "java/util/IdentityHashMap",
    "java/util/WeakHashMap",
    "java/util/concurrent/ConcurrentMap",
    "java/util/concurrent/ConcurrentHashMap",
    "java/util/Collection",
    "java/util/AbstractCollection",
    "java/util/Set",
    "java/util/AbstractSet",
    "java/util/HashSet",
];

/// Their methods that keep the first argument as a key.
const KEEPING: [&str; 6] = [
    "put",
    "putIfAbsent",
    "computeIfAbsent",
    "compute",
    "merge",
    "add",
];

/// Name and descriptor of what is asked.
const HASH: (&str, &str) = ("hashCode", "()I");

/// Gives a class that inherits `hashCode` from `Object` a method that tells what that answers.
pub(crate) fn add_hash(class: &mut ClassFile) -> Result<(), Error> {
    if class.super_name()?.as_deref() != Some("java/lang/Object") {
        return Ok(());
    }
    let mut body = Asm::new();
    body.aload(0);
    let pool = &mut class.pool;
    for method in &mut class.methods {
        let name = pool.utf8(method.name)?.into_owned();
        let descriptor = pool.utf8(method.descriptor)?.into_owned();
        if is_added(method, &name, &descriptor) {
            // It tells the runtime that records a replay. The replay comes first: it has the hash.
            probe::call(&mut body, pool, "hash")?;
            body.pop();
            return prepend(method, pool, &body);
        }
        if (name.as_str(), descriptor.as_str()) == HASH {
            return Ok(());
        }
    }
    probe::call(&mut body, pool, "hash")?;
    body.op(op::IRETURN);
    let code = Code {
        max_stack: 1,
        max_locals: 1,
        bytes: body.bytes().to_vec(),
        handlers: Vec::new(),
        attributes: Vec::new(),
    };
    let method = Member {
        access: access::PUBLIC | access::SYNTHETIC,
        name: class.pool.add_utf8("hashCode")?,
        descriptor: class.pool.add_utf8("()I")?,
        attributes: vec![code.write(&mut class.pool)?],
    };
    class.methods.push(method);
    Ok(())
}

/// Whether a method is one that weaving has added; compilers make bridges alone.
pub(crate) fn is_added(method: &Member, name: &str, descriptor: &str) -> bool {
    let kind = method.access & (access::SYNTHETIC | access::BRIDGE);
    (name, descriptor) == HASH && kind == access::SYNTHETIC
}

/// Puts code before that of a method without jumps.
fn prepend(method: &mut Member, pool: &mut Pool, first: &Asm) -> Result<(), Error> {
    let Some(place) = method.attribute_index(pool, "Code") else {
        return Ok(());
    };
    let mut code = Code::parse(&method.attributes[place], pool)?;
    code.bytes.splice(0..0, first.bytes().iter().copied());
    method.attributes[place] = code.write(pool)?;
    Ok(())
}

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
    if is_keeping(&target) {
        return key(weaver, token, instruction, &target);
    }
    let how = match direct(instruction.opcode, &target, world) {
        Some(how) => how,
        None => match by_library(&target) {
            // The state of what a builder is given is looked at where the call is recorded.
            Some(how) if target.is_static => how | GIVEN,
            Some(how) if fresh::is_fresh_builder(weaver, instruction, &target)? => how | GIVEN,
            Some(how) => how,
            None => match of_each(&target) {
                Some(how) => how | EACH,
                None => return Ok(()),
            },
        },
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

fn is_keeping(target: &MemberTarget<'_>) -> bool {
    TABLES.contains(&target.owner)
        && KEEPING.contains(&target.name)
        && target.descriptor.starts_with("(Ljava/lang/Object;")
        && !target.is_static
}

/// Looks at the key that a call hands to a table: receiver and first argument.
fn key(
    weaver: &mut Weaver<'_>,
    token: u16,
    instruction: &Instruction<'_>,
    target: &MemberTarget<'_>,
) -> Result<(), Error> {
    let site = weaver.site(SiteKind::Call, Some(instruction.pc), target);
    let (parameters, _) = split_descriptor(target.descriptor)
        .ok_or_else(|| Error::Descriptor(target.descriptor.to_owned()))?;
    let mut locals = Vec::new();
    for (i, parameter) in parameters.iter().enumerate().skip(1) {
        let kind = LocalKind::of(parameter);
        locals.push((kind, weaver.temporary_for(i + 2, kind, parameter)));
    }
    let mut asm = Asm::new();
    for (kind, local) in locals.iter().rev() {
        asm.store(*kind, *local);
    }
    asm.dup2().lload(token);
    weaver.push_site(&mut asm, site)?;
    weaver.probe(&mut asm, "keyed")?;
    for (kind, local) in &locals {
        asm.load(*kind, *local);
    }
    calls::forget(&mut asm, &locals);
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(())
}

/// A call of `hashCode` or `toString` that may come to `Object`.
fn direct(opcode: u8, target: &MemberTarget<'_>, world: &dyn World) -> Option<i32> {
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

/// Whether a look at the hash of an argument is a look at its state as well.
pub(crate) fn tells_argument(target: &MemberTarget<'_>) -> bool {
    target.is_static && by_library(target).is_some()
}

fn by_library(target: &MemberTarget<'_>) -> Option<i32> {
    if !target.descriptor.starts_with("(Ljava/lang/Object;)") {
        return None;
    }
    let asks =
        |(owner, name, _): &&(&str, &str, i32)| (*owner, *name) == (target.owner, target.name);
    ASKING.iter().find(asks).map(|(.., how)| *how)
}

fn of_each(target: &MemberTarget<'_>) -> Option<i32> {
    if !target.descriptor.contains("[Ljava/lang/Object;)") {
        return None;
    }
    let asks =
        |(owner, name, _): &&(&str, &str, i32)| (*owner, *name) == (target.owner, target.name);
    ASKING_EACH.iter().find(asks).map(|(.., how)| *how)
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
    let target = MemberTarget {
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
            asm.dup().push_int(weaver.pool, TEXT | GIVEN)?;
            asm.lload(token);
            weaver.push_site(&mut asm, site)?;
            weaver.probe(&mut asm, "identity")?;
        }
    }
    calls::forget(&mut asm, &locals);
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(())
}

/// Whether all objects of a class have a text that is their own, and are told by content.
fn has_text(class: &str) -> bool {
    library::role(class) == ClassRole::Value
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_classfile::Pool;

    /// Number of methods after adding, of a class with these methods.
    fn methods_after(superclass: &str, methods: &[(&str, &str)]) -> usize {
        let mut pool = Pool::new();
        let member = |pool: &mut Pool, (name, descriptor): (&str, &str)| Member {
            access: access::PUBLIC,
            name: pool.add_utf8(name).unwrap(),
            descriptor: pool.add_utf8(descriptor).unwrap(),
            attributes: Vec::new(),
        };
        let methods = methods.iter().map(|m| member(&mut pool, *m)).collect();
        let mut class = ClassFile {
            minor: 0,
            major: 52,
            access: 0,
            this_class: pool.add_class("a/A").unwrap(),
            super_class: pool.add_class(superclass).unwrap(),
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods,
            attributes: Vec::new(),
            pool,
        };
        add_hash(&mut class).unwrap();
        ClassFile::parse(&class.write().unwrap())
            .unwrap()
            .methods
            .len()
    }

    #[test]
    fn a_class_without_a_hash_of_its_own_gets_a_method() {
        let object = "java/lang/Object";
        assert_eq!(methods_after(object, &[]), 1);
        assert_eq!(methods_after(object, &[("hashCode", "(I)I")]), 2);
        assert_eq!(methods_after(object, &[("hashCode", "()I")]), 1);
        assert_eq!(methods_after("java/util/ArrayList", &[]), 0);
    }
}
