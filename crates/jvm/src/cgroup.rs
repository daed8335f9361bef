//! A control group of a process: the kernel itself sees to it that its memory, shared memory included, and
//! the number of its processes stay within limits.
//!
//! That needs a group (version 2) that this user may divide and whose parts have the controller of memory, as
//! in a session of systemd. Where there is none, the watcher alone looks at the process.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Limits;

/// The folder of control groups.
const ROOT: &str = "/sys/fs/cgroup";

/// The prefix of the names of Culprit's groups.
const PREFIX: &str = "culprit-";

/// Threads that a JVM and a program in it may have.
const MOST_TASKS: u64 = 4096;

/// A group that a process can enter. It is removed when this is dropped, after its process has ended.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
}

/// The way into a group.
#[derive(Debug)]
pub(crate) struct Entrance(File);

impl Cgroup {
    /// Makes a group for a process, where that is possible.
    pub(crate) fn prepare(limits: &Limits) -> Option<(Cgroup, Entrance)> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        Cgroup::prepare_in(Path::new(ROOT), &own, limits)
    }

    /// The same below a folder, for a process in this group.
    fn prepare_in(root: &Path, own: &str, limits: &Limits) -> Option<(Cgroup, Entrance)> {
        let memory = limits.memory?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let own = root.join(own);
        let mut around = own.ancestors().take_while(|it| it.starts_with(root));
        let parent = around.find(|group| divides_memory(group))?;
        sweep(parent);
        let group = Cgroup::new(parent).ok()?;
        group.set("memory.max", memory).ok()?;
        // There may be no swap, or no limits of processes: memory is what matters.
        let _ = group.set("memory.swap.max", 0);
        let _ = group.set("pids.max", MOST_TASKS);
        let mut way = File::options();
        let way = way.write(true).create(true).truncate(false);
        let entrance = way.open(group.folder.join("cgroup.procs")).ok()?;
        Some((group, Entrance(entrance)))
    }

    fn new(parent: &Path) -> io::Result<Cgroup> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&folder)?;
        Ok(Cgroup { folder })
    }

    fn set(&self, name: &str, value: u64) -> io::Result<()> {
        let path = self.folder.join(name);
        let mut file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        file.write_all(value.to_string().as_bytes())
    }

    /// True if the kernel ended a process for want of memory.
    pub(crate) fn has_run_out(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        let kills = events
            .lines()
            .find_map(|line| line.strip_prefix("oom_kill "));
        kills.is_some_and(|count| count.trim() != "0")
    }
}

impl Entrance {
    /// Puts this process into the group. Neither allocates nor locks.
    pub(crate) fn enter(&self) {
        // Where it is refused, the other limits hold all the same.
        let _ = rustix::io::write(self.0.as_fd(), b"0");
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A group with a process that is still ending is for the next sweep.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// True if parts of a group can have limits of memory, and we may make some.
fn divides_memory(group: &Path) -> bool {
    let parts = fs::read_to_string(group.join("cgroup.subtree_control")).unwrap_or_default();
    let may_move = || File::options().write(true).open(group.join("cgroup.procs"));
    parts.split_whitespace().any(|name| name == "memory") && may_move().is_ok()
}

/// Removes groups of processes that were killed. Those in use cannot be removed.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let owner = owner.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree as systemd makes it for a session: the group of the process cannot be divided, that around it
    /// can be. The kernel makes the files of a new group; here the one who writes does.
    fn tree(controllers: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("user.slice/app.slice/shell.scope");
        fs::create_dir_all(&own).unwrap();
        for (group, parts) in [(own.as_path(), ""), (own.parent().unwrap(), controllers)] {
            fs::write(group.join("cgroup.subtree_control"), parts).unwrap();
            fs::write(group.join("cgroup.procs"), "").unwrap();
        }
        root
    }

    const OWN: &str = "12:cpu:/old\n0::/user.slice/app.slice/shell.scope\n";

    fn limits(memory: Option<u64>) -> Limits {
        Limits {
            memory,
            ..Limits::default()
        }
    }

    #[test]
    fn a_group_is_made_beside_ours_with_the_limits_in_place_before_anybody_enters() {
        let root = tree("cpu memory pids");
        let slice = root.path().join("user.slice/app.slice");
        let unused = slice.join(format!("{PREFIX}{}-0", u32::MAX));
        fs::create_dir(&unused).unwrap();
        fs::create_dir(slice.join("culprit-of-somebody")).unwrap();
        let made = Cgroup::prepare_in(root.path(), OWN, &limits(Some(1 << 30)));
        let (group, entrance) = made.unwrap();
        assert_eq!(group.folder.parent(), Some(slice.as_path()));
        let read = |name: &str| fs::read_to_string(group.folder.join(name)).unwrap();
        assert_eq!(read("memory.max"), "1073741824");
        assert_eq!(read("memory.swap.max"), "0");
        assert_eq!(read("pids.max"), "4096");
        assert_eq!(read("cgroup.procs"), "");
        entrance.enter();
        assert_eq!(read("cgroup.procs"), "0");
        assert!(!unused.exists());
        assert!(slice.join("culprit-of-somebody").exists());
    }

    #[test]
    fn an_end_for_want_of_memory_is_known() {
        let root = tree("memory");
        let (group, _) = Cgroup::prepare_in(root.path(), OWN, &limits(Some(1))).unwrap();
        assert!(!group.has_run_out());
        let events = group.folder.join("memory.events");
        fs::write(&events, "low 0\noom 3\noom_kill 0\n").unwrap();
        assert!(!group.has_run_out());
        fs::write(&events, "low 0\noom 3\noom_kill 1\n").unwrap();
        assert!(group.has_run_out());
    }

    #[test]
    fn without_the_controller_or_a_limit_there_is_no_group() {
        let root = tree("cpu pids");
        assert!(Cgroup::prepare_in(root.path(), OWN, &limits(Some(1))).is_none());
        let root = tree("memory");
        assert!(Cgroup::prepare_in(root.path(), OWN, &limits(None)).is_none());
        assert!(Cgroup::prepare_in(root.path(), "1:memory:/x\n", &limits(Some(1))).is_none());
    }
}
