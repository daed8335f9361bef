//! The pool of workers: candidates go in from any number of threads, each comes back with its
//! answer.
//!
//! The answer to a candidate depends on it alone, not on the number of workers nor on who ran
//! before: a candidate that is lost together with a worker that ran others before it is run once
//! more, by a fresh worker, and that counts. A worker that is lost is replaced.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use culprit_model::Outcome;
use culprit_wire::{Message, Subject, WireError};
use tracing::debug;

use crate::group::LaunchError;
use crate::job::{Job, JobResult, SourceError};
use crate::worker::{NoAnswer, Worker, WorkerPlan};
use crate::{Deadline, Status, WorkingFolder};

/// The number of attempts to start a worker.
const ATTEMPTS: u32 = 2;

/// No answer, and not because of the candidate.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    #[error(transparent)]
    Start(StartError),
    #[error("a worker failed with an internal error: {what}{}", .output)]
    Fault {
        what: String,
        output: ReportedOutput,
    },
    #[error("cannot send to a worker: {0}")]
    TooLarge(WireError),
    #[error("cannot read the steps: {0}")]
    Source(SourceError),
    #[error("out of time")]
    OutOfTime,
    #[error("interrupted")]
    Interrupted,
}

/// Why no worker can be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("no folder for a worker at {}: {error}", .path.display())]
    Folder { path: PathBuf, error: io::Error },
    #[error("cannot wait for a worker: {0}")]
    Watch(io::Error),
    #[error("the worker ended with {status} before it was ready{}", .output)]
    Ended {
        status: Status,
        output: ReportedOutput,
    },
    #[error("the worker was not ready after {limit:?}{}", .output)]
    Late {
        limit: Duration,
        output: ReportedOutput,
    },
    #[error("the worker speaks version {found} of the protocol, this culprit version {supported}")]
    Version { found: u16, supported: u16 },
    #[error("the worker did not start correctly: {what}{}", .output)]
    Garbled {
        what: String,
        output: ReportedOutput,
    },
    #[error("interrupted")]
    Interrupted,
}

impl StartError {
    /// True if the same again could end otherwise.
    fn may_pass(&self) -> bool {
        match self {
            StartError::Launch(_)
            | StartError::Folder { .. }
            | StartError::Version { .. }
            // A JVM that does not like its options, or finds no room for its heap, says so once.
            | StartError::Ended { .. }
            | StartError::Interrupted => false,
            StartError::Watch(_)
            | StartError::Late { .. }
            | StartError::Garbled { .. } => true,
        }
    }
}

impl PoolError {
    /// The next step for the user.
    pub fn next_step(&self) -> &'static str {
        match self {
            PoolError::Start(StartError::Launch(LaunchError::Sandbox(_))) => {
                "run without a sandbox (--no-sandbox), if the code may do no harm"
            }
            PoolError::Start(StartError::Folder { .. }) => "make room, or name another folder",
            PoolError::Start(StartError::Version { .. }) => {
                "remove the cached agent, so that it is unpacked anew"
            }
            PoolError::Start(_) => "see what the JVM says, and check its options",
            PoolError::Fault { .. } | PoolError::TooLarge(_) => "please report this",
            PoolError::Source(_) => "check that the recording is whole",
            PoolError::OutOfTime => "give it more time",
            PoolError::Interrupted => "run it again",
        }
    }
}

/// The output of a worker, as shown after the message about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReportedOutput {
    /// The last lines of it.
    Lines(String),
    /// It went to our standard error, where everybody has seen it.
    Shared,
}

impl fmt::Display for ReportedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReportedOutput::Shared => Ok(()),
            ReportedOutput::Lines(lines) if lines.is_empty() => f.write_str("; it printed nothing"),
            ReportedOutput::Lines(lines) => write!(f, "; it printed:\n{lines}"),
        }
    }
}

/// Workers of one subject.
#[derive(Debug)]
pub struct WorkerPool {
    plan: WorkerPlan,
    /// The first message to each worker.
    subject: Vec<u8>,
    size: usize,
    places: Mutex<PoolState>,
    freed: Condvar,
    started: AtomicU64,
    runs: AtomicU64,
    /// Each worker runs one candidate.
    single_use: AtomicBool,
}

#[derive(Debug, Default)]
struct PoolState {
    /// Workers without work, the last used last.
    idle: Vec<Worker>,
    /// Places of threads that run something, or are about to.
    taken: usize,
}

impl WorkerPool {
    /// A pool of so many workers, which are started as they are needed.
    pub fn new(plan: WorkerPlan, size: usize, subject: Subject) -> Result<WorkerPool, PoolError> {
        let mut frames = Vec::new();
        for message in subject.into_messages() {
            message.frame(&mut frames).map_err(PoolError::TooLarge)?;
        }
        Ok(WorkerPool {
            plan,
            subject: frames,
            size: size.max(1),
            places: Mutex::default(),
            freed: Condvar::new(),
            started: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            single_use: AtomicBool::new(false),
        })
    }

    /// True if its workers are in a sandbox.
    pub fn is_confined(&self) -> bool {
        self.plan.sandbox.is_some()
    }

