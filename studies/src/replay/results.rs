//! The results so far, in a file to which a line is added for each case: a study that is broken
//! off goes on where it was.
//!
//! Lines are words with tabs between. `loaded` lines say which classes a test loads, `case` lines
//! what came of a recording. A last line that is cut off does not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;

use super::case::{Ended, Verdict};
use super::set::{Kind, Set};

/// The outcome of one recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub test: String,
    /// The observed classes with `+` between, or `*`.
    pub set: String,
    pub kind: Kind,
    pub verdict: Verdict,
    pub events: u64,
    pub bytes: u64,
    pub record: Duration,
    pub replay: Duration,
    /// Why it is not in sync, without what differs from case to case.
    pub cause: String,
    /// The same in full.
    pub told: String,
}

/// All that was found of a program on a JDK, under one key.
#[derive(Debug)]
pub struct Results {
    file: File,
    loaded: BTreeMap<String, BTreeSet<String>>,
    rows: Vec<Row>,
    done: BTreeSet<(String, String)>,
}

impl Results {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> anyhow::Result<Results> {
        let text = match path.exists() {
            true => fs::read_to_string(path)
                .with_context(|| format!("cannot read {}", path.display()))?,
            false => String::new(),
        };
        let whole = text.rfind('\n').map_or("", |at| &text[..=at]);
        if whole.len() < text.len() {
            fs::write(path, whole)?;
        }
        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        let mut results = Results {
            file,
            loaded: BTreeMap::new(),
            rows: Vec::new(),
            done: BTreeSet::new(),
        };
        for line in whole.lines() {
            results
                .take(line)
                .with_context(|| format!("{} has a line it should not have", path.display()))?;
        }
        Ok(results)
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The tests of which all classes were recorded, with the classes they load.
    pub(crate) fn loaded(&self, test: &str) -> Option<&BTreeSet<String>> {
        self.loaded.get(test)
    }

    pub(crate) fn has(&self, test: &str, set: &Set) -> bool {
        self.done.contains(&(test.to_owned(), set.to_string()))
    }

    /// The number of cases with this cause.
    pub(crate) fn of_cause(&self, cause: &str) -> usize {
        self.rows.iter().filter(|row| row.cause == cause).count()
    }

    pub(crate) fn add_loaded(
        &mut self,
        test: &str,
        classes: &BTreeSet<String>,
    ) -> anyhow::Result<()> {
        let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
        self.add(&["loaded", test, &classes.join(",")])
    }

    pub(crate) fn add_case(&mut self, test: &str, set: &Set, ended: &Ended) -> anyhow::Result<()> {
        self.add(&[
            "case",
            test,
            &set.to_string(),
            &ended.verdict.to_string(),
            &ended.events.to_string(),
            &ended.bytes.to_string(),
            &ended.record.as_millis().to_string(),
            &ended.replay.as_millis().to_string(),
            &ended.cause,
            &ended.told,
        ])
    }

    fn add(&mut self, words: &[&str]) -> anyhow::Result<()> {
        let clean = |word: &&str| word.replace(['\t', '\n', '\r'], " ");
        let line = words.iter().map(clean).collect::<Vec<_>>().join("\t");
        // In one piece, so that a line is whole or cut off.
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.take(&line).context("a line of our own")
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split('\t').collect();
        match *words.as_slice() {
            ["loaded", test, classes] => {
                let classes = classes.split(',').filter(|name| !name.is_empty());
                let classes = classes.map(str::to_owned).collect();
                self.loaded.insert(test.to_owned(), classes);
            }
            [
                "case",
                test,
                set,
                verdict,
                events,
                bytes,
                record,
                replay,
                cause,
                told,
            ] => {
                let millis = |text: &str| text.parse().ok().map(Duration::from_millis);
                let Ok(parsed) = set.parse::<Set>();
                self.done.insert((test.to_owned(), set.to_owned()));
                self.rows.push(Row {
                    test: test.to_owned(),
                    set: set.to_owned(),
                    kind: parsed.kind(),
                    verdict: verdict.parse().ok()?,
                    events: events.parse().ok()?,
                    bytes: bytes.parse().ok()?,
                    record: millis(record)?,
                    replay: millis(replay)?,
                    cause: cause.to_owned(),
                    told: told.to_owned(),
                });
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_found_again_and_a_cut_line_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("results.tsv");
        let set: Set = "a.B+a.C".parse().unwrap();
        let ended = Ended {
            verdict: Verdict::OutOfSync,
            cause: "shape".to_owned(),
            told: "in full,\twith a tab".to_owned(),
            events: 7,
            bytes: 900,
            record: Duration::from_millis(120),
            replay: Duration::from_millis(60),
            loaded: BTreeSet::from(["a.B".to_owned(), "a.C".to_owned()]),
        };
        let mut results = Results::open(&path).unwrap();
        results.add_loaded("t", &ended.loaded).unwrap();
        results.add_case("t", &set, &ended).unwrap();
        let rows = results.rows().to_vec();
        assert_eq!(rows[0].kind, Kind::Some);
        assert_eq!(rows[0].told, "in full, with a tab");

        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("case\tt\ta.D\tin sy");
        fs::write(&path, text).unwrap();
        let again = Results::open(&path).unwrap();
        assert_eq!(again.rows(), rows);
        assert_eq!(again.loaded("t"), Some(&ended.loaded));
        assert!(again.has("t", &set));
        assert!(!again.has("t", &Set::ALL));
        assert_eq!(again.of_cause("shape"), 1);
        assert!(fs::read_to_string(&path).unwrap().ends_with('\n'));
    }

    #[test]
    fn a_line_of_something_else_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("results.tsv");
        fs::write(&path, "case\tt\n").unwrap();
        assert!(Results::open(&path).is_err());
    }
}
