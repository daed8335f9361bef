//! The earlier events that later ones need: the calls that are still open, without which returns
//! and exceptions have no beginning, and the constructions of the observed objects that later
//! events mention. Knows nothing of files.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use culprit_model::value::Contents;
use culprit_model::{BlobId, EventKind, ObjectId, Reference, ThreadId, Turn, Value};

use crate::error::WriteError;
use crate::record::RecordBuffer;
use crate::writer::EventsHead;

/// Why events are missing where those before the last ones were forgotten.
pub const GAP_FORGOTTEN: u32 = 1;

/// A block is full once it has so many bytes of records.
const FULL: usize = 128 << 10;

/// The place of an event: its thread, its number among the events of the thread, its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct EventPosition {
    pub(crate) thread: ThreadId,
    pub(crate) ordinal: u64,
    pub(crate) turn: Turn,
}

/// A record that outlives the ones around it.
#[derive(Clone, Debug)]
pub(crate) struct KeptRecord {
    pub(crate) place: EventPosition,
    pub(crate) record: Vec<u8>,
    /// The blobs it refers to.
    pub(crate) blobs: Vec<BlobId>,
}

/// A call that is open.
#[derive(Debug)]
struct OpenCall {
    call: KeptRecord,
    constructs: bool,
    /// The objects that the call mentions.
    objects: Vec<ObjectId>,
    /// The event that made the object under construction known.
    constructed: Option<KeptRecord>,
}

/// The construction of an object, and its hash where that was told.
#[derive(Debug)]
struct Built {
    events: Vec<KeptRecord>,
    /// When it was last mentioned, in `Needs::now`.
    used: u64,
}

/// The open calls and constructions of a thread.
#[derive(Debug, Default)]
struct Past {
    turn: Turn,
    /// Place of its next event.
    next: u64,
    open: Vec<OpenCall>,
}

/// Everything that later events may need of those seen so far.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    threads: BTreeMap<ThreadId, Past>,
    built: HashMap<ObjectId, Built>,
    now: u64,
}

impl Needs {
    /// Takes note of an event. `constructs` says that its site is that of a constructor; of the
    /// values only references matter.
    pub(crate) fn event(
        &mut self,
        place: EventPosition,
        kind: EventKind,
        constructs: bool,
        values: &[Value],
        record: impl FnOnce() -> Vec<u8>,
    ) {
        let (built, now) = (&mut self.built, self.now);
        if !built.is_empty() {
            each_object(values, &mut |id| {
                if let Some(known) = built.get_mut(&id) {
                    known.used = now;
                }
            });
        }
        let past = self.threads.entry(place.thread).or_default();
        past.turn = place.turn;
        past.next = place.ordinal.saturating_add(1);
        let kept = || {
            let mut blobs = Vec::new();
            each_blob(values, &mut |blob| blobs.push(blob));
            KeptRecord {
                place,
                record: record(),
                blobs,
            }
        };
        match kind {
            EventKind::IncomingCall | EventKind::OutgoingCall => {
                let mut objects = Vec::new();
                each_object(values, &mut |id| objects.push(id));
                past.open.push(OpenCall {
                    call: kept(),
                    constructs: constructs && kind == EventKind::IncomingCall,
                    objects,
                    constructed: None,
                });
            }
            EventKind::IdentityHash => {
                // Told once: whoever needs the object needs it.
                let mut object = None;
                each_object(values, &mut |id| object = object.or(Some(id)));
                if let Some(known) = object.and_then(|id| built.get_mut(&id)) {
                    known.events.push(kept());
                }
            }
            EventKind::Constructed => {
                if let Some(open) = past.open.last_mut() {
                    open.constructed = Some(kept());
                }
            }
            EventKind::IncomingReturn
            | EventKind::IncomingThrow
            | EventKind::OutgoingReturn
            | EventKind::OutgoingThrow => {
                let Some(open) = past.open.pop() else { return };
                if open.constructs && kind == EventKind::IncomingReturn {
                    let mut events = vec![open.call];
                    events.extend(open.constructed);
                    events.push(kept());
                    let mut object = None;
                    each_object(values, &mut |id| object = object.or(Some(id)));
                    if let Some(id) = object {
                        self.built.insert(id, Built { events, used: now });
                    }
                }
            }
            _ => {}
        }
    }

    /// Only so many calls of a thread are open: the others ended unseen.
    pub(crate) fn truncate(&mut self, thread: ThreadId, depth: usize) {
        if let Some(past) = self.threads.get_mut(&thread) {
            past.open.truncate(depth);
        }
    }

    /// So many calls of a thread ended unseen.
    pub(crate) fn unwound(&mut self, thread: ThreadId, calls: usize) {
        if let Some(past) = self.threads.get_mut(&thread) {
            let left = past.open.len().saturating_sub(calls);
            past.open.truncate(left);
        }
    }

    /// A thread has ended. What it constructed stays.
    pub(crate) fn ended(&mut self, thread: ThreadId) {
        self.threads.remove(&thread);
    }

