//! Why changes cannot be isolated.

use std::io;
use std::path::{Path, PathBuf};

/// What stands in the way.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something on disk cannot be read or written.
    #[error("cannot use {}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl Error {
    /// An error of the system about a path.
    pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
        move |source| Error::Io {
            path: path.to_owned(),
            source,
        }
    }
}
