//! What `debug` and `minimize` share: a recorded failure becomes a test, and a result folder.

mod verdict;

use std::cell::Cell;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;
use clap::ValueEnum;
use culprit_junit::Junit;
use culprit_jvm::{
    Deadline, Interrupt, Jdk, LaunchError, Output, PoolError, Sandbox, Scratch, Surroundings,
    Template, WorkingFolder, remove_folder,
};
use culprit_minimize::{
    CALLS, Error, Found, Means, Needed, Runner, Script, Stage, junit_of, make_test,
};
use culprit_model::{clean, secret, shell};
use culprit_program::{
    Confines, Environment, Error as ProgramError, PlainWorkers, Program, WorkerJvm, matching_jdk,
    working_folder,
};
use culprit_reduce::{Budget, Cancel, Driver, End, Event, Journals, Settings};
use culprit_replay::Error as Unplayable;
use culprit_scripts::{Condition, Error as ScriptError, Predicate, Run};
use culprit_signature::{Grade, Signature};
use culprit_trace::Recording;
use serde_json::json;

use crate::confinement;
use crate::console::Console;
use crate::debug::Rate;
use crate::exit::{ExitCode, Expected};
use crate::log;
use crate::progress::Progress;
use crate::quantity;
use crate::show;
use culprit_report::markup;
use culprit_report::markup::markdown::{block, code, plain};
use verdict::{by_hand, verdict};

/// How long a candidate may take.
const LIMIT: Duration = Duration::from_secs(10);

/// A search ends so long before its candidates are cut off.
const AHEAD: Duration = Duration::from_millis(50);

/// However short `--max-time` is, the failure may be seen once, or there is nothing to keep.
const FIRST: Duration = Duration::from_secs(5);

/// The folder for verdicts, within that for results.
const JOURNALS: &str = "journal";

/// Megabytes of the heap of a worker.
const HEAP: u64 = 1024;

/// What is said before the command that runs a test with the rights of the user.
const OUTSIDE: &str = "it was run in the sandbox; to run it with all your rights";

/// The next step for a recording that was tampered with.
pub(crate) const FORGED: &str =
    "culprit record does not write that: the recording was tampered with; do not use it";

/// The heading of options that bound the reduction and confine its candidates.
const LIMITS: &str = "Limits and sandbox";

/// Options of both commands.
#[derive(clap::Args, Debug)]
pub(crate) struct Wishes {
    /// Run N candidates in parallel
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..), help_heading = LIMITS)]
    jobs: u8,
    /// Stop reducing after this long, such as 30s or 5m, and keep the smallest test found so far
    #[arg(long, visible_alias = "budget", value_name = "DURATION", default_value = "2m", value_parser = quantity::duration, help_heading = LIMITS)]
    max_time: Duration,
    /// Stop reducing after N candidates, and keep the smallest test found so far
    #[arg(long, value_name = "N", value_parser = quantity::count, help_heading = LIMITS)]
    max_tests: Option<u64>,
    /// Write tests for this version of JUnit [default: the one on the class path, else 5]
    #[arg(long, value_name = "VERSION", value_enum)]
    junit: Option<JunitArg>,
    /// Run candidates and tests without the sandbox, so that they can write files and use the network
    #[arg(long, help_heading = LIMITS)]
    no_sandbox: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum JunitArg {
    #[value(name = "4")]
    Four,
    #[value(name = "5")]
    Five,
}

/// A failure to make a test of.
pub(crate) struct Case<'a> {
    pub(crate) signature: &'a Signature,
    /// What makes it a failure, where the script does not end with it.
    pub(crate) condition: Option<&'a Condition>,
    pub(crate) recording: &'a Recording,
    pub(crate) script: &'a Script,
    pub(crate) program: &'a Program,
    pub(crate) jdk: &'a Jdk,
    /// For candidates, the compiler and the test.
    pub(crate) sandbox: Option<&'a Sandbox>,
    /// Where verdicts are kept.
    pub(crate) journals: PathBuf,
    /// Names of tests that there are.
    pub(crate) taken: Vec<String>,
    /// Whether numbers and texts are given as they were.
    pub(crate) concrete: bool,
    /// The files that the program found.
    pub(crate) found: &'a FilesFound,
    /// Variables for candidates and the test: those of the user where the program is the user's own.
    pub(crate) environment: Environment,
}

