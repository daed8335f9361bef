//! The outcomes of the tests of a suite, and the differences between two runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::{fs, io};

/// The outcome of one test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct End {
    pub status: String,
    /// The class of what it threw, or nothing.
    pub exception: String,
    /// The message and origin of the exception; not compared.
    pub why: String,
}

impl End {
    fn is_like(&self, other: &End) -> bool {
        (&self.status, &self.exception) == (&other.status, &other.exception)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.status.to_lowercase())?;
        if !self.exception.is_empty() {
            write!(f, " with {}", self.exception)?;
        }
        Ok(())
    }
}

/// The tests of one run, by id.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Outcomes(BTreeMap<String, End>);

impl Outcomes {
    /// Reads what the runner wrote.
    pub(super) fn read(file: &Path) -> io::Result<Outcomes> {
        match fs::read_to_string(file) {
            Ok(text) => Ok(Outcomes::parse(&text)),
            // It ended before the first test did.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Outcomes::default()),
            Err(error) => Err(error),
        }
    }

    fn parse(text: &str) -> Outcomes {
        let mut ends = BTreeMap::new();
        for line in text.lines() {
            let mut parts = line.splitn(5, '\t').map(str::to_owned);
            let mut next = || parts.next().unwrap_or_default();
            let (id, status, exception) = (next(), next(), next());
            // The fourth is the time it took.
            let why = parts.nth(1).unwrap_or_default();
            // Some suites run a test twice under one id.
            let mut unique = id.clone();
            for n in 2.. {
                if !ends.contains_key(&unique) {
                    break;
                }
                unique = format!("{id}({n})");
            }
            let end = End {
                status,
                exception,
                why,
            };
            ends.insert(unique, end);
        }
        Outcomes(ends)
    }

    /// The number of tests.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ids of the tests.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The number of tests that succeeded.
    pub(super) fn passed(&self) -> usize {
        let ends = self.0.values();
        ends.filter(|end| end.status == "SUCCESSFUL").count()
    }

    /// Tests that do not end alike in all `runs`, each with how they ended.
    pub(super) fn unsteady(runs: &[Outcomes]) -> BTreeMap<String, String> {
        let ids: BTreeSet<&String> = runs.iter().flat_map(|run| run.0.keys()).collect();
        let mut found = BTreeMap::new();
        for id in ids {
            let ends: Vec<Option<&End>> = runs.iter().map(|run| run.0.get(id)).collect();
            let steady = ends.iter().all(|end| match (end, ends[0]) {
                (Some(end), Some(first)) => end.is_like(first),
                (None, None) => true,
                _ => false,
            });
            if !steady {
                let said: BTreeSet<String> = ends.into_iter().map(describe).collect();
                let said: Vec<String> = said.into_iter().collect();
                found.insert(id.clone(), said.join(" or "));
            }
        }
        found
    }

    /// The differences in `other`, without tests of `excluded`.
    pub(super) fn differences(
        &self,
        other: &Outcomes,
        excluded: &BTreeMap<String, String>,
    ) -> Vec<Difference> {
        let ids: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let mut found = Vec::new();
        for id in ids {
            let (plain, recorded) = (self.0.get(id), other.0.get(id));
            let alike = matches!((plain, recorded), (Some(a), Some(b)) if a.is_like(b));
            if !alike && !excluded.contains_key(id) {
                let why = [recorded, plain].into_iter().flatten().map(|end| &end.why);
                found.push(Difference {
                    id: id.clone(),
                    plain: describe(plain),
                    recorded: describe(recorded),
                    why: why.clone().find(|why| !why.is_empty()).cloned(),
                });
            }
        }
        found
    }
}

fn describe(end: Option<&End>) -> String {
    end.map_or_else(|| "missing".to_owned(), End::to_string)
}

/// A test that ended differently when recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub id: String,
    pub plain: String,
    pub recorded: String,
    pub why: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "a\tSUCCESSFUL\t\t1\t\nb\tFAILED\tjava.io.IOException\t12\tgone < x\n\
                         c\tSUCCESSFUL\t\t0\t\nc\tFAILED\tE\t0\t\n";

    #[test]
    fn the_same_outcomes_have_no_differences() {
        let plain = Outcomes::parse(PLAIN);
        assert_eq!((plain.len(), plain.passed()), (4, 2));
        let other = Outcomes::parse(&PLAIN.replace("gone", "away"));
        assert!(plain.differences(&other, &BTreeMap::new()).is_empty());
        assert!(Outcomes::unsteady(&[plain, other]).is_empty());
    }

    #[test]
    fn changed_and_missing_tests_are_differences_unless_unsteady_by_themselves() {
        let plain = Outcomes::parse(PLAIN);
        let other = Outcomes::parse("a\tFAILED\tF\t1\twhy\nb\tFAILED\tjava.io.IOException\t\n");
        let found = plain.differences(&other, &BTreeMap::new());
        let ids: Vec<&str> = found.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["a", "c", "c(2)"]);
        assert_eq!(found[0].recorded, "failed with F");
        assert_eq!(found[0].why.as_deref(), Some("why"));
        assert_eq!(found[1].recorded, "missing");
        let unsteady = Outcomes::unsteady(&[plain.clone(), other.clone()]);
        assert_eq!(unsteady["a"], "failed with F or successful");
        assert!(plain.differences(&other, &unsteady).is_empty());
    }
}
