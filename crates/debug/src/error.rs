//! Errors of a session, each with what is needed to say what to do next.

use std::io;
use std::path::PathBuf;

use culprit_jvm::{LaunchError, PoolError};
use culprit_minimize::Error as ReductionError;
use culprit_model::Caught;
use culprit_program::CommandError;
use culprit_scripts::{Condition, UnseenException};

/// The session, or its work on one failure, came to no test.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command cannot be run.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The command did not fail.
    #[error("{}", not_failing(*.status))]
    NotFailing {
        status: u8,
        /// The file with what the command printed.
        output: PathBuf,
    },
    /// No exception of the wanted kind left a thread or a test; some were caught, the likeliest failures first.
    #[error("{}", only_caught(.class.as_deref(), *.status))]
    OnlyCaught {
        /// The class that was asked for.
        class: Option<String>,
        status: u8,
        /// The file with what the command printed.
        output: PathBuf,
        caught: Vec<Caught>,
    },
    /// The command started a JVM that the agent cannot record, for this reason.
    #[error("no JVM of the command can be recorded: {0}")]
    Unrecordable(String),
    /// The command started no JVM with the agent in it.
    #[error("the command started no JVM that could be recorded")]
    NoJvm {
        /// The file with what the command printed.
        output: PathBuf,
    },
    /// Each run of the command fails in another way.
    #[error("the command fails differently on each run: {}", .0.join("; "))]
    NeverTheSame(Vec<String>),
    /// The command failed in another way when it was recorded.
    #[error("the command failed differently when it was recorded")]
    RecordedOtherwise,
    /// No run of the command shows the condition of the user.
    #[error("{}", not_shown(.condition, *.status))]
    NotShown {
        condition: Condition,
        status: u8,
        /// The file with what the command printed.
        output: PathBuf,
    },
    /// The command starts no class of the program that can be followed.
    #[error("the command starts no main class of the program's own that could be followed")]
    NoDriver,
    /// The driver does nothing that a condition could be about.
    #[error("{}", not_done(.condition, .driver))]
    NotDone {
        condition: Condition,
        driver: String,
    },
    /// The recording has no failure.
    #[error("{}: the recorded program did not fail", .0.display())]
    NoFailure(PathBuf),
    /// The recording has no failure that was asked for.
    #[error("{}: {what}", .path.display())]
    NotChosen {
        path: PathBuf,
        /// What is missing, in words.
        what: String,
        /// The exceptions that were caught, the likeliest failures first.
        caught: Vec<Caught>,
    },
    /// The failure of a recording has no stack trace.
    #[error("the failure has no stack")]
    NoStack,
    /// A class that the script calls is gone, with an entry of the class path.
    #[error("{class} is not there any more: {} is gone", .entry.display())]
    Gone { class: String, entry: PathBuf },
    /// No JDK of the recorded version is installed.
    #[error("no JDK of the recorded version ({0}) was found")]
    NoJdk(String),
    /// No script was made, or it was not reduced to a test.
    #[error(transparent)]
    Reduction(ReductionError),
    /// The smallest test calls the main method of a class, and nothing else of the program.
    #[error("the smallest test that fails the same way calls {0}.main, which is the program again")]
    MainAgain(String),
    /// The assertion failed after an exception that left the program in a thread that nobody asked for it.
    #[error("the assertion finds the effect of {}, which left {} in another thread", .0.class, .0.call)]
    Unseen(UnseenException),
    /// A mocking library threw the exception of this class: it compares the calls of a mock with those that the test wants.
    #[error(
        "a mock was not called as the test wants ({0}), which only the mocking library can check"
    )]
    ByMock(String),
    /// The failing code belongs to an object that a mocking library made, of this class.
    #[error(
        "the failing test has {0} made by its mocking library, as a spy or a partial mock, and calls methods of it"
    )]
    OfMock(String),
    /// The time for this failure is over, and nothing was seen to fail.
    #[error("no test was seen to fail like the program before --max-time was over")]
    OutOfTime,
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
    /// A recording of the session cannot be read.
    #[error(transparent)]
    Recording(#[from] culprit_trace::Error),
    /// The folder of a run cannot be read.
    #[error(transparent)]
    RunFolder(culprit_trace::Error),
    /// The agent wrote a script that cannot be read.
    #[error("{0}")]
    Followed(String),
    /// A file cannot be read or written, or the observer cannot go on.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    /// Whether the error says something about the program or the failure, so that the session can go on with
    /// the next one. Others end the session.
    pub fn is_answer(&self) -> bool {
        !matches!(
            self,
            Error::Reduction(ReductionError::Write(_) | ReductionError::Reduction(_))
                | Error::Recording(_)
                | Error::RunFolder(_)
                | Error::Followed(_)
                | Error::Io(_)
        )
    }
}

