//! Where a failure comes from: the minimal run is traced, and what it depended on is ranked.
//!
//! A script that fails is run once more in a JVM that traces it ([`trace`]). The slice of the failure has every
//! instruction that the failure depended on; [`suspects`] orders them by how near to the failure they are.
#![forbid(unsafe_code)]

mod error;
mod experiment;
mod rank;
mod tracing;

pub use error::Error;
pub use experiment::{Change, Ended, Experiment, Laboratory, Prepared, Spot, prepare, spots};
pub use rank::{Distances, Located, Suspect, suspects};
pub use tracing::{MOST_TRACED, TracedRun, trace};
