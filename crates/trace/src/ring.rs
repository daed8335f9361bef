//! The ring: a recording that keeps the last events of a run and what they need, while the rest is
//! forgotten.
//!
//! Events go into segments of a fixed number of events. When one is full the next begins with a
//! *carry*: the calls that are open and the constructions of observed objects. Then the one before
//! the last is removed. So a killed JVM leaves the last events and what they need, the disk holds
//! two segments, and memory no events but those of the carry. At the end `join` makes one file of
//! it, with exactly the events asked for.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use culprit_model::site::TypeDef;
use culprit_model::{BlobId, Losses, Site, ThreadId};

use crate::Table;
use crate::allowance::Allowance;
use crate::codec::{Cursor, Malformed};
use crate::error::WriteError;
use crate::metadata::{BlobKind, ThreadDef};
use crate::need::{EventPosition, KeptRecord, Lane, Needs, each_blob};
use crate::record::{Layout, Record, record};
use crate::recording::Recording;
use crate::segment;
use crate::writer::{EventsHead, Writer};

/// Events of a segment beyond those asked for: threads hand their events over late, so the last
/// ones may stand a little before the end.
const SPARE: u64 = 1 << 16;

/// Of so many events of a segment one construction is carried over.
const EVENTS_PER_CONSTRUCTION: u64 = 4;

/// Bytes of contents that are kept for records on their way; the disk has those of two segments.
const MOST_HELD: usize = 64 << 20;

/// The name of the loss in the recording.
const LOST_BLOBS: &str = "long values forgotten before their event";

/// The segments of a recording that is being written.
pub struct Ring {
    recording: PathBuf,
    /// Events of a segment.
    most: u64,
    number: u64,
    writer: Writer<File>,
    /// Bytes of the segment before.
    older: u64,
    /// Events before the segment before, and in it.
    forgotten: u64,
    older_events: u64,
    scene: RecordTables,
    needs: Needs,
    /// Threads that go on or were carried over, and those that ended since.
    threads: BTreeMap<ThreadId, ThreadDef>,
    gone: HashSet<ThreadId>,
    /// Threads and blobs that the segment defines.
    defined: HashSet<ThreadId>,
    blobs: HashSet<BlobId>,
    /// Contents that records on their way may name, and their bytes in all.
    held: BTreeMap<BlobId, (BlobKind, Vec<u8>)>,
    held_bytes: usize,
    losses: Losses,
    lost_blobs: u64,
}

/// The tables needed to read records.
struct RecordTables {
    sites: HashMap<u32, (Layout, bool)>,
    types: Table<TypeDef>,
}

impl Ring {
    /// Begins the first segment of a recording that will keep so many events.
    pub fn create(recording: &Path, last: u64) -> Result<Ring, WriteError> {
        Ring::with_segments(recording, last.saturating_add(SPARE))
    }

    fn with_segments(recording: &Path, most: u64) -> Result<Ring, WriteError> {
        Ok(Ring {
            recording: recording.to_owned(),
            most,
            number: 1,
            writer: Writer::create(&segment::path(recording, 1))?,
            older: 0,
            forgotten: 0,
            older_events: 0,
            scene: RecordTables {
                sites: HashMap::new(),
                types: Table::default(),
            },
            needs: Needs::default(),
            threads: BTreeMap::new(),
            gone: HashSet::new(),
            defined: HashSet::new(),
            blobs: HashSet::new(),
            held: BTreeMap::new(),
            held_bytes: 0,
            losses: Losses::default(),
            lost_blobs: 0,
        })
    }

    /// Bytes of the segments.
    pub fn bytes(&self) -> u64 {
        self.older + self.writer.bytes_written()
    }

    /// Tells what records of a site look like. Must come before them.
    pub fn site(&mut self, site: &Site) {
        let place = (Layout::of(site), site.is_constructor());
        self.scene.sites.insert(site.id.0, place);
    }

    /// Tells what a type is. Must come before records that mention it.
    pub fn type_def(&mut self, definition: &TypeDef) {
        self.scene.types.insert(definition.clone());
    }

    /// Defines a thread.
    pub fn thread(&mut self, thread: &ThreadDef) {
        self.threads.insert(thread.id, thread.clone());
    }

    /// A thread has ended; it has no more events.
    pub fn ended(&mut self, thread: ThreadId) {
        self.needs.ended(thread);
        self.gone.insert(thread);
    }