/// From where the failing code is seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// What the driver calls.
    Outermost,
    /// What is called of the class that threw, so many times.
    Innermost { class: String, calls: usize },
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Outermost => "outermost",
            Level::Innermost { .. } => "innermost",
        })
    }
}

/// Where results go.
pub(crate) struct Results {
    folder: PathBuf,
    /// What was found, for `report.json`.
    tests: Vec<serde_json::Value>,
    /// The same for readers.
    text: String,
}

/// The JDK that a recorded program ran on, or one like it.
pub(crate) fn jdk_of(recording: &Recording) -> Result<Jdk, Expected> {
    let jdks = Jdk::all(&Surroundings::of_process());
    let (whole, rest) = with_compiler_first(jdks);
    let jdk = matching_jdk(recording, &whole).or_else(|| matching_jdk(recording, &rest));
    jdk.ok_or_else(|| {
        let version = &recording.start().jvm_version;
        let message = format!("no JDK of the recorded version ({version}) was found");
        Expected::new(ExitCode::Target, message).hint("install one, or set JAVA_HOME")
    })
}

/// Those that can compile a test, and those that cannot.
fn with_compiler_first(jdks: Vec<Jdk>) -> (Vec<Jdk>, Vec<Jdk>) {
    let has_compiler = |jdk: &Jdk| jdk.tool("javac").exists();
    jdks.into_iter().partition(has_compiler)
}

impl Wishes {
    /// As they would be typed.
    pub(crate) fn typed(&self) -> String {
        let time = quantity::typed_duration(self.max_time);
        let mut typed = format!(" --jobs {} --max-time {time}", self.jobs);
        if let Some(most) = self.max_tests {
            typed.push_str(&format!(" --max-tests {most}"));
        }
        match self.junit {
            Some(JunitArg::Four) => typed.push_str(" --junit 4"),
            Some(JunitArg::Five) => typed.push_str(" --junit 5"),
            None => {}
        }
        if self.no_sandbox {
            typed.push_str(" --no-sandbox");
        }
        typed
    }

    /// The sandbox for candidates and tests, unless the user does without.
    pub(crate) fn sandbox(&self, console: &mut Console) -> anyhow::Result<Option<Sandbox>> {
        confinement::sandbox(self.no_sandbox, console)
    }

    /// Makes a test of a failure.
    pub(crate) fn reduce(
        &self,
        case: &Case<'_>,
        library: &Path,
        (interrupt, allowance): (&Interrupt, &Allowance),
        console: &mut Console,
    ) -> anyhow::Result<Found> {
        let scratch = Scratch::new("reduce")?;
        let began = Instant::now();
        let deadline = allowance.deadline(interrupt)?;
        let workers = PlainWorkers {
            jvm: WorkerJvm {
                jdk: case.jdk.clone(),
                agent: library.to_owned(),
                scratch: scratch.path().to_owned(),
                heap: HEAP,
                sandbox: case.sandbox.cloned(),
                output: Output::Kept,
                interrupt: Some(interrupt.clone()),
            },
            environment: case.environment.clone(),
        };
        let confines = Confines::of(&workers);
        let jobs = usize::from(self.jobs);
        let class_path = case.program.class_path();
        let class_path = class_path.map(|path| path.display().to_string());
        let class_path: Vec<String> = class_path.collect();
        let junit = match self.junit {
            Some(JunitArg::Four) => Junit::Four,
            Some(JunitArg::Five) => Junit::Five,
            None => junit_of(case.program).unwrap_or(Junit::Five),
        };
        let check = scratch.path().join("check");
        let place = scratch.path().join("condition");
        let predicate = match case.condition {
            Some(condition) => {
                let with = (case.program, case.jdk, &deadline);
                Predicate::compile(condition, case.script, with, (&place, &confines))
                    .map_err(explained)?
            }
            None => None,
        };
        let mut class_path = class_path;
        if predicate.is_some() {
            class_path.push(place.display().to_string());
        }
        let progress = Progress::begin(console, "minimising");
        let directory = working_folder(case.recording.start());
        let is_interrupted = {
            let deadline = deadline.clone();
            move || deadline.is_interrupted()
        };
        let settings = Settings {
            jobs,
            budget: Budget {
                tests: allowance.tests.get(),
                time: Some(allowance.left(began).saturating_sub(AHEAD)),
            },
            cancel: Cancel::when(is_interrupted),
            ..Settings::default()
        };
        let observer = |event: &Event| progress.say(said(event, interrupt));
        let driver = Driver::new(settings, &observer);
        let driver = driver.journals(Some(Journals::ByProblem(case.journals.clone())));
        let run = |folder: &WorkingFolder, wanted: Grade| -> anyhow::Result<Result<Found, Error>> {
            let pool = workers.pool(case.recording, class_path.clone(), folder.clone(), jobs);
            let pool = pool.map_err(explained)?;
            let stage = Stage::new(pool, LIMIT, deadline.clone());
            // Each check begins with an empty folder.
            remove_folder(&check)?;
            fs::create_dir_all(&check)?;
            let means = Means {
                program: case.program,
                jdk: case.jdk,
                stage: &stage,
                junit,
                runner: Runner::of(case.program, junit),
                folder: &check,
                directory: directory.as_deref(),
                wanted,
                confines: &confines,
                driver: &driver,
                condition: case.condition,
                predicate: predicate.as_ref(),
                taken: case.taken.clone(),
                concrete: case.concrete,
            };
            Ok(make_test(case.script, case.signature, &means))
        };
        let folders = case.found.working_folders(directory.as_deref());
        let found = in_best_folder(&folders, &deadline, run);
        allowance.spend(began.elapsed(), driver.tally().tests);
        found?.map_err(explained)
    }

