//! Whose turn it is. With several threads, each waits before each event until the scenario has come
//! to it: such waits are hard. Before a lock a thread waits as well, lest it keep the lock from
//! the one whose turn it is; but that one may need just what the other does under the lock. So a
//! wait before a lock ends when the scenario stands still.
//!
//! Each sleeping thread has a condition variable of its own, and is woken when its step is next or
//! the run is over: a notification is a system call, and there are several events for every change
//! of threads. No wake-up is lost: steps are used up, and sleepers are registered, under the lock of
//! the run, and a thread that used up steps wakes the thread of the next step whenever it records
//! something or waits for its own turn.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use culprit_jvmti::Jni;
use culprit_model::{Outcome, Step, ThreadId};

use super::java::Rest;
use super::run::WorkerRun;
use super::{Halt, Worker, natives};
use crate::agent::Agent;
use crate::lock::LockSafe;

/// How long the scenario stands before others may take locks, if the thread whose turn it is waits
/// for something.
const STANDS: Duration = Duration::from_millis(50);
/// The same if that thread runs: it may wait for something in a loop, or just take its time.
const STANDS_LONG: Duration = Duration::from_secs(2);
/// So many locks taken between two steps are such a loop.
const POLLS: u32 = 100;
/// How long the scenario stands before threads that all wait are said to wait for each other.
const STUCK: Duration = Duration::from_secs(5);
/// How often is looked whether it does.
const GLANCE: Duration = Duration::from_millis(10);
/// The same by who has nothing else to do.
const LOOK: Duration = Duration::from_millis(250);

/// How the threads of a run wait for each other.
#[derive(Default)]
pub(super) struct Turns {
    /// Threads that wait until the scenario comes to their next event.
    waiting: HashSet<ThreadId>,
    /// The threads that sleep until they are woken, and were not woken yet.
    asleep: BTreeMap<ThreadId, Arc<Condvar>>,
    /// How many steps were used up when somebody last looked, and since when.
    standing: Option<(u64, Instant)>,
    /// Locks taken by the thread whose turn it is, after so many steps.
    polls: (u64, u32),
}

impl Turns {
    /// Wakes a thread; `false` if it does not sleep.
    fn wake(&mut self, thread: ThreadId) -> bool {
        let asleep = self.asleep.remove(&thread);
        asleep.inspect(|alarm| alarm.notify_one()).is_some()
    }

    fn wake_all(&mut self) {
        for (_, alarm) in std::mem::take(&mut self.asleep) {
            alarm.notify_one();
        }
    }

    /// For how long no step was used up, as far as anybody has looked.
    fn stand(&mut self, used_up: u64) -> Duration {
        match self.standing {
            Some((at, since)) if at == used_up => since.elapsed(),
            _ => {
                self.standing = Some((used_up, Instant::now()));
                Duration::ZERO
            }
        }
    }

    fn take_lock(&mut self, used_up: u64) {
        if self.polls.0 != used_up {
            self.polls = (used_up, 0);
        }
        self.polls.1 = self.polls.1.saturating_add(1);
    }

    fn polls(&self, used_up: u64) -> bool {
        self.polls.0 == used_up && self.polls.1 >= POLLS
    }
}

/// Waits until something has changed, or for some time. A panic of another thread does not matter
/// here.
pub(super) fn wait<'r>(
    moved: &Condvar,
    run: MutexGuard<'r, WorkerRun>,
    time: Duration,
) -> MutexGuard<'r, WorkerRun> {
    let waited = moved.wait_timeout(run, time);
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Sleeps until another thread wakes this one, or for some time.
fn sleep(
    mut run: MutexGuard<'_, WorkerRun>,
    own: ThreadId,
    time: Option<Duration>,
) -> MutexGuard<'_, WorkerRun> {
    let alarm = Arc::new(Condvar::new());
    run.turns.asleep.insert(own, Arc::clone(&alarm));
    let mut run = match time {
        Some(time) => wait(&alarm, run, time),
        None => alarm.wait(run).unwrap_or_else(PoisonError::into_inner),
    };
    run.turns.asleep.remove(&own);
    run
}

impl Worker {
    /// Wakes the threads that have something to do now: that of the next step, if it is not this one,
    /// or all if no step follows or the run is over.
    fn wake_due(&self, run: &mut WorkerRun, own: ThreadId) {
        let due = match run.is_over() || run.turns.asleep.is_empty() {
            true => None,
            false => run.look(0, &self.incoming).map(|step| step.thread),
        };
        if run.is_over() {
            return self.wake_all(run);
        }
        match due {
            Some(due) if due == own => {}
            Some(due) => drop(run.turns.wake(due)),
            None => run.turns.wake_all(),
        }
    }

    /// Wakes every thread that waits for a step or for the end of the run.
    pub(super) fn wake_all(&self, run: &mut WorkerRun) {
        run.turns.wake_all();
        self.moved.notify_all();
    }

    /// The next step, once it is one of this thread; `None` where the scenario has ended.
    pub(super) fn turn(&self) -> Result<Option<Arc<Step>>, Halt> {
        let own = natives::own_thread();
        let mut run = self.run.lock_safe();
        loop {
            if run.is_over() {
                return Err(Halt::Ended);
            }
            let step = run.peek(0, &self.incoming).cloned();
            let Some(own) = own else {
                return Ok(step);
            };
            match step {
                Some(step) if step.thread != own => {
                    // The thread of the next step may not know that this one has used steps up.
                    run.turns.wake(step.thread);
                    run.turns.waiting.insert(own);
                    run = sleep(run, own, None);
                    run.turns.waiting.remove(&own);
                }
                step => {
                    self.wake_due(&mut run, own);
                    return Ok(step);
                }
            }
        }
    }

