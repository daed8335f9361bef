//! The engine: drives a search with an oracle, within budget, cache and journal.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::AtomicBool;
use std::thread;

use crate::digest::Digest;
use crate::error::Error;
use crate::isolate::Isolate;
use crate::journal::Journal;
use crate::knowledge::Knowledge;
use crate::minimise::Minimise;
use crate::oracle::{Oracle, SearchLimits, Verdict, VerdictKind};
use crate::pool::{self, JudgePool, Judged};
use crate::problem::Problem;
use crate::progress::{Counts, ReductionStep, VerdictOrigin};
use crate::search::{Checked, PassingEnd, Refusal, Search};
use crate::set::DeltaSet;
use crate::settings::{Inference, Settings};

/// A reduction that is about to start.
pub struct Engine<'a, O: Oracle> {
    problem: &'a Problem,
    oracle: &'a O,
    settings: Settings,
    journal: Option<&'a mut Journal>,
    watch: Option<Watch<'a, O::Detail>>,
}

type Watch<'a, D> = Box<dyn FnMut(&ReductionStep<'_, D>) + 'a>;

/// What a reduction found.
#[derive(Debug)]
pub struct Reduction<D> {
    /// The smallest set that failed.
    pub failing: DeltaSet,
    /// Of `dd`, the largest set in it that passed. Of `ddmin`, what every candidate had.
    pub passing: DeltaSet,
    /// What the oracle told of the failing set.
    pub detail: D,
    /// How it ended.
    pub end: SearchEnd,
    /// What was counted.
    pub counts: Counts,
    /// Why the journal lacks verdicts. The reduction went on without it.
    pub journal_trouble: Option<io::Error>,
}

impl<D> Reduction<D> {
    /// The deltas that make the difference.
    pub fn difference(&self) -> DeltaSet {
        self.failing.minus(&self.passing)
    }
}

/// How a reduction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchEnd {
    /// Nothing is left to try: the result is 1-minimal.
    Minimal,
    /// The tests of the budget were used up.
    Tests,
    /// The time of the budget was used up.
    Time,
    /// It was cancelled.
    Cancelled,
}

/// The result, or why there is none.
pub type Outcome<O> = Result<Reduction<<O as Oracle>::Detail>, Error<<O as Oracle>::Error>>;

impl<'a, O: Oracle> Engine<'a, O> {
    /// A reduction of the problem by the verdicts of the oracle.
    pub fn new(problem: &'a Problem, oracle: &'a O) -> Engine<'a, O> {
        Engine {
            problem,
            oracle,
            settings: Settings::default(),
            journal: None,
            watch: None,
        }
    }

    /// Other settings than the default ones.
    pub fn settings(self, settings: Settings) -> Engine<'a, O> {
        Engine { settings, ..self }
    }

    /// A journal of the same problem: its verdicts are used, and new ones are added to it.
    pub fn journal(self, journal: &'a mut Journal) -> Engine<'a, O> {
        Engine {
            journal: Some(journal),
            ..self
        }
    }

    /// Hears of every verdict the search needs, in the same order for any number of jobs.
    pub fn watch(self, watch: impl FnMut(&ReductionStep<'_, O::Detail>) + 'a) -> Engine<'a, O> {
        Engine {
            watch: Some(Box::new(watch)),
            ..self
        }
    }

    /// Finds a failing set that is 1-minimal: no atom can be taken out of it, with what needs it,
    /// such that the failure stays.
    pub fn ddmin(self) -> Outcome<O> {
        let search = Minimise::new(self.problem, self.settings.schedule);
        self.run(PassingEnd::May, search)
    }

    /// Finds a passing set and a failing one around it whose difference is 1-minimal: no atom of it
    /// taken out of the failing set, with what needs it, and none put into the passing one, with
    /// what it needs, has a verdict, except where that is the other set.
    pub fn dd(mut self) -> Outcome<O> {
        self.settings.inference = Inference::Exact;
        let search = Isolate::new(self.problem);
        self.run(PassingEnd::Must, search)
    }

    fn run<S: Search>(mut self, passing_end: PassingEnd, search: S) -> Outcome<O> {
        self.problem.check()?;
        let search = Checked::new(self.problem, passing_end, search);
        let mut knowledge: Knowledge<O::Detail> = Knowledge::new(self.settings.inference);
        if let Some(journal) = &mut self.journal {
            for (key, verdict) in journal.recall() {
                knowledge.learn(key, verdict, VerdictOrigin::Journal);
            }
        }
        let clock = self.settings.clock.clone();
        let cancel = self.settings.cancel.clone();
        let limits = SearchLimits {
            cancel: &cancel,
            clock: &*clock,
            deadline: self.settings.budget.time.map(|time| clock.now() + time),
        };
        let course: ReductionState<'_, O> = ReductionState {
            knowledge,
            counts: Counts::default(),
            troubles: BTreeMap::new(),
            limits: &limits,
            journal: self.journal,
            journal_trouble: None,
        };
        let (tests, watch) = (self.settings.budget.tests, self.watch);
        let oracle = self.oracle;
        match self.settings.jobs {
            0 | 1 => course.drive(search, tests, watch, |course, _, candidate, key| {
                course.counts.asked += 1;
                let moot = AtomicBool::new(false);
                let result = pool::judge(oracle, candidate, &limits, &moot);
                if let Some(result) = result {
                    course.file((key, result));
                }
            }),
            jobs => thread::scope(|scope| {
                let mut pool = JudgePool::start(scope, jobs, oracle, &limits);
                course.drive(search, tests, watch, |course, search, _, _| {
                    let troubles = &course.troubles;
                    let known = |key| troubles.contains_key(&key);
                    course.counts.asked += pool.feed(search, &course.knowledge, &known);
                    if let Some(judged) = pool.wait() {
                        course.file(judged);
                    }
                })
            }),
        }
    }
}

