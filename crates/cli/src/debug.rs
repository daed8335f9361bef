//! `culprit debug`: from a command that fails to the smallest test that fails for the same reason.
//!
//! The command runs twice: once to see how it fails, nothing woven; once to record the code that
//! failed, as the rest of the program uses it. What follows needs the command no more.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use culprit_jvm::{Interrupt, Jdk};
use culprit_minimize::{Found, Program, Script, choose, class_path, drivers, extract, followed};
use culprit_model::options::{FOLLOWED_EXTENSION, Mode as AgentMode};
use culprit_model::{AgentOptions, Failure, Pattern, Scenario, Selection};
use culprit_signature::{Signature, Thrown};
use culprit_trace::{Recording, RunFolder};

use crate::agent;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::record::launch::Program as Launched;
use crate::record::quote;
use crate::reduction::{Case, Results, Wishes, explained, jdk_of};

/// Options of `culprit debug`.
#[derive(clap::Args, Debug)]
#[command(override_usage = "culprit debug [OPTIONS] -- CMD...", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Put the results into this new or empty folder
    #[arg(short, long, value_name = "DIR", default_value = "culprit-debug")]
    output: PathBuf,
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
The command is run twice or more; what it prints goes into the folder.
Exit codes:
  0    tests were written, and seen to fail for the same reason
  1    everything ran, and for some failure there is no such test
  2    the command line, or a place it names, cannot be used
  3    the command cannot be run";

/// Classes that no program has: nothing is woven.
const NOTHING: &str = "culprit.observes.nothing.here";

/// How often the command is recorded, each time with more classes.
const ATTEMPTS: usize = 4;

/// One way in which the command fails.
struct Seen {
    signature: Signature,
    /// The recording that has it.
    recording: PathBuf,
}

/// A command being debugged.
struct Session<'a> {
    args: &'a Args,
    library: PathBuf,
    launched: Launched,
    folder: PathBuf,
    /// What drivers did, by their names.
    followed: RefCell<HashMap<Vec<String>, Vec<Scenario>>>,
}

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let mut results = Results::in_folder(&args.output)?;
    let session = Session {
        args,
        library: agent::unpack(&agent::folders_of_process())?,
        launched: Launched::find(&args.command, std::env::var_os("PATH").as_deref())?,
        folder: results.folder().to_owned(),
        followed: RefCell::default(),
    };
    writeln!(console.err(), "Running the command to see how it fails")?;
    let nothing = Selection {
        observe: vec![NOTHING.parse()?],
        ..Selection::default()
    };
    let (witness, status) = session.record("witness", nothing, false)?;
    let seen = failures(&witness)?;
    if seen.is_empty() {
        return Err(not_failing(status, &witness).into());
    }
    let mut all = true;
    for (number, seen) in seen.iter().enumerate() {
        let began = Instant::now();
        writeln!(console.err(), "{}", seen.signature)?;
        match session.reduce(number + 1, seen, console) {
            Ok(found) => all &= results.add(&seen.signature, &found, began, console)?,
            Err(error) if error.is::<Expected>() => {
                all = false;
                results.miss(&seen.signature, &error);
                crate::report(&error, console);
            }
            Err(error) => return Err(error),
        }
    }
    let (wishes, command) = (args.wishes.typed(), quote::line(&args.command));
    results.finish(&format!("culprit debug{wishes}"), &format!(" -- {command}"))?;
    Ok(match all {
        true => ExitCode::Answered,
        false => ExitCode::No,
    })
}

