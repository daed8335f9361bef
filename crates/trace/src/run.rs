//! Run folders: what `culprit record` leaves behind. One recording per JVM, and beside them a
//! text file of facts about the run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Name of the file of facts in a run folder.
pub const RUN_FACTS: &str = "run.txt";
/// The extension of recordings.
pub const EXTENSION: &str = "culprit";

/// A run folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFolder {
    /// The folder.
    pub path: PathBuf,
    /// Its recordings, by name; never empty.
    pub recordings: Vec<PathBuf>,
    /// The facts of the run, one `name: value` line each; empty where the file is missing.
    pub facts: Vec<(String, String)>,
}

impl RunFolder {
    /// Lists a run folder.
    pub fn open(path: &Path) -> Result<RunFolder, Error> {
        let recordings = list(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::NotFound {
                path: path.to_owned(),
            },
            _ => Error::Io {
                path: path.to_owned(),
                source,
            },
        })?;
        if recordings.is_empty() {
            return Err(Error::NoRecordings {
                path: path.to_owned(),
            });
        }
        let facts = fs::read_to_string(path.join(RUN_FACTS)).unwrap_or_default();
        Ok(RunFolder {
            path: path.to_owned(),
            recordings,
            facts: facts
                .lines()
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        })
    }
}

fn list(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut recordings = Vec::new();
    for entry in fs::read_dir(path)? {
        let file = entry?.path();
        if file.extension().is_some_and(|e| e == EXTENSION) && file.is_file() {
            recordings.push(file);
        }
    }
    recordings.sort();
    Ok(recordings)
}