/// A reduction under way.
struct ReductionState<'a, O: Oracle> {
    knowledge: Knowledge<O::Detail>,
    counts: Counts,
    /// Candidates that the oracle could not judge. Those that nobody needs do no harm.
    troubles: BTreeMap<Digest, O::Error>,
    limits: &'a SearchLimits<'a>,
    journal: Option<&'a mut Journal>,
    journal_trouble: Option<io::Error>,
}

impl<'a, O: Oracle> ReductionState<'a, O> {
    /// Asks and answers to the end. `judge` brings a verdict or more, the wanted one sooner or later.
    fn drive<S: Search>(
        mut self,
        mut search: Checked<'_, S>,
        tests: Option<u64>,
        mut watch: Option<Watch<'_, O::Detail>>,
        mut judge: impl FnMut(&mut Self, &Checked<'_, S>, &DeltaSet, Digest),
    ) -> Outcome<O> {
        let end = loop {
            let Some(candidate) = search.question() else {
                break SearchEnd::Minimal;
            };
            let key = candidate.digest();
            let origin = match self.knowledge.get(key) {
                Some(entry) if entry.needed => VerdictOrigin::Cache,
                Some(entry) => entry.origin,
                None if self.knowledge.implies_pass(&candidate) => VerdictOrigin::Inference,
                None => VerdictOrigin::Oracle,
            };
            if matches!(origin, VerdictOrigin::Oracle | VerdictOrigin::Journal) {
                if tests.is_some_and(|most| self.counts.tests >= most) {
                    break SearchEnd::Tests;
                }
                // What was judged ahead of time is not needed any more.
                if self.limits.cancel.is_cancelled() {
                    break SearchEnd::Cancelled;
                }
                if let Some(end) = self.obtain(&search, &candidate, key, &mut judge)? {
                    break end;
                }
                self.knowledge.need(&candidate, key);
            }
            let verdict = match self.knowledge.get(key) {
                Some(entry) => &entry.verdict,
                None => &Verdict::Pass,
            };
            search.answer(verdict.kind());
            self.counts.count(verdict.kind(), origin);
            if let Some(watch) = &mut watch {
                watch(&ReductionStep {
                    candidate: &candidate,
                    verdict,
                    origin,
                    standing: search.standing(),
                    counts: self.counts,
                });
            }
        };
        self.finish(&search, end)
    }

    /// Sees to it that the verdict is known, unless the reduction is to end.
    fn obtain<S: Search>(
        &mut self,
        search: &Checked<'_, S>,
        candidate: &DeltaSet,
        key: Digest,
        judge: &mut impl FnMut(&mut Self, &Checked<'_, S>, &DeltaSet, Digest),
    ) -> Result<Option<SearchEnd>, Error<O::Error>> {
        while !self.knowledge.knows(key) {
            if let Some(source) = self.troubles.remove(&key) {
                return Err(Error::Oracle {
                    candidate: candidate.clone(),
                    failing: search.has_failed().then(|| search.ends().0.clone()),
                    source,
                });
            }
            if self.limits.cancel.is_cancelled() {
                return Ok(Some(SearchEnd::Cancelled));
            }
            if self.limits.is_late() {
                return Ok(Some(SearchEnd::Time));
            }
            judge(self, search, candidate, key);
        }
        Ok(None)
    }

    fn file(&mut self, (key, result): Judged<O>) {
        match result {
            Ok(verdict) => {
                if let Some(journal) = &mut self.journal {
                    // A journal that lacks a line lacks all that follow.
                    if let Err(trouble) = journal.append(key, &verdict) {
                        self.journal_trouble = Some(trouble);
                        self.journal = None;
                    }
                }
                self.knowledge.learn(key, verdict, VerdictOrigin::Oracle);
            }
            Err(error) => {
                self.troubles.insert(key, error);
            }
        }
    }

    fn finish<S: Search>(self, search: &Checked<'_, S>, end: SearchEnd) -> Outcome<O> {
        match search.refusal() {
            Some(Refusal::NotFailing(verdict)) => return Err(Error::NotFailing { verdict }),
            Some(Refusal::NotPassing(verdict)) => return Err(Error::NotPassing { verdict }),
            None => {}
        }
        if !search.has_failed() {
            return Err(Error::Nothing);
        }
        let (failing, passing) = search.ends();
        let verdict = self.knowledge.get(failing.digest());
        let Some(Verdict::Fail(detail)) = verdict.map(|entry| &entry.verdict) else {
            unreachable!("what fails was judged");
        };
        Ok(Reduction {
            failing: failing.clone(),
            passing: passing.clone(),
            detail: detail.clone(),
            end,
            counts: self.counts,
            journal_trouble: self.journal_trouble,
        })
    }
}

impl Counts {
    fn count(&mut self, kind: VerdictKind, origin: VerdictOrigin) {
        if matches!(origin, VerdictOrigin::Cache | VerdictOrigin::Inference) {
            self.cached += 1;
            return;
        }
        self.tests += 1;
        self.replayed += u64::from(origin == VerdictOrigin::Journal);
        match kind {
            VerdictKind::Pass => self.passed += 1,
            VerdictKind::Fail => self.failed += 1,
            VerdictKind::Unresolved => self.unresolved += 1,
        }
    }
}
