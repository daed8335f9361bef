//! `culprit debug`: from a command that fails to the smallest test that fails for the same reason.
//!
//! The command runs twice: once to see how it fails, nothing woven; once to record the code that
//! failed, as the rest of the program uses it. What follows needs the command no more.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use culprit_junit::Junit;
use culprit_jvm::{Jdk, Output, Sandbox, Surroundings};
use culprit_minimize::{
    Found, Means, Program, Script, Stage, Verified, choose, class_path, extract, junit_of,
    make_test,
};
use culprit_model::options::Mode as AgentMode;
use culprit_model::{AgentOptions, Failure, Pattern, Selection};
use culprit_reduce::Settings;
use culprit_replay::{Replayer, choose as choose_jdk};
use culprit_signature::{Signature, Thrown};
use culprit_trace::{Recording, RunFolder};
use culprit_wire::Mode;

use crate::agent;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::record::launch::Program as Launched;

/// Options of `culprit debug`.
#[derive(clap::Args, Debug)]
#[command(override_usage = "culprit debug [OPTIONS] -- CMD...", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Put the results into this new or empty folder
    #[arg(short, long, value_name = "DIR", default_value = "culprit-debug")]
    output: PathBuf,
    /// Run so many candidates at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Write tests for this version of JUnit [default: that of the class path, or 5]
    #[arg(long, value_name = "VERSION", value_enum)]
    junit: Option<JunitArg>,
    /// The command to run, as you would type it
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  culprit debug -- java -jar app.jar input.txt
  culprit debug -- mvn -q test -Dtest=CartTest
Exit codes:
  0    a test was written, and seen to fail for the same reason
  1    everything ran, and there is no such test
  2    the command line, or a place it names, cannot be used
  3    the command cannot be run";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum JunitArg {
    #[value(name = "4")]
    Four,
    #[value(name = "5")]
    Five,
}

/// Classes that no program has: nothing is woven.
const NOTHING: &str = "culprit.observes.nothing.here";

/// How often the command is recorded, each time with more classes.
const ATTEMPTS: usize = 4;

/// How long a candidate may take.
const LIMIT: Duration = Duration::from_secs(10);

/// One way in which the command fails.
struct Seen {
    signature: Signature,
    /// The recording that has it.
    recording: PathBuf,
}

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let began = Instant::now();
    let debug = Debug {
        args,
        library: agent::unpack(&agent::folders_of_process())?,
        launched: Launched::find(&args.command, std::env::var_os("PATH").as_deref())?,
        output: folder(&args.output)?,
    };
    writeln!(console.err(), "Running the command to see how it fails")?;
    let (witness, status) = debug.record("witness", nothing()?, false)?;
    let seen = failures(&witness)?;
    if seen.is_empty() {
        let message = match status {
            0 => "the command does not fail: it ended with 0 and threw nothing".to_owned(),
            status => format!("the command ended with {status}, and no exception left it"),
        };
        let hint = format!(
            "what it printed is in {}",
            witness.join("output.txt").display()
        );
        return Err(Expected::new(ExitCode::No, message).hint(hint).into());
    }
    let mut all = true;
    for (number, seen) in seen.iter().enumerate() {
        writeln!(console.err(), "  {}", seen.signature)?;
        let found = debug.one(number + 1, seen, console)?;
        let good = matches!(found.verified, Verified::Threw(_)) && found.grade.is_some();
        all &= good;
        debug.report(&found, console)?;
    }
    writeln!(
        console.err(),
        "Done after {:.1} s",
        began.elapsed().as_secs_f64()
    )?;
    Ok(match all {
        true => ExitCode::Answered,
        false => ExitCode::No,
    })
}

fn nothing() -> anyhow::Result<Selection> {
    Ok(Selection {
        observe: vec![NOTHING.parse()?],
        ..Selection::default()
    })
}

fn folder(wish: &Path) -> Result<PathBuf, Expected> {
    let unusable = |error: std::io::Error| {
        let message = format!("cannot write to {}: {error}", wish.display());
        Expected::new(ExitCode::Usage, message).hint("name another folder (-o)")
    };
    fs::create_dir_all(wish).map_err(unusable)?;
    let mut entries = fs::read_dir(wish).map_err(unusable)?;
    if entries.next().is_some() {
        let message = format!("{} is not empty", wish.display());
        return Err(Expected::new(ExitCode::Usage, message)
            .hint("name a new or empty folder with -o, so that nothing is overwritten"));
    }
    wish.canonicalize().map_err(unusable)
}

/// The failures of all JVMs of a run, each once.
fn failures(folder: &Path) -> anyhow::Result<Vec<Seen>> {
    let mut seen: Vec<Seen> = Vec::new();
    for path in RunFolder::open(folder)?.recordings {
        let recording = Recording::open(&path)?;
        for failure in recording.failures() {
            let Some(thrown) = Thrown::parse(&failure.stack) else {
                continue;
            };
            if seen.iter().any(|known| known.signature.is_same(&thrown)) {
                continue;
            }
            seen.push(Seen {
                signature: Signature::of(&thrown),
                recording: path.clone(),
            });
        }
    }
    Ok(seen)
}

struct Debug<'a> {
    args: &'a Args,
    library: PathBuf,
    launched: Launched,
    output: PathBuf,
}

