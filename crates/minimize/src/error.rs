//! What can go wrong.

use culprit_jvm::{LaunchError, PoolError};
use culprit_signature::Refusal;

/// A recording could not be minimised.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error(transparent)]
    Replay(#[from] culprit_replay::Error),
    /// It could not be read.
    #[error(transparent)]
    Recording(#[from] culprit_trace::Error),
    /// No worker could run a candidate, through no fault of its own.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The failure never left the observed code by an exception.
    #[error("no call of the recording ended with the failure")]
    NoFailure,
    /// The call that failed was given something that no test can make.
    #[error("the failing call needs {0}, which nothing in the recording shows how to make")]
    Missing(String),
    /// What the failing assertion looks at came from elsewhere.
    #[error("the failing assertion looks at something that no observed call returned")]
    NotLinked,
    /// The driver does not do what a condition is about.
    #[error("the driver makes no call for which '{0}' holds")]
    NotCalled(String),
    /// The driver has nothing to do with objects of a class.
    #[error("the driver has no object of a class {0}")]
    NoObject(String),
    /// A condition was true of no object at any time.
    #[error("'{0}' holds for no object that the driver uses")]
    NeverHeld(String),
    /// The compiler refuses an expression.
    #[error("the condition cannot be compiled: {0}")]
    Expression(String),
    /// A file of a test cannot be written.
    #[error("cannot write a test: {0}")]
    Write(#[from] std::io::Error),
    /// The compiler or a JVM cannot be started.
    #[error(transparent)]
    Launch(#[from] culprit_jvm::LaunchError),
    /// A script cannot be printed as a test.
    #[error("no test can be printed: {0}")]
    Print(String),
    /// The recorded calls do not fail the same way when they are made alone.
    #[error("the recorded calls, made alone, do not fail the same way: {0}")]
    OtherFailure(crate::Run),
    /// They fail the same way, but for the values in the message.
    #[error("the recorded calls, made alone, fail with another message: {0}")]
    OtherMessage(crate::Run),
    /// The failure is what a sandbox makes, too.
    #[error(
        "the failure is that the system denied {0}: in the sandbox, which denies the same, \
         nothing tells one from the other"
    )]
    Refused(Refusal),
    /// More calls than memory can hold.
    #[error("the recording has more calls than can be held in memory")]
    TooLarge,
    /// The same calls fail once and pass once.
    #[error("the same calls fail in one run and pass in another")]
    Unsteady,
    /// A journal cannot be used.
    #[error(transparent)]
    Journal(#[from] culprit_reduce::JournalError),
    /// The engine did not come to a result.
    #[error("{0}")]
    Reduction(String),
}

impl Error {
    /// Whether the work was ended from outside: nothing is wrong with what was run.
    pub fn is_end(&self) -> bool {
        matches!(
            self,
            Error::Pool(PoolError::OutOfTime | PoolError::Interrupted)
                | Error::Launch(LaunchError::Interrupted)
        )
    }
}
