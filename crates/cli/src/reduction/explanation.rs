//! Errors of a session as answers for the user: the exit code, and the next step.

use std::io::{self, IsTerminal};

use culprit_debug::Error;
use culprit_minimize::Error as ReductionError;
use culprit_model::{Caught, clean};
use culprit_program::Error as ProgramError;
use culprit_replay::Error as Unplayable;
use culprit_report::recording::caught_line;
use culprit_scripts::{Error as ScriptError, ScriptRun};
use culprit_signature::Thrown;

use super::output::TellingLines;
use crate::exit::{ExitCode, Expected};
use crate::show;

/// The next step for a recording that was tampered with.
pub(crate) const FORGED: &str =
    "culprit record does not write that: the recording was tampered with; do not use it";

/// Exceptions that are listed.
const LISTED: usize = 5;

/// An error of a session with its exit code and the next step. Errors that remain as they are count as defects.
pub(crate) fn explained(error: impl Into<Error>) -> anyhow::Error {
    let error = error.into();
    let message = error.to_string();
    let told = |code: ExitCode, hint: &str| Expected::new(code, &*message).hint(hint);
    let expected = match error {
        Error::Command(error) => error.into(),
        Error::NotFailing { status, output } => {
            let printed = format!("its output is in {}", clean::path(&output));
            let telling = TellingLines::of_file(&output);
            let hint = match (status, telling.program_ran) {
                (0, _) if io::stdin().is_terminal() => {
                    format!(
                        "{}{printed}; input from a terminal is not passed on",
                        telling.text()
                    )
                }
                (0, _) => format!("{}{printed}", telling.text()),
                (_, true) => format!(
                    "{}{printed};\n  to debug the status: --fails-if 'exit {status}'",
                    telling.text()
                ),
                (_, false) => format!("{}{printed}", telling.text()),
            };
            told(ExitCode::No, &hint)
        }
        Error::OnlyCaught {
            status,
            output,
            caught,
            ..
        } => {
            let output = clean::path(&output);
            let by_status = match status {
                0 => String::new(),
                _ => format!(", or the status: --fails-if 'exit {status}'"),
            };
            told(
                ExitCode::No,
                &format!(
                    "{}its output is in {output}{by_status}",
                    caught_ones(&caught)
                ),
            )
        }
        Error::NotChosen { caught, .. } => {
            let hint = "`culprit show` lists them; choose one: --exception TYPE or --failure N";
            let hint = format!("{}{hint}", caught_ones(&caught));
            told(ExitCode::Recording, &hint)
        }
        Error::Unrecordable(_) => told(
            ExitCode::Target,
            "run the command with a JDK 11 or newer (JAVA_HOME, PATH)",
        ),
        Error::NoJvm { output } => {
            let hint = format!(
                "{}its output is in {};\n  \
                 it may hand its work to a daemon (add --no-daemon), or clear JAVA_TOOL_OPTIONS",
                TellingLines::of_file(&output).text(),
                clean::path(&output)
            );
            told(ExitCode::Target, &hint)
        }
        Error::NeverTheSame(_) => told(
            ExitCode::No,
            "take out what differs: seeds, clocks, threads, files that a run leaves behind",
        ),
        Error::RecordedOtherwise => told(ExitCode::No, "run it again; it may fail only sometimes"),
        Error::NotShown { output, .. } => {
            let telling = TellingLines::of_file(&output).text();
            let output = clean::path(&output);
            told(ExitCode::No, &format!("{telling}its output is in {output}"))
        }
        Error::NoDriver => told(
            ExitCode::No,
            "--fails-if is for programs with a main class; tests fail by their assertions",
        ),
        Error::NotDone { .. } => told(
            ExitCode::No,
            "only what the main class itself does is followed; exceptions need no --fails-if",
        ),
        Error::ByMock(_) => told(
            ExitCode::No,
            "assert something of a result, or give the code an object of your own that keeps what \
                        it is given",
        ),
        Error::OfMock(_) => told(
            ExitCode::No,
            "make the object with its constructor, and mock what it uses",
        ),
        Error::Unseen(unseen) => {
            let class = unseen.class.rsplit(['.', '$']).next().unwrap_or_default();
            let class = clean::line(class);
            told(
                ExitCode::No,
                &format!("to debug the exception: culprit debug --exception {class} -- ..."),
            )
        }
        Error::MainAgain(class) => told(
            ExitCode::No,
            &format!(
                "to see what the failure depends on: culprit record -o run --contents --observe {0} -- ..., \
                 then culprit slice run\n\
                 for a test, name a class that {0} calls instead, then culprit minimize run",
                clean::line(&class)
            ),
        ),
        Error::NoFailure(_) => told(ExitCode::Recording, "record a run that fails"),
        Error::NoStack => Expected::new(ExitCode::Recording, message),
        Error::Gone { .. } => told(
            ExitCode::Target,
            "build the program again, or record it again where it is now",
        ),
        Error::NoJdk(_) => told(ExitCode::Target, "install one, or set JAVA_HOME"),
        Error::OutOfTime => told(
            ExitCode::No,
            "give it more time (--max-time); the code may wait for something that the sandbox \
                        refuses, such as the network or a file to write",
        ),
        Error::Interrupted => Expected::new(ExitCode::Interrupted, message),
        Error::RunFolder(error) => show::expected_calls("minimize", &error),
        Error::Reduction(error) => return of_reduction(error),
        Error::Recording(error) => return error.into(),
        Error::Io(error) => return error.into(),
        error @ Error::Followed(_) => return error.into(),
    };
    expected.into()
}

