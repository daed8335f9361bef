//! The time by which work must have ended. One is handed down from a command to everything that it waits
//! for, so that no wait of its own is longer than what is left.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::Interrupt;

/// The time that an interrupt leaves to work that completes something.
const AFTER_INTERRUPT: Duration = Duration::from_secs(5);

/// The end of some work. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    end: Arc<Mutex<EndTime>>,
    interrupt: Option<Interrupt>,
    /// The time at which an interrupt was noticed by work that may be completed.
    noticed: Arc<OnceLock<Instant>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct EndTime {
    /// `None` is never.
    at: Option<Instant>,
    /// It was put off, which is possible once.
    is_final: bool,
    /// The work completes what was found in time.
    is_completing: bool,
}

impl Deadline {
    /// No end but the interrupt's, if there is one.
    pub fn never() -> Deadline {
        Deadline::default()
    }

    /// An end so long from now. A time beyond what a clock can tell is never.
    pub fn after(limit: Duration) -> Deadline {
        let end = EndTime {
            at: Instant::now().checked_add(limit),
            ..EndTime::default()
        };
        Deadline {
            end: Arc::new(Mutex::new(end)),
            ..Deadline::default()
        }
    }

    /// The same, which ends early by an interrupt.
    #[must_use]
    pub fn unless(self, interrupt: &Interrupt) -> Deadline {
        Deadline {
            interrupt: Some(interrupt.clone()),
            ..self
        }
    }

    /// A deadline for a part of the work: so long from now, but not later than this one.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Deadline {
        let part = Deadline {
            interrupt: self.interrupt.clone(),
            noticed: Arc::clone(&self.noticed),
            ..Deadline::after(limit.min(self.left()))
        };
        part.lock().is_completing = self.end().is_completing;
        part
    }

    /// The time that is left.
    pub fn left(&self) -> Duration {
        match self.end().at {
            Some(at) => at.saturating_duration_since(Instant::now()),
            None => Duration::MAX,
        }
    }

    /// True if no time is left.
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// True if somebody wants us to end, whatever time is left.
    pub fn is_interrupted(&self) -> bool {
        let is_wanted = (self.interrupt.as_ref()).is_some_and(Interrupt::ends_waits);
        if !is_wanted || !self.end().is_completing {
            return is_wanted;
        }
        let noticed = self.noticed.get_or_init(Instant::now);
        noticed.elapsed() >= AFTER_INTERRUPT
    }

    /// Grants at least so long from now, once: what was found in time is to be completed.
    pub fn put_off(&self, grace: Duration) {
        let mut end = self.lock();
        if !end.is_final {
            let later = Instant::now().checked_add(grace);
            end.at = end.at.and_then(|at| later.map(|later| at.max(later)));
            end.is_final = true;
        }
    }

    /// Completes what was found in time: an interrupt that comes during the work leaves it a little time, and ends
    /// what comes after it.
    pub fn complete<T>(&self, work: impl FnOnce() -> T) -> T {
        self.lock().is_completing = true;
        let done = work();
        let mut end = self.lock();
        end.is_completing = false;
        if (self.interrupt.as_ref()).is_some_and(Interrupt::is_wanted) {
            end.at = Some(Instant::now());
        }
        done
    }

    /// The interrupt that ends it early.
    pub fn interrupt(&self) -> Option<&Interrupt> {
        self.interrupt.as_ref()
    }

    fn end(&self) -> EndTime {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, EndTime> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Duration> for Deadline {
    fn from(limit: Duration) -> Deadline {
        Deadline::after(limit)
    }
}

impl From<&Deadline> for Deadline {
    fn from(deadline: &Deadline) -> Deadline {
        deadline.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_part_ends_no_later_than_the_whole() {
        assert!(Deadline::after(Duration::ZERO).within(HOUR).is_over());
        let whole = Deadline::after(HOUR);
        assert!(whole.within(2 * HOUR).left() <= HOUR);
        assert!(whole.within(Duration::ZERO).is_over());
        assert!(!whole.is_over());
        assert_eq!(Deadline::never().left(), Duration::MAX);
        assert!(Deadline::never().within(HOUR).left() <= HOUR);
        assert!(!Deadline::after(Duration::MAX).is_over());
    }

    #[test]
    fn it_is_put_off_once_for_all_clones() {
        let deadline = Deadline::after(Duration::ZERO);
        let same = deadline.clone();
        same.put_off(HOUR);
        let left = deadline.left();
        assert!(left > HOUR / 2 && left <= HOUR);
        same.put_off(5 * HOUR);
        assert!(deadline.left() <= HOUR);
        let long = Deadline::after(2 * HOUR);
        long.put_off(HOUR);
        assert!(long.left() > HOUR);
    }
}
