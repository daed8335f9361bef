//! What a started program may use up.
//!
//! Memory is limited by `RLIMIT_DATA`, the private memory that a process can write to. A JVM
//! reserves far more address space than it will ever use (`RLIMIT_AS` would have to be
//! terabytes for some collectors), but what it reserves becomes writable only when it commits it,
//! and that is what the kernel counts here: heap, metaspace, compiled code, thread stacks, memory
//! of native code. Looking at its resident size now and then would notice a leap too late.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Limits of one process. There are no dumps of its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of memory. A small JVM needs some 100 MB besides its heap, and more with more
    /// classes and threads.
    pub memory: Option<u64>,
    /// Bytes of each file it writes.
    pub file_size: Option<u64>,
    pub open_files: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            memory: None,
            file_size: Some(256 << 20),
            open_files: Some(4096),
        }
    }
}

impl Limits {
    /// Puts this process under the limits. Neither allocates nor locks.
    pub(crate) fn enter(&self) -> io::Result<()> {
        lower(Resource::Core, Some(0))?;
        lower(Resource::Data, self.memory)?;
        lower(Resource::Fsize, self.file_size)?;
        lower(Resource::Nofile, self.open_files)
    }
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
