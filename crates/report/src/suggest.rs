//! The JSON document of `culprit record --suggest`.

use serde::{Deserialize, Serialize};

use crate::document::Content;

/// Proposals for `--observe`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SuggestDocument {
    /// The running time of the JVMs with classes to choose from, in milliseconds.
    pub time_ms: u64,
    /// All calls of methods and constructors of the classes to choose from.
    pub calls: u64,
    /// The measure of all classes to choose from.
    pub all: Measure,
    /// Borders around a part of them, best first.
    pub borders: Vec<Proposal>,
}

/// The figures for a set of observed classes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measure {
    /// The number of classes.
    pub classes: usize,
    /// Calls between these classes.
    pub inside_calls: u64,
    /// Events that a recording of these classes would have.
    pub events: u64,
    /// Events in a second.
    pub events_per_second: u64,
    /// Bytes that a recording would grow by in a second.
    pub bytes_per_second: u64,
    /// From 0 to 1: a high score means few events and many calls inside.
    pub score: f64,
}

/// A proposed set of classes to observe.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proposal {
    /// Its figures.
    #[serde(flatten)]
    pub measure: Measure,
    /// The patterns for `--observe`.
    pub observe: Vec<String>,
    /// The command that records these classes.
    pub command: String,
}

impl Content for SuggestDocument {
    const NAME: &'static str = "suggest";
}
