//! The `culprit` command: arguments, console, exit codes. What a command does is in a module
//! of its own, which takes typed arguments and returns an exit code.
#![forbid(unsafe_code)]

mod agent;
mod command;
mod confinement;
mod console;
mod debug;
mod doctor;
mod exit;
mod instrument;
mod isolate;
mod log;
mod minimize;
mod origin;
mod program;
mod progress;
mod quantity;
mod record;
mod reduction;
mod replay;
mod show;
mod slice;

use std::ffi::OsString;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::{ArgAction, Parser, Subcommand};
use culprit_jvm::{Scratch, Watchdog};

use culprit_model::clean;
use culprit_report::figure;

use console::{Color, Console};
use exit::{ExitCode, Expected};

/// Automated debugger for JVM programs
///
/// Culprit makes a failure small. `debug` turns a failing command into a JUnit
/// test of a few lines. `isolate` finds the part of an input, or of a change
/// between two versions, that makes a test fail. `record` and `replay` capture a
/// part of a program and run it again without the rest.
#[derive(Parser, Debug)]
#[command(name = "culprit", bin_name = "culprit", version, max_term_width = 80, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
    /// Print what happens; twice with every candidate and process
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Reduce a failing command to a small JUnit test that fails the same way
    ///
    /// Start here when a Java program throws an exception or a JUnit test fails.
    /// Culprit runs the command several times, extracts the calls that lead to the
    /// failure, removes the ones that the failure does not need, and writes the
    /// rest as a JUnit test. It compiles and runs the test to check that it fails
    /// for the same reason. The test fails as long as the bug is there.
    Debug(debug::Args),
    /// Find the part of an input, or of a change, that makes a test fail
    ///
    /// Use it when one input or version passes and another one fails. It works for
    /// programs in any language, as long as a command can test them.
    Isolate(isolate::Args),
    /// Run a command and record what enters and leaves the observed classes
    ///
    /// You choose the observed classes; all other code, the JDK included, is
    /// outside. The recording contains each call, return, exception and field
    /// access between the two, with its values. Use it to see what a part of a
    /// program was given and what it did (`culprit show`), to run that part again
    /// without the rest (`culprit replay`), or to choose yourself which classes
    /// `culprit minimize` makes a test of.
    Record(record::Args),
    /// Print a recording as a summary, as events, or as JSON
    ///
    /// Use it to see what a recorded program did: which classes were observed, how
    /// the program ended, and each call into and out of the observed classes with
    /// its arguments and results.
    Show(show::Args),
    /// Run a recording again and report where the program behaves differently
    ///
    /// The observed classes run alone in a new JVM; whatever they ask of the
    /// outside is answered from the recording, so no file, server or clock is
    /// needed. Use it to debug the same run again and again, or, with --against, to
    /// check that a fix changes what it should and nothing else.
    Replay(replay::Args),
    /// Reduce a recorded failure to a small JUnit test that fails the same way
    ///
    /// This is the second half of `culprit debug`, for a recording that you made
    /// with `culprit record --contents`. Use it to choose the observed classes
    /// yourself, or to reduce a failure without running the command again.
    Minimize(minimize::Args),
    /// Print the lines that a failure or a value depended on
    ///
    /// Use it to see where a wrong value comes from, once `culprit debug` has made a
    /// test. Culprit runs the test in the sandbox and traces its instructions. It
    /// prints each line of the program on which the failure depended, with the lines
    /// that this line depended on: by a variable, a field, an element of an array,
    /// the result of a call, a branch or an exception, also through collections and
    /// strings of the JDK.
    Slice(slice::Args),
    /// Add the probes of `culprit record` to a jar ahead of time
    ///
    /// Recording a program from such a jar saves the time of changing its classes
    /// each time they are loaded, and the observed classes are chosen once, when
    /// the jar is built.
    Instrument(instrument::Args),
    /// Check what this machine offers to Culprit and how to get what is missing
    ///
    /// Run it after installation, and when a message refers to it. It checks the
    /// sandbox of the kernel, each JDK, the agent and the room for temporary files.
    Doctor(doctor::Args),
}

