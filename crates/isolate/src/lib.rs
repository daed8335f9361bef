//! The difference that decides: inputs and changes as deltas, judged by any command.
//!
//! This crate knows no console and no arguments. Processes are started by `culprit_jvm` alone.
#![forbid(unsafe_code)]

pub mod changes;
