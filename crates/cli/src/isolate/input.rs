//! `culprit isolate input`: what of an input makes a test fail.

mod files;
mod java;
mod like;
mod room;
mod surroundings;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use culprit_isolate::input::{Handing, Material, Request, Syntax, Trouble, isolate, pairs};
use culprit_isolate::{Error, Language, Like, UNRESOLVED, Unfit, Warm};
use culprit_jvm::{Interrupt, Scratch};
use culprit_model::clean;
use culprit_reduce::{Goal, JournalError, ReductionEvent, SearchEnd, Tested};
use culprit_report::isolate::input::{InputCandidate, InputReport, ROWS};

use super::options::{self, Options};
use super::results::{Candidates, Results};
use super::typed::Typed;
use super::{print, say};
use crate::confinement::WITHOUT;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::progress::Progress;
use java::Java;
use surroundings::Surroundings;

/// Options of `culprit isolate input`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The file or folder on which the test fails
    #[arg(value_name = "FAILING")]
    failing: PathBuf,
    /// A file or folder on which it passes, as similar to FAILING as possible [default: an empty one]
    #[arg(long, value_name = "PATH")]
    passing: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
    /// Count only the failure in this file: a log with a stack trace, a report.json of
    /// `culprit debug`, or a recording
    #[arg(long, value_name = "FILE", help_heading = options::TEST)]
    like: Option<PathBuf>,
    /// Search for a smallest failing input instead of a pair (takes more tests)
    #[arg(long, help_heading = options::SEARCH)]
    simplify: bool,
    /// With --simplify: only remove parts, never replace anything by something shorter
    #[arg(long, requires = "simplify", help_heading = options::SEARCH)]
    verbatim: bool,
    /// Pass the candidate to the test on standard input
    #[arg(long, help_heading = options::TEST)]
    stdin: bool,
    /// Run each test in a new empty folder instead of the current one (a JUnit test also in a new JVM)
    #[arg(long, help_heading = options::TEST)]
    in_scratch: bool,
    /// Parse the input as this language, or as plain text if `none` [default: by name and content]
    #[arg(long, value_name = "NAME", value_parser = syntax, help_heading = options::SEARCH)]
    language: Option<Syntax>,
    /// Write the results to this folder, which must be new or empty
    #[arg(short, long, value_name = "DIR", default_value = "culprit-isolate")]
    output: PathBuf,
    #[command(flatten)]
    java: Java,
}

const EXAMPLES: &str = "\
Examples:
  culprit isolate input --test './render {}' crash.html
  culprit isolate input --test 'java -jar app.jar {}' bad.xml --passing good.xml
  culprit isolate input --simplify --interesting ./still-crashes.sh main.c
  culprit isolate input --java-test a.SomeTest#reads -cp 'build:lib/*' in.json
In the command, {} stands for the path of the candidate; without {}, the path is
appended. A candidate has the same file name as the input, in its own folder.

Exit codes:
  0    a pair of inputs, or a smallest input, was found
  1    everything ran, but the test does not separate passing from failing
  2    wrong command line, or a file or folder on it cannot be used
  3    the test cannot be run, or does not end
  130  interrupted; the best result found so far was written, if any";

/// Why a test of JUnit may pass.
const OTHER_FILE: &str = "the test may read another file, or run another version of the program: check --resource and -cp";

/// Where a command that a shell could not run is looked for.
const PATHS: &str = "relative paths start here, with --in-scratch in an empty folder";