impl Debug<'_> {
    /// Runs the command with an agent; the folder of the run, and the status.
    fn record(
        &self,
        name: &str,
        selection: Selection,
        contents: bool,
    ) -> anyhow::Result<(PathBuf, i32)> {
        let folder = self.output.join(name);
        fs::create_dir_all(&folder)?;
        let options = AgentOptions {
            out: folder.display().to_string(),
            mode: AgentMode::Record,
            selection,
            contents,
            ..AgentOptions::default()
        };
        let output = File::create(folder.join("output.txt"))?;
        let inherited = std::env::var_os("JAVA_TOOL_OPTIONS");
        let status =
            self.launched
                .run_into(&output, &self.library, &options, inherited.as_deref())?;
        Ok((folder, i32::from(status.shell_code())))
    }

    /// Makes a test of one failure.
    fn one(&self, number: usize, seen: &Seen, console: &mut Console) -> anyhow::Result<Found> {
        let witness = Recording::open(&seen.recording)?;
        let jdks = Jdk::all(&Surroundings::of_process());
        let jdk = choose_jdk(&witness, &jdks).ok_or_else(|| {
            Expected::new(
                ExitCode::Target,
                "no JDK of the version that the command runs on",
            )
        })?;
        let program = Program::open(&class_path(witness.start()), &jdk)?;
        let mut selection = choose(&seen.signature, &program, witness.start())?;
        let mut attempt = 1;
        let (recording, script) = loop {
            let patterns: Vec<String> = selection.observe.iter().map(ToString::to_string).collect();
            writeln!(console.err(), "Recording {}", patterns.join(", "))?;
            let name = format!("run-{number}-{attempt}");
            let (run, _) = self.record(&name, selection.clone(), true)?;
            let (recording, failure) = recorded(&run, &seen.signature)?;
            let script = extract(&recording, &failure)?;
            attempt += 1;
            if attempt > ATTEMPTS || !widen(&mut selection, &script) {
                break (recording, script);
            }
        };
        writeln!(console.err(), "Reducing")?;
        let scratch = tempfile::tempdir()?;
        let replayer = Replayer {
            jdk: jdk.clone(),
            agent: self.library.clone(),
            scratch: scratch.path().to_owned(),
            heap: 1024,
            mode: Mode::Plain,
            coverage: false,
            limit: Some(LIMIT),
            sandbox: Some(Sandbox::default()),
            options: Vec::new(),
            output: Output::Kept,
            interrupt: None,
            capture: None,
        };
        let paths = program.class_path().map(|path| path.display().to_string());
        let stage = Stage {
            pool: replayer.plain_pool(&recording, paths.collect(), self.args.jobs)?,
            limit: LIMIT,
        };
        let has = junit_of(&program);
        let junit = match self.args.junit {
            Some(JunitArg::Four) => Junit::Four,
            Some(JunitArg::Five) => Junit::Five,
            None => has.unwrap_or(Junit::Five),
        };
        let folder = self.output.join(format!("check-{number}"));
        fs::create_dir_all(&folder)?;
        let means = Means {
            program: &program,
            jdk: &jdk,
            stage: &stage,
            junit,
            has_junit: has == Some(junit),
            folder: &folder,
            settings: Settings {
                jobs: self.args.jobs,
                ..Settings::default()
            },
        };
        Ok(make_test(&script, &seen.signature, means)?)
    }

    fn report(&self, found: &Found, console: &mut Console) -> anyhow::Result<()> {
        let minimised = &found.minimised;
        writeln!(
            console.err(),
            "  {} calls, {} in the slice, {} left after {} runs",
            minimised.captured,
            minimised.sliced,
            minimised.script.statements.len(),
            minimised.tests
        )?;
        let tests = self.output.join("tests");
        fs::create_dir_all(&tests)?;
        let file = tests.join(format!("{}.java", found.test.class_name));
        fs::write(&file, &found.test.source)?;
        writeln!(console.out(), "{}", found.test.source)?;
        let verified = match (&found.verified, found.grade) {
            (Verified::Threw(_), Some(grade)) => format!("fails the same way ({grade:?})"),
            (Verified::Threw(trace), None) => format!("fails differently: {trace}"),
            (Verified::Passed, _) => "passes".to_owned(),
            (Verified::Rejected(why), _) => format!("does not compile: {why}"),
            (Verified::Broken(why), _) => format!("does not run: {why}"),
            (Verified::NoCompiler(path), _) => format!("no compiler: {}", path.display()),
        };
        writeln!(console.err(), "{}: {verified}", file.display())?;
        Ok(())
    }
}

/// Observes classes whose objects a script uses and does not make; whether there are such.
fn widen(selection: &mut Selection, script: &Script) -> bool {
    let before = selection.observe.len();
    for class in &script.missing {
        let pattern = class.replace('/', ".").parse::<Pattern>();
        let excluded = selection.exclude.iter().any(|known| known.matches(class));
        if let (Ok(pattern), false) = (pattern, excluded)
            && !selection.observe.contains(&pattern)
        {
            selection.observe.push(pattern);
        }
    }
    selection.observe.len() > before
}

/// The recording of a run that has a failure, and the failure.
fn recorded(folder: &Path, signature: &Signature) -> anyhow::Result<(Recording, Failure)> {
    for path in RunFolder::open(folder)?.recordings {
        let recording = Recording::open(&path)?;
        let same = recording.failures().iter().find(|failure| {
            let thrown = Thrown::parse(&failure.stack);
            thrown.is_some_and(|thrown| signature.is_same(&thrown))
        });
        if let Some(failure) = same.cloned() {
            return Ok((recording, failure));
        }
    }
    let message = "the command failed differently when it was recorded";
    Err(Expected::new(ExitCode::No, message)
        .hint("run it again; it may fail only sometimes")
        .into())
}
