//! A program in a process group of its own: whoever started it can end it with all that it
//! started.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use culprit_model::{clean, secret, shell};
use rustix::io::{FdFlags, fcntl_setfd};
#[cfg(target_os = "linux")]
use rustix::process::PidfdFlags;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process_group, setsid, waitid,
};
use tracing::debug;

use crate::cgroup::Entrance;
use crate::guard::Guard;
use crate::sandbox::{Confinement, SandboxError};
use crate::starter::end_with;
use crate::target::{command, wait_without_reaping};
use crate::watcher::{Excess, Watched, WatchedFolder};
use crate::{Limits, Sandbox, Status, descriptors, orphans, watchdog};

/// A program to start, with its confinement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The file to start: a program, not a script.
    pub file: PathBuf,
    pub args: Vec<OsString>,
    /// All of its environment.
    pub env: Vec<(OsString, OsString)>,
    /// The folder it works in.
    pub directory: PathBuf,
    pub limits: Limits,
    /// `None` lets it do whatever we may do.
    pub sandbox: Option<Sandbox>,
}

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("cannot start {}: {error}", .file.display())]
    Start { file: PathBuf, error: io::Error },
    /// Somebody wants us to end.
    #[error("interrupted")]
    Interrupted,
}

/// The streams of a program, and the one descriptor that it gets besides.
pub(crate) struct Streams {
    pub(crate) input: Stdio,
    pub(crate) out: Stdio,
    pub(crate) err: Stdio,
    pub(crate) inherited: Option<OwnedFd>,
}

/// A started program. When it is dropped, its group is killed.
pub(crate) struct Group {
    child: Child,
    leader: Pid,
    ended: Option<Status>,
    guard: Guard,
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Group({})", self.leader.as_raw_nonzero())
    }
}

impl Launch {
    /// The command as a shell would read it, with secrets masked.
    fn line(&self) -> String {
        let file = self.file.as_os_str();
        let args = self.args.iter().map(AsRef::as_ref);
        shell::line(secret::masked(std::iter::once(file).chain(args)))
    }

    pub(crate) fn start(&self, streams: Streams) -> Result<Group, LaunchError> {
        let (guard, entrance) = Guard::prepare(self);
        let confinement = match &self.sandbox {
            Some(sandbox) => Some(Confinement::prepare(sandbox, &self.file)?),
            None => None,
        };
        let mut command = command(&self.file);
        command
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(key, value)| (key, value)))
            .current_dir(&self.directory)
            .stdin(streams.input)
            .stdout(streams.out)
            .stderr(streams.err);
        before_exec(
            &mut command,
            self.limits,
            entrance,
            streams.inherited,
            confinement,
        );
        let folders = self.watched_folders();
        let child = orphans::spawn(command).map_err(|error| LaunchError::Start {
            file: self.file.clone(),
            error,
        })?;
        let leader = Pid::from_child(&child);
        watchdog::watch(leader);
        debug!(
            pid = leader.as_raw_nonzero().get(),
            is_confined = self.sandbox.is_some(),
            directory = %clean::path(&self.directory),
            command = %self.line(),
            "process started"
        );
        let mut group = Group {
            leader,
            child,
            ended: None,
            guard,
        };
        group.guard(self, folders);
        Ok(group)
    }

    /// The folders that the program may write to, before it is started.
    fn watched_folders(&self) -> Vec<WatchedFolder> {
        let folders = self.sandbox.iter().flat_map(|it| &it.writable);
        folders
            .map(|path| WatchedFolder::before_start(path, &self.limits))
            .collect()
    }
}

/// Has the child make a group of its own and enter its confines, before it is the program. The group
/// is a session too: it has no terminal to type into. It gets no descriptor but those meant for it, and
/// ends with us.
#[expect(
    unsafe_code,
    reason = "the one thing between fork and exec; see the note on its safety"
)]
fn before_exec(
    command: &mut Command,
    limits: Limits,
    group: Option<Entrance>,
    inherited: Option<OwnedFd>,
    mut confinement: Option<Confinement>,
) {
    let parent = getpid();
    let enter = move || {
        setsid()?;
        if let Some(confinement) = &confinement {
            confinement.enter_network()?;
        }
        end_with(parent)?;
        descriptors::close_on_exec()?;
        if let Some(descriptor) = &inherited {
            fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        if let Some(group) = &group {
            group.enter();
        }
        limits.enter()?;
        match &mut confinement {
            Some(confinement) => confinement.enter(),
            None => Ok(()),
        }
    };
    // SAFETY: between fork and exec only what is safe in a signal handler may be done, since other
    // threads of this process may hold any lock. The closure makes system calls with what was
    // prepared before: setsid, unshare, openat, socket, ioctl, prctl, getppid, close_range, fcntl, write, getrlimit, setrlimit, capset, capget,
    // landlock_restrict_self, close, seccomp. It allocates nothing, frees nothing on the heap and takes no
    // lock.
    unsafe { command.pre_exec(enter) };
}

impl Group {
    /// Our ends of the streams, where they are pipes.
    pub(crate) fn take_output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    /// Our end of what it reads, where that is a pipe.
    pub(crate) fn take_input(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Something that can be polled for its end, where the system has such a thing.
    pub(crate) fn watch(&self) -> Option<OwnedFd> {
        #[cfg(target_os = "linux")]
        return rustix::process::pidfd_open(self.leader, PidfdFlags::empty()).ok();
        #[cfg(not(target_os = "linux"))]
        return None;
    }

    /// Has a confined program watched from outside.
    fn guard(&mut self, launch: &Launch, folders: Vec<WatchedFolder>) {
        if let (Some(_), Some(process)) = (&launch.sandbox, self.watch()) {
            self.guard.watch(Watched {
                pid: self.leader,
                process,
                limits: launch.limits,
                folders,
            });
        }
    }

    /// The resource that the program used too much of, if it was ended for that.
    pub(crate) fn excess(&self) -> Option<Excess> {
        self.guard.excess()
    }

    /// The number of the group.
    pub(crate) fn leader(&self) -> Pid {
        self.leader
    }

    /// True if the program has ended. It is not reaped by this.
    pub(crate) fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let state = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(self.leader), options))?;
        Ok(state.is_some())
    }

    /// Waits for the program to end, but not longer; then ends what is left of the group.
    /// True if it ended by itself.
    pub(crate) fn end_within(&mut self, limit: Duration) -> io::Result<(Status, bool)> {
        if let Some(status) = self.ended {
            return Ok((status, true));
        }
        if limit.is_zero() {
            let by_itself = self.has_ended()?;
            self.kill();
            return self.reap().map(|status| (status, by_itself));
        }
        let leader = self.leader;
        let by_itself = thread::scope(|scope| {
            let (send, ended) = mpsc::channel();
            scope.spawn(move || send.send(wait_without_reaping(leader)));
            let by_itself = ended.recv_timeout(limit).is_ok();
            self.kill();
            by_itself
        });
        self.reap().map(|status| (status, by_itself))
    }

    fn reap(&mut self) -> io::Result<Status> {
        watchdog::forget(self.leader);
        let status = Status::from(self.child.wait()?);
        orphans::forget(self.child.id());
        self.ended = Some(status);
        Ok(status)
    }

    /// Kills the whole group. The leader is not reaped yet, so the number is still its own.
    fn kill(&self) {
        // What is gone already cannot be killed, and need not be.
        let _ = kill_process_group(self.leader, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.kill();
            watchdog::forget(self.leader);
            // Its end is certain now; that it must be waited for is all there is to it.
            let _ = self.child.wait();
            orphans::forget(self.child.id());
        }
    }
}
