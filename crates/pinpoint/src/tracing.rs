//! Runs of scripts that are traced.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use culprit_jvm::{Deadline, Job, JobResult, WorkerPool, untrusted};
use culprit_model::{Outcome, Script};
use culprit_slice::{Replayed, replay};
use culprit_trace::instructions::{INSTRUCTIONS_EXTENSION, InstructionTrace};
use culprit_wire::{FreshState, LineCheck, Mode};

use crate::Error;
use crate::statements::for_replay;

/// The most bytes of events of a trace.
pub(crate) const MOST_TRACED: u64 = 128 << 20;

/// The largest file of a trace: classes and texts come with the events.
const LARGEST_FILE: u64 = 2 * MOST_TRACED;

/// The most folders of workers in one scratch folder.
const MOST_WORKERS: usize = 64;

/// A run with its dependences.
#[derive(Debug)]
pub(crate) struct TracedRun {
    pub(crate) outcome: Outcome,
    pub(crate) replayed: Replayed,
}

impl TracedRun {
    /// The stack trace of the exception that ended it.
    pub(crate) fn threw(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Threw { trace, .. } => Some(trace),
            _ => None,
        }
    }
}

/// Runs a script in a worker that traces, and replays the trace. The worker has its folder in `scratch`.
pub(crate) fn trace(
    script: &Script,
    pool: &WorkerPool,
    scratch: &Path,
    limit: Duration,
    deadline: &Deadline,
) -> Result<TracedRun, Error> {
    let statements: Vec<_> = script.statements.iter().collect();
    let answer = pool.run(&Job {
        mode: Mode::Plain,
        fresh: FreshState::NewLoader,
        multi_threaded: false,
        lines: LineCheck::Ignore,
        tables: Arc::clone(&script.tables),
        source: &statements,
        limit,
        deadline: deadline.clone(),
    })?;
    let outcome = match answer {
        JobResult::Ran { outcome, .. } => outcome,
        JobResult::Unresolved(why) => return Err(Error::OtherFailure(why.to_string())),
    };
    let workers = (0..MOST_WORKERS).map(|number| scratch.join(format!("worker-{number}")));
    let traces =
        workers.flat_map(|folder| untrusted::files_with(&folder, INSTRUCTIONS_EXTENSION, 1));
    let file = traces.last().ok_or(Error::NoTrace)?;
    let trace = InstructionTrace::read(&untrusted::read(&file, LARGEST_FILE)?)?;
    Ok(TracedRun {
        outcome,
        replayed: replay(&trace, &for_replay(script))?,
    })
}
