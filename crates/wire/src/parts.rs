//! Large things in parts: what is said over several messages, so that none grows too large and
//! a worker can begin before the last one is there.

use culprit_model::Step;
use culprit_model::scenario::Tables;

use crate::codec::Put;
use crate::frame::{begin, finish};
use crate::step::put_step;
use crate::to_worker::STEPS;
use crate::{Subject, ToWorker, WireError};

/// Definitions in one message.
const DEFINITIONS: usize = 8192;

/// Bytes of classes in one message.
const CLASSES: usize = 8 << 20;

/// Bytes after which a frame of steps is full.
const STEPS_FULL: usize = 64 << 10;

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

/// Makes frames of steps as they come. The frames are those of [`ToWorker::Steps`].
#[derive(Default, Debug)]
pub struct StepPacker {
    frame: Vec<u8>,
}

impl StepPacker {
    /// Adds a step; gives a frame when it is full.
    pub fn push(&mut self, step: &Step) -> Result<Option<Vec<u8>>, WireError> {
        if self.frame.is_empty() {
            begin(&mut self.frame);
            self.frame.put_u8(STEPS);
        }
        put_step(&mut self.frame, step);
        match self.frame.len() < STEPS_FULL {
            true => Ok(None),
            false => self.flush(),
        }
    }

    /// The frame of the steps since the last one, if there are any.
    pub fn flush(&mut self) -> Result<Option<Vec<u8>>, WireError> {
        if self.frame.is_empty() {
            return Ok(None);
        }
        let mut frame = std::mem::take(&mut self.frame);
        finish(&mut frame, 0)?;
        Ok(Some(frame))
    }
}
