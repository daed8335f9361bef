//! Limits on the resources of a started program.
//!
//! Memory is limited by `RLIMIT_DATA`, the private memory that a process can write to. A JVM
//! reserves far more address space than it will ever use (`RLIMIT_AS` would have to be
//! terabytes for some collectors), but what it reserves becomes writable only when it commits it,
//! and that is what the kernel counts here: heap, metaspace, compiled code, thread stacks, memory
//! of native code. Looking at its resident size now and then would notice a leap too late.

use std::fs;
use std::io;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Limits of one process. There are no dumps of its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of memory. A small JVM needs some 100 MB besides its heap, and more with more
    /// classes and threads.
    pub memory: Option<u64>,
    /// Bytes of each file it writes. All its files together may have twice as many.
    pub file_size: Option<u64>,
    pub open_files: Option<u64>,
    /// Files and folders in each folder that it can write to.
    pub files: Option<u64>,
}

/// Memory that a program may have besides its share of the machine's.
const BESIDES: u64 = 2 << 30;

/// Files that a program of the user's may make: more than the largest repositories have.
const FILES: u64 = 4_000_000;

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: None,
            file_size: Some(256 << 20),
            open_files: Some(4096),
            files: Some(20_000),
        }
    }
}

impl Limits {
    /// No limits, for commands of the user's.
    pub const NONE: Limits = Limits {
        memory: None,
        file_size: None,
        open_files: None,
        files: None,
    };

    /// Limits for a program whose needs are not known, such as Git or a test of the user's, which writes to a folder.
    /// It may have what a JVM takes by default, a quarter of the memory, and as much again by half, for what is beside
    /// the heap; and half of the disk space that is free.
    pub fn of_machine(folder: &Path) -> Limits {
        let memory = memory_of_machine();
        let free = rustix::fs::statvfs(folder).ok();
        let free = free.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        Limits {
            memory: memory.map(|all| (all / 8).saturating_mul(3).saturating_add(BESIDES)),
            file_size: free.map(|free| free / 4),
            open_files: Some(1 << 16),
            files: Some(FILES),
        }
    }

    /// Puts this process under the limits. Neither allocates nor locks.
    pub(crate) fn enter(&self) -> io::Result<()> {
        lower(Resource::Core, Some(0))?;
        lower(Resource::Data, self.memory)?;
        lower(Resource::Fsize, self.file_size)?;
        lower(Resource::Nofile, self.open_files)
    }
}

/// Bytes of memory that this machine has.
fn memory_of_machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(number << 10)
}

/// Never above what holds already: only root may do that.
fn lower(resource: Resource, limit: Option<u64>) -> io::Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let limit = getrlimit(resource).maximum.map_or(limit, |m| m.min(limit));
    let both = Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    Ok(setrlimit(resource, both)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_the_machine_leave_room_for_a_heap_and_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits::of_machine(folder.path());
        let all = memory_of_machine().unwrap();
        let memory = limits.memory.unwrap();
        assert!(memory > all / 4 + (1 << 30), "{memory} of {all}");
        assert!(memory < all / 2 + BESIDES, "{memory} of {all}");
        assert!(limits.file_size.unwrap() > 0);
    }
}
