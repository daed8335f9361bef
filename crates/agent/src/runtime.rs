//! The Java runtime, compiled, as the JVM defines it: `cargo xtask runtime` makes the class files
//! from `java/runtime/src`.

macro_rules! classes {
    ($($name:literal),* $(,)?) => {
        /// Name and bytes of each class, superclasses first.
        pub(crate) const CLASSES: &[(&str, &[u8])] = &[$((
            concat!("culprit/runtime/", $name),
            include_bytes!(concat!("../../../java/runtime/classes/culprit/runtime/", $name, ".class")),
        )),*];
    };
}

classes!(
    "Native",
    "State",
    "Records",
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
    "Structures",
    "Reflection$1",
    "Reflection$2",
    "Reflection",
    "Probe",
    "Failures",
    "Hashes",
    "Hiding",
    "Children",
);

macro_rules! more {
    ($($name:literal),* $(,)?) => {
        /// The further classes of a JVM that replays.
        pub(crate) const REPLAY: &[(&str, &[u8])] = &[$((
            concat!("culprit/runtime/", $name),
            include_bytes!(concat!("../../../java/runtime/classes/culprit/runtime/", $name, ".class")),
        )),*];
    };
}

more!(
    "Executor",
    "Answer$Births",
    "Answer",
    "Loader",
    "Stop",
    "Worker",
);

/// The one class that counting needs, which recording does not.
pub(crate) const COUNTER: (&str, &[u8]) = (
    "culprit/runtime/Counter",
    include_bytes!("../../../java/runtime/classes/culprit/runtime/Counter.class"),
);
