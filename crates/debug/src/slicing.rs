//! A failing script is traced, for its dynamic slices: that of a test in a result folder, or that of a recording.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use culprit_jvm::{Deadline, Interrupt, Jdk, Sandbox, Scratch, Template, WorkingFolder};
use culprit_model::Script;
use culprit_pinpoint::{Error as TraceError, ScriptToTrace, TraceLimits, TracedRun};
use culprit_program::{Environment, Program, working_folder};
use culprit_signature::Thrown;
use culprit_trace::Recording;

use crate::reducer::{WorkerSettings, plain_workers};
use crate::{FilesFound, KeptFolder};

/// How scripts are traced.
pub struct Tracer {
    /// The library of the agent.
    pub agent: PathBuf,
    pub sandbox: Option<Sandbox>,
    /// Variables of the user, if the program is the user's own.
    pub environment: Environment,
    pub interrupt: Interrupt,
    pub limits: TraceLimits,
}

/// A script that failed, and the program that it calls.
pub struct FailedScript<'a> {
    pub script: &'a Script,
    pub recording: &'a Recording,
    pub program: &'a Program,
    pub jdk: &'a Jdk,
    /// The class of the exception that ended it.
    pub thrown: &'a str,
    /// The working folders to try, in this order.
    pub folders: Vec<WorkingFolder>,
}

impl Tracer {
    /// Traces a script in the first working folder in which it ends with the same exception as before.
    pub fn trace(&self, failed: &FailedScript<'_>) -> Result<TracedRun, TraceError> {
        let paths = failed.program.class_path();
        let class_path: Vec<String> = paths.map(|path| path.display().to_string()).collect();
        let deadline = Deadline::after(self.limits.time).unless(&self.interrupt);
        let mut otherwise = None;
        for folder in &failed.folders {
            let scratch = Scratch::new("slice")?;
            let settings = WorkerSettings {
                agent: &self.agent,
                sandbox: self.sandbox.as_ref(),
                environment: &self.environment,
                interrupt: &self.interrupt,
            };
            let workers = plain_workers(
                settings,
                failed.jdk,
                failed.recording,
                failed.thrown,
                scratch.path(),
            );
            let to_trace = ScriptToTrace {
                script: failed.script,
                recording: failed.recording,
                workers: &workers,
                class_path: &class_path,
                folder: folder.clone(),
                limits: self.limits,
                deadline: &deadline,
            };
            let run = to_trace.trace()?;
            let thrown = run.threw().and_then(Thrown::parse);
            let mut chain = thrown.iter().flat_map(|thrown| thrown.chain());
            if chain.any(|thrown| thrown.class == failed.thrown) {
                return Ok(run);
            }
            otherwise.get_or_insert_with(|| ended(&run));
        }
        let otherwise = otherwise.unwrap_or_else(|| "it was not run".to_owned());
        Err(TraceError::OtherFailure(otherwise))
    }
}

/// The end of a run in words.
fn ended(run: &TracedRun) -> String {
    match run.threw() {
        Some(trace) => trace.lines().next().unwrap_or_default().to_owned(),
        None => "nothing is thrown".to_owned(),
    }
}

/// The working folders for the script of a recording at `path`, in the order in which they are tried.
pub fn folders_of(recording: &Recording, path: &Path) -> Vec<WorkingFolder> {
    let started = Duration::from_millis(recording.start().started_ms);
    let files = FilesFound::since(UNIX_EPOCH + started, path);
    files.working_folders(working_folder(recording.start()).as_deref())
}

/// The working folder of a test in a result folder, as far as it is still there.
pub fn folder_of_test(kept: KeptFolder, recording: &Recording, results: &Path) -> WorkingFolder {
    let folders = || folders_of(recording, results).into_iter();
    let found = match kept {
        KeptFolder::Empty => None,
        KeptFolder::Resources => {
            let resources = Template::whole(&results.join("resources")).ok();
            resources.map(|it| WorkingFolder::Copy(Arc::new(it)))
        }
        KeptFolder::Copy => folders().find(|it| matches!(it, WorkingFolder::Copy(_))),
        KeptFolder::Given => folders().find(|it| matches!(it, WorkingFolder::Given(_))),
    };
    found.unwrap_or(WorkingFolder::Empty)
}