/// Exceptions that were caught, as the beginning of a hint.
fn caught_ones(caught: &[Caught]) -> String {
    if caught.is_empty() {
        return String::new();
    }
    let mut text = "exceptions were caught; to debug one: --exception TYPE\n  ".to_owned();
    for one in caught.iter().take(LISTED) {
        text.push_str(&format!("- {}\n  ", caught_line(one)));
    }
    if let Some(more) = caught.len().checked_sub(LISTED).filter(|more| *more > 0) {
        text.push_str(&format!("and {more} more\n  "));
    }
    text
}

/// The likely reason why calls that were made alone ended otherwise, and the next step.
fn other_failure(run: &ScriptRun) -> &'static str {
    let thrown = match run {
        ScriptRun::Threw { trace, .. } => Thrown::parse(trace),
        ScriptRun::Done | ScriptRun::Refused { .. } => None,
        ScriptRun::Unresolved(why) if why.starts_with("time limit") => {
            return "the calls wait for something, such as another thread, the network or input: record \
                    the code behind it: culprit record --contents --observe CLASS, then culprit minimize";
        }
        ScriptRun::Unresolved(_) => {
            return "observe other classes: culprit record --contents --observe ..., then culprit minimize";
        }
    };
    let class = thrown.map(|thrown| thrown.class).unwrap_or_default();
    let is_in = |packages: &[&str]| packages.iter().any(|start| class.starts_with(start));
    if is_in(&["java.net.", "java.nio.channels.", "javax.net."]) {
        "the calls use the network, where nothing answered as it did: if the other side is running, \
         try --no-sandbox; or record the code that reads the answers: culprit record --contents \
         --observe CLASS, then culprit minimize"
    } else if is_in(&["java.lang.ClassNotFound", "java.lang.NoClassDef"]) {
        "check the class path of the program"
    } else if is_in(&["java.io.FileNotFound", "java.nio.file.NoSuchFile"]) {
        "the calls need a file that is not there any more, or that an earlier call wrote"
    } else {
        "it may depend on files, time, threads or code that was not observed; \
         culprit replay still runs it as it was"
    }
}

