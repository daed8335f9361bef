//! Why a scenario has no test.

use thiserror::Error;

/// What stands in the way of printing a scenario. Steps are counted from 0.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    #[error("the scenario has no call")]
    Empty,
    #[error("step {step}: a scenario of more than one thread is no row of statements")]
    Threads { step: usize },
    #[error("step {step}: a call from within a call cannot be written as a statement")]
    Callback { step: usize },
    #[error("step {step}: its site, type or blob is not in the tables")]
    Tables { step: usize },
    #[error("step {step}: its values do not fit its site")]
    Values { step: usize },
    #[error("step {step}: a value is not known")]
    Unknown { step: usize },
    #[error("{class}: nothing makes this object, and no class can stand in for it")]
    NoStandIn { class: String },
    #[error("{class}: the object comes out of a constructor that threw")]
    Unfinished { class: String },
    #[error("an array of {length} elements is too long for source code")]
    TooLong { length: u32 },
}
