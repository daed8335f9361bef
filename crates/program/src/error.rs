//! Errors of the program under test.

use std::io;
use std::path::PathBuf;

use culprit_jvm::PoolError;

/// The program cannot be read, or no worker can run it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recording of the program cannot be read.
    #[error(transparent)]
    Recording(#[from] culprit_trace::Error),
    /// The recording claims something that no recording of ours does.
    #[error(transparent)]
    Forged(#[from] crate::Forged),
    /// An entry of a class path cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    ClassPath { path: PathBuf, error: io::Error },
    /// The classes in an archive or a recording cannot be written to a folder.
    #[error("cannot unpack {}: {error}", .path.display())]
    Unpacking { path: PathBuf, error: io::Error },
    /// No worker could be started.
    #[error(transparent)]
    Pool(#[from] PoolError),
}
