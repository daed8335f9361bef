//! A search: asks about candidates one after the other, and each answer decides the next question.
//!
//! Searches are plain values. Copying one and answering the copy shows what it would ask next,
//! which is all that evaluation ahead of time needs to know.

use crate::oracle::VerdictKind;
use crate::problem::Problem;
use crate::progress::{Phase, Standing};
use crate::set::DeltaSet;

/// Asks and hears. The answers alone decide what is asked.
pub(crate) trait Search: Clone {
    /// The candidate to be judged next, the same until it is answered; `None` at the end.
    fn question(&mut self) -> Option<DeltaSet>;

    /// The verdict on the question.
    fn answer(&mut self, kind: VerdictKind);

    /// What the answer to the question may be, with its chance. Answers that lead to the same next
    /// question are listed once.
    fn guesses(&self) -> [(VerdictKind, f64); 3];

    fn standing(&self) -> Standing;

    /// The smallest set so far that fails, and the largest in it that passes or, for ddmin, is
    /// always kept.
    fn ends(&self) -> (&DeltaSet, &DeltaSet);
}

/// Why a search cannot start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Refusal {
    NotFailing(VerdictKind),
    NotPassing(VerdictKind),
}

/// What a search does with an end that is to pass and does not.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PassingEnd {
    /// `dd` cannot start.
    Must,
    /// `ddmin` is done if it fails: nothing is smaller.
    May,
}

/// Judges both ends of the problem before the search begins.
#[derive(Clone)]
pub(crate) struct Checked<'p, S> {
    problem: &'p Problem,
    passing_end: PassingEnd,
    stage: Stage,
    search: S,
}

#[derive(Clone, PartialEq)]
enum Stage {
    Failing,
    Passing,
    Search,
    /// The passing end fails, and that is the answer.
    Least,
    Refused(Refusal),
}

impl<'p, S: Search> Checked<'p, S> {
    pub(crate) fn new(problem: &'p Problem, passing_end: PassingEnd, search: S) -> Self {
        Checked {
            problem,
            passing_end,
            stage: Stage::Failing,
            search,
        }
    }

    pub(crate) fn refusal(&self) -> Option<Refusal> {
        match self.stage {
            Stage::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Whether a set is known to fail.
    pub(crate) fn has_failed(&self) -> bool {
        !matches!(self.stage, Stage::Failing | Stage::Refused(_))
    }
}

impl<S: Search> Search for Checked<'_, S> {
    fn question(&mut self) -> Option<DeltaSet> {
        match self.stage {
            Stage::Failing => Some(self.problem.failing_end().clone()),
            Stage::Passing => Some(self.problem.passing_end().clone()),
            Stage::Search => self.search.question(),
            Stage::Least | Stage::Refused(_) => None,
        }
    }

    fn answer(&mut self, kind: VerdictKind) {
        self.stage = match (&self.stage, kind, self.passing_end) {
            (Stage::Failing, VerdictKind::Fail, _) => Stage::Passing,
            (Stage::Failing, other, _) => Stage::Refused(Refusal::NotFailing(other)),
            (Stage::Passing, VerdictKind::Pass, _) => Stage::Search,
            (Stage::Passing, VerdictKind::Unresolved, PassingEnd::May) => Stage::Search,
            (Stage::Passing, VerdictKind::Fail, PassingEnd::May) => Stage::Least,
            (Stage::Passing, other, PassingEnd::Must) => Stage::Refused(Refusal::NotPassing(other)),
            (stage, ..) => {
                self.search.answer(kind);
                stage.clone()
            }
        };
    }

    fn guesses(&self) -> [(VerdictKind, f64); 3] {
        match self.stage {
            // Each end is judged with nothing else running: what is not to be judged at the same time,
            // by a port or a file that both use, would be refused for that.
            Stage::Failing | Stage::Passing => [
                VerdictKind::Pass,
                VerdictKind::Fail,
                VerdictKind::Unresolved,
            ]
            .map(|kind| (kind, 0.0)),
            _ => self.search.guesses(),
        }
    }

    fn standing(&self) -> Standing {
        match self.stage {
            Stage::Failing | Stage::Passing => Standing {
                phase: Phase::Check,
                ..self.search.standing()
            },
            _ => self.search.standing(),
        }
    }

    fn ends(&self) -> (&DeltaSet, &DeltaSet) {
        match self.stage {
            Stage::Least => (self.problem.passing_end(), self.problem.passing_end()),
            _ => self.search.ends(),
        }
    }
}
