//! Errors of making scripts.

use culprit_jvm::{LaunchError, PoolError};

use crate::ScriptRun;

/// No script could be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recording cannot be made into a scenario.
    #[error(transparent)]
    Replay(#[from] culprit_replay::Error),
    /// The recording cannot be read.
    #[error(transparent)]
    Recording(#[from] culprit_trace::Error),
    /// The classes of the program cannot be read.
    #[error(transparent)]
    Program(culprit_program::Error),
    /// No worker could run a script, through no fault of the script.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The compiler cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A file for the compiler cannot be written.
    #[error("cannot write a test: {0}")]
    Write(#[from] std::io::Error),
    /// The failure never left the observed code by an exception.
    #[error("no call of the recording ended with the failure")]
    NoFailure,
    /// The exception never left the observed code: this method of it caught it.
    #[error("{0} caught the exception, which is observed code: no recorded call ended with it")]
    CaughtInside(String),
    /// The failing call was given an object that no test can make.
    #[error("the failing call needs {0}, which nothing in the recording shows how to make")]
    Missing(String),
    /// The recording has more calls than fit into memory.
    #[error("the recording has more calls than can be held in memory")]
    TooLarge,
    /// The driver makes no call that a condition is about.
    #[error("the driver makes no call for which '{0}' holds")]
    NotCalled(String),
    /// The driver uses no object of the class that a condition is about.
    #[error("the driver has no object of a class {0}")]
    NoObject(String),
    /// A condition was true of no object at any time.
    #[error("'{0}' holds for no object that the driver uses")]
    NeverHeld(String),
    /// The compiler rejects the expression of a condition.
    #[error("the condition cannot be compiled: {0}")]
    Expression(String),
    /// The whole script does not fail in the way that was looked for.
    #[error("the recorded calls, made alone, do not fail the same way: {0}")]
    OtherFailure(ScriptRun),
}

/// Errors that both crates have are the same.
impl From<culprit_program::Error> for Error {
    fn from(error: culprit_program::Error) -> Error {
        match error {
            culprit_program::Error::Recording(error) => Error::Recording(error),
            culprit_program::Error::Pool(error) => Error::Pool(error),
            error => Error::Program(error),
        }
    }
}
