//! Which lines of the observed classes a replay ran, of all that they have.

use std::collections::BTreeMap;

use culprit_classfile::{ClassFile, Code, access};
use culprit_wire::{ClassCoverage, ClassKind, Subject};

use crate::Error;

/// How often the lines of classes were run. All lines with code are in it, also those that were
/// not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    classes: BTreeMap<String, ClassLines>,
}

/// The lines of a class that have code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassLines {
    /// How often each was run.
    pub counts: BTreeMap<u16, u64>,
}

impl Coverage {
    /// No line was run yet.
    pub(crate) fn none(subject: &Subject) -> Result<Coverage, Error> {
        let mut coverage = Coverage::default();
        let observed = subject.classes.iter();
        for class in observed.filter(|class| class.kind == ClassKind::Observed) {
            let lines = lines(&class.bytes).map_err(|error| Error::Class {
                class: class.name.clone(),
                error,
            })?;
            coverage.add_class(&class.name, &lines);
        }
        Ok(coverage)
    }

    /// Adds what a worker has counted. Lines that only code of compilers has, such as bridges, are
    /// nobody's.
    pub(crate) fn count(&mut self, counted: &[ClassCoverage]) {
        for class in counted {
            let Some(known) = self.classes.get_mut(&class.class) else {
                continue;
            };
            for (line, times) in &class.lines {
                if let Some(count) = known.counts.get_mut(line) {
                    *count = count.saturating_add(*times);
                }
            }
        }
    }

    /// Adds what another replay has run.
    pub fn add(&mut self, other: &Coverage) {
        for (name, lines) in &other.classes {
            self.add_class(name, lines);
        }
    }

    fn add_class(&mut self, name: &str, lines: &ClassLines) {
        let known = self.classes.entry(name.to_owned()).or_default();
        for (line, times) in &lines.counts {
            let count = known.counts.entry(*line).or_default();
            *count = count.saturating_add(*times);
        }
    }

    /// The classes by their internal names.
    pub fn classes(&self) -> impl Iterator<Item = (&str, &ClassLines)> {
        self.classes
            .iter()
            .map(|(name, lines)| (name.as_str(), lines))
    }

    /// How many lines were run.
    pub fn run(&self) -> usize {
        self.classes.values().map(ClassLines::run).sum()
    }

    /// How many lines there are.
    pub fn total(&self) -> usize {
        self.classes.values().map(ClassLines::total).sum()
    }
}

impl ClassLines {
    /// How many lines were run.
    pub fn run(&self) -> usize {
        self.counts.values().filter(|count| **count > 0).count()
    }

    /// How many lines there are.
    pub fn total(&self) -> usize {
        self.counts.len()
    }

    /// The first and last lines of the stretches that were not run. Lines without code do not
    /// part them.
    pub fn not_run(&self) -> Vec<(u16, u16)> {
        let mut stretches: Vec<(u16, u16)> = Vec::new();
        let mut is_open = false;
        for (line, count) in &self.counts {
            match (*count, stretches.last_mut()) {
                (0, Some((_, last))) if is_open => *last = *line,
                (0, _) => stretches.push((*line, *line)),
                _ => {}
            }
            is_open = *count == 0;
        }
        stretches
    }
}

/// The lines of a class file that somebody wrote.
fn lines(bytes: &[u8]) -> culprit_classfile::Result<ClassLines> {
    let class = ClassFile::parse(bytes)?;
    let mut lines = ClassLines::default();
    for method in &class.methods {
        if method.access & access::BRIDGE != 0 {
            continue;
        }
        if let Some(attribute) = method.attribute(&class.pool, "Code") {
            let table = Code::parse(attribute, &class.pool)?.lines(&class.pool)?;
            let entries = table.entries().iter();
            lines.counts.extend(entries.map(|(_, line)| (*line, 0)));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[(u16, u64)]) -> ClassLines {
        ClassLines {
            counts: counts.iter().copied().collect(),
        }
    }

    #[test]
    fn stretches_are_parted_by_lines_that_were_run_and_by_no_others() {
        for (counts, expect) in [
            (&[][..], &[][..]),
            (&[(3, 1)], &[]),
            (&[(3, 0)], &[(3, 3)]),
            (&[(3, 0), (5, 0), (6, 2), (9, 0)], &[(3, 5), (9, 9)]),
            (&[(1, 1), (2, 0), (8, 0)], &[(2, 8)]),
        ] {
            assert_eq!(of(counts).not_run(), expect, "{counts:?}");
        }
    }

    #[test]
    fn a_line_is_run_if_any_replay_ran_it() {
        let class = |counts: &[(u16, u64)]| Coverage {
            classes: [("A".to_owned(), of(counts))].into(),
        };
        let mut all = class(&[(1, 0), (2, 3)]);
        all.add(&class(&[(1, 1), (2, u64::MAX), (4, 0)]));
        assert_eq!(all, class(&[(1, 1), (2, u64::MAX), (4, 0)]));
        assert_eq!((all.run(), all.total()), (2, 3));
    }

    #[test]
    fn counts_of_lines_that_nobody_wrote_do_not_count() {
        let mut coverage = Coverage {
            classes: [("A".to_owned(), of(&[(7, 0)]))].into(),
        };
        for (class, line) in [("A", 7), ("A", 8), ("B", 7)] {
            coverage.count(&[ClassCoverage {
                class: class.to_owned(),
                lines: vec![(line, 2)],
            }]);
        }
        let counted: Vec<_> = coverage.classes().map(|(_, lines)| lines.run()).collect();
        assert_eq!(counted, [1]);
        assert_eq!((coverage.run(), coverage.total()), (1, 1));
    }
}
