//! The classes that woven code calls, with probes that do nothing.

use culprit_classfile::{Asm, ClassFile, Code, LocalKind, access, op};
use culprit_weave::hook::{FAILURES, HIDING};
use culprit_weave::probe::{ANSWER, PROBE};
use culprit_weave::trace::TRACE;

const PROBES: &[u8] =
    include_bytes!("../../../../java/runtime/classes/culprit/runtime/Probe.class");
const ANSWERS: &[u8] =
    include_bytes!("../../../../java/runtime/classes/culprit/runtime/Answer.class");
const REPORTS: &[u8] =
    include_bytes!("../../../../java/runtime/classes/culprit/runtime/Failures.class");
const FILTERS: &[u8] =
    include_bytes!("../../../../java/runtime/classes/culprit/runtime/Hiding.class");

const REPORTED: &[u8] =
    include_bytes!("../../../../java/runtime/classes/culprit/runtime/Trace.class");

/// The name and the bytes of the class that traced code calls.
pub(crate) fn trace() -> (&'static str, Vec<u8>) {
    (TRACE, emptied(REPORTED))
}

/// Names and bytes of the classes.
pub(crate) fn classes() -> [(&'static str, Vec<u8>); 4] {
    [
        (PROBE, emptied(PROBES)),
        (ANSWER, emptied(ANSWERS)),
        (FAILURES, emptied(REPORTS)),
        // Needs nothing of the JDK that is not there, and its result matters.
        (HIDING, FILTERS.to_vec()),
    ]
}

/// Names of all probes.
pub(crate) fn probes() -> impl Iterator<Item = &'static str> {
    let class = ClassFile::parse(PROBES).unwrap();
    let public = class
        .methods
        .iter()
        .filter(|m| m.access & access::PUBLIC != 0);
    let names: Vec<&str> = public
        .map(|m| &*class.pool.utf8(m.name).unwrap().into_owned().leak())
        .collect();
    names.into_iter()
}

/// The class with nothing but its public methods, and those return 0; those that answer a read return
/// what was found.
fn emptied(bytes: &[u8]) -> Vec<u8> {
    let mut class = ClassFile::parse(bytes).unwrap();
    class.fields.clear();
    class.methods.retain(|m| m.access & access::PUBLIC != 0);
    for method in &mut class.methods {
        let at = method.attribute_index(&class.pool, "Code").unwrap();
        let code = Code::parse(&method.attributes[at], &class.pool).unwrap();
        let mut body = Asm::new();
        let result = class.pool.utf8(method.descriptor).unwrap().chars().last();
        let descriptor = class.pool.utf8(method.descriptor).unwrap();
        let takes_object = descriptor.starts_with("(L");
        let reads = class.pool.utf8(method.name).unwrap().starts_with("read");
        let compares = class.pool.utf8(method.name).unwrap() == "compared";
        match result {
            Some('I') if reads => body.iload(0).op(op::IRETURN),
            Some('J') if reads => body.lload(0).op(op::LRETURN),
            Some('F') if reads => body.load(LocalKind::Float, 0).op(op::FRETURN),
            Some('D') if reads => body.load(LocalKind::Double, 0).op(op::DRETURN),
            Some(';') if reads => body.aload(0).op(op::ARETURN),
            Some('F') => body.op(op::FCONST_0).op(op::FRETURN),
            Some('D') => body.op(op::DCONST_0).op(op::DRETURN),
            // The one that says what to compare with.
            Some(';') if compares => body.aload(1).op(op::ARETURN),
            Some(';') => body.aconst_null().op(op::ARETURN),
            Some('I') if !takes_object => body.op(op::ICONST_0).op(op::IRETURN),
            // The one that stands for a hash.
            Some('I') => {
                let hash = (
                    "java/lang/System",
                    "identityHashCode",
                    "(Ljava/lang/Object;)I",
                );
                let hash = class.pool.add_method_ref(hash.0, hash.1, hash.2).unwrap();
                body.aload(0).invokestatic(hash).op(op::IRETURN)
            }
            Some('J') => body.op(op::LCONST_0).op(op::LRETURN),
            Some('Z') => body.op(op::ICONST_0).op(op::IRETURN),
            _ => body.op(op::RETURN),
        };
        let empty = Code {
            max_stack: 2,
            max_locals: code.max_locals,
            bytes: body.bytes().to_vec(),
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        method.attributes[at] = empty.write(&mut class.pool).unwrap();
    }
    class.write().unwrap()
}
