//! Progress of a session, the same for every technique.

use std::time::Duration;

use crate::digest::Digest;
use crate::oracle::{Verdict, VerdictKind};

/// One step of a session.
#[derive(Clone, PartialEq, Debug)]
pub enum ReductionEvent {
    /// A test counted.
    Tested(Tested),
    /// The searches are over, and their result is being checked.
    Checking,
}

/// A test, and where its search stands after it.
#[derive(Clone, PartialEq, Debug)]
pub struct Tested {
    /// The number of the test in the session.
    pub number: u64,
    /// The name of the search.
    pub search: String,
    /// The verdict.
    pub kind: VerdictKind,
    /// The detail of the verdict; empty for a pass.
    pub detail: String,
    /// The artefact.
    pub digest: Digest,
    /// The size of the artefact.
    pub size: u64,
    /// The size of the smallest artefact that failed.
    pub best: u64,
    /// The size of the artefact that the session began with.
    pub whole: u64,
    /// Deltas of the candidate.
    pub units: u64,
    /// Deltas of the search that are undecided.
    pub left: u64,
    /// The number of parts into which the search divides them.
    pub granularity: u64,
    /// The undecided share of the search's extent.
    pub open: f64,
    /// The time since the session began.
    pub elapsed: Duration,
    /// Whether the verdict comes from a journal.
    pub is_replayed: bool,
}

impl Tested {
    /// An event with the verdict alone.
    pub(super) fn new(verdict: &Verdict<String>) -> Tested {
        Tested {
            number: 0,
            search: String::new(),
            kind: verdict.kind(),
            detail: verdict.detail().cloned().unwrap_or_default(),
            digest: Digest::of(&[]),
            size: 0,
            best: 0,
            whole: 0,
            units: 0,
            left: 0,
            granularity: 0,
            open: 0.0,
            elapsed: Duration::ZERO,
            is_replayed: false,
        }
    }

    /// The number of tests that the search still needs if it continues as it has begun.
    pub fn tests_to_go(&self) -> u64 {
        let halvings = u64::from(u64::BITS - self.left.leading_zeros());
        halvings.max(self.granularity.min(self.left))
    }
}

/// The sizes that the events of a search report.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scale {
    /// The size of the artefact that the session began with.
    pub whole: u64,
    /// The size of the smallest artefact that failed before the search.
    pub best: u64,
    /// The difference that the search is to narrow, in any unit: `open` in events is a share of it.
    pub extent: f64,
}

/// The tests of a session. None of the figures depends on the number of jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Different artefacts whose verdict was needed.
    pub tests: u64,
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests that did neither.
    pub unresolved: u64,
    /// Candidates that were not tested because of a flaw.
    pub ill_formed: u64,
    /// Tests whose verdict came from a journal.
    pub replayed: u64,
}

impl Tally {
    pub(super) fn add(&mut self, kind: VerdictKind, is_replayed: bool) {
        self.tests += 1;
        self.replayed += u64::from(is_replayed);
        match kind {
            VerdictKind::Pass => self.passed += 1,
            VerdictKind::Fail => self.failed += 1,
            VerdictKind::Unresolved => self.unresolved += 1,
        }
    }

    /// Tests that were run, and not read from a journal.
    pub fn run(&self) -> u64 {
        self.tests - self.replayed
    }
}