fn syntax(name: &str) -> Result<Syntax, String> {
    match (name, Language::named(name)) {
        ("none", _) => Ok(Syntax::None),
        (_, Some(language)) => Ok(Syntax::Of(language)),
        (_, None) => {
            let names: Vec<&str> = Language::names().collect();
            Err(format!("write none, {}", names.join(", ")))
        }
    }
}

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let started = std::env::current_dir()?;
    let failing = read(&args.failing)?;
    if args.stdin && failing.is_folder {
        let message = format!("{name} is a folder", name = args.failing.display());
        return Err(Expected::new(ExitCode::Usage, message)
            .hint("--stdin takes one file; without it the test gets the folder by its path")
            .into());
    }
    let passing = args.passing.as_deref().map(read).transpose()?;
    let scratch = Scratch::new("isolate")?;
    let interrupt = Interrupt::by_signals()?;
    let sides = [failing.len(), passing.as_ref().map_or(0, Material::len)];
    if let Some(warning) = room::lack(sides) {
        say("", &format!("culprit: {warning}"), console)?;
    }
    let like = args.like.as_deref().map(like::read).transpose()?;
    let env = options::environment(&started, scratch.path());
    let options = &args.options;
    let sandbox = match args.java.name() {
        Some(_) => options.confined(console)?,
        None => options.sandbox_of_command(console)?,
    };
    let java = args
        .java
        .prepare(&args.failing, &failing, &started, sandbox.clone())?;
    let results = Results::in_folder(&args.output, args.options.resume)?;
    let test = match &java {
        Some(java) => {
            if !java.said.is_empty() {
                say("", &java.said, console)?;
            }
            let signs = options.signs();
            java.test
                .test(scratch.path(), signs, options.timeout, &env)?
        }
        None => options.test(&env, sandbox),
    };
    let warm = java
        .as_ref()
        // A JVM stays in the folder that it was started in.
        .filter(|_| !args.java.is_fresh() && !args.in_scratch)
        .map(|java| Arc::new(Warm::new(java.test.clone(), scratch.path(), &started, &env)));
    let request = |warm: Option<Arc<Warm>>, journals: PathBuf| Request {
        test: test.clone(),
        likeness: options.likeness().unwrap_or_default(),
        like: like.clone(),
        warm,
        runs: options.repeat,
        failing: failing.clone(),
        passing: passing.clone(),
        goal: match args.simplify {
            true => Goal::Simplify,
            false => Goal::Isolate,
        },
        syntax: args.language.unwrap_or(Syntax::ByFile),
        is_verbatim: args.verbatim,
        handing: match &java {
            Some(java) => Handing::Java(java.test.reads.clone()),
            None if args.stdin => Handing::Input,
            None => Handing::Argument,
        },
        directory: (!args.in_scratch).then(|| started.clone()),
        scratch: scratch.path().to_owned(),
        settings: options.settings(&interrupt),
        journals: Some(journals),
    };
    let ours = results.path("");
    let look = || Surroundings::of(&started, &[&ours, scratch.path()]);
    let before = look();
    let candidates = RefCell::new(Candidates::begin(&results)?);
    let course: RefCell<Vec<Tested>> = RefCell::default();
    let trouble = RefCell::new(None);
    let progress = Progress::begin(console, "seeing how it fails");
    let observer = |event: &ReductionEvent| {
        let ReductionEvent::Tested(tested) = event else {
            progress.say("checking the result".to_owned());
            return;
        };
        progress.say(said(tested, args));
        if let Err(error) = candidates.borrow_mut().add(&InputCandidate::from(tested)) {
            trouble.borrow_mut().get_or_insert(error);
        }
        course.borrow_mut().push(tested.clone());
    };
    let is_warm_wanted = warm.is_some();
    let mut found = isolate(request(warm, results.journals()), &observer);
    if matches!(found, Err(Trouble::WarmDiffers)) {
        // What counts is what a new JVM says.
        course.borrow_mut().clear();
        let journals = results.journals().join("fresh");
        std::fs::create_dir_all(&journals)?;
        found = isolate(request(None, journals), &observer);
    }
    drop(progress);
    let found = match found {
        Ok(found) => found,
        Err(why) => {
            drop(candidates);
            results.give_up();
            return Err(explained(why, args, like.as_ref()));
        }
    };
    if let Some(error) = trouble.into_inner() {
        let lacks = "candidates.jsonl lacks verdicts";
        writeln!(console.err(), "culprit: {lacks}: {error}")?;
    }
    let changed = before.changed(&look());
    let report = InputReport {
        command: args.typed(&options.starting()).line(),
        test: match args.java.name() {
            Some(name) => name,
            None => test.command.to_string_lossy().into_owned(),
        },
        input: &failing,
        has_other: passing.is_some(),
        name: args.failing.display().to_string(),
        found: &found,
        pairs: match &found.passing {
            Some(passing) => pairs(passing, &found.failing, ROWS),
            None => Vec::new(),
        },
        is_disturbed: is_warm_wanted && !found.is_warm,
        course: &course.borrow(),
        changed,
        is_interesting: options.says_interesting(),
        resume: args
            .typed(&options.resuming(found.end))
            .line_into(&args.output),
    };
    files::write(&report, &results)?;
    results.write_script(&started, &[], &args.typed(&options.starting()))?;
    match args.options.json {
        true => write!(console.out(), "{}", report.document().json())?,
        false => {
            let text = report.text(console.columns(), console.styles());
            print(&text, &report.notes(), report.resume(), &results, console)?;
        }
    }
    Ok(match found.end {
        _ if !found.again.is_so() => ExitCode::No,
        SearchEnd::Cancelled => ExitCode::Interrupted,
        _ => ExitCode::Answered,
    })
}

fn read(path: &Path) -> Result<Material, Expected> {
    Material::read(path).map_err(|error| {
        Expected::new(ExitCode::Usage, error.to_string()).hint("name a file or a folder to read")
    })
}

