//! What the end of a test means.

use crate::ending::How;
use crate::{Ending, Sign};

/// The status that says: this one cannot be judged. As `git bisect run` has it.
pub const UNRESOLVED: u8 = 125;

/// Statuses of `java/tester`: it passed, it could not be run, it threw.
const PASSED: u8 = 97;
const NOT_RUN: u8 = 98;
const THREW: u8 = 99;

/// Bytes of each stream that are kept of a run: enough for backtraces.
const KEPT: usize = 1 << 20;

/// The same where the failure is looked for in them.
const SEARCHED: usize = 16 << 20;

/// What passes, what fails, and what is neither.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    pub convention: Convention,
    /// Signs of the failure. Where there are some, any of them shows it, and nothing else does.
    pub signs: Vec<Sign>,
}

/// What the status means where no sign is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Convention {
    /// 0 passes, 125 is unresolved, all else fails; as `git bisect run` has it.
    #[default]
    Test,
    /// 0 says that the failure is there, 125 is unresolved, all else says that it is gone; as
    /// reducers have it.
    Interesting,
    /// What runs tests of JUnit has a status for each way to end. Whoever ends the JVM otherwise has
    /// not told, but a crash is a failure.
    Tester,
}

/// The answer of one run, as far as it is known without comparing failures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunAnswer {
    Pass,
    /// It fails: in which way is to be seen.
    Fail,
    /// And why.
    Unresolved(String),
}

impl Rule {
    /// Bytes of each stream that are kept of a run at most, half of them of its end.
    pub(crate) fn kept(&self) -> usize {
        match self.signs.iter().any(|sign| sign.stream().is_some()) {
            true => SEARCHED,
            false => KEPT,
        }
    }

    /// True if a run without the failure is known to pass. Otherwise it may have failed in another way.
    pub fn tells_pass(&self) -> bool {
        match self.convention {
            Convention::Test => self.signs.is_empty(),
            Convention::Interesting => false,
            // An exception without the sign is no pass.
            Convention::Tester => true,
        }
    }

    /// The sign of the failure, if the status of a failing run tells people nothing.
    pub(crate) fn shown(&self, ending: &Ending) -> Option<String> {
        let mut signs = self.signs.iter();
        match signs.find(|sign| sign.shows(ending)) {
            Some(sign) => sign.stream().map(|_| sign.to_string()),
            None if self.convention == Convention::Interesting => {
                Some("the script finds it interesting".to_owned())
            }
            None => None,
        }
    }

    /// What a run says.
    pub fn answer(&self, ending: &Ending) -> RunAnswer {
        let unresolved = |why: String| RunAnswer::Unresolved(why);
        if self.signs.iter().any(|sign| sign.shows(ending)) {
            return RunAnswer::Fail;
        }
        match ending.how {
            How::Late | How::Exceeded(_) => unresolved(ending.how.to_string()),
            how if how.code() == Some(UNRESOLVED) => unresolved(how.to_string()),
            // It may be in what is not kept.
            _ if self.may_miss(ending) => unresolved(format!(
                "prints more than {} MB, too much to look for the failure in",
                SEARCHED >> 20
            )),
            how if self.convention == Convention::Tester && how.code() == Some(NOT_RUN) => {
                unresolved(format!("is not run: {}", last_line(&ending.err)))
            }
            // The user said how the failure shows: what ends in an orderly way has not got it.
            how if !self.signs.is_empty() => match how.signal() {
                Some(_) => unresolved(how.to_string()),
                None => RunAnswer::Pass,
            },
            how => match (self.convention, how.code()) {
                (Convention::Test, Some(0)) => RunAnswer::Pass,
                (Convention::Test, _) => RunAnswer::Fail,
                (Convention::Interesting, Some(0)) => RunAnswer::Fail,
                (Convention::Interesting, Some(_)) => RunAnswer::Pass,
                (Convention::Interesting, None) => unresolved(how.to_string()),
                (Convention::Tester, Some(PASSED)) => RunAnswer::Pass,
                (Convention::Tester, Some(THREW)) => RunAnswer::Fail,
                (Convention::Tester, _) if how.signal().is_some() => RunAnswer::Fail,
                (Convention::Tester, _) => match last_line(&ending.err) {
                    "" => unresolved(format!("ends its JVM ({how})")),
                    said => unresolved(format!("{how}: {said}")),
                },
            },
        }
    }

    /// Whether a sign may be in what is not kept of a run.
    fn may_miss(&self, ending: &Ending) -> bool {
        let mut streams = self.signs.iter().filter_map(Sign::stream);
        streams.any(|stream| stream.is_cut(ending))
    }
}

