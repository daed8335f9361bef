//! dd: the failing set shrinks and the passing one grows until their difference is 1-minimal.
//!
//! Zeller's dd in the order of its implementation: per part of the difference, first the failing
//! set without it, then the passing set with it. Deviations from the printed listing: whether
//! there was progress is remembered and not read off a counter that progress changes; the place
//! among the parts is kept over rounds, as the text says, and not reset. Both are checked by the
//! property that the result is 1-minimal.
//!
//! With needs, parts go with what needs them and come with what they need, so both candidates stay
//! between the ends; one that is an end itself says nothing. 1-minimal then means: for no atom of
//! the difference has the failing set without it (and what needs it) or the passing set with it
//! (and what it needs) a verdict, other than the ends themselves.

use std::sync::Arc;

use crate::needs::Closing;
use crate::oracle::VerdictKind;
use crate::problem::Problem;
use crate::progress::{Phase, Standing};
use crate::search::Search;
use crate::set::DeltaSet;
use crate::units::Units;

#[derive(Clone)]
pub(crate) struct Isolate<'p> {
    problem: &'p Problem,
    passing: DeltaSet,
    failing: DeltaSet,
    stage: usize,
    units: &'p Units,
    parts: Arc<Vec<DeltaSet>>,
    /// The part to look at first, and how many were looked at without progress.
    offset: usize,
    tried: usize,
    /// What is asked, of the part at hand.
    asked: Asked,
    question: Option<DeltaSet>,
    /// Verdicts so far, for guessing: pass, fail, unresolved.
    seen: [u32; 3],
}

#[derive(Clone, Copy, PartialEq)]
enum Asked {
    /// The failing set without the part.
    Removal,
    /// The passing set with the part; the removal had this verdict, if it was asked.
    Addition(Option<VerdictKind>),
}

impl<'p> Isolate<'p> {
    pub(crate) fn new(problem: &'p Problem) -> Isolate<'p> {
        let mut isolate = Isolate {
            problem,
            passing: problem.passing_end().clone(),
            failing: problem.failing_end().clone(),
            stage: 0,
            units: problem.stage(0).expect("there are always atoms"),
            parts: Arc::default(),
            offset: 0,
            tried: 0,
            asked: Asked::Removal,
            question: None,
            seen: [1; 3],
        };
        isolate.split(2);
        isolate
    }

    /// The units of the difference.
    fn alive(&self) -> DeltaSet {
        self.units.of(&self.failing.minus(&self.passing))
    }

    fn split(&mut self, parts: u64) {
        self.parts = Arc::new(self.alive().split(parts));
        self.tried = 0;
        self.asked = Asked::Removal;
    }

    fn restart(&mut self) {
        self.offset = 0;
        self.split(2);
    }

    fn at(&self) -> usize {
        (self.offset + self.tried) % self.parts.len().max(1)
    }

    /// The difference became smaller by the part at hand: the others keep their size.
    fn narrow(&mut self) {
        let alive = self.alive();
        let at = self.at();
        let left = self.parts.iter().map(|part| part.intersection(&alive));
        let gone = self.parts[..at]
            .iter()
            .filter(|part| !part.intersects(&alive));
        let offset = at - gone.count();
        let parts: Vec<DeltaSet> = left.filter(|part| !part.is_empty()).collect();
        if parts.len() < 2 {
            self.split(2);
            self.offset = 0;
        } else {
            self.offset = offset % parts.len();
            self.parts = Arc::new(parts);
        }
        self.tried = 0;
        self.asked = Asked::Removal;
    }

    /// Nothing more is to be learned of the part at hand.
    fn next_part(&mut self) {
        self.tried += 1;
        self.asked = Asked::Removal;
        if self.tried < self.parts.len() {
            return;
        }
        let alive = self.alive().len();
        let parts = self.parts.len() as u64;
        if parts < alive {
            self.offset = 0;
            self.split((parts * 2).min(alive));
        } else {
            self.parts = Arc::default();
        }
    }

    /// Whether there is a next stage.
    fn advance(&mut self) -> bool {
        if self.stage == self.problem.last_stage() {
            return false;
        }
        self.stage += 1;
        self.units = self.problem.stage(self.stage).expect("not the last stage");
        self.restart();
        true
    }

    /// The candidate for what is asked, unless it is an end.
    fn candidate(&self) -> Option<DeltaSet> {
        let part = self.units.deltas(&self.parts[self.at()]);
        let part = part.intersection(&self.failing).minus(&self.passing);
        let needs = self.problem.closure();
        let candidate = match self.asked {
            Asked::Removal => needs.without(&self.failing, &part, Closing::Drop),
            Asked::Addition(_) => needs.with(&self.passing, &part),
        };
        let inside = candidate.len() > self.passing.len() && candidate.len() < self.failing.len();
        inside.then_some(candidate)
    }

    /// Goes on from the verdict on what is asked; `None` if it was an end.
    fn learn(&mut self, candidate: Option<DeltaSet>, kind: Option<VerdictKind>) {
        let halves = self.parts.len() <= 2;
        match (self.asked, kind, candidate) {
            (Asked::Removal, Some(VerdictKind::Fail), Some(candidate)) if halves => {
                self.failing = candidate;
                self.restart();
            }
            (Asked::Removal, Some(VerdictKind::Pass), Some(candidate)) => {
                self.passing = candidate;
                self.restart();
            }
            (Asked::Removal, kind, _) => self.asked = Asked::Addition(kind),
            (Asked::Addition(_), Some(VerdictKind::Fail), Some(candidate)) => {
                self.failing = candidate;
                self.restart();
            }
            (Asked::Addition(Some(VerdictKind::Fail)), _, _) => {
                self.asked = Asked::Removal;
                self.failing = self.candidate().expect("it was judged before");
                self.narrow();
            }
            (Asked::Addition(_), Some(VerdictKind::Pass), Some(candidate)) => {
                self.passing = candidate;
                self.narrow();
            }
            (Asked::Addition(_), _, _) => self.next_part(),
        }
    }
}

impl Search for Isolate<'_> {
    fn question(&mut self) -> Option<DeltaSet> {
        while self.question.is_none() {
            // A single unit is what is left of the level: without it the ends are the same, unless
            // the difference has deltas of no unit.
            if self.parts.is_empty() {
                if self.advance() {
                    continue;
                }
                return None;
            }
            self.question = self.candidate();
            if self.question.is_none() {
                self.learn(None, None);
            }
        }
        self.question.clone()
    }

    fn answer(&mut self, kind: VerdictKind) {
        let Some(candidate) = self.question.take() else {
            return;
        };
        self.seen[kind as usize] += 1;
        self.learn(Some(candidate), Some(kind));
    }

    fn guesses(&self) -> [(VerdictKind, f64); 3] {
        let all: u32 = self.seen.iter().sum();
        [
            VerdictKind::Pass,
            VerdictKind::Fail,
            VerdictKind::Unresolved,
        ]
        .map(|kind| (kind, f64::from(self.seen[kind as usize]) / f64::from(all)))
    }

    fn standing(&self) -> Standing {
        Standing {
            phase: match self.stage {
                stage if stage < self.problem.last_stage() => Phase::Level(stage),
                _ => Phase::Atoms,
            },
            granularity: self.parts.len() as u64,
            failing: self.failing.len(),
            passing: self.passing.len(),
        }
    }

    fn ends(&self) -> (&DeltaSet, &DeltaSet) {
        (&self.failing, &self.passing)
    }
}