impl Args {
    /// As they would be typed with these options, without the folder for results.
    fn typed(&self, options: &Options) -> Typed {
        let mut typed = Typed::new("input");
        typed.path(&self.failing);
        for (name, path) in [("--passing", &self.passing), ("--like", &self.like)] {
            if let Some(path) = path {
                typed.option(name, path);
            }
        }
        self.java.type_into(&mut typed);
        typed.flags(&[
            (self.simplify, "--simplify"),
            (self.verbatim, "--verbatim"),
            (self.stdin, "--stdin"),
            (self.in_scratch, "--in-scratch"),
        ]);
        match self.language {
            Some(Syntax::None) => typed.option("--language", "none"),
            Some(Syntax::Of(language)) => typed.option("--language", language.name()),
            Some(Syntax::ByFile) | None => {}
        }
        options.type_into(&mut typed);
        typed
    }
}

/// What the line of progress says.
fn said(tested: &Tested, args: &Args) -> String {
    let doing = if args.simplify {
        "simplifying"
    } else {
        "isolating"
    };
    let tests = u32::try_from(tested.number).unwrap_or(u32::MAX);
    let each = tested.elapsed.checked_div(tests).unwrap_or_default();
    let to_go = u32::try_from(tested.tests_to_go()).unwrap_or(u32::MAX);
    let left = each.saturating_mul(to_go);
    let time = match args.options.max_time {
        Some(most) => left.min(most.saturating_sub(tested.elapsed)),
        None => left,
    };
    let to_go = match time >= Duration::from_secs(1) {
        true => format!(", some {} s left of it", time.as_secs()),
        false => String::new(),
    };
    format!(
        "{doing} by {}: {} bytes fail, {} tests{to_go}",
        tested.search, tested.best, tested.number
    )
}

