//! `culprit show`: print a recording or a run folder.
//!
//! `Args` is what was typed, `Plan` what it means. `culprit_trace` reads, `culprit_report` prints.

mod runs;
#[cfg(test)]
mod tests;
mod typed;

use std::path::{Path, PathBuf};

use culprit_model::{EventKind, Pattern, clean};
use culprit_report::figure;
use culprit_report::recording::{
    Detail, EventPrinter, EventRange, Filter, FolderTable, Summary, print_scenario,
};
use culprit_trace::{Error, Recording, RunFolder};

use crate::console::Console;
use crate::exit::{ExitCode, Expected};
pub(crate) use runs::{expected_calls, expected_run};

/// Options of `culprit show`.
#[derive(clap::Args, Debug)]
#[command(after_help = LEGEND)]
pub(crate) struct Args {
    /// A recording, or the folder of a run
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Print the events, one per line, instead of the summary
    #[arg(long, group = "lines")]
    events: bool,
    /// Print the steps of a replay, as text from which they can be read again
    #[arg(long, group = "lines")]
    scenario: bool,
    /// Print JSON: one document, or one object per line with --events
    #[arg(long, conflicts_with = "scenario")]
    json: bool,
    /// Print long values and lists in full
    #[arg(long)]
    full: bool,

    /// Print only events in these classes or on their members: com.acme.Order, com.acme.**
    #[arg(long, value_name = "PATTERN", help_heading = FILTERS, requires = "events", conflicts_with = "scenario")]
    class: Vec<Pattern>,
    /// Print only events of this thread: 1 or t1
    #[arg(long, value_name = "N", help_heading = FILTERS, requires = "lines", value_parser = typed::thread)]
    thread: Vec<u32>,
    /// Print only events with these numbers: 10..20 (without 20), 10.., ..20 or 10
    #[arg(long, value_name = "A..B", help_heading = FILTERS, requires = "lines", value_parser = typed::range)]
    range: Option<EventRange>,
    /// Print only events of this kind: incoming-call, outgoing-throw (a wrong name lists all)
    #[arg(long, value_name = "KIND", help_heading = FILTERS, requires = "events", conflicts_with = "scenario", value_parser = typed::kind)]
    kind: Vec<EventKind>,
    /// Print only events whose line contains this text
    #[arg(long, value_name = "TEXT", help_heading = FILTERS, requires = "events", conflicts_with = "scenario")]
    grep: Option<String>,
}

const FILTERS: &str = "Filters";

const LEGEND: &str = "\
Examples:
  culprit show culprit-runs/2026-03-09-1
  culprit show RUN --events --class 'com.acme.**' --kind incoming-throw
  culprit show RUN/jvm-4711.culprit --events --json | jq .kind

Lines of --events (--scenario has nearly the same):
  =>   outside code calls observed code    ->   observed code calls outside code
  <=   that call returns                   <-   that call returns
  <=!  that call throws                    <-!  that call throws
  => get, => set  outside code reads or writes an observed field
  -> get, -> set  observed code reads or writes an outside field or an element
  ==   a new object, the contents of an array, or a hash, from here on
  #3 Order is object 3, of class Order. int[3]#7{1, 2, 3} is array 7.";

/// What to print.
#[derive(Debug)]
struct Plan {
    path: PathBuf,
    form: Form,
    detail: Detail,
    filter: Filter,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Summary,
    SummaryJson,
    Events,
    EventsJson,
    Scenario,
}

impl Args {
    fn plan(&self) -> Plan {
        Plan {
            path: self.path.clone(),
            form: match (self.events, self.json) {
                _ if self.scenario => Form::Scenario,
                (false, false) => Form::Summary,
                (false, true) => Form::SummaryJson,
                (true, false) => Form::Events,
                (true, true) => Form::EventsJson,
            },
            detail: if self.full {
                Detail::Full
            } else {
                Detail::Short
            },
            filter: Filter {
                classes: self.class.clone(),
                threads: self.thread.clone(),
                range: self.range.unwrap_or_default(),
                kinds: self.kind.clone(),
                text: self.grep.clone(),
            },
        }
    }
}