    /// The time and the tests for all ways to a test of one failure.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance {
            time: Cell::new(self.max_time),
            tests: Cell::new(self.max_tests),
        }
    }
}

/// The files that a program finds where it works.
pub(crate) struct FilesFound {
    /// When the program had not run yet. Files that are younger may be its work.
    began: SystemTime,
    /// The folder as it was then, where somebody was there to look.
    saved: Option<(Arc<Template>, Scratch)>,
}

impl FilesFound {
    /// Those of a program that ran from a certain time on.
    pub(crate) fn since(began: SystemTime) -> FilesFound {
        FilesFound { began, saved: None }
    }

    /// Those of a program that is to run in a folder, whose files are saved now.
    pub(crate) fn now(folder: &Path, now: SystemTime) -> FilesFound {
        let saved = || -> io::Result<_> {
            let scratch = Scratch::new("files")?;
            let template = Template::of(folder, now)?.save_to(scratch.path())?;
            Ok((Arc::new(template), scratch))
        };
        FilesFound {
            began: now,
            // Without them, what is left of the files when the program has run has to do.
            saved: saved().ok(),
        }
    }

    /// The working folders to try, in this order. A test that fails in an empty folder needs nothing but itself; others
    /// need files of the folder that the program worked in, as it was before the program ran, or as it is.
    fn working_folders(&self, directory: Option<&Path>) -> Vec<WorkingFolder> {
        let mut folders = vec![WorkingFolder::Empty];
        let Some(directory) = directory else {
            return folders;
        };
        let saved = self.saved.as_ref().map(|(template, _)| template);
        let saved = saved
            .filter(|template| template.root() == directory)
            .cloned();
        let template = saved.or_else(|| Template::of(directory, self.began).ok().map(Arc::new));
        let template = template.filter(|template| !template.is_empty());
        folders.extend(template.map(WorkingFolder::Copy));
        folders.push(WorkingFolder::Given(directory.to_owned()));
        folders
    }
}

