//! From recordings to scenarios: [`check`] says what stands in the way of a replay, [`lift`] makes
//! the scenario, as a stream of steps.
//!
//! Invariants:
//! - A recording may be longer than memory: no function here holds all of its events, but for
//!   [`Lifted::scenario`], which says so.
//! - Nothing is hidden: what a recording lacks is a [`Finding`], with its exact cause.
#![forbid(unsafe_code)]

mod check;
mod error;
mod finding;
mod lift;

pub use check::check;
pub use error::Error;
pub use finding::{Count, Finding, Severity};
pub use lift::{Blobs, Lifted, lift};
