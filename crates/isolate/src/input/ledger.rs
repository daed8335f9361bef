//! What is counted and told while an input is isolated. The same for any number of jobs.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use culprit_reduce::{End, Kind};

use crate::Digest;

/// What was counted. Only `runs` depends on the number of jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Different candidates whose verdict was needed, besides the two ends.
    pub tests: u64,
    pub passed: u64,
    pub failed: u64,
    pub unresolved: u64,
    /// Candidates that were not tested since they are not well-formed.
    pub ill_formed: u64,
    /// Tests whose verdict was in the journal.
    pub replayed: u64,
    /// How often the command was run, for whatever reason.
    pub runs: u64,
    /// Processes that were left behind, and ended.
    pub strays: u64,
}

/// One verdict.
#[derive(Clone, PartialEq, Debug)]
pub struct Heard {
    /// The number of the test.
    pub number: u64,
    /// What was cut into what.
    pub pass: String,
    pub kind: Kind,
    /// What the test said, but for a pass.
    pub detail: String,
    /// Bytes of the candidate.
    pub size: u64,
    /// Where the search stands after it: deltas of the pass, on both sides.
    pub failing: u64,
    pub passing: u64,
    /// Bytes of the smallest that fails.
    pub best: u64,
    /// Bytes in which both sides differ, as far as the pass has come.
    pub open: u64,
    /// Since the start.
    pub at: Duration,
    /// Tests that the pass may still need, if it goes on like this.
    pub left: u64,
    /// What one run takes in the mean.
    pub mean: Duration,
    pub artefact: Digest,
}

/// Keeps count, and tells.
pub(crate) struct Ledger<'h> {
    pub(crate) counts: Counts,
    pub(crate) began: Instant,
    pub(crate) most_tests: Option<u64>,
    pub(crate) most_time: Option<Duration>,
    pub(crate) end: Option<End>,
    /// Whether pieces that were joined, since there are so many, were not parted at last.
    pub(crate) is_coarse: bool,
    /// Artefacts that were counted.
    seen: HashSet<Digest>,
    hear: &'h mut dyn FnMut(&Heard),
}

impl<'h> Ledger<'h> {
    pub(crate) fn new(
        (most_tests, most_time): (Option<u64>, Option<Duration>),
        hear: &'h mut dyn FnMut(&Heard),
    ) -> Ledger<'h> {
        Ledger {
            counts: Counts::default(),
            began: Instant::now(),
            most_tests,
            most_time,
            end: None,
            is_coarse: false,
            seen: HashSet::new(),
            hear,
        }
    }

    /// Whether an artefact is new. Ends are told once, so that they are not counted.
    pub(crate) fn is_new(&mut self, artefact: Digest) -> bool {
        self.seen.insert(artefact)
    }

    /// Counts a test and tells of it.
    pub(crate) fn add(&mut self, mut heard: Heard, is_replayed: bool) {
        self.counts.tests += 1;
        self.counts.replayed += u64::from(is_replayed);
        match heard.kind {
            Kind::Pass => self.counts.passed += 1,
            Kind::Fail => self.counts.failed += 1,
            Kind::Unresolved => self.counts.unresolved += 1,
        }
        heard.number = self.counts.tests;
        heard.at = self.began.elapsed();
        (self.hear)(&heard);
    }

    /// Whether the tests of the budget are used up.
    pub(crate) fn is_used_up(&self) -> bool {
        self.most_tests
            .is_some_and(|most| self.counts.tests >= most)
    }

    /// Whether nothing more is to be tried, for whatever reason.
    pub(crate) fn is_over(&mut self) -> bool {
        let why = match self.time_left() {
            _ if self.is_used_up() => Some(End::Tests),
            Some(Duration::ZERO) => Some(End::Time),
            _ => None,
        };
        self.end = self.end.or(why);
        self.end.is_some()
    }

    /// The time that is left.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        let most = self.most_time?;
        Some(most.saturating_sub(self.began.elapsed()))
    }
}
