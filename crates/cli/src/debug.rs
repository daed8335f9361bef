//! `culprit debug`: from a command that fails to the smallest test that fails for the same reason.
//!
//! The command runs at least three times: twice or more unchanged, to see how it fails; then with its
//! driver followed. If the script of the driver does not fail in the same way, the command runs again
//! and the code that failed is recorded. The reduction does not need the command.

mod condition;
mod follow;
mod witness;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use culprit_jvm::{Interrupt, Jdk, PoolError, Sandbox, untrusted};
use culprit_minimize::{Found, Script, full_name};
use culprit_model::options::{Mode as AgentMode, RecordOptions, WeaveOptions};
use culprit_model::{AgentOptions, Failure, Pattern, Selection, clean, shell};
use culprit_program::{Environment, Program, class_path};
use culprit_scripts::{Condition, Extracted, driver_methods, extract, select};
use culprit_signature::{Signature, Thrown};
use culprit_trace::{Error as TraceError, Recording, RunFolder};

use crate::agent;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::origin;
use crate::progress::Progress;
use crate::record::launch::Program as Launched;
use crate::reduction::{
    Allowance, Case, FilesFound, Level, Results, Wishes, explained, interrupted, jdk_of,
};
pub(crate) use witness::Rate;
use witness::{Seen, Witnesses};

/// Options of `culprit debug`.
#[derive(clap::Args, Debug)]
#[command(override_usage = "culprit debug [OPTIONS] -- CMD...", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Write the results to this folder, which must be new or empty
    #[arg(short, long, value_name = "DIR", default_value = "culprit-debug")]
    output: PathBuf,
    /// Reduce this failure, for a program that neither throws nor fails a test: 'output contains
    /// TEXT', 'output matches REGEX', 'exit N', 'CLASS.METHOD returns VALUE', or 'CLASS NAME ->
    /// EXPRESSION' (a Java expression on an object)
    #[arg(long, value_name = "CONDITION", value_parser = condition::parse)]
    fails_if: Option<Condition>,
    #[command(flatten)]
    wishes: Wishes,
    /// The command to run, as you would type it
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  culprit debug -- java -jar app.jar input.txt
  culprit debug -- java -cp build:junit.jar org.junit.runner.JUnitCore CartTest
  culprit debug -- mvn -q test -Dtest=CartTest
  culprit debug --fails-if 'output contains total: -5' -- java -jar app.jar
  culprit debug --fails-if 'Cart c -> c.total() < 0' -- java -jar app.jar
The command runs at least three times, without standard input. Its output is
kept in the result folder. Name failing tests (-Dtest=...), or all of them run.

Exit codes:
  0    each failure has a test that was compiled and run, and fails like it
  1    the command does not fail, or some failure has no such test
  2    wrong command line, or a file or folder on it cannot be used
  3    the command cannot be run, starts no JVM, or there is no sandbox
  130  interrupted; the smallest test found so far was written, if any";

/// Bytes that are read of what an agent says.
const MOST_SAID: u64 = 64 << 10;

/// How often the command is recorded, each time with more classes.
const ATTEMPTS: usize = 4;

/// How often it is run to see how it fails, where the first two runs disagree.
const WITNESSES: usize = 3;

/// How often it is recorded until it fails, where it does not always.
const PATIENCE: usize = 5;

