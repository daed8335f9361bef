//! What ends an isolation without an answer. How a test ends is never an error.

use std::io;
use std::path::{Path, PathBuf};

use culprit_jvm::LaunchError;

/// A candidate could not be judged at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot run the test: {0}")]
    Launch(#[from] LaunchError),
    #[error("cannot use {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// Nobody waits for it any more.
    #[error("interrupted")]
    Unwanted,
}

impl Error {
    /// What makes an error of a file one of ours.
    pub fn at(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
        move |source| Error::File {
            path: path.to_owned(),
            source,
        }
    }
}
