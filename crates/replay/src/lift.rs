//! Makes a scenario of a recording: the tables at once, the steps as a stream, long values on
//! demand.

use std::collections::BTreeMap;
use std::ops::Range;

use culprit_model::{BlobId, EventKind, Scenario, Step, Tables, ThreadId};
use culprit_trace::Recording;

use crate::Error;

/// Where the long values of a scenario are.
pub trait Blobs {
    /// The bytes of a blob; `None` if there is none of that number.
    fn blob(&self, id: BlobId) -> Result<Option<Vec<u8>>, Error>;
}

impl Blobs for Tables {
    fn blob(&self, id: BlobId) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.blobs.get(&id).cloned())
    }
}

/// A recording as a scenario.
#[derive(Debug)]
pub struct Lifted<'r> {
    recording: &'r Recording,
    /// What the steps refer to; the blobs are in the recording.
    pub tables: Tables,
}

/// Makes a scenario of a recording. Ask [`crate::check`] first what can be expected of it.
pub fn lift(recording: &Recording) -> Lifted<'_> {
    let named = |id: u32| {
        recording
            .threads()
            .get(id)
            .map(|thread| thread.name.clone())
    };
    let threads = recording.thread_event_counts().into_keys();
    Lifted {
        recording,
        tables: Tables {
            types: recording.types().iter().cloned().collect(),
            sites: recording.sites().iter().cloned().collect(),
            threads: threads
                .map(|id| (id, named(id.0).unwrap_or_default()))
                .collect(),
            blobs: BTreeMap::new(),
        },
    }
}

impl<'r> Lifted<'r> {
    /// All steps, in the global order of their events.
    pub fn steps(&self) -> impl Iterator<Item = Result<Step, Error>> + use<'r> {
        self.steps_in(0..u64::MAX)
    }

    /// The steps of the events with these numbers.
    pub fn steps_in(
        &self,
        places: Range<u64>,
    ) -> impl Iterator<Item = Result<Step, Error>> + use<'r> {
        let events = self.recording.events_in(places);
        events.map(|event| Ok(Step::from(event?)))
    }

    /// Which objects the recording names by their birth.
    pub(crate) fn births_of_recording(&self) -> Result<Vec<(ThreadId, u64)>, Error> {
        let mut births = Vec::new();
        let mut scan = self.recording.scan();
        while let Some(step) = scan.step() {
            if let culprit_trace::ScanStep::Event(head) = step?
                && head.kind == EventKind::Born
            {
                births.extend(Step::from(scan.event(&head)?).birth());
            }
        }
        Ok(births)
    }

    /// The whole scenario in memory, with the blobs, and without what no step refers to.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        let mut scenario = Scenario {
            tables: self.tables.clone(),
            steps: self.steps().collect::<Result<Vec<Step>, Error>>()?,
        };
        let uses = scenario.uses();
        scenario.tables.keep(&uses);
        for id in uses.blobs {
            if let Some(bytes) = self.blob(id)? {
                scenario.tables.blobs.insert(id, bytes);
            }
        }
        Ok(scenario)
    }
}

impl Blobs for Lifted<'_> {
    fn blob(&self, id: BlobId) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.recording.blob(id)?.map(|blob| blob.bytes))
    }
}
