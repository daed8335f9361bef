//! What a class declares, by name alone, and the search for who declares a member.

use std::collections::HashSet;

use culprit_classfile::ClassFile;
use culprit_model::observe::is_jdk_name;

use crate::{Error, MemberKind};

/// No chain of superclasses is longer. Names may form a circle: those of classes of several
/// loaders, or in a broken jar.
const MOST_ANCESTORS: usize = 1000;

/// What a class declares.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The superclass; `None` for `Object` alone.
    pub superclass: Option<String>,
    fields: HashSet<String>,
    methods: HashSet<(String, String)>,
}

impl Outline {
    /// Takes what a class says. Versions of a class for several releases of Java are one.
    pub fn add(&mut self, class: &ClassFile) -> Result<(), Error> {
        self.superclass = class.super_name()?.map(|name| name.into_owned());
        for field in &class.fields {
            let name = class.pool.utf8(field.name)?;
            self.fields.insert(name.into_owned());
        }
        for method in &class.methods {
            let name = class.pool.utf8(method.name)?.into_owned();
            let descriptor = class.pool.utf8(method.descriptor)?.into_owned();
            self.methods.insert((name, descriptor));
        }
        Ok(())
    }

    fn declares(&self, kind: MemberKind, name: &str, descriptor: &str) -> bool {
        match kind {
            MemberKind::Field => self.fields.contains(name),
            MemberKind::Method => self
                .methods
                .contains(&(name.to_owned(), descriptor.to_owned())),
        }
    }
}

/// Answers [`World::declaring`](crate::World::declaring) for whoever has outlines.
pub fn declaring<'o>(
    class: &'o str,
    kind: MemberKind,
    name: &str,
    descriptor: &str,
    outlines: impl Fn(&str) -> Option<&'o Outline>,
) -> Option<String> {
    let mut class = class;
    for _ in 0..MOST_ANCESTORS {
        if is_jdk_name(class) {
            return Some(class.to_owned());
        }
        let outline = outlines(class)?;
        if outline.declares(kind, name, descriptor) {
            return Some(class.to_owned());
        }
        class = outline.superclass.as_deref()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(superclass: &str, field: &str) -> Outline {
        Outline {
            superclass: Some(superclass.to_owned()),
            fields: HashSet::from([field.to_owned()]),
            methods: HashSet::new(),
        }
    }

    #[test]
    fn the_search_goes_upwards_and_ends_in_the_jdk_the_unknown_or_a_circle() {
        let known = [
            ("a/Sub", outline("a/Base", "own")),
            ("a/Base", outline("java/lang/Object", "inherited")),
            ("a/Lost", outline("a/Unloaded", "own")),
            ("a/Head", outline("a/Tail", "own")),
            ("a/Tail", outline("a/Head", "own")),
        ];
        let find = |class: &str| known.iter().find(|(n, _)| *n == class).map(|(_, o)| o);
        for (class, field, expect) in [
            ("a/Sub", "own", Some("a/Sub")),
            ("a/Sub", "inherited", Some("a/Base")),
            ("a/Sub", "other", Some("java/lang/Object")),
            ("a/Lost", "other", None),
            ("a/Head", "other", None),
        ] {
            let found = declaring(class, MemberKind::Field, field, "I", find);
            assert_eq!(found.as_deref(), expect, "{class}.{field}");
        }
    }
}
