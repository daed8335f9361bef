//! Versions of the recording format, and the one place that decides what can be read.

use std::fmt;

/// A major version of the format. A reader refuses every other major version; what a minor
/// version adds (new blocks, new fields at the end of entries) older readers skip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FormatVersion(pub u16);

impl FormatVersion {
    /// The version this crate writes.
    pub const CURRENT: FormatVersion = FormatVersion(1);
    /// The minor version this crate writes into the start block. Version 1 came with outlines of
    /// external classes, states of objects and what they are made of; version 2 with exceptions that were caught.
    pub const MINOR: u16 = 2;

    /// True if this crate can read recordings of this version.
    pub fn is_readable(self) -> bool {
        self == FormatVersion::CURRENT
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
