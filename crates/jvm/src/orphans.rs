//! Processes that left the group they were started in: daemons, and what `setsid` starts.
//!
//! Whoever starts programs of strangers adopts what they leave behind: once [`adopt`] was called,
//! a process whose parent ends becomes a child of this one. A run marks its environment, which its
//! processes inherit, so that those of other runs are left alone.
//!
//! On systems without this, only groups are ended.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::Duration;

use rustix::process::Pid;
#[cfg(target_os = "linux")]
use rustix::process::{Signal, WaitOptions, getpgid, kill_process, set_child_subreaper, waitpid};

use crate::{scratch, starter};

/// The variable that marks the processes of a run.
const MARK: &str = "CULPRIT_RUN";

/// Children that somebody here waits for: they are never reaped by others.
static AWAITED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// The number of searches for processes that those just ended have left behind.
const ROUNDS: usize = 200;

/// The time between two searches.
const PAUSE: Duration = Duration::from_micros(500);

/// The start of the marks of all runs of this process, which no other process has: variable, process, chance.
pub(crate) fn mark() -> &'static str {
    static START: OnceLock<String> = OnceLock::new();
    START.get_or_init(|| format!("{MARK}={}-{:016x}-", std::process::id(), scratch::chance()))
}

/// From now on this process adopts those that are left behind.
pub(crate) fn adopt() {
    static ONCE: Once = Once::new();
    #[cfg(target_os = "linux")]
    ONCE.call_once(|| {
        // Where it is not allowed, groups are ended all the same.
        let _ = set_child_subreaper(Some(rustix::process::getpid()));
    });
    #[cfg(not(target_os = "linux"))]
    ONCE.call_once(|| {});
}

/// Starts a process that is waited for here. The command, with all descriptors that it owns, is gone when
/// this returns.
pub(crate) fn spawn(mut command: Command) -> io::Result<Child> {
    starter::on_thread(move || start(&mut command))
}

/// Starts a process that the caller waits for: it is never taken for one that was left behind.
pub fn start(command: &mut Command) -> io::Result<Child> {
    let mut awaited = awaited();
    let child = command.spawn()?;
    awaited.insert(child.id());
    Ok(child)
}

/// Does something while no process is being started. One that is has copies of all files that are
/// open here, until it becomes the program that it is to be; and a program that somebody has open for
/// writing cannot be run.
pub fn between_starts<T>(work: impl FnOnce() -> T) -> T {
    let _held = awaited();
    work()
}

/// A child that is never waited for, and not reaped either.
#[cfg(target_os = "linux")]
pub(crate) fn keep(pid: Pid) {
    awaited().insert(pid.as_raw_nonzero().get().unsigned_abs());
}

/// The process was waited for.
pub fn forget(pid: u32) {
    awaited().remove(&pid);
}

/// Ends the processes with this text in their environment that were left behind, and reaps all that
/// have ended. How many were ended that had left the group, which is killed already.
#[cfg(target_os = "linux")]
pub(crate) fn end(mark: &str, group: Pid) -> usize {
    let mut ended = BTreeSet::new();
    let mut clean = 0;
    for _ in 0..ROUNDS {
        let mut is_done = true;
        for pid in adopted() {
            let is_marked = is_marked(pid, mark);
            if is_marked == Some(true) {
                // It is our child and nobody else reaps it, so the number is still its own.
                let _ = kill_process(pid, Signal::KILL);
                if getpgid(Some(pid)).is_ok_and(|own| own != group) {
                    ended.insert(pid.as_raw_nonzero());
                }
            }
            let is_gone = matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(Some(_)));
            is_done &= is_gone || is_marked == Some(false);
        }
        // A list of children may lack one that is adopted meanwhile.
        clean = if is_done { clean + 1 } else { 0 };
        if clean == 2 {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    ended.len()
}

/// The same where nothing is adopted.
#[cfg(not(target_os = "linux"))]
pub(crate) fn end(_: &str, _: Pid) -> usize {
    0
}

/// Our children that nobody here started.
#[cfg(target_os = "linux")]
fn adopted() -> Vec<Pid> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    // Whoever is started meanwhile is not listed yet, or is awaited.
    let awaited = awaited();
    let mut found = Vec::new();
    for thread in threads.flatten() {
        let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        let pids = children
            .split_whitespace()
            .filter_map(|pid| pid.parse().ok());
        let strange = pids.filter(|pid: &u32| !awaited.contains(pid));
        found.extend(strange.filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)));
    }
    found
}

/// True if a process has this text in its environment. One that has ended has none any more, and one that is
/// becoming another program has none yet: of those it is not known.
#[cfg(target_os = "linux")]
fn is_marked(pid: Pid, mark: &str) -> Option<bool> {
    let file = format!("/proc/{}/environ", pid.as_raw_nonzero());
    let environment = fs::read(file).unwrap_or_default();
    let mut variables = environment.split(|byte| *byte == 0);
    let has_it = variables.any(|variable| variable == mark.as_bytes());
    (!environment.is_empty()).then_some(has_it)
}

fn awaited() -> MutexGuard<'static, BTreeSet<u32>> {
    AWAITED.lock().unwrap_or_else(PoisonError::into_inner)
}
