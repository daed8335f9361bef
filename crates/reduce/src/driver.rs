//! The driver: runs the searches and the single tests of one session under one budget.
//!
//! A session asks several questions of the same kind one after the other: files, then lines, then
//! characters of an input; calls, then the values that they are given. The driver owns everything that
//! these searches share: the budget of tests and time, the memo of verdicts by artefact, the journals,
//! the count of tests, the way to end early, and the observer of progress. A technique supplies an
//! [`ArtefactOracle`] and decides which searches follow each other.
//!
//! Counts, events and results do not depend on the number of jobs: a test counts when a search needs
//! its verdict for the first time.

mod artefact;
mod event;
mod journals;
mod memo;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use artefact::{Artefact, ArtefactOracle};
use artefact::{Gate, Identity};
pub use event::{ReductionEvent, Scale, Tally, Tested};
pub use journals::Journals;
pub use memo::Memo;

use crate::digest::Digest;
use crate::engine::{Engine, SearchEnd};
use crate::error::Error;
use crate::oracle::{SearchLimits, Verdict, VerdictKind, Wanted};
use crate::problem::Problem;
use crate::progress::VerdictOrigin;
use crate::schedule::Schedule;
use crate::set::DeltaSet;
use crate::settings::{Budget, Settings};

/// The time beyond the budget in which the result of the searches may be checked.
pub const GRACE: Duration = Duration::from_secs(15);

/// Runs searches and single tests under one budget.
pub struct Driver<'a> {
    settings: Settings,
    began: Duration,
    limit: Cell<Limit>,
    memo: Memo,
    /// Artefacts whose test was counted.
    counted: RefCell<HashSet<Digest>>,
    tally: Cell<Tally>,
    journals: Option<Journals>,
    journal_trouble: RefCell<Option<io::Error>>,
    searches: Cell<usize>,
    stopped: Cell<Option<SearchEnd>>,
    is_closed: Cell<bool>,
    observer: &'a dyn Fn(&ReductionEvent),
}

/// The total of tests and the time of the clock at which work ends.
#[derive(Clone, Copy)]
struct Limit {
    tests: Option<u64>,
    deadline: Option<Duration>,
}

/// The two goals of delta debugging.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Goal {
    /// A passing and a failing artefact whose difference is 1-minimal: `dd`.
    #[default]
    Isolate,
    /// A failing artefact that is 1-minimal: `ddmin`.
    Simplify,
}

/// One search of a session.
pub struct Search<'s> {
    /// The name of the search in events and of its journal.
    pub name: &'s str,
    /// The deltas, with a key for all that verdicts depend on besides.
    pub problem: Problem,
    /// The algorithm.
    pub goal: Goal,
    /// The order in which `ddmin` tries units.
    pub schedule: Schedule,
    /// The sizes that events report.
    pub scale: Scale,
    /// Whether candidates are judged one at a time, because they would disturb each other.
    pub is_sequential: bool,
    /// Receives the detail of each unresolved verdict. The search ends when it returns true, so that the
    /// caller can begin another one with what it has learned.
    pub learn: Option<&'s mut dyn FnMut(&str) -> bool>,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The smallest set that failed.
    pub failing: DeltaSet,
    /// Of `dd`, the largest set in it that passed. Of `ddmin`, the deltas of every candidate.
    pub passing: DeltaSet,
    /// The verdict on the passing end of the problem, if it was needed.
    pub passing_end: Option<VerdictKind>,
    /// How the search ended.
    pub end: SearchEnd,
    /// Whether `learn` ended the search, and the budget allows another one.
    pub has_learned: bool,
}

impl<'a> Driver<'a> {
    /// A session that begins now. Of the settings, the schedule is that of each search, and the budget is
    /// that of all of them together.
    pub fn new(settings: Settings, observer: &'a dyn Fn(&ReductionEvent)) -> Driver<'a> {
        let began = settings.clock.now();
        let Budget { tests, time } = settings.budget;
        Driver {
            began,
            limit: Cell::new(Limit {
                tests,
                deadline: time.map(|time| began.saturating_add(time)),
            }),
            settings,
            memo: Memo::default(),
            counted: RefCell::default(),
            tally: Cell::default(),
            journals: None,
            journal_trouble: RefCell::default(),
            searches: Cell::new(0),
            stopped: Cell::new(None),
            is_closed: Cell::new(false),
            observer,
        }
    }

    /// Keeps the verdicts of each search in a journal, and uses those that are there.
    #[must_use]
    pub fn journals(mut self, journals: Option<Journals>) -> Driver<'a> {
        self.journals = journals;
        self
    }

