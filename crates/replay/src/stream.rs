//! The steps of a recording as a worker is told them: in order, each long value before the first
//! step that refers to it, and again where the worker may have forgotten it.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};

use culprit_jvm::{JobPiece, JobSource, SourceError};
use culprit_model::{BlobId, Reference, Step, ThreadId};
use culprit_wire::LONG_VALUES;

use crate::{Blobs, Error, Lifted};

impl JobSource for Lifted<'_> {
    fn pieces(&self) -> Box<dyn Iterator<Item = Result<JobPiece<'_>, SourceError>> + '_> {
        Box::new(PieceStream {
            lifted: self,
            steps: Box::new(self.steps()),
            told: BTreeSet::new(),
            bytes: 0,
            ready: VecDeque::new(),
        })
    }

    fn births(&self) -> Result<Vec<(ThreadId, u64)>, SourceError> {
        let mut births = self.births_of_recording()?;
        births.sort_unstable();
        Ok(births)
    }
}

struct PieceStream<'l> {
    lifted: &'l Lifted<'l>,
    steps: Box<dyn Iterator<Item = Result<Step, Error>> + 'l>,
    /// Long values since the worker was last told to forget, and their bytes.
    told: BTreeSet<BlobId>,
    bytes: usize,
    /// What comes next: the last step that was read, behind the long values it needs.
    ready: VecDeque<JobPiece<'l>>,
}

impl<'l> Iterator for PieceStream<'l> {
    type Item = Result<JobPiece<'l>, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() {
            let read = self.steps.next()?.and_then(|step| self.add(step));
            if let Err(error) = read {
                return Some(Err(error.into()));
            }
        }
        self.ready.pop_front().map(Ok)
    }
}

impl PieceStream<'_> {
    fn add(&mut self, step: Step) -> Result<(), Error> {
        for id in blobs(&step) {
            if !self.told.insert(id) {
                continue;
            }
            // One that is missing is a finding, and the worker takes it as unknown.
            if let Some(bytes) = self.lifted.blob(id)? {
                self.bytes += bytes.len();
                self.ready.push_back(JobPiece::Blob(id, bytes));
            }
        }
        self.ready.push_back(JobPiece::Step(Cow::Owned(step)));
        if self.bytes > LONG_VALUES {
            self.ready.push_back(JobPiece::Forget);
            self.told.clear();
            self.bytes = 0;
        }
        Ok(())
    }
}

/// The long values that a step refers to.
fn blobs(step: &Step) -> Vec<BlobId> {
    let mut found = Vec::new();
    for value in &step.values {
        value.each_reference(&mut |reference| match reference {
            Reference::StringBlob(id) => found.push(*id),
            Reference::Array { contents, .. } => found.extend(contents.blob()),
            _ => {}
        });
    }
    found
}
