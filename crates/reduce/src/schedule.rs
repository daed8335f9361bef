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
pub(crate) enum Plan {
    Splitting(splitting::Splitting),
    Classic(classic::Classic),
    Probabilistic(probabilistic::Probabilistic),
    Singles(singles::Singles),
}

impl Plan {
    pub(crate) fn new(schedule: Schedule, alive: &DeltaSet) -> Plan {
        match schedule {
            Schedule::Splitting => Plan::Splitting(splitting::Splitting::new(alive)),
            Schedule::Classic => Plan::Classic(classic::Classic::new(alive)),
            Schedule::Probabilistic => {
                Plan::Probabilistic(probabilistic::Probabilistic::new(alive))
            }
        }
    }

    /// The pass that leaves nothing out: each unit alone, until none of them can go.
    pub(crate) fn singles() -> Plan {
        Plan::Singles(singles::Singles::default())
    }

    /// What to take out of those that are there; `None` at the end. To be answered by `accepted` or
    /// `refused` before the next.
    pub(crate) fn propose(&mut self, alive: &DeltaSet) -> Option<Removal> {
        match self {
            Plan::Splitting(plan) => plan.propose(),
            Plan::Classic(plan) => plan.propose(alive),
            Plan::Probabilistic(plan) => plan.propose(),
            Plan::Singles(plan) => plan.propose(alive),
        }
    }

    /// The failure is there without them; so many units are left. Some of those proposed may be among
    /// them, because others need them.
    pub(crate) fn accepted(&mut self, alive: &DeltaSet) {
        match self {
            Plan::Splitting(plan) => plan.accepted(alive),
            Plan::Classic(plan) => plan.accepted(alive),
            Plan::Probabilistic(plan) => plan.accepted(alive),
            Plan::Singles(plan) => plan.accepted(),
        }
    }

    /// The failure is gone without them, or unclear, or none of them can go.
    pub(crate) fn refused(&mut self, alive: &DeltaSet) {
        match self {
            Plan::Splitting(plan) => plan.refused(),
            Plan::Classic(plan) => plan.refused(alive),
            Plan::Probabilistic(plan) => plan.refused(),
            Plan::Singles(_) => {}
        }
    }

    /// The chance that what was proposed last is accepted, as far as the schedule knows.
    pub(crate) fn chance(&self) -> f64 {
        match self {
            Plan::Splitting(plan) => plan.chance(),
            Plan::Classic(plan) => plan.chance(),
            Plan::Probabilistic(plan) => plan.chance(),
            Plan::Singles(_) => 0.05,
        }
    }

    /// Into how many portions of the present size the units would fall.
    pub(crate) fn granularity(&self, alive: &DeltaSet) -> u64 {
        match self {
            Plan::Splitting(plan) => plan.granularity(alive),
            Plan::Classic(plan) => plan.granularity(),
            Plan::Probabilistic(plan) => plan.granularity(alive),
            Plan::Singles(_) => alive.len(),
        }
    }
}