    /// Runs a search.
    pub fn search<O: ArtefactOracle>(
        &self,
        search: Search<'_>,
        oracle: &O,
    ) -> Result<SearchResult, Error<O::Error>> {
        if self.is_over() {
            return Err(Error::Nothing);
        }
        let Search {
            name,
            problem,
            goal,
            schedule,
            mut scale,
            is_sequential,
            mut learn,
        } = search;
        self.searches.set(self.searches.get() + 1);
        let mut journal = match &self.journals {
            Some(journals) => journals.open(self.searches.get(), name, &problem)?,
            None => None,
        };
        let gate = Gate::new(oracle, &self.memo);
        let cancel = self.settings.cancel.child();
        let settings = Settings {
            schedule,
            jobs: match is_sequential {
                true => 1,
                false => self.settings.jobs,
            },
            cancel: cancel.clone(),
            budget: Budget {
                // The watch below counts artefacts, which are fewer than candidates.
                tests: None,
                time: self.time_left(),
            },
            ..self.settings.clone()
        };
        let all = problem.all().len();
        let (mut passing_end, mut trouble) = (None, None);
        let (mut has_learned, mut is_spent) = (false, false);
        let mut engine = Engine::new(&problem, &gate).settings(settings);
        if let Some(journal) = &mut journal {
            engine = engine.journal(journal);
        }
        let engine = engine.watch(|step| {
            if matches!(step.origin, VerdictOrigin::Cache | VerdictOrigin::Inference) {
                return;
            }
            let kind = step.verdict.kind();
            if step.candidate == problem.passing_end() {
                passing_end = Some(kind);
            }
            let identity = match gate.identity(step.candidate) {
                Ok(identity) => identity,
                Err(error) => {
                    trouble = Some(error);
                    cancel.cancel();
                    return;
                }
            };
            let open = step.standing.failing.saturating_sub(step.standing.passing);
            let event = Tested {
                search: name.to_owned(),
                units: step.candidate.len(),
                left: open,
                granularity: step.standing.granularity,
                open: scale.extent * open as f64 / all.max(1) as f64,
                is_replayed: step.origin == VerdictOrigin::Journal,
                ..Tested::new(step.verdict)
            };
            self.count(identity, event, &mut scale, step.verdict);
            let detail = step.verdict.detail().map_or("", String::as_str);
            if kind == VerdictKind::Unresolved && learn.as_mut().is_some_and(|learn| learn(detail))
            {
                has_learned = true;
                cancel.cancel();
            }
            if self.tests_left() == Some(0) {
                is_spent = true;
                cancel.cancel();
            }
        });
        let outcome = match goal {
            Goal::Isolate => engine.dd(),
            Goal::Simplify => engine.ddmin(),
        };
        if let Some(source) = trouble {
            return Err(Error::Oracle {
                candidate: DeltaSet::empty(),
                failing: None,
                source,
            });
        }
        let reduction = match outcome {
            Err(Error::Nothing) => {
                self.stop(self.why_over().unwrap_or(SearchEnd::Cancelled));
                return Err(Error::Nothing);
            }
            outcome => outcome?,
        };
        if reduction.journal_trouble.is_some() {
            *self.journal_trouble.borrow_mut() = reduction.journal_trouble;
        }
        let is_cancelled = self.settings.cancel.is_cancelled();
        let has_learned = has_learned && !is_spent && !is_cancelled;
        let end = match reduction.end {
            SearchEnd::Cancelled if is_spent && !is_cancelled => SearchEnd::Tests,
            end => end,
        };
        if end != SearchEnd::Minimal && !has_learned {
            self.stop(end);
        }
        Ok(SearchResult {
            failing: reduction.failing,
            passing: reduction.passing,
            passing_end,
            end,
            has_learned,
        })
    }

