//! `culprit isolate changes`: which changes between two versions make a test fail.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_isolate::changes::{
    Error, Git, Isolation, Leftovers, NoText, Repository, Request, VersionSource, WORK_TREE,
};
use culprit_isolate::{Convention, Likeness, Rule, TestCommand, UNRESOLVED};
use culprit_isolate::{How, Unfit};
use culprit_jvm::{Deadline, Interrupt, Scratch};
use culprit_model::{clean, shell};
use culprit_reduce::{DeltaSet, Goal, JournalError, ReductionEvent, Tested};

use super::options::{self, Options};
use super::results::{Candidates, Results};
use super::typed::Typed;
use super::{print, say};
use crate::confinement;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::progress::Progress;
use culprit_report::figure;
use culprit_report::isolate::changes::{ChangesCandidate, ChangesReport};

/// Options of `culprit isolate changes`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The version that passes: a Git revision of the repository you are in, or a folder
    #[arg(long, value_name = "REV")]
    good: OsString,
    /// The version that fails: a Git revision, a folder, or WORKTREE for the uncommitted files
    #[arg(long, value_name = "REV")]
    bad: OsString,
    #[command(flatten)]
    options: Options,
    /// Run this command before the test; a candidate for which it fails is unresolved
    #[arg(long, value_name = "CMD", help_heading = options::TEST)]
    build: Option<String>,
    /// Search for a smallest set of changes that makes the good version fail (takes more tests)
    #[arg(long, help_heading = options::SEARCH)]
    simplify: bool,
    /// Build each candidate in an empty folder instead of on top of earlier builds
    #[arg(long, help_heading = options::TEST)]
    fresh: bool,
    /// Also write the passing and the failing version to the result folder
    #[arg(long)]
    keep_variants: bool,
    /// Write the results to this folder, which must be new or empty
    #[arg(short, long, value_name = "DIR", default_value = "culprit-isolate")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  culprit isolate changes --good v1.2 --bad HEAD --build make --test ./check.sh
  culprit isolate changes --good HEAD --bad WORKTREE \\
      --build 'mvn -q test-compile' --test 'mvn -q test'
  culprit isolate changes --good lib-1.4 --bad lib-1.5 --build make --test ./t
The commands run in a folder that contains only the files of the candidate; your
work tree and repository are not changed. $CULPRIT_STARTED_IN is the folder you
are in now. A test that builds by itself must exit with 125 if the build fails.

Exit codes:
  0    the changes that make the test fail were found
  1    everything ran, but the test does not separate the two versions
  2    wrong command line, or a file or folder on it cannot be used
  3    the test or the build cannot be run on the bad version
  130  interrupted; the best result found so far was written, if any";

