//! Jobs for a pool, and their answers.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use culprit_model::scenario::Tables;
use culprit_model::{BlobId, Outcome, Statement, Step, ThreadId};
use culprit_wire::{ClassCoverage, FreshState, LineCheck, Mode};

use crate::{Deadline, Excess, Status};

/// One candidate to run.
pub struct Job<'a> {
    pub mode: Mode,
    pub fresh: FreshState,
    /// The steps are of several threads.
    pub multi_threaded: bool,
    pub lines: LineCheck,
    /// The tables that the steps refer to. They are not sent again to a worker that has the same tables.
    pub tables: Arc<Tables>,
    pub source: &'a dyn JobSource,
    /// The time limit, once a worker is ready and has loaded the subject.
    pub limit: Duration,
    /// When everything must have ended, the start of a worker included.
    pub deadline: Deadline,
}

/// The steps of a scenario, or the statements of a script, which can be sent more than once, each time from
/// the first one on.
pub trait JobSource {
    fn pieces(&self) -> Box<dyn Iterator<Item = Result<JobPiece<'_>, SourceError>> + '_>;

    /// The objects that the steps ask for by the thread that made them and their number, in order.
    fn births(&self) -> Result<Vec<(ThreadId, u64)>, SourceError>;
}

/// Why the next step cannot be had.
pub type SourceError = Box<dyn Error + Send + Sync>;

/// A step or statement, or something that later ones refer to.
#[derive(Clone, PartialEq, Debug)]
pub enum JobPiece<'a> {
    Step(Cow<'a, Step>),
    Statement(&'a Statement),
    Tables(Tables),
    Blob(BlobId, Vec<u8>),
    /// Later steps refer to no [`JobPiece::Blob`] from before this.
    Forget,
}

impl JobSource for Vec<Step> {
    fn pieces(&self) -> Box<dyn Iterator<Item = Result<JobPiece<'_>, SourceError>> + '_> {
        let pieces = self.iter().map(|step| JobPiece::Step(Cow::Borrowed(step)));
        Box::new(pieces.map(Ok))
    }

    fn births(&self) -> Result<Vec<(ThreadId, u64)>, SourceError> {
        let mut births: Vec<_> = self.iter().filter_map(Step::birth).collect();
        births.sort_unstable();
        Ok(births)
    }
}

impl JobSource for Vec<&Statement> {
    fn pieces(&self) -> Box<dyn Iterator<Item = Result<JobPiece<'_>, SourceError>> + '_> {
        Box::new(
            self.iter()
                .map(|statement| Ok(JobPiece::Statement(statement))),
        )
    }

    /// Statements name the objects that they use.
    fn births(&self) -> Result<Vec<(ThreadId, u64)>, SourceError> {
        Ok(Vec::new())
    }
}

/// The result of a candidate.
#[derive(Clone, PartialEq, Debug)]
pub enum JobResult {
    /// It ran.
    Ran {
        outcome: Outcome,
        coverage: Vec<ClassCoverage>,
    },
    /// It took its worker with it.
    Unresolved(Unresolved),
}

/// The way in which a candidate ended its worker, which had run nothing before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unresolved {
    TimeLimit(Duration),
    /// The JVM ended: a crash, an exit, a lack of memory.
    Died {
        status: Status,
        /// The last lines it printed.
        output: String,
    },
    /// The JVM was ended because it used too much of the machine.
    Exceeded(Excess),
    /// The JVM ended because it found no more memory.
    OutOfMemory {
        output: String,
    },
    /// The JVM lives, but does not speak to us any more.
    Silent {
        output: String,
    },
    /// Its messages are invalid.
    Garbled {
        what: String,
        output: String,
    },
}

impl Unresolved {
    /// The last lines that the JVM printed, where they tell something.
    pub fn output(&self) -> Option<&str> {
        match self {
            Unresolved::TimeLimit(_) | Unresolved::Exceeded(_) => None,
            Unresolved::Died { output, .. }
            | Unresolved::OutOfMemory { output }
            | Unresolved::Silent { output }
            | Unresolved::Garbled { output, .. } => Some(output),
        }
    }

    /// The same, to be changed.
    pub fn output_mut(&mut self) -> Option<&mut String> {
        match self {
            Unresolved::TimeLimit(_) | Unresolved::Exceeded(_) => None,
            Unresolved::Died { output, .. }
            | Unresolved::OutOfMemory { output }
            | Unresolved::Silent { output }
            | Unresolved::Garbled { output, .. } => Some(output),
        }
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unresolved::TimeLimit(limit) => write!(f, "time limit: no answer after {limit:?}"),
            Unresolved::Died {
                status: Status::Exited(status),
                ..
            } => write!(f, "the JVM exited with status {status}"),
            Unresolved::Died {
                status: Status::Killed(signal),
                ..
            } => write!(f, "the JVM died by signal {signal}"),
            Unresolved::Exceeded(excess) => write!(f, "the JVM {excess}"),
            Unresolved::OutOfMemory { .. } => write!(f, "the JVM ran out of memory"),
            Unresolved::Silent { .. } => write!(f, "the JVM closed the line to us"),
            Unresolved::Garbled { what, .. } => write!(f, "the JVM spoke nonsense: {what}"),
        }
    }
}
