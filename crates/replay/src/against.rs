//! Another version of the program of a recording: the observed classes as a class path has them.

use std::collections::{BTreeMap, BTreeSet};

use culprit_classfile::{ClassFile, named_classes, outline};
use culprit_model::Selection;
use culprit_model::observe::is_jdk_name;
use culprit_model::options::{RecordOptions, WeaveOptions};
use culprit_program::ClassPath;
use culprit_trace::Recording;
use culprit_wire::{ClassKind, LineCheck, Subject, SubjectClass};

use crate::Error;
use crate::changes::{ClassChanges, compare};
use crate::subject::{exactly, subject};

/// Another version of a program.
#[derive(Debug)]
pub struct Against {
    pub subject: Subject,
    /// Observed classes, of which some may differ.
    pub classes: u64,
    /// Observed classes that are on the class path.
    found: u64,
    /// Those that do, by name.
    pub changes: Vec<ClassChanges>,
    /// Observed classes that are not on the class path, by their internal names. They remain as they were recorded.
    pub missing: Vec<String>,
    /// Lines move where a source file is changed, even if the code is not.
    pub lines: LineCheck,
}

impl Against {
    /// Whether the class path has none of the classes that the recorded program loaded from files.
    pub fn is_another_program(&self) -> bool {
        !self.missing.is_empty() && self.found == 0
    }
}

/// The program of a recording with its observed classes from a class path. Classes that are not on it remain as
/// they were recorded: those that the program made itself when it ran, and those that the other version lacks.
pub fn against(recording: &Recording, path: &ClassPath) -> Result<Against, Error> {
    let mut found = Against {
        subject: subject(recording)?,
        classes: 0,
        found: 0,
        changes: Vec::new(),
        missing: Vec::new(),
        lines: LineCheck::Compare,
    };
    let came_from_file: BTreeSet<(&str, u32)> = recording
        .classes()
        .iter()
        .filter(|class| class.origin.is_some())
        .map(|class| (class.name.as_str(), class.loader))
        .collect();
    let observed = |class: &&mut SubjectClass| class.kind == ClassKind::Observed;
    let mut changes = BTreeMap::new();
    for class in found.subject.classes.iter_mut().filter(observed) {
        found.classes += 1;
        match path.class(&class.name)? {
            Some(bytes) => {
                found.found += 1;
                let compared = compare(&class.bytes, &bytes);
                let compared = compared.map_err(|error| unusable(&class.name, error))?;
                if let Some(changed) = compared {
                    changes.insert(class.name.clone(), changed);
                }
                if class.bytes != bytes {
                    found.lines = LineCheck::Ignore;
                    class.bytes = bytes;
                }
            }
            None if came_from_file.contains(&(class.name.as_str(), class.loader)) => {
                found.missing.push(class.name.clone());
            }
            None => {}
        }
    }
    if !changes.is_empty() {
        let recorded = RecordOptions::of_recording(&recording.start().options)?;
        for class in add_new(&mut found.subject, path, &recorded.weave.selection)? {
            let change = ClassChanges {
                class: class.clone(),
                is_new: true,
                header: false,
                members: Vec::new(),
            };
            changes.insert(class, change);
        }
        add_outlines(&mut found.subject, path)?;
    }
    found.changes = changes.into_values().collect();
    Ok(found)
}

/// Adds the classes that are new and would have been observed.
fn add_new(
    subject: &mut Subject,
    path: &ClassPath,
    selection: &Selection,
) -> Result<Vec<String>, Error> {
    let loaders: BTreeMap<String, u32> = subject
        .classes
        .iter()
        .filter(|class| class.kind == ClassKind::Observed)
        .map(|class| (class.name.clone(), class.loader))
        .collect();
    let known: BTreeSet<String> = subject.classes.iter().map(|it| it.name.clone()).collect();
    let mut added = Vec::new();
    for name in path.names()? {
        let Some(loader) = neighbour(&name, &loaders) else {
            continue;
        };
        let is_excluded = selection.exclude.iter().any(|it| it.matches(&name));
        let is_chosen = selection.observe.iter().any(|it| it.matches(&name))
            || selection.app
            || selection.observe.is_empty()
            || loaders.contains_key(outermost(&name));
        if known.contains(&name) || is_excluded || !is_chosen {
            continue;
        }
        if let Some(bytes) = path.class(&name)? {
            subject.classes.push(SubjectClass {
                name: name.clone(),
                loader,
                kind: ClassKind::Observed,
                bytes,
            });
            added.push(name);
        }
    }
    let mut options: WeaveOptions = subject.options.parse()?;
    let patterns = added.iter().filter_map(|name| exactly(name));
    options.selection.observe.extend(patterns);
    subject.options = options.to_string();
    Ok(added)
}

/// Adds outlines of external classes that the new code names and the recording does not know.
fn add_outlines(subject: &mut Subject, path: &ClassPath) -> Result<(), Error> {
    let mut known: BTreeSet<String> = subject.classes.iter().map(|it| it.name.clone()).collect();
    let mut at = 0;
    while let Some(class) = subject.classes.get(at) {
        at += 1;
        let loader = class.loader;
        let parsed =
            ClassFile::parse(&class.bytes).map_err(|error| unusable(&class.name, error))?;
        let names = named_classes(&parsed).map_err(|error| unusable(&class.name, error))?;
        for name in names {
            if is_jdk_name(&name) || !known.insert(name.clone()) {
                continue;
            }
            let Some(bytes) = path.class(&name)? else {
                continue;
            };
            let outlined = ClassFile::parse(&bytes)
                .and_then(|class| outline(&class))
                .and_then(|class| class.write());
            subject.classes.push(SubjectClass {
                bytes: outlined.map_err(|error| unusable(&name, error))?,
                name,
                loader,
                kind: ClassKind::Outline,
            });
        }
    }
    Ok(())
}

/// The loader of an observed class of the same package, the class that it is nested in first.
fn neighbour(name: &str, loaders: &BTreeMap<String, u32>) -> Option<u32> {
    if let Some(loader) = loaders.get(outermost(name)) {
        return Some(*loader);
    }
    let package = package(name);
    let mut others = loaders
        .iter()
        .filter(|(other, _)| self::package(other) == package);
    others.next().map(|(_, loader)| *loader)
}

fn outermost(name: &str) -> &str {
    let simple = name.rfind('/').map_or(0, |slash| slash + 1);
    match name[simple..].find('$') {
        Some(dollar) if dollar > 0 => &name[..simple + dollar],
        _ => name,
    }
}

fn package(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(package, _)| package)
}

fn unusable(class: &str, error: culprit_classfile::Error) -> Error {
    Error::Class {
        class: class.replace('/', "."),
        error,
    }
}