/// An error of the reduction: what was not found, and what to do about it.
fn of_reduction(error: ReductionError) -> anyhow::Error {
    let hint = match &error {
        ReductionError::Script(ScriptError::NoFailure | ScriptError::Missing(_)) => {
            "observe other classes: culprit record --contents --observe ..., then culprit minimize"
        }
        ReductionError::Script(ScriptError::CaughtInside(_)) => {
            "observe less, so that the call that throws comes from outside: \
             culprit record --contents --observe CLASS, with the class that threw"
        }
        ReductionError::NotLinked => {
            "the test computes what it asserts by itself, or the value is an answer from outside, such as a \
             database; assert something of a result directly"
        }
        ReductionError::MockedInside => {
            "give the code an object to ask instead, and mock that, or test the code that uses the answer"
        }
        ReductionError::Script(ScriptError::NotCalled(_)) => {
            "name a method by its class, as the main class calls it"
        }
        ReductionError::Script(ScriptError::NoObject(_)) => {
            "name a class whose objects the main class makes or is given"
        }
        ReductionError::Script(ScriptError::NeverHeld(_)) => {
            "objects are checked after each call of the main class that involves them"
        }
        ReductionError::Script(ScriptError::Expression(_)) => {
            let hint = "write it as in a lambda: 'shop.Cart c -> c.total() < 0'; classes of other \
                        packages by their full names";
            return refused(ExitCode::Usage, &error, hint);
        }
        ReductionError::OtherFailure(ScriptRun::Refused { .. }) => {
            "the sandbox refuses that; if the program may do it on this machine: --no-sandbox"
        }
        ReductionError::OtherFailure(run) | ReductionError::OtherMessage(run) => other_failure(run),
        ReductionError::Refused(_) => {
            "if its calls can do no harm, reduce it without the sandbox: --no-sandbox"
        }
        ReductionError::Script(ScriptError::TooLarge) => {
            let hint =
                "record fewer calls: name classes with --observe, or the last events with --last";
            return refused(ExitCode::Recording, &error, hint);
        }
        ReductionError::Unsteady => {
            "it may depend on random numbers, time or threads; run it again"
        }
        ReductionError::Print(_) => "culprit show --scenario shows the calls",
        ReductionError::Journal(_) => {
            let hint = "name another folder (-o), or reduce without --resume";
            return refused(ExitCode::Usage, &error, hint);
        }
        ReductionError::Pool(why) => return refused(ExitCode::Target, &error, why.next_step()),
        ReductionError::Launch(_) => {
            return refused(ExitCode::Target, &error, "check the JDK (JAVA_HOME, PATH)");
        }
        ReductionError::Script(
            ScriptError::Recording(why) | ScriptError::Replay(Unplayable::Recording(why)),
        ) => return show::expected(why).into(),
        ReductionError::Script(
            ScriptError::Program(ProgramError::Forged(_))
            | ScriptError::Replay(Unplayable::Program(ProgramError::Forged(_))),
        ) => {
            return refused(ExitCode::Recording, &error, FORGED);
        }
        ReductionError::Script(ScriptError::Replay(_) | ScriptError::Program(_)) => {
            let hint = "check the class path of the program";
            return refused(ExitCode::Target, &error, hint);
        }
        _ => return error.into(),
    };
    Expected::new(ExitCode::No, error.to_string())
        .hint(hint)
        .into()
}

fn refused(code: ExitCode, error: &ReductionError, hint: &str) -> anyhow::Error {
    Expected::new(code, error.to_string()).hint(hint).into()
}

#[cfg(test)]
mod tests {
    use culprit_jvm::PoolError;

    use super::*;

    #[test]
    fn errors_of_the_minimiser_have_a_code_and_a_next_step() {
        let check = |error: ReductionError, code: ExitCode, hint: &str| {
            let told = explained(error);
            let told = told.downcast_ref::<Expected>().unwrap();
            assert_eq!(told.code, code, "{told}");
            let said = told.hint.as_deref().unwrap_or_default();
            assert!(said.contains(hint), "{said}");
        };
        check(
            ScriptError::NoFailure.into(),
            ExitCode::No,
            "observe other classes",
        );
        check(ReductionError::Unsteady, ExitCode::No, "random numbers");
        check(
            ReductionError::OtherMessage(ScriptRun::Done),
            ExitCode::No,
            "may depend on",
        );
        let threw = |trace: &str| {
            ReductionError::OtherFailure(ScriptRun::Threw {
                at: 0,
                trace: trace.to_owned(),
            })
        };
        let refused =
            threw("java.net.ConnectException: Connection refused\n\tat a.B.c(B.java:1)\n");
        check(refused, ExitCode::No, "--no-sandbox");
        let late = ScriptRun::Unresolved("time limit: no answer after 2s".to_owned());
        let late = ReductionError::OtherFailure(late);
        check(late, ExitCode::No, "the calls wait for something");
        let interrupted = ReductionError::Pool(PoolError::Interrupted);
        check(interrupted, ExitCode::Interrupted, "");
        let unreadable = ProgramError::ClassPath {
            path: "a.jar".into(),
            error: io::Error::other("no zip"),
        };
        check(unreadable.into(), ExitCode::Target, "class path");
    }
}
