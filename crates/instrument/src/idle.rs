//! Probes that record nothing, for an instrumented jar that runs without the agent. With the agent
//! the real ones are on the boot class path, and class loaders ask there first.

use culprit_classfile::{Attribute, ClassFile, access, op};

/// The class in a jar.
pub(crate) const ENTRY: &str = "culprit/runtime/Probe.class";

const REAL: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../java/runtime/classes/culprit/runtime/Probe.class"
));
const OBJECT: &str = "Ljava/lang/Object;";
/// Java 8: every JVM that may run the jar loads it.
const MAJOR: u16 = 52;

/// The class file: every probe returns 0 or nothing, but for the one that stands for a hash, and the
/// one that gives back the second of two objects for the first to be compared with.
pub(crate) fn probes() -> Result<Vec<u8>, culprit_classfile::Error> {
    let mut class = ClassFile::parse(REAL)?;
    class.major = MAJOR;
    class.minor = 0;
    class.fields.clear();
    class.attributes.clear();
    class.methods.retain(|method| {
        method.access & access::PUBLIC != 0 && method.access & access::STATIC != 0
    });
    let code = class.pool.add_utf8("Code")?;
    let hash = "identityHashCode";
    let hash = (class.pool).add_method_ref("java/lang/System", hash, "(Ljava/lang/Object;)I")?;
    let [first, second] = hash.to_be_bytes();
    let hash = [op::ALOAD_0, op::INVOKESTATIC, first, second, op::IRETURN];
    for method in &mut class.methods {
        let descriptor = class.pool.utf8(method.descriptor)?;
        let mut locals = 0_u16;
        let (parameters, result) =
            culprit_model::value::split_descriptor(&descriptor).unwrap_or((Vec::new(), "V"));
        for parameter in parameters {
            locals += if matches!(parameter, "J" | "D") { 2 } else { 1 };
        }
        let body: &[u8] = match result {
            "J" => &[op::LCONST_0, op::LRETURN],
            "Z" => &[op::ICONST_0, op::IRETURN],
            "I" => &hash,
            OBJECT => &[op::ALOAD, 1, op::ARETURN],
            _ => &[op::RETURN],
        };
        let mut bytes = Vec::new();
        bytes.extend(2_u16.to_be_bytes());
        bytes.extend(locals.to_be_bytes());
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend(body);
        // No handlers, no attributes.
        bytes.extend([0; 4]);
        method.attributes = vec![Attribute { name: code, bytes }];
    }
    class.write()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_is_there_and_returns_what_is_written_for_it() {
        let real = ClassFile::parse(REAL).unwrap();
        let idle = ClassFile::parse(&probes().unwrap()).unwrap();
        let offered = |class: &ClassFile| {
            let public = class
                .methods
                .iter()
                .filter(|m| m.access & access::PUBLIC != 0);
            let signature = |m: &culprit_classfile::Member| {
                let utf8 = |index| class.pool.utf8(index).unwrap().into_owned();
                (utf8(m.name), utf8(m.descriptor))
            };
            public.map(signature).collect::<Vec<_>>()
        };
        assert_eq!(offered(&idle), offered(&real));
        for (name, descriptor) in offered(&idle) {
            let (_, result) = culprit_model::value::split_descriptor(&descriptor).unwrap();
            assert!(matches!(result, "V" | "J" | "Z" | "I" | OBJECT), "{name}");
            let compares = (name.as_str(), descriptor.matches(OBJECT).count()) == ("compared", 3);
            assert_eq!(result == OBJECT, compares, "{name}");
        }
        assert_eq!(idle.methods.len(), offered(&idle).len());
    }
}
