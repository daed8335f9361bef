//! Worker JVMs: how every one of them is started, and those that run scripts on the program as it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_jvm::{
    Interrupt, Jdk, Limits, Output, Sandbox, WorkerPlan, WorkerPool, WorkerSlot, WorkingFolder,
    jvm_options,
};
use culprit_model::AgentOptions;
use culprit_model::options::{Mode, TraceOptions, WorkerOptions};
use culprit_trace::Recording;
use culprit_wire::Subject;

use crate::{CalledCode, Environment, Error, likeness, vet};

/// The main class of a worker; the agent brings it along.
const MAIN: &str = "culprit.runtime.Worker";

/// Memory of a worker besides its heap: that of the JVM itself, and that of the executor.
const BESIDES_HEAP: u64 = 2 << 30;

/// How a worker JVM is started, whatever it runs.
#[derive(Clone, Debug)]
pub struct WorkerJvm {
    pub jdk: Jdk,
    /// The library of the agent.
    pub agent: PathBuf,
    /// A folder for the folders of workers.
    pub scratch: PathBuf,
    /// Megabytes of the heap.
    pub heap: u64,
    /// The rights of a worker; `None` gives it those of the user.
    pub sandbox: Option<Sandbox>,
    /// The destination of what workers print.
    pub output: Output,
    pub interrupt: Option<Interrupt>,
}

impl WorkerJvm {
    /// How long a JVM may take until it is ready.
    pub const PATIENCE: Duration = Duration::from_secs(60);

    /// The limits of a worker.
    pub fn limits(&self) -> Limits {
        let heap = self.heap.saturating_mul(1 << 20);
        Limits {
            memory: Some(heap.saturating_add(BESIDES_HEAP)),
            ..Limits::default()
        }
    }

    /// The plan for workers that differ from all others in these extras.
    pub fn plan(&self, extras: Extras) -> WorkerPlan {
        let mut fixed = extras.first_options;
        fixed.extend([format!("-Xmx{}m", self.heap).into(), "-Xshare:auto".into()]);
        if extras.trace.is_some() {
            // The second compiler replaces methods of strings by instructions of the processor, which report nothing.
            fixed.push("-XX:TieredStopAtLevel=1".into());
        }
        fixed.extend(extras.last_options);
        let agent = self.agent.clone();
        let (seal, coverage) = (self.sandbox.is_some(), extras.coverage);
        let trace = extras.trace;
        let worker = move |slot: &WorkerSlot<'_>| WorkerOptions {
            socket: slot.descriptor.unsigned_abs(),
            seal,
            coverage,
            trace,
        };
        let env = extras.variables.into_iter();
        WorkerPlan {
            file: self.jdk.tool("java"),
            args: Box::new(move |slot| arguments(slot, &fixed, &agent, worker(slot))),
            env: env
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            scratch: self.scratch.clone(),
            folder: WorkingFolder::Scratch,
            limits: self.limits(),
            sandbox: self.sandbox.clone(),
            output: self.output,
            patience: WorkerJvm::PATIENCE,
            intake: WorkerJvm::PATIENCE,
            interrupt: self.interrupt.clone(),
        }
    }
}

/// What one kind of worker has besides what every worker has.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// Options of the JVM before those of every worker.
    pub first_options: Vec<OsString>,
    /// Options of the JVM after those of every worker.
    pub last_options: Vec<OsString>,
    /// The environment variables of the JVM.
    pub variables: Vec<(String, String)>,
    /// Whether the agent counts the lines that are run.
    pub coverage: bool,
    /// The instructions that are traced, if any are.
    pub trace: Option<TraceOptions>,
}

/// Workers for scripts: the calls go to the program as it is on a class path, and nothing is woven.
#[derive(Clone, Debug)]
pub struct PlainWorkers {
    pub jvm: WorkerJvm,
    /// Variables of the user, besides those that are the same for every run.
    pub environment: Environment,
    /// Options of the user's command that limit the memory which the failure exhausts, such as `-Xmx40m`.
    pub memory: Vec<String>,
}

impl PlainWorkers {
    /// Starts workers for the program of a recording. Apart from the variables of the user, they run in the
    /// same surroundings everywhere.
    pub fn pool(
        &self,
        recording: &Recording,
        class_path: Vec<String>,
        folder: WorkingFolder,
        size: usize,
    ) -> Result<WorkerPool, Error> {
        self.start(recording, class_path, folder, size, None)
    }

    /// Starts a worker that traces the instructions of what it runs.
    pub fn tracing_pool(
        &self,
        recording: &Recording,
        class_path: Vec<String>,
        folder: WorkingFolder,
        options: TraceOptions,
    ) -> Result<WorkerPool, Error> {
        self.start(recording, class_path, folder, 1, Some(options))
    }

    fn start(
        &self,
        recording: &Recording,
        class_path: Vec<String>,
        folder: WorkingFolder,
        size: usize,
        trace: Option<TraceOptions>,
    ) -> Result<WorkerPool, Error> {
        vet(recording, &self.jvm.jdk, CalledCode::Installed)?;
        let mut options = likeness::plain_options(recording.start());
        // Resources of a script are in the working folder.
        options.extend(["-cp", "."].map(str::to_owned));
        let mut plan = self.jvm.plan(Extras {
            first_options: options.into_iter().map(OsString::from).collect(),
            last_options: self.memory.iter().map(OsString::from).collect(),
            variables: likeness::plain_variables(),
            trace,
            ..Extras::default()
        });
        plan.folder = folder;
        plan.env.extend(self.environment.variables());
        let subject = Subject {
            class_path,
            ..Subject::default()
        };
        Ok(WorkerPool::new(plan, size, subject)?)
    }
}

fn arguments(
    slot: &WorkerSlot<'_>,
    fixed: &[OsString],
    agent: &Path,
    options: WorkerOptions,
) -> Vec<OsString> {
    let options = AgentOptions {
        out: slot.scratch.display().to_string(),
        mode: Mode::Worker(options),
    };
    let mut arguments = jvm_options(slot.scratch);
    arguments.extend_from_slice(slot.workspace.jvm_options());
    arguments.extend_from_slice(fixed);
    arguments.extend([agent_argument(agent, &options), MAIN.into()]);
    arguments
}

/// The argument that puts an agent into a JVM.
pub fn agent_argument(agent: &Path, options: &AgentOptions) -> OsString {
    let mut argument = OsString::from("-agentpath:");
    argument.push(agent);
    argument.push(format!("={options}"));
    argument
}
