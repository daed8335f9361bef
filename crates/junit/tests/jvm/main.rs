//! Prints tests for a small library and runs them in real JVMs: each fails as its script does,
//! and passes when the library is fixed.
//!
//! The scripts are in `tests/cases`, the library is in `fixtures/junit`.

mod bench;
mod bodies;
mod cases;
mod expressions;
mod kotlin;
#[path = "../../../cli/tests/jvm/library.rs"]
mod library;
mod literals;
