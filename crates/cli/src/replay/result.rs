//! The result of a replay on the console, and as an exit code.

use std::io;

use culprit_model::clean;
use culprit_replay::Severity;
use culprit_report::replay::{Case, Verdict};

use crate::console::Console;
use crate::exit::ExitCode;

/// The number of warnings that are printed.
const WARNINGS: usize = 5;

/// Prints the warnings about a recording.
pub(super) fn warn(case: &Case, console: &mut Console) -> io::Result<()> {
    let warnings = case.findings.iter().filter(|(s, _)| *s == Severity::Warn);
    for (_, warning) in warnings.clone().take(WARNINGS) {
        let warn = console.err_styles().warn;
        let warning = clean::line(warning);
        let path = clean::path(&case.path);
        writeln!(
            console.err(),
            "{warn}culprit: warning:{warn:#} {path}: {warning}"
        )?;
    }
    match warnings.count().saturating_sub(WARNINGS) {
        0 => Ok(()),
        more => writeln!(console.err(), "  and {more} more, which --json lists"),
    }
}

/// Prints a result to standard output, or a refusal to standard error.
pub(super) fn print(case: &Case, console: &mut Console) -> io::Result<()> {
    let lines = case.lines();
    let (first, rest) = match lines.split_first() {
        Some((first, rest)) => (first.as_str(), rest),
        None => ("", &[][..]),
    };
    match case.verdict {
        _ if case.verdict.is_error() => {
            let bad = console.err_styles().bad;
            writeln!(console.err(), "{bad}culprit: error:{bad:#} {first}")?;
            rest.iter()
                .try_for_each(|line| writeln!(console.err(), "{}", line.replace("  next: ", "  ")))
        }
        Verdict::InSync { .. } | Verdict::Nothing => lines
            .iter()
            .try_for_each(|line| writeln!(console.out(), "{line}")),
        _ => {
            let bad = console.styles().bad;
            writeln!(console.out(), "{bad}{first}{bad:#}")?;
            rest.iter()
                .try_for_each(|line| writeln!(console.out(), "{line}"))
        }
    }
}

/// The exit code of one replay.
pub(super) fn exit_code(verdict: &Verdict) -> ExitCode {
    match verdict {
        Verdict::InSync { .. } | Verdict::Nothing => ExitCode::Answered,
        Verdict::OutOfSync { .. } | Verdict::Unsupported(_) => ExitCode::No,
        Verdict::Lost(_) | Verdict::NotStarted { .. } => ExitCode::Target,
        Verdict::BadClasses { is_given: true, .. } => ExitCode::Usage,
        Verdict::Refused { .. } | Verdict::Unreadable { .. } | Verdict::BadClasses { .. } => {
            ExitCode::Recording
        }
        Verdict::Fault(_) => ExitCode::Bug,
    }
}

/// The exit code of several replays: results count before the reasons why there is none.
pub(super) fn exit_code_of_all(cases: &[Case]) -> ExitCode {
    let codes: Vec<ExitCode> = cases.iter().map(|case| exit_code(&case.verdict)).collect();
    let order = [
        ExitCode::Bug,
        ExitCode::No,
        ExitCode::Target,
        ExitCode::Recording,
        ExitCode::Usage,
    ];
    let worst = order.into_iter().find(|code| codes.contains(code));
    worst.unwrap_or(ExitCode::Answered)
}
