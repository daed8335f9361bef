//! Errors of a reduction.

use culprit_jvm::{LaunchError, PoolError};
use culprit_scripts::ScriptRun;
use culprit_signature::Refusal;

/// A script could not be reduced to a test.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no script to start from.
    #[error(transparent)]
    Script(culprit_scripts::Error),
    /// No worker could run a candidate, through no fault of its own.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The failing assertion checks something that no observed call returned.
    #[error("the failing assertion looks at something that no observed call returned")]
    NotLinked,
    /// A mock answered that the script does not have: of a static method, or of an object that the program constructed.
    #[error(
        "a static method or a constructor that the test mocks is called by the code under test, and only the mocking library can mock it"
    )]
    MockedInside,
    /// A file of a test cannot be written.
    #[error("cannot write a test: {0}")]
    Write(#[from] std::io::Error),
    /// The compiler or a JVM cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A script cannot be printed as a test.
    #[error("no test can be printed: {0}")]
    Print(String),
    /// The recorded calls do not fail the same way when they are made alone.
    #[error("the recorded calls, made alone, do not fail the same way: {0}")]
    OtherFailure(ScriptRun),
    /// They fail the same way, apart from the values in the message.
    #[error("the recorded calls, made alone, fail with another message: {0}")]
    OtherMessage(ScriptRun),
    /// The failure is one that a sandbox causes, too.
    #[error(
        "the failure is that the system denied {0}: in the sandbox, which denies the same, \
         nothing tells one from the other"
    )]
    Refused(Refusal),
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

/// Errors that both crates have are the same.
impl From<culprit_scripts::Error> for Error {
    fn from(error: culprit_scripts::Error) -> Error {
        match error {
            culprit_scripts::Error::Pool(error) => Error::Pool(error),
            culprit_scripts::Error::Launch(error) => Error::Launch(error),
            culprit_scripts::Error::Write(error) => Error::Write(error),
            culprit_scripts::Error::OtherFailure(run) => Error::OtherFailure(run),
            error => Error::Script(error),
        }
    }
}

impl From<culprit_program::Error> for Error {
    fn from(error: culprit_program::Error) -> Error {
        culprit_scripts::Error::from(error).into()
    }
}