    /// Stores a long string or array content under an id of the caller's.
    pub fn blob(&mut self, id: BlobId, kind: BlobKind, bytes: &[u8]) -> Result<(), WriteError> {
        self.held_bytes += bytes.len();
        self.held.insert(id, (kind, bytes.to_vec()));
        while self.held_bytes > MOST_HELD
            && let Some((_, (_, bytes))) = self.held.pop_first()
        {
            self.held_bytes -= bytes.len();
        }
        self.put_blob(id, kind, bytes)
    }

    fn put_blob(&mut self, id: BlobId, kind: BlobKind, bytes: &[u8]) -> Result<(), WriteError> {
        self.blobs.insert(id);
        self.writer.blob(id, kind, bytes)
    }

    /// No record that is still to come names a blob below this one.
    pub fn release(&mut self, below: BlobId) {
        self.held = self.held.split_off(&below);
        self.held_bytes = self.held.values().map(|(_, bytes)| bytes.len()).sum();
    }

    /// Says what the recording lacks so far, besides what is forgotten.
    pub fn losses(&mut self, losses: &Losses) -> Result<(), WriteError> {
        self.losses = losses.clone();
        self.write_losses()
    }

    fn write_losses(&mut self) -> Result<(), WriteError> {
        let mut losses = self.losses.clone();
        for (name, count) in [
            (Losses::FORGOTTEN, self.forgotten),
            (LOST_BLOBS, self.lost_blobs),
        ] {
            if count > 0 {
                losses.counts.push((name.to_owned(), count));
            }
        }
        self.writer.losses(&losses)
    }

    /// Takes records of one thread, exactly as the Java runtime left them in its buffer.
    pub fn events(&mut self, head: EventsHead, records: &[u8]) -> Result<(), WriteError> {
        if self.defined.insert(head.thread)
            && let Some(thread) = self.threads.get(&head.thread)
        {
            self.writer.thread(thread)?;
        }
        let mut blobs = BTreeSet::new();
        // Where records make no sense the reader will say so; nothing is needed of them.
        let _ = self.scene.walk(head, records, &mut self.needs, &mut blobs);
        // Numbered before this segment began.
        blobs.retain(|blob| !self.blobs.contains(blob));
        let (held, older): (BTreeSet<BlobId>, BTreeSet<BlobId>) =
            blobs.into_iter().partition(|id| self.held.contains_key(id));
        for id in held {
            if let Some((kind, bytes)) = self.held.get(&id) {
                self.writer.blob(id, *kind, bytes)?;
                self.blobs.insert(id);
            }
        }
        if !older.is_empty() {
            self.writer.flush()?;
            let before = self.read();
            self.copy_blobs(before.as_ref(), &older)?;
        }
        self.writer.events(head, records)
    }

    /// True if the segment has all its events.
    pub fn is_full(&self) -> bool {
        self.writer.events_written() >= self.most
    }

    /// Begins the next segment.
    pub fn rotate(&mut self) -> Result<(), WriteError> {
        self.writer.flush()?;
        self.needs
            .age((self.most / EVENTS_PER_CONSTRUCTION) as usize);
        let mut carry: BTreeMap<ThreadId, Vec<KeptRecord>> = BTreeMap::new();
        for kept in self.needs.open().chain(self.needs.constructions()) {
            carry
                .entry(kept.place.thread)
                .or_default()
                .push(kept.clone());
        }
        let blobs: BTreeSet<BlobId> = carry
            .values()
            .flatten()
            .flat_map(|k| k.blobs.clone())
            .collect();
        let before = match blobs.is_empty() {
            true => None,
            false => self.read(),
        };
        let next = Writer::create(&segment::path(&self.recording, self.number + 1))?;
        let full = std::mem::replace(&mut self.writer, next);
        self.forgotten += self.older_events;
        (self.older, self.older_events) = (full.bytes_written(), full.events_written());
        self.number += 1;
        self.blobs.clear();
        self.defined.clear();
        self.write_losses()?;
        self.copy_blobs(before.as_ref(), &blobs)?;
        self.carry(carry)?;
        match self.number.checked_sub(2).filter(|old| *old > 0) {
            Some(old) => Ok(fs::remove_file(segment::path(&self.recording, old))?),
            None => Ok(()),
        }
    }