/// The last line that says something.
fn last_line(text: &str) -> &str {
    let mut lines = text.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::TestCommand;
    use crate::test::tests::{setup, shell};

    fn answer(command: &str, convention: Convention, signs: &[&str]) -> RunAnswer {
        let folder = tempfile::tempdir().unwrap();
        let mut test = shell(command);
        test.limit = Duration::from_millis(500);
        let rule = Rule {
            convention,
            signs: signs.iter().map(|sign| sign.parse().unwrap()).collect(),
        };
        rule.answer(&test.run(&setup(folder.path()), &|| true).unwrap())
    }

    #[test]
    fn a_status_means_what_the_convention_says() {
        let unresolved = |why: &str| RunAnswer::Unresolved(why.to_owned());
        for (command, test, interesting) in [
            ("exit 0", RunAnswer::Pass, RunAnswer::Fail),
            ("exit 1", RunAnswer::Fail, RunAnswer::Pass),
            (
                "exit 125",
                unresolved("exits with status 125"),
                unresolved("exits with status 125"),
            ),
            (
                "kill -ABRT $$",
                RunAnswer::Fail,
                unresolved("dies of SIGABRT"),
            ),
            (
                "sleep 100",
                unresolved("does not end in time"),
                unresolved("does not end in time"),
            ),
        ] {
            assert_eq!(answer(command, Convention::Test, &[]), test, "{command}");
            assert_eq!(
                answer(command, Convention::Interesting, &[]),
                interesting,
                "{command}"
            );
        }
    }

    #[test]
    fn a_tester_tells_all_ends_apart() {
        let check = |command: &str, expect: RunAnswer| {
            assert_eq!(
                answer(command, Convention::Tester, &[]),
                expect,
                "{command}"
            );
        };
        let unresolved = |why: &str| RunAnswer::Unresolved(why.to_owned());
        check("exit 97", RunAnswer::Pass);
        check("exit 99", RunAnswer::Fail);
        check("kill -SEGV $$", RunAnswer::Fail);
        check(
            "echo no class X >&2; exit 98",
            unresolved("is not run: no class X"),
        );
        // The test may end its JVM as if all were well.
        check("exit 0", unresolved("ends its JVM (exits with status 0)"));
        let not_started = "echo Unrecognized option >&2; exit 1";
        check(
            not_started,
            unresolved("exits with status 1: Unrecognized option"),
        );
    }

    #[test]
    fn named_signs_decide() {
        let check = |command: &str, signs: &[&str], expect: &str| {
            let told = match answer(command, Convention::Test, signs) {
                RunAnswer::Pass => "pass",
                RunAnswer::Fail => "fail",
                RunAnswer::Unresolved(_) => "unresolved",
            };
            assert_eq!(told, expect, "{command} {signs:?}");
        };
        check("exit 3", &["exit 3"], "fail");
        check("exit 4", &["exit 3"], "pass");
        check("exit 4", &["exit 3", "exit 4"], "fail");
        check("echo Oh no >&2", &["stderr contains h n"], "fail");
        check("echo Oh no", &["stderr contains h n"], "pass");
        check("echo Oh no", &["output matches O. n"], "fail");
        check("kill -SEGV $$", &["crash"], "fail");
        check("kill -SEGV $$", &["exit 1"], "unresolved");
        check("sleep 100", &["timeout"], "fail");
        check("sleep 100", &["crash"], "unresolved");
    }

    #[test]
    fn all_of_a_long_output_is_looked_at_and_a_longer_one_is_not_told_to_pass() {
        let folder = tempfile::tempdir().unwrap();
        let said = |before: usize, after: usize, sign: &str| {
            let lines = |bytes| format!("yes | head -c {bytes}");
            let test = TestCommand {
                rule: Rule {
                    signs: vec![sign.parse().unwrap()],
                    ..Rule::default()
                },
                ..shell(&format!("{}; echo oh no; {}", lines(before), lines(after)))
            };
            let ending = test.run(&setup(folder.path()), &|| true).unwrap();
            test.rule.answer(&ending)
        };
        let sign = "stdout contains oh no";
        assert_eq!(said(2 << 20, 2 << 20, sign), RunAnswer::Fail);
        assert_eq!(said(1, SEARCHED, sign), RunAnswer::Fail);
        let why = "prints more than 16 MB, too much to look for the failure in".to_owned();
        assert_eq!(said(SEARCHED, SEARCHED, sign), RunAnswer::Unresolved(why));
        // The other stream is whole.
        assert_eq!(said(SEARCHED, 1, "stderr contains oh no"), RunAnswer::Pass);
    }
}
