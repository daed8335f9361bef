//! Where scripts run: worker JVMs with the program as it is.
//!
//! In a sandbox, an exception by which the JVM reports that something was denied tells of the sandbox and not
//! of the program. Such a run is unresolved, whatever failure is looked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use culprit_jvm::{Deadline, Job, JobResult, PoolError, Unresolved, WorkerPool, WorkingFolder};
use culprit_model::{Outcome, Statement, Tables};
use culprit_reduce::{GRACE, SearchEnd};
use culprit_scripts::ScriptRun;
use culprit_signature::Refusal;
use culprit_wire::{FreshState, LineCheck, Mode};

/// Workers for scripts.
pub struct Stage {
    pool: WorkerPool,
    /// How long a script may take.
    limit: Duration,
    /// When runs end at the latest, and what ends them earlier.
    deadline: Deadline,
    /// Microseconds of the longest run that came to its end.
    longest: AtomicU64,
    /// Microseconds of the first run that came to its end, which is one of a whole script.
    whole: AtomicU64,
    /// Runs that took much longer than that one.
    late: AtomicU64,
    /// Runs that did not come to their end in time.
    endless: AtomicU64,
}

/// Runs of parts that take so many times as long as the whole script are late: they wait for something that an earlier
/// one has left, such as the lock of a database.
const LATE: u64 = 2;

/// So many late runs are enough to know, if the whole script takes so long that starting a JVM makes no difference.
const MANY_LATE: u64 = 2;
const SLOW: Duration = Duration::from_secs(1);

/// How long a script may take at least, and how many times as long as others that came to their end.
const PATIENCE: Duration = Duration::from_secs(2);
const TIMES: u32 = 3;

/// Each time so many runs did not end, the others get half the time, but at least this long: where the calls that are
/// left out end a loop, most parts of a script run forever.
const MANY_ENDLESS: u64 = 2;
const LEAST_PATIENCE: Duration = Duration::from_millis(500);

impl Stage {
    pub fn new(pool: WorkerPool, limit: Duration, deadline: Deadline) -> Stage {
        Stage {
            pool,
            limit,
            deadline,
            longest: AtomicU64::new(0),
            whole: AtomicU64::new(0),
            late: AtomicU64::new(0),
            endless: AtomicU64::new(0),
        }
    }

    /// When all of it ends.
    pub fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Has what was found completed: neither the deadline nor an interrupt that is known keeps the result from
    /// being run and checked.
    pub(crate) fn close(&self, end: SearchEnd) {
        self.deadline.put_off(GRACE);
        if end == SearchEnd::Cancelled
            && let Some(interrupt) = self.deadline.interrupt()
        {
            interrupt.heed();
        }
    }

    /// A part of a script that takes much longer than others is not going to end.
    fn patience(&self) -> Duration {
        match self.longest.load(Ordering::Relaxed) {
            0 => self.limit,
            longest => {
                let usual = Duration::from_micros(longest) * TIMES;
                let endless = self.endless.load(Ordering::Relaxed);
                self.limit.min(usual.max(least_patience(endless)))
            }
        }
    }

    /// From now on each script has a JVM of its own.
    pub(crate) fn use_new_workers(&self) {
        self.pool.use_new_workers();
        // Their start counts.
        self.longest.store(0, Ordering::Relaxed);
        self.whole.store(0, Ordering::Relaxed);
        self.forget_late();
    }

    /// Whether scripts wait for something that others have left in their JVM.
    pub(crate) fn is_held_up(&self) -> bool {
        let whole = Duration::from_micros(self.whole.load(Ordering::Relaxed));
        let late = self.late.load(Ordering::Relaxed);
        whole >= SLOW && late >= MANY_LATE && !self.pool.uses_new_workers()
    }

    /// Counts late runs anew.
    pub(crate) fn forget_late(&self) {
        self.late.store(0, Ordering::Relaxed);
    }

    /// The surroundings of the scripts: verdicts are not the same in others.
    pub(crate) fn surroundings(&self) -> String {
        let jvms = match self.pool.uses_new_workers() {
            true => "new JVMs in ",
            false => "",
        };
        let (folder, variables) = (self.folder(), self.pool.variables());
        format!("{jvms}{folder} with {variables:?}")
    }

    /// The working folder of the scripts.
    pub fn folder(&self) -> &WorkingFolder {
        self.pool.folder()
    }

    /// Whether workers are in a sandbox, so that what is denied to them says nothing of the program.
    pub fn is_confined(&self) -> bool {
        self.pool.is_confined()
    }

    /// A run that threw.
    fn judged(&self, at: usize, trace: String) -> ScriptRun {
        let refusal = Refusal::of_trace(&trace).filter(|_| self.is_confined());
        match refusal {
            Some(refusal) => ScriptRun::Refused { refusal, trace },
            None => ScriptRun::Threw { at, trace },
        }
    }

    /// Runs statements. In classes that are loaded anew it takes longer, and nothing is there that an
    /// earlier run left.
    pub fn run<'s>(
        &self,
        tables: &Arc<Tables>,
        statements: impl IntoIterator<Item = &'s Statement>,
        fresh: FreshState,
    ) -> Result<ScriptRun, PoolError> {
        let statements: Vec<&Statement> = statements.into_iter().collect();
        let began = Instant::now();
        let answer = self.pool.run(&Job {
            mode: Mode::Plain,
            fresh,
            multi_threaded: false,
            lines: LineCheck::Ignore,
            tables: Arc::clone(tables),
            source: &statements,
            limit: self.patience(),
            deadline: self.deadline.clone(),
        })?;
        let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let whole = self.whole.load(Ordering::Relaxed);
        if whole > 0 && took > whole.saturating_mul(LATE) {
            self.late.fetch_add(1, Ordering::Relaxed);
        }
        if matches!(answer, JobResult::Unresolved(Unresolved::TimeLimit(_))) {
            self.endless.fetch_add(1, Ordering::Relaxed);
        }
        if matches!(answer, JobResult::Ran { .. }) {
            self.longest.fetch_max(took.max(1), Ordering::Relaxed);
            if whole == 0 {
                self.whole.store(took.max(1), Ordering::Relaxed);
            }
        }
        Ok(match answer {
            JobResult::Ran { outcome, .. } => match outcome {
                Outcome::InSync { .. } => ScriptRun::Done,
                Outcome::Threw { at, trace } => self.judged(at as usize, trace),
                Outcome::Unsupported(why) => ScriptRun::Unresolved(why),
                Outcome::Diverged(divergence) => ScriptRun::Unresolved(divergence.why),
                Outcome::Differed { .. } | Outcome::Stopped => {
                    ScriptRun::Unresolved("the worker ended it".to_owned())
                }
            },
            JobResult::Unresolved(why) => ScriptRun::Unresolved(why.to_string()),
        })
    }
}

/// How long a script may take at least after so many that did not end.
fn least_patience(endless: u64) -> Duration {
    let halves = u32::try_from(endless / MANY_ENDLESS).unwrap_or(u32::MAX);
    let shorter = PATIENCE.checked_div(1u32.checked_shl(halves).unwrap_or(u32::MAX));
    shorter.unwrap_or_default().max(LEAST_PATIENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_runs_do_not_end_the_less_time_they_get() {
        let times = [0, 1, 2, 3, 4, 9, u64::MAX];
        let times = times.map(|endless| least_patience(endless).as_millis());
        assert_eq!(times, [2000, 2000, 1000, 1000, 500, 500, 500]);
    }
}
