//! The result of `culprit replay`: as text, JSON and JUnit XML.

mod case;
mod comparison;
mod coverage;
mod difference;
mod documents;
mod junit;
mod table;

use serde::{Deserialize, Serialize};

use crate::document::Content;
use crate::recording;
pub use case::{Case, Facts, Verdict};
pub use comparison::Comparison;
pub use coverage::{print_coverage, total_coverage};
pub use documents::document;
pub use junit::junit_xml;
pub use table::ReplayTable;

/// The results of replays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReplayDocument {
    /// The recordings, in the order in which they were replayed.
    pub recordings: Vec<Replayed>,
    /// Lines that all replays together ran, if they were counted.
    pub coverage: Option<Coverage>,
}

/// A recording and its replay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Replayed {
    /// The path of the recording.
    pub path: String,
    /// The result, by its name, with the fields that belong to it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Its events.
    pub events: u64,
    /// Its observed classes.
    pub classes: u64,
    /// Its threads.
    pub threads: u64,
    /// The duration of the recorded run, if it is known.
    pub recorded_ms: Option<u64>,
    /// The duration of the replay.
    pub replayed_ms: u64,
    /// Properties of the recording that matter to a replay.
    pub findings: Vec<Finding>,
    /// The comparison with the classes of `--against`, if they were given.
    pub against: Option<Versions>,
    /// Lines that the replay ran, if they were counted.
    pub coverage: Option<Coverage>,
    /// The report of a JVM that crashed.
    pub crash_report: Option<String>,
    /// The next step, if there is one.
    pub next: Option<String>,
}

/// The result of a replay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Outcome {
    /// The observed code did the same.
    InSync {
        /// Events that were replayed.
        steps: u64,
        /// Calls that were open at the end, as in the recording.
        open_calls: u32,
    },
    /// The observed code did something else.
    OutOfSync {
        /// The first difference.
        difference: Option<Box<Difference>>,
        /// All differences that were found.
        differences: Vec<Difference>,
        /// The point that the replay reached.
        went: Went,
    },
    /// The recording has something that cannot be replayed yet.
    Unsupported {
        /// The reason.
        why: String,
    },
    /// The replay took too long.
    TimeLimit(Lost),
    /// The JVM ran out of memory.
    OutOfMemory(Lost),
    /// The JVM exceeded another limit.
    LimitExceeded(Lost),
    /// The JVM died.
    JvmDied(Lost),
    /// No class was observed.
    NothingObserved {},
    /// The replay was not tried.
    Refused {
        /// The reason.
        why: String,
    },
    /// The recording cannot be read.
    Unreadable {
        /// The reason.
        why: String,
    },
    /// No JVM could be started.
    NoJvm {
        /// The reason.
        why: String,
    },
    /// The classes to replay with cannot be used.
    BadClasses {
        /// The reason.
        why: String,
    },
    /// A defect of Culprit.
    Defect {
        /// The reason.
        why: String,
    },
}

/// A JVM that did not reach the end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Lost {
    /// The reason.
    pub why: String,
    /// The output of the JVM, if there is any.
    pub output: Option<String>,
}

/// The point that a replay reached which is out of sync.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Went {
    /// The first difference, where it was to stop.
    ToFirst,
    /// The end of the recording.
    ToEnd,
    /// The last difference: no recorded event fits it.
    ToLast,
}

/// A difference between a recording and its replay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// The number of the event.
    pub event: u64,
    /// The thread.
    pub thread: String,
    /// The difference in words.
    pub why: String,
    /// The recorded side, if there is one.
    pub recorded: Option<Side>,
    /// The recorded event, if there is one.
    pub recorded_event: Option<recording::Event>,
    /// The replayed side, if there is one.
    pub replayed: Option<Side>,
    /// The open calls, innermost first.
    pub path: Vec<String>,
}

/// One side of a difference.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Side {
    /// The event.
    pub text: String,
    /// Its place in the source.
    pub place: String,
    /// Its values, in full.
    pub values: Vec<String>,
}

/// A property of a recording that matters to a replay.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its weight.
    pub severity: Severity,
    /// Its description.
    pub text: String,
}

/// The weight of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The recording cannot be replayed.
    Refuse,
    /// The replay may go astray.
    Warn,
    /// Good to know.
    Note,
}

/// The recorded classes compared with those of a class path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Versions {
    /// The class path.
    pub path: String,
    /// Observed classes.
    pub classes: u64,
    /// Classes that the class path lacks.
    pub missing: Vec<String>,
    /// Classes that differ.
    pub changes: Vec<ClassChanges>,
}

/// A class that differs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassChanges {
    /// Its name.
    pub class: String,
    /// Whether the recording lacks it.
    #[serde(rename = "new")]
    pub is_new: bool,
    /// Whether its flags or supertypes differ.
    pub header_changed: bool,
    /// Members that were added.
    pub added: Vec<String>,
    /// Members that were removed.
    pub removed: Vec<String>,
    /// Members that differ.
    pub changed: Vec<String>,
}

/// Lines that were run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Lines that were run.
    pub run: usize,
    /// All lines.
    pub total: usize,
    /// By class.
    pub classes: Vec<ClassCoverage>,
}

/// Lines of a class that were run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClassCoverage {
    /// Its name.
    pub class: String,
    /// Lines that were run.
    pub run: usize,
    /// All lines.
    pub total: usize,
    /// Lines that were not run, as ranges from the first to the last.
    pub not_run: Vec<(u16, u16)>,
    /// Each line with the number of times that it was run.
    pub counts: Vec<(u16, u64)>,
}

impl Content for ReplayDocument {
    const NAME: &'static str = "replay";
}
