//! The classes that woven code calls, with probes that do nothing.

use culprit_classfile::{Asm, ClassFile, Code, access, op};
use culprit_weave::hook::{FAILURES, HIDING};
use culprit_weave::probe::PROBE;

const PROBES: &[u8] =
    include_bytes!("../../../../java/runtime/classes/culprit/runtime/Probe.class");
const REPORTS: &[u8] =
    include_bytes!("../../../../java/runtime/classes/culprit/runtime/Failures.class");
const FILTERS: &[u8] =
    include_bytes!("../../../../java/runtime/classes/culprit/runtime/Hiding.class");

/// Names and bytes of the classes.
pub(crate) fn classes() -> [(&'static str, Vec<u8>); 3] {
    [
        (PROBE, emptied(PROBES)),
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

/// The class with nothing but its public methods, and those return 0.
fn emptied(bytes: &[u8]) -> Vec<u8> {
    let mut class = ClassFile::parse(bytes).unwrap();
    class.fields.clear();
    class.methods.retain(|m| m.access & access::PUBLIC != 0);
    for method in &mut class.methods {
        let at = method.attribute_index(&class.pool, "Code").unwrap();
        let code = Code::parse(&method.attributes[at], &class.pool).unwrap();
        let mut body = Asm::new();
        let result = class.pool.utf8(method.descriptor).unwrap().chars().last();
        match result {
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
