//! ddmin: the failing set shrinks until it is 1-minimal.
//!
//! Levels are reduced from coarse to fine, each by the schedule; at the end every atom is tried
//! alone. The result is 1-minimal in this sense: no atom can be taken out, together with what needs
//! it, such that the failure stays.

use crate::needs::Closing;
use crate::oracle::VerdictKind;
use crate::problem::Problem;
use crate::progress::{Phase, Standing};
use crate::schedule::{RunningSchedule, Schedule};
use crate::search::Search;
use crate::set::DeltaSet;
use crate::units::Units;

#[derive(Clone)]
pub(crate) struct Minimise<'p> {
    problem: &'p Problem,
    schedule: Schedule,
    /// What fails.
    current: DeltaSet,
    stage: usize,
    units: &'p Units,
    /// Units of the stage that can be tried.
    alive: DeltaSet,
    /// Whether there are deltas that could go but are in no unit of the stage.
    outsiders: bool,
    plan: RunningSchedule,
    question: Option<DeltaSet>,
}

impl<'p> Minimise<'p> {
    pub(crate) fn new(problem: &'p Problem, schedule: Schedule) -> Minimise<'p> {
        let current = problem.failing_end().clone();
        let units = problem.stage(0).expect("there are always atoms");
        let free = current.minus(problem.passing_end());
        let alive = units.of(&free);
        Minimise {
            problem,
            schedule,
            current,
            stage: 0,
            units,
            outsiders: !free.is_subset(&units.deltas(&alive)),
            plan: RunningSchedule::new(schedule, &alive),
            alive,
            question: None,
        }
    }

    /// Whether there is a next stage: a level, or the last pass over the atoms.
    fn advance(&mut self) -> bool {
        if matches!(self.plan, RunningSchedule::Singles(_)) {
            return false;
        }
        if self.stage == self.problem.last_stage() {
            self.plan = RunningSchedule::singles();
            return true;
        }
        self.stage += 1;
        self.units = self.problem.stage(self.stage).expect("not the last stage");
        let free = self.current.minus(self.problem.passing_end());
        self.alive = self.units.of(&free);
        self.outsiders = !free.is_subset(&self.units.deltas(&self.alive));
        self.plan = RunningSchedule::new(self.schedule, &self.alive);
        true
    }

    /// What fails without the units. Units of the stage that stay keep what they need; deltas of no
    /// unit, such as those further down in a tree, have no say and go with what they need.
    fn without(&self, units: &DeltaSet, closing: Closing) -> DeltaSet {
        let kept = self.problem.passing_end();
        let gone = self.units.deltas(units).minus(kept);
        if closing == Closing::Keep && self.outsiders {
            let staying = self.units.deltas(&self.alive.minus(units));
            let staying = staying.intersection(&self.current);
            let staying = self.problem.closure().with(kept, &staying);
            let gone = gone.minus(&staying);
            let needs = self.problem.closure();
            return needs.without(&self.current, &gone, Closing::Drop);
        }
        self.problem
            .closure()
            .without(&self.current, &gone, closing)
    }
}

impl Search for Minimise<'_> {
    fn question(&mut self) -> Option<DeltaSet> {
        while self.question.is_none() {
            let Some(removal) = self.plan.propose(&self.alive) else {
                if self.advance() {
                    continue;
                }
                return None;
            };
            let candidate = self.without(&removal.units, removal.closing);
            if candidate.len() < self.current.len() {
                self.question = Some(candidate);
            } else {
                self.plan.refused(&self.alive);
            }
        }
        self.question.clone()
    }

    fn answer(&mut self, kind: VerdictKind) {
        let Some(candidate) = self.question.take() else {
            return;
        };
        if kind == VerdictKind::Fail {
            let free = candidate.minus(self.problem.passing_end());
            self.alive = self.units.among(&self.alive, &free);
            self.current = candidate;
            self.plan.accepted(&self.alive);
        } else {
            self.plan.refused(&self.alive);
        }
    }

    fn guesses(&self) -> [(VerdictKind, f64); 3] {
        let fail = self.plan.chance().clamp(0.02, 0.98);
        [
            (VerdictKind::Fail, fail),
            (VerdictKind::Pass, 1.0 - fail),
            (VerdictKind::Unresolved, 0.0),
        ]
    }

    fn standing(&self) -> Standing {
        Standing {
            phase: match self.plan {
                RunningSchedule::Singles(_) => Phase::Last,
                _ if self.stage < self.problem.last_stage() => Phase::Level(self.stage),
                _ => Phase::Atoms,
            },
            granularity: self.plan.granularity(&self.alive),
            failing: self.current.len(),
            passing: self.problem.passing_end().len(),
        }
    }

    fn ends(&self) -> (&DeltaSet, &DeltaSet) {
        (&self.current, self.problem.passing_end())
    }
}