/// Shows what was asked for.
pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let plan = args.plan();
    match Recording::open(&plan.path) {
        Ok(recording) => show(&recording, &plan, console),
        Err(Error::SeveralRecordings { path, .. }) => show_folder(&path, &plan, console),
        Err(error) => Err(expected_run("show", &error).into()),
    }
}

fn show(recording: &Recording, plan: &Plan, console: &mut Console) -> anyhow::Result<ExitCode> {
    warn_of_truncation(recording, console)?;
    let styles = console.styles();
    match plan.form {
        Form::Summary | Form::SummaryJson => {
            let summary = Summary::of(recording);
            if plan.form == Form::Summary {
                summary.print(plan.detail, styles, console.out())?;
            } else {
                write!(console.out(), "{}", summary.document().json())?;
            }
            if let Some(error) = &summary.broken {
                console.out().flush()?;
                return Err(expected(error).into());
            }
        }
        Form::Events | Form::EventsJson => {
            let printer = EventPrinter {
                recording,
                detail: plan.detail,
                styles,
            };
            let found = match plan.form {
                Form::Events => printer.lines(&plan.filter, console.out())?,
                _ => printer.json_lines(&plan.filter, console.out())?,
            };
            if let Err(error) = found {
                console.out().flush()?;
                return Err(expected(&error).into());
            }
        }
        Form::Scenario => {
            if let Err(error) = print_scenario(recording, &plan.filter, console.out())? {
                console.out().flush()?;
                return Err(expected(&error).into());
            }
        }
    }
    Ok(ExitCode::Answered)
}

fn show_folder(path: &Path, plan: &Plan, console: &mut Console) -> anyhow::Result<ExitCode> {
    let folder = RunFolder::open(path).map_err(|error| expected(&error))?;
    let table = FolderTable::of(&folder);
    match plan.form {
        Form::Summary => table.print(console.styles(), console.out())?,
        Form::SummaryJson => write!(console.out(), "{}", table.document().json())?,
        Form::Events | Form::EventsJson | Form::Scenario => {
            let count = folder.recordings.len();
            let message = format!("{} holds {count} recordings", path.display());
            let option = match plan.form {
                Form::Scenario => "--scenario",
                _ => "--events",
            };
            let hint = format!(
                "name one of them, such as {}; without {option} they are listed",
                clean::path(&folder.recordings[0])
            );
            return Err(Expected::new(ExitCode::Usage, message).hint(hint).into());
        }
    }
    Ok(ExitCode::Answered)
}

fn warn_of_truncation(recording: &Recording, console: &mut Console) -> std::io::Result<()> {
    let Some(cut) = recording.truncation() else {
        return Ok(());
    };
    let warn = console.err_styles().warn;
    writeln!(
        console.err(),
        "{warn}culprit: warning:{warn:#} {} is cut off or damaged at byte {}",
        clean::path(recording.path()),
        cut.offset
    )?;
    writeln!(
        console.err(),
        "  the last {} are left out; what is before them is whole",
        figure::counted(cut.bytes_left, "byte")
    )
}

/// An error of the reader with its exit code and the next step.
pub(crate) fn expected(error: &Error) -> Expected {
    let hint = match error {
        Error::NotFound { .. } => "check the path; culprit record says where it records to",
        Error::Io { .. } => "recordings are private: check that this one is yours to read",
        Error::NotARecording { .. } => "name a run folder, or a file jvm-PID.culprit in one",
        Error::Empty { .. } => "the JVM was stopped before anything was written: record again",
        Error::Version {
            found, supported, ..
        } if found > supported => "update culprit, or read it with the culprit that wrote it",
        Error::Version { .. } => "read it with the culprit that wrote it, or record again",
        Error::Damaged { .. } => "what was read until there is good; record again for the rest",
        Error::NoRecordings { .. } => "name a folder that culprit record wrote to",
        Error::SeveralRecordings { .. } => "name one of them",
    };
    Expected::new(ExitCode::Recording, error.to_string()).hint(hint)
}