    /// The environment variables of its workers.
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.plan.env
    }

    /// The working folder of its workers.
    pub fn folder(&self) -> &WorkingFolder {
        &self.plan.folder
    }

    /// From now on each candidate has a worker of its own: no state of the JDK is left from others.
    pub fn use_new_workers(&self) {
        self.single_use.store(true, Ordering::Relaxed);
    }

    /// True if each candidate has a worker of its own.
    pub fn uses_new_workers(&self) -> bool {
        self.single_use.load(Ordering::Relaxed)
    }

    /// Runs a candidate, as soon as there is a worker for it.
    pub fn run(&self, job: &Job<'_>) -> Result<JobResult, PoolError> {
        let mut place = self.place();
        if self.uses_new_workers() && place.worker.as_ref().is_some_and(|it| !it.is_fresh()) {
            place.worker = None;
        }
        loop {
            let worker = place.worker(&job.deadline)?;
            let is_fresh = worker.is_fresh();
            let number = self.runs.fetch_add(1, Ordering::Relaxed);
            let began = Instant::now();
            let answered = worker.run(job, number);
            debug!(run = number, took = ?began.elapsed(), answer = %Brief(&answered), "candidate run");
            match answered {
                Ok(answer) => return Ok(answer),
                Err(NoAnswer::Lost(unresolved)) => {
                    place.worker = None;
                    if is_fresh {
                        return Ok(JobResult::Unresolved(unresolved));
                    }
                }
                Err(NoAnswer::Failed(error)) => {
                    place.worker = None;
                    return Err(error);
                }
            }
        }
    }

    /// The number of workers started so far.
    pub fn started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    /// Lets the workers end by themselves, all within this time. Dropping the pool kills them.
    pub fn dismiss(self, patience: Duration) {
        let idle = std::mem::take(&mut self.lock().idle);
        std::thread::scope(|scope| {
            for worker in idle {
                scope.spawn(move || worker.dismiss(patience));
            }
        });
    }

    /// Waits for a place.
    fn place(&self) -> Lease<'_> {
        let mut places = self.lock();
        loop {
            let idle = places.idle.pop();
            if idle.is_some() || places.taken < self.size {
                places.taken += 1;
                return Lease {
                    pool: self,
                    worker: idle,
                };
            }
            places = self
                .freed
                .wait(places)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, deadline: &Deadline) -> Result<Worker, PoolError> {
        let mut attempt = 1;
        loop {
            let number = self.started.fetch_add(1, Ordering::Relaxed);
            let began = Instant::now();
            let started = Worker::start(&self.plan, number, deadline);
            let error = started.as_ref().err().map(tracing::field::display);
            debug!(worker = number, took = ?began.elapsed(), error, "worker started");
            match started {
                Ok(mut worker) => {
                    worker.tell(&self.subject);
                    return Ok(worker);
                }
                Err(StartError::Late { .. }) if deadline.is_over() => {
                    return Err(PoolError::OutOfTime);
                }
                Err(error) if attempt < ATTEMPTS && error.may_pass() => attempt += 1,
                Err(StartError::Interrupted) => return Err(PoolError::Interrupted),
                Err(error) => return Err(PoolError::Start(error)),
            }
        }
    }
}

/// An answer in a few words, for the log.
struct Brief<'a>(&'a Result<JobResult, NoAnswer>);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.0 {
            Ok(JobResult::Ran { outcome, .. }) => outcome,
            Ok(JobResult::Unresolved(unresolved)) => {
                return write!(f, "unresolved: {unresolved:?}");
            }
            Err(NoAnswer::Lost(unresolved)) => return write!(f, "worker lost: {unresolved:?}"),
            Err(NoAnswer::Failed(error)) => return write!(f, "no answer: {error}"),
        };
        match outcome {
            Outcome::InSync { steps, .. } => write!(f, "in sync after {steps} steps"),
            Outcome::Diverged(it) => write!(f, "diverged at step {}: {}", it.at, it.why),
            Outcome::Differed { differences, .. } => write!(f, "{} differences", differences.len()),
            Outcome::Threw { at, trace } => {
                let first = trace.lines().next().unwrap_or_default();
                write!(f, "threw at step {at}: {first}")
            }
            Outcome::Unsupported(what) => write!(f, "unsupported: {what}"),
            Outcome::Stopped => f.write_str("stopped"),
        }
    }
}

/// The right of a thread to use one worker of the pool.
struct Lease<'a> {
    pool: &'a WorkerPool,
    worker: Option<Worker>,
}

impl Lease<'_> {
    /// The worker, or a new one where it is gone.
    fn worker(&mut self, deadline: &Deadline) -> Result<&mut Worker, PoolError> {
        let mut worker = self.worker.take();
        if !worker.as_mut().is_some_and(Worker::is_idle) {
            // It ended without work to do, which is nobody's fault: it must go before the new one.
            worker = None;
        }
        let worker = match worker {
            Some(worker) => worker,
            None => self.pool.start(deadline)?,
        };
        Ok(self.worker.insert(worker))
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut places = self.pool.lock();
        places.taken -= 1;
        places.idle.extend(self.worker.take());
        drop(places);
        self.pool.freed.notify_one();
    }
}
