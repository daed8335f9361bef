//! `culprit minimize`: from a recording of a failure to the smallest test that fails alike.

use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use culprit_debug::{
    CLASSES, CallLevel, Case, FailureChoice, FailureTest, FilesFound, RecordedFailure, Reducer,
    jdk_of,
};
use culprit_jvm::{Interrupt, JdkLocations};
use culprit_model::options::RecordOptions;
use culprit_model::shell;
use culprit_program::{Environment, unpacked, with_recorded};
use culprit_trace::Recording;

use crate::agent;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::origin;
use crate::program::{Maker, ProgramArgs};
use crate::reduction::{Narrator, ReductionArgs, Results, explained};

/// Options of `culprit minimize`.
#[derive(clap::Args, Debug)]
#[command(override_usage = "culprit minimize [OPTIONS] PATH", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A recording of a failure, or the folder of a run that contains one
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Write the results to this folder, which must be new or empty
    #[arg(short, long, value_name = "DIR", default_value = "culprit-minimize")]
    output: PathBuf,
    /// Continue a reduction that ended early, in the folder of -o
    #[arg(long)]
    resume: bool,
    /// Reduce the failure of this number in `culprit show`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), group = "choice")]
    failure: Option<u32>,
    /// Reduce the exception of this class, such as IllegalStateException, also if it was caught
    #[arg(long, value_name = "TYPE", group = "choice")]
    exception: Option<String>,
    /// Reduce the exception that left the observed code with this event of `culprit show --events`
    #[arg(long, value_name = "N", group = "choice")]
    event: Option<u64>,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    reduction: ReductionArgs,
}

const EXAMPLES: &str = "\
Examples:
  culprit record --contents --observe 'com.acme.**' -- java -jar app.jar
  culprit minimize culprit-runs/2026-03-09-1
  culprit minimize culprit-runs/2026-03-09-1 -o small --max-time 30s
  culprit minimize culprit-runs/2026-03-09-1 -o small --resume
  culprit minimize culprit-runs/2026-03-09-1 --exception IllegalStateException
The program must still be on its recorded class path; otherwise, give
--class-path. Without --contents, the recording lacks the contents of JDK
objects that were passed in, and calls that need them cannot be repeated.
The result folder has the test and report.html, .md, .json and .sarif (for
code-scanning views).

Exit codes:
  0    a test was written, compiled and run, and fails for the same reason
  1    everything ran, but no such test was found
  2    wrong command line, or a file or folder on it cannot be used
  3    the program, a JDK of the recorded version, or a sandbox is missing
  4    the recording cannot be read, or contains no failure
  130  interrupted; the smallest test found so far was written, if any";

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let sandbox = args.reduction.sandbox(console)?;
    let kotlin = args.reduction.kotlin()?;
    let failure = RecordedFailure::open(&args.path, &args.choice()).map_err(explained)?;
    let recording = &failure.recording;
    let jdk = jdk_of(recording, &JdkLocations::of_process()).map_err(explained)?;
    let folders = agent::folders_of_process();
    let maker = origin::maker(recording, &folders);
    let class_path = args.program.class_path(recording, maker)?;
    let mut results = match args.resume {
        true => Results::resumed(&args.output)?,
        false => Results::in_folder(&args.output)?,
    };
    let classes = results.folder().join(CLASSES);
    let script = unpacked(&class_path, &classes)
        .and_then(|class_path| match args.program.trusts(maker) {
            true => with_recorded(class_path, recording, &jdk, &classes),
            false => Ok(class_path),
        })
        .map_err(Into::into)
        .and_then(|class_path| failure.script(&class_path, &jdk));
    let script = script.map_err(|error| with_contents(recording, explained(error)));
    let script = script.inspect_err(|_| match args.resume {
        true => {}
        false => results.discard(),
    })?;
    let signature = &script.signature;
    let began = Instant::now();
    writeln!(console.err(), "{signature}")?;
    let case = Case {
        signature,
        condition: None,
        script: &script.script,
        recording,
        program: &script.program,
        jdk: &jdk,
        taken: &[],
        concrete: false,
    };
    let started = Duration::from_millis(recording.start().started_ms);
    let reducer = Reducer {
        limits: args.reduction.limits(),
        junit: args.reduction.junit(),
        kotlin,
        agent: agent::unpack(&folders)?,
        sandbox,
        environment: match maker {
            Maker::Us => Environment::of(std::env::vars_os()),
            // Nothing of the user's for code of strangers.
            Maker::Unknown => Environment::none(),
        },
        journals: results.journals(),
        files: FilesFound::since(UNIX_EPOCH + started, &args.path),
        interrupt: Interrupt::by_signals()?,
    };
    let mut narrator = Narrator {
        console,
        results: &mut results,
        interrupt: reducer.interrupt.clone(),
        folders: folders.clone(),
    };
    let mut allowance = reducer.allowance();
    let found = reducer.reduce(&case, &mut allowance, &mut narrator);
    let found = found.map_err(|error| with_contents(recording, explained(error)));
    let written = found.and_then(|found| {
        let test = FailureTest {
            signature: signature.clone(),
            rate: None,
            level: CallLevel::Outermost,
            found,
            took: began.elapsed(),
        };
        results.add(&test, console)?;
        let mut narrator = Narrator {
            console,
            results: &mut results,
            interrupt: reducer.interrupt.clone(),
            folders,
        };
        let located = reducer.locate(&case, &test.found, &mut allowance, &mut narrator)?;
        if let Some(located) = located {
            results.locate(&located, console)?;
        }
        let words = [args.path.as_os_str()];
        results.finish(&format!("culprit minimize{}", args.typed()), &words)?;
        Ok(test.found.fails_the_same_way())
    });
    let is_good = written.inspect_err(|error| match args.resume {
        // What was there before stays.
        true => {}
        false => results.discard_if_full(error),
    })?;
    args.reduction.show(&results, console)?;
    Ok(match is_good {
        _ if reducer.interrupt.is_wanted() => ExitCode::Interrupted,
        true => ExitCode::Answered,
        false => ExitCode::No,
    })
}

impl Args {
    /// The failure that is asked for.
    fn choice(&self) -> FailureChoice {
        match (self.failure, &self.exception, self.event) {
            (Some(number), ..) => FailureChoice::Number(number as usize),
            (_, Some(class), _) => FailureChoice::Class(class.clone()),
            (.., Some(event)) => FailureChoice::Event(event),
            _ => FailureChoice::Last,
        }
    }

    /// Options as they would be typed.
    fn typed(&self) -> String {
        let mut typed = self.reduction.typed();
        match self.choice() {
            FailureChoice::Last => {}
            FailureChoice::Number(number) => typed.push_str(&format!(" --failure {number}")),
            FailureChoice::Class(class) => {
                typed.push_str(&format!(" --exception {}", shell::line([class])));
            }
            FailureChoice::Event(event) => typed.push_str(&format!(" --event {event}")),
        }
        typed.push_str(&self.program.typed());
        typed
    }
}

/// Another next step for a recording that does not tell what library objects hold.
fn with_contents(recording: &Recording, error: anyhow::Error) -> anyhow::Error {
    let options = RecordOptions::of_recording(&recording.start().options);
    let has_contents = options.is_ok_and(|options| options.contents);
    match error.downcast::<Expected>() {
        Ok(told) if told.code == ExitCode::No && !has_contents => told
            .hint("the recording lacks the contents of JDK objects: record with --contents")
            .into(),
        Ok(told) => told.into(),
        Err(error) => error,
    }
}
