//! What can go wrong between the two ends.

use std::fmt;
use std::io;

/// A message could not be sent or understood.
#[derive(Debug)]
pub enum WireError {
    /// The stream failed.
    Io(io::Error),
    /// The stream ended within a message.
    CutOff,
    /// A message is larger than any may be.
    TooLarge { length: usize, limit: usize },
    /// The bytes are no message; names what was expected.
    Malformed(&'static str),
    /// The other end speaks another version.
    Version { found: u16, supported: u16 },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Io(error) => write!(f, "the connection failed: {error}"),
            WireError::CutOff => write!(f, "the connection ended within a message"),
            WireError::TooLarge { length, limit } => {
                write!(
                    f,
                    "a message of {length} bytes is over the limit of {limit}"
                )
            }
            WireError::Malformed(expected) => {
                write!(f, "not a message of the protocol: expected {expected}")
            }
            WireError::Version { found, supported } => write!(
                f,
                "the worker speaks version {found} of the protocol, this culprit version {supported}"
            ),
        }
    }
}

impl std::error::Error for WireError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            WireError::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> WireError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => WireError::CutOff,
            _ => WireError::Io(error),
        }
    }
}
