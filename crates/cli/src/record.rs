//! `culprit record`: run a command with the agent in every JVM it starts.
//!
//! `Args` is what was typed, `Plan` what it means. The command behaves as it would without us:
//! its streams are its own, its status is ours. What we have to say comes after it, on stderr.

mod aftermath;
mod derive;
mod folder;
pub(crate) mod nearest;
mod suggest;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use culprit_jvm::Status;
use culprit_model::options::{
    Arrays, CaptureLimits, Mode, RecordOptions, SuggestOptions, WeaveOptions,
};
use culprit_model::{AgentOptions, Pattern, Selection};
use culprit_program::Command;
use jiff::Zoned;

use crate::agent;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::quantity;
use aftermath::{Aftermath, Say};
use folder::{Facts, RunFolder};
use suggest::Format;

/// Options of `culprit record`.
#[derive(clap::Args, Debug)]
#[command(
    override_usage = "culprit record [OPTIONS] -- CMD...\n       \
                      culprit record [OPTIONS] --observe PATTERN --replay REC",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// Observe the classes that match: com.acme.Order, com.acme.* (a package), com.acme.** (with its
    /// subpackages), or app (the program's own code, the default); can be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "What to observe")]
    observe: Vec<Observe>,
    /// Do not observe these classes, even if --observe matches them; can be repeated
    #[arg(long, value_name = "PATTERN", help_heading = "What to observe")]
    exclude: Vec<Pattern>,
    /// Record nothing, count calls between classes, and propose values for --observe
    #[arg(long, help_heading = "What to observe")]
    suggest: bool,
    /// Replay this recording instead of running CMD, and record fewer of its classes
    #[arg(
        long,
        value_name = "REC",
        requires = "observe",
        conflicts_with_all = ["suggest", "keep", "command"],
        help_heading = "What to observe"
    )]
    replay: Option<PathBuf>,
    /// With --replay: run without the sandbox, so that the code can write files and use the network
    #[arg(long, requires = "replay", help_heading = "What to observe")]
    no_sandbox: bool,
    /// With --suggest: print the proposals as one line of JSON on stdout, after the output of CMD
    #[arg(long, requires = "suggest", help_heading = "What to observe")]
    json: bool,

    /// Write the recordings to this folder, which must be new or empty [default: culprit-runs/DATE-N]
    #[arg(short, long, value_name = "DIR", help_heading = "What to keep")]
    output: Option<PathBuf>,
    /// Keep only the last N events of each JVM
    #[arg(long, value_name = "N", value_parser = quantity::count, help_heading = "What to keep")]
    last: Option<u64>,
    /// Keep the recordings of these JVMs
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        default_value_t,
        help_heading = "What to keep"
    )]
    keep: Keep,
    /// Record one in K of the calls and field accesses that enter the observed classes
    #[arg(long, value_name = "1/K", value_parser = quantity::share, help_heading = "What to keep")]
    sample: Option<u32>,
    /// Record this much of arrays that observed and other code share
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        default_value_t,
        help_heading = "What to keep"
    )]
    arrays: ArraysArg,
    /// Also record the contents of JDK objects passed to observed code (`culprit minimize` needs them)
    #[arg(long, help_heading = "What to keep")]
    contents: bool,
    /// Mask strings and char or byte arrays that match this regular expression; can be repeated
    #[arg(long, value_name = "REGEX", value_parser = regex, help_heading = "What to keep")]
    redact: Vec<String>,

    /// Stop recording after N events; the program continues
    #[arg(long, value_name = "N", value_parser = quantity::count, help_heading = "Limits")]
    max_events: Option<u64>,
    /// Stop recording when the file reaches this size, such as 64M
    #[arg(long, value_name = "SIZE", value_parser = quantity::size, help_heading = "Limits")]
    max_bytes: Option<u64>,
    /// Stop recording when there are more than N events per second
    #[arg(long, value_name = "N", value_parser = quantity::count, help_heading = "Limits")]
    max_rate: Option<u64>,

    /// Print only warnings, no summary
    #[arg(short, long)]
    quiet: bool,
    /// The command to run, as you would type it
    #[arg(last = true, required_unless_present = "replay", value_name = "CMD")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  culprit record -- java -jar app.jar
  culprit record --observe 'com.acme.billing.**' -- mvn -q test
  culprit record --last 100k --keep failing -- ./nightly.sh
  culprit record --observe com.acme.Tax --replay culprit-runs/2026-03-09-1
CMD keeps its input and output, and culprit exits with its status. If CMD is not
`java` itself, each JVM prints `Picked up JAVA_TOOL_OPTIONS: ...` on stderr.";

/// What `--observe` takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Observe {
    App,
    Classes(Pattern),
}

impl FromStr for Observe {
    type Err = culprit_model::observe::PatternError;

