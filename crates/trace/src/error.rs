//! What can go wrong: while writing, and while reading.

use std::io;

/// A block did not reach the file. What was written before it stays readable.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// No room: the disk, the quota or the file size limit is exhausted.
    #[error("no room left for the recording: {0}")]
    DiskFull(#[source] io::Error),
    /// Any other trouble with the file.
    #[error("cannot write the recording: {0}")]
    Io(#[source] io::Error),
    /// One entry is larger than a block may be.
    #[error("{what} of {length} bytes is over the limit of {limit} bytes")]
    TooLarge {
        /// What was to be written.
        what: &'static str,
        /// Its size.
        length: usize,
        /// The largest size.
        limit: usize,
    },
    /// An earlier write failed half-way and could not be taken back; nothing may follow it.
    #[error("the recording was closed after an earlier write error")]
    Closed,
}

impl WriteError {
    /// Whether the cause is a lack of room.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, WriteError::DiskFull(_))
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> WriteError {
        match error.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => WriteError::DiskFull(error),
            _ => WriteError::Io(error),
        }
    }
}
