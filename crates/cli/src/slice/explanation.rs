//! Why there is no slice: the exit code, and the next step.

use culprit_pinpoint::{Error, TracedRun};
use culprit_slice::NotThere;

use crate::exit::{ExitCode, Expected};

/// The most lines that a hint lists.
const LISTED: usize = 12;

/// A run that could not be traced.
pub(super) fn not_traced(error: Error) -> anyhow::Error {
    let message = error.to_string();
    let told = |code, hint: &str| Expected::new(code, &*message).hint(hint);
    let expected = match &error {
        Error::Pool(why) => {
            let code = match why {
                culprit_jvm::PoolError::Interrupted => ExitCode::Interrupted,
                culprit_jvm::PoolError::OutOfTime => ExitCode::No,
                _ => ExitCode::Target,
            };
            told(code, why.next_step())
        }
        Error::Workers(_) => told(ExitCode::Target, "check the class path of the program"),
        Error::OtherFailure(_) => told(
            ExitCode::No,
            "the calls may depend on time, threads, files or identity hashes, which a trace changes; \
             if they need longer: --max-time",
        ),
        Error::NoTrace => told(
            ExitCode::No,
            "the code may have ended its JVM; run the test itself to see",
        ),
        Error::Replay(_) => told(
            ExitCode::No,
            "trace less with --max-trace, or slice a smaller test",
        ),
        Error::Unreadable(_) | Error::Malformed(_) => return error.into(),
    };
    expected.into()
}

/// A location that the run does not have.
pub(super) fn not_there(why: &NotThere, traced: &TracedRun) -> Expected {
    let mut hint = match why {
        NotThere::Class(_) => {
            "name a class whose code the test runs, as in its stack traces, with or \
                               without its package; code of the JDK and of libraries is not shown"
                .to_owned()
        }
        NotThere::NoLines(_) => {
            "compile it with line numbers (javac -g); --from failure lists its methods".to_owned()
        }
        NotThere::Line { ran, line, .. } => {
            let lines = nearest(ran.iter().copied(), *line);
            format!("lines of it that computed something: {lines}")
        }
        NotThere::Variable { assigned, .. } if assigned.is_empty() => {
            "no line of the class that ran assigns it; names of variables need javac -g".to_owned()
        }
        NotThere::Variable { assigned, line, .. } => {
            let lines = nearest(assigned.iter().copied(), *line);
            format!("it is assigned at {lines}")
        }
    };
    if let Some(partial) = traced.partial() {
        hint.push_str(&format!(
            "\nthe trace is not complete: {partial}; {}",
            longer(traced)
        ));
    }
    Expected::new(ExitCode::No, why.to_string()).hint(hint)
}

/// The next step where a trace is not complete.
pub(super) fn longer(traced: &TracedRun) -> &'static str {
    match traced.replayed.graph.is_full() {
        true => "slice a smaller test",
        false => "trace more with --max-trace, or slice a smaller test",
    }
}

/// The lines nearest to one, in order.
fn nearest(lines: impl Iterator<Item = u16>, to: u16) -> String {
    let mut lines: Vec<u16> = lines.collect();
    lines.sort_by_key(|line| line.abs_diff(to));
    lines.truncate(LISTED);
    lines.sort_unstable();
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join(", ")
}

/// A criterion that no traced code has.
pub(super) fn not_sliced(traced: &TracedRun, what: &str) -> Expected {
    if let Some(partial) = &traced.replayed.partial {
        let message = format!("the trace ends before {what}: {partial}");
        return Expected::new(ExitCode::No, message)
            .hint(longer(traced).to_owned() + ", or start from a line: --from CLASS:LINE");
    }
    let message = format!("{what} in code that is not traced, such as native code or the JDK");
    Expected::new(ExitCode::No, message).hint("start from a line of the program: --from CLASS:LINE")
}
