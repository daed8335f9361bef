//! The ring: keeps the last events of a run and what they need, while the rest is forgotten.
//!
//! What the kept events need of those before them: the calls that were still open, without which
//! returns and exceptions have no beginning, and the construction of every observed object that a
//! kept event mentions. Events are forgotten a buffer at a time, so a few more than asked for stay.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use culprit_model::site::TypeDef;
use culprit_model::value::Contents;
use culprit_model::{EventKind, ObjectId, Reference, Site, ThreadId, Turn, Value};

use crate::codec::{Cursor, Malformed};
use crate::error::WriteError;
use crate::record::{Layout, Record, RecordBuffer, record};
use crate::table::Table;
use crate::writer::{EventsHead, Store, Writer};

/// Why events are missing where a ring left a gap.
pub const GAP_FORGOTTEN: u32 = 1;

/// Constructions remembered; beyond this the oldest are forgotten.
const MOST_BUILT: usize = 1 << 20;

/// The last events of a run.
pub struct Ring {
    most: u64,
    held: u64,
    forgotten: u64,
    blocks: VecDeque<(EventsHead, Vec<u8>)>,
    sites: HashMap<u32, Place>,
    types: Table<TypeDef>,
    threads: BTreeMap<ThreadId, Past>,
    /// Constructions of observed objects, by the object. Ids grow, so the first is the oldest.
    built: BTreeMap<ObjectId, Vec<Kept>>,
}

struct Place {
    layout: Layout,
    is_constructor: bool,
}

/// What is known of the forgotten events of a thread.
#[derive(Default)]
struct Past {
    turn: Turn,
    open: Vec<Open>,
}

/// A call that began among the forgotten events.
struct Open {
    call: Kept,
    constructs: bool,
    /// The event that made the object under construction known.
    constructed: Option<Kept>,
}

/// A record that outlives the ones around it.
#[derive(Clone)]
struct Kept {
    thread: ThreadId,
    ordinal: u64,
    turn: Turn,
    record: Vec<u8>,
}

impl Ring {
    /// A ring for so many events.
    pub fn new(most: u64) -> Ring {
        Ring {
            most,
            held: 0,
            forgotten: 0,
            blocks: VecDeque::new(),
            sites: HashMap::new(),
            types: Table::new(Vec::new()),
            threads: BTreeMap::new(),
            built: BTreeMap::new(),
        }
    }

    /// Tells what records of a site look like. Must come before them.
    pub fn site(&mut self, site: &Site) {
        let place = Place {
            layout: Layout::of(site),
            is_constructor: site.is_constructor(),
        };
        self.sites.insert(site.id.0, place);
    }

    /// Tells what a type is. Must come before records that mention it.
    pub fn type_def(&mut self, definition: &TypeDef) {
        self.types.insert(definition.clone());
    }

    /// Takes records of one thread, exactly as the Java runtime left them in its buffer.
    pub fn push(&mut self, head: EventsHead, records: Vec<u8>) {
        self.held += u64::from(head.count);
        self.blocks.push_back((head, records));
        while let Some((head, _)) = self.blocks.front() {
            let count = u64::from(head.count);
            if self.held - count < self.most {
                break;
            }
            if let Some((head, records)) = self.blocks.pop_front() {
                self.held -= count;
                self.forgotten += count;
                // Records that make no sense are forgotten like the others; a reader would have
                // said so where they are kept.
                let _ = self.forget(head, &records);
            }
        }
    }

    /// Writes what is kept; the number of events that are not.
    pub fn finish<S: Store>(mut self, writer: &mut Writer<S>) -> Result<u64, WriteError> {
        let needed = self.needed();
        for (thread, kept) in needed {
            let mut buffer = RecordBuffer::new();
            let (first_ordinal, first_turn) = match kept.first() {
                Some(first) => (first.ordinal, first.turn),
                None => continue,
            };
            let mut next = first_ordinal;
            let mut turn = first_turn;
            for event in &kept {
                if event.ordinal > next {
                    buffer.gap(GAP_FORGOTTEN, event.ordinal - next);
                }
                if event.turn != turn {
                    buffer.turn(event.turn);
                    turn = event.turn;
                }
                buffer.whole(&event.record);
                next = event.ordinal + 1;
            }
            self.forgotten -= u64::from(buffer.events());
            let head = EventsHead {
                thread,
                turn: first_turn,
                ordinal: first_ordinal,
                count: buffer.events(),
            };
            writer.events(head, buffer.bytes())?;
        }
        for (head, records) in &self.blocks {
            writer.events(*head, records)?;
        }
        Ok(self.forgotten)
    }

