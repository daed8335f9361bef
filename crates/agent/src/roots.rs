//! The program's roots: folders of classes on the class path and the jar named by `-jar`. What
//! they hold is the program's own code; every other jar is a library.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use culprit_model::Owner;

/// A class path may lead anywhere, even to `/`: after so many folders it is no tree of packages.
const MOST_FOLDERS: usize = 20_000;
/// Deeper folders than this are not a tree of packages.
const DEEPEST: usize = 40;
/// Where a Spring Boot jar keeps the program's own classes.
const BOOT_CLASSES: &str = "BOOT-INF/classes/";

#[derive(Default)]
pub(crate) struct Roots {
    classes: HashSet<String>,
    main_jar: Option<PathBuf>,
    /// Folders walked so far.
    walked: usize,
    /// Folders that turned out to be roots while the program ran.
    folders: HashSet<String>,
    /// The JVM is that of a build tool.
    is_tool: bool,
}

impl Roots {
    /// `class_path` and `command` are the properties `java.class.path` and `sun.java.command`.
    pub(crate) fn find(class_path: &str, command: &str) -> Roots {
        let first = command.split(' ').next();
        let mut roots = Roots {
            is_tool: first.is_some_and(|main| Owner::of_java(main).is_tool()),
            ..Roots::default()
        };
        let main = first.filter(|first| first.ends_with(".jar"));
        for entry in class_path
            .split(':')
            .map(|e| if e.is_empty() { "." } else { e })
        {
            let path = Path::new(entry);
            if path.is_dir() {
                roots.add_folder(path, &mut String::new(), 0);
            } else if main.is_some_and(|main| path.ends_with(main)) {
                roots.main_jar = path.canonicalize().ok();
                roots.add_jar(path);
            }
        }
        roots
    }

    /// Whether the program is all there is: no root is known, and no build tool runs it.
    pub(crate) fn are_unknown(&self) -> bool {
        self.classes.is_empty() && !self.is_tool
    }

    /// Whether a root holds the class.
    pub(crate) fn has(&self, class: &str) -> bool {
        self.classes.contains(class)
    }

    /// Whether a code source is a folder or the program's jar. Build tools start JVMs with one
    /// jar that names the real class path, so a folder may be news: it becomes a root.
    pub(crate) fn is_program(&mut self, url: &str) -> bool {
        let Some(path) = url.strip_prefix("file:") else {
            return false;
        };
        if !path.ends_with('/') {
            return self
                .main_jar
                .as_deref()
                .is_some_and(|jar| Path::new(path) == jar);
        }
        if self.folders.insert(path.to_owned()) {
            self.add_folder(Path::new(path), &mut String::new(), 0);
        }
        true
    }

    fn add_folder(&mut self, folder: &Path, package: &mut String, depth: usize) {
        self.walked += 1;
        if self.walked > MOST_FOLDERS {
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let length = package.len();
            if let Some(class) = name.strip_suffix(".class") {
                package.push_str(class);
                self.classes.insert(package.clone());
            } else if depth < DEEPEST
                && !name.contains('.')
                && entry.file_type().is_ok_and(|t| t.is_dir())
            {
                package.push_str(name);
                package.push('/');
                self.add_folder(&entry.path(), package, depth + 1);
            }
            package.truncate(length);
        }
    }

    fn add_jar(&mut self, jar: &Path) {
        for name in jar_entries(jar).unwrap_or_default() {
            if let Some(class) = name.strip_suffix(".class") {
                let class = class.strip_prefix(BOOT_CLASSES).unwrap_or(class);
                self.classes.insert(class.to_owned());
            }
        }
    }
}

/// The names in a jar's central directory.
fn jar_entries(jar: &Path) -> Option<Vec<String>> {
    let bytes = fs::read(jar).ok()?;
    let end = (0..bytes.len().checked_sub(21)?)
        .rev()
        .take(66_000)
        .find(|&i| bytes[i..].starts_with(b"PK\x05\x06"))?;
    let word = |at: usize| {
        bytes
            .get(at..at + 2)
            .map(|b| u16::from_le_bytes([b[0], b[1]]) as usize)
    };
    let double = |at: usize| {
        bytes
            .get(at..at + 4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
    };
    let mut at = double(end + 16)?;
    let mut names = Vec::new();
    for _ in 0..word(end + 10)? {
        if !bytes.get(at..)?.starts_with(b"PK\x01\x02") {
            break;
        }
        let (name, extra, comment) = (word(at + 28)?, word(at + 30)?, word(at + 32)?);
        names.push(String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name)?).into_owned());
        at += 46 + name + extra + comment;
    }
    Some(names)
}
