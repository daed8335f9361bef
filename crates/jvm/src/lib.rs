//! Finds JDKs; starts, watches and confines programs; keeps the pool of workers.
//!
//! The only crate that may start a process. It knows nothing of recordings or of the agent: a
//! caller says what to run, with which environment, and learns how it ended.
#![deny(unsafe_code)]

mod cgroup;
mod connection;
mod deadline;
mod descriptors;
mod errand;
mod error;
mod group;
mod guard;
mod interrupt;
mod jdk;
mod job;
mod launcher;
mod limits;
mod orphans;
mod pool;
mod removal;
mod sandbox;
mod scratch;
mod servant;
mod starter;
mod status;
mod target;
mod task;
pub mod untrusted;
mod version;
#[cfg(target_os = "linux")]
mod watchdog;
#[cfg(not(target_os = "linux"))]
#[path = "watchdog/elsewhere.rs"]
mod watchdog;
mod watcher;
mod worker;
mod workspace;

pub use deadline::Deadline;
pub use errand::{Errand, Fate, Kept, Ran};
pub use error::{JdkError, TargetError};
pub use group::{Launch, LaunchError};
pub use interrupt::Interrupt;
pub use jdk::{Jdk, Surroundings};
pub use job::{Answer, Job, Piece, SourceError, Steps, Unresolved};
pub use launcher::{java_home_of, resolve};
pub use limits::Limits;
pub use orphans::between_starts;
pub use pool::{Pool, PoolError, StartError, Told};
pub use removal::remove_folder;
pub use sandbox::{Abilities, CRASH_REPORT, Sandbox, SandboxError, jvm_options};
pub use scratch::Scratch;
pub use servant::{Heard, Servant};
pub use status::Status;
pub use target::Target;
pub use task::Ended;
pub use version::JavaVersion;
pub use watchdog::Watchdog;
pub use watcher::Excess;
pub use worker::{Arguments, Output, Plan, Seat};
pub use workspace::{Template, WorkingFolder, Workspace};

/// The oldest Java the agent works with.
pub const OLDEST_JAVA: u32 = 11;