    /// The current thread is about to record something: it waits until that is next.
    pub(crate) fn await_turn(&self, agent: &Agent) {
        if natives::own_thread().is_some() {
            self.published(agent);
            if let Err(halt) = self.turn() {
                self.halt(halt);
            }
        }
    }

    /// The current thread has recorded something.
    pub(super) fn published(&self, agent: &Agent) {
        let (state, own) = (natives::current_state(), natives::own_thread());
        let mut run = self.run.lock_safe();
        run.catch_up(agent, &self.incoming, own, state);
        // Nobody waits in a run of one thread.
        if let Some(own) = own {
            self.wake_due(&mut run, own);
        }
    }

    /// The current thread is about to take a lock: it waits until its next step is due, or nothing
    /// moves without it.
    pub(super) fn await_lock(&self, jni: &Jni<'_>) -> Result<(), Halt> {
        let Some(own) = natives::own_thread() else {
            return Ok(());
        };
        let mut run = self.run.lock_safe();
        loop {
            if run.is_over() {
                return Err(Halt::Ended);
            }
            let due = run.peek(0, &self.incoming).map(|step| step.thread);
            let at = run.used_up();
            let Some(due) = due.filter(|due| *due != own) else {
                run.turns.take_lock(at);
                return Ok(());
            };
            let stands = run.turns.stand(at);
            if stands >= STANDS_LONG || stands >= STANDS && run.turns.polls(at) {
                return Ok(());
            }
            if stands >= STANDS {
                drop(run);
                let rests = self.java()?.rest(jni, due)? != Rest::None;
                run = self.run.lock_safe();
                if rests && run.used_up() == at {
                    return Ok(());
                }
            }
            run = sleep(run, own, Some(GLANCE));
        }
    }

    /// The step that goes on with a call. Whoever waits on an object has let go of its lock meanwhile,
    /// or nobody could come to wake it.
    pub(super) fn turn_of_call(&self, jni: &Jni<'_>) -> Result<Option<Arc<Step>>, Halt> {
        let Some(own) = natives::own_thread() else {
            return self.turn();
        };
        let waited = self.run.lock_safe().waited(own);
        let Some(id) = waited else {
            return self.turn();
        };
        let Some(object) = self.known(jni, id)? else {
            return self.turn();
        };
        loop {
            {
                let mut run = self.run.lock_safe();
                run.turns.waiting.remove(&own);
                if run.is_over() {
                    return Err(Halt::Ended);
                }
                match run.peek(0, &self.incoming).cloned() {
                    Some(step) if step.thread != own => run.turns.waiting.insert(own),
                    step => return Ok(step),
                };
            }
            self.java()?.wait_on(jni, &object)?;
        }
    }

    /// Waits until the run of several threads is over. It is when they all wait for each other.
    pub(super) fn await_end(&self, jni: &Jni<'_>, threads: &[(ThreadId, String)]) {
        let mut run = self.run.lock_safe();
        while !run.is_over() {
            run = wait(&self.moved, run, LOOK);
            let at = run.used_up();
            if run.is_over() || run.turns.stand(at) < STUCK {
                continue;
            }
            let ids = threads.iter().map(|(id, _)| *id);
            let others: Vec<_> = ids.filter(|id| !run.turns.waiting.contains(id)).collect();
            drop(run);
            let rests = |id| {
                let rest = self.java().and_then(|java| java.rest(jni, id));
                rest.is_ok_and(|rest| rest == Rest::ForEver)
            };
            let all_rest = others.into_iter().all(rests);
            run = self.run.lock_safe();
            if all_rest && run.used_up() == at {
                let due = run.peek(0, &self.incoming).map(|step| step.thread);
                let name = threads.iter().find(|(id, _)| Some(*id) == due);
                let name = name.map_or("", |(_, name)| name);
                run.end(Outcome::Unsupported(format!(
                    "the threads wait for each other: the next event is one of thread \"{name}\", \
                     which waits for another, and that for its turn"
                )));
            }
        }
        self.wake_all(&mut run);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_thread_that_does_not_sleep_is_not_woken() {
        let mut turns = Turns::default();
        assert!(!turns.wake(ThreadId(1)));
    }

    #[test]
    fn a_sleeping_thread_is_woken_once_and_no_other_with_it() {
        let run = Mutex::new(WorkerRun::default());
        let asleep = |thread| run.lock_safe().turns.asleep.contains_key(&ThreadId(thread));
        std::thread::scope(|scope| {
            let sleeper = |thread| {
                let run = &run;
                scope.spawn(move || drop(sleep(run.lock_safe(), ThreadId(thread), None)))
            };
            let (first, second) = (sleeper(1), sleeper(2));
            while !asleep(1) || !asleep(2) {
                std::thread::yield_now();
            }
            assert!(run.lock_safe().turns.wake(ThreadId(1)));
            first.join().unwrap();
            assert!(!run.lock_safe().turns.wake(ThreadId(1)));
            assert!(asleep(2) && !second.is_finished());
            run.lock_safe().turns.wake_all();
            second.join().unwrap();
            assert!(run.lock_safe().turns.asleep.is_empty());
        });
    }

    #[test]
    fn a_sleep_with_a_limit_ends_by_itself() {
        let run = Mutex::new(WorkerRun::default());
        let run = sleep(run.lock_safe(), ThreadId(1), Some(Duration::from_millis(1)));
        assert!(run.turns.asleep.is_empty());
    }
}
