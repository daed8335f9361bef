//! Events: the interactions that crossed the border between observed and external code.

use crate::{EventIndex, SiteId, ThreadId, Turn, Value};

/// The kinds of events. The numbers are those of the recording and of the Java runtime.
///
/// SCARPE's nine are the calls, returns and throws in both directions, outgoing reads and
/// writes, and incoming writes; JINSI adds incoming reads, constructors, array accesses and array
/// contents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum EventKind {
    /// External code calls observed code. Values: receiver (if any), arguments.
    IncomingCall = 1,
    /// That call returns. Values: the result (if any).
    IncomingReturn = 2,
    /// That call ends with an exception, which leaves observed code. Values: the exception.
    IncomingThrow = 3,
    /// Observed code calls external code. Values: receiver (if any), arguments.
    OutgoingCall = 4,
    /// That call returns. Values: the result (if any).
    OutgoingReturn = 5,
    /// That call ends with an exception, which enters observed code. Values: the exception.
    OutgoingThrow = 6,
    /// Observed code reads an external field. Values: receiver (if any), value.
    OutgoingRead = 7,
    /// Observed code writes an external field. Values: receiver (if any), value.
    OutgoingWrite = 8,
    /// External code reads an observed field. Values: receiver (if any), value.
    IncomingRead = 9,
    /// External code writes an observed field. Values: receiver (if any), value.
    IncomingWrite = 10,
    /// Observed code reads an element of a shared array. Values: array, index, element.
    ArrayRead = 11,
    /// Observed code writes an element of a shared array. Values: array, index, element.
    ArrayWrite = 12,
    /// Contents of an array as an outgoing call left them. Values: the array.
    ArrayContents = 13,
    /// The object under construction in an incoming constructor call becomes known.
    /// Values: the object.
    Constructed = 14,
    /// An object's identity hash, the first time live library code used it. Values: object, hash.
    IdentityHash = 15,
    /// The state of an object that came from outside, before live library code looks into it; or of
    /// an observed object that no constructor made, before it comes in. Values: the object, then
    /// the pieces of its state, the first of which is the object itself.
    ObjectState = 20,
    /// Objects that get their ids since one that goes out with the next event holds them. Values: the
    /// objects, in the order of their ids.
    Held = 21,
    /// An observed object, before it comes in, that left without an event that names it: it is the one
    /// that an observed constructor made on a thread after so many others. Values: the object, the
    /// thread, the number.
    Born = 22,
    /// Observed code found two equal strings to be two objects. Values: the string, and how many times
    /// the thread has found two to be one since its last event.
    Apart = 23,
}

impl EventKind {
    pub const ALL: [EventKind; 19] = [
        EventKind::IncomingCall,
        EventKind::IncomingReturn,
        EventKind::IncomingThrow,
        EventKind::OutgoingCall,
        EventKind::OutgoingReturn,
        EventKind::OutgoingThrow,
        EventKind::OutgoingRead,
        EventKind::OutgoingWrite,
        EventKind::IncomingRead,
        EventKind::IncomingWrite,
        EventKind::ArrayRead,
        EventKind::ArrayWrite,
        EventKind::ArrayContents,
        EventKind::Constructed,
        EventKind::IdentityHash,
        EventKind::ObjectState,
        EventKind::Held,
        EventKind::Born,
        EventKind::Apart,
    ];

    pub fn from_code(code: u8) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| *kind as u8 == code)
    }

    /// Its place in `ALL`.
    pub fn place(self) -> usize {
        // Codes from 16 to 19 are no events.
        match self as usize {
            code if code < 16 => code - 1,
            code => code - 5,
        }
    }

    /// The name users see and type (`--kind incoming-call`).
    pub fn name(self) -> &'static str {
        match self {
            EventKind::IncomingCall => "incoming-call",
            EventKind::IncomingReturn => "incoming-return",
            EventKind::IncomingThrow => "incoming-throw",
            EventKind::OutgoingCall => "outgoing-call",
            EventKind::OutgoingReturn => "outgoing-return",
            EventKind::OutgoingThrow => "outgoing-throw",
            EventKind::OutgoingRead => "outgoing-read",
            EventKind::OutgoingWrite => "outgoing-write",
            EventKind::IncomingRead => "incoming-read",
            EventKind::IncomingWrite => "incoming-write",
            EventKind::ArrayRead => "array-read",
            EventKind::ArrayWrite => "array-write",
            EventKind::ArrayContents => "array-contents",
            EventKind::Constructed => "constructed",
            EventKind::IdentityHash => "identity-hash",
            EventKind::ObjectState => "object-state",
            EventKind::Held => "held",
            EventKind::Born => "born",
            EventKind::Apart => "apart",
        }
    }

    /// It tells of objects, beside what control and data do.
    pub fn is_aside(self) -> bool {
        matches!(
            self,
            EventKind::IdentityHash
                | EventKind::ObjectState
                | EventKind::Held
                | EventKind::Born
                | EventKind::Apart
        )
    }

    /// It has a list of references: as many as it takes, of which there is at least one.
    pub fn is_list(self) -> bool {
        matches!(self, EventKind::ObjectState | EventKind::Held)
    }

    /// It begins a call, which is open from then on.
    pub fn opens(self) -> bool {
        matches!(self, EventKind::IncomingCall | EventKind::OutgoingCall)
    }

    /// It ends a call.
    pub fn closes(self) -> bool {
        self.opened_by().is_some()
    }

    /// What began the call that it ends.
    pub fn opened_by(self) -> Option<EventKind> {
        match self {
            EventKind::IncomingReturn | EventKind::IncomingThrow => Some(EventKind::IncomingCall),
            EventKind::OutgoingReturn | EventKind::OutgoingThrow => Some(EventKind::OutgoingCall),
            _ => None,
        }
    }
}

/// One event of a recording.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Place in the global order.
    pub index: EventIndex,
    pub thread: ThreadId,
    pub turn: Turn,
    /// Place among the events of its thread, from 0.
    pub ordinal: u64,
    pub kind: EventKind,
    pub site: SiteId,
    /// As listed at each kind.
    pub values: Vec<Value>,
    /// Crossings of this thread that were open before this event (0 = outermost).
    pub depth: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_know_their_places() {
        for (place, kind) in EventKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.place(), place);
        }
    }
}
