//! `culprit slice`: the lines that the failure of a test or of a recording depended on.

mod explanation;
mod subject;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use culprit_debug::{FailedScript, Tracer};
use culprit_jvm::{Interrupt, Scratch};
use culprit_model::{Owner, Script};
use culprit_pinpoint::{TraceLimits, TracedRun};
use culprit_program::{Environment, Sources};
use culprit_report::Document;
use culprit_report::slice::SliceReport;
use culprit_signature::Thrown;
use culprit_slice::{Criterion, LineSlice, Location, Place, SliceDirection};

use crate::agent;
use crate::confinement;
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::program::{Maker, ProgramArgs};
use crate::progress::Progress;
use crate::quantity;
use explanation::{not_sliced, not_there, not_traced};
use subject::{FailureArgs, Subject};

/// Columns of the text where no terminal has others.
const WIDTH: usize = 80;

/// Options of `culprit slice`.
#[derive(clap::Args, Debug)]
#[command(override_usage = "culprit slice [OPTIONS] PATH", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A result folder of `debug` or `minimize`, a test in it, a recording, or the folder of a run
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Start from `failure`, `result` (of the last call), CLASS:LINE or CLASS:LINE:VARIABLE
    #[arg(long, value_name = "CRITERION", default_value = "failure", value_parser = criterion)]
    from: From,
    /// Print the lines that depended on CLASS:LINE, not those that it depended on
    #[arg(long)]
    forward: bool,
    /// Print one JSON document
    #[arg(long, group = "form")]
    json: bool,
    /// Print a graph for Graphviz
    #[arg(long, group = "form")]
    dot: bool,
    #[command(flatten)]
    failure: FailureArgs,
    #[command(flatten)]
    program: ProgramArgs,
    /// Trace at most this many bytes of events; the slice of a longer run is partial
    #[arg(long, value_name = "SIZE", default_value = "128M", value_parser = quantity::size)]
    max_trace: u64,
    /// Stop the traced run after this long
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = quantity::duration)]
    max_time: Duration,
    /// Run the code with all your rights, without the sandbox
    #[arg(long)]
    no_sandbox: bool,
}

const EXAMPLES: &str = "\
Examples:
  culprit slice culprit-debug
  culprit slice culprit-debug/tests/com/acme/TillTest.java --json
  culprit slice culprit-debug --from com.acme.Order:25
  culprit slice culprit-debug --from Order:25:total --forward
  culprit slice culprit-runs/2026-03-09-1 --dot | dot -Tsvg > slice.svg
The slice of a recording is that of all calls that `culprit minimize` would
begin with; that of a minimal test is shorter. CLASS is the name of a class,
with or without its package, or of a source file. Of several executions of a
line, the last one counts. Variables have names if compiled with -g.

Exit codes:
  0    the slice was printed
  1    everything ran, but there is no such slice
  2    wrong command line, or a file or folder on it cannot be used
  3    the program, a JDK of the recorded version, or a sandbox is missing
  4    the recording or the result folder cannot be read, or has no failure
  130  interrupted";

/// The start of a slice.
#[derive(Clone, PartialEq, Eq, Debug)]
enum From {
    Failure,
    Result,
    Location(Location),
}

fn criterion(text: &str) -> Result<From, String> {
    match text {
        "failure" => Ok(From::Failure),
        "result" => Ok(From::Result),
        text => text.parse().map(From::Location).map_err(|()| {
            "write failure, result, CLASS:LINE such as com.acme.Order:25, or CLASS:LINE:VARIABLE"
                .to_owned()
        }),
    }
}

impl From {
    /// As it would be typed.
    fn text(&self) -> String {
        match self {
            From::Failure => "failure".to_owned(),
            From::Result => "result".to_owned(),
            From::Location(location) => location.to_string(),
        }
    }
}

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let sandbox = confinement::sandbox(args.no_sandbox, console)?;
    let folders = agent::folders_of_process();
    // Classes that no class path has.
    let scratch = Scratch::new("classes")?;
    let subject = Subject::open(args, &folders, scratch.path())?;
    let tracer = Tracer {
        agent: agent::unpack(&folders)?,
        sandbox,
        environment: match subject.maker {
            Maker::Us => Environment::of(std::env::vars_os()),
            // Nothing of the user's for code of strangers.
            Maker::Unknown => Environment::none(),
        },
        interrupt: Interrupt::by_signals()?,
        limits: TraceLimits {
            time: args.max_time,
            bytes: args.max_trace,
        },
    };
    let progress = Progress::detached(console, "tracing the failure");
    let traced = tracer.trace(&FailedScript {
        script: &subject.script,
        recording: &subject.recording,
        program: &subject.program,
        jdk: &subject.jdk,
        thrown: &subject.thrown,
        folders: subject.folders.clone(),
    });
    drop(progress);
    let traced = traced.map_err(not_traced)?;
    let criterion = args.criterion(&traced)?;
    let is_shown = |place: &Place| Owner::of(&place.class) == Owner::Other;
    let direction = match args.forward {
        true => SliceDirection::Forward,
        false => SliceDirection::Backward,
    };
    let slice = traced.replayed.line_slice(&criterion, direction, &is_shown);
    args.print(&subject, &traced, &slice, direction, console)?;
    Ok(ExitCode::Answered)
}

