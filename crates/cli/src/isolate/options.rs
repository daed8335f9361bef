//! Options that all kinds of isolation share: the test, what its end means, how far to go.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use culprit_isolate::changes::ELSEWHERE;
use culprit_isolate::{Convention, Likeness, Rule, Sign, TestCommand};
use culprit_jvm::{Interrupt, Limits, Sandbox};
use culprit_model::clean;
use culprit_reduce::{Budget, Cancel, SearchEnd, Settings};
use culprit_report::figure;

use super::typed::Typed;
use crate::confinement;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::quantity;

/// The variable that tells a test where culprit was started.
const STARTED: &str = "CULPRIT_STARTED_IN";

/// The next step where the test does not fail.
pub(crate) const NOW_AND_THEN: &str = "if the failure is flaky, --repeat N runs the test N times";

/// The next step where a journal cannot be read or written.
pub(crate) const NO_JOURNAL: &str = "check that the folder (-o) still exists and has room";

/// The next step where another version of culprit wrote the journal.
pub(crate) const OTHER_VERSION: &str =
    "name a new folder (-o), or resume with the version of culprit that began there";

/// The next step where a journal is of another search.
pub(crate) const OTHER_SEARCH: &str = "--resume needs the same input, test and options (limits may differ); or name another folder (-o)";

/// The next step where a failure is looked for in more output than is kept.
pub(crate) const PRINT_LESS: &str = "print less, or filter the output: CMD | grep ...";

/// Statuses of a shell that found no program, or may not run it.
const NOT_RUN: [u8; 2] = [126, 127];

/// A hint with the last lines that a command printed, if there are any.
pub(crate) fn with_printed(hint: &str, printed: &str) -> String {
    match printed {
        "" => hint.to_owned(),
        _ => format!("{hint}\nit printed: {}", clean::block(printed)),
    }
}

/// What is said of a command that a shell could not run; `None` if it ended in another way. `paths`
/// says where relative ones start, `printed` are the last lines of its output.
pub(crate) fn not_run(command: &str, how: &str, printed: &str, paths: &str) -> Option<Expected> {
    let is_so = NOT_RUN
        .iter()
        .any(|code| how == format!("exits with status {code}"));
    is_so.then(|| {
        let message = format!("the {command} cannot be run: it {how}");
        let hint = format!(
            "a shell exits with 127 if it does not find a program, with 126 if it may not run it; {paths}"
        );
        Expected::new(ExitCode::Target, message).hint(with_printed(&hint, printed))
    })
}

/// The headings of the options.
pub(super) const TEST: &str = "Test";
pub(super) const SEARCH: &str = "Search";
const SANDBOX: &str = "Sandbox";

/// The next step where the sandbox refuses what a test does.
pub(crate) const REFUSED: &str = "--allow-write DIR lets it write there; --no-sandbox, or no --sandbox, runs it with all your rights";

