//! Counts what a reducer asks for, and answers a question that was asked before from memory, so that
//! reducers with and without a cache are compared by the candidates that they need.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use culprit_reduce::{
    DeltaSet, Engine, Needs, Oracle, Problem, Schedule, Settings, Verdict, VerdictKind, Wanted,
};

use super::sequence::Sequence;

/// The treatment of a candidate that lacks calls that others need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closing {
    /// It is unresolved, and nothing is run.
    Refuse,
    /// The missing calls are added.
    Complete,
}

/// The counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Different candidates.
    pub tests: u64,
    /// The number of those that a JVM ran.
    pub runs: u64,
    /// Time that verdicts took.
    pub time: Duration,
}

pub struct Meter<'a> {
    sequence: &'a Sequence,
    closing: Closing,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    count: Count,
    known: HashMap<Vec<u32>, VerdictKind>,
}

impl<'a> Meter<'a> {
    pub fn new(sequence: &'a Sequence, closing: Closing) -> Meter<'a> {
        Meter {
            sequence,
            closing,
            state: Mutex::default(),
        }
    }

    pub fn count(&self) -> Count {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.count
    }

    pub fn fails(&self, candidate: &[u32]) -> anyhow::Result<bool> {
        Ok(self.verdict(candidate)? == VerdictKind::Fail)
    }

    fn verdict(&self, candidate: &[u32]) -> anyhow::Result<VerdictKind> {
        let start = Instant::now();
        let complete = self.sequence.completed(candidate);
        let asked = match self.closing {
            Closing::Refuse => candidate.to_vec(),
            Closing::Complete => complete.clone(),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let verdict = match state.known.get(&asked) {
            Some(known) => *known,
            None => {
                state.count.tests += 1;
                let verdict = if asked == complete {
                    state.count.runs += 1;
                    self.sequence.judge(&asked)?
                } else {
                    VerdictKind::Unresolved
                };
                state.known.insert(asked, verdict);
                verdict
            }
        };
        state.count.time += start.elapsed();
        Ok(verdict)
    }

    /// The result of the engine.
    pub fn by_engine(&self, schedule: Schedule) -> anyhow::Result<Vec<u32>> {
        let size = self.sequence.size();
        let needs = Needs::graph(size, self.sequence.pairs());
        let problem = Problem::new(u64::from(size)).needs(needs);
        let settings = Settings {
            schedule,
            ..Settings::default()
        };
        let engine = Engine::new(&problem, self).settings(settings);
        let found = engine.ddmin()?;
        Ok(found.failing.iter().map(|delta| delta as u32).collect())
    }
}

/// Why a candidate could not be judged.
#[derive(Debug)]
pub struct Trouble(anyhow::Error);

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for Trouble {}

impl Oracle for Meter<'_> {
    type Detail = ();
    type Error = Trouble;

    fn judge(&self, candidate: &DeltaSet, _: &Wanted<'_>) -> Result<Verdict<()>, Trouble> {
        let candidate: Vec<u32> = candidate.iter().map(|delta| delta as u32).collect();
        Ok(match self.verdict(&candidate).map_err(Trouble)? {
            VerdictKind::Pass => Verdict::Pass,
            VerdictKind::Fail => Verdict::Fail(()),
            VerdictKind::Unresolved => Verdict::Unresolved(()),
        })
    }
}
