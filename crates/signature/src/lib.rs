//! What makes two failures the same failure.
//!
//! A failure is known by its stack trace: [`Thrown`], read from what `printStackTrace` prints
//! ([`Thrown::parse`]) or out of the output of a whole command ([`find_all`]).
//!
//! This crate does no I/O and depends on nothing; text may come from anywhere and never panics it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod block;
mod find;
mod frame;
mod thrown;

pub use find::{Found, Owner, find_all};
pub use frame::Frame;
pub use thrown::Thrown;
