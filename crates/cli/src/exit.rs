//! The exit codes of `culprit`, in one place; the book's page on exit codes lists the same.
//!
//! A code says what kind of answer the user got. The status of a command that `culprit` ran on
//! the user's behalf is passed through untouched, whatever it is.

use std::process::{ExitCode as ProcessCode, Termination};

use culprit_model::clean;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ExitCode {
    /// The question was answered.
    Answered,
    /// Everything ran soundly, but the answer is no.
    No,
    /// The command line, or a place it names, cannot be used.
    Usage,
    /// The target program would not run, or not as asked.
    Target,
    /// A recording is unreadable or of another format.
    Recording,
    /// A defect of Culprit itself.
    Bug,
    /// Stopped by the user.
    Interrupted,
    /// The status of the command that was run, as a shell would report it.
    Child(u8),
}

impl ExitCode {
    /// The number the calling process sees.
    pub(crate) fn status(self) -> u8 {
        match self {
            ExitCode::Answered => 0,
            ExitCode::No => 1,
            ExitCode::Usage => 2,
            ExitCode::Target => 3,
            ExitCode::Recording => 4,
            ExitCode::Bug => 70,
            ExitCode::Interrupted => 130,
            ExitCode::Child(status) => status,
        }
    }
}

impl Termination for ExitCode {
    fn report(self) -> ProcessCode {
        ProcessCode::from(self.status())
    }
}

/// An expected error: the user or the environment can mend it, and it has an exit code of its
/// own. An error without this in its chain counts as a defect of Culprit.
///
/// The message is a lower-case fragment; what to do next stands in `hint`.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) code: ExitCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Expected {
    /// An error whose message is one line: names in it cannot begin another.
    pub(crate) fn new(code: ExitCode, message: impl Into<String>) -> Expected {
        Expected {
            code,
            message: clean::line(&message.into()).into_owned(),
            hint: None,
        }
    }

    /// Adds the next step.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Expected {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Expected {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_the_published_ones() {
        let codes = [
            ExitCode::Answered,
            ExitCode::No,
            ExitCode::Usage,
            ExitCode::Target,
            ExitCode::Recording,
            ExitCode::Bug,
            ExitCode::Interrupted,
            ExitCode::Child(77),
        ];
        let numbers = codes.map(ExitCode::status);
        assert_eq!(numbers, [0, 1, 2, 3, 4, 70, 130, 77]);
    }
}
