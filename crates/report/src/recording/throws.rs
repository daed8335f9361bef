//! The exceptions behind the events of a recording that end a call with one: their messages, and where they were
//! thrown. An event itself has the class and the identity only.

use std::collections::{BTreeMap, HashMap};

use culprit_model::{Catcher, Event, EventKind, Failure, ObjectId, Reference, ThreadId, Value};
use culprit_trace::Recording;

/// The exceptions of a recording by the events that they ended.
pub(super) struct Throws<'r> {
    recording: &'r Recording,
    by_event: HashMap<u64, &'r Failure>,
    by_id: HashMap<ObjectId, &'r Failure>,
}

impl<'r> Throws<'r> {
    /// Finds the events that follow the throw of an exception which was seen.
    pub(super) fn of(recording: &'r Recording) -> Throws<'r> {
        let named = recording.exceptions();
        let named = named.filter_map(|failure| Some((*failure.exceptions.first()?, failure)));
        let mut throws = Throws {
            recording,
            by_event: HashMap::new(),
            by_id: named.collect(),
        };
        // Exceptions that are still to come, by thread, the last one first.
        let mut waiting: BTreeMap<ThreadId, Vec<(u64, &Failure)>> = BTreeMap::new();
        let seen = recording.caught().iter();
        for caught in seen.filter(|caught| caught.catcher != Catcher::Unknown) {
            let thread = waiting.entry(caught.failure.thread).or_default();
            thread.push((caught.ordinal, &caught.failure));
        }
        for thread in waiting.values_mut() {
            thread.sort_by_key(|(ordinal, _)| std::cmp::Reverse(*ordinal));
        }
        if waiting.is_empty() {
            return throws;
        }
        let mut flying: BTreeMap<ThreadId, &Failure> = BTreeMap::new();
        // A damaged recording has the exceptions up to the damage.
        for head in recording.heads().map_while(Result::ok) {
            if let Some(thread) = waiting.get_mut(&head.thread) {
                while let Some((_, failure)) = thread
                    .last()
                    .copied()
                    .filter(|(from, _)| *from <= head.ordinal)
                {
                    thread.pop();
                    flying.insert(head.thread, failure);
                }
            }
            match head.kind {
                EventKind::IncomingThrow | EventKind::OutgoingThrow => {
                    if let Some(failure) = flying.get(&head.thread) {
                        throws.by_event.insert(head.index.0, failure);
                    }
                }
                kind if kind.closes() || is_call(kind) => {
                    flying.remove(&head.thread);
                }
                _ => {}
            }
        }
        throws
    }

    /// The exception that an event ended a call with, if it is known.
    pub(super) fn exception(&self, event: &Event) -> Option<&'r Failure> {
        if !is_throw(event.kind) {
            return None;
        }
        let Some(Value::Reference(Reference::Object { id, class })) = event.values.first() else {
            return None;
        };
        // Observed code may have thrown another one in its place.
        let class = self.recording.types().get(class.0)?.name.replace('/', ".");
        let by_event = self.by_event.get(&event.index.0);
        let by_event = by_event.filter(|failure| failure.class == class);
        self.by_id.get(id).or(by_event).copied()
    }
}

fn is_throw(kind: EventKind) -> bool {
    matches!(kind, EventKind::IncomingThrow | EventKind::OutgoingThrow)
}

fn is_call(kind: EventKind) -> bool {
    matches!(kind, EventKind::IncomingCall | EventKind::OutgoingCall)
}

/// The source and the line in a frame: `Cart.java:12` of `shop.Cart.total(Cart.java:12)`.
pub(super) fn line_of(frame: &str) -> Option<&str> {
    let (_, rest) = frame.split_once('(')?;
    let (line, _) = rest.split_once(')')?;
    line.contains(':').then_some(line)
}
