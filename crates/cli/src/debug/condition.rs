//! `--fails-if`: the user says what counts as a failure, where the program neither throws nor fails an
//! assertion. Other failures are ignored, and only what the driver does is reduced.

use std::path::{Path, PathBuf};
use std::time::Instant;

use culprit_jvm::untrusted;
use culprit_minimize::Found;
use culprit_model::clean;
use culprit_program::{Program, class_path};
use culprit_scripts::{Condition, Failed, drivers, followed_until};
use culprit_trace::{Recording, RunFolder};
use regex_lite::Regex;

use super::follow::PATIENCE;
use super::{Rate, Session, WITNESSES};
use crate::console::Console;
use crate::exit::{ExitCode, Expected};
use crate::reduction::{Case, Level, Results, jdk_of};

/// Bytes that are read of what a command printed.
const MOST_OUTPUT: u64 = 1 << 30;

/// Reads a condition.
pub(super) fn parse(text: &str) -> Result<Condition, String> {
    let condition: Condition = text.parse().map_err(|why| format!("{why}"))?;
    if let Condition::Matches(pattern) = &condition {
        Regex::new(pattern).map_err(|why| why.to_string())?;
    }
    Ok(condition)
}

/// Whether a run shows that a condition held. `None` where that cannot be seen from outside.
fn is_shown(condition: &Condition, output: &str, status: u8) -> Option<bool> {
    match condition {
        Condition::Contains(text) => Some(output.contains(text)),
        Condition::Matches(pattern) => {
            let pattern = Regex::new(pattern).ok()?;
            Some(pattern.is_match(output))
        }
        Condition::Exit(wanted) => Some(status == *wanted),
        Condition::Returns { .. } | Condition::Holds { .. } => None,
    }
}

fn not_shown(condition: &Condition, status: u8, witness: &Path) -> Expected {
    let message = match condition {
        Condition::Contains(text) => format!("the command's output does not contain {text}"),
        Condition::Matches(pattern) => format!("the command's output does not match {pattern}"),
        _ => format!("the command ended with {status}, so '{condition}' does not hold"),
    };
    let place = witness.join("output.txt");
    Expected::new(ExitCode::No, message).hint(format!("it printed {}", clean::path(&place)))
}

fn is_usage(error: &anyhow::Error) -> bool {
    let expected = error.downcast_ref::<Expected>();
    expected.is_some_and(|expected| expected.code == ExitCode::Usage)
}

fn no_driver() -> Expected {
    let message = "the command starts no main class of the program's own that could be followed";
    Expected::new(ExitCode::No, message)
        .hint("--fails-if is for programs with a main class; tests fail by their assertions")
}

impl Session<'_> {
    /// Makes a test of a condition; whether one was found that fails.
    pub(super) fn look_for(
        &self,
        condition: &Condition,
        results: &mut Results,
        console: &mut Console,
    ) -> anyhow::Result<bool> {
        let (witness, rate) = self.shown(condition, console)?;
        let began = Instant::now();
        let signature = condition.signature();
        writeln!(console.err(), "{condition}")?;
        if let Some(rate) = rate {
            writeln!(console.err(), "  {rate}")?;
        }
        match self.reduce_condition(condition, &witness, console) {
            Ok(found) => results.add((&signature, rate, Level::Outermost), &found, began, console),
            // What was typed is wrong, not the program.
            Err(error) if is_usage(&error) => Err(error),
            Err(error) if error.is::<Expected>() => {
                results.miss(&signature, rate, &error);
                crate::report(&error, console);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs the command until it is known how often the condition holds, and where the first run is.
    fn shown(
        &self,
        condition: &Condition,
        console: &mut Console,
    ) -> anyhow::Result<(PathBuf, Option<Rate>)> {
        writeln!(console.err(), "Running the command to see how it fails")?;
        let mut look = |name: &str| {
            let (folder, status) = self.watch(name, console)?;
            let output = untrusted::read(&folder.join("output.txt"), MOST_OUTPUT)?;
            let is_shown = is_shown(condition, &String::from_utf8_lossy(&output), status);
            anyhow::Ok((folder, status, is_shown))
        };
        let (first, status, is_shown) = look("witness")?;
        match is_shown {
            None => return Ok((first, None)),
            Some(false) => return Err(not_shown(condition, status, &first).into()),
            Some(true) => {}
        }
        let mut rate = Rate { times: 1, of: 1 };
        for number in 2..=WITNESSES {
            let (_, _, again) = look(&format!("witness-{number}"))?;
            rate.of += 1;
            rate.times += usize::from(again == Some(true));
            if rate.is_always() {
                break;
            }
        }
        Ok((first, Some(rate)))
    }

    fn reduce_condition(
        &self,
        condition: &Condition,
        witness: &Path,
        console: &mut Console,
    ) -> anyhow::Result<Found> {
        let signature = condition.signature();
        for path in RunFolder::open(witness)?.recordings {
            let witness = Recording::open(&path)?;
            let jdk = jdk_of(&witness)?;
            let program = Program::open(&class_path(witness.start()), &jdk)?;
            let failed = Failed {
                signature: &signature,
                test: None,
                start: witness.start(),
            };
            let Some(selection) = drivers(&failed, &program) else {
                continue;
            };
            let driver = selection.observe.first().map(ToString::to_string);
            let driver = driver.unwrap_or_default();
            writeln!(console.err(), "  following {driver}")?;
            let mut why = not_done(condition, &driver).into();
            for run in self.scripts("follow-1", selection, (PATIENCE, &[]), console)? {
                let Some(script) = followed_until(run, condition, witness.start()) else {
                    continue;
                };
                let case = Case {
                    signature: &signature,
                    condition: Some(condition),
                    recording: &witness,
                    script: &script,
                    program: &program,
                    jdk: &jdk,
                    sandbox: self.sandbox.as_ref(),
                    journals: self.journals.clone(),
                    taken: Vec::new(),
                    concrete: false,
                    found: &self.found,
                    environment: self.environment.clone(),
                };
                match self.reduce_case(&case, console) {
                    Ok(found) => return Ok(found),
                    Err(error) if error.is::<Expected>() && !self.interrupt.is_wanted() => {
                        why = error;
                    }
                    Err(error) => return Err(error),
                }
            }
            return Err(why);
        }
        Err(no_driver().into())
    }
}

fn not_done(condition: &Condition, driver: &str) -> Expected {
    let message = match condition {
        Condition::Exit(status) => {
            format!("{driver} does not end the JVM with {status} by itself")
        }
        _ => format!("no call of {driver} was recorded"),
    };
    Expected::new(ExitCode::No, message)
        .hint("only what the main class itself does is followed; exceptions need no --fails-if")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(condition: &str, output: &str, status: u8, expected: Option<bool>) {
        let condition = parse(condition).unwrap();
        assert_eq!(
            is_shown(&condition, output, status),
            expected,
            "{condition}"
        );
    }

    #[test]
    fn a_run_shows_what_it_printed_and_ended_with() {
        check("output contains b c", "a b c\n", 0, Some(true));
        check("output contains B", "a b c\n", 0, Some(false));
        check("output matches (?m)^b.$", "a\nbc\n", 0, Some(true));
        check("output matches ^b", "a\nbc\n", 0, Some(false));
        check("exit 3", "", 3, Some(true));
        check("exit 3", "", 1, Some(false));
        check("Cart.total returns 3", "3", 3, None);
    }

    #[test]
    fn a_regular_expression_is_checked_at_once() {
        assert!(parse("output matches (").is_err());
        assert!(parse("output contains (").is_ok());
    }
}
