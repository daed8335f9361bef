//! Runs a recording again: one worker JVM that is like the recorded one, and one run in it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use culprit_classfile::{ClassFile, named_classes};
use culprit_jvm::{Deadline, Job, JobResult, Limits, Sandbox, WorkerPlan, WorkerPool};
use culprit_model::AgentOptions;
use culprit_model::options::{Mode as AgentMode, RecordOptions};
use culprit_program::{CalledCode, Extras, WorkerJvm, agent_argument, likeness, vet};
use culprit_trace::Recording;
use culprit_wire::{ClassKind, FreshState, LineCheck, Mode, Subject};

use crate::subject::salt;
use crate::{Coverage, Error, lift};

/// An error that ends a worker, unless the recorded program met it too or its code speaks of it.
const NO_MEMORY: &str = "java/lang/OutOfMemoryError";

/// How to replay.
#[derive(Debug)]
pub struct Replayer {
    pub jvm: WorkerJvm,
    /// What a difference does.
    pub mode: Mode,
    /// Whether to count the lines that are run.
    pub coverage: bool,
    /// How long a replay may take; `None` is for ever.
    pub limit: Option<Duration>,
    /// Options of the JVM, after ours.
    pub options: Vec<OsString>,
    /// A recording to make of what is replayed.
    pub capture: Option<Capture>,
}

/// A second agent in the replaying JVM, which records what the first one replays.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The library of the agent once more, in another file: a JVM loads a file once.
    pub agent: PathBuf,
    /// The folder for the recording.
    pub out: String,
    pub options: RecordOptions,
}

/// What came of a replay.
#[derive(Debug)]
pub struct Replayed {
    pub answer: JobResult,
    /// The lines that were run, if they were counted and the worker came to the end.
    pub coverage: Option<Coverage>,
    /// How long it took, with the start of the JVM.
    pub took: Duration,
}

impl Replayer {
    /// Replays a recording with its own program, or with another one. Ask [`crate::check`] first
    /// what can be expected.
    pub fn replay(
        &self,
        recording: &Recording,
        subject: Subject,
        lines: LineCheck,
    ) -> Result<Replayed, Error> {
        let began = Instant::now();
        vet(recording, &self.jvm.jdk, CalledCode::Recorded)?;
        let lifted = lift(recording);
        let lines_run = match self.coverage {
            true => Some(Coverage::none(&subject)?),
            false => None,
        };
        let pool = WorkerPool::new(self.plan(recording, &subject), 1, subject)?;
        let answer = pool.run(&Job {
            mode: self.mode,
            fresh: FreshState::NewLoader,
            multi_threaded: lifted.tables.threads.len() > 1,
            lines,
            tables: Arc::new(lifted.tables.clone()),
            source: &lifted,
            limit: self.limit.unwrap_or(Duration::MAX),
            deadline: Deadline::never(),
        })?;
        let took = began.elapsed();
        // Agents of the user write their reports when the JVM ends.
        if !self.options.is_empty() || self.capture.is_some() {
            pool.dismiss(WorkerJvm::PATIENCE);
        }
        let coverage = match (lines_run, &answer) {
            (Some(mut lines), JobResult::Ran { coverage, .. }) => {
                lines.count(coverage);
                Some(lines)
            }
            _ => None,
        };
        Ok(Replayed {
            answer,
            coverage,
            took,
        })
    }

    /// Workers for many runs of a program, each within a limit of its own.
    pub fn pool(
        &self,
        recording: &Recording,
        subject: Subject,
        size: usize,
    ) -> Result<WorkerPool, Error> {
        vet(recording, &self.jvm.jdk, CalledCode::Recorded)?;
        let plan = WorkerPlan {
            patience: WorkerJvm::PATIENCE,
            intake: WorkerJvm::PATIENCE,
            ..self.plan(recording, &subject)
        };
        Ok(WorkerPool::new(plan, size, subject)?)
    }

    /// What a worker may do besides what every worker may.
    fn confines(&self, mut sandbox: Sandbox) -> Sandbox {
        if let Some(capture) = &self.capture {
            sandbox = sandbox.allow_write(&capture.out);
        }
        match self.options.is_empty() {
            true => sandbox,
            // The options may choose a collector whose heap is a file of memory.
            false => sandbox.allow_shared_memory(),
        }
    }

    /// The limits of a worker.
    fn limits(&self) -> Limits {
        let limits = self.jvm.limits();
        match self.options.is_empty() {
            true => limits,
            // A collector may keep the heap in a file of memory, as ZGC does, and agents write
            // reports of any length.
            false => Limits {
                file_size: None,
                ..limits
            },
        }
    }

    fn plan(&self, recording: &Recording, subject: &Subject) -> WorkerPlan {
        let mut fixed = likeness::options(recording.start());
        let mut types = recording.types().iter();
        if !types.any(|class| class.name == NO_MEMORY) && !speaks_of_memory(subject) {
            fixed.push("-XX:+ExitOnOutOfMemoryError".to_owned());
        }
        let capture = self.capture.as_ref().map(|capture| {
            let mut record = capture.options.clone();
            record.beside = true;
            record.weave.salt = salt(recording);
            let options = AgentOptions {
                out: capture.out.clone(),
                mode: AgentMode::Record(record),
            };
            agent_argument(&capture.agent, &options)
        });
        // The first agent sees the classes as they were, and those that follow see its changes.
        let last_options = capture.into_iter().chain(self.options.iter().cloned());
        let plan = self.jvm.plan(Extras {
            first_options: fixed.into_iter().map(OsString::from).collect(),
            last_options: last_options.collect(),
            variables: likeness::variables(recording.start()),
            coverage: self.coverage,
            trace: None,
        });
        WorkerPlan {
            limits: self.limits(),
            sandbox: plan.sandbox.map(|sandbox| self.confines(sandbox)),
            patience: match self.limit {
                Some(_) => WorkerJvm::PATIENCE,
                None => Duration::MAX,
            },
            // A replay is one run; whoever sets a limit means all of it.
            intake: Duration::ZERO,
            ..plan
        }
    }
}

/// Whether observed code names the error that says that there is no more memory: it may ask for too much
/// on purpose, and none of that is recorded.
fn speaks_of_memory(subject: &Subject) -> bool {
    let mut observed = subject
        .classes
        .iter()
        .filter(|class| class.kind == ClassKind::Observed);
    observed.any(|class| {
        let names = ClassFile::parse(&class.bytes).and_then(|class| named_classes(&class));
        names.is_ok_and(|names| names.contains(NO_MEMORY))
    })
}
