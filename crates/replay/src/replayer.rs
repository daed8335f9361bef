//! Runs a recording again: one worker JVM that is like the recorded one, and one run in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use culprit_classfile::{ClassFile, named_classes};
use culprit_jvm::{
    Answer, Deadline, Interrupt, JavaVersion, Jdk, Job, Limits, Output, Plan, Pool, Sandbox, Seat,
    WorkingFolder, jvm_options,
};
use culprit_model::AgentOptions;
use culprit_model::options::{Mode as AgentMode, RecordOptions, WorkerOptions};
use culprit_trace::Recording;
use culprit_wire::{ClassKind, FreshState, LineCheck, Mode, Subject};

use crate::subject::salt;
use crate::{Coverage, Environment, Error, lift, likeness, vet};

/// The main class of a worker; the agent brings it along.
const MAIN: &str = "culprit.runtime.Worker";

/// How long a JVM may take to be up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Memory of a worker besides its heap: the JVM's own, and what the executor remembers.
const BESIDES: u64 = 2 << 30;

/// An error that ends a worker, unless the recorded program met it too or its code speaks of it.
const NO_MEMORY: &str = "java/lang/OutOfMemoryError";

/// How to replay.
#[derive(Debug)]
pub struct Replayer {
    pub jdk: Jdk,
    /// The library of the agent.
    pub agent: PathBuf,
    /// A folder for the folders of workers.
    pub scratch: PathBuf,
    /// Megabytes of the heap.
    pub heap: u64,
    /// What a difference does.
    pub mode: Mode,
    /// Whether to count the lines that are run.
    pub coverage: bool,
    /// How long a replay may take; `None` is for ever.
    pub limit: Option<Duration>,
    /// What a worker may do; `None` lets it do whatever we may do.
    pub sandbox: Option<Sandbox>,
    /// Options of the JVM, after ours.
    pub options: Vec<OsString>,
    /// Where goes what workers print.
    pub output: Output,
    pub interrupt: Option<Interrupt>,
    /// A recording to make of what is replayed.
    pub capture: Option<Capture>,
    /// Variables for plain runs, besides those that are the same everywhere.
    pub environment: Environment,
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
    pub answer: Answer,
    /// The lines that were run, if they were counted and the worker came to the end.
    pub coverage: Option<Coverage>,
    /// How long it took, with the start of the JVM.
    pub took: Duration,
}

