//! `culprit replay`: run recordings again, each in a JVM of its own, and report whether the observed
//! code does the same.
//!
//! `Args` is what was typed, `Plan` what it means. `culprit_replay` replays, `culprit_report` renders the
//! results: one recording is explained, several are a table.

mod ask;
mod junit;
mod result;
mod stage;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use culprit_jvm::{Interrupt, Jdk, JdkLocations, Output, Sandbox, Scratch};
use culprit_model::options::RecordOptions;
use culprit_replay::{Capture, Finding};
use culprit_report::replay::{Case, Verdict, document, print_coverage, total_coverage};
use culprit_trace::RunFolder;
use culprit_wire::Mode;

use crate::agent;
use crate::confinement;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::quantity;
use crate::show;
use stage::Stage;

/// Options of `culprit replay`.
#[derive(clap::Args, Debug)]
#[command(
    override_usage = "culprit replay [OPTIONS] PATH... [-- JVM-OPTIONS]",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// Recordings, or folders of runs (all recordings in them)
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// Replay with the observed classes from this jar, folder or class path, such as a fixed version
    #[arg(long, value_name = "CP")]
    against: Option<OsString>,

    /// Do this where the replay differs from the recording
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    on_divergence: OnDivergence,

    /// Stop the replay of a recording after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = quantity::count, help_heading = LIMITS)]
    time_limit: u64,
    /// Limit the Java heap of the replaying JVM to this many megabytes
    #[arg(long, value_name = "MB", default_value = "1024", value_parser = quantity::count, help_heading = LIMITS)]
    memory: u64,
    /// Replay without the sandbox, so that the code can write files and use the network
    #[arg(long, help_heading = LIMITS)]
    no_sandbox: bool,
    /// Let the JVM write to this folder, for agents in JVM-OPTIONS; can be repeated
    #[arg(long, value_name = "DIR", help_heading = LIMITS, conflicts_with = "no_sandbox")]
    allow_write: Vec<PathBuf>,

    /// Replay with this JDK instead of one of the recorded version
    #[arg(long, value_name = "DIR", help_heading = JVM)]
    java: Option<PathBuf>,
    /// Wait for a debugger on this port of localhost, without a time limit
    #[arg(long, value_name = "PORT", help_heading = JVM, value_parser = clap::value_parser!(u16).range(1..))]
    debug: Option<u16>,

    /// Also report which lines of the observed classes ran
    #[arg(long, help_heading = RESULTS)]
    coverage: bool,
    /// Print the results as one JSON document
    #[arg(long, help_heading = RESULTS)]
    json: bool,
    /// Also write the results to this file as JUnit XML
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    junit: Option<PathBuf>,

    /// Options for the replaying JVM, such as -Xlog:gc or -agentlib:NAME
    #[arg(last = true, value_name = "JVM-OPTIONS")]
    jvm_options: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum OnDivergence {
    /// Explain the first difference and stop
    #[default]
    Stop,
    /// Continue with the next recorded event that matches, and list all differences
    Skip,
    /// Like skip, but show one difference at a time and ask whether to continue
    Ask,
}

/// The limits of a replay that nobody set any for.
const LIMIT: Duration = Duration::from_secs(600);
const HEAP: u64 = 1024;

const LIMITS: &str = "Limits and sandbox";
const JVM: &str = "JVM";
const RESULTS: &str = "Output";

