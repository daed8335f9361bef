//! Schedules: in which order, and in portions of which size, units are tried without. They know
//! nothing of deltas and candidates.
//!
//! A schedule proposes to take units out and hears whether the failure stayed. It ends by itself.
//! What it leaves need not be minimal; the last pass of a reduction is always [`singles`].

mod classic;
mod probabilistic;
mod singles;
mod splitting;

use crate::needs::Closing;
use crate::set::DeltaSet;

/// In which order units are tried without. `docs/decisions/reduce.md` compares them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Schedule {
    /// Binary splitting: portions of the size that has an even chance to be without effect, as far
    /// as is known so far; a portion that matters is searched by halves.
    #[default]
    Splitting,
    /// Zeller's and Hildebrandt's ddmin: parts and complements of parts, ever smaller.
    Classic,
    /// ProbDD: each unit has a probability to matter; portions have the largest expected gain.
    Probabilistic,
}

/// Units to take out, and what becomes of what is bound to them.
pub(crate) struct Removal {
    pub(crate) units: DeltaSet,
    pub(crate) closing: Closing,
}

/// A schedule under way.
#[derive(Clone)]
pub(crate) enum RunningSchedule {
    Splitting(splitting::Splitting),
    Classic(classic::Classic),
    Probabilistic(probabilistic::Probabilistic),
    Singles(singles::Singles),
}

impl RunningSchedule {
    pub(crate) fn new(schedule: Schedule, alive: &DeltaSet) -> RunningSchedule {
        match schedule {
            Schedule::Splitting => RunningSchedule::Splitting(splitting::Splitting::new(alive)),
            Schedule::Classic => RunningSchedule::Classic(classic::Classic::new(alive)),
            Schedule::Probabilistic => {
                RunningSchedule::Probabilistic(probabilistic::Probabilistic::new(alive))
            }
        }
    }

    /// The pass that leaves nothing out: each unit alone, until none of them can go.
    pub(crate) fn singles() -> RunningSchedule {
        RunningSchedule::Singles(singles::Singles::default())
    }

    /// What to take out of those that are there; `None` at the end. To be answered by `accepted` or
    /// `refused` before the next.
    pub(crate) fn propose(&mut self, alive: &DeltaSet) -> Option<Removal> {
        match self {
            RunningSchedule::Splitting(plan) => plan.propose(),
            RunningSchedule::Classic(plan) => plan.propose(alive),
            RunningSchedule::Probabilistic(plan) => plan.propose(),
            RunningSchedule::Singles(plan) => plan.propose(alive),
        }
    }

    /// The failure is there without them; so many units are left. Some of those proposed may be among
    /// them, because others need them.
    pub(crate) fn accepted(&mut self, alive: &DeltaSet) {
        match self {
            RunningSchedule::Splitting(plan) => plan.accepted(alive),
            RunningSchedule::Classic(plan) => plan.accepted(alive),
            RunningSchedule::Probabilistic(plan) => plan.accepted(alive),
            RunningSchedule::Singles(plan) => plan.accepted(),
        }
    }

    /// The failure is gone without them, or unclear, or none of them can go.
    pub(crate) fn refused(&mut self, alive: &DeltaSet) {
        match self {
            RunningSchedule::Splitting(plan) => plan.refused(),
            RunningSchedule::Classic(plan) => plan.refused(alive),
            RunningSchedule::Probabilistic(plan) => plan.refused(),
            RunningSchedule::Singles(_) => {}
        }
    }

    /// The chance that what was proposed last is accepted, as far as the schedule knows.
    pub(crate) fn chance(&self) -> f64 {
        match self {
            RunningSchedule::Splitting(plan) => plan.chance(),
            RunningSchedule::Classic(plan) => plan.chance(),
            RunningSchedule::Probabilistic(plan) => plan.chance(),
            RunningSchedule::Singles(_) => 0.05,
        }
    }

    /// Into how many portions of the present size the units would fall.
    pub(crate) fn granularity(&self, alive: &DeltaSet) -> u64 {
        match self {
            RunningSchedule::Splitting(plan) => plan.granularity(alive),
            RunningSchedule::Classic(plan) => plan.granularity(),
            RunningSchedule::Probabilistic(plan) => plan.granularity(alive),
            RunningSchedule::Singles(_) => alive.len(),
        }
    }
}