impl Error {
    /// Whether no recorded call had the failure.
    pub(crate) fn is_unseen(&self) -> bool {
        matches!(
            self,
            Error::Reduction(
                ReductionError::NotLinked
                    | ReductionError::Script(culprit_scripts::Error::NoFailure)
            )
        )
    }

    /// Whether the condition of the user is wrong, and not the program.
    pub(crate) fn is_about_condition(&self) -> bool {
        use culprit_scripts::Error::Expression;
        matches!(
            self,
            Error::Reduction(ReductionError::Script(Expression(_)) | ReductionError::Journal(_))
        )
    }
}

impl From<ReductionError> for Error {
    fn from(error: ReductionError) -> Error {
        match error {
            ReductionError::Pool(PoolError::OutOfTime) => Error::OutOfTime,
            ReductionError::Pool(PoolError::Interrupted)
            | ReductionError::Launch(LaunchError::Interrupted) => Error::Interrupted,
            error => Error::Reduction(error),
        }
    }
}

impl From<culprit_scripts::Error> for Error {
    fn from(error: culprit_scripts::Error) -> Error {
        ReductionError::from(error).into()
    }
}

impl From<culprit_program::Error> for Error {
    fn from(error: culprit_program::Error) -> Error {
        ReductionError::from(error).into()
    }
}

fn not_failing(status: u8) -> String {
    match status {
        0 => "the command does not fail: it ended with 0 and threw nothing".to_owned(),
        _ => format!("the command ended with {status}, but no exception left a thread or a test"),
    }
}

fn only_caught(class: Option<&str>, status: u8) -> String {
    match class {
        Some(class) => format!("the command ended with {status}, and threw no {class}"),
        None => {
            format!("the command ended with {status}, but no exception left a thread or a test")
        }
    }
}

fn not_shown(condition: &Condition, status: u8) -> String {
    match condition {
        Condition::Contains(text) => format!("the command's output does not contain {text}"),
        Condition::Matches(pattern) => format!("the command's output does not match {pattern}"),
        _ => format!("the command ended with {status}, so '{condition}' does not hold"),
    }
}

fn not_done(condition: &Condition, driver: &str) -> String {
    match condition {
        Condition::Exit(status) => {
            format!("{driver} does not end the JVM with {status} by itself")
        }
        _ => format!("no call of {driver} was recorded"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_ours_ends_the_session_and_an_answer_about_the_program_does_not() {
        assert!(Error::from(ReductionError::Unsteady).is_answer());
        assert!(Error::OutOfTime.is_answer());
        assert!(!Error::from(io::Error::other("full")).is_answer());
        let full = ReductionError::Write(io::Error::other("full"));
        assert!(!Error::from(full).is_answer());
    }

    #[test]
    fn a_reduction_that_was_ended_from_outside_is_no_failed_reduction() {
        let late = Error::from(ReductionError::Pool(PoolError::OutOfTime));
        assert!(matches!(late, Error::OutOfTime));
        let ended = Error::from(ReductionError::Launch(LaunchError::Interrupted));
        assert!(matches!(ended, Error::Interrupted));
    }
}