    fn carry(&mut self, mut carry: BTreeMap<ThreadId, Vec<KeptRecord>>) -> Result<(), WriteError> {
        let ends: BTreeMap<ThreadId, EventPosition> =
            self.needs.threads().map(|end| (end.thread, end)).collect();
        let known = |thread: &ThreadId| ends.contains_key(thread) || carry.contains_key(thread);
        self.threads
            .retain(|thread, _| !self.gone.contains(thread) || known(thread));
        self.gone.retain(|thread| self.threads.contains_key(thread));
        for thread in ends.keys() {
            carry.entry(*thread).or_default();
        }
        for (thread, mut events) in carry {
            events.sort_by_key(|event| event.place.ordinal);
            let mut lane = Lane::new(thread);
            for event in &events {
                if lane.event(event.place, &event.record) {
                    lane.hand_over(|head, records| self.writer.carry(head, records))?;
                }
            }
            if let Some(end) = ends.get(&thread) {
                lane.skip_to(*end);
            }
            lane.hand_over(|head, records| self.writer.carry(head, records))?;
            if self.defined.insert(thread)
                && let Some(thread) = self.threads.get(&thread)
            {
                self.writer.thread(thread)?;
            }
        }
        self.writer.flush()
    }

    /// The recording so far; `None` if it cannot be read, and then its blobs are lost.
    fn read(&self) -> Option<Recording> {
        Recording::open(&self.recording).ok()
    }

    fn copy_blobs(
        &mut self,
        from: Option<&Recording>,
        blobs: &BTreeSet<BlobId>,
    ) -> Result<(), WriteError> {
        for id in blobs {
            match from.and_then(|recording| recording.blob(*id).ok().flatten()) {
                Some(blob) => self.put_blob(*id, blob.kind, &blob.bytes)?,
                None => self.lost_blobs += 1,
            }
        }
        Ok(())
    }

    /// Forgets what is gathered, where there is no room for it.
    pub fn forget_gathered(&mut self) {
        self.writer.forget_gathered();
    }

    /// Writes what is gathered.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.writer.flush()
    }
}

impl RecordTables {
    /// Reads records: what later ones need of them, and the blobs they refer to.
    fn walk(
        &self,
        head: EventsHead,
        records: &[u8],
        needs: &mut Needs,
        blobs: &mut BTreeSet<BlobId>,
    ) -> Result<(), Malformed> {
        let allowance = Allowance::unlimited();
        let mut cursor = Cursor::new(records, &allowance);
        let mut values = Vec::new();
        let mut place = EventPosition {
            thread: head.thread,
            ordinal: head.ordinal,
            turn: head.turn,
        };
        while !cursor.is_empty() {
            let start = records.len() - cursor.left();
            match record(&mut cursor)? {
                Record::Event(kind, site) => {
                    let (layout, constructs) = match self.sites.get(&site.0) {
                        Some((layout, constructs)) => (layout, *constructs),
                        None => (&Layout::UNKNOWN, false),
                    };
                    layout.references(kind, &mut cursor, &self.types, &mut values)?;
                    each_blob(&values, &mut |blob| {
                        blobs.insert(blob);
                    });
                    let end = records.len() - cursor.left();
                    let bytes = || records.get(start..end).unwrap_or_default().to_vec();
                    needs.event(place, kind, constructs, &values, bytes);
                    place.ordinal = place.ordinal.wrapping_add(1);
                }
                Record::Turn(turn) => place.turn = turn,
                Record::Unwound(calls) => needs.unwound(head.thread, calls as usize),
                Record::Gap { count, .. } => place.ordinal = place.ordinal.wrapping_add(count),
                Record::Pad => {}
            }
        }
        Ok(())
    }
}