/// What the test is, and how far to go.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct Options {
    /// Run this shell command on each candidate: exit status 0 means pass, 125 unresolved (cannot be judged),
    /// any other fail
    #[arg(
        long,
        value_name = "CMD",
        required_unless_present = "oracle",
        conflicts_with = "oracle",
        help_heading = TEST
    )]
    pub(crate) test: Option<String>,
    /// Like --test, but exit status 0 means that the failure is present (as in C-Reduce)
    #[arg(long, value_name = "CMD", group = "oracle", help_heading = TEST)]
    pub(crate) interesting: Option<String>,
    /// Count only this as the failure: 'stderr contains TEXT', 'stdout matches REGEX', 'output ...',
    /// 'exit N', 'crash' or 'timeout'; can be repeated
    #[arg(long, value_name = "CONDITION", help_heading = TEST)]
    pub(crate) fail_if: Vec<Sign>,
    /// Short for --fail-if 'exit N'
    #[arg(long, value_name = "N", help_heading = TEST)]
    pub(crate) fail_exit: Vec<u8>,
    /// Count a failure only if it matches the original one in this [default: place for `isolate
    /// input`, message for `isolate changes`]
    #[arg(long, value_name = "WHAT", value_enum, help_heading = TEST)]
    pub(crate) same: Option<Same>,
    /// Kill a run of the test after this long
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = quantity::duration, help_heading = TEST)]
    pub(crate) timeout: Duration,
    /// Run each candidate N times [default: 1, or as often as a flaky failure needs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = TEST)]
    pub(crate) repeat: Option<u32>,
    /// Run N candidates in parallel
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..), help_heading = SEARCH)]
    pub(crate) jobs: u8,
    /// Stop after N tests, and keep the best result found so far
    #[arg(long, value_name = "N", value_parser = quantity::count, help_heading = SEARCH)]
    pub(crate) max_tests: Option<u64>,
    /// Stop after this long, such as 30s or 2h, and keep the best result found so far
    #[arg(long, value_name = "DURATION", value_parser = quantity::duration, help_heading = SEARCH)]
    pub(crate) max_time: Option<Duration>,
    /// Run your command in the sandbox: it can write only to the folders of its run, and has no network
    #[arg(long, help_heading = SANDBOX)]
    pub(crate) sandbox: bool,
    /// Also let code in the sandbox write to this folder; can be repeated
    #[arg(long, value_name = "DIR", help_heading = SANDBOX, conflicts_with = "no_sandbox")]
    pub(crate) allow_write: Vec<PathBuf>,
    /// Run JUnit tests and Git without the sandbox, which otherwise always confines them
    #[arg(long, help_heading = SANDBOX, conflicts_with = "sandbox")]
    pub(crate) no_sandbox: bool,
    /// Continue an earlier search, in the folder of -o; limits (--max-time, --max-tests, --jobs) may differ
    #[arg(long, help_heading = SEARCH)]
    pub(crate) resume: bool,
    /// Print the report as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// How alike failures must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Same {
    /// Nothing: every failure counts
    Any,
    /// The signal, the type and place of the exception or crash, or the name of the failed test
    Place,
    /// As place, and the message without its numbers and quoted texts (those of failed assertions count),
    /// provided it is the same on each run
    Message,
    /// The whole backtrace
    Trace,
}

impl Options {
    /// Settings of the driver, which an interrupt ends.
    pub(crate) fn settings(&self, interrupt: &Interrupt) -> Settings {
        let interrupt = interrupt.clone();
        Settings {
            jobs: usize::from(self.jobs),
            budget: Budget {
                tests: self.max_tests,
                time: self.max_time,
            },
            cancel: Cancel::when(move || interrupt.is_wanted()),
            ..Settings::default()
        }
    }

    /// The test that each candidate is put to.
    pub(crate) fn test(
        &self,
        env: &[(OsString, OsString)],
        sandbox: Option<Sandbox>,
    ) -> TestCommand {
        let (command, convention) = match (&self.test, &self.interesting) {
            (Some(command), _) => (command, Convention::Test),
            (None, Some(command)) => (command, Convention::Interesting),
            (None, None) => unreachable!("one of them is required"),
        };
        TestCommand {
            command: command.into(),
            rule: Rule {
                convention,
                signs: self.signs(),
            },
            limit: self.timeout,
            env: env.to_vec(),
            sandbox,
            limits: Limits::NONE,
        }
    }

    /// The sandbox of the user's command: only on request.
    pub(crate) fn sandbox_of_command(
        &self,
        console: &mut Console,
    ) -> anyhow::Result<Option<Sandbox>> {
        match self.sandbox {
            // A build sets modes and times.
            true => Ok(self.confined(console)?.map(Sandbox::allow_attributes)),
            false => Ok(None),
        }
    }

