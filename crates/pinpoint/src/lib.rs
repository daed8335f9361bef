//! Where a failure comes from: the minimal run is traced, its failure sliced, and the values that the failure depended on
//! are changed one by one, to see which of them decide it.
//!
//! [`FailingScript::locate`] does all of it. The slice has every instruction that the failure depended on. An experiment
//! runs the script once more with one value changed; where nothing fails then, the instruction is *confirmed* to have to
//! do with the failure, all others of the slice are *related*. Other values come from passing neighbours: scripts with one
//! difference to the failing one.
#![forbid(unsafe_code)]

mod chain;
mod change;
mod dependence;
mod error;
mod expected;
mod experiment;
mod locate;
mod neighbour;
mod rank;
mod source;
mod statements;
mod tracing;

pub use chain::{Evidence, Link};
pub use change::{Change, Replacement};
pub use dependence::LinkDependence;
pub use error::Error;
pub use locate::{FailingScript, Located};
pub use neighbour::{Difference, PassingValue};
pub use rank::Suspect;
pub use source::{Excerpt, ExcerptLine, LineMark};
pub use tracing::{ScriptToTrace, TraceLimits, TracedRun};