    fn forget(&mut self, head: EventsHead, records: &[u8]) -> Result<(), Malformed> {
        let mut past = self.threads.remove(&head.thread).unwrap_or_default();
        past.turn = head.turn;
        let result = self.walk(head, records, &mut past);
        self.threads.insert(head.thread, past);
        result
    }

    fn walk(&mut self, head: EventsHead, records: &[u8], past: &mut Past) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(records);
        let mut ordinal = head.ordinal;
        while !cursor.is_empty() {
            let start = records.len() - cursor.left();
            let (kind, site) = match record(&mut cursor)? {
                Record::Event(kind, site) => (kind, site),
                Record::Turn(turn) => {
                    past.turn = turn;
                    continue;
                }
                Record::Unwound(calls) => {
                    let left = past.open.len().saturating_sub(calls as usize);
                    past.open.truncate(left);
                    continue;
                }
                Record::Gap { count, .. } => {
                    ordinal += count;
                    continue;
                }
                Record::Pad => continue,
            };
            let place = self.sites.get(&site.0);
            let layout = place.map_or(&Layout::UNKNOWN, |place| &place.layout);
            let values = layout.values(kind, &mut cursor, &self.types)?;
            let end = records.len() - cursor.left();
            let kept = || Kept {
                thread: head.thread,
                ordinal,
                turn: past.turn,
                record: records.get(start..end).unwrap_or_default().to_vec(),
            };
            match kind {
                EventKind::IncomingCall | EventKind::OutgoingCall => {
                    let constructs =
                        kind == EventKind::IncomingCall && place.is_some_and(|p| p.is_constructor);
                    let call = kept();
                    past.open.push(Open {
                        call,
                        constructs,
                        constructed: None,
                    });
                }
                EventKind::Constructed => {
                    let event = kept();
                    if let Some(open) = past.open.last_mut() {
                        open.constructed = Some(event);
                    }
                }
                EventKind::IncomingReturn
                | EventKind::IncomingThrow
                | EventKind::OutgoingReturn
                | EventKind::OutgoingThrow => {
                    let ended = kept();
                    let open = past.open.pop();
                    if let Some(open) =
                        open.filter(|o| o.constructs && kind == EventKind::IncomingReturn)
                    {
                        let mut events = vec![open.call];
                        events.extend(open.constructed);
                        events.push(ended);
                        self.remember(&values, events);
                    }
                }
                _ => {}
            }
            ordinal += 1;
        }
        Ok(())
    }

    fn remember(&mut self, values: &[Value], events: Vec<Kept>) {
        let mut ids = BTreeSet::new();
        values.iter().for_each(|value| mentioned(value, &mut ids));
        if let Some(id) = ids.first() {
            self.built.insert(*id, events);
        }
        if self.built.len() > MOST_BUILT {
            self.built.pop_first();
        }
    }

    /// The forgotten events that the kept ones need, by thread, in their order.
    fn needed(&self) -> BTreeMap<ThreadId, Vec<Kept>> {
        let mut ids = BTreeSet::new();
        for (_, records) in &self.blocks {
            // What cannot be read mentions nothing.
            let _ = self.mentions(records, &mut ids);
        }
        let mut needed: BTreeMap<ThreadId, Vec<Kept>> = BTreeMap::new();
        let mut keep = |event: &Kept| needed.entry(event.thread).or_default().push(event.clone());
        for past in self.threads.values() {
            for open in &past.open {
                let _ = self.mentions(&open.call.record, &mut ids);
                keep(&open.call);
                open.constructed.iter().for_each(&mut keep);
            }
        }
        for id in ids {
            self.built
                .get(&id)
                .into_iter()
                .flatten()
                .for_each(&mut keep);
        }
        for events in needed.values_mut() {
            events.sort_by_key(|event| event.ordinal);
        }
        needed
    }

    fn mentions(&self, records: &[u8], ids: &mut BTreeSet<ObjectId>) -> Result<(), Malformed> {
        let mut cursor = Cursor::new(records);
        while !cursor.is_empty() {
            if let Record::Event(kind, site) = record(&mut cursor)? {
                let place = self.sites.get(&site.0);
                let layout = place.map_or(&Layout::UNKNOWN, |place| &place.layout);
                let values = layout.values(kind, &mut cursor, &self.types)?;
                values.iter().for_each(|value| mentioned(value, ids));
            }
        }
        Ok(())
    }
}

