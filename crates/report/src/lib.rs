//! The results of every command: typed documents with a version, and their renderings as text, Markdown, HTML,
//! SARIF and JSON.
//!
//! A document ([`Document`]) is what programs read: `report.json`, and the output of `--json`. Its fields are
//! described by the JSON schemas in `docs/schema`, which a test keeps equal to the types. The readable forms are
//! functions of the same results; they return text, which the command prints or writes to a file.
//!
//! Text of programs, recordings, files and commits passes through [`markup`] on its way into any of them, so
//! that nothing in it is markup and harmful characters are escapes.
//!
//! This crate knows no console, no arguments and no exit codes, and writes no files.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod debug;
pub mod doctor;
pub mod document;
pub mod figure;
pub mod isolate;
pub mod junit;
pub mod markup;
mod page;
pub mod place;
pub mod recording;
pub mod replay;
mod sarif;
#[cfg(test)]
mod schema;
pub mod slice;
pub mod style;
pub mod suggest;

pub use document::{Content, Document, ReadError, Version};
