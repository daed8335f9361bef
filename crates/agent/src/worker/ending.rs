//! The end of a run, whatever the observed code does then. `Stop` ends its threads, but code that
//! catches everything may go on for ever. No thread may live to see steps of another run: a worker
//! that does not get rid of one says how the run ended, and ends itself.

use std::time::{Duration, Instant};

use culprit_jvmti::Jni;
use culprit_wire::FromWorker;

use super::run::WorkerRun;
use super::{Worker, coverage, turns};
use crate::agent::{Agent, Trouble};
use crate::lock::LockSafe;
use crate::recorder::block_signals;
use crate::tracing::tracing;

/// How long threads of a run may go on after its end.
const LINGER: Duration = Duration::from_secs(2);
/// After this time those that wait for something are interrupted.
const HINT: Duration = Duration::from_millis(100);
/// How long after its end a run may take to be reported. Longer than threads may go on: where only
/// they are late the JVM ends in order.
const LATE: Duration = Duration::from_secs(3);
/// The same for a run that is traced: its trace is written in between.
const LATE_WITH_TRACE: Duration = Duration::from_secs(60);
/// How often is looked whether one is late. By the clock: a signal at the end of each run would cost
/// every small candidate two changes of threads.
const LOOK: Duration = Duration::from_millis(250);

/// Whether the JVM is one with a debugger, which may hold threads for as long as it likes.
fn is_debugged() -> bool {
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    // SAFETY: a constant text; nothing is loaded, and the library stays if it is there.
    let library = unsafe { libc::dlopen(c"libjdwp.so".as_ptr(), flags) };
    !library.is_null()
}

/// Ends the process at once.
pub(super) fn leave() -> ! {
    // SAFETY: ends the process whatever its threads do, which is what is wanted.
    unsafe { libc::_exit(0) }
}

impl Worker {
    /// Watches over the ends of runs, from a thread that the observed code cannot hold up.
    pub(super) fn watch(&'static self, agent: &'static Agent) -> Result<(), Trouble> {
        let late = match tracing() {
            Some(_) => LATE_WITH_TRACE,
            None => LATE,
        };
        let watch = move || {
            block_signals();
            let mut over: Option<(u64, Instant)> = None;
            loop {
                std::thread::sleep(LOOK);
                let mut run = self.run.lock_safe();
                if !run.is_over() || run.is_reported() {
                    over = None;
                    continue;
                }
                let since = match over {
                    Some((number, since)) if number == run.number() => since,
                    _ => over.insert((run.number(), Instant::now())).1,
                };
                if since.elapsed() >= late && !is_debugged() {
                    let report = self.report(agent, &mut run);
                    drop(run);
                    let _ = self.say_all(&report);
                    leave();
                }
            }
        };
        std::thread::Builder::new()
            .name("culprit-watch".to_owned())
            .spawn(watch)?;
        Ok(())
    }

    /// Says that the worker has made a mistake, and ends it.
    pub(crate) fn fault(&self, what: &str) -> ! {
        let what = format!("a fault of the executor: {what}");
        let _ = self.say(&FromWorker::Fault(what));
        leave();
    }

    /// What is said at the end of a run. Said once.
    pub(super) fn report(&self, agent: &Agent, run: &mut WorkerRun) -> Vec<FromWorker> {
        if !run.begin_report() {
            return Vec::new();
        }
        let mut report = Vec::new();
        if let Some(lines) = &agent.lines {
            report.push(FromWorker::Coverage(coverage::take(lines)));
        }
        report.push(FromWorker::Done {
            number: run.number(),
            outcome: run.outcome(&agent.recorder.all_not_woven()),
        });
        report
    }

    pub(super) fn say_all(&self, messages: &[FromWorker]) -> Result<(), culprit_wire::WireError> {
        messages.iter().try_for_each(|message| self.say(message))
    }

    /// A thread of the run has ended.
    pub(super) fn thread_ends(&self) {
        self.run.lock_safe().thread_ends();
        self.moved.notify_all();
    }

    /// Waits until the threads of a run that is over have ended; whether they have.
    pub(super) fn await_threads(&self, jni: &Jni<'_>) -> bool {
        let since = Instant::now();
        let mut hinted = false;
        let mut run = self.run.lock_safe();
        while run.has_threads() {
            let passed = since.elapsed();
            if passed >= LINGER && !is_debugged() {
                return false;
            }
            if passed >= HINT && !hinted {
                hinted = true;
                drop(run);
                if let Ok(java) = self.java() {
                    java.interrupt_threads(jni);
                }
                run = self.run.lock_safe();
            }
            run = turns::wait(&self.moved, run, HINT);
        }
        true
    }
}
