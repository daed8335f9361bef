//! The probes of the Java runtime, as woven code calls them. One table of names and descriptors;
//! a test compares it with `Probe.java`.

use culprit_classfile::{Asm, LocalKind, Pool};
use culprit_model::value::Shape;

use crate::Error;

/// The runtime's class.
pub const PROBE: &str = "culprit/runtime/Probe";
/// The class that answers on replay.
pub const ANSWER: &str = "culprit/runtime/Answer";

/// Where the runtime is that records a replay, in the same JVM as the one that replays. Its probes
/// are not the program's calls.
pub const BESIDE: &str = "culprit/capture/";

/// The names of a runtime and of what it adds to classes, and those of one that is beside another:
/// both can be in one JVM. Of the same length, so that one can be written over the other.
pub const BESIDE_NAMES: [(&str, &str); 2] = [
    ("culprit/runtime/", BESIDE),
    (crate::ID_FIELD, "$capture$id"),
];

/// The probes that are there once: name and descriptor.
const SINGLE: [(&str, &str); 51] = [
    ("here", "()J"),
    ("hereConstructing", "()J"),
    ("isOutside", "(J)Z"),
    ("isInside", "(J)Z"),
    ("enter", "(JI)J"),
    ("enterOn", "(JLjava/lang/Object;I)J"),
    ("enterConstructor", "(JI)J"),
    ("chain", "(J)V"),
    ("entered", "(J)V"),
    ("born", "(Ljava/lang/Object;JJ)J"),
    ("bornBelow", "(Ljava/lang/Object;J)V"),
    ("constructed", "(Ljava/lang/Object;JI)V"),
    ("threw", "(Ljava/lang/Throwable;JI)V"),
    ("caught", "(Ljava/lang/Throwable;J)V"),
    ("out", "(JI)J"),
    ("outOn", "(Ljava/lang/Object;JI)J"),
    ("outIf", "(Ljava/lang/Object;JI)J"),
    ("outIfThread", "(Ljava/lang/Object;JI)J"),
    ("foreign", "(ZLjava/lang/Object;)Z"),
    ("outWith", "(ZJI)J"),
    ("outIfWith", "(Ljava/lang/Object;ZJI)J"),
    ("left", "(J)V"),
    ("given", "(Ljava/lang/Object;JI)V"),
    ("putGiven", "(Ljava/lang/Object;JJI)V"),
    ("backNew", "(Ljava/lang/Object;JI)V"),
    ("events", "(J)J"),
    (
        "handsBack",
        "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/String;JJI)V",
    ),
    (
        "compared",
        "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
    ),
    ("refilled", "(Ljava/lang/Object;JI)V"),
    ("contents", "(Ljava/lang/Object;J)V"),
    ("contentsPart", "(Ljava/lang/Object;Ljava/lang/Object;IIJ)V"),
    ("held", "(Ljava/lang/Object;J)V"),
    ("calleeEnter", "(JI)J"),
    ("calleeEnterOn", "(JLjava/lang/Object;I)J"),
    ("lent", "(Ljava/lang/Object;JI)V"),
    ("calleeThrew", "(Ljava/lang/Throwable;J)V"),
    ("loads", "(Ljava/lang/Object;)J"),
    ("loaded", "(J)V"),
    ("outside", "()J"),
    ("reached", "(Ljava/lang/Throwable;J)V"),
    ("access", "(JII)J"),
    ("accessFromOutside", "(II)J"),
    ("element", "(Ljava/lang/Object;IJII)J"),
    ("accessed", "(J)V"),
    ("identity", "(Ljava/lang/Object;IJI)V"),
    ("keyed", "(Ljava/lang/Object;Ljava/lang/Object;JI)V"),
    ("hash", "(Ljava/lang/Object;)I"),
    ("asked", "(Ljava/lang/Object;)V"),
    ("cloned", "(Ljava/lang/Object;Ljava/lang/Object;)V"),
    (
        "reflected",
        "(Ljava/lang/reflect/Field;Ljava/lang/Object;I)V",
    ),
    ("putReceiver", "(Ljava/lang/Object;J)V"),
];

/// The probes that are there once for each form of a value: the stem of the name, what comes
/// before the value and after it, and what the probe returns.
const FAMILIES: [(&str, &str, &str, &str); 8] = [
    ("put", "", "J", "V"),
    ("returned", "", "JI", "V"),
    ("back", "", "JI", "V"),
    ("enter", "J", "I", "J"),
    ("enterOn", "JLjava/lang/Object;", "I", "J"),
    ("out", "", "JI", "J"),
    ("outOn", "Ljava/lang/Object;", "JI", "J"),
    ("outIf", "Ljava/lang/Object;", "JI", "J"),
];