    /// Tests an artefact that is no candidate of a search. `None` if the session is over.
    pub fn test<C, E>(
        &self,
        name: &str,
        artefact: &Artefact<C>,
        mut scale: Scale,
        judge: impl FnOnce(&C, &Wanted<'_>) -> Result<Verdict<String>, E>,
    ) -> Result<Option<Verdict<String>>, E> {
        if self.is_over() {
            return Ok(None);
        }
        let limits = self.limits();
        let wanted = Wanted {
            limits: &limits,
            moot: &AtomicBool::new(false),
        };
        let verdict = match artefact.judged(&self.memo, |content| judge(content, &wanted)) {
            Err(_) if !wanted.still() => {
                self.is_over();
                return Ok(None);
            }
            verdict => verdict?,
        };
        let event = Tested {
            search: name.to_owned(),
            units: 1,
            left: 1,
            granularity: 1,
            open: scale.extent,
            ..Tested::new(&verdict)
        };
        self.count(artefact.identity(), event, &mut scale, &verdict);
        Ok(Some(verdict))
    }

    /// Counts and reports a verdict, unless the same artefact was counted before.
    fn count(
        &self,
        identity: Identity,
        event: Tested,
        scale: &mut Scale,
        verdict: &Verdict<String>,
    ) {
        let mut tally = self.tally.get();
        if identity.flaw.as_deref() == Some(&event.detail) {
            tally.ill_formed += 1;
            self.tally.set(tally);
            return;
        }
        if event.is_replayed {
            self.memo.learn(identity.digest, verdict.clone());
        }
        if event.kind == VerdictKind::Fail {
            scale.best = scale.best.min(identity.size);
        }
        if !self.expect(identity.digest) {
            return;
        }
        tally.add(event.kind, event.is_replayed);
        self.tally.set(tally);
        self.tell(&ReductionEvent::Tested(Tested {
            number: tally.tests,
            digest: identity.digest,
            size: identity.size,
            best: scale.best,
            whole: scale.whole,
            elapsed: self.elapsed(),
            ..event
        }));
    }

    /// Counts a test that ran outside of `search` and `test`.
    pub fn count_run(&self) {
        let mut tally = self.tally.get();
        tally.tests += 1;
        self.tally.set(tally);
    }

    /// Marks an artefact as one whose test does not count any more. Returns whether it did before.
    pub fn expect(&self, artefact: Digest) -> bool {
        self.counted.borrow_mut().insert(artefact)
    }

    /// Reports progress.
    pub fn tell(&self, event: &ReductionEvent) {
        (self.observer)(event);
    }

    /// Does a part of the work under a budget of its own, besides that of the session. Where the part
    /// uses up its own budget, the session goes on.
    pub fn within<T>(&self, budget: Budget, work: impl FnOnce() -> T) -> T {
        let (whole, stopped) = (self.limit.get(), self.stopped.get());
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        let part = budget.tests.map(|tests| self.tally.get().tests + tests);
        let now = self.settings.clock.now();
        let end = budget.time.map(|time| now.saturating_add(time));
        self.limit.set(Limit {
            tests: least(whole.tests, part),
            deadline: whole.deadline.into_iter().chain(end).min(),
        });
        let done = work();
        self.limit.set(whole);
        self.stopped.set(stopped);
        done
    }

    /// Ends the searches so that their result can be checked. The checks have at least [`GRACE`] from now,
    /// once, and a cancellation whose wish is withdrawn does not end them. Returns how the searches ended.
    pub fn close(&self) -> SearchEnd {
        let end = self.end();
        if !self.is_closed.replace(true) {
            let later = self.settings.clock.now().saturating_add(GRACE);
            let limit = self.limit.get();
            self.limit.set(Limit {
                deadline: limit.deadline.map(|deadline| deadline.max(later)),
                ..limit
            });
        }
        self.stopped.set(None);
        self.settings.cancel.renew();
        self.tell(&ReductionEvent::Checking);
        end
    }

    /// Whether nothing more is to be tested. If so, that is how the session ended.
    pub fn is_over(&self) -> bool {
        if let Some(why) = self.why_over() {
            self.stop(why);
        }
        self.stopped.get().is_some()
    }

    /// Whether there is no time left, or the session is cancelled: nothing more is to be run at all.
    pub fn is_wanted(&self) -> bool {
        !self.settings.cancel.is_cancelled() && !self.limits().is_late()
    }

    /// How the session ended: `Minimal` unless something was left to test when it was over.
    pub fn end(&self) -> SearchEnd {
        self.stopped.get().unwrap_or(SearchEnd::Minimal)
    }

    /// Ends the session from outside.
    pub fn cancel(&self) {
        self.settings.cancel.cancel();
    }

    /// The verdicts that are known.
    pub fn memo(&self) -> &Memo {
        &self.memo
    }

    /// The count of tests.
    pub fn tally(&self) -> Tally {
        self.tally.get()
    }

    /// The number of searches so far.
    pub fn searches(&self) -> usize {
        self.searches.get()
    }

    /// The time since the session began.
    pub fn elapsed(&self) -> Duration {
        self.settings.clock.now().saturating_sub(self.began)
    }

    /// The time that is left.
    pub fn time_left(&self) -> Option<Duration> {
        let deadline = self.limit.get().deadline?;
        Some(deadline.saturating_sub(self.settings.clock.now()))
    }

    /// The reason why journals lack verdicts, if they do. The searches went on without them.
    pub fn take_journal_trouble(&self) -> Option<io::Error> {
        self.journal_trouble.borrow_mut().take()
    }

    fn tests_left(&self) -> Option<u64> {
        let most = self.limit.get().tests?;
        Some(most.saturating_sub(self.tally.get().tests))
    }

    fn limits(&self) -> SearchLimits<'_> {
        SearchLimits {
            cancel: &self.settings.cancel,
            clock: &*self.settings.clock,
            deadline: self.limit.get().deadline,
        }
    }

    fn why_over(&self) -> Option<SearchEnd> {
        match () {
            () if self.settings.cancel.is_cancelled() => Some(SearchEnd::Cancelled),
            () if self.tests_left() == Some(0) => Some(SearchEnd::Tests),
            () if self.limits().is_late() => Some(SearchEnd::Time),
            () => None,
        }
    }

    fn stop(&self, end: SearchEnd) {
        self.stopped.set(Some(self.stopped.get().unwrap_or(end)));
    }
}