impl Command {
    /// The name of the subcommand.
    fn name(&self) -> &'static str {
        match self {
            Command::Record(_) => "record",
            Command::Show(_) => "show",
            Command::Replay(_) => "replay",
            Command::Minimize(_) => "minimize",
            Command::Slice(_) => "slice",
            Command::Debug(_) => "debug",
            Command::Isolate(_) => "isolate",
            Command::Instrument(_) => "instrument",
            Command::Doctor(_) => "doctor",
        }
    }

    /// Whether the command starts programs that must not outlive it. The command of `record` is the user's and goes
    /// on without us.
    fn runs_candidates(&self) -> bool {
        match self {
            Command::Replay(_)
            | Command::Minimize(_)
            | Command::Slice(_)
            | Command::Debug(_)
            | Command::Isolate(_) => true,
            Command::Record(args) => args.is_replay(),
            Command::Show(_) | Command::Instrument(_) | Command::Doctor(_) => false,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  culprit debug -- java -jar app.jar input.txt
  culprit isolate changes --good v1.2 --bad HEAD --build make --test ./check.sh
  culprit isolate input --simplify --test './render {}' crash.html
  culprit doctor
`culprit COMMAND --help` explains a command and gives examples.

Exit codes:
  0    success: the result was found and checked
  1    everything ran, but there is no such result (see each command)
  2    wrong command line, or a file or folder on it cannot be used
  3    the target program cannot be run, or did not end by itself
  4    a recording cannot be read, or is of another version
  70   a bug in Culprit
  130  interrupted
`culprit record` exits with the status of the command that it ran.";

fn main() -> ExitCode {
    console::clean_panics();
    let words = isolate::spelled_out(std::env::args_os());
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => return not_parsed(error, &words),
    };
    // Before there are threads.
    let _watchdog = cli.command.runs_candidates().then(Watchdog::start);
    let mut console = Console::new(cli.color);
    if cli.verbose > 0 {
        console = console.without_status();
    }
    if let Err(error) = log::begin(cli.verbose, std::env::var_os(log::VARIABLE).as_deref()) {
        return report(&error.into(), &mut console);
    }
    let version = env!("CARGO_PKG_VERSION");
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    tracing::info!(
        version,
        system,
        processor,
        command = cli.command.name(),
        "begins"
    );
    // What a run left behind that was killed.
    Scratch::sweep();
    let answer = catch_unwind(AssertUnwindSafe(|| dispatch(&cli.command, &mut console)));
    let code = match answer {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => report(&error, &mut console),
        // The panic has printed its own message and place.
        Err(_) => defect(&mut console),
    };
    tracing::info!(status = code.status(), "ends");
    match console.flush() {
        Ok(()) => code,
        Err(error) => report(&error.into(), &mut console),
    }
}

/// Prints the help that was asked for, or what is wrong with the command line: it quotes words that
/// may have come from anywhere, so what is said is said of clean words.
fn not_parsed(error: clap::Error, words: &[OsString]) -> ExitCode {
    let console = &mut Console::new(Color::Auto);
    let words = words.iter().map(|word| clean::os(word));
    let error = Cli::try_parse_from(words).err().unwrap_or(error);
    let text = error.render();
    let (printed, code) = match error.use_stderr() {
        false => (console.help(&text), ExitCode::Answered),
        true => (write!(console.err(), "{text}"), ExitCode::Usage),
    };
    match printed.and_then(|()| console.flush()) {
        Ok(()) => code,
        Err(error) => report(&error.into(), console),
    }
}

fn dispatch(command: &Command, console: &mut Console) -> anyhow::Result<ExitCode> {
    match command {
        Command::Record(args) => record::run(args, &record::Around::of_process()?, console),
        Command::Show(args) => show::run(args, console),
        Command::Replay(args) => replay::run(args, &replay::Around::of_process(), console),
        Command::Debug(args) => debug::run(args, console),
        Command::Minimize(args) => minimize::run(args, console),
        Command::Slice(args) => slice::run(args, console),
        Command::Isolate(args) => isolate::run(args, console),
        Command::Instrument(args) => instrument::run(args, console),
        Command::Doctor(args) => doctor::run(args, console),
    }
}

/// Prints an error with its next step, and tells which exit code it stands for.
fn report(error: &anyhow::Error, console: &mut Console) -> ExitCode {
    let reader_left = |cause: &(dyn std::error::Error + 'static)| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(reader_left) {
        return ExitCode::Answered;
    }
    let known = match is_full(error) {
        true => Some((ExitCode::Usage, Some(make_room()))),
        false => error.chain().find_map(expected),
    };
    if matches!(known, Some((ExitCode::Interrupted, _))) {
        // What the user did is no error.
        let _ = writeln!(console.err(), "culprit: {}", whole_message(error));
        return ExitCode::Interrupted;
    }
    tracing::error!("{}", whole_message(error));
    say_error(&whole_message(error), console);
    let Some((code, hint)) = known else {
        return defect(console);
    };
    if let Some(hint) = hint {
        // Nothing is left to tell the user with when stderr is gone.
        let hint = in_lines("", &hint, console.err_columns());
        let _ = writeln!(console.err(), "  {hint}");
    }
    code
}

/// A text in lines that fit so many columns, behind a first word. Its own lines stay apart, and long words whole.
fn in_lines(first: &str, text: &str, columns: Option<usize>) -> String {
    let text = format!("{first}{text}");
    let width = columns.map_or(usize::MAX, |columns| columns.saturating_sub(2));
    let lines = text.lines().map(str::trim);
    let lines = lines.flat_map(|line| figure::wrap_words(line, "", width));
    let lines: Vec<String> = lines.collect();
    lines.join("\n  ")[first.len()..].to_owned()
}

/// Whether an error came about because a disk is full, or what the user may write to it.
pub(crate) fn is_full(error: &anyhow::Error) -> bool {
    use rustix::io::Errno;
    let kinds = [
        (io::ErrorKind::StorageFull, Errno::NOSPC),
        (io::ErrorKind::QuotaExceeded, Errno::DQUOT),
        (io::ErrorKind::FileTooLarge, Errno::FBIG),
    ];
    error.chain().any(|cause| {
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        kinds.iter().any(|(known, number)| {
            // An expected error has been put into words on the way.
            let words = format!("(os error {})", number.raw_os_error());
            let is_expected = || cause.is::<Expected>() && cause.to_string().contains(&words);
            kind == Some(*known) || is_expected()
        })
    })
}

fn make_room() -> String {
    let temporary = std::env::temp_dir();
    format!(
        "make room where results go (-o names another folder), and in {} (TMPDIR names another one)",
        temporary.display()
    )
}

/// The exit code and the next step of an error that is not our defect.
fn expected(error: &(dyn std::error::Error + 'static)) -> Option<(ExitCode, Option<String>)> {
    use culprit_trace::Error;
    if let Some(expected) = error.downcast_ref::<Expected>() {
        return Some((expected.code, expected.hint.clone()));
    }
    let code = match error.downcast_ref::<Error>()? {
        Error::NotFound { .. } | Error::SeveralRecordings { .. } => ExitCode::Usage,
        _ => ExitCode::Recording,
    };
    Some((code, None))
}

/// The error with its causes; a cause that the message before it quotes is not repeated.
fn whole_message(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain() {
        let text = cause.to_string();
        let cause = clean::line(&text).into_owned();
        if message.is_empty() {
            message = cause;
        } else if !message.ends_with(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

fn say_error(message: &str, console: &mut Console) {
    let bad = console.err_styles().bad;
    let message = in_lines("culprit: error: ", message, console.err_columns());
    // As above: without stderr only the exit code speaks.
    let _ = writeln!(console.err(), "{bad}culprit: error:{bad:#} {message}");
}

fn defect(console: &mut Console) -> ExitCode {
    let _ = writeln!(
        console.err(),
        "  this is a defect of culprit {}: please report it with the lines above",
        env!("CARGO_PKG_VERSION")
    );
    ExitCode::Bug
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Every option and command says what it is for, in one manner: a sentence that starts
    /// upper-case and ends without a full stop.
    #[test]
    fn help_texts_are_there_and_follow_one_manner() {
        fn lint(command: &clap::Command, found: &mut Vec<String>) {
            let texts = std::iter::once((command.get_name(), command.get_about())).chain(
                command
                    .get_arguments()
                    .map(|arg| (arg.get_id().as_str(), arg.get_help())),
            );
            for (name, text) in texts {
                let text = text.map(ToString::to_string).unwrap_or_default();
                let starts_well = text.starts_with(char::is_uppercase);
                if !starts_well || text.ends_with('.') || text.contains('\n') {
                    found.push(format!("{} {name}: {text:?}", command.get_name()));
                }
            }
            for sub in command.get_subcommands() {
                lint(sub, found);
            }
        }
        let mut found = Vec::new();
        lint(&Cli::command(), &mut found);
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_expected_error_prints_its_next_step_and_keeps_its_code() {
        let mut console = Console::kept();
        let error = Expected::new(ExitCode::Usage, "no such thing").hint("try another");
        assert_eq!(report(&error.into(), &mut console), ExitCode::Usage);
        let (out, err) = console.kept_text();
        assert_eq!(out, "");
        assert_eq!(err, "culprit: error: no such thing\n  try another\n");
    }

    #[test]
    fn an_error_fits_the_terminal_and_its_words_stay_whole() {
        let path = "/a".repeat(50);
        let message = format!("cannot use {path} for what it was meant to be used for here");
        let first = "culprit: error: ";
        let whole = format!("{first}{}", in_lines(first, &message, Some(80)));
        let long: Vec<&str> = whole.lines().filter(|line| line.len() > 80).collect();
        assert_eq!(long, [format!("  {path}")]);
        let hint = "do something else, ".repeat(6);
        let hint = format!("{}\n  then another line", hint.trim_end());
        assert!(in_lines("", &hint, Some(80)).ends_with("\n  then another line"));
        assert_eq!(in_lines(first, "no", Some(80)), "no");
        assert_eq!(in_lines("", &hint, None), hint);
    }

    #[test]
    fn a_recording_that_cannot_be_read_has_its_own_code_and_is_not_said_twice() {
        let mut console = Console::kept();
        let source = io::Error::other("bad disk");
        let path = "x.culprit".into();
        let error = culprit_trace::Error::Io { path, source };
        assert_eq!(report(&error.into(), &mut console), ExitCode::Recording);
        let text = console.kept_text().1;
        assert_eq!(text, "culprit: error: cannot read x.culprit: bad disk\n");
    }

    #[test]
    fn a_full_disk_is_no_defect_wherever_it_is_in_the_chain() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            let mut console = Console::kept();
            let error = culprit_minimize::Error::Write(kind.into());
            let error = anyhow::Error::from(error).context("cannot go on");
            assert_eq!(report(&error, &mut console), ExitCode::Usage);
            let text = console.kept_text().1;
            assert!(
                text.contains("make room") && !text.contains("defect"),
                "{text}"
            );
        }
        let mut console = Console::kept();
        let full = io::Error::from(rustix::io::Errno::NOSPC);
        let error = Expected::new(ExitCode::Target, format!("cannot use /tmp/x: {full}"));
        assert_eq!(report(&error.into(), &mut console), ExitCode::Usage);
    }

    #[test]
    fn any_other_error_is_a_defect_of_ours() {
        let mut console = Console::kept();
        let code = report(&anyhow::anyhow!("odd"), &mut console);
        assert_eq!(code, ExitCode::Bug);
        assert!(console.kept_text().1.contains("please report it"));
    }

    #[test]
    fn a_reader_that_leaves_early_has_its_answer() {
        let mut console = Console::kept();
        let error = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(report(&error.into(), &mut console), ExitCode::Answered);
        assert_eq!(console.kept_text().1, "");
    }
}