/// The next step where a submodule is left out.
const BRING_SUBMODULES: &str = "fetch it with: git submodule update --init --recursive";

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let started = std::env::current_dir()?;
    // Where the kernel has no sandbox, Git runs as the user would run it.
    let confined = match args.options.sandbox || confinement::is_available() {
        true => args.options.confined(console)?,
        false => None,
    };
    let sandbox = confined.clone().filter(|_| args.options.sandbox);
    let interrupt = Interrupt::by_signals()?;
    let deadline = args.options.max_time.map(Deadline::after);
    let git = Git {
        env: std::env::vars_os().collect(),
        limits: match confined {
            Some(_) => culprit_jvm::Limits::of_machine(&std::env::temp_dir()),
            None => culprit_jvm::Limits::NONE,
        },
        sandbox: confined,
        deadline: deadline.unwrap_or_default().unless(&interrupt),
    };
    let mut repository = None;
    let good =
        VersionSource::find(&args.good, &started, &git, &mut repository).map_err(explained)?;
    let bad = VersionSource::find(&args.bad, &started, &git, &mut repository).map_err(explained)?;
    if let Some(repository) = &repository {
        for note in left_out(repository, &good, &bad).map_err(explained)? {
            say("", &format!("culprit: {note}"), console)?;
        }
    }
    let results = Results::in_folder(&args.output, args.options.resume)?;
    let work = Scratch::new("isolate")?;
    let env = options::environment(&started, work.path());
    let request = Request {
        good: good.clone(),
        bad: bad.clone(),
        repository: repository.as_ref(),
        test: args.options.test(&env, sandbox.clone()),
        build: args.build.as_ref().map(|command| TestCommand {
            command: command.into(),
            rule: Rule {
                convention: Convention::Test,
                signs: Vec::new(),
            },
            limit: args.options.timeout,
            env: env.clone(),
            sandbox: sandbox.clone(),
            limits: culprit_jvm::Limits::NONE,
        }),
        likeness: args.options.likeness().unwrap_or(Likeness::Message),
        runs: args.options.repeat,
        leftovers: if args.fresh {
            Leftovers::Go
        } else {
            Leftovers::Stay
        },
        goal: if args.simplify {
            Goal::Simplify
        } else {
            Goal::Isolate
        },
        settings: args.options.settings(&interrupt),
        results: &results.path(""),
        journals: &results.journals(),
        work: work.path(),
    };
    let candidates = RefCell::new(Candidates::begin(&results)?);
    let course: RefCell<Vec<Tested>> = RefCell::default();
    let progress = Progress::begin(console, "copying both versions");
    let trouble = RefCell::new(None);
    let found = request.run(&|event| {
        let ReductionEvent::Tested(tested) = event else {
            progress.say("checking the result".to_owned());
            return;
        };
        progress.say(said(tested));
        if let Err(error) = candidates.borrow_mut().add(&ChangesCandidate::from(tested)) {
            trouble.borrow_mut().get_or_insert(error);
        }
        course.borrow_mut().push(tested.clone());
    });
    drop(progress);
    let found = match found {
        Ok(found) => found,
        Err(why) => {
            drop(candidates);
            match why {
                // The next test is another one.
                Error::GoodFails { .. } | Error::GoodUnresolved(_) if !args.options.resume => {
                    results.forget();
                }
                _ => results.give_up(),
            }
            return Err(explained(why));
        }
    };
    if let Some(error) = trouble.into_inner() {
        writeln!(
            console.err(),
            "culprit: candidates.jsonl lacks verdicts: {error}"
        )?;
    }
    let report = ChangesReport {
        command: args
            .typed(&args.good, &args.bad, &args.options.starting())
            .line(),
        test: args
            .options
            .test(&env, None)
            .command
            .to_string_lossy()
            .into_owned(),
        good: good.name(),
        bad: bad.name(),
        jobs: args.options.jobs,
        found: &found,
        course: &course.borrow(),
        resume: args
            .typed(&args.good, &args.bad, &args.options.resuming(found.end))
            .line_into(&args.output),
    };
    write(&report, &results)?;
    args.write_script(&good, &bad, &started, &results)?;
    if args.keep_variants {
        keep(&found, &results)?;
    }
    match args.options.json {
        true => write!(console.out(), "{}", report.document().json())?,
        false => print(
            &report.text(console.columns(), console.styles()),
            &report.notes(),
            report.resume(),
            &results,
            console,
        )?,
    }
    Ok(match () {
        () if interrupt.is_wanted() => ExitCode::Interrupted,
        () if report.is_confirmed() == Some(false) => ExitCode::No,
        () => ExitCode::Answered,
    })
}

/// Writes the patches and the reports.
fn write(report: &ChangesReport<'_>, results: &Results) -> anyhow::Result<()> {
    let found = report.found;
    let patch = |from, to| found.difference.patch(from, to, NoText::Held);
    let minimal = patch(&found.passing, &found.failing).map_err(explained)?;
    results.write("minimal.patch", minimal)?;
    if !found.passing.is_empty() {
        let context = patch(&DeltaSet::empty(), &found.passing).map_err(explained)?;
        results.write("context.patch", context)?;
    }
    results.write("report.json", report.document().json())?;
    results.write("report.md", report.markdown().map_err(explained)?)?;
    results.write("report.html", report.html().map_err(explained)?)?;
    Ok(())
}

