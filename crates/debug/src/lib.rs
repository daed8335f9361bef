//! The debugging session: from a failing command to tests that were seen to fail.
//!
//! [`Session::debug`] runs the stages in this order. The *witness* stage runs the command two or three times
//! with nothing woven, to learn how it fails and how often. Each failure is then *followed*: the command runs
//! once more while the agent interprets the driver (the test or the main class), and the calls of the driver
//! become scripts. When no such script fails the same way, or its test needs reflection, the failing code is
//! *recorded*, with a set of observed classes that is widened until the script has all the objects it needs. The
//! script is *reduced*, printed and *verified* by [`Reducer::reduce`], and in the end tests of *levels* inside
//! the program are tried.
//! [`Session::debug_condition`] does the same for a condition of the user. [`RecordedFailure`] starts from an
//! existing recording.
//!
//! The crate prints nothing and knows no command line: an [`Observer`] hears what happens and receives the
//! tests, an [`Error`] has everything that is needed to choose an exit code and a next step.
#![forbid(unsafe_code)]

mod allowance;
mod attempts;
mod caught;
mod condition;
mod entry;
mod error;
mod failed_jvm;
mod files;
mod following;
mod kept_script;
mod levels;
mod observer;
mod output;
mod recorded_failure;
mod recording;
mod reducer;
mod session;
mod slicing;
mod stopping;
mod witness;

pub use allowance::Allowance;
pub use condition::parse_condition;
pub use error::Error;
pub use failed_jvm::{FailedJvm, jdk_of};
pub use files::FilesFound;
pub use kept_script::{KeptFolder, KeptScript, KeptScriptError};
pub use observer::{
    Activity, CallLevel, FailureTest, LeftOutLevel, LevelReason, MissedFailure, Observer, Ongoing,
    SessionEvent,
};
pub use recorded_failure::{FailureChoice, RecordedFailure, RecordedScript};
pub use reducer::{Case, Reducer, ReductionLimits};
pub use session::{CLASSES, Session, Settings};
pub use slicing::{FailedScript, Tracer, folder_of_test, folders_of};
pub use stopping::StopAfter;
pub use witness::Rate;