    /// The sandbox of what is confined unless the user does without. Whoever is in it may start programs,
    /// which are in it too.
    pub(crate) fn confined(&self, console: &mut Console) -> anyhow::Result<Option<Sandbox>> {
        let Some(sandbox) = confinement::sandbox(self.no_sandbox, console)? else {
            return Ok(None);
        };
        let mut sandbox = sandbox.allow_programs();
        for folder in &self.allow_write {
            sandbox = sandbox.allow_write(confinement::folder(folder)?);
        }
        Ok(Some(sandbox))
    }

    /// What shows the failure.
    pub(crate) fn signs(&self) -> Vec<Sign> {
        let exits = self.fail_exit.iter().map(|code| Sign::Exit(*code));
        self.fail_if.iter().cloned().chain(exits).collect()
    }

    /// How alike failures must be, unless it is not said.
    pub(crate) fn likeness(&self) -> Option<Likeness> {
        self.same.map(|same| match same {
            Same::Any => Likeness::Any,
            Same::Place => Likeness::Place,
            Same::Message => Likeness::Message,
            Same::Trace => Likeness::Trace,
        })
    }

    /// Adds them as they would be typed, but for those that have no say in the result.
    pub(crate) fn type_into(&self, typed: &mut Typed) {
        if let Some(command) = &self.test {
            typed.option("--test", command);
        }
        if let Some(command) = &self.interesting {
            typed.option("--interesting", command);
        }
        for sign in &self.fail_if {
            typed.option("--fail-if", sign.to_string());
        }
        for code in &self.fail_exit {
            typed.option("--fail-exit", code.to_string());
        }
        if let Some(same) = self.same.and_then(|same| same.to_possible_value()) {
            typed.option("--same", same.get_name());
        }
        typed.option("--timeout", figure::typed_duration(self.timeout));
        if let Some(runs) = self.repeat {
            typed.option("--repeat", runs.to_string());
        }
        typed.flags(&[
            (self.sandbox, "--sandbox"),
            (self.no_sandbox, "--no-sandbox"),
            (self.resume, "--resume"),
        ]);
        for folder in &self.allow_write {
            typed.option("--allow-write", folder);
        }
        typed.option("--jobs", self.jobs.to_string());
        if let Some(most) = self.max_tests {
            typed.option("--max-tests", most.to_string());
        }
        if let Some(time) = self.max_time {
            typed.option("--max-time", figure::typed_duration(time));
        }
    }

    /// The options that continue a search which ended like this. Time is counted anew, but tests are not.
    pub(crate) fn resuming(&self, end: SearchEnd) -> Options {
        Options {
            max_tests: self.max_tests.filter(|_| end != SearchEnd::Tests),
            resume: true,
            ..self.clone()
        }
    }

    /// The options without what continues an earlier search.
    pub(crate) fn starting(&self) -> Options {
        Options {
            resume: false,
            ..self.clone()
        }
    }

    /// True if the test says what is interesting, by its status alone.
    pub(crate) fn says_interesting(&self) -> bool {
        self.interesting.is_some() && self.signs().is_empty()
    }
}

/// The environment of tests: ours, and where we were started. Git is kept from looking above the
/// candidates for a repository.
pub(crate) fn environment(started: &Path, candidates: &Path) -> Vec<(OsString, OsString)> {
    let mut env: Vec<(OsString, OsString)> = std::env::vars_os()
        .filter(|(name, _)| name != STARTED && name != "GIT_CEILING_DIRECTORIES")
        // A test that uses Git is not to find the user's repository by these.
        .filter(|(name, _)| !ELSEWHERE.iter().any(|place| name == *place))
        .collect();
    env.push((STARTED.into(), started.into()));
    env.push(("GIT_CEILING_DIRECTORIES".into(), ceiling(candidates)));
    env
}

fn ceiling(candidates: &Path) -> OsString {
    let path: PathBuf = candidates
        .canonicalize()
        .unwrap_or_else(|_| candidates.to_owned());
    path.into_os_string()
}
