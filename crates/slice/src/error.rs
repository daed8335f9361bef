//! Why a trace cannot be replayed.

/// Why a trace cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A class of the trace is no class file.
    #[error(transparent)]
    ClassFile(#[from] culprit_classfile::Error),
    /// The tables of the trace are inconsistent.
    #[error("the trace has {0}")]
    Malformed(&'static str),
}