/// What the user may miss in the versions.
fn left_out(
    repository: &Repository,
    good: &VersionSource,
    bad: &VersionSource,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    if let VersionSource::Commit { id, .. } = bad
        && *good != VersionSource::WorkTree
        && repository.is_head(id)
        && repository.is_dirty()?
    {
        notes.push(format!(
            "uncommitted changes are left out; --bad {WORK_TREE} includes them"
        ));
    }
    let mut absent = bad.absent_submodules(repository)?;
    absent.extend(good.absent_submodules(repository)?);
    absent.sort_by(|one, other| one.path.cmp(&other.path));
    absent.dedup_by(|one, other| one.path == other.path);
    for submodule in absent {
        let path = clean::path(&submodule.path);
        notes.push(format!(
            "the submodule {path} is left out, since it is not here; {BRING_SUBMODULES}"
        ));
    }
    Ok(notes)
}

impl Args {
    /// As they would be typed for these versions, without the folder for results.
    fn typed(&self, good: &OsStr, bad: &OsStr, options: &Options) -> Typed {
        let mut typed = Typed::new("changes");
        typed.option("--good", good);
        typed.option("--bad", bad);
        if let Some(build) = &self.build {
            typed.option("--build", build);
        }
        typed.flags(&[
            (self.simplify, "--simplify"),
            (self.fresh, "--fresh"),
            (self.keep_variants, "--keep-variants"),
        ]);
        options.type_into(&mut typed);
        typed
    }

    /// Writes the script that repeats it. Names of commits move: there they are told beside the commits.
    fn write_script(
        &self,
        good: &VersionSource,
        bad: &VersionSource,
        started: &Path,
        results: &Results,
    ) -> std::io::Result<()> {
        let mut notes = Vec::new();
        let mut fixed = |option: &str, typed: &OsStr, side: &VersionSource| match side {
            VersionSource::Commit { id, .. } => {
                notes.push(format!("{option} {} was this commit", shell::line([typed])));
                id.into()
            }
            VersionSource::Folder(_) | VersionSource::WorkTree => typed.to_owned(),
        };
        let good = fixed("--good", &self.good, good);
        let bad = fixed("--bad", &self.bad, bad);
        let typed = self.typed(&good, &bad, &self.options.starting());
        results.write_script(started, &notes, &typed)
    }
}

/// Leaves both versions where the user finds them.
fn keep(found: &Isolation, results: &Results) -> anyhow::Result<()> {
    let folder = results.path("variants");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    for (name, set) in [("passing", &found.passing), ("failing", &found.failing)] {
        found
            .difference
            .write(set, &folder.join(name))
            .map_err(explained)?;
    }
    Ok(())
}

/// What the line of progress says.
fn said(tested: &Tested) -> String {
    let left = match tested.left {
        0 => String::new(),
        left => format!(", {left} left"),
    };
    let to_go = time_left(tested).map_or(0, |time| time.as_secs());
    let to_go = match to_go {
        0 => String::new(),
        seconds => format!(", at least {seconds} s to go"),
    };
    let tests = figure::counted(tested.number, "test");
    format!("isolating: {}{left}, {tests}{to_go}", tested.search)
}

/// What the level at hand takes if each test halves it.
fn time_left(tested: &Tested) -> Option<Duration> {
    let tests = u32::try_from(tested.number).ok()?;
    let each = tested.elapsed.checked_div(tests)?;
    let halvings = 64 - tested.left.saturating_sub(1).leading_zeros();
    (halvings > 0).then(|| each * halvings)
}

