//! What can go wrong.

use culprit_jvm::PoolError;
use culprit_model::options::OptionsError;

/// A recording could not be made into a scenario, or not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error(transparent)]
    Recording(#[from] culprit_trace::Error),
    /// Its program cannot be read or run.
    #[error(transparent)]
    Program(culprit_program::Error),
    /// The options it was made with make no sense.
    #[error("the recording has invalid options: {0}")]
    Options(#[from] OptionsError),
    /// A class file makes no sense.
    #[error("the class file of {class} is invalid: {error}")]
    Class {
        class: String,
        error: culprit_classfile::Error,
    },
    /// No worker could run it, through no fault of its own.
    #[error(transparent)]
    Pool(#[from] PoolError),
}

impl From<culprit_program::Error> for Error {
    fn from(error: culprit_program::Error) -> Error {
        match error {
            culprit_program::Error::Recording(error) => Error::Recording(error),
            culprit_program::Error::Pool(error) => Error::Pool(error),
            error => Error::Program(error),
        }
    }
}
