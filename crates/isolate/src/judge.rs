//! The judge: one test, the failure it showed at first, and how often it is to be repeated.
//!
//! A test that does not always fail is repeated. A candidate fails if any run shows the failure; it
//! passes if all of them pass. The number of runs is such that a candidate which fails as often
//! as the failing side did is missed once in fifty times at most.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use culprit_reduce::{Verdict, VerdictKind};

use crate::{
    Ending, Error, Likeness, LineComparison, RunAnswer, RunFailure, RunSetup, TestCommand, Warm,
};

/// Runs that tell how often a test fails which does not always.
const TRIES: u32 = 10;

/// What a missed failure may weigh.
const MISSED: f64 = 0.02;

/// The most runs of one candidate, unless the user says more.
const MOST: u32 = 20;

/// A run may take so many times as long as one before it that ended.
const SLOWER: u32 = 20;

/// A test may take so long at least.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// How long a run may take after one that took so long: what takes much longer is something else.
pub(crate) fn patience(took: Duration, least: Duration) -> Duration {
    least.max(took.saturating_mul(SLOWER))
}

/// Judges candidates by runs of a test.
#[derive(Clone, Debug)]
pub struct Judge {
    test: TestCommand,
    failure: RunFailure,
    likeness: Likeness,
    lines: LineComparison,
    runs: u32,
    /// JVMs that take candidates instead of the command.
    warm: Option<Arc<Warm>>,
}

/// A verdict with what is behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judged {
    pub verdict: Verdict<String>,
    /// How many of the runs showed the failure.
    pub rate: Rate,
    /// What the deciding run took.
    pub took: Duration,
    /// Processes that were left behind and ended.
    pub strays: usize,
}

/// So many of so many runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rate {
    pub failed: u32,
    pub of: u32,
}

impl Rate {
    pub fn is_always(self) -> bool {
        self.failed == self.of
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.failed, self.of) {
            (1, 1) => f.write_str("fails"),
            (failed, of) if failed == of => write!(f, "fails {of} of {of} times"),
            (failed, of) => write!(f, "fails {failed} of {of} times"),
        }
    }
}

/// What the runs of the failing side showed.
#[derive(Clone, Debug)]
pub struct Witness {
    pub judge: Judge,
    pub rate: Rate,
    /// The first run that failed.
    pub ending: Ending,
    /// Processes that runs left behind; they were ended.
    pub strays: usize,
}

/// Why the failing side is of no use.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    #[error(transparent)]
    Error(#[from] Error),
    /// It never failed.
    #[error("the test does not fail: it {}", how(.0))]
    Passes(Box<Ending>),
    /// It could not be told.
    #[error("the test gives no verdict: it {1}")]
    Unresolved(Box<Ending>, String),
    /// It fails in another way than was asked for.
    #[error("the test fails in another way: {0}")]
    Unlike(String),
    /// The sandbox refused something to it.
    #[error("the sandbox refuses what the test does: {0}")]
    Refused(String),
    /// It fails so seldom that candidates would need more runs than are allowed.
    #[error("the test {rate}: too seldom to distinguish candidates")]
    Seldom { rate: Rate },
}

fn how(ending: &Ending) -> String {
    ending.how.to_string()
}

