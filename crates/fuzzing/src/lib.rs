//! Everything of Culprit that reads bytes from outside, as functions that take any bytes and must neither
//! panic nor take memory or time out of proportion.
//!
//! Two callers share them: `cargo fuzz`, with coverage guidance and for hours (`make fuzz`), and an
//! ordinary test that mutates the same seeds for some seconds (`tests/mutations.rs`, in `make test`).
//! Seeds are in `fuzz/corpus`, written by `cargo run -p culprit-fuzzing --example seeds`.
#![forbid(unsafe_code)]

pub mod blocks;
mod classes;
mod git;
mod instructions;
mod journals;
mod manifests;
mod recordings;
mod scenarios;
mod traces;
mod wire;

/// A way to give bytes to a reader.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// Its name: of the fuzz target and of the folder with its seeds.
    pub name: &'static str,
    /// Reads the bytes, and panics where what was read breaks a promise.
    pub read: fn(&[u8]),
}

/// All targets.
pub const TARGETS: [FuzzTarget; 9] = [
    target("recording", recordings::read),
    target("wire", wire::read),
    target("class", classes::read),
    target("manifest", manifests::read),
    target("trace", traces::read),
    target("git", git::read),
    target("scenario", scenarios::read),
    target("journal", journals::read),
    target("instructions", instructions::read),
];

const fn target(name: &'static str, read: fn(&[u8])) -> FuzzTarget {
    FuzzTarget { name, read }
}

/// Gives bytes to the target of a name.
///
/// # Panics
/// If there is none.
pub fn read(name: &str, bytes: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target of this name").read)(bytes);
}
