//! The time for one failure.

use std::time::{Duration, Instant};

use culprit_jvm::{Deadline, Interrupt};

use crate::Error;

/// However short the time limit is, the failure may be seen once, or there is nothing to keep.
const FIRST: Duration = Duration::from_secs(5);

/// The time that is left for all attempts at one failure. Runs of the user's command do not count.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    left: Duration,
}

impl Allowance {
    /// All of the time.
    pub fn new(time: Duration) -> Allowance {
        Allowance { left: time }
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

    /// Takes off the time that an attempt took.
    pub(crate) fn spend(&mut self, time: Duration) {
        self.left = self.left.saturating_sub(time);
    }

    /// Whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_share_the_time() {
        let mut allowance = Allowance::new(Duration::from_secs(3));
        allowance.spend(Duration::from_secs(2));
        assert!(!allowance.is_spent());
        allowance.spend(Duration::from_secs(2));
        assert!(allowance.is_spent());
    }
}
