//! The recorded classes compared with another version of the program, before a replay against it.

use std::ffi::OsStr;

use culprit_model::clean;
use culprit_replay::{Against, Change, ClassChanges};

use super as document;
use crate::figure::{COLUMNS, counted, cut, grouped, wrap};
use crate::place::dotted;

/// The number of lines of changes that are printed.
const LINES: usize = 10;
/// The number of missing classes that are named.
const NAMES: usize = 3;

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

    /// The comparison in numbers, with the classes that the class path lacks.
    pub fn summary(&self) -> Vec<String> {
        let (path, all) = (clean::line(&self.path), counted(self.classes, "class"));
        let differ = match self.changed().count() {
            0 => format!("none of {all} differs"),
            1 => format!("1 of {all} differs"),
            count => format!("{} of {all} differ", grouped(count as u64)),
        };
        let mut lines = vec![format!("Against {path}: {differ}")];
        if !self.missing.is_empty() {
            let count = counted(self.missing.len() as u64, "recorded class");
            let (verb, pronoun) = match self.missing.len() {
                1 => ("is", "it is"),
                _ => ("are", "they are"),
            };
            let names = names(&self.missing);
            let text = format!("{count} {verb} not there: {names}; {pronoun} replayed as recorded");
            let text = wrap(&text, COLUMNS - 2).into_iter();
            lines.extend(text.map(|line| format!("  {line}")));
        }
        lines
    }

    /// The recorded classes that differ, and the number of those that were not compared.
    pub fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for change in self.changed() {
            lines.push(format!("  {}", clean::line(&dotted(&change.class))));
            if change.header {
                lines.push("    changed  its flags or supertypes".to_owned());
            }
            for (change, member) in &change.members {
                let member = cut(&clean::line(member), 66);
                lines.push(format!("    {:<9}{member}", change.name()));
            }
        }
        if lines.len() > LINES {
            lines = self.changed().take(LINES).map(in_a_line).collect();
            lines.push(match self.changed().count().saturating_sub(LINES) {
                0 => "  --json lists the members".to_owned(),
                1 => "  and 1 more; --json lists the members".to_owned(),
                more => format!(
                    "  and {} more; --json lists the members",
                    grouped(more as u64)
                ),
            });
        }
        if !lines.is_empty() {
            lines.insert(0, "Changed classes:".to_owned());
        }
        match self.changes.len() - self.changed().count() {
            0 => {}
            1 => lines.push("1 class that the recording never used is not compared".to_owned()),
            count => {
                let count = grouped(count as u64);
                lines.push(format!(
                    "{count} classes that the recording never used are not compared"
                ));
            }
        }
        lines
    }

    /// The recorded classes that differ.
    fn changed(&self) -> impl Iterator<Item = &ClassChanges> {
        self.changes.iter().filter(|change| !change.is_new)
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

/// A class that differs, with the number of its changes.
fn in_a_line(change: &ClassChanges) -> String {
    let count = change.members.len() as u64 + u64::from(change.header);
    let class = dotted(&change.class);
    format!("  {}: {}", clean::line(&class), counted(count, "change"))
}

/// The first names of classes, and the number of the others.
fn names(classes: &[String]) -> String {
    let first = classes.iter().take(NAMES);
    let first: Vec<String> = first
        .map(|class| clean::line(&dotted(class)).into_owned())
        .collect();
    let first = first.join(", ");
    match classes.len().saturating_sub(NAMES) {
        0 => first,
        more => format!("{first} and {} more", grouped(more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(class: &str, is_new: bool, members: usize) -> ClassChanges {
        let members = (0..members).map(|number| (Change::Changed, format!("m{number}()")));
        ClassChanges {
            class: class.to_owned(),
            is_new,
            header: false,
            members: members.collect(),
        }
    }

    fn comparison(changes: Vec<ClassChanges>, missing: &[&str]) -> Comparison {
        Comparison {
            path: "new.jar".to_owned(),
            classes: 80,
            changes,
            missing: missing.iter().map(|&class| class.to_owned()).collect(),
        }
    }

    #[test]
    fn changed_classes_come_before_those_that_were_never_used() {
        let mut changes: Vec<ClassChanges> = (0..57)
            .map(|n| change(&format!("a/New{n}"), true, 0))
            .collect();
        changes.push(change("z/Changed", false, 1));
        let all = comparison(changes, &[]);
        assert_eq!(all.summary(), ["Against new.jar: 1 of 80 classes differs"]);
        insta::assert_snapshot!(all.details().join("\n"), @r"
        Changed classes:
          z.Changed
            changed  m0()
        57 classes that the recording never used are not compared
        ");
        assert!(comparison(Vec::new(), &[]).details().is_empty());
    }

    #[test]
    fn many_changes_are_counted_and_ten_classes_are_listed() {
        let details = comparison(vec![change("a/B", false, 40)], &[]).details();
        insta::assert_snapshot!(details.join("\n"), @r"
        Changed classes:
          a.B: 40 changes
          --json lists the members
        ");
        let many = (0..30).map(|n| change(&format!("a/B{n}"), false, 1));
        let details = comparison(many.collect(), &[]).details();
        assert_eq!(details.len(), 12, "{details:?}");
        assert_eq!(details[1], "  a.B0: 1 change");
        assert_eq!(details[11], "  and 20 more; --json lists the members");
    }

    #[test]
    fn of_missing_classes_the_first_three_are_named() {
        let missing = ["a/A", "a/B", "a/C", "a/D", "a/E"];
        insta::assert_snapshot!(comparison(Vec::new(), &missing).summary().join("\n"), @r"
        Against new.jar: none of 80 classes differs
          5 recorded classes are not there: a.A, a.B, a.C and 2 more; they are replayed
          as recorded
        ");
    }
}
