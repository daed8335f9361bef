//! The reducer and verifier of scripts: from a script that fails to a test that was seen to fail.
//!
//! [`TestMaker::make`] runs all stages. [`slice()`] keeps the statements that share objects with the failing one,
//! [`minimise`] removes the statements that the failure does not depend on, the rest of the reduction merges
//! objects and simplifies values, and [`verify()`] compiles the printed test and runs it in a JVM of its own.
//! Candidates run on a [`Stage`] of worker JVMs.
#![forbid(unsafe_code)]

mod concrete;
mod error;
mod kotlin;
mod merge;
mod minimise;
mod pipeline;
mod shrink;
mod slice;
mod stage;
mod test_names;
mod verify;

pub use culprit_model::{Script, Statement};
pub use error::Error;
pub use minimise::{CALLS, Likeness, Minimised, Scene, minimise};
pub use pipeline::{MinimizedTest, Resource, TargetFailure, TestMaker, full_name};
pub use shrink::VALUES;
pub use slice::slice;
pub use stage::Stage;
pub use verify::{
    ByHand, Checked, FILES, Fails, Needed, Runner, TestEnvironment, VARIABLES, Verified, junit_of,
    verify,
};
