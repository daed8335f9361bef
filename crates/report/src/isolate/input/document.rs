//! `report.json` of `culprit isolate input`, and the lines of its `candidates.jsonl`.

use culprit_reduce::Tested;
use serde::{Deserialize, Serialize};

use crate::document::Content;
use crate::isolate::{Rate, Verdict, seconds};

/// The result of `culprit isolate input`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InputDocument {
    /// The kind of isolation.
    pub kind: InputKind,
    /// The command that found it, without the folder for results.
    pub command: String,
    /// The input that fails, as it was typed.
    pub input: String,
    /// The failure of the reduced input.
    pub failure: String,
    /// The failure of the whole input.
    #[serde(default)]
    pub original_failure: String,
    /// Runs of the whole input that failed.
    pub rate: Rate,
    /// Runs of each candidate, at most.
    pub runs_of_each: u32,
    /// Different candidates whose verdict was needed.
    pub tests: u64,
    /// Candidates that passed.
    pub passed: u64,
    /// Candidates that failed.
    pub failed: u64,
    /// Candidates without a verdict.
    pub unresolved: u64,
    /// Candidates that were not tested, since they are not well-formed.
    pub ill_formed: u64,
    /// Candidates whose verdict was in the journal of an earlier run.
    pub replayed: u64,
    /// Runs of the command in all.
    pub runs: u64,
    /// Processes that runs left behind; they were ended.
    pub strays: u64,
    /// The duration of the search.
    pub seconds: f64,
    /// Whether candidates ran in JVMs that ran others before.
    pub warm: bool,
    /// Whether the result is 1-minimal.
    pub minimal: bool,
    /// Whether the result was confirmed when it was run again; null if it was not run again.
    pub confirmed: Option<bool>,
    /// Sizes.
    pub bytes: Bytes,
    /// The file or folder in the result folder that fails.
    pub failing: String,
    /// The file or folder in the result folder that passes, if a pair was found.
    pub passing: Option<String>,
    /// Files in the working folder that changed during the search.
    pub changed_folder: Vec<String>,
    /// The questions that the pair leaves open, each a sentence.
    #[serde(default)]
    pub reservations: Vec<String>,
}

/// The kind of isolation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum InputKind {
    /// An input was reduced.
    Input,
}

/// Sizes in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bytes {
    /// The whole input.
    pub input: u64,
    /// The reduced input that fails.
    pub failing: u64,
    /// The input that passes, if a pair was found.
    pub passing: Option<u64>,
    /// Bytes that only one of the pair has.
    pub difference: Option<u64>,
}

impl Content for InputDocument {
    const NAME: &'static str = "isolate-input";
}

/// A line of `candidates.jsonl`: the verdict on one candidate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InputCandidate {
    /// The number of the test.
    pub test: u64,
    /// The pass of the search, named after the parts that it removes.
    pub pass: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The outcome of the test, unless it passed.
    pub detail: String,
    /// The size of the candidate.
    pub bytes: u64,
    /// The size of the smallest input so far that fails.
    pub best: u64,
    /// A digest of the candidate's bytes.
    pub artefact: String,
    /// Seconds since the search began.
    pub seconds: f64,
}

impl From<&Tested> for InputCandidate {
    fn from(tested: &Tested) -> InputCandidate {
        InputCandidate {
            test: tested.number,
            pass: tested.search.clone(),
            verdict: tested.kind.into(),
            detail: tested.detail.clone(),
            bytes: tested.size,
            best: tested.best,
            artefact: tested.digest.to_string(),
            seconds: seconds(tested.elapsed, 3),
        }
    }
}
