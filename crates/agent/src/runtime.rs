//! The Java runtime, compiled, as the JVM defines it: `cargo xtask runtime` makes the class files
//! from `java/runtime/src`.

use culprit_classfile::ClassFile;
use culprit_weave::probe::BESIDE_NAMES;

macro_rules! classes {
    ($($name:literal),* $(,)?) => {
        &[$((
            concat!("culprit/runtime/", $name),
            include_bytes!(concat!("../../../java/runtime/classes/culprit/runtime/", $name, ".class")),
        )),*]
    };
}

/// Name and bytes of each class, superclasses first.
pub(crate) const CLASSES: &[(&str, &[u8])] = classes![
    "Native",
    "State",
    "Records",
    "Beside",
    "ClassInfo$1",
    "ClassInfo",
    "Identity$Entry",
    "Identity$Link",
    "Identity$Stripe",
    "Identity",
    "Escape$1",
    "Escape",
    "Values$Nest",
    "Values",
    "Constants$1",
    "Constants$Constant",
    "Constants",
    "FieldTable$1",
    "FieldTable",
    "Structures$1",
    "Structures",
    "Strings",
    "Reflection$1",
    "Reflection$2",
    "Reflection",
    "Probe",
    "Failures",
    "Hashes",
    "Hiding",
    "Children",
];

/// The further classes of a JVM that replays.
pub(crate) const REPLAY: &[(&str, &[u8])] = classes![
    "Executor",
    "Answer$Births",
    "Answer",
    "Loader",
    "Operators",
    "Plain",
    "Stop",
    "Worker",
];

/// The further classes of a JVM that traces what it runs.
pub(crate) const TRACE: &[(&str, &[u8])] = classes!["Trace$Table", "Trace"];

/// The classes of a JVM whose driver is followed.
pub(crate) const FOLLOW: &[(&str, &[u8])] = classes!["Operators"];

/// The class that each loader of a program has in a JVM that runs scripts.
pub(crate) const CALLER: (&str, &[u8]) = (
    "culprit/runtime/Caller",
    include_bytes!("../../../java/runtime/classes/culprit/runtime/Caller.class"),
);

/// The one class that counting needs, which recording does not.
pub(crate) const COUNTER: (&str, &[u8]) = (
    "culprit/runtime/Counter",
    include_bytes!("../../../java/runtime/classes/culprit/runtime/Counter.class"),
);

/// The names of the runtime, and of woven members, in this JVM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RuntimeNames {
    Usual,
    /// Another runtime has the usual names.
    Beside,
}

impl RuntimeNames {
    /// The name of a class of the runtime.
    pub(crate) fn class(self, usual: &str) -> String {
        let (from, to) = BESIDE_NAMES[0];
        match self {
            RuntimeNames::Usual => usual.to_owned(),
            RuntimeNames::Beside => usual.replacen(from, to, 1),
        }
    }

    /// A class of the runtime, or one that was woven, with these names in it.
    pub(crate) fn write(self, bytes: Vec<u8>) -> Result<Vec<u8>, culprit_classfile::Error> {
        if self == RuntimeNames::Usual {
            return Ok(bytes);
        }
        let mut class = ClassFile::parse(&bytes)?;
        for (from, to) in BESIDE_NAMES {
            class.pool.rename(from, to);
        }
        class.write()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_beside_another_shares_no_name_with_it() {
        for (name, bytes) in CLASSES {
            let renamed = RuntimeNames::Beside.write(bytes.to_vec()).unwrap();
            let has = |text: &str| renamed.windows(text.len()).any(|w| w == text.as_bytes());
            for (usual, _) in BESIDE_NAMES {
                assert!(!has(usual), "{name} has {usual}");
            }
            let class = ClassFile::parse(&renamed).unwrap();
            assert_eq!(class.name().unwrap(), RuntimeNames::Beside.class(name));
        }
    }
}
