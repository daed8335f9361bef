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
mod coverage;
mod error;
mod finding;
mod lift;
mod replayer;
mod stream;
mod subject;

pub use against::{Against, against};
pub use changes::{Change, ClassChanges};
pub use check::{check, check_unless};
pub use coverage::{ClassLines, Coverage};
pub use error::Error;
pub use finding::{Count, Finding, Severity};
pub use lift::{Blobs, Lifted, lift};
pub use replayer::{Capture, Replayed, Replayer};
pub use subject::{narrower, subject};
