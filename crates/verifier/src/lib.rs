//! Real JVMs judge edited JDK classes. For tests only.
//!
//! The classes of some modules are taken out of a JDK, edited by the test, and put in place of the
//! originals (`--patch-module`) in a JVM that verifies everything, so that classes of `java.base`
//! are judged too, and that JVM also runs on its edited classes. Knows nothing of how classes are
//! edited. Trouble with the JDK itself is a panic: a test has nothing else to do about it.
//!
//! In the environment: `CULPRIT_TEST_ALL_JDKS=1` takes every JDK in place of the first found,
//! `CULPRIT_TEST_ALL_CLASSES=1` every class in place of one in eight, and `CULPRIT_TEST_KEEP=1`
//! leaves the edited classes where they are.
#![forbid(unsafe_code)]

mod bench;
mod class;
mod outcome;
mod patch;

pub use bench::{Bench, on_each_jdk};
pub use class::{Class, MODULES, is_early, is_sampled, takes_all_classes};
pub use outcome::{Comparison, Outcomes};
pub use patch::Patch;
