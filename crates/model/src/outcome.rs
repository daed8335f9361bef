//! How the run of a scenario or a script ended.

use crate::{EventKind, Site, Step, ThreadId};

/// How the run of a scenario ended, as far as the scenario can tell. A worker that died or took
/// too long has no outcome: whoever asked it knows that.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The observed code did all that the scenario says.
    InSync {
        /// Steps that were used up.
        steps: u64,
        /// Calls that were open after the last step.
        open_calls: u32,
    },
    /// The observed code did something else.
    Diverged(Box<Divergence>),
    /// The observed code did some things differently, and the run went on where it could.
    Differed {
        /// Steps that were used up, those that were skipped included.
        steps: u64,
        /// In order; never empty.
        differences: Vec<Divergence>,
        /// The scenario came to its end: otherwise nothing fits what the last difference shows.
        complete: bool,
    },
    /// A call of a plain run ended with an exception.
    Threw {
        /// Number of the statement, from 0.
        at: u64,
        /// What `printStackTrace` prints of it.
        trace: String,
    },
    /// The scenario asks for something that cannot be done.
    Unsupported(String),
    /// The run was ended from outside.
    Stopped,
}

/// A difference between a scenario and its run.
#[derive(Clone, PartialEq, Debug)]
pub struct Divergence {
    /// Number of the step, from 0.
    pub at: u64,
    /// What the scenario says; `None` where it has ended.
    pub expected: Option<Step>,
    /// What the observed code did; `None` where it did nothing more.
    pub got: Option<Got>,
    pub thread: ThreadId,
    /// The difference in one sentence.
    pub why: String,
    /// The calls that were open, innermost last.
    pub path: Vec<String>,
}

/// Something the observed code did that no step speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Got {
    pub kind: EventKind,
    pub site: Site,
    /// The values as a reader is shown them: ids of a run mean nothing outside it.
    pub values: Vec<String>,
}
