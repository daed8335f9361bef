//! What Culprit and its worker JVMs say to each other, over a stream of bytes.
//!
//! A worker greets with [`FromWorker::Ready`]. Culprit sends the [`Subject`], once, and then any
//! number of runs: [`ToWorker::Run`], the [`ToWorker::Tables`] and [`ToWorker::Blob`]s that the
//! worker does not have yet, the [`ToWorker::Steps`] of a scenario or, in [`Mode::Plain`], the
//! [`ToWorker::Statements`] of a script, in chunks, and at last either [`ToWorker::EndOfSteps`] or,
//! to give up, [`ToWorker::Stop`]. The worker answers each run with exactly one
//! [`FromWorker::Done`], as soon as it knows the outcome. That may be before the last step was sent:
//! the worker then skips the rest, up to the end of the steps or the stop. Tables may also come
//! between steps; they stay for later runs.
//!
//! A message is a frame: its length in four bytes, little endian, then a tag, then the payload.
//! Both ends are of one Culprit, so there is one version; the greeting keeps its form, so that
//! ends of different versions can say so. This crate knows nothing of processes or JVMs.
#![forbid(unsafe_code)]

mod codec;
mod error;
mod frame;
mod from_worker;
mod outcome;
mod parts;
mod statement;
mod step;
mod tables;
mod to_worker;
mod value;

pub use error::WireError;
pub use frame::{Inbox, MAX_FRAME, Message};
pub use from_worker::{ClassCoverage, FromWorker};
pub use parts::{Packer, table_messages};
pub use to_worker::{
    ClassKind, FreshState, LONG_VALUES, LineCheck, Loader, Mode, RunRequest, Subject, SubjectClass,
    ToWorker,
};

/// The version of the protocol that this crate speaks.
pub const VERSION: u16 = 5;
