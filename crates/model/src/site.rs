//! Sites: the places in the code where events come from. An event carries a site id; everything
//! that is the same for every event of a place (class, method, line, target, the layout of the
//! values) is kept once, here.

use crate::value::{Shape, method_shapes};
use crate::{EventKind, SiteId, TypeId};

/// A field or method by name; `owner` is an internal class name (`java/util/List`).
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Member {
    pub owner: String,
    pub name: String,
    pub descriptor: String,
}

/// What kind of place a site is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum SiteKind {
    /// An observed method, seen from inside: incoming calls.
    Entry,
    /// A call in observed code: outgoing calls.
    Call,
    /// An external method reached from observed code through library code that runs live
    /// (`hashCode` of an external key, say): outgoing calls seen at the callee.
    Callee,
    /// A field access, in observed code (outgoing) or in external code (incoming).
    Field,
    /// An array element access in observed code; `target.descriptor` is the element type.
    Array,
}

/// A place in the code where events come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    pub id: SiteId,
    pub kind: SiteKind,
    /// Internal name of the class the code is in.
    pub class: String,
    /// Name and descriptor of the method the code is in.
    pub method: String,
    pub descriptor: String,
    /// Source line; `None` where the class file has none.
    pub line: Option<u16>,
    /// Source file (`Order.java`); `None` where the class file has none.
    pub source: Option<String>,
    /// What is called or accessed. For `Entry` and `Callee`, the method itself.
    pub target: Member,
    /// The target is static: events have no receiver.
    pub is_static: bool,
}

impl Site {
    /// The target is a constructor: the call has no receiver, the return carries the new object.
    pub fn is_constructor(&self) -> bool {
        self.target.name == "<init>"
    }

    /// Whether a site of this kind can have such events.
    pub fn has_events(&self, kind: EventKind) -> bool {
        match kind {
            EventKind::IncomingCall
            | EventKind::IncomingReturn
            | EventKind::IncomingThrow
            | EventKind::Constructed => self.kind == SiteKind::Entry,
            EventKind::OutgoingCall
            | EventKind::OutgoingReturn
            | EventKind::OutgoingThrow
            | EventKind::ArrayContents => matches!(self.kind, SiteKind::Call | SiteKind::Callee),
            // Where library code asks, they have the site of the innermost call.
            EventKind::IdentityHash
            | EventKind::ObjectState
            | EventKind::Held
            | EventKind::Born
            | EventKind::Apart => matches!(
                self.kind,
                SiteKind::Entry | SiteKind::Call | SiteKind::Callee
            ),
            EventKind::OutgoingRead
            | EventKind::OutgoingWrite
            | EventKind::IncomingRead
            | EventKind::IncomingWrite => self.kind == SiteKind::Field,
            EventKind::ArrayRead | EventKind::ArrayWrite => self.kind == SiteKind::Array,
        }
    }

    /// Shapes of the values of such an event of this site; `None` if it has no such events.
    pub fn shapes(&self, kind: EventKind) -> Option<Vec<Shape>> {
        if !self.has_events(kind) {
            return None;
        }
        let receiver = |has: bool| has.then_some(Shape::Reference).into_iter();
        let accessed = || Shape::of(&self.target.descriptor);
        Some(match kind {
            EventKind::IncomingCall | EventKind::OutgoingCall => {
                let (arguments, _) = method_shapes(&self.target.descriptor)?;
                receiver(self.has_receiver()).chain(arguments).collect()
            }
            EventKind::IncomingReturn | EventKind::OutgoingReturn => {
                method_shapes(&self.target.descriptor)?;
                self.result_shape().into_iter().collect()
            }
            EventKind::IncomingThrow
            | EventKind::OutgoingThrow
            | EventKind::ArrayContents
            | EventKind::Constructed => vec![Shape::Reference],
            EventKind::OutgoingRead
            | EventKind::OutgoingWrite
            | EventKind::IncomingRead
            | EventKind::IncomingWrite => receiver(!self.is_static).chain([accessed()?]).collect(),
            EventKind::ArrayRead | EventKind::ArrayWrite => {
                vec![Shape::Reference, Shape::Int, accessed()?]
            }
            EventKind::IdentityHash | EventKind::Apart => {
                vec![Shape::Reference, Shape::Int]
            }
            // The pieces follow, as many as there are.
            EventKind::ObjectState | EventKind::Held => vec![Shape::Reference],
            EventKind::Born => vec![Shape::Reference, Shape::Int, Shape::Long],
        })
    }

    /// A call event of this site starts with a receiver.
    pub fn has_receiver(&self) -> bool {
        !self.is_static && !self.is_constructor()
    }

    /// Shape of what a return event of this site carries; a constructor returns the new object.
    pub fn result_shape(&self) -> Option<Shape> {
        if self.is_constructor() {
            return Some(Shape::Reference);
        }
        method_shapes(&self.target.descriptor).and_then(|(_, r)| r)
    }
}

/// A run-time class, defined once in a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeDef {
    pub id: TypeId,
    /// Internal name (`java/lang/String`, `[I`, `com/acme/Order$Line`).
    pub name: String,
    /// Number of the defining loader in this recording; 0 is the boot loader.
    pub loader: u32,
    /// Names of the constants, by ordinal, where the class is an enum.
    pub constants: Vec<String>,
    /// Instance fields, those of superclasses first, where a state has an object of the class. What
    /// the JVM keeps in objects for itself is left out.
    pub fields: Vec<Member>,
}
