//! Isolates what decides between something that fails and something that passes.
//!
//! The oracle is any command of the user's: a [`TestCommand`] runs it somewhere (a [`RunSetup`]) and tells how
//! that ended (an [`Ending`]); its [`Rule`] says whether that passes, fails or is neither. A
//! [`Judge`] knows how the failure looked at first (a [`RunFailure`]), takes another failure for
//! unresolved, and repeats runs where the failure does not always show. The searches run
//! under a [`culprit_reduce::Driver`], which knows verdicts by what was tested, since different deltas may
//! give the same bytes.
//!
//! This crate has no console and no arguments. Processes are started by `culprit_jvm` alone.
#![forbid(unsafe_code)]

mod backtrace;
mod basis;
pub mod changes;
mod ending;
mod error;
mod failure;
mod grammar;
pub mod input;
mod java;
mod judge;
mod like;
mod rule;
mod sign;
mod test;
mod unified;
mod work_folder;

pub(crate) use culprit_reduce::{Digest, Digester};
pub use ending::{Ending, How};
pub use error::Error;
pub use failure::{Likeness, LineComparison, RunFailure};
pub use grammar::Language;
pub use java::{JavaTest, Reads, Warm};
pub use judge::{Judge, Judged, Rate, Unfit, Witness};
pub use like::Like;
pub use rule::{Convention, Rule, RunAnswer, UNRESOLVED};
pub use sign::{Sign, SignError};
pub use test::{RunSetup, TestCommand};
