//! Watches from outside what a confined process uses up, and ends it when that is too much.
//!
//! Resource limits of the kernel count the private memory of a process and the length of each file. They
//! count neither memory that is shared nor the number of files. So a thread looks at the process and at the
//! folders that it can write to, ten times a second: a leap in between is seen when it is over, which is why
//! this comes besides those limits and not instead of them.

use std::fmt;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chmod, fstat, openat, statat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, pidfd_send_signal};

use crate::{Limits, untrusted};

/// The interval between two checks.
const PAUSE: Duration = Duration::from_millis(100);

/// A look that takes long, at many files, is followed by a pause so many times as long.
const REST: u32 = 20;

/// All files together may be so many times as long as one.
const FILES_OF_LIMIT: u64 = 2;

/// Folders within each other that there may be.
const DEPTH: usize = 64;

/// The resource that a process used too much of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// It had more memory than this, in bytes.
    Memory(u64),
    /// It wrote more than this, in bytes.
    Disk(u64),
    /// It made more files than this.
    Files(u64),
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Memory(most) => write!(f, "used more than {} MB of memory", most >> 20),
            Excess::Disk(most) => write!(f, "wrote more than {} MB to its folder", most >> 20),
            Excess::Files(most) => write!(f, "made more than {most} files in its folder"),
        }
    }
}

/// Watches one process until this is dropped.
#[derive(Debug)]
pub(crate) struct Watcher {
    excess: Arc<OnceLock<Excess>>,
    /// Closed when nobody needs it any more.
    line: Option<Sender<()>>,
    /// Set at the same time: a look at many files ends early.
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The process and folders to watch.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) pid: Pid,
    /// Names the process even when it has ended and its number is another's.
    pub(crate) process: OwnedFd,
    pub(crate) limits: Limits,
    pub(crate) folders: Vec<WatchedFolder>,
}

/// A folder that a process may write to, with its usage before the process was started: a count that is taken later
/// may contain files of the process.
#[derive(Debug)]
pub(crate) struct WatchedFolder {
    path: PathBuf,
    before: Usage,
}

impl WatchedFolder {
    pub(crate) fn before_start(path: &Path, limits: &Limits) -> WatchedFolder {
        let is_limited = limits.file_size.is_some();
        let look = || usage(path, most_files(limits), &AtomicBool::new(false));
        WatchedFolder {
            path: path.to_owned(),
            before: is_limited.then(look).unwrap_or_default(),
        }
    }
}

/// Files and folders that there may be in a folder. No more are looked at.
fn most_files(limits: &Limits) -> u64 {
    limits.files.unwrap_or(u64::MAX)
}

impl Watcher {
    /// `None` where nothing is limited, or there is no thread for it.
    pub(crate) fn start(watched: Watched) -> Option<Watcher> {
        if watched.limits.memory.is_none() && watched.limits.file_size.is_none() {
            return None;
        }
        let excess = Arc::new(OnceLock::new());
        let (line, ended) = channel();
        let found = Arc::clone(&excess);
        let is_over = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_over);
        let watch = move || {
            let look = |folder: &Path| usage(folder, most_files(&watched.limits), &stopped);
            let mut pause = PAUSE;
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let began = Instant::now();
                let excess = watched.excess(&look);
                pause = PAUSE.max(began.elapsed() * REST);
                if let Some(excess) = excess {
                    // Nobody else sets it.
                    let _ = found.set(excess);
                    let _ = pidfd_send_signal(&watched.process, Signal::KILL);
                    return;
                }
            }
        };
        let thread = thread::Builder::new()
            .name("watcher".to_owned())
            .spawn(watch)
            .ok()?;
        Some(Watcher {
            excess,
            line: Some(line),
            is_over,
            thread: Some(thread),
        })
    }

    /// Why the process was ended, if it was from here.
    pub(crate) fn excess(&self) -> Option<Excess> {
        self.excess.get().copied()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.line = None;
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of it has been reported.
            let _ = thread.join();
        }
    }
}

impl Watched {
    fn excess(&self, look: &dyn Fn(&Path) -> Usage) -> Option<Excess> {
        if let Some(most) = self.limits.memory
            && memory(self.pid, most).is_some_and(|used| used > most)
        {
            return Some(Excess::Memory(most));
        }
        let most = self.limits.file_size?.saturating_mul(FILES_OF_LIMIT);
        let mut bytes = without_name(self.pid);
        for WatchedFolder { path, before } in &self.folders {
            let now = look(path);
            bytes = bytes.saturating_add(now.bytes.saturating_sub(before.bytes));
            let most = most_files(&self.limits);
            if now.files > most && before.files <= most {
                return Some(Excess::Files(most));
            }
        }
        (bytes > most).then_some(Excess::Disk(most))
    }
}

/// Bytes of memory that a process has filled, private or shared. Where that is more than this, what is mapped
/// more than once counts once.
fn memory(pid: Pid, most: u64) -> Option<u64> {
    let pid = pid.as_raw_nonzero();
    let read = |name: &str| {
        let path = format!("/proc/{pid}/{name}");
        untrusted::read_text(Path::new(&path), 64 << 10).ok()
    };
    let sum = |text: &str, fields: [&str; 2]| {
        let [first, second] = fields.map(|name| kilobytes(text, name));
        Some(first? + second?)
    };
    let resident = sum(&read("status")?, ["RssAnon:", "RssShmem:"])?;
    if resident <= most {
        return Some(resident);
    }
    // The kernel walks all pages for this.
    let exact = read("smaps_rollup").and_then(|text| sum(&text, ["Pss_Anon:", "Pss_Shmem:"]));
    Some(exact.unwrap_or(resident))
}

