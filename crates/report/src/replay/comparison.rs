//! The recorded classes compared with another version of the program, before a replay against it.

use std::ffi::OsStr;

use culprit_model::clean;
use culprit_replay::{Against, Change, ClassChanges};

use super as document;
use crate::figure::{counted, cut, grouped};
use crate::place::dotted;

/// The number of lines of changes that are printed.
const LINES: usize = 60;

/// The differences between the recorded classes and those of a class path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Comparison {
    path: String,
    classes: u64,
    changes: Vec<ClassChanges>,
    /// Classes that the class path lacks.
    missing: Vec<String>,
}

impl Comparison {
    /// The comparison with a class path.
    pub fn of(path: &OsStr, against: &Against) -> Comparison {
        Comparison {
            path: path.to_string_lossy().into_owned(),
            classes: against.classes,
            changes: against.changes.clone(),
            missing: against.missing.clone(),
        }
    }

    /// Adds the comparison of another recording of the same program.
    pub(super) fn add(&mut self, other: &Comparison) {
        self.classes = self.classes.max(other.classes);
        for change in &other.changes {
            if !self.changes.contains(change) {
                self.changes.push(change.clone());
            }
        }
        self.changes.sort_by(|a, b| a.class.cmp(&b.class));
        self.missing.extend_from_slice(&other.missing);
        self.missing.sort();
        self.missing.dedup();
    }

    /// The differences as text.
    pub fn lines(&self) -> Vec<String> {
        let (path, all) = (clean::line(&self.path), counted(self.classes, "class"));
        let old = self.changes.iter().filter(|change| !change.is_new).count();
        let differ = match old {
            1 => format!("1 of {all} differs"),
            count => format!("{} of {all} differ", grouped(count as u64)),
        };
        let missing = grouped(self.missing.len() as u64);
        let differ = match (old, self.missing.len()) {
            (0, 0) => format!("none of {all} differs"),
            (0, _) => format!("{missing} of {all} missing"),
            (_, 0) => differ,
            _ => format!("{differ}, {missing} missing"),
        };
        let mut lines = vec![format!("Against {path}: {differ}")];
        for change in &self.changes {
            let new = if change.is_new { " (new)" } else { "" };
            lines.push(format!("  {}{new}", clean::line(&dotted(&change.class))));
            if change.header {
                lines.push("    changed  its flags or supertypes".to_owned());
            }
            for (change, member) in &change.members {
                let member = cut(&clean::line(member), 66);
                lines.push(format!("    {:<9}{member}", change.name()));
            }
        }
        let more = lines.len().saturating_sub(LINES);
        if more > 0 {
            lines.truncate(LINES);
            lines.push(format!("  and {more} more lines, which --json has"));
        }
        lines
    }

    /// The differences for programs.
    pub(super) fn document(&self) -> document::Versions {
        let of = |change: &ClassChanges, kind: Change| -> Vec<String> {
            let members = change.members.iter().filter(|(it, _)| *it == kind);
            members.map(|(_, member)| member.clone()).collect()
        };
        let changes = self.changes.iter().map(|change| document::ClassChanges {
            class: dotted(&change.class),
            is_new: change.is_new,
            header_changed: change.header,
            added: of(change, Change::Added),
            removed: of(change, Change::Removed),
            changed: of(change, Change::Changed),
        });
        document::Versions {
            path: self.path.clone(),
            classes: self.classes,
            missing: self.missing.iter().map(|class| dotted(class)).collect(),
            changes: changes.collect(),
        }
    }
}