/// A command being debugged.
struct Session<'a> {
    args: &'a Args,
    /// The files that the command finds.
    found: FilesFound,
    /// For everything but the command.
    sandbox: Option<Sandbox>,
    library: PathBuf,
    launched: Launched,
    /// What the command has of the environment, for candidates and tests.
    environment: Environment,
    folder: PathBuf,
    /// What drivers did, by their names.
    followed: RefCell<HashMap<Vec<String>, Vec<Script>>>,
    journals: PathBuf,
    interrupt: Interrupt,
    /// The time for the failure that is looked at.
    allowance: RefCell<Allowance>,
    /// Names of the tests so far.
    taken: RefCell<Vec<String>>,
    /// Methods of drivers on the stacks of failures, where all are known.
    tests: RefCell<Vec<String>>,
}

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    // Whatever can be refused is refused before anything is written.
    let sandbox = args.wishes.sandbox(console)?;
    let launched = Launched::find(&args.command, std::env::var_os("PATH").as_deref())?;
    let mut results = Results::in_folder(&args.output)?;
    let session = Session {
        args,
        found: FilesFound::now(&std::env::current_dir()?, now()),
        sandbox,
        library: agent::unpack(&agent::folders_of_process())?,
        launched,
        environment: Environment::of(std::env::vars_os()),
        folder: results.folder().to_owned(),
        followed: RefCell::default(),
        journals: results.journals(),
        interrupt: Interrupt::by_signals()?,
        allowance: RefCell::new(args.wishes.allowance()),
        taken: RefCell::default(),
        tests: RefCell::default(),
    };
    let all = match &args.fails_if {
        Some(condition) => session.look_for(condition, &mut results, console),
        None => session.reduce_all(&mut results, console),
    };
    let all = all.inspect_err(|error| results.discard_if_full(error))?;
    let wishes = match &args.fails_if {
        Some(condition) => {
            let words = ["--fails-if".to_owned(), condition.to_string()];
            format!(" {}{}", shell::line(words), args.wishes.typed())
        }
        None => args.wishes.typed(),
    };
    let words: Vec<&OsStr> = [OsStr::new("--")]
        .into_iter()
        .chain(args.command.iter().map(AsRef::as_ref))
        .collect();
    let finished = results.finish(&format!("culprit debug{wishes}"), &words);
    let finished = finished.map_err(anyhow::Error::from);
    finished.inspect_err(|error| results.discard_if_full(error))?;
    Ok(match all {
        _ if session.interrupt.is_wanted() => ExitCode::Interrupted,
        true => ExitCode::Answered,
        false => ExitCode::No,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "files that the command makes are told by their age from those that it finds"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

fn not_failing(status: u8, witness: &Path) -> Expected {
    let message = match status {
        0 => "the command does not fail: it ended with 0 and threw nothing".to_owned(),
        _ => format!("the command ended with {status}, but no exception left a thread or a test"),
    };
    let printed = format!("it printed {}", clean::path(&witness.join("output.txt")));
    Expected::new(ExitCode::No, message).hint(match status {
        0 => format!("{printed}; it gets no standard input"),
        _ => format!("to debug the status: --fails-if 'exit {status}'; {printed}"),
    })
}

/// That there is nothing to see, and why: an agent that gave up has said so.
fn no_jvm(witness: &Path) -> io::Result<Expected> {
    for entry in fs::read_dir(witness)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "log") {
            let said = untrusted::read_text(&path, MOST_SAID)?;
            let message = format!("no JVM of the command can be recorded: {}", said.trim());
            return Ok(Expected::new(ExitCode::Target, message)
                .hint("run the command with a JDK 11 or newer (JAVA_HOME, PATH)"));
        }
    }
    let message = "the command started no JVM that could be recorded";
    Ok(Expected::new(ExitCode::Target, message).hint(format!(
        "it may hand its work to a daemon (add --no-daemon), or clear JAVA_TOOL_OPTIONS;\n  \
         it printed {}",
        clean::path(&witness.join("output.txt"))
    )))
}

/// Methods of the drivers that led to failures. None where one is not known.
fn tests_of(witnesses: &Witnesses) -> anyhow::Result<Vec<String>> {
    let mut found = BTreeSet::new();
    for seen in witnesses.most_frequent() {
        let witness = Recording::open(&seen.recording)?;
        let names = driver_methods(&seen.failed(&witness));
        if names.is_empty() {
            return Ok(Vec::new());
        }
        found.extend(names);
    }
    Ok(found.into_iter().collect())
}

fn never_the_same(witnesses: &Witnesses) -> Expected {
    let seen = witnesses
        .most_frequent()
        .map(|seen| seen.signature.to_string());
    let seen: Vec<String> = seen.collect();
    let message = format!(
        "the command fails differently on each run: {}",
        seen.join("; ")
    );
    Expected::new(ExitCode::No, message)
        .hint("remove what differs between runs: random seeds, clocks, threads, files that a run leaves behind")
}