const EXAMPLES: &str = "\
Examples:
  culprit replay culprit-runs/2026-03-09-1
  culprit replay culprit-runs/2026-03-09-1 --against build/classes
  culprit replay RUN/jvm-4711.culprit --debug 5005
  culprit replay culprit-runs/* --junit replay.xml --coverage

Exit codes:
  0    in sync: every replay does what was recorded
  1    out of sync, or the recording contains something not supported
  2    wrong command line, or a file or folder on it cannot be used
  3    a JVM did not start, crashed, or exceeded a limit of time or memory
  4    a recording cannot be read or replayed, or there was nothing to replay
  70   a bug in Culprit
  130  interrupted";

/// What the command needs from the process it runs in.
pub(crate) struct Around {
    jdks: JdkLocations,
    agent_folders: Vec<PathBuf>,
}

impl Around {
    pub(crate) fn of_process() -> Around {
        Around {
            jdks: JdkLocations::of_process(),
            agent_folders: agent::folders_of_process(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Text,
    Json,
}

/// What the arguments mean.
struct Plan {
    recordings: Vec<PathBuf>,
    /// How results are printed.
    form: Form,
    jdks: Jdks,
    sandbox: Option<Sandbox>,
    limit: Option<Duration>,
    heap: u64,
    options: Vec<OsString>,
    output: Output,
    /// Where the observed classes are, if not in the recordings.
    against: Option<OsString>,
    mode: Mode,
    /// Differences are shown one by one.
    asks: bool,
    /// Lines are counted.
    coverage: bool,
    /// What to record of the replay.
    capture: Option<Capture>,
}

/// Which JDKs may be used.
enum Jdks {
    /// The one that was named.
    Named(Jdk),
    Found(Vec<Jdk>),
}

impl Args {
    fn plan(&self, around: &Around, sandbox: Option<Sandbox>) -> Result<Plan, Expected> {
        let mut recordings = Vec::new();
        for path in &self.paths {
            match path.is_dir() {
                true => {
                    let folder = RunFolder::open(path)
                        .map_err(|error| show::expected_run("replay", &error))?;
                    recordings.extend(folder.recordings);
                }
                false => recordings.push(path.clone()),
            }
        }
        let mut options = self.jvm_options.clone();
        if let Some(port) = self.debug {
            if recordings.len() > 1 {
                let message = format!("--debug takes one recording, not {}", recordings.len());
                return Err(Expected::new(ExitCode::Usage, message).hint("name one of them"));
            }
            options.push(
                format!(
                    "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:{port}"
                )
                .into(),
            );
        }
        if self.on_divergence == OnDivergence::Ask && (recordings.len() > 1 || self.json) {
            let message = "--on-divergence ask takes one recording, and no --json";
            return Err(Expected::new(ExitCode::Usage, message).hint("use --on-divergence skip"));
        }
        Ok(Plan {
            recordings,
            form: match self.json {
                true => Form::Json,
                false => Form::Text,
            },
            jdks: self.jdks(around)?,
            sandbox,
            limit: match self.debug {
                Some(_) => None,
                None => Some(Duration::from_secs(self.time_limit)),
            },
            heap: self.memory,
            // Who asks a JVM for something wants to see what it says.
            output: match options.is_empty() {
                true => Output::Kept,
                false => Output::Shared,
            },
            options,
            against: self.against.clone(),
            mode: match self.on_divergence {
                OnDivergence::Stop => Mode::Strict,
                OnDivergence::Skip | OnDivergence::Ask => Mode::Skip,
            },
            asks: self.on_divergence == OnDivergence::Ask,
            coverage: self.coverage,
            capture: None,
        })
    }

    fn jdks(&self, around: &Around) -> Result<Jdks, Expected> {
        match &self.java {
            Some(home) => Ok(Jdks::Named(Jdk::at(home).map_err(no_jdk)?)),
            None => found(around),
        }
    }

    fn sandbox(&self, console: &mut Console) -> anyhow::Result<Option<Sandbox>> {
        let Some(mut sandbox) = confinement::sandbox(self.no_sandbox, console)? else {
            return Ok(None);
        };
        for folder in &self.allow_write {
            sandbox = sandbox.allow_write(confinement::folder(folder)?);
        }
        if let Some(port) = self.debug {
            sandbox = sandbox.allow_listen(port);
        }
        Ok(Some(sandbox))
    }
}

/// All JDKs of this machine.
fn found(around: &Around) -> Result<Jdks, Expected> {
    let found = Jdk::all(&around.jdks);
    match found.is_empty() {
        true => Err(no_jdk(culprit_jvm::JdkError::NotFound)),
        false => Ok(Jdks::Found(found)),
    }
}

fn no_jdk(error: culprit_jvm::JdkError) -> Expected {
    Expected::new(ExitCode::Target, error.to_string()).hint(error.next_step())
}

/// Replays what was asked for.
pub(crate) fn run(args: &Args, around: &Around, console: &mut Console) -> anyhow::Result<ExitCode> {
    let plan = args.plan(around, args.sandbox(console)?)?;
    let unwritable = |file: &Path, error: io::Error| {
        let message = format!("cannot write {}: {error}", file.display());
        Expected::new(ExitCode::Usage, message).hint("name another file (--junit)")
    };
    if let Some(file) = &args.junit {
        junit::try_out(file).map_err(|error| unwritable(file, error))?;
    }
    let library = agent::unpack(&around.agent_folders)?;
    let scratch = scratch()?;
    let stage = Stage {
        plan: &plan,
        library: &library,
        scratch: scratch.path(),
        interrupt: Interrupt::by_signals()?,
    };
    if let Some(port) = args.debug {
        writeln!(
            console.err(),
            "culprit: waiting for a debugger on 127.0.0.1:{port}"
        )?;
    }
    let ended = stage.replay_all(console)?;
    if let Some(file) = &args.junit {
        junit::write(file, &ended.cases).map_err(|error| unwritable(file, error))?;
    }
    match (plan.form, total_coverage(&ended.cases)) {
        (Form::Json, _) => write!(console.out(), "{}", document(&ended.cases).json())?,
        (Form::Text, Some(all)) => print_coverage(&all, console.styles(), console.out())?,
        (Form::Text, None) => {}
    }
    if ended.interrupted {
        let rest = plan.recordings.len() - ended.cases.len();
        writeln!(console.err(), "culprit: interrupted, with {rest} to go")?;
        return Ok(ExitCode::Interrupted);
    }
    if !ended.cases.iter().any(Case::is_of_interest) {
        let message = "nothing was replayed: none of the recordings has events";
        return Err(Expected::new(ExitCode::Recording, message)
            .hint(Finding::NothingObserved.next_step())
            .into());
    }
    Ok(result::exit_code_of_all(&ended.cases))
}

/// Replays a recording and has what that runs recorded: how it went.
pub(crate) fn capture(
    path: &Path,
    out: String,
    options: RecordOptions,
    sandbox: Option<Sandbox>,
    console: &mut Console,
) -> anyhow::Result<ExitCode> {
    let around = Around::of_process();
    let plan = Plan {
        recordings: vec![path.to_owned()],
        form: Form::Text,
        jdks: found(&around)?,
        sandbox,
        limit: Some(LIMIT),
        heap: HEAP,
        options: Vec::new(),
        output: Output::Kept,
        against: None,
        mode: Mode::Strict,
        asks: false,
        coverage: false,
        capture: Some(Capture {
            agent: agent::unpack_twin(&around.agent_folders)?,
            out,
            options,
        }),
    };
    let library = agent::unpack(&around.agent_folders)?;
    let scratch = scratch()?;
    let stage = Stage {
        plan: &plan,
        library: &library,
        scratch: scratch.path(),
        interrupt: Interrupt::by_signals()?,
    };
    match stage.case(path, console)? {
        Some(case) if !stage.interrupt.is_wanted() => {
            if !matches!(case.verdict, Verdict::InSync { .. }) {
                result::print(&case, console)?;
            }
            Ok(result::exit_code(&case.verdict))
        }
        _ => Ok(ExitCode::Interrupted),
    }
}

fn scratch() -> Result<Scratch, Expected> {
    Scratch::new("replay").map_err(|error| {
        Expected::new(ExitCode::Usage, error.to_string())
            .hint("set TMPDIR to a folder that you can write to")
    })
}
