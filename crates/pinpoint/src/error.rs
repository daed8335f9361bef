//! The reasons why a run is not explained.

use std::io;

use culprit_jvm::PoolError;
use culprit_trace::instructions::InstructionTraceError;

/// A run that is not explained.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Workers(#[from] culprit_program::Error),
    #[error("the trace of the run cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error(transparent)]
    Malformed(#[from] InstructionTraceError),
    #[error(transparent)]
    Replay(#[from] culprit_slice::Error),
    #[error("the run left no trace")]
    NoTrace,
    #[error("traced, the calls do not fail the same way: {0}")]
    OtherFailure(String),
}