/// What is said where the shell could not run the test or the build.
fn not_run(error: &Error) -> Option<Expected> {
    let (command, how, printed) = match error {
        Error::Bad(Unfit::Passes(ending)) => ("test", ending.how.to_string(), &ending.last_lines()),
        Error::GoodFails { how, printed } => ("test", how.clone(), printed),
        Error::NotBuilt { how, printed, .. } => ("build", how.to_string(), printed),
        _ => return None,
    };
    let paths = "relative paths start in the candidate; you are in $CULPRIT_STARTED_IN";
    options::not_run(command, &how, printed, paths)
}

/// An error with its exit code and the next step.
fn explained(error: Error) -> anyhow::Error {
    if let Some(told) = not_run(&error) {
        return told.into();
    }
    let (code, hint) = match &error {
        Error::NoRepository { .. } => (
            ExitCode::Usage,
            "go to a Git repository, or name two folders as --good and --bad",
        ),
        Error::NotOurs { allow, .. } => (ExitCode::Usage, allow.as_str()),
        Error::NoRevision {
            is_shallow: true, ..
        } => (
            ExitCode::Usage,
            "fetch the missing commits with: git fetch --unshallow",
        ),
        Error::NoRevision { .. } => (
            ExitCode::Usage,
            "git log shows those that there are; a folder may be named too",
        ),
        Error::NoSubmodule(_) => (
            ExitCode::Usage,
            "git submodule update --init --recursive brings those of HEAD; for others name two \
             folders, each a version with its submodules",
        ),
        Error::OldSubmodule(_) => (ExitCode::Usage, "fetch it with git fetch in the submodule"),
        Error::NoWorkTree => (ExitCode::Usage, "name a revision"),
        Error::NoGit => (ExitCode::Usage, "install git, or name two folders"),
        Error::OldGit => (ExitCode::Usage, "install a newer git, or name two folders"),
        Error::NoDifference => (ExitCode::Usage, "name two versions that differ"),
        Error::Bad(Unfit::Passes(_) | Unfit::Unlike(_)) => (
            ExitCode::No,
            "the test must fail on --bad: run it there by hand\n\
             files that are not in the version are below $CULPRIT_STARTED_IN",
        ),
        Error::Bad(Unfit::Unresolved(ending, _)) if ending.how == How::Late => (
            ExitCode::Target,
            "--timeout gives it longer; --fail-if timeout takes that for the failure",
        ),
        Error::Bad(Unfit::Unresolved(ending, _))
            if ending.how.signal().is_none() && ending.how.code() != Some(UNRESOLVED) =>
        {
            (ExitCode::Target, options::PRINT_LESS)
        }
        Error::NotBuilt { how: How::Late, .. } => (ExitCode::Target, "--timeout gives it longer"),
        Error::Bad(Unfit::Unresolved(..)) | Error::NotBuilt { .. } => (
            ExitCode::Target,
            "build and test must run on --bad as it is, with its files only",
        ),
        Error::Bad(Unfit::Refused(_)) => (ExitCode::Target, options::REFUSED),
        Error::Bad(Unfit::Seldom { .. }) => (
            ExitCode::No,
            "--repeat N runs each candidate N times anyway",
        ),
        Error::Bad(Unfit::Error(_)) | Error::Launch(_) | Error::Test(_) => {
            (ExitCode::Target, "check the command")
        }
        Error::Swapped(_) => (ExitCode::No, "are --good and --bad swapped?"),
        Error::GoodFails { .. } | Error::GoodUnresolved(_) => (
            ExitCode::No,
            "the test must pass on --good: name an older version, or mend the test\n\
             it runs in a folder of ours; yours is $CULPRIT_STARTED_IN",
        ),
        Error::Journal(JournalError::Io { .. }) => (ExitCode::Usage, options::NO_JOURNAL),
        Error::Journal(JournalError::Version { .. }) => (ExitCode::Usage, options::OTHER_VERSION),
        Error::Journal(_) | Error::OtherVerdicts(_) => (ExitCode::Usage, options::OTHER_SEARCH),
        Error::Interrupted => {
            return Expected::new(ExitCode::Interrupted, error.to_string()).into();
        }
        Error::Spent => (
            ExitCode::No,
            "--resume with a larger --max-tests or --max-time continues",
        ),
        Error::Git { .. } => (
            ExitCode::Target,
            "run it by hand to see more; a filter that writes files or uses the network needs --no-sandbox",
        ),
        Error::GitLate { .. } => (
            ExitCode::Target,
            "a filter or another program that .git/config names may hang; --max-time gives it longer",
        ),
        Error::Io { .. } => (ExitCode::Usage, "check that it can be read and written"),
        Error::Search(_) => (
            ExitCode::No,
            "the test may be flaky; try --fresh or --repeat",
        ),
    };
    let hint = match &error {
        Error::Bad(Unfit::Passes(ending)) => {
            let hint = format!("{hint}\n{}", options::NOW_AND_THEN);
            options::with_printed(&hint, &ending.last_lines())
        }
        Error::Bad(Unfit::Unresolved(ending, _)) => {
            options::with_printed(hint, &ending.last_lines())
        }
        Error::GoodFails { printed, .. } | Error::NotBuilt { printed, .. } => {
            options::with_printed(hint, printed)
        }
        _ => hint.to_owned(),
    };
    Expected::new(code, error.to_string()).hint(hint).into()
}

