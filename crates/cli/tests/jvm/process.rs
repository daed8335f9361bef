//! Processes with a time limit: on overrun the whole group is killed.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Enough for any of our programs on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// How a process ended and what it printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    /// As a shell shows it: a signal is 128 and its number.
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A process that runs with its output collected.
pub(crate) struct Running {
    child: Child,
    group: Pid,
    ended: mpsc::Receiver<(String, String)>,
}

/// A command with nothing but the environment it needs.
#[expect(clippy::disallowed_methods, reason = "the commands under test")]
pub(crate) fn command(program: impl AsRef<Path>, home: &Path) -> Command {
    let mut command = Command::new(program.as_ref());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("LC_ALL", "C.UTF-8")
        .env("NO_COLOR", "1")
        .current_dir(home);
    command
}

/// Runs a command to its end.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> Ended {
    Running::start(command).end()
}

impl Running {
    /// The process itself.
    pub(crate) fn leader(&self) -> Pid {
        self.group
    }

    #[track_caller]
    pub(crate) fn start(command: &mut Command) -> Running {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // Tests that run beside this one reap what their programs leave behind.
        let mut child =
            culprit_jvm::start(command).unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let group = Pid::from_child(&child);
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (send, ended) = mpsc::channel();
        thread::spawn(move || {
            let err = thread::spawn(move || read(err));
            let out = read(out);
            // The test may have given up on the process: then nobody listens.
            let _ = send.send((out, err.join().unwrap()));
        });
        Running {
            child,
            group,
            ended,
        }
    }

    /// Waits until the process and all that hold its streams have ended.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ended {
        let texts = self.ended.recv_timeout(LIMIT);
        if texts.is_err() {
            // A JVM that still listens says what its threads do.
            let _ = kill_process_group(self.group, Signal::QUIT);
            let _ = self.child.wait();
            let _ = kill_process_group(self.group, Signal::KILL);
        }
        let status = self.child.wait().unwrap();
        culprit_jvm::forget(self.child.id());
        let (out, err) = texts.unwrap_or_else(|_| {
            let (out, err) = self.ended.recv_timeout(LIMIT).unwrap_or_default();
            panic!("still running after {LIMIT:?}\nout: {out}\nerr: {err}")
        });
        Ended {
            status: i32::from(culprit_jvm::Status::from(status).shell_code()),
            out,
            err,
        }
    }
}

fn read(mut from: impl Read) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
