//! `culprit minimize`: from a recording of a failure to the smallest test that fails alike.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use culprit_jvm::Interrupt;
use culprit_minimize::{Program, Script, class_path, extract};
use culprit_model::options::RecordOptions;
use culprit_model::{Failure, shell};
use culprit_replay::Environment;
use culprit_signature::{Signature, Thrown};
use culprit_trace::{Recording, RunFolder};

use crate::agent;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::origin;
use crate::reduction::{Case, FilesFound, Level, Results, Wishes, explained, jdk_of};
use crate::show;

/// Options of `culprit minimize`.
#[derive(clap::Args, Debug)]
#[command(override_usage = "culprit minimize [OPTIONS] PATH", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A recording, or the folder of a run with one that failed
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Put the results into this new or empty folder
    #[arg(short, long, value_name = "DIR", default_value = "culprit-minimize")]
    output: PathBuf,
    /// Go on in the folder of a reduction that ended early
    #[arg(long)]
    resume: bool,
    /// Take the program from this class path, instead of the recorded one
    #[arg(long, value_name = "CP")]
    class_path: Option<OsString>,
    /// Run the code on the class path that the recording names, although it was not recorded here
    #[arg(long, conflicts_with = "class_path")]
    trust: bool,
    #[command(flatten)]
    wishes: Wishes,
}

const EXAMPLES: &str = "\
Examples:
  culprit record --contents --observe 'com.acme.**' -- java -jar app.jar
  culprit minimize culprit-runs/2026-03-09-1
The program must be on its class path still; --class-path names another place.
Without --contents a recording does not tell what library objects hold that
were passed in.
Exit codes:
  0    a test was written, and seen to fail for the same reason
  1    everything ran, and there is no such test
  2    the command line, or a place it names, cannot be used
  3    the program, a JDK like that of the recording, or a sandbox is not there
  4    the recording cannot be read, or has no failure
  130  interrupted; the smallest test so far was written if there was one";

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let sandbox = args.wishes.sandbox(console)?;
    let (recording, failure) = failing(&args.path)?;
    let unreadable = || Expected::new(ExitCode::Recording, "the failure has no stack");
    let thrown = Thrown::parse(&failure.stack).ok_or_else(unreadable)?;
    let signature = Signature::of(&thrown);
    let jdk = jdk_of(&recording)?;
    let folders = agent::folders_of_process();
    let class_path = args.class_path(&recording, &folders)?;
    let program = Program::open(&class_path, &jdk).map_err(explained)?;
    let extracted = extract(&recording, &failure);
    let extracted = extracted.map_err(|error| with_contents(&recording, explained(error)))?;
    let script = extracted.script;
    if let Some(class) = lost(&script, &program) {
        let gone = class_path.iter().find(|path| !path.exists());
        if let Some(gone) = gone {
            let message = format!("{class} is not there any more: {} is gone", gone.display());
            return Err(Expected::new(ExitCode::Target, message)
                .hint("build the program again, or record it again where it is now")
                .into());
        }
    }
    let mut results = match args.resume {
        true => Results::resumed(&args.output)?,
        false => Results::in_folder(&args.output)?,
    };
    let began = Instant::now();
    writeln!(console.err(), "{signature}")?;
    let case = Case {
        condition: None,
        signature: &signature,
        recording: &recording,
        script: &script,
        program: &program,
        jdk: &jdk,
        sandbox: sandbox.as_ref(),
        journals: results.journals(),
        taken: Vec::new(),
        concrete: false,
        found: &FilesFound::since(UNIX_EPOCH + Duration::from_millis(recording.start().started_ms)),
        environment: match origin::is_ours(&recording, &folders) {
            true => Environment::of(std::env::vars_os()),
            // Nothing of the user's for code of strangers.
            false => Environment::none(),
        },
    };
    let library = agent::unpack(&folders)?;
    let interrupt = Interrupt::by_signals()?;
    let allowance = args.wishes.allowance();
    let found = (args.wishes).reduce(&case, &library, (&interrupt, &allowance), console);
    let found = found.map_err(|error| with_contents(&recording, error));
    let written = found.and_then(|found| {
        let is_good = results.add((&signature, None, Level::Outermost), &found, began, console)?;
        let wishes = args.typed();
        results.finish(
            &format!("culprit minimize{wishes}"),
            &[args.path.as_os_str()],
        )?;
        Ok(is_good)
    });
    let is_good = written.inspect_err(|error| match args.resume {
        // What was there before stays.
        true => {}
        false => results.discard_if_full(error),
    })?;
    Ok(match is_good {
        _ if interrupt.is_wanted() => ExitCode::Interrupted,
        true => ExitCode::Answered,
        false => ExitCode::No,
    })
}

impl Args {
    /// The class path of the program: the given one, or that of a recording which was made here.
    fn class_path(
        &self,
        recording: &Recording,
        folders: &[PathBuf],
    ) -> Result<Vec<PathBuf>, Expected> {
        if let Some(given) = &self.class_path {
            let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
            return Ok(std::env::split_paths(given).map(whole).collect());
        }
        let claimed = class_path(recording.start());
        let mut there = claimed.iter().filter(|path| path.exists()).peekable();
        if self.trust || there.peek().is_none() || origin::is_ours(recording, folders) {
            return Ok(claimed);
        }
        let path = recording.path().display();
        let message = format!("{path} was not made here, and names code of this machine to run");
        let there = shell::line(there);
        Err(Expected::new(ExitCode::Usage, message).hint(format!(
            "it names {there}\nif that is the program, add --trust; or name it: --class-path CP"
        )))
    }

    /// Options as they would be typed.
    fn typed(&self) -> String {
        let mut typed = self.wishes.typed();
        if self.trust {
            typed.push_str(" --trust");
        }
        if let Some(given) = &self.class_path {
            typed.push_str(&format!(" --class-path {}", shell::line([given])));
        }
        typed
    }
}

/// Another next step for a recording that does not tell what library objects hold.
fn with_contents(recording: &Recording, error: anyhow::Error) -> anyhow::Error {
    let options = RecordOptions::of_recording(&recording.start().options);
    let has_contents = options.is_ok_and(|options| options.contents);
    match error.downcast::<Expected>() {
        Ok(told) if told.code == ExitCode::No && !has_contents => told
            .hint("the recording does not tell what library objects hold: record with --contents")
            .into(),
        Ok(told) => told.into(),
        Err(error) => error,
    }
}

/// A class of a script that the program does not have.
fn lost(script: &Script, program: &Program) -> Option<String> {
    let targets = script.statements.iter().filter_map(|it| script.target(it));
    let mut owners = targets.map(|target| &target.owner);
    let lost = owners.find(|owner| program.bytes(owner).is_none())?;
    Some(lost.replace('/', "."))
}

/// The last failure of a recording, or of the first recording of a run that has one.
fn failing(path: &Path) -> anyhow::Result<(Recording, Failure)> {
    let recordings = match path.is_dir() {
        true => {
            let folder = RunFolder::open(path).map_err(|error| show::expected(&error))?;
            folder.recordings
        }
        false => vec![path.to_owned()],
    };
    for path in &recordings {
        let recording = Recording::open(path)?;
        if let Some(failure) = recording.failures().last().cloned() {
            return Ok((recording, failure));
        }
    }
    let message = format!("{}: the recorded program did not fail", path.display());
    Err(Expected::new(ExitCode::Recording, message)
        .hint("record a run that fails")
        .into())
}
