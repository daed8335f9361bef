//! Finds JDKs; starts, watches and confines programs.
//!
//! The only crate that may start a process. It knows nothing of recordings or of the agent: a
//! caller says what to run, with which environment, and learns how it ended.
#![deny(unsafe_code)]

mod error;
mod group;
mod jdk;
mod launcher;
mod limits;
mod sandbox;
mod status;
mod target;
mod task;
mod version;

pub use error::{JdkError, TargetError};
pub use group::{Launch, LaunchError};
pub use jdk::{Jdk, Surroundings};
pub use launcher::{java_home_of, resolve};
pub use limits::Limits;
pub use sandbox::{Abilities, Sandbox, SandboxError, jvm_options};
pub use status::Status;
pub use target::Target;
pub use task::Ended;
pub use version::JavaVersion;

/// The oldest Java the agent works with.
pub const OLDEST_JAVA: u32 = 11;
