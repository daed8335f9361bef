//! Judging several candidates at a time, without a say in what is asked.
//!
//! While the search waits for one verdict, copies of it are answered with guesses to see what it
//! would ask next, likely answers first, and idle threads judge those candidates. A guess never
//! reaches the search itself. What turns out not to be asked was work for nothing, and an oracle
//! that still runs it is told so.

use std::cmp::Ordering as Order;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};

use tracing::debug;

use crate::digest::Digest;
use crate::knowledge::Knowledge;
use crate::oracle::{Detail, Oracle, SearchLimits, Verdict, Wanted};
use crate::search::Search;
use crate::set::DeltaSet;

/// Courses of the search that are looked at for each job, and the chance below which one is not.
const COURSES: usize = 4;
const LEAST_CHANCE: f64 = 0.01;

/// The answer of an oracle.
type OracleAnswer<O> = Result<Verdict<<O as Oracle>::Detail>, <O as Oracle>::Error>;

/// A judged candidate, with the answer of the oracle.
pub(crate) type Judged<O> = (Digest, OracleAnswer<O>);

/// Threads that judge.
pub(crate) struct JudgePool<O: Oracle> {
    jobs: usize,
    orders: Sender<Task>,
    results: Receiver<FinishedTask<O>>,
    /// What is being judged, and whether it was called off.
    running: BTreeMap<Digest, Arc<AtomicBool>>,
}

struct Task {
    key: Digest,
    candidate: DeltaSet,
    moot: Arc<AtomicBool>,
}

struct FinishedTask<O: Oracle> {
    key: Digest,
    /// `None` when nobody waited any more.
    result: thread::Result<Option<OracleAnswer<O>>>,
}

impl<O: Oracle> JudgePool<O> {
    /// Starts threads that end when the pool is dropped.
    pub(crate) fn start<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        jobs: usize,
        oracle: &'env O,
        limits: &'env SearchLimits<'env>,
    ) -> JudgePool<O>
    where
        O::Detail: 'scope,
        O::Error: 'scope,
    {
        let (orders, waiting) = channel::<Task>();
        let (send, results) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..jobs {
            let (waiting, send) = (waiting.clone(), send.clone());
            scope.spawn(move || {
                loop {
                    let next = waiting
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .recv();
                    let Ok(Task {
                        key,
                        candidate,
                        moot,
                    }) = next
                    else {
                        return;
                    };
                    let result = panic::catch_unwind(AssertUnwindSafe(|| {
                        judge(oracle, &candidate, limits, &moot)
                    }));
                    if send.send(FinishedTask { key, result }).is_err() {
                        return;
                    }
                }
            });
        }
        JudgePool {
            jobs,
            orders,
            results,
            running: BTreeMap::new(),
        }
    }

    /// Gives idle threads something to do: the question of the search, then what may come after it.
    /// Returns how many.
    pub(crate) fn feed<S: Search>(
        &mut self,
        search: &S,
        knowledge: &Knowledge<O::Detail>,
        skip: &impl Fn(Digest) -> bool,
    ) -> u64 {
        let mut ordered = 0;
        let mut likely = BTreeSet::new();
        let mut courses = BinaryHeap::from([LikelySearch {
            chance: 1.0,
            number: 0,
            search: search.clone(),
        }]);
        let mut number = 0;
        for _ in 0..self.jobs * COURSES {
            let Some(mut course) = courses.pop() else {
                break;
            };
            let Some(candidate) = course.search.question() else {
                continue;
            };
            let key = candidate.digest();
            if let Some(kind) = knowledge.foresee(&candidate, key) {
                course.search.answer(kind);
                courses.push(course);
                continue;
            }
            for (kind, chance) in course.search.guesses() {
                let chance = chance * course.chance;
                if chance >= LEAST_CHANCE {
                    number += 1;
                    let mut search = course.search.clone();
                    search.answer(kind);
                    courses.push(LikelySearch {
                        chance,
                        number,
                        search,
                    });
                }
            }
            likely.insert(key);
            if self.running.len() < self.jobs && !self.running.contains_key(&key) && !skip(key) {
                let moot = Arc::new(AtomicBool::new(false));
                self.running.insert(key, moot.clone());
                let task = Task {
                    key,
                    candidate,
                    moot,
                };
                self.orders.send(task).expect("threads wait for orders");
                ordered += 1;
            }
            // Everyone has something to do that may be needed, or is to stop.
            let busy = |(key, moot): (&Digest, &Arc<AtomicBool>)| {
                likely.contains(key) || moot.load(Ordering::Acquire)
            };
            if self.running.len() >= self.jobs && self.running.iter().all(busy) {
                break;
            }
        }
        for (key, moot) in &self.running {
            if !likely.contains(key) {
                moot.store(true, Ordering::Release);
            }
        }
        ordered
    }

    /// Waits for a verdict; `None` if it was called off.
    pub(crate) fn wait(&mut self) -> Option<Judged<O>> {
        let done = self.results.recv().expect("threads send results");
        self.running.remove(&done.key);
        match done.result {
            Ok(result) => Some((done.key, result?)),
            Err(panic) => panic::resume_unwind(panic),
        }
    }
}

impl<O: Oracle> Drop for JudgePool<O> {
    fn drop(&mut self) {
        let running = self.running.values();
        running.for_each(|moot| moot.store(true, Ordering::Release));
    }
}

/// Judges one candidate; `None` if nobody waited for the verdict any more.
pub(crate) fn judge<O: Oracle>(
    oracle: &O,
    candidate: &DeltaSet,
    limits: &SearchLimits<'_>,
    moot: &AtomicBool,
) -> Option<OracleAnswer<O>> {
    let wanted = Wanted { limits, moot };
    let result = oracle.judge(candidate, &wanted);
    let is_wanted = wanted.still();
    debug!(
        deltas = candidate.len(),
        verdict = ?result.as_ref().ok().map(Verdict::kind),
        detail = result.as_ref().ok().and_then(Verdict::detail).map(Detail::to_text),
        is_wanted,
        "candidate judged"
    );
    is_wanted.then_some(result)
}

/// A search after verdicts that are not known yet, with their probability.
struct LikelySearch<S> {
    chance: f64,
    number: usize,
    search: S,
}

impl<S> Ord for LikelySearch<S> {
    fn cmp(&self, other: &LikelySearch<S>) -> Order {
        let chance = self.chance.total_cmp(&other.chance);
        chance.then(other.number.cmp(&self.number))
    }
}

impl<S> PartialOrd for LikelySearch<S> {
    fn partial_cmp(&self, other: &LikelySearch<S>) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl<S> PartialEq for LikelySearch<S> {
    fn eq(&self, other: &LikelySearch<S>) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<S> Eq for LikelySearch<S> {}
