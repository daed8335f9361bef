//! Grades of agreement between two failures.

use std::fmt;

/// The degree to which a failure agrees with a signature. Each grade includes those before it;
/// a failure that does not even reach the first is another failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Grade {
    /// Same type, thrown at the same site; so are the causes.
    L1,
    /// The messages differ at most in what [`mask_literals`](crate::mask_literals) masks; those
    /// of failed assertions at most in what [`mask`](crate::mask) does, since the values in them
    /// are what they are about.
    L2,
    /// The messages are the same, but for what [`normalise`](crate::normalise) replaces and for numbers that are
    /// known to differ from run to run.
    L3,
    /// The stacks are the same as far as they can be: see
    /// [`Signature::grade`](crate::Signature::grade).
    L4,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Grade::L1 => "same type and site",
            Grade::L2 => "same type, site and kind of message",
            Grade::L3 => "same type, site and message",
            Grade::L4 => "same type, site, message and stack",
        })
    }
}
