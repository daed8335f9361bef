//! How a reduction goes about it.

use std::sync::Arc;
use std::time::Duration;

use crate::oracle::{Cancel, Clock, SystemClock};
use crate::schedule::Schedule;

/// Settings of a reduction. Only `schedule`, `inference` and `budget.tests` have a say in the
/// result of one that is let finish.
#[derive(Clone)]
pub struct Settings {
    /// In which order `ddmin` tries; `dd` has an order of its own.
    pub schedule: Schedule,
    /// What verdicts say about other candidates.
    pub inference: Inference,
    /// Candidates judged at the same time; 0 counts as 1.
    pub jobs: usize,
    /// When to end early.
    pub budget: Budget,
    /// Ends the reduction from elsewhere.
    pub cancel: Cancel,
    /// The time that the budget speaks of.
    pub clock: Arc<dyn Clock + Send>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            schedule: Schedule::default(),
            inference: Inference::default(),
            jobs: 1,
            budget: Budget::default(),
            cancel: Cancel::new(),
            clock: Arc::new(SystemClock::default()),
        }
    }
}

/// When a reduction ends early, with the best it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    /// The most tests: different candidates whose verdict is needed, those of a journal included, so
    /// that an interrupted reduction ends where an uninterrupted one does.
    pub tests: Option<u64>,
    /// The longest time, which starts anew with each run.
    pub time: Option<Duration>,
}

/// What verdicts say about other candidates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Inference {
    /// Nothing.
    #[default]
    Exact,
    /// Parts of what passed pass: `ddmin` does not ask for them. Only where the oracle is known to be
    /// like that; otherwise the result may not be 1-minimal. It fails all the same. `dd` asks for
    /// everything that it returns and ignores this.
    Monotone,
}
