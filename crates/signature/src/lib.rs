//! Signatures of failures: the comparison of two failures.
//!
//! A failure is known by its stack trace: [`Thrown`], read from what `printStackTrace` prints
//! ([`Thrown::parse`]) or out of the output of a whole command ([`find_all`]). Its [`Signature`]
//! says where it was thrown and judges others: [`Signature::grade`] tells how much another failure
//! has in common with it, as a [`Grade`], or that it is another one.
//!
//! Properties that depend on how a program is run must not distinguish failures, so messages are compared without
//! them ([`normalise`]), and numbers that the JVM or a compiler makes up in names of classes and methods do not count.
//! Numbers that differ between two runs of the same command do not count either ([`Signature::allow`]).
//!
//! A failure that the system or a sandbox caused by denying access is a [`Refusal`].
//!
//! This crate does no I/O and depends on nothing; text may come from anywhere and never panics it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod block;
mod find;
mod frame;
mod grade;
mod mask;
mod message;
mod origin;
mod refusal;
mod signature;
mod site;
mod thrown;

pub use find::{FoundTrace, Owner, find_all};
pub use frame::Frame;
pub use grade::Grade;
pub use mask::{mask, mask_literals, normalise};
pub use origin::FrameOrigin;
pub use refusal::Refusal;
pub use signature::Signature;
pub use site::{Call, ThrowSite};
pub use thrown::Thrown;
