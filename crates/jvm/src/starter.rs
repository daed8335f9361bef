//! The thread that starts all processes, and the death of those with this process.
//!
//! The kernel sends the signal that a process asked for at the death of its parent
//! (`PR_SET_PDEATHSIG`) when the *thread* that started it ends. Threads of a pool end while their
//! workers go on, so processes are started by one thread that lives as long as this process.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rustix::process::{Pid, getpid, getppid};

/// Something to do on that thread.
type Work = Box<dyn FnOnce() + Send>;

/// Does something on the thread that starts processes. The work, with all that it owns, is gone when
/// this returns.
pub(crate) fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    static QUEUE: OnceLock<Sender<Work>> = OnceLock::new();
    let queue = QUEUE.get_or_init(|| {
        let (send, queue) = channel::<Work>();
        let serve = move || queue.iter().for_each(|work| work());
        // Without a thread nobody receives, and whoever sends is told so.
        let _ = thread::Builder::new()
            .name("starter".to_owned())
            .spawn(serve);
        send
    });
    let gone = || io::Error::other("the thread that starts programs is gone");
    let (reply, answer) = channel();
    let work = move || {
        // A panic has printed its message; whoever asked learns that there is no answer, and waits for it
        // until then.
        if let Ok(done) = catch_unwind(AssertUnwindSafe(work)) {
            let _ = reply.send(done);
        }
    };
    queue.send(Box::new(work)).map_err(|_| gone())?;
    answer.recv().map_err(|_| gone())?
}

/// Has the process that a command becomes killed when this process ends, however that comes about.
#[expect(
    unsafe_code,
    reason = "the standard library has no other way to ask for it"
)]
pub(crate) fn ends_with_us(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    let us = getpid();
    // SAFETY: between fork and exec only what is safe in a signal handler may be done. These are two
    // system calls; nothing is allocated and no lock is taken.
    unsafe { command.pre_exec(move || end_with(us)) };
}

/// Has this process killed when its parent ends. Neither allocates nor locks.
pub(crate) fn end_with(parent: Pid) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // It may have ended before it was asked.
    match getppid() == Some(parent) {
        true => Ok(()),
        false => Err(rustix::io::Errno::SRCH.into()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::io::{Read, Write};
    use std::path::PathBuf;
    use std::process::Stdio;

    use super::*;
    use crate::orphans;
    use crate::target::command;

    #[test]
    fn a_process_goes_on_when_the_thread_that_asked_for_it_has_ended() {
        let asked = thread::spawn(|| {
            let mut shell = command("/bin/sh");
            shell.args(["-c", "read word && echo heard $word"]);
            shell.stdin(Stdio::piped()).stdout(Stdio::piped());
            ends_with_us(&mut shell);
            let task = fs::read_link("/proc/thread-self").unwrap();
            (orphans::spawn(shell).unwrap(), task)
        });
        let (mut child, task) = asked.join().unwrap();
        let task = PathBuf::from("/proc").join(task);
        while task.exists() {
            thread::yield_now();
        }
        child.stdin.take().unwrap().write_all(b"it\n").unwrap();
        let mut heard = String::new();
        let mut out = child.stdout.take().unwrap();
        out.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "heard it\n");
        assert!(child.wait().unwrap().success());
        orphans::forget(child.id());
    }

    #[test]
    fn work_that_panics_costs_nobody_else_the_thread() {
        let lost = on_thread(|| -> io::Result<()> { panic!("on purpose") });
        assert!(lost.is_err());
        assert_eq!(on_thread(|| Ok(7)).unwrap(), 7);
    }
}
