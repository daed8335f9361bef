//! Errors of writing and of reading.

use std::io;
use std::path::PathBuf;

use crate::FormatVersion;

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
        /// The item to write.
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
    /// True if the cause is a lack of room.
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

/// A recording could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing is there.
    #[error("{}: no such file or folder", path.display())]
    NotFound {
        /// The requested path.
        path: PathBuf,
    },
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a recording", path.display())]
    NotARecording {
        /// The file.
        path: PathBuf,
    },
    /// The file ends before the first whole block.
    #[error("{} is empty: it ends before its first block", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file has a version that this reader does not know.
    #[error("{} has recording format {found}; this culprit reads format {supported}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: FormatVersion,
        /// The version this crate reads.
        supported: FormatVersion,
    },
    /// The checksum holds, but the content makes no sense.
    #[error("{} is damaged in the block at byte {offset}: expected {expected}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The offset of the block.
        offset: u64,
        /// The item that the reader did not find.
        expected: &'static str,
    },
    /// The folder holds no recording.
    #[error("{} contains no recording", path.display())]
    NoRecordings {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds several recordings where one was needed.
    #[error("{} contains {} recordings; name one of them", path.display(), recordings.len())]
    SeveralRecordings {
        /// The folder.
        path: PathBuf,
        /// The recordings in it.
        recordings: Vec<PathBuf>,
    },
}
