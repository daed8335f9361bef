//! Finds JDKs; starts, watches and confines programs; keeps the pool of workers.
//!
//! The only crate that may start a process. It knows nothing of recordings or of the agent: a
//! caller says what to run, with which environment, and learns how it ended.
#![deny(unsafe_code)]

mod cgroup;
mod connection;
mod deadline;
mod descriptors;
mod error;
mod group;
mod guard;
mod input;
mod interrupt;
mod jdk;
mod job;
mod launcher;
mod limits;
mod marked;
mod orphans;
mod pool;
mod removal;
mod responder;
mod sandbox;
mod scratch;
mod starter;
mod status;
mod target;
mod task;
pub mod untrusted;
mod version;
mod viewer;
#[cfg(target_os = "linux")]
mod watchdog;
#[cfg(not(target_os = "linux"))]
#[path = "watchdog/elsewhere.rs"]
mod watchdog;
mod watched_run;
mod watcher;
mod worker;
mod workspace;

pub use deadline::Deadline;
pub use error::{JdkError, TargetError};
pub use group::{Launch, LaunchError};
pub use input::KeptInput;
pub use interrupt::Interrupt;
pub use jdk::{Jdk, JdkLocations};
pub use job::{Job, JobPiece, JobResult, JobSource, SourceError, Unresolved};
pub use launcher::{java_home_of, resolve};
pub use limits::Limits;
pub use marked::{Ending, end_marked};
pub use orphans::{between_starts, forget, start};
pub use pool::{PoolError, ReportedOutput, StartError, WorkerPool};
pub use removal::remove_folder;
pub use responder::{Responder, Response};
pub use sandbox::{Abilities, CRASH_REPORT, Sandbox, SandboxError, jvm_options};
pub use scratch::Scratch;
pub use status::Status;
pub use target::TargetCommand;
pub use task::Ended;
pub use version::JavaVersion;
pub use viewer::{Viewer, ViewerError};
pub use watchdog::Watchdog;
pub use watched_run::{KeptOutput, Ran, RunEnd, WatchedRun};
pub use watcher::Excess;
pub use worker::{Arguments, Output, WorkerPlan, WorkerSlot};
pub use workspace::{Template, WorkingFolder, Workspace, copy_input};

/// The oldest Java the agent works with.
pub const OLDEST_JAVA: u32 = 11;