/// The JDK for a recording: one of the same feature version, of the very same version if possible.
pub fn choose(recording: &Recording, jdks: &[Jdk]) -> Option<Jdk> {
    let recorded = JavaVersion::parse(&recording.start().jvm_version)?;
    let mut fit = jdks
        .iter()
        .filter(|jdk| jdk.version.feature == recorded.feature);
    let is_same = |jdk: &&Jdk| {
        let rest = recording
            .start()
            .jvm_version
            .strip_prefix(&jdk.version.to_string());
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    };
    let same = fit.clone().find(is_same);
    same.or_else(|| fit.next()).cloned()
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
        vet(recording, &self.jdk)?;
        let lifted = lift(recording);
        let lines_run = match self.coverage {
            true => Some(Coverage::none(&subject)?),
            false => None,
        };
        let pool = Pool::new(self.plan(recording, &subject), 1, subject)?;
        let answer = pool.run(&Job {
            mode: self.mode,
            fresh: FreshState::NewLoader,
            multi_threaded: lifted.tables.threads.len() > 1,
            lines,
            tables: Arc::new(lifted.tables.clone()),
            steps: &lifted,
            limit: self.limit.unwrap_or(Duration::MAX),
            deadline: Deadline::never(),
        })?;
        let took = began.elapsed();
        // Agents of the user write their reports when the JVM ends.
        if !self.options.is_empty() || self.capture.is_some() {
            pool.dismiss(PATIENCE);
        }
        let coverage = match (lines_run, &answer) {
            (Some(mut lines), Answer::Ran { coverage, .. }) => {
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
    ) -> Result<Pool, Error> {
        vet(recording, &self.jdk)?;
        let plan = Plan {
            patience: PATIENCE,
            intake: PATIENCE,
            ..self.plan(recording, &subject)
        };
        Ok(Pool::new(plan, size, subject)?)
    }

    /// Workers for plain runs of the recorded program, which is on a class path. Their surroundings are the
    /// same everywhere, but for the variables of [`Replayer::environment`].
    pub fn plain_pool(
        &self,
        recording: &Recording,
        class_path: Vec<String>,
        folder: WorkingFolder,
        size: usize,
    ) -> Result<Pool, Error> {
        vet(recording, &self.jdk)?;
        let fixed = likeness::plain_options(recording.start());
        let env = likeness::plain_variables();
        let mut plan = Plan {
            patience: PATIENCE,
            intake: PATIENCE,
            folder,
            ..self.plan_of(fixed, env, None)
        };
        plan.env.extend(self.environment.variables());
        let subject = Subject {
            class_path,
            ..Subject::default()
        };
        Ok(Pool::new(plan, size, subject)?)
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

    /// What a worker may use up.
    pub fn limits(&self) -> Limits {
        let limits = Limits {
            memory: Some(self.heap.saturating_mul(1 << 20).saturating_add(BESIDES)),
            ..Limits::default()
        };
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

    fn plan(&self, recording: &Recording, subject: &Subject) -> Plan {
        let mut fixed = likeness::options(recording.start());
        let mut types = recording.types().iter();
        if !types.any(|class| class.name == NO_MEMORY) && !speaks_of_memory(subject) {
            fixed.push("-XX:+ExitOnOutOfMemoryError".to_owned());
        }
        let env = likeness::variables(recording.start());
        self.plan_of(fixed, env, salt(recording))
    }

    fn plan_of(&self, options: Vec<String>, env: Vec<(String, String)>, salt: Option<i64>) -> Plan {
        let mut fixed: Vec<OsString> = options.into_iter().map(OsString::from).collect();
        fixed.extend([format!("-Xmx{}m", self.heap).into(), "-Xshare:auto".into()]);
        let capture = self.capture.as_ref().map(|capture| {
            let mut record = capture.options.clone();
            record.beside = true;
            record.weave.salt = salt;
            let options = AgentOptions {
                out: capture.out.clone(),
                mode: AgentMode::Record(record),
            };
            library(&capture.agent, &options)
        });
        // Whoever comes first sees the classes as they were, and is seen by those that follow.
        fixed.extend(capture);
        let (agent, last) = (self.agent.clone(), self.options.clone());
        let (seal, coverage) = (self.sandbox.is_some(), self.coverage);
        let worker = move |seat: &Seat<'_>| WorkerOptions {
            socket: seat.descriptor.unsigned_abs(),
            seal,
            coverage,
        };
        Plan {
            file: self.jdk.tool("java"),
            args: Box::new(move |seat| arguments(seat, &fixed, &last, &agent, worker(seat))),
            env: env
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            scratch: self.scratch.clone(),
            folder: WorkingFolder::Scratch,
            limits: self.limits(),
            sandbox: self.sandbox.clone().map(|sandbox| self.confines(sandbox)),
            output: self.output,
            patience: match self.limit {
                Some(_) => PATIENCE,
                None => Duration::MAX,
            },
            // A replay is one run; whoever sets a limit means all of it.
            intake: Duration::ZERO,
            interrupt: self.interrupt.clone(),
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

fn arguments(
    seat: &Seat<'_>,
    fixed: &[OsString],
    last: &[OsString],
    agent: &Path,
    options: WorkerOptions,
) -> Vec<OsString> {
    let options = AgentOptions {
        out: seat.scratch.display().to_string(),
        mode: AgentMode::Worker(options),
    };
    let mut arguments = jvm_options(seat.scratch);
    arguments.extend_from_slice(seat.workspace.jvm_options());
    arguments.extend_from_slice(fixed);
    arguments.extend_from_slice(last);
    arguments.extend([library(agent, &options), MAIN.into()]);
    arguments
}

/// The argument that puts an agent into a JVM.
fn library(agent: &Path, options: &AgentOptions) -> OsString {
    let mut argument = OsString::from("-agentpath:");
    argument.push(agent);
    argument.push(format!("={options}"));
    argument
}
