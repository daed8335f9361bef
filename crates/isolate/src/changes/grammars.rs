//! Versions that no compiler and no interpreter would read. They need no test to tell so.
//!
//! A grammar is no compiler: it may refuse what the language allows. So only files are looked at that
//! it reads in both versions, and the last searches, which say that a result is minimal, do without it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::Error;
use super::difference::{Difference, FileChange, Made};
use super::tree::Entry;
use crate::{Digest, Language};

/// Larger files take longer to read than most tests.
const LARGEST: usize = 1 << 20;

/// What is well-formed, and what not.
pub(crate) struct Grammars {
    /// The languages of the changed files; of those that are well-formed in both versions.
    languages: Vec<Option<Language>>,
    /// The line with the first error, by the text of a file.
    known: Mutex<HashMap<Digest, Option<usize>>>,
}

/// Where a version is not well-formed.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Malformed {
    pub(crate) path: PathBuf,
    /// From 1.
    pub(crate) line: usize,
}

impl Grammars {
    /// What can be told of the files of a difference.
    pub(crate) fn of(difference: &Difference) -> Result<Grammars, Error> {
        let files = difference.files.iter();
        Ok(Grammars {
            languages: files.map(language).collect::<Result<_, Error>>()?,
            known: Mutex::default(),
        })
    }

    /// The first place where a version is not well-formed, by its files in the order of the difference.
    pub(crate) fn error_in(&self, files: &[Made]) -> Result<Option<Malformed>, Error> {
        for (made, language) in files.iter().zip(&self.languages) {
            let (Some((path, entry)), Some(language)) = (made, language) else {
                continue;
            };
            if let Some(line) = self.error_of(*language, entry)? {
                let path = path.clone();
                return Ok(Some(Malformed { path, line }));
            }
        }
        Ok(None)
    }

    fn error_of(&self, language: Language, entry: &Entry) -> Result<Option<usize>, Error> {
        let bytes = entry.bytes()?;
        let digest = Digest::of(&bytes);
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&digest) {
            return Ok(*known);
        }
        let found = language.error_line(&bytes);
        known().insert(digest, found);
        Ok(found)
    }
}

/// The language that a file is well-formed in before and after.
fn language(file: &FileChange) -> Result<Option<Language>, Error> {
    // What has no lines is in the one version or the other as a whole.
    if file.script.is_none() {
        return Ok(None);
    }
    let mut found = None;
    for (path, entry) in [&file.old, &file.new].into_iter().flatten() {
        let bytes = entry.bytes()?;
        let language = Language::of(path, &bytes).filter(|_| bytes.len() <= LARGEST);
        let language = language.filter(|it| it.reads(&bytes));
        if language.is_none() || found.is_some_and(|other| Some(other) != language) {
            return Ok(None);
        }
        found = language;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use culprit_reduce::DeltaSet;

    use super::super::difference::tests::tree;
    use super::*;

    /// The error with the first so many changes.
    fn error(name: &str, (good, bad): (&str, &str), made: u64) -> Option<Malformed> {
        let (good, bad) = (tree(&[(name, good)]), tree(&[(name, bad)]));
        let difference = Difference::new(good, &bad).unwrap();
        let made = DeltaSet::from(0..made.min(difference.size()));
        let grammars = Grammars::of(&difference).unwrap();
        let changed = difference.changed(&made).unwrap();
        grammars.error_in(&changed).unwrap()
    }

    #[test]
    fn half_a_change_may_be_no_program() {
        let lists = (
            "x = [\n    1,\n]\ny = 0\n",
            "x = dict(\n    a=1,\n)\ny = 0\n",
        );
        assert_eq!(error("a.py", lists, 0), None);
        assert_eq!(error("a.py", lists, u64::MAX), None);
        let half = error("a.py", lists, 1).unwrap();
        assert_eq!(half.path, Path::new("a.py"));
        // Nothing is known of other files.
        assert_eq!(error("a.txt", lists, 1), None);
    }

    #[test]
    fn files_that_the_grammar_does_not_read_are_left_to_the_test() {
        let odd = ("x = [\n1,\n", "x = (\n2,\n");
        assert_eq!(error("a.py", odd, 1), None);
    }
}