/// What cannot be isolated, with its exit code and the next step.
fn explained(trouble: Trouble, args: &Args, like: Option<&Like>) -> anyhow::Error {
    let message = trouble.to_string();
    let name = clean::path(&args.failing);
    let told = |code, message: String, hint: String| -> anyhow::Error {
        Expected::new(code, message).hint(hint).into()
    };
    let not_run = |how: &str, printed: &str| options::not_run("test", how, printed, PATHS);
    match &trouble {
        Trouble::Failing(Unfit::Passes(ending)) => {
            let printed = ending.last_lines();
            if let Some(told) = not_run(&ending.how.to_string(), &printed) {
                return told.into();
            }
            let (message, hint) = match args.java.name() {
                Some(_) => (
                    format!("the test passes on {name}"),
                    match args.options.no_sandbox {
                        true => OTHER_FILE.to_owned(),
                        false => format!(
                            "{OTHER_FILE}\nor the failure needs what the sandbox refuses: see {WITHOUT}"
                        ),
                    },
                ),
                None => (
                    format!("{message} on {name}"),
                    "run it by hand: exit status 0 passes, 125 has no verdict, any other fails \
                     (with --interesting, 0 fails)"
                        .to_owned(),
                ),
            };
            let hint = format!("{hint}\n{}", options::NOW_AND_THEN);
            let hint = options::with_printed(&hint, &printed);
            told(ExitCode::No, message, hint)
        }
        Trouble::Failing(Unfit::Unresolved(ending, why))
            if args.java.name().is_some() && ending.how.code().is_some() =>
        {
            let hint = match why.starts_with("is not run") {
                true => "check that the class path (-cp) is that of the test, with its JUnit",
                false => "a test must pass or throw; one that ends its JVM gives no verdict",
            };
            told(ExitCode::Target, format!("the test {why}"), hint.to_owned())
        }
        Trouble::Failing(Unfit::Unresolved(ending, _)) => {
            let hint = match ending.how {
                how if how.code() == Some(UNRESOLVED) => {
                    "it exits with 125, which means no verdict; it must fail on this input"
                        .to_owned()
                }
                how if how.code().is_some() && how.signal().is_none() => {
                    options::PRINT_LESS.to_owned()
                }
                _ => "give it more time (--timeout), or say that this is the failure \
                         (--fail-if timeout, --fail-if crash)"
                    .to_owned(),
            };
            let hint = options::with_printed(&hint, &ending.last_lines());
            told(ExitCode::Target, format!("{message} on {name}"), hint)
        }
        Trouble::Failing(Unfit::Unlike(_)) => {
            let wanted = like.map(ToString::to_string).unwrap_or_default();
            let hint = format!("--like asks for: {wanted}");
            told(ExitCode::No, format!("{message} ({name})"), hint)
        }
        Trouble::Failing(Unfit::Refused(_)) => told(
            ExitCode::Target,
            format!("{message} ({name})"),
            options::REFUSED.to_owned(),
        ),
        Trouble::Failing(Unfit::Seldom { .. }) => told(
            ExitCode::No,
            format!("{message} ({name})"),
            "--repeat N runs each candidate N times anyway".to_owned(),
        ),
        Trouble::Failing(Unfit::Error(_)) | Trouble::Error(Error::Launch(_)) => {
            told(ExitCode::Target, message, "check the command".to_owned())
        }
        Trouble::Error(Error::File { .. }) => told(
            ExitCode::Target,
            message,
            "check room and permissions (TMPDIR)".to_owned(),
        ),
        Trouble::Swapped(how) => {
            let passing = args.passing.as_deref().map(clean::path).unwrap_or_default();
            let message = format!("the test passes on {name} and fails on {passing}: {how}");
            let hint = "are the two inputs swapped? the failing one comes without an option";
            told(ExitCode::No, message, hint.to_owned())
        }
        Trouble::PassingFails { how, printed } => {
            if let Some(told) = not_run(how, printed) {
                return told.into();
            }
            let (which, hint) = match &args.passing {
                Some(path) => (
                    path.display().to_string(),
                    "name one on which it passes, or leave out --passing",
                ),
                None if args.java.name().is_some() => (
                    "an empty input".to_owned(),
                    "it may read another one: name the resource that it reads (--resource)",
                ),
                None => (
                    "an empty input".to_owned(),
                    "the test does not depend on the input; check the command",
                ),
            };
            let message = format!("the test fails on {which} too: {how}");
            told(ExitCode::No, message, options::with_printed(hint, printed))
        }
        Trouble::PassingFailsSometimes(_) => told(
            ExitCode::No,
            message,
            "a flaky failure cannot be isolated by inputs".to_owned(),
        ),
        Trouble::PassingUnresolved(why) => {
            let (which, hint) = match &args.passing {
                Some(path) => (path.display().to_string(), "name another one"),
                None => (
                    "an empty input".to_owned(),
                    "name one on which it passes (--passing), or reduce the failing one (--simplify)",
                ),
            };
            let message = format!("the test neither passes nor fails on {which}: it {why}");
            told(ExitCode::No, message, hint.to_owned())
        }
        Trouble::Same => told(
            ExitCode::Usage,
            "the failing and the passing input are the same".to_owned(),
            "name two that differ".to_owned(),
        ),
        Trouble::Unlike => told(
            ExitCode::Usage,
            message,
            "name two files or two folders".to_owned(),
        ),
        Trouble::Empty => told(
            ExitCode::Usage,
            format!("{name} is empty"),
            "name an input that is not empty".to_owned(),
        ),
        Trouble::Journal(JournalError::Io { .. }) => {
            told(ExitCode::Usage, message, options::NO_JOURNAL.to_owned())
        }
        Trouble::Journal(JournalError::Version { .. }) => {
            told(ExitCode::Usage, message, options::OTHER_VERSION.to_owned())
        }
        Trouble::OldVerdicts(_) => told(
            ExitCode::No,
            message,
            "the test, or something that it uses, has changed: start again in another folder (-o)"
                .to_owned(),
        ),
        Trouble::Journal(_) | Trouble::OtherVerdicts(_) => {
            told(ExitCode::Usage, message, options::OTHER_SEARCH.to_owned())
        }
        Trouble::Write(_) => told(
            ExitCode::Target,
            message,
            "check that there is room".to_owned(),
        ),
        Trouble::Interrupted | Trouble::Error(Error::Unwanted) => {
            Expected::new(ExitCode::Interrupted, "interrupted").into()
        }
        Trouble::Problem(_) | Trouble::WarmDiffers => trouble.into(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use culprit_isolate::{Ending, How};
    use culprit_jvm::Status;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn a_passing_test_is_not_told_by_our_own_status() {
        let told = |oracle: [&str; 2], status| {
            let words = ["culprit"].into_iter().chain(oracle).chain(["a.txt"]);
            let ending = Ending {
                how: How::Ended(Status::Exited(status)),
                out: String::new(),
                err: String::new(),
                is_out_cut: false,
                is_err_cut: false,
                took: Duration::ZERO,
                strays: 0,
            };
            let passes = Trouble::Failing(Unfit::Passes(Box::new(ending)));
            explained(passes, &Line::parse_from(words).args, None).to_string()
        };
        let java = told(["--java-test", "a.Test#reads"], 97);
        assert_eq!(java, "the test passes on a.txt");
        let other = told(["--test", "x"], 0);
        assert_eq!(
            other,
            "the test does not fail: it exits with status 0 on a.txt"
        );
    }
}
