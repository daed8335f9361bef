//! `culprit instrument`: arguments, messages and exit codes of rewriting a jar, which
//! `culprit_instrument` does.

use std::io::{self, Write};
use std::path::PathBuf;

use culprit_instrument::{Error, Instrumented, Unwoven};
use culprit_model::{Pattern, Selection, clean, shell};

use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::record::{Observe, nearest};

/// Options of `culprit instrument`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The jar to read; it is not changed
    #[arg(value_name = "IN.jar")]
    input: PathBuf,
    /// The jar to write; it must not exist
    #[arg(short, long, value_name = "OUT.jar")]
    output: PathBuf,
    /// Observe the classes that match, as in `culprit record` [default: all in the jar]; can be repeated
    #[arg(long, value_name = "PATTERN")]
    observe: Vec<Observe>,
    /// Do not observe these classes, even if --observe matches them; can be repeated
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<Pattern>,
}

const EXAMPLES: &str = "\
Examples:
  culprit instrument app.jar -o app-woven.jar --observe 'com.acme.billing.**'
  culprit record -- java -jar app-woven.jar
The new jar also runs without Culprit; then nothing is recorded.";

/// How many names to propose, and how many troubles to list.
const LISTED: usize = 5;

/// Weaves the jar.
pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let mut selection = Selection {
        exclude: args.exclude.clone(),
        ..Selection::default()
    };
    for observe in &args.observe {
        match observe {
            Observe::App => selection.app = true,
            Observe::Classes(pattern) => selection.observe.push(pattern.clone()),
        }
    }
    let result = culprit_instrument::instrument(&args.input, &args.output, &selection);
    report(args, &result.map_err(explained)?, console)?;
    Ok(ExitCode::Answered)
}

/// The error as the user sees it, with what to do about it.
fn explained(error: Error) -> anyhow::Error {
    let hint = match &error {
        Error::NotAJar { .. } => {
            Some("name a jar file; folders of classes can be packed with `jar cf`".to_owned())
        }
        Error::Instrumented { .. } => Some("instrument the original jar".to_owned()),
        Error::Exists { .. } => Some("remove it, or name another file with -o".to_owned()),
        Error::Unwritable { .. } => Some("name a place you can write to with -o".to_owned()),
        Error::Unmatched {
            observe, classes, ..
        } => Some(near(observe, classes)),
        Error::Unreadable { .. } | Error::Damaged { .. } | Error::NoClasses { .. } => None,
        Error::Probes(_) => return error.into(),
    };
    let expected = Expected::new(ExitCode::Usage, error.to_string());
    match hint {
        Some(hint) => expected.hint(hint).into(),
        None => expected.into(),
    }
}

/// Patterns close to those given that match classes of the jar.
fn near(observe: &[Pattern], classes: &[String]) -> String {
    let mut near = Vec::new();
    for pattern in observe {
        near.extend(nearest::nearest(pattern, classes, LISTED));
    }
    if near.is_empty() {
        near = nearest::largest_packages(classes, LISTED);
    }
    let near: Vec<String> = near.iter().map(|n| shell::line([n])).collect();
    format!("the nearest that would match: {}", near.join(" "))
}

fn report(args: &Args, result: &Instrumented, console: &mut Console) -> io::Result<()> {
    let s = console.err_styles().strong;
    let err = console.err();
    writeln!(
        err,
        "culprit: {} classes woven, {} of them observed, in {s}{}{s:#}",
        result.woven,
        result.observed,
        clean::path(&args.output)
    )?;
    if result.signatures > 0 {
        writeln!(
            err,
            "  the jar was signed; its signature no longer holds and is removed"
        )?;
    }
    if result.modular {
        writeln!(
            err,
            "  the jar is a module: put it on the class path to record it, not the module path"
        )?;
    }
    list(
        err,
        "jars inside are copied as they are",
        result.nested.iter().cloned(),
    )?;
    let told = |unwoven: &Unwoven| format!("{}: {}", unwoven.name, unwoven.reason);
    list(
        err,
        "classes that cannot be woven are copied",
        result.broken.iter().map(told),
    )?;
    list(
        err,
        "methods that stay as they were",
        result.skipped.iter().map(told),
    )?;
    let next = shell::line(["culprit", "record", "--", "java", "-jar"]);
    let output = shell::line([args.output.as_os_str()]);
    writeln!(err, "  next: {s}{next} {output}{s:#}")
}

fn list(
    err: &mut dyn Write,
    lead: &str,
    lines: impl ExactSizeIterator<Item = String>,
) -> io::Result<()> {
    let count = lines.len();
    if count == 0 {
        return Ok(());
    }
    writeln!(err, "  {lead}:")?;
    for line in lines.take(LISTED) {
        writeln!(err, "    {line}")?;
    }
    if count > LISTED {
        writeln!(err, "    and {} more", count - LISTED)?;
    }
    Ok(())
}
