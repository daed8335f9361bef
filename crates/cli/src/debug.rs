//! `culprit debug`: from a command that fails to the smallest test that fails for the same reason.
//!
//! The command runs several times: unchanged, to see how it fails; then with its driver followed. If the script
//! of the driver does not fail in the same way, the command runs again and the code that failed is recorded. The
//! reduction does not need the command. The session itself is `culprit_debug`'s.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::SystemTime;

use culprit_debug::{FilesFound, Reducer, Session, Settings, StopAfter, parse_condition};
use culprit_jvm::{Interrupt, JdkLocations, KeptInput};
use culprit_model::shell;
use culprit_program::{Command, Environment};
use culprit_report::figure;
use culprit_scripts::Condition;

use crate::agent;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::quantity;
use crate::reduction::{Narrator, ReductionArgs, Results, explained};

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
    #[arg(long, value_name = "CONDITION", value_parser = parse_condition)]
    fails_if: Option<Condition>,
    /// Reduce exceptions of this class, such as IllegalStateException or com.acme.Rejected, also if the
    /// program or a framework around it catches them
    #[arg(long, value_name = "TYPE", conflicts_with = "fails_if")]
    exception: Option<String>,
    /// End each run of a command that does not end by itself, such as a server: after N failures, or
    /// after a time such as 30s
    #[arg(long, value_name = "N|TIME", value_parser = stop_after)]
    stop_after: Option<StopAfter>,
    #[command(flatten)]
    reduction: ReductionArgs,
    /// The command to run, as you would type it
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  culprit debug -- java -jar app.jar input.txt
  culprit debug -- java -cp build:junit.jar org.junit.runner.JUnitCore CartTest
  culprit debug --open -- mvn -q test -Dtest=CartTest
  culprit debug --exception Rejected --stop-after 30s -- java -jar server.jar
  culprit debug --fails-if 'output contains total: -5' -- java -jar app.jar
  culprit debug --fails-if 'Cart c -> c.total() < 0' -- java -jar app.jar
The command runs several times. Each run gets the same standard input, unless
that is a terminal. Input and output are kept in the result folder. Name
failing tests (-Dtest=...), or all of them run. The result folder has the
tests and report.html, .md, .json and .sarif (for code-scanning views).

Exit codes:
  0    each failure has a test that was compiled and run, and fails like it
  1    the command does not fail, or some failure has no such test
  2    wrong command line, or a file or folder on it cannot be used
  3    the command cannot be run, starts no JVM, or there is no sandbox
  130  interrupted; the smallest test found so far was written, if any";

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    // Whatever can be refused is refused before anything is written.
    let sandbox = args.reduction.sandbox(console)?;
    let kotlin = args.reduction.kotlin()?;
    let path = std::env::var_os("PATH");
    let command = Command::find(&args.command, path.as_deref()).map_err(Expected::from)?;
    let mut results = Results::in_folder(&args.output)?;
    let folders = agent::folders_of_process();
    let files = FilesFound::now(&std::env::current_dir()?, results.folder(), now());
    let library = agent::unpack(&folders)?;
    let interrupt = Interrupt::by_signals()?;
    let settings = Settings {
        command,
        java_tool_options: std::env::var_os("JAVA_TOOL_OPTIONS"),
        surroundings: JdkLocations::of_process(),
        input: KeptInput::of_process(&results.input()),
        folder: results.folder().to_owned(),
        exception: args.exception.clone(),
        stop_after: args.stop_after,
        reducer: Reducer {
            limits: args.reduction.limits(),
            junit: args.reduction.junit(),
            kotlin,
            agent: library,
            sandbox,
            environment: Environment::of(std::env::vars_os()),
            journals: results.journals(),
            files,
            interrupt: interrupt.clone(),
        },
    };
    let mut narrator = Narrator {
        console,
        results: &mut results,
        interrupt: interrupt.clone(),
        folders,
    };
    let mut session = Session::new(&settings, &mut narrator);
    let all = match &args.fails_if {
        Some(condition) => session.debug_condition(condition),
        None => session.debug(),
    };
    let all = all.map_err(explained);
    let all = all.inspect_err(|error| results.discard_if_full(error))?;
    let finished = results.finish(&args.typed(), &args.words());
    let finished = finished.map_err(anyhow::Error::from);
    finished.inspect_err(|error| results.discard_if_full(error))?;
    args.reduction.show(&results, console)?;
    Ok(match all {
        _ if interrupt.is_wanted() => ExitCode::Interrupted,
        true => ExitCode::Answered,
        false => ExitCode::No,
    })
}

impl Args {
    /// The command line up to the user's command, as it would be typed.
    fn typed(&self) -> String {
        let reduction = self.reduction.typed();
        let mut words = vec!["culprit".to_owned(), "debug".to_owned()];
        if let Some(condition) = &self.fails_if {
            words.extend(["--fails-if".to_owned(), condition.to_string()]);
        }
        if let Some(class) = &self.exception {
            words.extend(["--exception".to_owned(), class.clone()]);
        }
        match self.stop_after {
            Some(StopAfter::Failures(count)) => {
                words.extend(["--stop-after".to_owned(), count.to_string()]);
            }
            Some(StopAfter::Time(time)) => {
                words.extend(["--stop-after".to_owned(), figure::typed_duration(time)]);
            }
            None => {}
        }
        format!("{}{reduction}", shell::line(words))
    }

    /// The rest of the command line.
    fn words(&self) -> Vec<&OsStr> {
        let command = self.command.iter().map(AsRef::as_ref);
        [OsStr::new("--")].into_iter().chain(command).collect()
    }
}

/// A number of failures, or a time.
fn stop_after(text: &str) -> Result<StopAfter, String> {
    // `5m` is a time, and no five million.
    let time = quantity::duration(text).map(StopAfter::Time);
    let count = || quantity::count(text).map(StopAfter::Failures);
    time.or_else(|_| count())
        .map_err(|_| "write a number of failures, or a time such as 30s or 5m".to_owned())
}

#[expect(
    clippy::disallowed_methods,
    reason = "files that the command makes are told by their age from those that it finds"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_command_is_stopped_after_failures_or_after_a_time() {
        assert_eq!(stop_after("3"), Ok(StopAfter::Failures(3)));
        let minutes = StopAfter::Time(Duration::from_secs(300));
        assert_eq!(stop_after("5m"), Ok(minutes));
        assert!(stop_after("0").is_err());
        assert!(stop_after("soon").is_err());
    }
}