/// What comes of the first working folder in which the calls fail with the very message and the test is seen to
/// fail; or else of the first in which they fail in the same way.
fn in_best_folder(
    folders: &[WorkingFolder],
    deadline: &Deadline,
    run: impl Fn(&WorkingFolder, Grade) -> anyhow::Result<Result<Found, Error>>,
) -> anyhow::Result<Result<Found, Error>> {
    let mut best: Option<Result<Found, Error>> = None;
    let mut next = folders.to_vec();
    for wanted in [Grade::L3, Signature::ENOUGH] {
        for folder in std::mem::take(&mut next) {
            if best.is_some() && deadline.is_over() {
                break;
            }
            let found = run(&folder, wanted)?;
            match &found {
                Ok(it) if it.grade >= Some(Signature::ENOUGH) || it.is_misprinted => {
                    return Ok(found);
                }
                Ok(_) | Err(Error::OtherFailure(_)) => {}
                Err(Error::OtherMessage(_)) => next.push(folder),
                Err(_) => return Ok(best.filter(Result::is_ok).unwrap_or(found)),
            }
            // The last of those that fail is the one most like what the program had.
            if !matches!(best, Some(Ok(_))) {
                best = Some(found);
            }
        }
    }
    best.context("no folder to work in")
}

/// The rest of `--max-time` and `--max-tests` for one failure. Runs of the user's command do not count.
pub(crate) struct Allowance {
    time: Cell<Duration>,
    tests: Cell<Option<u64>>,
}

impl Allowance {
    /// The deadline of what begins now.
    fn deadline(&self, interrupt: &Interrupt) -> anyhow::Result<Deadline> {
        match self.is_spent() {
            true => Err(explained(PoolError::OutOfTime)),
            false => Ok(Deadline::after(self.time.get().max(FIRST)).unless(interrupt)),
        }
    }

    /// What is left for a reduction that began at this time.
    fn left(&self, began: Instant) -> Duration {
        self.time.get().saturating_sub(began.elapsed())
    }

    /// Takes off the time and the tests of a reduction.
    fn spend(&self, time: Duration, tests: u64) {
        self.time.set(self.time.get().saturating_sub(time));
        let left = self.tests.get();
        self.tests.set(left.map(|left| left.saturating_sub(tests)));
    }

    /// Whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.time.get().is_zero()
    }
}

/// What a line of progress says.
fn said(event: &Event, interrupt: &Interrupt) -> String {
    match event {
        Event::Tested(it) if it.search == CALLS => {
            let (left, of, tests) = (it.best, it.whole, it.number);
            format!("minimising: {left} of {of} calls left, {tests} candidates")
        }
        Event::Tested(it) => format!("simplifying {}: {} candidates", it.search, it.number),
        Event::Checking if interrupt.is_wanted() => {
            "checking the smallest so far (Ctrl-C again to end)".to_owned()
        }
        Event::Checking => "checking".to_owned(),
    }
}

/// Files that a test does not fail without, as a part of a sentence.
fn needed_files(folder: &WorkingFolder) -> Option<String> {
    match folder {
        WorkingFolder::Empty | WorkingFolder::Scratch => None,
        WorkingFolder::Copy(template) => {
            let root = template.root().display();
            let changed = template.changed().map(|file| {
                let file = file.display();
                format!("; the program changed {file} there, so calls may be missing")
            });
            let changed = changed.unwrap_or_default();
            Some(format!("it needs files of {root}{changed}"))
        }
        WorkingFolder::Given(path) => Some(format!(
            "it needs files of {}, or of your home folder; if the program wrote them, calls may be missing",
            path.display()
        )),
    }
}

/// That the user ended it.
pub(crate) fn interrupted() -> Expected {
    Expected::new(ExitCode::Interrupted, "interrupted")
}

/// Why a result may not be minimal.
fn early(end: End) -> Option<&'static str> {
    match end {
        End::Minimal => None,
        End::Tests => Some("--max-tests was reached"),
        End::Time => Some("--max-time was reached"),
        End::Cancelled => Some("interrupted"),
    }
}

