//! What can go wrong.

use std::io;
use std::path::PathBuf;

use culprit_jvm::PoolError;
use culprit_model::options::OptionsError;

/// A recording could not be made into a scenario, or not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error(transparent)]
    Recording(#[from] culprit_trace::Error),
    /// It claims what no recording of ours does.
    #[error(transparent)]
    Forged(#[from] crate::Forged),
    /// The options it was made with make no sense.
    #[error("the recording has invalid options: {0}")]
    Options(#[from] OptionsError),
    /// Something on a class path cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    ClassPath { path: PathBuf, error: io::Error },
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
