//! Conditions of the user: what counts as a failure of a program that neither throws nor fails an assertion.
//! Other failures are ignored, and only the calls of the driver are reduced.

use std::path::Path;
use std::time::Instant;

use culprit_jvm::untrusted;
use culprit_minimize::MinimizedTest;
use culprit_model::options::Mode;
use culprit_scripts::{Condition, Failed, Surroundings, drivers, followed_until, has_own_methods};
use culprit_trace::RunFolder;
use regex_lite::Regex;

use crate::entry::Entry;
use crate::following::{FOLLOW_SECONDS, Following, LONGEST_INPUT};
use crate::output;
use crate::session::{EndedRun, WITNESSES};
use crate::{
    CallLevel, Case, Error, FailedJvm, FailureTest, MissedFailure, Rate, Session, SessionEvent,
};

/// The most bytes that are read of what a command printed.
const LONGEST_OUTPUT: u64 = 1 << 30;

/// Parses a condition, including its regular expression.
pub fn parse_condition(text: &str) -> Result<Condition, String> {
    let condition: Condition = text.parse().map_err(|why| format!("{why}"))?;
    if let Condition::Matches(pattern) = &condition {
        Regex::new(pattern).map_err(|why| why.to_string())?;
    }
    Ok(condition)
}

/// Whether a run shows that a condition held. `None` if that cannot be seen from outside.
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

/// The first run of the command, and how often the condition held.
struct Shown {
    first: EndedRun,
    rate: Option<Rate>,
}

impl Session<'_> {
    /// Makes a test of a condition; whether it fails.
    pub fn debug_condition(&mut self, condition: &Condition) -> Result<bool, Error> {
        let Shown { first, rate } = self.show(condition)?;
        let began = Instant::now();
        let signature = condition.signature();
        let failure = condition.to_string();
        self.observer
            .notice(SessionEvent::Failure { failure, rate })?;
        match self.reduce_condition(condition, &first.folder) {
            Ok((found, jvm)) => {
                let test = FailureTest {
                    signature,
                    rate,
                    level: CallLevel::Outermost,
                    found,
                    took: began.elapsed(),
                };
                self.observer.notice(SessionEvent::Test(&test))?;
                // The script ends where the expression is looked at, without an exception.
                if !matches!(condition, Condition::Holds { .. }) {
                    self.locate(&test, &jvm)?;
                }
                Ok(test.found.fails_the_same_way())
            }
            // The condition is wrong, not the program.
            Err(error) if error.is_about_condition() => Err(error),
            Err(error) if error.is_answer() => {
                let missed = MissedFailure {
                    signature,
                    rate,
                    error,
                };
                self.observer.notice(SessionEvent::Missed(missed))?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs the command until it is known how often the condition holds.
    fn show(&mut self, condition: &Condition) -> Result<Shown, Error> {
        self.observer.notice(SessionEvent::Witnesses)?;
        let (first, is_shown) = self.look("witness", condition)?;
        match is_shown {
            None => return Ok(Shown { first, rate: None }),
            Some(false) => {
                return Err(Error::NotShown {
                    condition: condition.clone(),
                    status: first.status,
                    output: first.output(),
                });
            }
            Some(true) => {}
        }
        let mut rate = Rate { times: 1, of: 1 };
        for number in 2..=WITNESSES {
            let (_, again) = self.look(&format!("witness-{number}"), condition)?;
            rate.of += 1;
            rate.times += usize::from(again == Some(true));
            if rate.is_always() {
                break;
            }
        }
        let rate = Some(rate);
        Ok(Shown { first, rate })
    }

    /// Runs the command; whether the condition held.
    fn look(
        &mut self,
        name: &str,
        condition: &Condition,
    ) -> Result<(EndedRun, Option<bool>), Error> {
        let run = self.run_whole(name, Mode::Witness)?;
        let printed = untrusted::read(&run.output(), LONGEST_OUTPUT)?;
        let is_shown = is_shown(condition, &String::from_utf8_lossy(&printed), run.status);
        output::bound(&run.output())?;
        Ok((run, is_shown))
    }

    /// A test of a condition, with the JVM whose run it was made of.
    fn reduce_condition(
        &mut self,
        condition: &Condition,
        witness: &Path,
    ) -> Result<(MinimizedTest, FailedJvm), Error> {
        let signature = condition.signature();
        for path in RunFolder::open(witness)?.recordings {
            let jvm = self.failed_jvm(&path)?;
            let failed = Failed {
                signature: &signature,
                test: None,
                start: jvm.recording.start(),
            };
            let Some(selection) = drivers(&failed, &jvm.program) else {
                continue;
            };
            let driver = selection.observe.first().map(ToString::to_string);
            let driver = driver.unwrap_or_default();
            self.observer.notice(SessionEvent::Follows {
                driver: driver.clone(),
            })?;
            let why = Error::NotDone {
                condition: condition.clone(),
                driver,
            };
            let whole = Following {
                name: "follow-1".to_owned(),
                selection,
                tests: Vec::new(),
                methods: Vec::new(),
                is_inlined: true,
                seconds: FOLLOW_SECONDS,
            };
            // The main class may be the program, too: then the calls of its own methods are the script.
            let own = match has_own_methods(&failed, &jvm.program) {
                true => {
                    let main = Following {
                        name: "follow-1-main".to_owned(),
                        methods: vec!["main".to_owned()],
                        ..whole.clone()
                    };
                    let found = self.reduce_followed(condition, &main, &jvm);
                    match found {
                        Err(error) if !error.is_answer() || self.is_over() => return Err(error),
                        found => found.ok().flatten(),
                    }
                }
                false => None,
            };
            let entry = Entry::of(&jvm, None);
            let is_good = |found: &MinimizedTest| {
                found.fails_the_same_way()
                    && !found.test.notes.uses_reflection
                    && entry.again(&found.minimised.script).is_none()
            };
            if let Some(found) = own.filter(is_good) {
                return Ok((found, jvm));
            }
            let found = self.reduce_followed(condition, &whole, &jvm)?;
            return found.map(|found| (found, jvm)).ok_or(why);
        }
        Err(Error::NoDriver)
    }

    /// Makes a test of what was followed; `None` if nothing of it has to do with the condition.
    fn reduce_followed(
        &mut self,
        condition: &Condition,
        following: &Following,
        jvm: &FailedJvm,
    ) -> Result<Option<MinimizedTest>, Error> {
        let signature = condition.signature();
        let input = self.settings.input.text(LONGEST_INPUT);
        let surroundings = Surroundings {
            start: jvm.recording.start(),
            input: input.as_deref(),
        };
        let mut why = None;
        for run in self.scripts(following)? {
            let Some(script) = followed_until(run, condition, surroundings) else {
                continue;
            };
            let case = Case {
                signature: &signature,
                condition: Some(condition),
                script: &script,
                recording: &jvm.recording,
                program: &jvm.program,
                jdk: &jvm.jdk,
                taken: &[],
                concrete: false,
            };
            match self.reduce_case(&case) {
                Ok(found) => return Ok(Some(found)),
                Err(error) if error.is_answer() && !self.is_interrupted() => why = Some(error),
                Err(error) => return Err(error),
            }
        }
        why.map_or(Ok(None), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(condition: &str, output: &str, status: u8, expected: Option<bool>) {
        let condition = parse_condition(condition).unwrap();
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
        assert!(parse_condition("output matches (").is_err());
        assert!(parse_condition("output contains (").is_ok());
    }
}
