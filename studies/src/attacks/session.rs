//! One run of `culprit`, watched from outside: how long it takes, what its processes use, and what it leaves.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use culprit_jvm::Status;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// The interval between two observations.
const PULSE: Duration = Duration::from_millis(50);

/// The time that processes may take to end after it.
const GRACE: Duration = Duration::from_secs(10);

/// A command of `culprit`, and where it runs.
pub struct Session {
    pub culprit: PathBuf,
    pub args: Vec<OsString>,
    /// Its own folder: the current one of the command. Its scratch folders are in `tmp` there.
    pub folder: PathBuf,
    pub env: Vec<(OsString, OsString)>,
    /// It should have ended after so long.
    pub limit: Duration,
}

/// The observations.
#[derive(Debug, Default)]
pub struct Seen {
    /// `None` if it did not end.
    pub status: Option<Status>,
    pub took: Duration,
    /// Bytes of memory of all its processes, at the worst moment that was seen.
    pub memory: u64,
    /// The same of the files in its scratch folders.
    pub disk: u64,
    pub printed: String,
    /// Processes and files that it left.
    pub left: Vec<String>,
}

/// The action during the watch.
pub enum Order {
    GoOn,
    /// Kill it, and nothing else.
    Kill,
}

impl Session {
    pub fn scratch(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// Runs it to its end or to the limit, and asks at each look what to do.
    pub fn watch(&self, mut look: impl FnMut() -> anyhow::Result<Order>) -> anyhow::Result<Seen> {
        let scratch = self.scratch();
        fs::create_dir_all(&scratch)?;
        let out = self.folder.join("printed");
        let mut child = self.start(&out)?;
        let began = Instant::now();
        let mut seen = Seen::default();
        let mut measured = began;
        while seen.status.is_none() && began.elapsed() < self.limit {
            seen.status = child.try_wait()?.map(Status::from);
            if matches!(look()?, Order::Kill) {
                // It may have ended by itself.
                let _ = kill_process(Pid::from_child(&child), Signal::KILL);
                seen.status = Some(child.wait()?.into());
            }
            if measured.elapsed() > PULSE * 4 {
                measured = Instant::now();
                seen.memory = seen.memory.max(memory_of(&self.processes(&child)));
                seen.disk = seen.disk.max(size_of(&scratch));
            }
            thread::sleep(PULSE);
        }
        seen.took = began.elapsed();
        self.await_end(&mut seen, &child);
        if seen.status.is_none() {
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            child.wait()?;
        }
        for process in self.processes(&child) {
            let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
            // It may end in this moment.
            let _ = pid.map(|pid| kill_process(pid, Signal::KILL));
        }
        for entry in fs::read_dir(&scratch)? {
            let name = entry?.file_name();
            seen.left.push(format!(
                "{} in the temporary folder",
                name.to_string_lossy()
            ));
        }
        seen.printed = String::from_utf8_lossy(&fs::read(&out)?).into_owned();
        Ok(seen)
    }

    /// Processes end a moment after it.
    fn await_end(&self, seen: &mut Seen, child: &Child) {
        if seen.status.is_none() {
            return;
        }
        let began = Instant::now();
        while began.elapsed() < GRACE && !self.processes(child).is_empty() {
            thread::sleep(PULSE);
        }
        for process in self.processes(child) {
            let line = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let program = line.split('\0').next().unwrap_or_default().to_owned();
            seen.left.push(format!("process {program}"));
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a study runs whole commands from outside, and watches them"
    )]
    fn start(&self, out: &Path) -> anyhow::Result<Child> {
        let printed = File::create(out)?;
        Command::new(&self.culprit)
            .args(&self.args)
            .current_dir(&self.folder)
            .env("TMPDIR", self.scratch())
            .env("XDG_CACHE_HOME", self.folder.join("cache"))
            .envs(self.env.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::null())
            .stdout(printed.try_clone()?)
            .stderr(printed)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", self.culprit.display()))
    }

    /// The processes that speak of its scratch folder, and itself.
    fn processes(&self, child: &Child) -> Vec<u32> {
        let mark = self.scratch().display().to_string();
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = all.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
        numbers
            .filter(|process| {
                let read = |name: &str| fs::read(format!("/proc/{process}/{name}"));
                let has_mark = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).contains(&mark);
                *process != child.id()
                    && *process != std::process::id()
                    && read("cmdline").is_ok_and(has_mark)
            })
            .collect()
    }
}

/// The memory that is resident, shared memory included.
fn memory_of(processes: &[u32]) -> u64 {
    let resident = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let line = status.lines().find(|it| it.starts_with("VmRSS:"))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        // Files of memory are resident in nobody, but somebody has them open.
        Some((kilobytes << 10) + files_of_memory(*process))
    };
    processes.iter().filter_map(resident).sum()
}

fn files_of_memory(process: u32) -> u64 {
    let open = fs::read_dir(format!("/proc/{process}/fd"));
    let links = open.into_iter().flatten().flatten();
    let memory = links.filter(|it| {
        let target = fs::read_link(it.path()).unwrap_or_default();
        target.display().to_string().starts_with("/memfd:")
    });
    memory
        .filter_map(|it| Some(fs::metadata(it.path()).ok()?.len()))
        .sum()
}

/// The bytes of all files below.
fn size_of(folder: &Path) -> u64 {
    let mut sum = 0;
    let mut folders = vec![folder.to_owned()];
    let mut looked = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            looked += 1;
            // Where there are very many, their number is told by their disk blocks soon enough.
            if looked > 50_000 {
                return sum;
            }
            let Ok(about) = entry.path().symlink_metadata() else {
                continue;
            };
            match about.is_dir() {
                true => folders.push(entry.path()),
                false => sum += about.len(),
            }
        }
    }
    sum
}