    fn from_str(text: &str) -> Result<Observe, Self::Err> {
        Ok(match text {
            "app" => Observe::App,
            _ => Observe::Classes(text.parse()?),
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Keep {
    /// All JVMs
    #[default]
    All,
    /// JVMs in which an exception ended a thread or a test, or whose exit status is not 0
    Failing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum ArraysArg {
    /// The contents when observed code receives an array, and after calls that were given it
    #[default]
    Contents,
    /// Also each access to an element
    Accesses,
}

fn regex(text: &str) -> Result<String, String> {
    match regex_lite::Regex::new(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// What the command needs from the process it runs in.
pub(crate) struct Around {
    cwd: PathBuf,
    path: Option<OsString>,
    java_tool_options: Option<OsString>,
    /// Where the agent may be unpacked, best first.
    agent_folders: Vec<PathBuf>,
    clock: fn() -> Zoned,
}

impl Around {
    pub(crate) fn of_process() -> anyhow::Result<Around> {
        let cwd = std::env::current_dir().map_err(|error| {
            Expected::new(ExitCode::Usage, format!("no current folder: {error}"))
                .hint("change to a folder that exists")
        })?;
        Ok(Around {
            cwd,
            path: std::env::var_os("PATH"),
            java_tool_options: std::env::var_os("JAVA_TOOL_OPTIONS"),
            agent_folders: agent::folders_of_process(),
            clock: Zoned::now,
        })
    }
}

/// What the arguments mean; the folder of the run is still to be made.
#[derive(Clone, PartialEq, Debug)]
struct Plan {
    output: Option<PathBuf>,
    mode: Mode,
    command: Vec<OsString>,
    say: Say,
    format: Format,
}

impl Args {
    /// Whether a recording is replayed, and no command of the user's is run.
    pub(crate) fn is_replay(&self) -> bool {
        self.replay.is_some()
    }

    fn selection(&self) -> Selection {
        let mut selection = Selection {
            exclude: self.exclude.clone(),
            ..Selection::default()
        };
        for observe in &self.observe {
            match observe {
                Observe::App => selection.app = true,
                Observe::Classes(pattern) => selection.observe.push(pattern.clone()),
            }
        }
        selection
    }

    fn record_options(&self) -> RecordOptions {
        RecordOptions {
            beside: false,
            weave: WeaveOptions {
                salt: None,
                selection: self.selection(),
                arrays: match self.arrays {
                    ArraysArg::Contents => Arrays::Contents,
                    ArraysArg::Accesses => Arrays::Accesses,
                },
            },
            last: self.last,
            keep_failing: self.keep == Keep::Failing,
            contents: self.contents,
            sample: self.sample,
            limits: CaptureLimits {
                events: self.max_events,
                bytes: self.max_bytes,
                rate: self.max_rate,
            },
            redact: self.redact.clone(),
        }
    }

    fn plan(&self) -> Plan {
        Plan {
            output: self.output.clone(),
            mode: match self.suggest {
                true => Mode::Suggest(SuggestOptions {
                    selection: self.selection(),
                    redact: self.redact.clone(),
                }),
                false => Mode::Record(self.record_options()),
            },
            command: self.command.clone(),
            say: match self.quiet {
                true => Say::Warnings,
                false => Say::Everything,
            },
            format: match self.json {
                true => Format::Json,
                false => Format::Table,
            },
        }
    }
}

/// Runs the command and reports on what was recorded.
pub(crate) fn run(args: &Args, around: &Around, console: &mut Console) -> anyhow::Result<ExitCode> {
    let plan = args.plan();
    if let Some(path) = &args.replay {
        return derive::run(path, args, around, console);
    }
    // Whatever can be refused is refused before anything is written, and all of it before
    // anything runs.
    let program = Command::find(&plan.command, around.path.as_deref()).map_err(Expected::from)?;
    let library = agent::unpack(&around.agent_folders)?;
    let start = (around.clock)();
    let folder = RunFolder::create(plan.output.as_deref(), &around.cwd, start.date())?;
    let options = AgentOptions {
        out: folder.absolute()?,
        mode: plan.mode,
    };
    let mut facts = Facts {
        command: plan.command.clone(),
        cwd: around.cwd.clone(),
        options: options.clone(),
        start,
        end: None,
    };
    folder.write_facts(&facts)?;

    console.flush()?;
    let inherited = around.java_tool_options.as_deref();
    let status = program
        .run(&library, &options, inherited)
        .map_err(Expected::from)?;

    facts.end = Some(((around.clock)(), status));
    let written = folder.write_facts(&facts);
    let aftermath = Aftermath::find(folder.path(), &options.mode)?;
    aftermath.report(&folder, plan.say, console)?;
    let noted = aftermath.note(&around.agent_folders);
    if let Mode::Suggest(counted) = &options.mode {
        let report = suggest::find(&folder.path(), &counted.selection, &plan.command, console)?;
        suggest::print(&report, plan.format, console)?;
    }
    // No trouble of ours may hide how the command ended.
    if let Err(error) = written {
        aftermath::warn(console, &error.to_string())?;
    }
    if noted.is_err() {
        aftermath::warn(console, "culprit minimize will ask for the class path")?;
    }
    Ok(code(status, &aftermath))
}

/// The command's own status, unless it went well and we alone failed at our part.
fn code(status: Status, aftermath: &Aftermath) -> ExitCode {
    match status.is_success() && aftermath.is_empty() {
        true => ExitCode::Target,
        false => ExitCode::Child(status.shell_code()),
    }
}

#[cfg(test)]
mod tests;