fn mentioned(value: &Value, ids: &mut BTreeSet<ObjectId>) {
    match value {
        Value::Reference(Reference::Object { id, .. }) => {
            ids.insert(*id);
        }
        Value::Reference(Reference::Array {
            contents: Contents::Elements(elements),
            ..
        }) => {
            elements.iter().for_each(|element| mentioned(element, ids));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recording;
    use culprit_model::{Member, SiteId, SiteKind, TypeId};

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

    /// What a ring for `most` events keeps of a run: an outermost call, two constructions, then
    /// many calls on the second object, each in a buffer of its own.
    fn kept(most: u64, calls: u32) -> (Vec<(u64, EventKind)>, u64) {
        let sites = [
            site(1, "main", "()V"),
            site(2, "<init>", "()V"),
            site(3, "total", "()I"),
        ];
        let class = TypeDef {
            id: TypeId(1),
            name: "Order".to_owned(),
            loader: 1,
            constants: Vec::new(),
        };
        let mut ring = Ring::new(most);
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.start(&crate::Start::default()).unwrap();
        sites.iter().for_each(|site| ring.site(site));
        ring.type_def(&class);
        writer.sites(&sites).unwrap();
        writer.types(&[class]).unwrap();
        let mut ordinal = 0;
        let mut push = |events: &[(EventKind, u32, Vec<Value>)]| {
            let mut buffer = RecordBuffer::new();
            for (kind, site, values) in events {
                buffer.event(*kind, SiteId(*site), values);
            }
            let head = EventsHead {
                thread: ThreadId(1),
                turn: Turn(1),
                ordinal,
                count: buffer.events(),
            };
            ordinal += u64::from(buffer.events());
            ring.push(head, buffer.bytes().to_vec());
        };
        push(&[(EventKind::IncomingCall, 1, vec![order(9)])]);
        for id in [1, 2] {
            push(&[
                (EventKind::IncomingCall, 2, vec![]),
                (EventKind::Constructed, 2, vec![order(id)]),
                (EventKind::IncomingReturn, 2, vec![order(id)]),
            ]);
        }
        for _ in 0..calls {
            push(&[
                (EventKind::IncomingCall, 3, vec![order(2)]),
                (EventKind::IncomingReturn, 3, vec![Value::Int(7)]),
            ]);
        }
        let forgotten = ring.finish(&mut writer).unwrap();
        let recording = Recording::from_bytes("ring", writer.into_store().unwrap()).unwrap();
        let events = recording.events().map(|event| {
            let event = event.unwrap();
            (event.ordinal, event.kind)
        });
        (events.collect(), forgotten)
    }

    #[test]
    fn the_last_events_stay_with_their_open_calls_and_constructions() {
        let (events, forgotten) = kept(4, 100);
        let expect = [
            (0, EventKind::IncomingCall),
            (4, EventKind::IncomingCall),
            (5, EventKind::Constructed),
            (6, EventKind::IncomingReturn),
            (203, EventKind::IncomingCall),
            (204, EventKind::IncomingReturn),
            (205, EventKind::IncomingCall),
            (206, EventKind::IncomingReturn),
        ];
        assert_eq!(events, expect);
        assert_eq!(forgotten, 207 - 8);
    }

    #[test]
    fn a_run_that_fits_is_kept_whole() {
        let (events, forgotten) = kept(1000, 10);
        assert_eq!(events.len(), 27);
        assert_eq!(forgotten, 0);
    }
}
