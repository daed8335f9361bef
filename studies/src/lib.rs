//! Studies of culprit on real libraries from Maven Central: measurements and comparisons that
//! are too large, or need too much from the network, to be tests of a crate.
//!
//! A study only uses what a user has: the `culprit` executable and the recordings it leaves.
#![forbid(unsafe_code)]

pub mod attacks;
pub mod bench;
pub mod changes;
pub mod isolate;
pub mod markdown;
pub mod maven;
pub mod process;
pub mod reduce;
pub mod replay;
pub mod transparency;
