//! The basis of verdicts: everything besides the candidate that the verdicts of a search depend on.
//!
//! It is written beside the journals. A search that is resumed compares it with its own and names each
//! part that differs. Limits of the search as a whole (tests, time, jobs) are no part of it.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::{fs, io};

use culprit_model::{clean, secret};

use crate::{Convention, Digester, TestCommand};

/// The file with the basis, in the folder of the journals.
const FILE: &str = "of";

/// Characters of a value in a message, at most.
const SHOWN: usize = 120;

/// The named parts that verdicts depend on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Basis(Vec<Part>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    name: &'static str,
    value: String,
    /// Whether people can read the value; a digest tells them nothing.
    is_readable: bool,
}

impl Basis {
    /// The basis of all searches: the version of Culprit, which decides what candidates there are.
    pub(crate) fn new() -> Basis {
        let mut basis = Basis::default();
        basis.part("the version of Culprit", env!("CARGO_PKG_VERSION"));
        basis
    }

    /// Adds a part whose value a message can show.
    pub(crate) fn part(&mut self, name: &'static str, value: impl Display) {
        self.0.push(Part {
            name,
            value: value.to_string(),
            is_readable: true,
        });
    }

    /// Adds a flag.
    pub(crate) fn flag(&mut self, name: &'static str, is_set: bool) {
        self.part(name, if is_set { "set" } else { "not set" });
    }

    /// Adds an option that may not be given.
    pub(crate) fn option(&mut self, name: &'static str, value: Option<impl Display>) {
        match value {
            Some(value) => self.part(name, value),
            None => self.part(name, "not set"),
        }
    }

    /// Adds a part that is only compared.
    pub(crate) fn content(&mut self, name: &'static str, digest: impl Display) {
        self.0.push(Part {
            name,
            value: digest.to_string(),
            is_readable: false,
        });
    }

    /// Adds a test command with the rule that reads its end.
    pub(crate) fn test(&mut self, test: &TestCommand) {
        self.part("the test command", test.command.to_string_lossy());
        let is_interesting = test.rule.convention == Convention::Interesting;
        self.flag("--interesting", is_interesting);
        let signs: Vec<String> = test.rule.signs.iter().map(ToString::to_string).collect();
        self.part(
            "--fail-if",
            if signs.is_empty() {
                "not set".to_owned()
            } else {
                signs.join(", ")
            },
        );
        self.part("--timeout", format_args!("{:?}", test.limit));
        self.flag("the sandbox", test.sandbox.is_some());
    }

    /// The digest of all parts.
    pub(crate) fn key(&self) -> String {
        let mut digester = Digester::default();
        for part in &self.0 {
            digester.field(part.name.as_bytes());
            digester.field(part.value.as_bytes());
        }
        digester.finish().to_string()
    }

    /// Writes the basis beside journals.
    pub(crate) fn write(&self, journals: &Path) -> Result<(), (PathBuf, io::Error)> {
        let mut text = format!("{}\n", self.key());
        for part in &self.0 {
            text.push_str(&format!("{}\t{}\n", part.name, part.text()));
        }
        let path = journals.join(FILE);
        fs::write(&path, text).map_err(|source| (path, source))
    }

    /// The differences from the basis beside journals: empty if it is the same or if there is none.
    pub(crate) fn differences(&self, journals: &Path) -> Vec<String> {
        let Ok(text) = fs::read_to_string(journals.join(FILE)) else {
            return Vec::new();
        };
        let mut lines = text.lines();
        if lines.next() == Some(self.key().as_str()) {
            return Vec::new();
        }
        let then: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once('\t')).collect();
        let told = |part: &Part| {
            let (_, then) = then.iter().find(|(name, _)| *name == part.name)?;
            (*then != part.text()).then(|| part.change(then))
        };
        let told: Vec<String> = self.0.iter().filter_map(told).collect();
        match told.is_empty() {
            // A secret, which is not written down, or the basis of another version of Culprit.
            true => vec!["the input, the test or an option differs".to_owned()],
            false => told,
        }
    }
}

impl Part {
    /// The value on one line and without secrets.
    fn text(&self) -> String {
        clean::line(&secret::text(&self.value)).into_owned()
    }

    fn change(&self, then: &str) -> String {
        match self.is_readable {
            true => format!(
                "{} was {}, and is {} now",
                self.name,
                cut(then),
                cut(&self.text())
            ),
            false => format!("{} has changed", self.name),
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn basis(timeout: &str, input: &str, test: &str) -> Basis {
        let mut basis = Basis::default();
        basis.part("the test command", test);
        basis.part("--timeout", timeout);
        basis.content("the input", input);
        basis
    }

    #[test]
    fn each_part_that_differs_is_named_with_both_values() {
        let folder = tempfile::tempdir().unwrap();
        let first = basis("5m", "a1", "./t");
        assert_eq!(first.differences(folder.path()), Vec::<String>::new());
        first.write(folder.path()).unwrap();
        assert_eq!(first.differences(folder.path()), Vec::<String>::new());
        let check = |other: Basis, expect: &[&str]| {
            assert_eq!(other.differences(folder.path()), expect);
        };
        check(
            basis("1m", "a1", "./t"),
            &["--timeout was 5m, and is 1m now"],
        );
        check(basis("5m", "b2", "./t"), &["the input has changed"]);
        check(
            basis("5m", "b2", "./u\n"),
            &[
                "the test command was ./t, and is ./u\\n now",
                "the input has changed",
            ],
        );
    }

    #[test]
    fn a_secret_is_compared_but_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let with = |secret: &str| basis("5m", "a1", &format!("./t --password={secret}"));
        with("hunter2").write(folder.path()).unwrap();
        let text = fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        assert_eq!(with("hunter2").differences(folder.path()).len(), 0);
        assert_eq!(with("other").differences(folder.path()).len(), 1);
    }
}
