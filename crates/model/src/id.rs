//! Identifiers. Each is a newtype so that one cannot be passed for another.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// One object of the subject, numbered from 1 when it first crosses the border.
    ObjectId(u64), "#"
);
id!(
    /// One run-time class: a name together with the loader that defined it.
    TypeId(u32), "type "
);
id!(
    /// One place in the code where events come from. Site 0 is nobody's.
    SiteId(u32), "site "
);
id!(
    /// One thread of the subject, in order of its first event.
    ThreadId(u32), "t"
);
id!(
    /// A long string or array content, stored once.
    BlobId(u32), "blob "
);
id!(
    /// A stretch of events of one thread during which no other thread had an event.
    /// Turns are numbered in global order.
    Turn(u64), "turn "
);
id!(
    /// The place of an event in the global order, from 0.
    EventIndex(u64), "@"
);
