//! A sandbox for what is generated or replayed: it may read, and write to a few folders. No
//! network, no other programs, no hold on other processes, no power of root.
//!
//! Landlock says which files may be written and executed, seccomp (`crates/sandbox`) which
//! system calls there are, and all capabilities are gone. Both are prepared before a process is started and entered in it, just
//! before it becomes the program. Everything of the system is behind this module.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
#[path = "sandbox/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "sandbox/elsewhere.rs"]
mod system;

#[cfg(target_os = "linux")]
#[path = "sandbox/interpreter.rs"]
mod interpreter;

#[cfg(target_os = "linux")]
#[path = "sandbox/loopback.rs"]
mod loopback;

#[cfg(target_os = "linux")]
#[path = "sandbox/privileges.rs"]
mod privileges;

pub(crate) use system::Confinement;

/// The permissions of a confined program besides reading.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sandbox {
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) ports: Vec<u16>,
    pub(crate) loopback: bool,
    pub(crate) programs: bool,
    pub(crate) attributes: bool,
    pub(crate) shared_memory: bool,
}

/// The file for the report of a crash, in the folder of the JVM.
pub const CRASH_REPORT: &str = "crash.log";

/// Options of a JVM that keep what it writes for itself in one folder: its counters, reports of
/// crashes, temporary files. Nobody can attach to it, which would need a socket.
pub fn jvm_options(scratch: &Path) -> Vec<OsString> {
    let in_scratch = |option: &str, rest: &str| {
        let mut option = OsString::from(option);
        option.push(scratch.join(rest));
        option
    };
    vec![
        "-XX:-UsePerfData".into(),
        "-XX:-CreateCoredumpOnCrash".into(),
        "-XX:+DisableAttachMechanism".into(),
        in_scratch("-XX:ErrorFile=", CRASH_REPORT),
        in_scratch("-Djava.io.tmpdir=", ""),
    ]
}

/// A sandbox could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("this system has neither Landlock nor seccomp: there is no sandbox")]
    NotAvailable,
    #[error("cannot open {} for the sandbox: {error}", .path.display())]
    Path { path: PathBuf, error: io::Error },
    #[error("{} is not a program that can run in the sandbox", .0.display())]
    Program(PathBuf),
    #[error("the sandbox could not be prepared: {0}")]
    Rules(String),
}

/// The operations that this system can deny to a confined program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abilities {
    /// Writing to files, creating and deleting them, executing them.
    pub files: bool,
    /// Emptying files.
    pub truncation: bool,
    /// Signals to other processes.
    pub signals: bool,
    /// Network, hold on other processes, attributes of files; the seal.
    pub calls: bool,
    /// A loopback interface of its own instead of no network at all. Without it nothing is less safe.
    pub loopback: bool,
}

impl Sandbox {
    /// The abilities of this system.
    pub fn probe() -> Abilities {
        system::probe()
    }

    /// The version of Landlock, up to the newest that is known here; 0 where there is none.
    pub fn landlock() -> u32 {
        system::landlock()
    }

    /// Lets the program write to a folder and all below it, or to a file. It must exist when the
    /// program starts.
    pub fn allow_write(mut self, path: impl Into<PathBuf>) -> Sandbox {
        self.writable.push(path.into());
        self
    }

    /// Lets the program wait for TCP connections on a port, for a debugger.
    pub fn allow_listen(mut self, port: u16) -> Sandbox {
        self.ports.push(port);
        self
    }

    /// Gives the program a loopback interface of its own, on which its servers and its clients find each other and
    /// nobody else. Where the system has no such thing, there are no sockets.
    pub fn allow_loopback(mut self) -> Sandbox {
        self.loopback = true;
        self
    }

    /// Lets the program start others, with the same confines: for a command of the user's, which is
    /// rarely one process.
    pub fn allow_programs(mut self) -> Sandbox {
        self.programs = true;
        self
    }

    /// Lets the program change modes and times of files: of all files of the user's, since Landlock does
    /// not see that. Build tools need it.
    pub fn allow_attributes(mut self) -> Sandbox {
        self.attributes = true;
        self
    }

    /// Lets the program share memory and keep files in memory, which only a watch from outside can
    /// limit. ZGC has its heap in such a file.
    pub fn allow_shared_memory(mut self) -> Sandbox {
        self.shared_memory = true;
        self
    }
}

impl Abilities {
    /// The missing abilities, in one sentence; `None` if there are none.
    pub fn gap(&self) -> Option<String> {
        let gaps = [
            (self.files, "write files and start programs"),
            (self.calls, "use the network"),
            (self.truncation || !self.files, "empty files"),
            (self.signals, "send signals"),
        ];
        let gaps: Vec<&str> = gaps
            .iter()
            .filter(|(denied, _)| !denied)
            .map(|(_, what)| *what)
            .collect();
        let (last, first) = gaps.split_last()?;
        let what = match first {
            [] => (*last).to_owned(),
            _ => format!("{} and {last}", first.join(", ")),
        };
        Some(format!(
            "the sandbox of this system has a gap: replayed code can {what}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(files: bool, truncation: bool, signals: bool, calls: bool, expect: Option<&str>) {
        let abilities = Abilities {
            files,
            truncation,
            signals,
            calls,
            loopback: false,
        };
        let gap = abilities.gap();
        let told = gap.as_deref().and_then(|gap| gap.split(" can ").nth(1));
        assert_eq!(told, expect);
    }

    #[test]
    fn what_is_missing_is_said_in_one_sentence() {
        check(true, true, true, true, None);
        check(true, true, false, true, Some("send signals"));
        check(
            true,
            false,
            false,
            true,
            Some("empty files and send signals"),
        );
        check(
            false,
            false,
            false,
            false,
            Some("write files and start programs, use the network and send signals"),
        );
    }
}