fn not_failing(status: u8, witness: &Path) -> Expected {
    let message = match status {
        0 => "the command does not fail: it ended with 0 and threw nothing".to_owned(),
        _ => format!("the command ended with {status}, but no exception left a thread or a test"),
    };
    let place = witness.join("output.txt");
    Expected::new(ExitCode::No, message).hint(format!("it printed {}", place.display()))
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

impl Session<'_> {
    /// Runs the command with an agent; the folder of the run, and the status.
    fn record(
        &self,
        name: &str,
        selection: Selection,
        contents: bool,
    ) -> anyhow::Result<(PathBuf, u8)> {
        self.run_with(name, selection, AgentMode::Record, contents)
    }

    fn run_with(
        &self,
        name: &str,
        selection: Selection,
        mode: AgentMode,
        contents: bool,
    ) -> anyhow::Result<(PathBuf, u8)> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder)?;
        let options = AgentOptions {
            out: folder.display().to_string(),
            mode,
            selection,
            contents,
            ..AgentOptions::default()
        };
        let output = File::create(folder.join("output.txt"))?;
        let inherited = std::env::var_os("JAVA_TOOL_OPTIONS");
        let launched = &self.launched;
        let status = launched.run_into(&output, &self.library, &options, inherited.as_deref())?;
        Ok((folder, status.shell_code()))
    }

    /// What drivers do, by JVM. Failures of the same test class are in the same run.
    fn scenarios(&self, name: &str, selection: Selection) -> anyhow::Result<Vec<Scenario>> {
        let drivers: Vec<String> = selection.observe.iter().map(ToString::to_string).collect();
        if let Some(known) = self.followed.borrow().get(&drivers) {
            return Ok(known.clone());
        }
        let (folder, _) = self.run_with(name, selection, AgentMode::Follow, false)?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|end| end == FOLLOWED_EXTENSION)
            {
                found.push(fs::read_to_string(path)?.parse::<Scenario>()?);
            }
        }
        self.followed.borrow_mut().insert(drivers, found.clone());
        Ok(found)
    }

    /// Makes a test of what the driver did: the test, or the main class.
    fn follow(
        &self,
        number: usize,
        seen: &Seen,
        (witness, program, jdk): (&Recording, &Program, &Jdk),
        console: &mut Console,
    ) -> anyhow::Result<Option<Found>> {
        let Some(selection) = drivers(&seen.signature, program, witness.start()) else {
            return Ok(None);
        };
        if let Some(driver) = selection.observe.first() {
            writeln!(console.err(), "  following {driver}")?;
        }
        let name = format!("follow-{number}");
        for scenario in self.scenarios(&name, selection)? {
            for script in followed(scenario, &seen.signature, witness.start()) {
                let case = Case {
                    signature: &seen.signature,
                    recording: witness,
                    script: &script,
                    program,
                    jdk,
                };
                let interrupt = Interrupt::by_signals()?;
                match self.args.wishes.reduce(&case, &self.library, interrupt) {
                    Ok(found) if found.grade.is_some() => return Ok(Some(found)),
                    Ok(_) => {}
                    Err(error) if error.is::<Expected>() => {
                        if std::env::var_os("CULPRIT_TRACE").is_some() {
                            eprintln!("{error:?}");
                        }
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(None)
    }

    /// Makes a test of one failure.
    fn reduce(&self, number: usize, seen: &Seen, console: &mut Console) -> anyhow::Result<Found> {
        let witness = Recording::open(&seen.recording)?;
        let jdk = jdk_of(&witness)?;
        let program = Program::open(&class_path(witness.start()), &jdk)?;
        let parts = (&witness, &program, &jdk);
        if let Some(found) = self.follow(number, seen, parts, console)? {
            return Ok(found);
        }
        let mut selection = choose(&seen.signature, &program, witness.start())?;
        let mut attempt = 1;
        let (recording, script) = loop {
            let observed = selection.observe.iter().map(ToString::to_string);
            let observed: Vec<String> = observed.collect();
            writeln!(console.err(), "  recording {}", observed.join(", "))?;
            let name = format!("run-{number}-{attempt}");
            let (run, _) = self.record(&name, selection.clone(), true)?;
            let (recording, failure) = recorded(&run, &seen.signature)?;
            let script = extract(&recording, &failure).map_err(explained)?;
            attempt += 1;
            if attempt > ATTEMPTS || !widen(&mut selection, &script) {
                break (recording, script);
            }
        };
        let case = Case {
            signature: &seen.signature,
            recording: &recording,
            script: &script,
            program: &program,
            jdk: &jdk,
        };
        let interrupt = Interrupt::by_signals()?;
        self.args.wishes.reduce(&case, &self.library, interrupt)
    }
}

/// Observes classes whose objects a script uses and does not make; whether there are such.
fn widen(selection: &mut Selection, script: &Script) -> bool {
    let before = selection.observe.len();
    for class in &script.missing {
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
        .hint("run it again; it may fail only sometimes")
        .into())
}