/// The descriptor of a probe.
pub fn descriptor(name: &str) -> Option<String> {
    if let Some((_, descriptor)) = SINGLE.iter().find(|(n, _)| *n == name) {
        return Some((*descriptor).to_owned());
    }
    let (stem, suffix) = name.split_at(name.len().checked_sub(1)?);
    let value = match suffix {
        "V" => "",
        "1" | "2" | "4" => "I",
        "8" => "J",
        "F" => "F",
        "D" => "D",
        "L" => "Ljava/lang/Object;",
        _ => return None,
    };
    let (_, before, after, result) = FAMILIES.iter().find(|(s, ..)| *s == stem)?;
    Some(format!("({before}{value}{after}){result}"))
}

/// Tells sets of probes apart: woven code runs with the probes it was made for, or not at all.
pub(crate) fn fingerprint() -> u64 {
    let single = SINGLE
        .iter()
        .flat_map(|(name, descriptor)| [*name, *descriptor]);
    let families = FAMILIES.iter().flat_map(|(a, b, c, d)| [*a, *b, *c, *d]);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in single.chain(families).chain([crate::ID_FIELD]) {
        // FNV-1a, with a byte that ends each text.
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

/// Appends a call of a probe.
pub(crate) fn call(asm: &mut Asm, pool: &mut Pool, name: &str) -> Result<(), Error> {
    let descriptor = descriptor(name).ok_or_else(|| Error::NoProbe(name.to_owned()))?;
    let method = pool.add_method_ref(PROBE, name, &descriptor)?;
    asm.invokestatic(method);
    Ok(())
}

/// Appends a call that asks for an answer of a type, with the token of the outgoing call on the stack.
pub(crate) fn give(asm: &mut Asm, pool: &mut Pool, result: &str) -> Result<(), Error> {
    answer(asm, pool, "give", "J", result)
}

/// Appends a call that asks for the value of an external field, with what was found there and the
/// number of the site on the stack.
pub(crate) fn read(asm: &mut Asm, pool: &mut Pool, value: &str) -> Result<(), Error> {
    answer(asm, pool, "read", &format!("{}I", erased(value).1), value)
}

/// Appends a call in a stub: what its caller is answered.
pub(crate) fn stub(asm: &mut Asm, pool: &mut Pool, result: &str) -> Result<(), Error> {
    answer(asm, pool, "stub", "", result)
}

fn answer(
    asm: &mut Asm,
    pool: &mut Pool,
    stem: &str,
    given: &str,
    result: &str,
) -> Result<(), Error> {
    let (suffix, erased) = erased(result);
    let name = format!("{stem}{suffix}");
    let method = pool.add_method_ref(ANSWER, &name, &format!("({given}){erased}"))?;
    asm.invokestatic(method);
    if suffix == 'L' && result != erased {
        let class = result.strip_prefix('L').and_then(|c| c.strip_suffix(';'));
        asm.checkcast(pool.add_class(class.unwrap_or(result))?);
    }
    Ok(())
}

/// The suffix and the type by which answers of a type are asked for.
fn erased(descriptor: &str) -> (char, &'static str) {
    match LocalKind::of(descriptor) {
        _ if descriptor == "V" => ('V', "V"),
        LocalKind::Int => ('I', "I"),
        LocalKind::Long => ('J', "J"),
        LocalKind::Float => ('F', "F"),
        LocalKind::Double => ('D', "D"),
        LocalKind::Reference => ('L', "Ljava/lang/Object;"),
    }
}

/// The variant of a probe for a value: `put` and an `int` give `put4`.
pub(crate) fn variant(stem: &str, shape: Option<Shape>) -> String {
    let suffix = match shape {
        None => "V",
        Some(Shape::Boolean | Shape::Byte) => "1",
        Some(Shape::Short | Shape::Char) => "2",
        Some(Shape::Int) => "4",
        Some(Shape::Long) => "8",
        Some(Shape::Float) => "F",
        Some(Shape::Double) => "D",
        Some(Shape::Reference) => "L",
    };
    format!("{stem}{suffix}")
}

/// How a value of a shape sits on the stack.
pub(crate) fn local_kind(shape: Shape) -> LocalKind {
    match shape {
        Shape::Long => LocalKind::Long,
        Shape::Float => LocalKind::Float,
        Shape::Double => LocalKind::Double,
        Shape::Reference => LocalKind::Reference,
        _ => LocalKind::Int,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_classfile::{ClassFile, access};

    #[test]
    fn the_runtime_has_every_probe_with_this_descriptor() {
        let bytes = include_bytes!("../../../java/runtime/classes/culprit/runtime/Probe.class");
        let class = ClassFile::parse(bytes).unwrap();
        let utf8 = |index| class.pool.utf8(index).unwrap().into_owned();
        let mut offered = 0;
        for method in &class.methods {
            if method.access & access::PUBLIC != 0 {
                let name = utf8(method.name);
                assert_eq!(descriptor(&name), Some(utf8(method.descriptor)), "{name}");
                offered += 1;
            }
        }
        assert!(offered > SINGLE.len(), "the class has {offered} probes");
        for (name, _) in SINGLE {
            let found = class.methods.iter().any(|m| utf8(m.name) == name);
            assert!(found, "the runtime has no probe {name}");
        }
    }
}