/// An error of the minimiser as an answer of ours: what it did not find, and what to do about it.
pub(crate) fn explained(error: impl Into<Error>) -> anyhow::Error {
    let error = error.into();
    let hint = match &error {
        Error::Script(ScriptError::NoFailure | ScriptError::Missing(_)) => {
            "observe other classes: culprit record --contents --observe ..., then culprit minimize"
        }
        Error::NotLinked => {
            "the test computes what it asserts by itself; assert something of a result directly"
        }
        Error::Script(ScriptError::NotCalled(_)) => {
            "name a method by its class, as the main class calls it"
        }
        Error::Script(ScriptError::NoObject(_)) => {
            "name a class whose objects the main class makes or is given"
        }
        Error::Script(ScriptError::NeverHeld(_)) => {
            "objects are checked after each call of the main class that involves them"
        }
        Error::Script(ScriptError::Expression(_)) => {
            let hint = "write it as in a lambda: 'shop.Cart c -> c.total() < 0'; classes of other \
                        packages by their full names";
            return refused(ExitCode::Usage, &error, hint);
        }
        Error::OtherFailure(Run::Refused { .. }) => {
            "the sandbox refuses that; if the program may do it on this machine: --no-sandbox"
        }
        Error::OtherFailure(_) | Error::OtherMessage(_) => {
            "it may depend on files, time, threads or code that was not observed; \
             culprit replay still runs it as it was"
        }
        Error::Refused(_) => {
            "if its calls can do no harm, reduce it without the sandbox: --no-sandbox"
        }
        Error::Script(ScriptError::TooLarge) => {
            let hint =
                "record fewer calls: name classes with --observe, or the last events with --last";
            return refused(ExitCode::Recording, &error, hint);
        }
        Error::Unsteady => "it may depend on random numbers, time or threads; run it again",
        Error::Print(_) => "culprit show --scenario shows the calls",
        Error::Pool(PoolError::Interrupted) | Error::Launch(LaunchError::Interrupted) => {
            return interrupted().into();
        }
        Error::Pool(PoolError::OutOfTime) => {
            let message =
                "no candidate was seen to fail like the program before --max-time was over";
            let hint = "give it more time (--max-time); the code may wait for something that the sandbox \
                        refuses, such as the network or a file to write";
            return Expected::new(ExitCode::No, message).hint(hint).into();
        }
        Error::Journal(_) => {
            let hint = "name another folder (-o), or reduce without --resume";
            return refused(ExitCode::Usage, &error, hint);
        }
        Error::Pool(why) => return refused(ExitCode::Target, &error, why.next_step()),
        Error::Launch(_) => {
            return refused(ExitCode::Target, &error, "check the JDK (JAVA_HOME, PATH)");
        }
        Error::Script(
            ScriptError::Recording(why) | ScriptError::Replay(Unplayable::Recording(why)),
        ) => return show::expected(why).into(),
        Error::Script(
            ScriptError::Program(ProgramError::Forged(_))
            | ScriptError::Replay(Unplayable::Program(ProgramError::Forged(_))),
        ) => {
            return refused(ExitCode::Recording, &error, FORGED);
        }
        Error::Script(ScriptError::Replay(_) | ScriptError::Program(_)) => {
            let hint = "check the class path of the program";
            return refused(ExitCode::Target, &error, hint);
        }
        _ => return error.into(),
    };
    Expected::new(ExitCode::No, error.to_string())
        .hint(hint)
        .into()
}

fn refused(code: ExitCode, error: &Error, hint: &str) -> anyhow::Error {
    Expected::new(code, error.to_string()).hint(hint).into()
}

impl Results {
    /// Uses a folder that is new or empty.
    pub(crate) fn in_folder(wish: &Path) -> Result<Results, Expected> {
        let unusable = |error: io::Error| {
            let message = format!("cannot write to {}: {error}", wish.display());
            Expected::new(ExitCode::Usage, message).hint("name another folder (-o)")
        };
        // Values of the program are in there.
        let mut private = fs::DirBuilder::new();
        let made = private.recursive(true).mode(0o700).create(wish);
        made.map_err(unusable)?;
        let mut entries = fs::read_dir(wish).map_err(unusable)?.flatten();
        if entries.any(|it| it.file_name() != log::FILE) {
            let message = format!("{} is not empty", wish.display());
            return Err(Expected::new(ExitCode::Usage, message)
                .hint("name a new or empty folder with -o, so that nothing is overwritten"));
        }
        let folder = wish.canonicalize().map_err(unusable)?;
        log::keep_in(&folder);
        Ok(Results {
            folder,
            tests: Vec::new(),
            text: String::new(),
        })
    }

    /// Goes on in the folder of an earlier reduction.
    pub(crate) fn resumed(wish: &Path) -> Result<Results, Expected> {
        let nothing = || {
            let message = format!("{} has no journal to resume from", wish.display());
            Expected::new(ExitCode::Usage, message)
                .hint("name the folder of an earlier reduction with -o, or leave out --resume")
        };
        let folder = wish.canonicalize().map_err(|_| nothing())?;
        match folder.join(JOURNALS).is_dir() {
            true => {
                log::keep_in(&folder);
                Ok(Results {
                    folder,
                    tests: Vec::new(),
                    text: String::new(),
                })
            }
            false => Err(nothing()),
        }
    }

