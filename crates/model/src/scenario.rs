//! Scenarios: what to do. A scenario is a row of steps over objects: calls into the observed
//! code, what that code asks of the outside and is answered, and what it gives back. Replay
//! makes one of a recording, reduction takes steps out, search grows them, and one executor runs
//! them all.
//!
//! Steps nest as the events of a recording do: a call is open until its return or throw, and what
//! stands between belongs to it. Types, sites and long values are kept in tables of the scenario,
//! so that it needs no recording.

pub mod text;
mod uses;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::site::TypeDef;
use crate::{BlobId, Event, EventIndex, EventKind, Site, SiteId, Table, ThreadId, TypeId, Value};

pub use uses::Uses;

/// A whole scenario. One that comes from a long recording is not held in memory: its steps are a
/// stream, and only its `tables` are.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scenario {
    pub tables: Tables,
    pub steps: Vec<Step>,
}

/// What the steps of a scenario refer to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tables {
    /// Run-time classes.
    pub types: Table<TypeDef>,
    /// Places in the code.
    pub sites: Table<Site>,
    /// Names of the threads, in the order of their numbers.
    pub threads: Vec<(ThreadId, String)>,
    /// Long strings, as UTF-16 code units, and contents of primitive arrays; little endian.
    pub blobs: BTreeMap<BlobId, Vec<u8>>,
}

impl Tables {
    /// The definition of a site.
    pub fn site(&self, id: SiteId) -> Option<&Site> {
        self.sites.get(id.0)
    }

    /// The definition of a class.
    pub fn class(&self, id: TypeId) -> Option<&TypeDef> {
        self.types.get(id.0)
    }

    /// The name of a class, or `?` if it is not defined.
    pub fn class_name(&self, id: TypeId) -> &str {
        self.class(id).map_or("?", |class| &class.name)
    }
}

/// One step. The kinds are those of events, and so are the values of each kind.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    pub thread: ThreadId,
    pub kind: EventKind,
    pub site: SiteId,
    pub values: Vec<Value>,
    /// Calls of this thread that are open before this step.
    pub depth: u32,
    /// The event of the recording that the step was made of.
    pub origin: Option<EventIndex>,
}

/// The side that acts in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Actor {
    /// The executor begins: it calls observed code, or accesses an observed field.
    Drive,
    /// Observed code is owed something, which the executor gives: a result, an exception, the
    /// value of an external field, the contents of an array, the hash or the state of an object, its name.
    Answer,
    /// Observed code acts, and the executor looks whether it does what the step says.
    Expect,
}

impl Step {
    pub fn part(&self) -> Actor {
        match self.kind {
            EventKind::IncomingCall | EventKind::IncomingRead | EventKind::IncomingWrite => {
                Actor::Drive
            }
            EventKind::OutgoingReturn
            | EventKind::OutgoingThrow
            | EventKind::OutgoingRead
            | EventKind::ArrayContents
            | EventKind::IdentityHash
            | EventKind::ObjectState
            | EventKind::Born
            | EventKind::Apart => Actor::Answer,
            EventKind::IncomingReturn
            | EventKind::IncomingThrow
            | EventKind::OutgoingCall
            | EventKind::OutgoingWrite
            | EventKind::ArrayRead
            | EventKind::ArrayWrite
            | EventKind::Constructed
            | EventKind::Held => Actor::Expect,
        }
    }

    /// Places of the values that observed code gets from outside. It brings the others itself, or
    /// they are known from earlier steps.
    pub fn given(&self) -> Range<usize> {
        let (all, last) = (self.values.len(), self.values.len().saturating_sub(1));
        match self.kind {
            EventKind::IncomingCall
            | EventKind::IncomingWrite
            | EventKind::OutgoingReturn
            | EventKind::OutgoingThrow
            | EventKind::ArrayContents => 0..all,
            EventKind::OutgoingRead | EventKind::IdentityHash | EventKind::Apart => last..all,
            EventKind::ObjectState => 1..all,
            EventKind::Born => 0..1,
            EventKind::IncomingRead => 0..last,
            EventKind::IncomingReturn
            | EventKind::IncomingThrow
            | EventKind::OutgoingCall
            | EventKind::OutgoingWrite
            | EventKind::ArrayRead
            | EventKind::ArrayWrite
            | EventKind::Constructed
            | EventKind::Held => 0..0,
        }
    }
}

impl Step {
    /// Which object it names that an observed constructor made: the thread, and the number among those
    /// made by it.
    pub fn birth(&self) -> Option<(ThreadId, u64)> {
        match (self.kind, self.values.as_slice()) {
            (EventKind::Born, [_, Value::Int(thread), Value::Long(number)]) => {
                Some((ThreadId(*thread as u32), *number as u64))
            }
            _ => None,
        }
    }
}

impl From<Event> for Step {
    fn from(event: Event) -> Step {
        Step {
            thread: event.thread,
            kind: event.kind,
            site: event.site,
            values: event.values,
            depth: event.depth,
            origin: Some(event.index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_given() {
        for (step, given) in [
            ("=> @1(1, 2)", 0..2),
            ("=> get @1 on 1 = 2", 0..1),
            ("=> set @1 on 1 = 2", 0..2),
            ("-> get @1 on 1 = 2", 1..2),
            ("-> set @1 on 1 = 2", 0..0),
            ("-> @1(1, 2)", 0..0),
            ("<- @1 = 1", 0..1),
            ("<- @1", 0..0),
            ("<= @1 = 1", 0..0),
            ("== array @1 = 1", 0..1),
            ("== hash @1 on 1 = 2", 1..2),
        ] {
            let scenario: Scenario = format!("scenario 1\n{step}").parse().unwrap();
            assert_eq!(scenario.steps[0].given(), given, "{step}");
        }
    }
}
