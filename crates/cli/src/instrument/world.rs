//! What the classes of a jar say about each other: the off-line counterpart of what the agent
//! learns as classes load.

use std::collections::{BTreeMap, BTreeSet};

use culprit_classfile::ClassFile;
use culprit_model::Selection;
use culprit_model::observe::{Origin, is_jdk_name};
use culprit_weave::{MemberKind, World, can_carry_id};

/// The classes of a jar.
pub(super) struct JarWorld {
    selection: Selection,
    outlines: BTreeMap<String, Outline>,
    observed: BTreeSet<String>,
    kin: BTreeSet<String>,
}

#[derive(Default)]
struct Outline {
    superclass: Option<String>,
    interfaces: Vec<String>,
    fields: BTreeSet<String>,
    methods: BTreeSet<(String, String)>,
    can_carry_id: bool,
}

impl Outline {
    fn supertypes(&self) -> impl Iterator<Item = &String> {
        self.superclass.iter().chain(&self.interfaces)
    }
}

impl JarWorld {
    pub(super) fn new(selection: Selection) -> JarWorld {
        JarWorld {
            selection,
            outlines: BTreeMap::new(),
            observed: BTreeSet::new(),
            kin: BTreeSet::new(),
        }
    }

    /// Notes what a class says. Versions of a class for several releases of Java are one.
    pub(super) fn add(&mut self, class: &ClassFile) -> Result<(), culprit_classfile::Error> {
        let outline = self.outlines.entry(class.name()?.into_owned()).or_default();
        outline.superclass = class.super_name()?.map(|name| name.into_owned());
        outline.can_carry_id = can_carry_id(class);
        for name in class.interface_names()? {
            outline.interfaces.push(name.into_owned());
        }
        for field in &class.fields {
            let name = class.pool.utf8(field.name)?;
            outline.fields.insert(name.into_owned());
        }
        for method in &class.methods {
            let (name, descriptor) = (
                class.pool.utf8(method.name)?,
                class.pool.utf8(method.descriptor)?,
            );
            let method = (name.into_owned(), descriptor.into_owned());
            outline.methods.insert(method);
        }
        Ok(())
    }

    /// Decides who is observed, once all classes are there: those selected and their subclasses.
    pub(super) fn decide(&mut self) {
        let selected = |name: &String| self.selection.selects(name, Origin::Program);
        self.observed = self
            .outlines
            .keys()
            .filter(|n| selected(n))
            .cloned()
            .collect();
        loop {
            let before = self.observed.len();
            for (name, outline) in &self.outlines {
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
        while let Some(outline) = open.pop().and_then(|name| self.outlines.get(name)) {
            for supertype in outline.supertypes() {
                let external = !self.observed.contains(supertype);
                if external && !is_jdk_name(supertype) && self.kin.insert(supertype.clone()) {
                    open.push(supertype);
                }
            }
        }
        // A class that inherits from an observed one but was excluded is watched as well.
        for (name, outline) in &self.outlines {
            let inherits = outline.supertypes().any(|s| self.observed.contains(s));
            if inherits && !self.observed.contains(name) {
                self.kin.insert(name.clone());
            }
        }
    }

    /// Dotted names of all classes.
    pub(super) fn names(&self) -> Vec<String> {
        self.outlines
            .keys()
            .map(|name| name.replace('/', "."))
            .collect()
    }

    pub(super) fn observed(&self) -> usize {
        self.observed.len()
    }

    pub(super) fn is_kin(&self, class: &str) -> bool {
        self.kin.contains(class) && !self.observed.contains(class)
    }

    /// Whether a superclass in the jar carries the id field.
    pub(super) fn inherits_id(&self, class: &str) -> bool {
        let superclass = self.outlines.get(class).and_then(|o| o.superclass.as_ref());
        superclass
            .and_then(|name| self.outlines.get(name))
            .is_some_and(|outline| outline.can_carry_id)
    }
}

impl World for JarWorld {
    fn is_observed(&self, class: &str) -> bool {
        self.observed.contains(class)
            || !self.outlines.contains_key(class) && self.selection.selects(class, Origin::Library)
    }

    fn declaring(
        &self,
        class: &str,
        kind: MemberKind,
        name: &str,
        descriptor: &str,
    ) -> Option<String> {
        let mut class = class;
        // A class cannot be its own ancestor, but a broken jar may say so.
        for _ in 0..=self.outlines.len() {
            if is_jdk_name(class) {
                return Some(class.to_owned());
            }
            let outline = self.outlines.get(class)?;
            let declares = match kind {
                MemberKind::Field => outline.fields.contains(name),
                MemberKind::Method => outline
                    .methods
                    .contains(&(name.to_owned(), descriptor.to_owned())),
            };
            if declares {
                return Some(class.to_owned());
            }
            class = outline.superclass.as_deref()?;
        }
        None
    }
}
