//! Running a command as if the user had typed it without us.
//!
//! The child stays in our process group and keeps our streams, so that a terminal treats it as
//! it would the bare command: Ctrl-C, Ctrl-\ and Ctrl-Z reach it directly, and it may read the
//! keyboard. We outlive it to tell how it ended. A signal that somebody sends to us alone is
//! passed on to the child; one the terminal sent has reached the child already and is not
//! repeated, because a second Ctrl-C means something else to many programs.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use crate::{KeptInput, Status, TargetError, orphans, starter};

/// Signals that would end us before the child, and that somebody may mean for the child.
const PASSED_ON: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// The error for a file that is neither a binary nor a script that the system can start.
const NOEXEC: i32 = rustix::io::Errno::NOEXEC.raw_os_error();

/// A command to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetCommand {
    /// The file to start.
    pub file: PathBuf,
    /// The name it is started under (its `argv[0]`), as the user typed it.
    pub name: OsString,
    pub args: Vec<OsString>,
    /// Variables to set besides those it inherits.
    pub env: Vec<(OsString, OsString)>,
}

impl TargetCommand {
    /// Runs the command to its end. It goes on when this process is killed, as it would without us.
    pub fn run(&self) -> Result<Status, TargetError> {
        self.run_with(&|_| Ok(()), &|_| {})
    }

    /// The same with what it prints in a file, in the order in which it does, and with an input of its own. It ends
    /// with this process: nobody else waits for it.
    pub fn run_into(&self, output: &File, input: &KeptInput) -> Result<Status, TargetError> {
        let prepare = |command: &mut Command| {
            let (out, err) = (output.try_clone()?, output.try_clone()?);
            command.stdin(input.stream()?).stdout(out).stderr(err);
            starter::ends_with_us(command);
            Ok(())
        };
        let ended = self.run_with(&prepare, &|child| input.pass(child.stdin.take()));
        input.end();
        ended
    }

    fn run_with(
        &self,
        prepare: Prepare<'_>,
        begin: &dyn Fn(&mut Child),
    ) -> Result<Status, TargetError> {
        let child = match self.start(prepare) {
            // A script without a first line that names its interpreter: a shell runs it itself.
            Err(error) if error.raw_os_error() == Some(NOEXEC) => self.start_as_script(prepare),
            started => started,
        };
        let mut child = child.map_err(|error| TargetError::Start {
            program: self.file.clone(),
            error,
        })?;
        begin(&mut child);
        watch(child).map_err(TargetError::Watch)
    }

    fn start(&self, prepare: Prepare<'_>) -> io::Result<Child> {
        use std::os::unix::process::CommandExt;
        let mut command = command(&self.file);
        command
            .arg0(&self.name)
            .args(&self.args)
            .envs(self.env.iter().map(|(key, value)| (key, value)));
        prepare(&mut command)?;
        orphans::spawn(command)
    }

    fn start_as_script(&self, prepare: Prepare<'_>) -> io::Result<Child> {
        let mut command = command("/bin/sh");
        command
            .arg(&self.file)
            .args(&self.args)
            .envs(self.env.iter().map(|(key, value)| (key, value)));
        prepare(&mut command)?;
        orphans::spawn(command)
    }
}

/// Sets up a command that is about to be started.
type Prepare<'p> = &'p dyn Fn(&mut Command) -> io::Result<()>;

/// The one door to new processes.
#[expect(
    clippy::disallowed_methods,
    reason = "this crate owns the starting of processes"
)]
pub(crate) fn command(file: impl AsRef<OsStr>) -> Command {
    Command::new(file)
}

/// Waits for the child, passing signals on meanwhile.
///
/// The handlers are set up only now, after the child has started: it must inherit the signals
/// that we found ignored (as under `nohup`), and a handler would hide them.
fn watch(mut child: Child) -> io::Result<Status> {
    let pid = Pid::from_child(&child);
    let mut signals = SignalsInfo::<WithOrigin>::new(PASSED_ON)?;
    let handle = signals.handle();
    // `None` once the child may be reaped: its number could then belong to somebody else.
    let receiver = Arc::new(Mutex::new(Some(pid)));
    let forwarder = thread::spawn({
        let receiver = Arc::clone(&receiver);
        move || {
            for origin in signals.forever() {
                let from_terminal = origin.cause == Cause::Kernel;
                if let (false, Some(pid), Some(signal)) = (
                    from_terminal,
                    *lock(&receiver),
                    Signal::from_named_raw(origin.signal),
                ) {
                    // The child may be gone already: then there is nobody to tell.
                    let _ = kill_process(pid, signal);
                }
            }
        }
    });
    let ended = wait_without_reaping(pid);
    *lock(&receiver) = None;
    let status = child.wait();
    orphans::forget(child.id());
    handle.close();
    // A panic of the forwarder has been reported by then and says nothing about the child.
    let _ = forwarder.join();
    ended?;
    Ok(status?.into())
}

pub(crate) fn wait_without_reaping(pid: Pid) -> io::Result<()> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options))?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::path::Path;

    /// Writes an executable file from another process. Had this one the file open for writing,
    /// a child of a parallel test could inherit that, and the file would be too busy to start.
    pub(crate) fn write_program(file: &Path, text: &str) {
        let script = "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\"";
        let mut shell = command("/bin/sh");
        shell.args(["-c", script]).args([file, Path::new(text)]);
        // A parallel test that ends orphans must not take it for one.
        let mut child = orphans::spawn(shell).unwrap();
        let status = child.wait();
        orphans::forget(child.id());
        assert!(status.unwrap().success());
    }

    fn shell(script: &str) -> TargetCommand {
        TargetCommand {
            file: "/bin/sh".into(),
            name: "sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("CULPRIT_TEST".into(), "7".into())],
        }
    }

    #[track_caller]
    fn check(script: &str, expect: Status) {
        assert_eq!(shell(script).run().unwrap(), expect, "{script}");
    }

    #[test]
    fn the_status_comes_through_exactly() {
        check("exit 0", Status::Exited(0));
        check("exit 3", Status::Exited(3));
        check("exit 255", Status::Exited(255));
        check("exit $CULPRIT_TEST", Status::Exited(7));
        check("test \"$0\" = sh", Status::Exited(0));
    }

    #[test]
    fn death_by_signal_is_told_from_a_status_and_reads_as_in_a_shell() {
        check("kill -9 $$", Status::Killed(9));
        check("kill -TERM $$", Status::Killed(15));
        assert_eq!(Status::Killed(9).shell_code(), 137);
        assert_eq!(Status::Exited(137).shell_code(), 137);
    }

    #[test]
    fn a_script_without_a_shebang_runs_as_in_a_shell() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("script");
        write_program(&file, "exit $1\n");
        let target = TargetCommand {
            file,
            args: vec!["11".into()],
            ..shell("")
        };
        assert_eq!(target.run().unwrap(), Status::Exited(11));
    }

    #[test]
    fn a_program_that_cannot_start_is_an_error() {
        let target = TargetCommand {
            file: "/nowhere/java".into(),
            ..shell("")
        };
        let error = target.run().unwrap_err();
        assert!(matches!(error, TargetError::Start { .. }), "{error}");
    }
}
