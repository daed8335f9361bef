//! The classes of a program and of its JDK: their class files, and which class extends which.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use culprit_classfile::{ClassFile, access};
use culprit_jvm::Jdk;

use crate::{ClassPath, Error, JdkClasses};

/// A program on a class path.
pub struct Program {
    entries: Vec<(PathBuf, ClassPath)>,
    jdk: JdkClasses,
}

impl Program {
    /// Opens the entries of a class path. Entries that do not exist are ignored, as a JVM does.
    pub fn open(class_path: &[PathBuf], jdk: &Jdk) -> Result<Program, Error> {
        let feature = jdk.version.feature;
        let entries = class_path.iter().filter(|path| path.exists()).map(|path| {
            let opened = ClassPath::open(path.as_os_str(), feature)?;
            Ok((path.clone(), opened))
        });
        Ok(Program {
            entries: entries.collect::<Result<_, Error>>()?,
            jdk: JdkClasses::of(jdk),
        })
    }

    /// Folders and archives.
    pub fn class_path(&self) -> impl Iterator<Item = &Path> {
        self.entries.iter().map(|(path, _)| path.as_path())
    }

    /// The class file of a class, by its internal name.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let of_program = || {
            let mut found = self.entries.iter().map(|(_, entry)| entry.class(name));
            found.find_map(|bytes| bytes.ok().flatten())
        };
        self.jdk.bytes(name).or_else(of_program)
    }

    /// The number of the entry that has a class.
    pub fn entry_of(&self, name: &str) -> Option<usize> {
        let has = |entry: &ClassPath| matches!(entry.class(name), Ok(Some(_)));
        self.entries.iter().position(|(_, entry)| has(entry))
    }

    /// Internal names of the classes of an entry.
    pub fn names(&self, entry: usize) -> Result<BTreeSet<String>, Error> {
        self.entries[entry].1.names()
    }

    /// Whether a class is an interface.
    pub fn is_interface(&self, name: &str) -> bool {
        let class = self.parsed(name);
        class.is_some_and(|class| class.access & access::INTERFACE != 0)
    }

    /// Whether a class is, extends or implements another one.
    pub fn is_a(&self, name: &str, wanted: &str) -> bool {
        name == wanted || self.above(name).iter().any(|above| above == wanted)
    }

    /// A class, and the classes and interfaces above it.
    pub fn above(&self, name: &str) -> Vec<String> {
        let mut found = vec![name.to_owned()];
        let mut at = 0;
        while let Some(name) = found.get(at).cloned() {
            at += 1;
            let Some(class) = self.parsed(&name) else {
                continue;
            };
            let above = class.super_name().ok().flatten();
            let interfaces = class.interfaces.iter();
            let interfaces = interfaces.filter_map(|index| class.pool.class_name(*index).ok());
            for above in above.into_iter().chain(interfaces) {
                if !found.iter().any(|known| *known == above) {
                    found.push(above.into_owned());
                }
            }
        }
        found
    }

    fn parsed(&self, name: &str) -> Option<ClassFile> {
        ClassFile::parse(&self.bytes(name)?).ok()
    }
}
