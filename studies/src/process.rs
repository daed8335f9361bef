//! Running the programs of a study: each in a process group of its own, its output in files,
//! and with a time limit after which the whole group is killed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use culprit_jvm::Status;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The time limit of a tool.
const TOOL_LIMIT: Duration = Duration::from_secs(5 * 60);

/// A program to run.
#[derive(Clone, Debug)]
pub struct Run {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// The folder it runs in.
    pub folder: PathBuf,
    /// Variables to set besides those it inherits.
    pub env: Vec<(OsString, OsString)>,
    /// Files for its output.
    pub stdout: PathBuf,
    pub stderr: PathBuf,
    pub limit: Duration,
}

/// The end of a program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Outcome {
    Ended {
        status: Status,
        time: Duration,
        /// Processor time of the program and of the children it waited for, in steps of 10 ms;
        /// `None` where the system has no `/proc`.
        cpu: Option<Duration>,
    },
    TimedOut,
}

impl Run {
    /// Runs the program to its end or to the time limit.
    #[expect(
        clippy::disallowed_methods,
        reason = "a study runs whole commands from outside, with limits that targets do not have"
    )]
    pub fn run(&self) -> anyhow::Result<Outcome> {
        let create = |file: &Path| {
            File::create(file).with_context(|| format!("cannot write {}", file.display()))
        };
        let start = Instant::now();
        let mut child = Command::new(&self.program)
            .args(&self.args)
            .current_dir(&self.folder)
            .envs(self.env.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::null())
            .stdout(create(&self.stdout)?)
            .stderr(create(&self.stderr)?)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        let group = Pid::from_child(&child);
        let (sender, ended) = mpsc::channel();
        let waiter = thread::spawn(move || {
            // What the system knows of a process is gone once the process has been waited for.
            let ended = waitid(
                WaitId::Pid(group),
                WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
            );
            let time = start.elapsed();
            let cpu = ended.ok().and_then(|_| cpu_time(group));
            // Nobody listens any more after a time limit.
            let _ = sender.send((child.wait(), time, cpu));
        });
        match ended.recv_timeout(self.limit) {
            Ok((status, time, cpu)) => Ok(Outcome::Ended {
                status: status?.into(),
                time,
                cpu,
            }),
            Err(_) => {
                kill_process_group(group, Signal::KILL)
                    .with_context(|| format!("cannot stop {}", self.program.display()))?;
                // The group is dead, so the wait ends; its result is no news.
                let _ = waiter.join();
                Ok(Outcome::TimedOut)
            }
        }
    }
}

/// The processor time of this process and of its children, those that live and those that it
/// waited for, in steps of 10 ms; `None` where the system does not tell.
pub fn family_cpu_time() -> Option<Duration> {
    let mut sum = cpu_time_in("/proc/self/stat")?;
    for task in fs::read_dir("/proc/self/task").ok()? {
        let children = fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        for child in children.split_whitespace() {
            sum += cpu_time_in(&format!("/proc/{child}/stat"))?;
        }
    }
    Some(sum)
}

/// The processor time of a process that has ended and was not waited for yet.
fn cpu_time(process: Pid) -> Option<Duration> {
    cpu_time_in(&format!("/proc/{}/stat", process.as_raw_nonzero()))
}

fn cpu_time_in(file: &str) -> Option<Duration> {
    let ticks = cpu_ticks(&fs::read_to_string(file).ok()?)?;
    let per_second = rustix::param::clock_ticks_per_second();
    Some(Duration::from_millis(ticks * 1000 / per_second))
}

/// The sum of `utime`, `stime`, `cutime` and `cstime`; the name before them may hold anything.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let ticks = fields.split(' ').skip(11).take(4).map(str::parse::<u64>);
    ticks.sum::<Result<u64, _>>().ok()
}

/// The words of a command line, of whatever types.
pub fn words<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Vec<OsString> {
    words
        .into_iter()
        .map(|word| word.as_ref().to_owned())
        .collect()
}

/// Runs a program that needs a short time and has nothing to say unless it fails.
pub fn tool(program: &Path, args: Vec<OsString>, folder: &Path) -> anyhow::Result<()> {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    // Several may run at the same time.
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    let log = |kind: &str| {
        std::env::temp_dir().join(format!("study-{}-{run}-{name}.{kind}", std::process::id()))
    };
    let (stdout, stderr) = (log("out"), log("err"));
    let outcome = Run {
        program: program.to_owned(),
        args,
        folder: folder.to_owned(),
        env: Vec::new(),
        stdout: stdout.clone(),
        stderr: stderr.clone(),
        limit: TOOL_LIMIT,
    }
    .run()?;
    let said = fs::read_to_string(&stderr).unwrap_or_default();
    remove(&stdout)?;
    remove(&stderr)?;
    match outcome {
        Outcome::Ended { status, .. } if status.is_success() => Ok(()),
        Outcome::Ended { status, .. } => bail!("{name} failed with status {status}: {said}"),
        Outcome::TimedOut => bail!("{name} did not end: {said}"),
    }
}

/// Removes a file, or a folder with all that is in it, if it is there.
pub fn remove(path: &Path) -> anyhow::Result<()> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_family_does_not_run_backwards() {
        let before = family_cpu_time();
        assert!(before.is_some() || !Path::new("/proc/self/stat").exists());
        assert!(family_cpu_time() >= before);
    }

    fn shell(folder: &Path, script: &str, limit: Duration) -> Run {
        Run {
            program: "/bin/sh".into(),
            args: words(["-c", script]),
            folder: folder.to_owned(),
            env: vec![("STUDY".into(), "seen".into())],
            stdout: folder.join("out"),
            stderr: folder.join("err"),
            limit,
        }
    }

    #[test]
    fn output_status_and_environment_come_through() {
        let dir = tempfile::tempdir().unwrap();
        let run = shell(
            dir.path(),
            "echo $STUDY; echo bad >&2; exit 3",
            Duration::from_secs(60),
        );
        let outcome = run.run().unwrap();
        let Outcome::Ended { status, .. } = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(status, Status::Exited(3));
        assert_eq!(
            fs::read_to_string(dir.path().join("out")).unwrap(),
            "seen\n"
        );
        assert_eq!(fs::read_to_string(dir.path().join("err")).unwrap(), "bad\n");
    }

    #[test]
    fn processor_time_counts_children_and_odd_names_do_not_matter() {
        let stat = "42 (a) b (c)) Z 1 42 42 0 -1 4 1 2 3 4 150 25 300 7 20 0 1 0 99 0";
        assert_eq!(cpu_ticks(stat), Some(150 + 25 + 300 + 7));
        assert_eq!(cpu_ticks("42 (a"), None);
    }

    #[test]
    fn the_time_limit_ends_the_whole_group() {
        let dir = tempfile::tempdir().unwrap();
        let run = shell(dir.path(), "sleep 600 & wait", Duration::from_millis(50));
        assert_eq!(run.run().unwrap(), Outcome::TimedOut);
    }
}