impl Judge {
    /// Runs the failing side until it is known how it fails, and how often. `runs` is how often the
    /// user wants each candidate to be run.
    pub fn witness(
        test: TestCommand,
        compare: (Likeness, LineComparison),
        runs: Option<u32>,
        setup: &mut dyn FnMut() -> Result<RunSetup, Error>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Witness, Unfit> {
        Judge::witness_like(test, compare, &|_| true, runs, setup, wanted)
    }

    /// The same where it is known what the failure is like: `take` has it take that, if it is there.
    pub(crate) fn witness_like(
        test: TestCommand,
        (mut likeness, lines): (Likeness, LineComparison),
        take: &dyn Fn(&mut RunFailure) -> bool,
        runs: Option<u32>,
        setup: &mut dyn FnMut() -> Result<RunSetup, Error>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Witness, Unfit> {
        let mut first: Option<(RunFailure, Ending)> = None;
        let mut other = None;
        let mut rate = Rate::default();
        let mut strays = 0;
        let mut most = runs.unwrap_or(1).max(2);
        while rate.of < most {
            let ending = test.run(&setup()?, wanted)?;
            strays += ending.strays;
            rate.of += 1;
            let mut failure = RunFailure::by(&test.rule, &ending);
            let answer = test.rule.answer(&ending);
            if answer == RunAnswer::Fail
                && test.sandbox.is_some()
                && let Some(refusal) = failure.refusal()
            {
                return Err(Unfit::Refused(refusal));
            }
            match (answer, &first) {
                (RunAnswer::Fail, None) if !take(&mut failure) => {
                    other = Some((RunAnswer::Fail, ending));
                }
                (RunAnswer::Fail, None) => {
                    rate.failed += 1;
                    first = Some((failure, ending));
                }
                (RunAnswer::Fail, Some((known, _)))
                    if known.is_same(&failure, likeness, &lines) =>
                {
                    rate.failed += 1;
                }
                // A message that differs from run to run tells nothing.
                (RunAnswer::Fail, Some((known, _)))
                    if likeness == Likeness::Message
                        && known.is_same(&failure, Likeness::Place, &lines) =>
                {
                    likeness = Likeness::Place;
                    rate.failed += 1;
                }
                (answer, _) => other = Some((answer, ending)),
            }
            // One that always passes is seen to do so twice. All others are tried more often.
            if rate.failed > 0 && !rate.is_always() {
                most = most.max(TRIES);
            }
        }
        let Some((failure, ending)) = first else {
            return Err(match other {
                Some((RunAnswer::Unresolved(why), ending)) => {
                    Unfit::Unresolved(Box::new(ending), why)
                }
                Some((RunAnswer::Fail, ending)) => {
                    Unfit::Unlike(RunFailure::by(&test.rule, &ending).to_string())
                }
                Some((_, ending)) => Unfit::Passes(Box::new(ending)),
                None => unreachable!("there was a run"),
            });
        };
        let needed = needed(rate);
        if runs.is_none() && needed > MOST {
            return Err(Unfit::Seldom { rate });
        }
        let judge = Judge {
            test,
            failure,
            likeness,
            lines,
            runs: runs.unwrap_or(needed),
            warm: None,
        };
        Ok(Witness {
            judge,
            rate,
            ending,
            strays,
        })
    }

    /// The same with less patience.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Judge {
        self.test.limit = self.test.limit.min(limit);
        self
    }

    /// What verdicts depend on besides the test.
    pub(crate) fn key(&self) -> String {
        format!("{:?} {}", self.likeness, self.runs)
    }

    /// The same where messages do not count; `None` if they do not anyhow.
    pub(crate) fn without_messages(&self) -> Option<Judge> {
        (self.likeness == Likeness::Message).then(|| Judge {
            likeness: Likeness::Place,
            ..self.clone()
        })
    }

    /// The same with warm JVMs, or without.
    #[must_use]
    pub fn warmed(mut self, warm: Option<Arc<Warm>>) -> Judge {
        self.warm = warm;
        self
    }

    /// How it failed at first.
    pub fn failure(&self) -> &RunFailure {
        &self.failure
    }

    /// The test.
    pub fn test(&self) -> &TestCommand {
        &self.test
    }

    /// How often a candidate is run until it counts as passing.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// Judges a candidate. It is set up anew for each run, since a run may change it.
    pub fn judge(
        &self,
        setup: &mut dyn FnMut() -> Result<RunSetup, Error>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Judged, Error> {
        let mut judged = Judged {
            verdict: Verdict::Pass,
            rate: Rate::default(),
            took: Duration::ZERO,
            strays: 0,
        };
        while judged.rate.of < self.runs {
            let ending = self.run(&setup()?, wanted)?;
            judged.rate.of += 1;
            judged.strays += ending.strays;
            judged.took = ending.took;
            match self.answer(&ending) {
                Verdict::Fail(how) => {
                    judged.rate.failed += 1;
                    judged.verdict = Verdict::Fail(how);
                    break;
                }
                Verdict::Unresolved(why) => judged.verdict = Verdict::Unresolved(why),
                Verdict::Pass => {}
            }
        }
        Ok(judged)
    }

    /// How many of so many runs of a candidate have a verdict of this kind.
    pub fn count(
        &self,
        runs: u32,
        kind: VerdictKind,
        setup: &mut dyn FnMut() -> Result<RunSetup, Error>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<u32, Error> {
        let mut count = 0;
        for _ in 0..runs {
            let ending = self.run(&setup()?, wanted)?;
            count += u32::from(self.answer(&ending).kind() == kind);
        }
        Ok(count)
    }

    /// Runs a candidate once.
    pub(crate) fn run(&self, setup: &RunSetup, wanted: &dyn Fn() -> bool) -> Result<Ending, Error> {
        if let Some(warm) = &self.warm
            && let Some(ending) = warm.run(setup, self.test.limit, wanted)?
        {
            return Ok(ending);
        }
        self.test.run(setup, wanted)
    }

    /// What one run says.
    pub fn answer(&self, ending: &Ending) -> Verdict<String> {
        let failure = || RunFailure::by(&self.test.rule, ending);
        match self.test.rule.answer(ending) {
            RunAnswer::Unresolved(why) => Verdict::Unresolved(why),
            RunAnswer::Fail => {
                let failure = failure();
                if self.test.sandbox.is_some()
                    && let Some(refusal) = failure.refusal()
                {
                    return Verdict::Unresolved(format!("the sandbox refuses it: {refusal}"));
                }
                match self.failure.is_same(&failure, self.likeness, &self.lines) {
                    true => Verdict::Fail(failure.to_string()),
                    false => Verdict::Unresolved(format!("fails otherwise: {failure}")),
                }
            }
            // An orderly end by a sign that does not show, but with a backtrace: another failure.
            RunAnswer::Pass if !self.test.rule.signs.is_empty() && ending.how.code() != Some(0) => {
                let failure = failure();
                match failure.has_trace() && self.likeness != Likeness::Any {
                    true => Verdict::Unresolved(format!("fails otherwise: {failure}")),
                    false => Verdict::Pass,
                }
            }
            RunAnswer::Pass => Verdict::Pass,
        }
    }
}

/// How many runs miss a failure of this rate seldom enough.
fn needed(rate: Rate) -> u32 {
    if rate.is_always() {
        return 1;
    }
    let misses = 1.0 - f64::from(rate.failed) / f64::from(rate.of);
    let runs = MISSED.ln() / misses.ln();
    // A rate above 0 and below 1: the number is positive.
    runs.ceil() as u32
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::test::tests::{setup, shell};

    fn witness(command: &str, runs: Option<u32>) -> Result<Witness, Unfit> {
        let folder = tempfile::tempdir().unwrap();
        let likeness = (Likeness::Place, LineComparison::Count);
        let mut here = || Ok(setup(folder.path()));
        Judge::witness(shell(command), likeness, runs, &mut here, &|| true)
    }

    /// Fails on the runs whose numbers are listed, counted in a file.
    fn now_and_then(numbers: &str) -> String {
        format!("echo >>n; case $(wc -l <n) in {numbers}) exit 1;; esac")
    }

    #[test]
    fn a_test_that_always_fails_is_run_twice_and_needs_no_repetition() {
        let seen = witness("exit 1", None).unwrap();
        assert_eq!(seen.rate, Rate { failed: 2, of: 2 });
        assert_eq!(seen.judge.runs(), 1);
        assert_eq!(witness("exit 1", Some(3)).unwrap().judge.runs(), 3);
    }

    #[test]
    fn one_that_never_fails_is_of_no_use() {
        assert!(matches!(witness("exit 0", None), Err(Unfit::Passes(_))));
        let late = witness("exit 125", None).unwrap_err().to_string();
        assert_eq!(late, "the test gives no verdict: it exits with status 125");
    }

    #[test]
    fn a_flaky_test_has_a_rate_and_is_repeated() {
        let seen = witness(&now_and_then("1|3|5|7|9"), None).unwrap();
        assert_eq!(seen.rate, Rate { failed: 5, of: 10 });
        assert_eq!(seen.judge.runs(), 6);
        let seldom = witness(&now_and_then("2"), None).unwrap_err().to_string();
        assert!(
            seldom.contains("fails 1 of 10 times: too seldom"),
            "{seldom}"
        );
        assert_eq!(
            witness(&now_and_then("2"), Some(30)).unwrap().judge.runs(),
            30
        );
        // What fails in another way each time has no rate to speak of.
        let told = "echo >>n; echo \"#0 0x1 in f$(wc -l <n) a.c:1\" >&2; exit 1";
        assert!(matches!(witness(told, None), Err(Unfit::Seldom { .. })));
    }

    #[test]
    fn a_candidate_fails_if_any_run_does_and_passes_if_all_do() {
        let folder = tempfile::tempdir().unwrap();
        let mut here = || Ok(setup(folder.path()));
        let command =
            "echo >>n; case $(cat mode)-$(wc -l <n) in *-1|f-4) exit 1;; u-*) exit 125;; esac";
        fs::write(folder.path().join("mode"), "").unwrap();
        let likeness = (Likeness::Place, LineComparison::Count);
        let seen = Judge::witness(shell(command), likeness, Some(5), &mut here, &|| true).unwrap();
        for (mode, kind, of) in [("p", "Pass", 5), ("f", "Fail", 3), ("u", "Unresolved", 5)] {
            fs::write(folder.path().join("mode"), mode).unwrap();
            fs::write(folder.path().join("n"), "\n").unwrap();
            let judged = seen.judge.judge(&mut here, &|| true).unwrap();
            assert_eq!(format!("{:?}", judged.verdict.kind()), kind);
            assert_eq!(judged.rate.of, of, "{mode}");
        }
    }

    #[test]
    fn another_failure_is_unresolved() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("f"), "parse").unwrap();
        let mut here = || Ok(setup(folder.path()));
        let test = shell("echo \"#0 0x1 in $(cat f) a.c:1\" >&2; exit 1");
        let likeness = (Likeness::Place, LineComparison::Count);
        let seen = Judge::witness(test, likeness, None, &mut here, &|| true).unwrap();
        fs::write(folder.path().join("f"), "print").unwrap();
        let judged = seen.judge.judge(&mut here, &|| true).unwrap();
        let why = "fails otherwise: exits with status 1 in print (a.c:1)".to_owned();
        assert_eq!(judged.verdict, Verdict::Unresolved(why));
    }
}
