//! Final classes that stand-ins extend. Mocking libraries mock them, so the worker loads them without `final`; the printed
//! test has a mock of the library in place of the stand-in.

use std::collections::BTreeSet;
use std::sync::Mutex;

use culprit_weave::stand_in::opened;

use crate::lock::LockSafe;

/// The classes of stand-ins, by their internal names.
#[derive(Default)]
pub(crate) struct OpenedClasses {
    /// They are opened when they are loaded, if they are final.
    wanted: Mutex<BTreeSet<String>>,
    /// They were final.
    opened: Mutex<BTreeSet<String>>,
}

impl OpenedClasses {
    /// Has some classes opened when they are loaded; whether one is new, so that it may be loaded as it is.
    pub(crate) fn want(&self, classes: BTreeSet<String>) -> bool {
        let mut wanted = self.wanted.lock_safe();
        let before = wanted.len();
        wanted.extend(classes);
        wanted.len() > before
    }

    /// The bytes of a class without `final`, if it is one of these.
    pub(crate) fn open(&self, class: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        if !self.wanted.lock_safe().contains(class) {
            return None;
        }
        let opened = opened(bytes).ok().flatten()?;
        self.opened.lock_safe().insert(class.to_owned());
        Some(opened)
    }

    /// True if a class was final.
    pub(crate) fn is_opened(&self, class: &str) -> bool {
        self.opened.lock_safe().contains(class)
    }
}
