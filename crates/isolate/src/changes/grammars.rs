//! Versions that no compiler and no interpreter would read. They need no test to tell so.
//!
//! A grammar is no compiler: it may refuse what the language allows. So only files are looked at that
//! it reads in both versions, and the last searches, which say that a result is minimal, do without it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use culprit_reduce::DeltaSet;

use super::Error;
use super::difference::{Difference, FileChange, MadeFile};
use super::tree::TreeEntry;
use crate::{Digest, Language};

/// Larger files take longer to read than most tests.
const LARGEST: usize = 1 << 20;

/// What is well-formed, and what not.
pub(crate) struct Grammars {
    /// By the changed files.
    files: Vec<FileGrammar>,
}

/// What is known of a file.
#[derive(Default)]
struct FileGrammar {
    /// Its language, if it is well-formed in both versions; looked at when it is first needed.
    language: OnceLock<Option<Language>>,
    /// The line with the first error, by the text.
    errors: Mutex<HashMap<Digest, Option<usize>>>,
}

/// Where a version is not well-formed.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Malformed {
    pub(crate) path: PathBuf,
    /// From 1.
    pub(crate) line: usize,
}

impl Grammars {
    /// For the files of a difference.
    pub(crate) fn of(difference: &Difference) -> Grammars {
        let files = difference.files.iter().map(|_| FileGrammar::default());
        Grammars {
            files: files.collect(),
        }
    }

    /// The first place where the version with some of the changes is not well-formed.
    pub(crate) fn error_in(
        &self,
        difference: &Difference,
        made: &DeltaSet,
        files: &[MadeFile],
    ) -> Result<Option<Malformed>, Error> {
        for ((file, known), version) in difference.files.iter().zip(&self.files).zip(files) {
            // What has no lines, and what is as in one of the two versions, is as well-formed as that.
            let of_file = made.intersection(&DeltaSet::from(file.edits.clone())).len();
            let is_mixed = of_file > 0 && of_file < file.edits.end - file.edits.start;
            let Some((path, entry)) = version.as_ref().filter(|_| is_mixed) else {
                continue;
            };
            if let Some(line) = known.error_of(file, entry)? {
                let path = path.clone();
                return Ok(Some(Malformed { path, line }));
            }
        }
        Ok(None)
    }
}

impl FileGrammar {
    fn error_of(&self, file: &FileChange, entry: &TreeEntry) -> Result<Option<usize>, Error> {
        let language = match self.language.get() {
            Some(language) => *language,
            None => {
                let language = language(file)?;
                *self.language.get_or_init(|| language)
            }
        };
        let Some(language) = language else {
            return Ok(None);
        };
        let bytes = entry.bytes()?;
        let digest = Digest::of(&bytes);
        let errors = || self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = errors().get(&digest) {
            return Ok(*known);
        }
        let found = language.error_line(&bytes);
        errors().insert(digest, found);
        Ok(found)
    }
}

/// The language that a file is well-formed in before and after.
fn language(file: &FileChange) -> Result<Option<Language>, Error> {
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

    use super::super::difference::tests::tree;
    use super::*;

    /// The error with the first so many changes.
    fn error(name: &str, (good, bad): (&str, &str), made: u64) -> Option<Malformed> {
        let (good, bad) = (tree(&[(name, good)]), tree(&[(name, bad)]));
        let difference = Difference::new(good, &bad).unwrap();
        let made = DeltaSet::from(0..made.min(difference.size()));
        let changed = difference.changed(&made).unwrap();
        let grammars = Grammars::of(&difference);
        grammars.error_in(&difference, &made, &changed).unwrap()
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