    /// Takes everything away if there was no room for all of it. The folder was new, or empty.
    pub(crate) fn discard_if_full(&self, error: &anyhow::Error) {
        if crate::is_full(error) {
            // What stays is as much as the disk lets go.
            let _ = remove_folder(&self.folder);
        }
    }

    /// The folder for verdicts.
    pub(crate) fn journals(&self) -> PathBuf {
        self.folder.join(JOURNALS)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a test and says what it is; whether it fails as the program did.
    pub(crate) fn add(
        &mut self,
        (signature, rate, level): (&Signature, Option<Rate>, Level),
        found: &Found,
        began: Instant,
        console: &mut Console,
    ) -> anyhow::Result<bool> {
        let tests = self.folder.join(match &level {
            Level::Outermost => "tests",
            // These need not pass when the caller is mended.
            Level::Innermost { .. } => "innermost",
        });
        let place = tests.join(found.test.package.replace('.', "/"));
        fs::create_dir_all(&place)?;
        let file = place.join(format!("{}.java", found.test.class_name));
        fs::write(&file, &found.test.source)?;
        let minimised = &found.minimised;
        let left = found.left();
        let (verdict, is_good) = verdict(found);
        let by_hand = match is_good {
            true => None,
            false => by_hand(found, &file, &self.folder.join("check"))?,
        };
        let early = early(minimised.end);
        let seconds = began.elapsed().as_secs_f64();
        let shown = file
            .strip_prefix(&self.folder)
            .map_or_else(|_| clean::path(&file), clean::path);
        self.tests.push(json!({
            "failure": signature.to_string(),
            "stack": signature.thrown().to_string(),
            "fails": rate.map(|rate| json!({ "times": rate.times, "of": rate.of })),
            "level": level.to_string(),
            "test": shown,
            "captured": minimised.captured,
            "sliced": minimised.sliced,
            "left": left,
            "leftOfThrower": match &level {
                Level::Outermost => None,
                Level::Innermost { calls, .. } => Some(calls),
            },
            "statements": found.test.notes.statements,
            "surroundings": minimised.script.prelude,
            "environment": found.needs.as_ref().map(Needed::names),
            "standIns": found.test.notes.stand_ins,
            "reflection": found.test.notes.uses_reflection,
            "runs": found.tests,
            "minimal": early.is_none(),
            "seconds": (seconds * 10.0).round() / 10.0,
            "runBy": found.runner.name(),
            "folder": clean::line(&found.works_in.to_string()),
            "verified": is_good,
            "verdict": verdict,
            "byHand": by_hand,
        }));
        let own = match &level {
            Level::Outermost => String::new(),
            Level::Innermost { calls, .. } if *calls == left => String::new(),
            Level::Innermost { class, calls } => format!(" ({calls} of {class})"),
        };
        let summary = format!(
            "{} calls recorded, {} in the slice, {left} left{own} after {} runs",
            minimised.captured, minimised.sliced, found.tests
        );
        let partial = early.map(|why| format!("may not be minimal: {why}"));
        let needs = needed_files(&found.works_in);
        self.text.push_str(&format!(
            "## {}{}\n\n{}{summary}{}. {}: {}.{}\n\n{}\n{}",
            plain(&signature.to_string()),
            match level {
                Level::Outermost => "",
                Level::Innermost { .. } => ": the innermost level",
            },
            rate.map_or(String::new(), |rate| format!("The command {rate}. ")),
            (partial.as_ref()).map_or(String::new(), |partial| format!("; {partial}")),
            code(&shown),
            plain(&verdict),
            (needs.as_ref()).map_or(String::new(), |needs| format!(" Note: {}.", plain(needs))),
            block("java", &found.test.source),
            (by_hand.as_ref()).map_or(String::new(), |command| format!(
                "{OUTSIDE}:\n\n{}\n",
                block("sh", &format!("{command}\n"))
            )),
        ));
        let trouble = found.journal_trouble.as_ref();
        let trouble = trouble.map(|why| format!("the journal lacks verdicts: {why}"));
        for line in [Some(summary), partial, trouble].into_iter().flatten() {
            writeln!(console.err(), "  {line}")?;
        }
        writeln!(console.err(), "  {}", clean::line(&verdict))?;
        if let Some(needs) = &needs {
            writeln!(console.err(), "  {}", clean::line(needs))?;
        }
        write!(console.out(), "{}", found.test.source)?;
        writeln!(console.err(), "  {}", clean::path(&file))?;
        if let Some(command) = by_hand {
            writeln!(console.err(), "  {OUTSIDE}:\n  {command}")?;
        }
        Ok(is_good)
    }

    /// Notes a failure that no test was made of.
    pub(crate) fn miss(
        &mut self,
        signature: &Signature,
        rate: Option<Rate>,
        error: &anyhow::Error,
    ) {
        let why = format!("{error:#}");
        let how_often = rate.map_or(String::new(), |rate| format!("The command {rate}. "));
        self.text.push_str(&format!(
            "## {}\n\n{how_often}No test: {}.\n\n",
            plain(&signature.to_string()),
            plain(&why)
        ));
        self.tests.push(json!({
            "failure": signature.to_string(),
            "stack": signature.thrown().to_string(),
            "fails": rate.map(|rate| json!({ "times": rate.times, "of": rate.of })),
            "verified": false,
            "verdict": why,
        }));
    }

    /// Writes the reports.
    pub(crate) fn finish(&self, command: &str, of: &[&OsStr]) -> io::Result<()> {
        let masked = secret::masked(of);
        let mut script = "#!/bin/sh\n# Runs the command that made this folder again.\n".to_owned();
        if masked != of {
            script.push_str(shell::INCOMPLETE);
        }
        let words = shell::line(masked);
        script.push_str(&format!("{command} -o \"${{1:-again}}\" {words}\n"));
        let command = format!("{command} {words}");
        let report = json!({ "version": 1, "command": command, "tests": self.tests });
        fs::write(self.folder.join("report.json"), markup::json(&report))?;
        let text = format!("# What fails in {}\n\n{}", code(&command), self.text);
        fs::write(self.folder.join("report.md"), text)?;
        fs::write(self.folder.join("repeat.sh"), script)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_jdk_that_compiles_comes_before_a_jre() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str, tools: &[&str]| {
            let bin = home.path().join(name).join("bin");
            fs::create_dir_all(&bin).unwrap();
            for tool in tools {
                fs::write(bin.join(tool), "").unwrap();
                fs::set_permissions(bin.join(tool), fs::Permissions::from_mode(0o755)).unwrap();
            }
            let release = home.path().join(name).join("release");
            fs::write(release, "JAVA_VERSION=\"17.0.1\"\n").unwrap();
            Jdk::at(&home.path().join(name)).unwrap()
        };
        let (jre, jdk) = (at("jre", &["java"]), at("jdk", &["java", "javac"]));
        let (whole, rest) = with_compiler_first(vec![jre.clone(), jdk.clone()]);
        assert_eq!((whole, rest), (vec![jdk], vec![jre]));
    }

    #[test]
    fn errors_of_the_minimiser_have_a_code_and_a_next_step() {
        let check = |error: Error, code: ExitCode, hint: &str| {
            let told = explained(error);
            let told = told.downcast_ref::<Expected>().unwrap();
            assert_eq!(told.code, code, "{told}");
            let said = told.hint.as_deref().unwrap_or_default();
            assert!(said.contains(hint), "{said}");
        };
        check(
            ScriptError::NoFailure.into(),
            ExitCode::No,
            "observe other classes",
        );
        check(Error::Unsteady, ExitCode::No, "random numbers");
        check(
            Error::OtherMessage(Run::Done),
            ExitCode::No,
            "may depend on",
        );
        let interrupted = Error::Pool(PoolError::Interrupted);
        check(interrupted, ExitCode::Interrupted, "");
        let unreadable = ProgramError::ClassPath {
            path: "a.jar".into(),
            error: io::Error::other("no zip"),
        };
        check(unreadable.into(), ExitCode::Target, "class path");
    }
}