    /// Forgets constructions beyond so many, those first that were not mentioned for longest.
    pub(crate) fn age(&mut self, most: usize) {
        self.now += 1;
        if self.built.len() > most {
            let mut ages: Vec<(u64, ObjectId)> = self
                .built
                .iter()
                .map(|(id, built)| (built.used, *id))
                .collect();
            ages.sort_unstable();
            for (_, id) in &ages[..ages.len() - most] {
                self.built.remove(id);
            }
        }
    }

    /// Number of open calls of a thread.
    pub(crate) fn depth(&self, thread: ThreadId) -> u32 {
        self.threads
            .get(&thread)
            .map_or(0, |past| past.open.len() as u32)
    }

    /// The threads that go on, with the place of their next event and their turn.
    pub(crate) fn threads(&self) -> impl Iterator<Item = EventPosition> {
        self.threads.iter().map(|(thread, past)| EventPosition {
            thread: *thread,
            ordinal: past.next,
            turn: past.turn,
        })
    }

    /// The open calls.
    pub(crate) fn open(&self) -> impl Iterator<Item = &KeptRecord> {
        let open = self.threads.values().flat_map(|past| &past.open);
        open.flat_map(|open| std::iter::once(&open.call).chain(&open.constructed))
    }

    /// The objects that open calls mention.
    pub(crate) fn open_objects(&self) -> impl Iterator<Item = ObjectId> {
        let open = self.threads.values().flat_map(|past| &past.open);
        open.flat_map(|open| open.objects.iter().copied())
    }

    /// All constructions.
    pub(crate) fn constructions(&self) -> impl Iterator<Item = &KeptRecord> {
        self.built.values().flat_map(|built| &built.events)
    }

    /// The constructions of these objects.
    pub(crate) fn constructions_of<'a>(
        &'a self,
        objects: &'a BTreeSet<ObjectId>,
    ) -> impl Iterator<Item = &'a KeptRecord> {
        let built = objects.iter().filter_map(|id| self.built.get(id));
        built.flat_map(|built| &built.events)
    }
}

/// Calls `visit` for each object that the values mention.
pub(crate) fn each_object(values: &[Value], visit: &mut impl FnMut(ObjectId)) {
    for value in values {
        match value {
            Value::Reference(Reference::Object { id, .. }) => visit(*id),
            Value::Reference(Reference::Array {
                contents: Contents::Elements(elements),
                ..
            }) => each_object(elements, visit),
            Value::Reference(Reference::Structure { fields, .. }) => each_object(fields, visit),
            _ => {}
        }
    }
}

/// Calls `visit` for each blob that the values refer to.
pub(crate) fn each_blob(values: &[Value], visit: &mut impl FnMut(BlobId)) {
    for value in values {
        match value {
            Value::Reference(Reference::StringBlob(blob)) => visit(*blob),
            Value::Reference(Reference::Array { contents, .. }) => blob_of(contents, visit),
            Value::Reference(Reference::Structure { fields, .. }) => each_blob(fields, visit),
            _ => {}
        }
    }
}

fn blob_of(contents: &Contents, visit: &mut impl FnMut(BlobId)) {
    match contents {
        Contents::Elements(elements) => each_blob(elements, visit),
        Contents::Blob(blob) => visit(*blob),
        Contents::Part { known, .. } => blob_of(known, visit),
        Contents::Unknown => {}
    }
}

/// Writes chosen events of one thread as blocks, with gaps where the others were.
pub(crate) struct Lane {
    head: EventsHead,
    buffer: RecordBuffer,
    turn: Turn,
    next: u64,
}

impl Lane {
    pub(crate) fn new(thread: ThreadId) -> Lane {
        Lane {
            head: EventsHead {
                thread,
                ..EventsHead::default()
            },
            buffer: RecordBuffer::new(),
            turn: Turn::default(),
            next: 0,
        }
    }

    /// Everything up to this place is missing.
    pub(crate) fn skip_to(&mut self, place: EventPosition) {
        if place.turn != self.turn {
            self.turn = place.turn;
            if self.buffer.bytes().is_empty() {
                self.head.turn = place.turn;
            } else {
                self.buffer.turn(place.turn);
            }
        }
        if place.ordinal > self.next {
            self.buffer.gap(GAP_FORGOTTEN, place.ordinal - self.next);
            self.next = place.ordinal;
        }
    }

    /// An event; whether the block is full.
    pub(crate) fn event(&mut self, place: EventPosition, record: &[u8]) -> bool {
        self.skip_to(place);
        self.buffer.whole(record);
        self.next = place.ordinal.saturating_add(1);
        self.buffer.bytes().len() >= FULL
    }

    /// Calls ended unseen.
    pub(crate) fn unwound(&mut self, calls: u32) {
        self.buffer.unwound(calls);
    }

    /// Writes what there is and starts a new block.
    pub(crate) fn hand_over(
        &mut self,
        write: impl FnOnce(EventsHead, &[u8]) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        if self.buffer.bytes().is_empty() {
            return Ok(());
        }
        self.head.count = self.buffer.events();
        write(self.head, self.buffer.bytes())?;
        self.buffer.clear();
        self.head.turn = self.turn;
        self.head.ordinal = self.next;
        Ok(())
    }
}
