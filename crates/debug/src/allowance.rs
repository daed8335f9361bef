//! The time and the candidates for one failure.

use std::time::{Duration, Instant};

use culprit_jvm::{Deadline, Interrupt};

use crate::Error;

/// However short the time limit is, the failure may be seen once, or there is nothing to keep.
const FIRST: Duration = Duration::from_secs(5);

/// The rest of the time and of the candidates for all attempts at one failure. Runs of the user's command do not
/// count.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    left: Duration,
    /// The candidates that may still run, if they are limited.
    tests: Option<u64>,
}

impl Allowance {
    /// All of the time and of the candidates.
    pub fn new(time: Duration, tests: Option<u64>) -> Allowance {
        Allowance { left: time, tests }
    }

    /// The deadline of an attempt that begins now.
    pub(crate) fn deadline(&self, interrupt: &Interrupt) -> Result<Deadline, Error> {
        match self.is_spent() {
            true => Err(Error::OutOfTime),
            false => Ok(Deadline::after(self.left.max(FIRST)).unless(interrupt)),
        }
    }

    /// The time that is left for an attempt that began at this time.
    pub(crate) fn left(&self, began: Instant) -> Duration {
        self.left.saturating_sub(began.elapsed())
    }

    /// The candidates that are left.
    pub(crate) fn tests(&self) -> Option<u64> {
        self.tests
    }

    /// Takes off the time and the candidates of an attempt.
    pub(crate) fn spend(&mut self, time: Duration, tests: u64) {
        self.left = self.left.saturating_sub(time);
        self.tests = self.tests.map(|left| left.saturating_sub(tests));
    }

    /// Leaves at most so much time.
    pub(crate) fn limit(&mut self, time: Duration) {
        self.left = self.left.min(time);
    }

    /// True if no time is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_share_the_time_and_the_candidates() {
        let mut allowance = Allowance::new(Duration::from_secs(3), Some(5));
        allowance.spend(Duration::from_secs(2), 2);
        assert!(!allowance.is_spent());
        assert_eq!(allowance.tests(), Some(3));
        allowance.spend(Duration::from_secs(2), 4);
        assert!(allowance.is_spent());
        assert_eq!(allowance.tests(), Some(0));
    }
}
