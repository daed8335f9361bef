//! The relations between the classes of a jar: the off-line counterpart of what the agent
//! learns as classes load.

use std::collections::{BTreeMap, BTreeSet};

use culprit_classfile::ClassFile;
use culprit_model::Selection;
use culprit_model::observe::{ClassOrigin, is_jdk_name};
use culprit_weave::{MemberKind, Outline, World, can_carry_id, outline};

/// The classes of a jar.
pub(crate) struct JarWorld {
    selection: Selection,
    classes: BTreeMap<String, JarClass>,
    observed: BTreeSet<String>,
    kin: BTreeSet<String>,
}

#[derive(Default)]
struct JarClass {
    outline: Outline,
    interfaces: Vec<String>,
    can_carry_id: bool,
}

impl JarClass {
    fn supertypes(&self) -> impl Iterator<Item = &String> {
        self.outline.superclass.iter().chain(&self.interfaces)
    }
}

impl JarWorld {
    pub(crate) fn new(selection: Selection) -> JarWorld {
        JarWorld {
            selection,
            classes: BTreeMap::new(),
            observed: BTreeSet::new(),
            kin: BTreeSet::new(),
        }
    }

    /// Notes what a class says. Versions of a class for several releases of Java are one.
    pub(crate) fn add(&mut self, class: &ClassFile) -> Result<(), culprit_weave::Error> {
        let known = self.classes.entry(class.name()?.into_owned()).or_default();
        known.outline.add(class)?;
        known.can_carry_id = can_carry_id(class);
        for name in class.interface_names()? {
            known.interfaces.push(name.into_owned());
        }
        Ok(())
    }

    /// Decides who is observed, once all classes are there: those selected and their subclasses.
    pub(crate) fn decide(&mut self) {
        let selected = |name: &String| self.selection.selects(name, ClassOrigin::Program);
        self.observed = self
            .classes
            .keys()
            .filter(|n| selected(n))
            .cloned()
            .collect();
        loop {
            let before = self.observed.len();
            for (name, outline) in &self.classes {
                let inherits = outline.supertypes().any(|s| self.observed.contains(s));
                if inherits && !self.selection.excludes(name) {
                    self.observed.insert(name.clone());
                }
            }
            if self.observed.len() == before {
                break;
            }
        }
        let mut open: Vec<&String> = self.observed.iter().collect();
        while let Some(outline) = open.pop().and_then(|name| self.classes.get(name)) {
            for supertype in outline.supertypes() {
                let external = !self.observed.contains(supertype);
                if external && !is_jdk_name(supertype) && self.kin.insert(supertype.clone()) {
                    open.push(supertype);
                }
            }
        }
        // A class that inherits from an observed one but was excluded is watched as well.
        for (name, outline) in &self.classes {
            let inherits = outline.supertypes().any(|s| self.observed.contains(s));
            if inherits && !self.observed.contains(name) {
                self.kin.insert(name.clone());
            }
        }
    }

    /// Dotted names of all classes.
    pub(crate) fn names(&self) -> Vec<String> {
        self.classes
            .keys()
            .map(|name| name.replace('/', "."))
            .collect()
    }

    pub(crate) fn observed(&self) -> usize {
        self.observed.len()
    }

    pub(crate) fn is_kin(&self, class: &str) -> bool {
        self.kin.contains(class) && !self.observed.contains(class)
    }

    /// True if a superclass in the jar carries the id field.
    pub(crate) fn inherits_id(&self, class: &str) -> bool {
        let superclass = self
            .classes
            .get(class)
            .and_then(|known| known.outline.superclass.as_ref());
        superclass
            .and_then(|name| self.classes.get(name))
            .is_some_and(|outline| outline.can_carry_id)
    }
}

impl World for JarWorld {
    fn is_observed(&self, class: &str) -> bool {
        self.observed.contains(class)
            || !self.classes.contains_key(class)
                && self.selection.selects(class, ClassOrigin::Library)
    }

    fn declaring(
        &self,
        class: &str,
        kind: MemberKind,
        name: &str,
        descriptor: &str,
    ) -> Option<String> {
        outline::declaring(class, kind, name, descriptor, |class| {
            self.classes.get(class).map(|known| &known.outline)
        })
    }
}
