//! The way in which a target ended, as data.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The end of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It ended by itself with this status.
    Exited(u8),
    /// A signal with this number killed it.
    Killed(u8),
}

impl Status {
    /// The number a shell would show for it: the status, or 128 and the signal.
    pub fn shell_code(self) -> u8 {
        match self {
            Status::Exited(code) => code,
            Status::Killed(signal) => 128_u8.saturating_add(signal),
        }
    }

    /// True if the process ended with status 0.
    pub fn is_success(self) -> bool {
        self == Status::Exited(0)
    }
}

impl From<ExitStatus> for Status {
    fn from(status: ExitStatus) -> Status {
        // A wait status has eight bits for either number, so the conversions cannot fail.
        let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
        match (status.code(), status.signal()) {
            (Some(code), _) => Status::Exited(byte(code)),
            (None, Some(signal)) => Status::Killed(byte(signal)),
            (None, None) => Status::Exited(u8::MAX),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Exited(code) => write!(f, "{code}"),
            Status::Killed(signal) => write!(f, "{} (signal {signal})", self.shell_code()),
        }
    }
}
