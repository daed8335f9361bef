//! From recordings to scenarios, and to runs of them: [`check`] says what stands in the way of a
//! replay, [`lift`] makes the scenario, as a stream of steps, [`Replayer`] runs it in a worker.
//!
//! Invariants:
//! - A recording may be longer than memory: no function here holds all of its events, but for
//!   [`Lifted::scenario`], which says so.
//! - Nothing is hidden: what a recording lacks is a [`Finding`], with its exact cause.
#![forbid(unsafe_code)]

mod against;
mod changes;
mod check;
mod class_path;
mod coverage;
mod environment;
mod error;
mod finding;
mod jdk_classes;
mod lift;
mod likeness;
pub mod manifest;
mod replayer;
mod stream;
mod subject;
mod vet;

pub use against::{Against, against};
pub use changes::{Change, ClassChanges};
pub use check::{check, check_unless};
pub use class_path::ClassPath;
pub use coverage::{Coverage, Lines};
pub use environment::Environment;
pub use error::Error;
pub use finding::{Count, Finding, Severity};
pub use jdk_classes::JdkClasses;
pub use lift::{Blobs, Lifted, lift};
pub use replayer::{Capture, Replayed, Replayer, choose};
pub use subject::{narrower, subject};
pub use vet::{Forged, vet};