impl Args {
    /// The nodes that the slice starts from.
    fn criterion(&self, traced: &TracedRun) -> anyhow::Result<Criterion> {
        let run = &traced.replayed;
        let criterion = match &self.from {
            From::Failure if traced.threw().is_some() => match run.exception {
                Some(_) => Criterion::Exception,
                None => return Err(not_sliced(traced, "the exception was thrown").into()),
            },
            From::Result if traced.threw().is_some() => {
                let message = "the last call threw an exception, and has no result";
                return Err(Expected::new(ExitCode::No, message)
                    .hint("start from the exception: --from failure")
                    .into());
            }
            From::Failure | From::Result => Criterion::Result,
            From::Location(location) => {
                let nodes = run.last_at(location);
                Criterion::Nodes(nodes.map_err(|why| not_there(&why, traced))?)
            }
        };
        match run.nodes(&criterion).is_empty() {
            true => Err(not_sliced(traced, "the last call ended").into()),
            false => Ok(criterion),
        }
    }

    fn print(
        &self,
        subject: &Subject,
        traced: &TracedRun,
        slice: &LineSlice,
        direction: SliceDirection,
        console: &mut Console,
    ) -> anyhow::Result<()> {
        let texts = SourceTexts::of(subject, slice);
        let untraced = traced.not_woven.iter().filter(|method| {
            let class = method.split(['.', '(']).next().unwrap_or_default();
            Owner::of(class) == Owner::Other
        });
        let report = SliceReport {
            from: self.from.text(),
            direction,
            failure: traced
                .threw()
                .and_then(Thrown::parse)
                .map(|thrown| headline(&thrown)),
            slice,
            calls: &|number| call(&subject.script, number),
            code: &|place| texts.line(place),
            partial: traced.partial(),
            not_traced: untraced.map(|it| it.replace('/', ".")).collect(),
        };
        let document = report.document();
        if self.json {
            let json = Document::new(document).json();
            write!(console.out(), "{json}")?;
        } else if self.dot {
            write!(console.out(), "{}", document.dot())?;
        } else {
            let (styles, columns) = (console.styles(), console.columns());
            document.print(console.out(), styles, columns.unwrap_or(WIDTH))?;
        }
        if traced.partial().is_some() {
            let warn = console.err_styles().warn;
            let text = match &traced.narrowed {
                Some(it) => format!("{} are not traced", it.without),
                None => "the trace ends before the run does".to_owned(),
            };
            writeln!(
                console.err(),
                "{warn}culprit: warning:{warn:#} {text}: the slice is partial"
            )?;
            writeln!(console.err(), "  {}", explanation::longer(traced))?;
        }
        Ok(())
    }
}

/// An exception in one line.
fn headline(thrown: &Thrown) -> String {
    let class = thrown.class.rsplit('.').next().unwrap_or_default();
    let message = thrown.message.as_deref().and_then(|it| it.lines().next());
    match message {
        Some(message) => format!("{class} \"{message}\"").trim().to_owned(),
        None => class.to_owned(),
    }
}

/// A statement of a script in words.
fn call(script: &Script, number: u32) -> String {
    let statement = script.statements.get(number as usize);
    let target = statement.and_then(|it| script.target(it));
    match target {
        Some(target) => {
            let class = target.owner.rsplit('/').next().unwrap_or_default();
            match &*target.name {
                "<init>" => format!("new {class}"),
                name => format!("{class}.{name}"),
            }
        }
        None => "an expression".to_owned(),
    }
}

/// The source files of a slice, as far as they are found.
struct SourceTexts {
    /// By class and file name.
    texts: BTreeMap<(String, String), String>,
}

impl SourceTexts {
    fn of(subject: &Subject, slice: &LineSlice) -> SourceTexts {
        let sources = Sources::of(subject.program.class_path());
        let mut texts = BTreeMap::new();
        for line in &slice.lines {
            let culprit_slice::LineOrigin::Line(place) = &line.origin else {
                continue;
            };
            let Some(file) = &place.source else {
                continue;
            };
            let key = (place.class.clone(), file.clone());
            if !texts.contains_key(&key)
                && let Some(text) = sources.text(&place.class, file)
            {
                texts.insert(key, text);
            }
        }
        SourceTexts { texts }
    }

    /// The text of a line without its indentation.
    fn line(&self, place: &Place) -> Option<String> {
        let key = (place.class.clone(), place.source.clone()?);
        let number = usize::from(place.line?).checked_sub(1)?;
        let line = self.texts.get(&key)?.lines().nth(number)?;
        Some(line.trim().to_owned())
    }
}

/// A path as an error names it.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
