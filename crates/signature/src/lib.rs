//! What makes two failures the same failure.
//!
//! A failure is known by its stack trace: [`Thrown`], read from what `printStackTrace` prints
//! ([`Thrown::parse`]) or out of the output of a whole command ([`find_all`]).
//!
//! What differs from run to run must not tell failures apart: messages are compared with their
//! volatile parts masked ([`mask`]).
//!
//! This crate does no I/O and depends on nothing; text may come from anywhere and never panics it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod block;
mod find;
mod frame;
mod mask;
mod thrown;

pub use find::{Found, Owner, find_all};
pub use frame::Frame;
pub use mask::{mask, mask_literals};
pub use thrown::Thrown;
