//! What a reduction tells while it runs.

use crate::oracle::Verdict;
use crate::set::DeltaSet;

/// What a reduction does at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Judges the ends of the problem.
    Check,
    /// Reduces the units of a level, by its number.
    Level(usize),
    /// Reduces the atoms.
    Atoms,
    /// Tries every atom that is left alone.
    Last,
}

/// Where a reduction stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// What it does.
    pub phase: Phase,
    /// Into how many parts the units fall.
    pub granularity: u64,
    /// Deltas of the smallest set that fails.
    pub failing: u64,
    /// Deltas of the largest set that passes, or that are always kept.
    pub passing: u64,
}

/// What was counted. `tests`, `passed`, `failed`, `unresolved` and `cached` do not depend on the
/// number of jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Different candidates whose verdict was needed.
    pub tests: u64,
    /// Those of them that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that did neither.
    pub unresolved: u64,
    /// Verdicts that were known already.
    pub cached: u64,
    /// Tests whose verdict was in the journal.
    pub replayed: u64,
    /// Candidates that the oracle was asked for, the needless included.
    pub asked: u64,
}

/// One verdict, and where the reduction stands after it.
pub struct ReductionStep<'a, D> {
    /// What was judged.
    pub candidate: &'a DeltaSet,
    /// The verdict.
    pub verdict: &'a Verdict<D>,
    /// Where the verdict came from.
    pub origin: VerdictOrigin,
    /// Where the reduction stands.
    pub standing: Standing,
    /// Counts up to now.
    pub counts: Counts,
}

/// Where a verdict came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VerdictOrigin {
    /// The oracle judged for it.
    Oracle,
    /// It was needed before.
    Cache,
    /// A journal of an earlier run has it.
    Journal,
    /// A larger candidate passed, and verdicts are monotone.
    Inference,
}
