//! What can go wrong.

/// A recording could not be made into a scenario.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error(transparent)]
    Recording(#[from] culprit_trace::Error),
}
