//! What was looked up once: classes by type, methods by site, strings by content. Looking them up
//! by name costs more than the calls they are for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use culprit_jvmti::{Global, MethodId, StaticFieldId, StaticMethodId};
use culprit_model::{SiteId, TypeId};

use crate::lock::LockSafe;

/// Strings are kept up to this length, and so many of them.
const LONGEST: usize = 64;
const MOST_STRINGS: usize = 1 << 16;

#[derive(Default)]
pub(super) struct Cache {
    types: Mutex<HashMap<u32, Arc<Global>>>,
    targets: Mutex<HashMap<u32, Arc<CallTarget>>>,
    strings: Mutex<HashMap<Box<[u16]>, Arc<Global>>>,
    statics: Mutex<HashMap<String, Arc<Statics>>>,
}

/// The static fields of a class that are set back between scenarios.
pub(super) struct Statics {
    pub(super) class: Global,
    pub(super) fields: Vec<StaticFieldId>,
}

/// What an incoming call goes to.
pub(super) struct CallTarget {
    pub(super) class: Global,
    pub(super) method: Method,
    /// The classes of its parameters, where they are references of a class other than `Object`.
    pub(super) parameters: Vec<Option<Global>>,
    /// Initialises the class unless that is done.
    pub(super) touch: Option<StaticMethodId>,
}

/// A method, and how it is called.
pub(super) enum Method {
    Static(StaticMethodId),
    Constructor(MethodId),
    Instance(MethodId),
    /// The class is initialised.
    Initialiser,
}

impl Cache {
    pub(super) fn class(&self, class: TypeId) -> Option<Arc<Global>> {
        self.types.lock_safe().get(&class.0).cloned()
    }

    pub(super) fn keep_class(&self, class: TypeId, found: Global) {
        self.types.lock_safe().insert(class.0, Arc::new(found));
    }

    pub(super) fn statics(&self, class: &str) -> Option<Arc<Statics>> {
        self.statics.lock_safe().get(class).cloned()
    }

    pub(super) fn keep_statics(&self, class: &str, statics: Statics) -> Arc<Statics> {
        let statics = Arc::new(statics);
        let mut all = self.statics.lock_safe();
        all.insert(class.to_owned(), Arc::clone(&statics));
        statics
    }

    /// Forgets whatever belongs to classes.
    pub(super) fn forget_classes(&self) {
        self.types.lock_safe().clear();
        self.targets.lock_safe().clear();
        self.statics.lock_safe().clear();
    }

    pub(super) fn target(&self, site: SiteId) -> Option<Arc<CallTarget>> {
        self.targets.lock_safe().get(&site.0).cloned()
    }

    pub(super) fn keep_target(&self, site: SiteId, target: CallTarget) -> Arc<CallTarget> {
        let target = Arc::new(target);
        let mut targets = self.targets.lock_safe();
        targets.insert(site.0, Arc::clone(&target));
        target
    }

    pub(super) fn string(&self, units: &[u16]) -> Option<Arc<Global>> {
        match units.len() <= LONGEST {
            true => self.strings.lock_safe().get(units).cloned(),
            false => None,
        }
    }

    /// Whether a string is worth keeping.
    pub(super) fn keeps(&self, units: &[u16]) -> bool {
        units.len() <= LONGEST && self.strings.lock_safe().len() < MOST_STRINGS
    }

    pub(super) fn keep_string(&self, units: &[u16], string: Global) {
        let mut strings = self.strings.lock_safe();
        strings.insert(units.into(), Arc::new(string));
    }
}
