//! `culprit isolate`: the difference between what passes and what fails that decides.

mod changes;
mod input;
mod options;
mod results;
mod typed;

use std::ffi::OsString;
use std::io;

use clap::Subcommand;

use culprit_model::clean;

use crate::console::Console;
use crate::exit::ExitCode;
use culprit_report::figure::{self, COLUMNS};
use results::Results;

/// Options of `culprit isolate`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

const EXAMPLES: &str = "\
Examples:
  culprit isolate input --test './render {}' crash.html
  culprit isolate changes --good v1.2 --bad HEAD --build make --test ./check.sh
`culprit isolate input --help` and `culprit isolate changes --help` give more.";

#[derive(Subcommand, Debug)]
enum What {
    /// Find the part of an input that makes a test fail
    ///
    /// Use it when a program fails on one file or folder. By default it searches
    /// for a pair of inputs that are as similar as possible, one that passes and
    /// one that fails: their difference is a cause of the failure. With --simplify
    /// it searches for a smallest input that still fails.
    Input(input::Args),
    /// Find the changes between two versions that make a test fail
    ///
    /// Use it when a test passes on an old version and fails on a new one. Like
    /// `git bisect` it first searches for the commit, merges included; then it goes
    /// on to the files, classes, methods, hunks and lines that this commit changed.
    Changes(changes::Args),
}

/// Words of a command line, with `-cp` spelled out: people type it as they do for java, and two letters
/// behind one hyphen are two options to us.
pub(crate) fn spelled_out(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    if words.get(1).is_some_and(|word| word == "isolate") {
        let own = words.iter_mut().take_while(|word| *word != "--");
        for word in own.filter(|word| *word == "-cp") {
            *word = "--class-path".into();
        }
    }
    words
}

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::Input(args) => input::run(args, console),
        What::Changes(args) => changes::run(args, console),
    }
}

/// Prints a result, the notes on it, the command that continues the search, and the path of the report.
fn print(
    text: &str,
    notes: &[String],
    resume: Option<&str>,
    results: &Results,
    console: &mut Console,
) -> anyhow::Result<()> {
    write!(console.out(), "{text}")?;
    // On a terminal the notes come behind.
    console.flush()?;
    for note in notes {
        say("  ", note, console)?;
    }
    if let Some(command) = resume {
        // On a line of its own, to be copied.
        writeln!(console.err(), "  to continue:\n    {command}")?;
    }
    let page = clean::path(&results.path("report.html"));
    writeln!(console.err(), "  {page}")?;
    Ok(())
}

/// Prints a note on stderr, in lines that fit a terminal.
fn say(indent: &str, text: &str, console: &mut Console) -> io::Result<()> {
    let text = clean::line(text);
    let lines = figure::wrap_words(&text, "  ", COLUMNS - indent.len());
    let text = lines.join(&format!("\n{indent}"));
    writeln!(console.err(), "{indent}{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_path_is_typed_as_for_java() {
        let check = |line: &str, expect: &str| {
            let words = line.split(' ').map(OsString::from);
            let expect: Vec<OsString> = expect.split(' ').map(OsString::from).collect();
            assert_eq!(spelled_out(words), expect);
        };
        check(
            "culprit isolate input -cp a",
            "culprit isolate input --class-path a",
        );
        check("culprit debug -- java -cp a", "culprit debug -- java -cp a");
        check(
            "culprit isolate input -- -cp",
            "culprit isolate input -- -cp",
        );
    }
}