impl Session<'_> {
    /// Makes a test of each failure; whether all have one.
    fn reduce_all(&self, results: &mut Results, console: &mut Console) -> anyhow::Result<bool> {
        let witnesses = self.witness(console)?;
        *self.tests.borrow_mut() = tests_of(&witnesses)?;
        let mut all = true;
        for (number, seen) in witnesses.most_frequent().enumerate() {
            let rate = witnesses.rate(seen);
            if self.interrupt.is_wanted() {
                results.miss(&seen.signature, Some(rate), &interrupted().into());
                continue;
            }
            let began = Instant::now();
            self.allowance.replace(self.args.wishes.allowance());
            writeln!(console.err(), "{}", seen.signature)?;
            writeln!(console.err(), "  {rate}")?;
            match self.reduce(number + 1, seen, rate, console) {
                Ok(found) => {
                    let context = (&seen.signature, Some(rate), Level::Outermost);
                    all &= results.add(context, &found, began, console)?;
                    self.taken.borrow_mut().push(full_name(&found.test));
                    let began = Instant::now();
                    let inner = self.follow_inwards(number + 1, seen, console)?;
                    // What is no smaller tells nothing new, nor does what takes far more to set up.
                    if let Some((class, inner)) = inner
                        && let calls = inner.minimised.calls_of(&class)
                        && calls < found.left()
                        && inner.left() <= 2 * found.left()
                    {
                        let level = Level::Innermost { class, calls };
                        let context = (&seen.signature, Some(rate), level);
                        results.add(context, &inner, began, console)?;
                        self.taken.borrow_mut().push(full_name(&inner.test));
                    }
                }
                Err(error) if error.is::<Expected>() => {
                    all = false;
                    results.miss(&seen.signature, Some(rate), &error);
                    crate::report(&error, console);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    /// Runs the command until it is known how it fails.
    fn witness(&self, console: &mut Console) -> anyhow::Result<Witnesses> {
        writeln!(console.err(), "Running the command to see how it fails")?;
        let (first, status) = self.watch("witness", console)?;
        if matches!(
            RunFolder::open(&first),
            Err(TraceError::NoRecordings { .. })
        ) {
            return Err(no_jvm(&first)?.into());
        }
        let mut witnesses = Witnesses::default();
        witnesses.add(&first)?;
        if witnesses.is_empty() {
            return Err(not_failing(status, &first).into());
        }
        for number in 2..=WITNESSES {
            let name = format!("witness-{number}");
            let (folder, _) = self.watch(&name, console)?;
            witnesses.add(&folder)?;
            if witnesses.agree() {
                return Ok(witnesses);
            }
        }
        if witnesses.have_nothing_in_common() {
            return Err(never_the_same(&witnesses).into());
        }
        writeln!(
            console.err(),
            "The runs end differently; the most frequent failures are reduced"
        )?;
        for seen in witnesses.others() {
            let rate = witnesses.rate(seen);
            writeln!(console.err(), "  left out: {}, {rate}", seen.signature)?;
        }
        Ok(witnesses)
    }

    /// Runs the command as it is, to see how it ends; the folder of the run, and the status.
    fn watch(&self, name: &str, console: &mut Console) -> anyhow::Result<(PathBuf, u8)> {
        self.run_with(name, AgentMode::Witness, console)
    }

    /// Runs the command and records it.
    fn record(
        &self,
        name: &str,
        selection: Selection,
        console: &mut Console,
    ) -> anyhow::Result<(PathBuf, u8)> {
        let record = RecordOptions {
            weave: WeaveOptions {
                selection,
                ..WeaveOptions::default()
            },
            contents: true,
            ..RecordOptions::default()
        };
        self.run_with(name, AgentMode::Record(record), console)
    }

    fn run_with(
        &self,
        name: &str,
        mode: AgentMode,
        console: &mut Console,
    ) -> anyhow::Result<(PathBuf, u8)> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        let options = AgentOptions {
            out: folder.display().to_string(),
            mode,
        };
        // It may print secrets.
        let mut private = File::options();
        let private = private.write(true).create(true).truncate(true).mode(0o600);
        let output = private.open(folder.join("output.txt"))?;
        let inherited = std::env::var_os("JAVA_TOOL_OPTIONS");
        let launched = &self.launched;
        let doing = match options.mode {
            AgentMode::Follow(_) => "following",
            AgentMode::Record(_) => "recording",
            _ => "running the command",
        };
        let progress = Progress::begin(console, doing);
        let status = launched.run_into(&output, &self.library, &options, inherited.as_deref())?;
        drop(progress);
        if let Ok(run) = RunFolder::open(&folder) {
            // Without it, `culprit minimize` asks for the class path of what this command left.
            let _ = origin::note(&run.recordings, &agent::folders_of_process());
        }
        if self.interrupt.is_wanted() {
            return Err(interrupted().into());
        }
        Ok((folder, status.shell_code()))
    }

    /// Records the command until it fails in a way, which it need not do each time.
    fn record_failing(
        &self,
        name: &str,
        selection: &Selection,
        (signature, rate): (&Signature, Rate),
        console: &mut Console,
    ) -> anyhow::Result<(Recording, Failure)> {
        let mut attempt = 1;
        loop {
            let name = match attempt {
                1 => name.to_owned(),
                _ => format!("{name}-{attempt}"),
            };
            let (run, _) = self.record(&name, selection.clone(), console)?;
            let found = recorded(&run, signature);
            if found.is_ok() || rate.is_always() || attempt == PATIENCE {
                return found;
            }
            attempt += 1;
        }
    }

    /// Makes a test of one failure.
    fn reduce(
        &self,
        number: usize,
        seen: &Seen,
        rate: Rate,
        console: &mut Console,
    ) -> anyhow::Result<Found> {
        let witness = Recording::open(&seen.recording)?;
        let jdk = jdk_of(&witness)?;
        let program = Program::open(&class_path(witness.start()), &jdk).map_err(explained)?;
        let parts = (&witness, &program, &jdk);
        let followed = self.follow(number, seen, parts, console)?;
        let reaches_into = |found: &Found| found.test.notes.uses_reflection;
        match followed {
            Some(found) if !reaches_into(&found) || self.allowance.borrow().is_spent() => Ok(found),
            // Code of the driver that could not be printed; recorded calls may do without it.
            Some(found) => match self.reduce_recorded(number, (seen, rate), parts, console) {
                Ok(recorded) if recorded.grade.is_some() && !reaches_into(&recorded) => {
                    Ok(recorded)
                }
                Err(error) if !error.is::<Expected>() => Err(error),
                _ => Ok(found),
            },
            // The command need not be recorded for what there is no time for.
            None if self.allowance.borrow().is_spent() => Err(explained(PoolError::OutOfTime)),
            None => self.reduce_recorded(number, (seen, rate), parts, console),
        }
    }

    /// Makes a test of what is recorded of the code that failed.
    fn reduce_recorded(
        &self,
        number: usize,
        (seen, rate): (&Seen, Rate),
        (witness, program, jdk): (&Recording, &Program, &Jdk),
        console: &mut Console,
    ) -> anyhow::Result<Found> {
        let mut selection = select(&seen.failed(witness), program).map_err(explained)?;
        let mut attempt = 1;
        let (recording, script) = loop {
            let observed = selection.observe.iter().map(ToString::to_string);
            let observed: Vec<String> = observed.collect();
            writeln!(console.err(), "  recording {}", observed.join(", "))?;
            let name = format!("run-{number}-{attempt}");
            let wanted = (&seen.signature, rate);
            let (recording, failure) = self.record_failing(&name, &selection, wanted, console)?;
            let extracted = extract(&recording, &failure).map_err(explained)?;
            attempt += 1;
            if attempt > ATTEMPTS || !widen(&mut selection, &extracted) {
                break (recording, extracted.script);
            }
        };
        let case = Case {
            signature: &seen.signature,
            condition: None,
            recording: &recording,
            script: &script,
            program,
            jdk,
            sandbox: self.sandbox.as_ref(),
            journals: self.journals.clone(),
            taken: self.taken.borrow().clone(),
            concrete: false,
            found: &self.found,
            environment: self.environment.clone(),
        };
        self.reduce_case(&case, console)
    }

    /// Makes a test of a case in the time that is left for its failure.
    fn reduce_case(&self, case: &Case<'_>, console: &mut Console) -> anyhow::Result<Found> {
        let limits = (&self.interrupt, &*self.allowance.borrow());
        let wishes = &self.args.wishes;
        wishes.reduce(case, &self.library, limits, console)
    }
}

/// Observes classes whose objects a script uses and does not make; whether there are such.
fn widen(selection: &mut Selection, extracted: &Extracted) -> bool {
    let before = selection.observe.len();
    for class in &extracted.missing {
        let pattern = class.replace('/', ".").parse::<Pattern>();
        let excluded = selection.exclude.iter().any(|known| known.matches(class));
        if let (Ok(pattern), false) = (pattern, excluded)
            && !selection.observe.iter().any(|known| known.matches(class))
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
        .hint("run it again; the failure may be flaky")
        .into())
}
