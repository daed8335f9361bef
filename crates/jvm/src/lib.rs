//! Finds JDKs, and starts and watches target commands.
//!
//! The only crate that may start a process. It knows nothing of recordings or of the agent: a
//! caller says what to run, with which environment, and learns how it ended.
#![forbid(unsafe_code)]

mod error;
mod jdk;
mod launcher;
mod status;
mod target;
mod version;

pub use error::{JdkError, TargetError};
pub use jdk::{Jdk, Surroundings};
pub use launcher::{java_home_of, resolve};
pub use status::Status;
pub use target::Target;
pub use version::JavaVersion;

/// The oldest Java the agent works with.
pub const OLDEST_JAVA: u32 = 11;
