//! Runs of scripts that are traced.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use culprit_jvm::{Deadline, Job, JobResult, WorkerPool, WorkingFolder, untrusted};
use culprit_model::options::{TraceOptions, TraceScope};
use culprit_model::{Outcome, Script};
use culprit_program::PlainWorkers;
use culprit_slice::{Replayed, replay};
use culprit_trace::Recording;
use culprit_trace::instructions::{INSTRUCTIONS_EXTENSION, InstructionTrace};
use culprit_wire::{FreshState, LineCheck, Mode};

use crate::Error;
use crate::statements::for_replay;

/// The largest file of a trace with few events.
const SMALLEST_LIMIT: u64 = 256 << 20;

/// The most folders of workers in one scratch folder.
const MOST_WORKERS: usize = 64;

/// A script to trace, and how it is run.
pub struct ScriptToTrace<'a> {
    pub script: &'a Script,
    pub recording: &'a Recording,
    pub workers: &'a PlainWorkers,
    pub class_path: &'a [String],
    pub folder: WorkingFolder,
    pub limits: TraceLimits,
    pub deadline: &'a Deadline,
}

/// The limits of a traced run.
#[derive(Clone, Copy, Debug)]
pub struct TraceLimits {
    pub time: Duration,
    /// The most bytes of events; the trace of a longer run ends there.
    pub bytes: u64,
}

impl Default for TraceLimits {
    fn default() -> TraceLimits {
        TraceLimits {
            time: Duration::from_secs(20),
            bytes: 128 << 20,
        }
    }
}

/// A run with its dependences.
#[derive(Debug)]
pub struct TracedRun {
    pub outcome: Outcome,
    pub replayed: Replayed,
    /// Methods that could not be traced: class, name and descriptor.
    pub not_woven: Vec<String>,
    /// The code that was not traced since the trace would be too long, if there is some.
    pub narrowed: Option<Narrowed>,
}

/// Code that is left out of a trace.
#[derive(Clone, Debug)]
pub struct Narrowed {
    /// The code in words.
    pub without: &'static str,
    /// The reason.
    pub why: String,
}

/// What is traced of a run that is too long otherwise, the most first, and what is left out then.
const NARROWER: [(TraceScope, &str); 2] = [
    (TraceScope::NoInitialisers, "static initialisers"),
    (
        TraceScope::ProgramAlone,
        "static initialisers and the code of the JDK",
    ),
];

impl TracedRun {
    /// The stack trace of the exception that ended it.
    pub fn threw(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Threw { trace, .. } => Some(trace),
            _ => None,
        }
    }

    /// The reason why dependences are missing, if some are.
    pub fn partial(&self) -> Option<String> {
        let end = self.replayed.partial.as_ref();
        let end = end.map(|why| format!("{why}; dependences after that are missing"));
        let narrowed = self.narrowed.as_ref();
        let narrowed =
            narrowed.map(|it| format!("{} are left out: with them, {}", it.without, it.why));
        end.or(narrowed)
    }

    /// True if nothing failed.
    pub(crate) fn passed(&self) -> bool {
        matches!(self.outcome, Outcome::InSync { .. })
    }
}

impl<'a> ScriptToTrace<'a> {
    /// Runs the script in a worker that traces, and replays the trace.
    pub fn trace(&self) -> Result<TracedRun, Error> {
        self.traced().map(|(_, run)| run)
    }

    /// The traced run, and the worker that traces others of the same program: as much of it as can be traced to the end.
    pub(crate) fn traced(&self) -> Result<(Tracer<'a>, TracedRun), Error> {
        let whole = self.tracer(TraceScope::Whole, None)?;
        let run = whole.trace(self.script)?;
        let Some(why) = run.replayed.partial.clone() else {
            return Ok((whole, run));
        };
        for (scope, without) in NARROWER {
            let why = why.clone();
            let narrower = self.tracer(scope, Some(Narrowed { without, why }))?;
            match narrower.trace(self.script) {
                Ok(run) if run.replayed.partial.is_none() => return Ok((narrower, run)),
                _ => {}
            }
        }
        Ok((whole, run))
    }

    /// A worker that traces, in a scratch folder of its own: two pools cannot share one.
    fn tracer(&self, scope: TraceScope, narrowed: Option<Narrowed>) -> Result<Tracer<'a>, Error> {
        let mut workers = self.workers.clone();
        workers.jvm.scratch.push(format!("trace-{scope:?}"));
        let (class_path, folder) = (self.class_path.to_vec(), self.folder.clone());
        let bytes = self.limits.bytes;
        let options = TraceOptions { bytes, scope };
        Ok(Tracer {
            pool: workers.tracing_pool(self.recording, class_path, folder, options)?,
            scratch: workers.jvm.scratch,
            limits: self.limits,
            deadline: self.deadline,
            narrowed,
        })
    }
}

/// A worker that traces scripts.
pub(crate) struct Tracer<'a> {
    pool: WorkerPool,
    scratch: PathBuf,
    limits: TraceLimits,
    deadline: &'a Deadline,
    narrowed: Option<Narrowed>,
}

impl Tracer<'_> {
    /// Runs a script, and replays its trace.
    pub(crate) fn trace(&self, script: &Script) -> Result<TracedRun, Error> {
        let statements: Vec<_> = script.statements.iter().collect();
        let answer = self.pool.run(&Job {
            mode: Mode::Plain,
            fresh: FreshState::NewLoader,
            multi_threaded: false,
            lines: LineCheck::Ignore,
            tables: Arc::clone(&script.tables),
            source: &statements,
            limit: self.limits.time,
            deadline: self.deadline.clone(),
        })?;
        let outcome = match answer {
            JobResult::Ran { outcome, .. } => outcome,
            JobResult::Unresolved(why) => return Err(Error::OtherFailure(why.to_string())),
        };
        let workers = (0..MOST_WORKERS).map(|number| self.scratch.join(format!("worker-{number}")));
        let traces =
            workers.flat_map(|folder| untrusted::files_with(&folder, INSTRUCTIONS_EXTENSION, 1));
        let file = traces.last().ok_or(Error::NoTrace)?;
        // Classes and texts come with the events.
        let largest = self.limits.bytes.saturating_mul(2).max(SMALLEST_LIMIT);
        let trace = InstructionTrace::read(&untrusted::read(&file, largest)?)?;
        // The next run of the worker has another file.
        fs::remove_file(&file)?;
        Ok(TracedRun {
            outcome,
            replayed: replay(&trace, &for_replay(script))?,
            not_woven: trace.ending.not_woven.into_iter().map(|it| it.0).collect(),
            narrowed: self.narrowed.clone(),
        })
    }
}