#[cfg(test)]
mod tests {
    use culprit_isolate::changes::Submodule;
    use culprit_reduce::{Digest, VerdictKind};

    use super::*;

    #[test]
    fn time_left_is_that_of_halving() {
        let tested = |left, number| Tested {
            number,
            search: "lines".to_owned(),
            kind: VerdictKind::Pass,
            detail: String::new(),
            digest: Digest::of(b""),
            size: 1,
            best: 1,
            whole: 1,
            units: 1,
            left,
            granularity: 1,
            open: 1.0,
            elapsed: Duration::from_secs(20),
            is_replayed: false,
        };
        assert_eq!(time_left(&tested(1, 10)), None);
        assert_eq!(time_left(&tested(8, 10)), Some(Duration::from_secs(6)));
        assert_eq!(
            said(&tested(8, 10)),
            "isolating: lines, 8 left, 10 tests, at least 6 s to go"
        );
        assert_eq!(said(&tested(1, 1)), "isolating: lines, 1 left, 1 test");
        assert_eq!(said(&tested(2, 90)), "isolating: lines, 2 left, 90 tests");
    }

    #[test]
    fn errors_have_a_code_and_a_next_step() {
        let check = |error: Error, code: ExitCode, hint: &str| {
            let told = explained(error);
            let told = told.downcast_ref::<Expected>().unwrap();
            assert_eq!(told.code, code, "{told}");
            assert!(told.hint.as_deref().unwrap_or_default().contains(hint));
        };
        let shallow = Error::NoRevision {
            revision: "v1".to_owned(),
            is_shallow: true,
        };
        check(shallow, ExitCode::Usage, "--unshallow");
        check(
            Error::GoodFails {
                how: "exits with status 1".to_owned(),
                printed: "no such class".to_owned(),
            },
            ExitCode::No,
            "it printed: no such class",
        );
        check(Error::Interrupted, ExitCode::Interrupted, "");
        let missing = Submodule {
            path: Path::new("sub").to_owned(),
            commit: "abc".to_owned(),
        };
        check(
            Error::NoSubmodule(missing.clone()),
            ExitCode::Usage,
            "submodule update",
        );
        check(Error::OldSubmodule(missing), ExitCode::Usage, "git fetch");
    }

    #[test]
    fn a_repository_is_not_needed_to_say_that_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let git = Git {
            env: std::env::vars_os().collect(),
            sandbox: None,
            limits: culprit_jvm::Limits::NONE,
            deadline: Deadline::never(),
        };
        let found = Repository::find(folder.path(), &git).err().map(explained);
        let text = found.unwrap().to_string();
        assert!(text.contains("is in no Git repository"), "{text}");
    }
}
