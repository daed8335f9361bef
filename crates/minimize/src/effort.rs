//! How much work one test may cost, over all searches for it, and who hears how far it is.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use culprit_reduce::{Budget, Counts, End, Journal, Problem, Settings};

use crate::Error;

/// What is being done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Candidates are run.
    Minimising {
        /// Statements of the smallest script that fails, and of the whole one.
        left: usize,
        of: usize,
        /// Candidates up to now.
        tests: u64,
    },
    /// The test is compiled and run.
    Checking,
}

/// The work on one test.
pub struct Effort<'a> {
    /// Their budget is for everything together.
    settings: Settings,
    hear: &'a (dyn Fn(Progress) + Sync),
    began: Duration,
    tests: AtomicU64,
    /// Those of them whose verdict was in a journal.
    known: AtomicU64,
    journals: Option<PathBuf>,
    trouble: Mutex<Option<io::Error>>,
}

impl<'a> Effort<'a> {
    /// Work that begins now.
    pub fn new(settings: Settings, hear: &'a (dyn Fn(Progress) + Sync)) -> Effort<'a> {
        Effort {
            began: settings.clock.now(),
            settings,
            hear,
            tests: AtomicU64::new(0),
            known: AtomicU64::new(0),
            journals: None,
            trouble: Mutex::default(),
        }
    }

    /// Keeps verdicts in a folder, and uses those that are there.
    #[must_use]
    pub fn journals(mut self, folder: Option<PathBuf>) -> Effort<'a> {
        self.journals = folder;
        self
    }

    /// Candidates whose verdict was needed.
    pub(crate) fn tests(&self) -> u64 {
        self.tests.load(Ordering::Relaxed)
    }

    /// Candidates that were run.
    pub fn runs(&self) -> u64 {
        self.tests() - self.known.load(Ordering::Relaxed)
    }

    /// Why journals lack verdicts.
    pub fn journal_trouble(&self) -> Option<io::Error> {
        let trouble = self.trouble.lock();
        trouble.unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn count_run(&self) {
        self.tests.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts what a search did.
    pub(crate) fn count(&self, counts: Counts, trouble: Option<io::Error>) {
        self.known.fetch_add(counts.replayed, Ordering::Relaxed);
        self.tests.fetch_add(counts.tests, Ordering::Relaxed);
        if trouble.is_some() {
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
        }
    }

    /// The journal of a problem: each has a file of its own.
    pub(crate) fn journal(&self, problem: &Problem) -> Result<Option<Journal>, Error> {
        let Some(folder) = &self.journals else {
            return Ok(None);
        };
        fs::create_dir_all(folder)?;
        let file = folder.join(format!("{}.txt", problem.digest()));
        Ok(Some(Journal::open(&file, problem)?))
    }

    pub(crate) fn tell(&self, progress: Progress) {
        (self.hear)(progress);
    }

    /// Ends it: what was found up to now is the result.
    pub(crate) fn cancel(&self) {
        self.settings.cancel.cancel();
    }

    /// Settings of a search, with what is left of the budget.
    pub(crate) fn settings(&self) -> Settings {
        let Budget { tests, time } = self.settings.budget;
        Settings {
            budget: Budget {
                tests: tests.map(|most| most.saturating_sub(self.tests())),
                time: time.map(|most| most.saturating_sub(self.elapsed())),
            },
            ..self.settings.clone()
        }
    }

    /// Why no more candidates are to be run, if so.
    pub fn end(&self) -> Option<End> {
        let Budget { tests, time } = self.settings().budget;
        if self.settings.cancel.is_cancelled() {
            return Some(End::Cancelled);
        }
        let no_time = time.is_some_and(|left| left.is_zero());
        let no_tests = tests == Some(0);
        no_time
            .then_some(End::Time)
            .or(no_tests.then_some(End::Tests))
    }

    fn elapsed(&self) -> Duration {
        self.settings.clock.now().saturating_sub(self.began)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use culprit_reduce::Clock;

    use super::*;

    /// Seconds that somebody sets.
    struct Hand(AtomicU64);

    impl Clock for Hand {
        fn now(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::Relaxed))
        }
    }

    #[test]
    fn a_search_has_what_those_before_it_left_of_the_budget() {
        let clock = Arc::new(Hand(AtomicU64::new(7)));
        let settings = Settings {
            budget: Budget {
                tests: Some(10),
                time: Some(Duration::from_secs(60)),
            },
            clock: clock.clone(),
            ..Settings::default()
        };
        let effort = Effort::new(settings, &|_| {});
        for _ in 0..2 {
            effort.count_run();
        }
        let counts = |tests, replayed| Counts {
            tests,
            replayed,
            ..Counts::default()
        };
        effort.count(counts(2, 1), None);
        assert_eq!(effort.runs(), 3);
        clock.0.store(27, Ordering::Relaxed);
        let left = effort.settings().budget;
        assert_eq!(left.tests, Some(6));
        assert_eq!(left.time, Some(Duration::from_secs(40)));
        assert_eq!(effort.end(), None);
        effort.count(counts(7, 0), Some(io::Error::other("full")));
        assert_eq!(effort.journal_trouble().unwrap().to_string(), "full");
        assert_eq!(effort.end(), Some(End::Tests));
        clock.0.store(99, Ordering::Relaxed);
        assert_eq!(effort.end(), Some(End::Time));
        effort.cancel();
        assert_eq!(effort.end(), Some(End::Cancelled));
    }
}