/// A line of a file of the kernel, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(number << 10)
}

/// Bytes of files that a process has open and that have no name any more, or never had one.
fn without_name(pid: Pid) -> u64 {
    let open = fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()));
    let files = open.into_iter().flatten().flatten();
    let files = files.filter_map(|entry| fs::metadata(entry.path()).ok());
    let bytes = files.filter(|file| file.is_file() && file.nlink() == 0);
    bytes.map(|file| file.blocks().saturating_mul(512)).sum()
}

/// The space and the number of files of a folder.
#[derive(Clone, Copy, Default, Debug)]
struct Usage {
    bytes: u64,
    files: u64,
}

/// The usage of a folder and its contents, without following links. At most `most` files are examined, and none
/// when the watch is over; folders that are nested too deeply count as more than the most.
fn usage(folder: &Path, most: u64, is_over: &AtomicBool) -> Usage {
    let mut usage = Usage::default();
    let mut open: Vec<(OwnedFd, Dir)> = opened(CWD, folder).into_iter().collect();
    while let Some((at, entries)) = open.last_mut() {
        let Some(entry) = entries.next() else {
            open.pop();
            continue;
        };
        let Ok(entry) = entry else { continue };
        let name = entry.file_name();
        if [c".", c".."].contains(&name) {
            continue;
        }
        let Ok(known) = statat(&*at, name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        usage.files += 1;
        let blocks = u64::try_from(known.st_blocks).unwrap_or(0);
        usage.bytes = usage.bytes.saturating_add(blocks.saturating_mul(512));
        if FileType::from_raw_mode(known.st_mode) == FileType::Directory {
            let inner = opened(at.as_fd(), name);
            open.extend(inner);
        }
        if open.len() > DEPTH {
            usage.files = u64::MAX;
        }
        if usage.files > most || is_over.load(Ordering::Relaxed) {
            break;
        }
    }
    usage
}

/// Opens a folder to list it. Its owner may write to one that it cannot list: then it gets that right.
fn opened<P: rustix::path::Arg + Copy>(at: impl AsFd + Copy, name: P) -> Option<(OwnedFd, Dir)> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match openat(at, name, flags | OFlags::RDONLY, Mode::empty()) {
        Err(Errno::ACCESS) => {
            let place = openat(at, name, flags | OFlags::PATH, Mode::empty()).ok()?;
            let mode =
                Mode::from_raw_mode(fstat(&place).ok()?.st_mode) & Mode::from_raw_mode(0o7777);
            if !mode.contains(Mode::WUSR | Mode::XUSR) {
                return None;
            }
            let path = format!("/proc/self/fd/{}", place.as_raw_fd());
            chmod(path, mode | Mode::RUSR).ok()?;
            openat(&place, c".", flags | OFlags::RDONLY, Mode::empty()).ok()?
        }
        folder => folder.ok()?,
    };
    let entries = Dir::read_from(&folder).ok()?;
    Some((folder, entries))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_measured_without_what_is_behind_links() {
        let folder = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("large"), vec![1; 1 << 20]).unwrap();
        symlink(other.path(), folder.path().join("link")).unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        fs::write(folder.path().join("inner/file"), vec![1; 1 << 16]).unwrap();
        let most = 20_000;
        let look = || usage(folder.path(), most, &AtomicBool::new(false));
        let found = look();
        assert_eq!(found.files, 3);
        assert!((1 << 16..1 << 18).contains(&found.bytes), "{found:?}");
        // Files may be long and take nothing.
        let sparse = fs::File::create(folder.path().join("sparse")).unwrap();
        sparse.set_len(1 << 40).unwrap();
        assert!(look().bytes < 1 << 18);
        let mut deep = folder.path().to_owned();
        for _ in 0..=DEPTH {
            deep.push("d");
        }
        fs::create_dir_all(&deep).unwrap();
        assert!(look().files > most);
        assert_eq!(usage(folder.path(), most, &AtomicBool::new(true)).files, 1);
    }

    #[test]
    fn files_without_a_name_count() {
        let us = rustix::process::getpid();
        let before = without_name(us);
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &vec![1; 1 << 20]).unwrap();
        assert!(without_name(us) >= before + (1 << 20));
    }

    #[test]
    fn a_process_that_uses_too_much_is_ended_and_the_reason_is_known() {
        let mut sleep = crate::target::command("/bin/sleep");
        sleep.arg("1000");
        let mut child = crate::orphans::spawn(sleep).unwrap();
        let pid = Pid::from_child(&child);
        let limits = Limits {
            memory: Some(1),
            ..Limits::default()
        };
        let watcher = Watcher::start(Watched {
            pid,
            process: rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())
                .unwrap(),
            limits,
            folders: Vec::new(),
        });
        assert!(!child.wait().unwrap().success());
        crate::orphans::forget(child.id());
        let excess = watcher.unwrap().excess();
        assert_eq!(excess, Some(Excess::Memory(1)));
    }

    #[test]
    fn memory_is_what_a_process_has_filled() {
        let us = rustix::process::getpid();
        let filled = vec![1_u8; 32 << 20];
        let used = memory(us, u64::MAX).unwrap();
        assert!(used >= filled.len() as u64, "{used}");
        let exact = memory(us, 0).unwrap();
        assert!(exact >= filled.len() as u64, "{exact}");
    }
}
