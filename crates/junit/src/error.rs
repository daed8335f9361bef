//! Reasons why a script cannot be printed.

use thiserror::Error;

/// A script that cannot be printed. Statements are counted from 0.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Error {
    #[error("the script has no statement")]
    Empty,
    #[error("statement {statement}: its site, type or blob is not in the tables")]
    Tables { statement: usize },
    #[error("statement {statement}: its values do not fit its site")]
    Values { statement: usize },
    #[error("statement {statement}: a value is not known")]
    Unknown { statement: usize },
    #[error("{class}: nothing makes this object, and no class can stand in for it")]
    NoStandIn { class: String },
    #[error("{class}: a fixed version may throw this exception, and the test cannot catch it")]
    NotCaught { class: String },
    #[error("an array of {length} elements is too long for source code")]
    TooLong { length: u32 },
    #[error("Kotlin has no simple way to write {why}")]
    Kotlin { why: String },
}
