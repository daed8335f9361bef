//! A worker that traces what it runs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use culprit_jvm::{Deadline, Jdk, JdkLocations, Job, JobResult, Output, WorkerPool};
use culprit_model::options::{TraceOptions, TraceScope};
use culprit_model::{Outcome, Script};
use culprit_program::{Extras, WorkerJvm};
use culprit_trace::instructions::{INSTRUCTIONS_EXTENSION, InstructionTrace};
use culprit_wire::{FreshState, LineCheck, Mode, Subject};
use tempfile::TempDir;

const LIMIT: Duration = Duration::from_secs(120);

/// The programs, compiled, and the JDK that runs them.
struct Stage {
    jdk: Jdk,
    classes: TempDir,
}

fn stage() -> &'static Stage {
    static STAGE: OnceLock<Stage> = OnceLock::new();
    STAGE.get_or_init(|| {
        let jdks = Jdk::all(&JdkLocations::of_process());
        let mut jdks = jdks.into_iter().filter(|jdk| jdk.tool("javac").exists());
        let jdk = jdks.next().expect("a JDK to test with");
        eprintln!("traced on JDK {}", jdk.version.feature);
        let classes = tempfile::tempdir().unwrap();
        let sources = fs::read_dir(fixtures()).unwrap();
        let sources: Vec<PathBuf> = sources.map(|it| it.unwrap().path()).collect();
        compile_with(&jdk, &sources, classes.path());
        Stage { jdk, classes }
    })
}

/// Compiles source files into a folder.
pub(crate) fn compile(sources: &[PathBuf], classes: &Path) {
    compile_with(&stage().jdk, sources, classes);
}

fn compile_with(jdk: &Jdk, sources: &[PathBuf], classes: &Path) {
    let mut javac = tool(jdk, "javac");
    javac
        .args(["-g", "-nowarn", "-d"])
        .arg(classes)
        .args(sources);
    run(javac);
}

/// The output of a main class.
pub(crate) fn run_main(classes: &Path, class: &str) -> String {
    let mut java = tool(&stage().jdk, "java");
    java.arg("-cp").arg(classes).arg(class);
    String::from_utf8(run(java).stdout).unwrap()
}

#[expect(
    clippy::disallowed_methods,
    reason = "compilers, and generated programs, which only compute"
)]
fn tool(jdk: &Jdk, name: &str) -> Command {
    Command::new(jdk.tool(name))
}

/// Runs a command beside tests that reap what their workers leave behind.
fn run(mut command: Command) -> process::Output {
    let streams = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = culprit_jvm::start(streams).unwrap();
    let pid = child.id();
    let output = child.wait_with_output().unwrap();
    culprit_jvm::forget(pid);
    assert!(output.status.success(), "{output:?}");
    output
}

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/slice")
}

/// Traces the program and the JDK, with so many bytes of events.
pub(crate) fn whole(bytes: u64) -> TraceOptions {
    let scope = TraceScope::Whole;
    TraceOptions { bytes, scope }
}

/// A worker that traces what it runs.
pub(crate) struct Tracer {
    pool: WorkerPool,
    scratch: TempDir,
    turn: Mutex<()>,
}

impl Tracer {
    /// A tracer of the programs in `fixtures/slice`.
    pub(crate) fn start(options: &[&str], trace: TraceOptions) -> Tracer {
        Tracer::start_with(stage().classes.path(), options, trace)
    }

    /// A tracer of programs in a folder of classes.
    pub(crate) fn start_with(classes: &Path, options: &[&str], trace: TraceOptions) -> Tracer {
        let scratch = tempfile::tempdir().unwrap();
        let jvm = WorkerJvm {
            jdk: stage().jdk.clone(),
            agent: PathBuf::from(env!("CULPRIT_AGENT_FILE")),
            scratch: scratch.path().to_owned(),
            heap: 256,
            sandbox: None,
            output: Output::Kept,
            interrupt: None,
        };
        let plan = jvm.plan(Extras {
            last_options: options.iter().map(OsString::from).collect(),
            trace: Some(trace),
            ..Extras::default()
        });
        let subject = Subject {
            class_path: vec![classes.display().to_string()],
            ..Subject::default()
        };
        let pool = WorkerPool::new(plan, 1, subject).unwrap();
        let turn = Mutex::default();
        Tracer {
            pool,
            scratch,
            turn,
        }
    }

    /// Runs a script; its end, and its trace.
    pub(crate) fn trace(&self, script: &Script) -> (Outcome, InstructionTrace) {
        // Tests share a tracer, and each reads the newest trace.
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let statements: Vec<_> = script.statements.iter().collect();
        let answer = self.pool.run(&Job {
            mode: Mode::Plain,
            fresh: FreshState::NewLoader,
            multi_threaded: false,
            lines: LineCheck::Ignore,
            tables: Arc::clone(&script.tables),
            source: &statements,
            limit: LIMIT,
            deadline: Deadline::never(),
        });
        let outcome = match answer.unwrap() {
            JobResult::Ran { outcome, .. } => outcome,
            JobResult::Unresolved(why) => panic!("{why} {:?}", why.output()),
        };
        let file = newest_trace(self.scratch.path()).expect("a trace");
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(file).unwrap();
        if let Some(kept) = std::env::var_os("CULPRIT_TEST_KEEP_TRACE") {
            fs::write(kept, &bytes).unwrap();
        }
        (outcome, InstructionTrace::read(&bytes).unwrap())
    }
}

/// The last trace in a folder or in those within.
fn newest_trace(folder: &Path) -> Option<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|it| it.unwrap()) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry
                .path()
                .extension()
                .is_some_and(|it| it == INSTRUCTIONS_EXTENSION)
            {
                found.push((entry.metadata().unwrap().modified().unwrap(), entry.path()));
            }
        }
    }
    found.into_iter().max().map(|(_, path)| path)
}
