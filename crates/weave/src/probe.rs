//! The probes of the Java runtime, as woven code calls them. One table of names and descriptors;
//! a test compares it with `Probe.java`.

use culprit_classfile::{Asm, LocalKind, Pool};
use culprit_model::value::Shape;

use crate::Error;

/// The runtime's class.
pub const PROBE: &str = "culprit/runtime/Probe";

/// Every probe: name and descriptor.
pub const PROBES: [(&str, &str); 44] = [
    ("enter", "(I)J"),
    ("enterConstructor", "(I)J"),
    ("chain", "(J)V"),
    ("enterOn", "(Ljava/lang/Object;I)J"),
    ("entered", "(J)V"),
    ("constructed", "(Ljava/lang/Object;JI)V"),
    ("returnedV", "(JI)V"),
    ("returned1", "(IJI)V"),
    ("returned2", "(IJI)V"),
    ("returned4", "(IJI)V"),
    ("returned8", "(JJI)V"),
    ("returnedF", "(FJI)V"),
    ("returnedD", "(DJI)V"),
    ("returnedL", "(Ljava/lang/Object;JI)V"),
    ("threw", "(Ljava/lang/Throwable;JI)V"),
    ("caught", "(Ljava/lang/Throwable;J)V"),
    ("out", "(JI)J"),
    ("outOn", "(Ljava/lang/Object;JI)J"),
    ("outIf", "(Ljava/lang/Object;JI)J"),
    ("left", "(J)V"),
    ("contents", "(Ljava/lang/Object;J)V"),
    ("backV", "(JI)V"),
    ("back1", "(IJI)V"),
    ("back2", "(IJI)V"),
    ("back4", "(IJI)V"),
    ("back8", "(JJI)V"),
    ("backF", "(FJI)V"),
    ("backD", "(DJI)V"),
    ("backL", "(Ljava/lang/Object;JI)V"),
    ("calleeEnter", "(I)J"),
    ("calleeEnterOn", "(Ljava/lang/Object;I)J"),
    ("calleeThrew", "(Ljava/lang/Throwable;J)V"),
    ("access", "(JII)J"),
    ("accessFromOutside", "(II)J"),
    ("element", "(Ljava/lang/Object;IJII)J"),
    ("accessed", "(J)V"),
    ("putReceiver", "(Ljava/lang/Object;J)V"),
    ("put1", "(IJ)V"),
    ("put2", "(IJ)V"),
    ("put4", "(IJ)V"),
    ("put8", "(JJ)V"),
    ("putF", "(FJ)V"),
    ("putD", "(DJ)V"),
    ("putL", "(Ljava/lang/Object;J)V"),
];

/// Appends a call of a probe.
pub(crate) fn call(asm: &mut Asm, pool: &mut Pool, name: &str) -> Result<(), Error> {
    let Some((_, descriptor)) = PROBES.iter().find(|(n, _)| *n == name) else {
        return Err(Error::NoProbe(name.to_owned()));
    };
    let method = pool.add_method_ref(PROBE, name, descriptor)?;
    asm.invokestatic(method);
    Ok(())
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
