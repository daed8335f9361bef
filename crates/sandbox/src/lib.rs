//! The system calls that confined processes may make, as seccomp filters.
//!
//! There are two of them, because a process that is to become a JVM must still be able to
//! execute it. [`Filter::for_launch`] is entered before and lists what is allowed: files, memory and
//! threads of its own, but no network, no other process, nothing of the system. [`seal`] is called
//! from within, when the JVM is up and before it runs anything of the subject: no programs, no
//! signals to others.
//!
//! A filter sees no paths, so it cannot restrict the files that a process writes to: that is Landlock's
//! part, in `crates/jvm`. This crate is small because the agent carries it.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(not(target_os = "linux"))]
#[path = "elsewhere.rs"]
mod filter;
#[cfg(target_os = "linux")]
mod rules;

pub use filter::{Filter, FilterError};

/// The permissions of a confined process beyond those of every JVM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Permissions {
    pub network: Network,
    /// Start programs and processes.
    pub programs: bool,
    /// Change modes, owners and times of files. Without this permission, such calls succeed and change nothing.
    pub attributes: bool,
    /// Share memory, and make files of memory, which no limit of a process counts.
    pub shared_memory: bool,
}

/// The network permissions of a confined process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Network {
    #[default]
    Nothing,
    /// Wait for TCP connections; Landlock says on which ports.
    Listen,
    /// Use TCP and UDP. The process is to be on a network of its own.
    Loopback,
}

/// Forbids this process, all its threads included, to start programs or processes and to send
/// signals to others. Threads it may still start. There is no way back.
pub fn seal() -> Result<(), FilterError> {
    Filter::for_seal(std::process::id())?.enter_with_all_threads()
}
