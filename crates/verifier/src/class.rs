//! The classes under test: four modules of the JDK, whole or sampled.

/// The modules whose classes are taken.
pub const MODULES: [&str; 4] = ["java.base", "java.xml", "java.desktop", "jdk.compiler"];

/// A class of the JDK.
#[derive(Clone, Debug)]
pub struct Class {
    pub module: String,
    /// Its path in its module: `java/lang/Object.class`.
    pub path: String,
    pub bytes: Vec<u8>,
}

impl Class {
    /// The internal name: `java/lang/Object`.
    pub fn name(&self) -> &str {
        self.path.trim_end_matches(".class")
    }
}

/// True if a JVM needs classes of the module to start. Those of the others may be of an old
/// version, and a mistake in them is told by a JVM that runs.
pub fn is_early(class: &Class) -> bool {
    class.module == "java.base"
}

/// True if all classes are taken and not a sample.
pub fn takes_all_classes() -> bool {
    std::env::var_os("CULPRIT_TEST_ALL_CLASSES").is_some()
}

/// True if a class is taken: one in eight by its name, or all.
pub fn is_sampled(class: &Class) -> bool {
    let hash = class
        .path
        .bytes()
        .fold(0_u32, |h, b| (h ^ u32::from(b)).wrapping_mul(0x0100_0193));
    !class.path.ends_with("module-info.class") && (takes_all_classes() || hash >> 8 & 7 == 0)
}

/// Reads what `Extract.java` wrote.
pub(crate) fn read_all(mut rest: &[u8]) -> Vec<Class> {
    let mut classes = Vec::new();
    while !rest.is_empty() {
        let mut text = || String::from_utf8(block(&mut rest, 2).to_vec()).unwrap();
        let (module, path) = (text(), text());
        let bytes = block(&mut rest, 4).to_vec();
        classes.push(Class {
            module,
            path,
            bytes,
        });
    }
    classes
}

fn block<'a>(rest: &mut &'a [u8], width: usize) -> &'a [u8] {
    let (length, tail) = rest.split_at(width);
    let length = length.iter().fold(0_usize, |n, b| n << 8 | usize::from(*b));
    let (block, tail) = tail.split_at(length);
    *rest = tail;
    block
}
