//! The journals of a session: one file for each search.

use std::fs;
use std::path::PathBuf;

use crate::digest::Digest;
use crate::error::JournalError;
use crate::journal::Journal;
use crate::problem::Problem;

/// The longest name of a search that is part of a file name, in bytes.
const LONGEST_NAME: usize = 100;

/// A folder with the journals of a session.
#[derive(Clone, Debug)]
pub enum Journals {
    /// Files are named by the number and the name of the search: for sessions that repeat the same
    /// searches in the same order. A session about something else is refused.
    InOrder(PathBuf),
    /// Files are named by the digest of the problem: for sessions whose searches may differ. A problem
    /// without a key cannot be told from others, and has no journal.
    ByProblem(PathBuf),
}

impl Journals {
    pub(super) fn open(
        &self,
        number: usize,
        name: &str,
        problem: &Problem,
    ) -> Result<Option<Journal>, JournalError> {
        let (folder, file) = match self {
            Journals::ByProblem(_) if !problem.has_key() => return Ok(None),
            Journals::InOrder(folder) => (folder, format!("{number:03}-{}", file_name(name))),
            Journals::ByProblem(folder) => (folder, format!("{}.txt", problem.digest())),
        };
        fs::create_dir_all(folder).map_err(|source| JournalError::Io {
            path: folder.clone(),
            source,
        })?;
        Journal::open(&folder.join(file), problem).map(Some)
    }
}

/// The name of a search as that of a file. It may contain a path that is longer than a name may be.
fn file_name(search: &str) -> String {
    match search.len() > LONGEST_NAME {
        true => Digest::of(search.as_bytes()).to_string(),
        false => search.replace([' ', '/'], "-"),
    }
}
