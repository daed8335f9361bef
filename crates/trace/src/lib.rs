//! The recording: one versioned, block-structured file per JVM, its writer and its reader.
//!
//! `docs/recording-format.md` is the specification; this crate is the only code that knows it.
//! The agent hands the records of its threads to [`Writer`] as the Java runtime wrote them;
//! [`Recording`] gives them back as `culprit_model` events in global order.
//!
//! Invariants:
//! - The writer appends whole blocks. What was written before a failure stays readable.
//! - The reader never panics on, and never allocates without bound for, any input.
//! - Nothing here depends on a JVM.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod allowance;
mod block;
mod codec;
mod coupling;
mod decode;
mod error;
pub mod instructions;
mod join;
mod metadata;
mod need;
mod record;
mod recording;
mod ring;
mod run;
mod scan;
mod segment;
mod source;
mod version;
mod writer;

pub use culprit_model::{Numbered, Table};

pub use block::{MAX_BLOCK, MAX_EVENTS};
pub use coupling::{COUPLING_EXTENSION, CoupledClass, Coupling, CouplingError, Edge};
pub use decode::{Decoded, Decoder};
pub use error::{Error, WriteError};
pub use join::{join, keep_last};
pub use metadata::{
    BlobKind, ClassDef, End, EndReason, Ending, LoaderDef, SALT_NOTE, Start, ThreadDef,
};
pub use need::GAP_FORGOTTEN;
pub use record::RecordBuffer;
pub use recording::{Blob, ClassInfo, Recording, Truncation};
pub use ring::Ring;
pub use run::{EXTENSION, RUN_FACTS, RunFolder};
pub use scan::{EventHead, Gap, GapReason, Heads, Scan, ScanStep};
pub use segment::remove;
pub use version::FormatVersion;
pub use writer::{EventsHead, Store, Writer};
