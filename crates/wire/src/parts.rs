//! Large things in parts: what is said over several messages, so that none grows too large and
//! a worker can begin before the last one is there.

use culprit_model::scenario::Tables;
use culprit_model::{Statement, Step};

use crate::codec::Put;
use crate::frame::{begin, finish};
use crate::statement::put_statement;
use crate::step::put_step;
use crate::to_worker::{STATEMENTS, STEPS};
use crate::{Subject, ToWorker, WireError};

/// Definitions in one message.
const DEFINITIONS: usize = 8192;

/// Bytes of classes in one message.
const CLASSES: usize = 8 << 20;

/// Bytes after which a frame of steps or statements is full.
const FULL: usize = 64 << 10;

/// The place of the tag in a frame, after its length.
const TAG_AT: usize = 4;

impl Subject {
    /// The messages that tell all of it.
    pub fn into_messages(mut self) -> Vec<ToWorker> {
        let mut bytes = 0;
        let fit = self.classes.iter().take_while(|class| {
            bytes += class.name.len() + class.bytes.len();
            bytes <= CLASSES
        });
        let rest = self.classes.split_off(fit.count());
        let first = ToWorker::Subject(self);
        let further = rest.into_iter().map(ToWorker::Class);
        std::iter::once(first).chain(further).collect()
    }
}

/// The messages that tell all of the tables, blobs included.
pub fn table_messages(tables: &Tables) -> Vec<ToWorker> {
    let types = tables.types.chunks(DEFINITIONS).map(|types| Tables {
        types: types.iter().cloned().collect(),
        ..Tables::default()
    });
    let sites = tables.sites.chunks(DEFINITIONS).map(|sites| Tables {
        sites: sites.iter().cloned().collect(),
        ..Tables::default()
    });
    let threads = tables.threads.chunks(DEFINITIONS).map(|threads| Tables {
        threads: threads.to_vec(),
        ..Tables::default()
    });
    let blobs = tables.blobs.iter().map(|(id, bytes)| ToWorker::Blob {
        id: *id,
        bytes: bytes.clone(),
    });
    types
        .chain(sites)
        .chain(threads)
        .map(ToWorker::Tables)
        .chain(blobs)
        .collect()
}

/// Makes frames of steps or statements as they come: those of [`ToWorker::Steps`] and
/// [`ToWorker::Statements`].
#[derive(Default, Debug)]
pub struct Packer {
    frame: Vec<u8>,
}

impl Packer {
    /// Adds a step; appends each frame that is full.
    pub fn step(&mut self, step: &Step, out: &mut Vec<u8>) -> Result<(), WireError> {
        self.begin(STEPS, out)?;
        put_step(&mut self.frame, step);
        self.flush_full(out)
    }

    /// Adds a statement; appends each frame that is full.
    pub fn statement(&mut self, it: &Statement, out: &mut Vec<u8>) -> Result<(), WireError> {
        self.begin(STATEMENTS, out)?;
        put_statement(&mut self.frame, it);
        self.flush_full(out)
    }

    /// Starts a frame unless there is one of the kind.
    fn begin(&mut self, tag: u8, out: &mut Vec<u8>) -> Result<(), WireError> {
        if self.frame.get(TAG_AT).is_some_and(|other| *other != tag) {
            self.flush(out)?;
        }
        if self.frame.is_empty() {
            begin(&mut self.frame);
            self.frame.put_u8(tag);
        }
        Ok(())
    }

    fn flush_full(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        match self.frame.len() < FULL {
            true => Ok(()),
            false => self.flush(out),
        }
    }

    /// Appends the frame of the items since the last one, if there are any.
    pub fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        if !self.frame.is_empty() {
            finish(&mut self.frame, 0)?;
            out.append(&mut self.frame);
        }
        Ok(())
    }
}