impl From<crate::Error> for WriteError {
    fn from(error: crate::Error) -> WriteError {
        WriteError::Io(io::Error::other(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ending, RecordBuffer, Start, join};
    use culprit_model::{
        EventKind, Member, ObjectId, Reference, SiteId, SiteKind, Turn, TypeId, Value,
    };

    fn site(id: u32, name: &str, descriptor: &str) -> Site {
        Site {
            id: SiteId(id),
            kind: SiteKind::Entry,
            class: "Order".to_owned(),
            method: name.to_owned(),
            descriptor: descriptor.to_owned(),
            line: None,
            source: None,
            target: Member {
                owner: "Order".to_owned(),
                name: name.to_owned(),
                descriptor: descriptor.to_owned(),
            },
            is_static: false,
        }
    }

    fn order(id: u64) -> Value {
        Value::Reference(Reference::Object {
            id: ObjectId(id),
            class: TypeId(1),
        })
    }

    fn text(blob: u32) -> Value {
        Value::Reference(Reference::StringBlob(BlobId(blob)))
    }

    /// A run that is written through a ring with segments of eight events.
    struct Run {
        folder: tempfile::TempDir,
        base: Writer<File>,
        ring: Ring,
        next: HashMap<u32, u64>,
        turn: u64,
    }

    impl Run {
        fn begin() -> Run {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("jvm-1.culprit");
            let mut base = Writer::create(&path).unwrap();
            let mut start = Start::default();
            start.set_segmented();
            base.start(&start).unwrap();
            let mut ring = Ring::with_segments(&path, 8).unwrap();
            let sites = [
                site(1, "main", "()V"),
                site(2, "<init>", "(Ljava/lang/String;)V"),
                site(3, "total", "()I"),
            ];
            base.sites(&sites).unwrap();
            sites.iter().for_each(|site| ring.site(site));
            let class = TypeDef {
                id: TypeId(1),
                name: "Order".to_owned(),
                loader: 1,
                constants: Vec::new(),
                fields: Vec::new(),
            };
            base.types(std::slice::from_ref(&class)).unwrap();
            ring.type_def(&class);
            base.flush().unwrap();
            for id in [1, 2] {
                ring.thread(&ThreadDef {
                    id: ThreadId(id),
                    name: format!("thread {id}"),
                    java_id: id.into(),
                    is_virtual: false,
                });
            }
            Run {
                folder,
                base,
                ring,
                next: HashMap::new(),
                turn: 0,
            }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("jvm-1.culprit")
        }

        fn push(&mut self, thread: u32, events: &[(EventKind, u32, Vec<Value>)]) {
            self.turn += 1;
            let mut buffer = RecordBuffer::new();
            for (kind, site, values) in events {
                buffer.event(*kind, SiteId(*site), values);
            }
            let next = self.next.entry(thread).or_default();
            let head = EventsHead {
                thread: ThreadId(thread),
                turn: Turn(self.turn),
                ordinal: *next,
                count: buffer.events(),
            };
            *next += u64::from(buffer.events());
            self.ring.events(head, buffer.bytes()).unwrap();
            if self.ring.is_full() {
                self.ring.rotate().unwrap();
            }
            self.ring.flush().unwrap();
        }

        /// An outermost call, two constructions, then many calls on the second object.
        fn play(calls: u32) -> Run {
            let mut run = Run::begin();
            run.push(1, &[(EventKind::IncomingCall, 1, vec![order(9)])]);
            for id in [1, 2] {
                let blob = BlobId(id);
                run.ring.blob(blob, BlobKind::Text, &[id as u8, 0]).unwrap();
                run.push(
                    1,
                    &[
                        (EventKind::IncomingCall, 2, vec![text(id)]),
                        (EventKind::Constructed, 2, vec![order(id.into())]),
                        (EventKind::IncomingReturn, 2, vec![order(id.into())]),
                    ],
                );
            }
            for call in 0..calls {
                run.push(
                    1 + call % 2,
                    &[
                        (EventKind::IncomingCall, 3, vec![order(2)]),
                        (EventKind::IncomingReturn, 3, vec![Value::Int(7)]),
                    ],
                );
            }
            run
        }
    }

    fn events(path: &Path) -> Vec<(u32, u64, EventKind)> {
        let recording = Recording::open(path).unwrap();
        let events = recording.events().map(|event| event.unwrap());
        events.map(|e| (e.thread.0, e.ordinal, e.kind)).collect()
    }

    fn forgotten(path: &Path) -> u64 {
        let recording = Recording::open(path).unwrap();
        let counts = &recording.losses().counts;
        counts.iter().map(|(_, count)| count).sum()
    }

    use EventKind::{Constructed, IncomingCall, IncomingReturn};

    #[test]
    fn the_last_events_stay_with_their_open_calls_and_constructions() {
        let run = Run::play(100);
        let path = run.path();
        let ending = Ending {
            reason: crate::EndReason::JvmEnded,
            exit_status: Some(0),
            duration_ms: 1,
        };
        drop((run.base, run.ring));
        join(&path, 4, Some(&ending)).unwrap();
        let expect = [
            (1, 0, IncomingCall),
            (1, 4, IncomingCall),
            (1, 5, Constructed),
            (1, 6, IncomingReturn),
            (1, 105, IncomingCall),
            (1, 106, IncomingReturn),
            (2, 98, IncomingCall),
            (2, 99, IncomingReturn),
        ];
        assert_eq!(events(&path), expect);
        assert_eq!(forgotten(&path), 207 - 8);
        let recording = Recording::open(&path).unwrap();
        assert_eq!(recording.end().unwrap().events, 8);
        assert_eq!(recording.blob(BlobId(2)).unwrap().unwrap().bytes, [2, 0]);
        assert_eq!(recording.blob(BlobId(1)).unwrap(), None);
        assert_eq!(recording.threads().len(), 2);
        assert!(segment::list(&path).unwrap().is_empty());
        assert!(!recording.start().is_segmented());
    }

    #[test]
    fn segments_are_readable_at_any_time_and_only_two_stay() {
        for calls in 0..40 {
            let run = Run::play(calls);
            let total = 7 + 2 * u64::from(calls);
            let found = events(&run.path());
            assert_eq!(found.first(), Some(&(1, 0, IncomingCall)));
            let before: Vec<_> = found.iter().filter(|e| e.0 == 1 && e.1 < 7).collect();
            assert_eq!(before.len(), 7.min(total as usize), "{found:?}");
            assert!(found.len() as u64 >= total.min(8 + 7), "{calls}: {found:?}");
            assert!(found.len() < 8 + 8 + 3 + 7, "{calls}: {found:?}");
            assert!(segment::list(&run.path()).unwrap().len() <= 2);
            let recording = Recording::open(&run.path()).unwrap();
            for id in [1, 2] {
                assert!(recording.blob(BlobId(id)).unwrap().is_some());
            }
            assert_eq!(forgotten(&run.path()) + recording.own_events(), total);
        }
    }

    #[test]
    fn a_run_that_fits_is_kept_whole() {
        let run = Run::play(10);
        let path = run.path();
        drop((run.base, run.ring));
        join(&path, 1000, None).unwrap();
        // Two segments of eight events hold less than that; what they need is there besides.
        assert!(events(&path).len() > 16);
        assert_eq!(Recording::open(&path).unwrap().end(), None);
    }

    #[test]
    fn threads_that_ended_are_forgotten() {
        let mut run = Run::play(20);
        run.ring.ended(ThreadId(2));
        for _ in 0..30 {
            run.push(
                1,
                &[
                    (IncomingCall, 3, vec![order(2)]),
                    (IncomingReturn, 3, vec![Value::Int(7)]),
                ],
            );
        }
        assert_eq!(run.ring.threads.len(), 1);
        assert!(run.ring.gone.is_empty());
        let recording = Recording::open(&run.path()).unwrap();
        assert_eq!(recording.threads().len(), 1);
    }

    #[test]
    fn contents_stay_until_no_record_on_its_way_can_name_them() {
        let quiet = [
            (IncomingCall, 3, vec![order(2)]),
            (IncomingReturn, 3, vec![Value::Int(7)]),
        ];
        let late = [(IncomingCall, 2, vec![text(5)])];
        for (released, found) in [(5, true), (6, false)] {
            let mut run = Run::play(0);
            run.ring.blob(BlobId(5), BlobKind::Text, &[5, 0]).unwrap();
            (0..30).for_each(|_| run.push(1, &quiet));
            run.ring.release(BlobId(released));
            run.push(1, &late);
            let recording = Recording::open(&run.path()).unwrap();
            assert_eq!(recording.blob(BlobId(5)).unwrap().is_some(), found);
            assert_eq!(run.ring.lost_blobs, u64::from(!found));
        }
    }

    #[test]
    fn a_blob_of_the_segment_before_is_copied_and_one_from_further_back_is_a_loss() {
        let mut run = Run::play(0);
        run.ring.blob(BlobId(5), BlobKind::Text, &[5, 0]).unwrap();
        let call = (IncomingCall, 2, vec![text(5)]);
        run.push(2, &[call.clone(), (IncomingReturn, 2, vec![order(50)])]);
        assert_eq!(run.ring.number, 2);
        run.push(1, std::slice::from_ref(&call));
        assert!(run.ring.blobs.contains(&BlobId(5)));
        let late = (IncomingCall, 2, vec![text(77)]);
        run.push(1, &[late]);
        assert_eq!(run.ring.lost_blobs, 1);
    }
}
