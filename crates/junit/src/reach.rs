//! Whether code of a package can call a method or use a field, and through which class.

use std::rc::Rc;

use culprit_classfile::access as flags;
use culprit_model::Member;

use crate::access::Access;
use crate::facts::{ClassFacts, FieldFacts};
use crate::hierarchy::Found;
use crate::story::{Action, Kind};

/// What a name in the source means. `None` inside where nothing is known of the class.
pub(crate) type Reached<T> = Option<Option<T>>;

impl Access<'_> {
    /// The method, called through this class.
    pub(crate) fn method(&self, class: &str, member: &Member) -> Reached<Found> {
        if !self.names_class(class) {
            return None;
        }
        if self.hierarchy.class(class).is_none() {
            return (class == member.owner).then_some(None);
        }
        let found = self
            .hierarchy
            .method(class, &member.name, &member.descriptor)?;
        self.calls(&found.class, &found.method)
            .then_some(Some(found))
    }

    /// The constructor.
    pub(crate) fn constructor(&self, member: &Member) -> Reached<Found> {
        let found = self.method(&member.owner, member)?;
        let makes = found
            .as_ref()
            .is_none_or(|found| !found.class.is(flags::ABSTRACT));
        makes.then_some(found)
    }

    /// The field, used through this class.
    pub(crate) fn field(
        &self,
        class: &str,
        member: &Member,
        kind: Kind,
    ) -> Reached<(Rc<ClassFacts>, FieldFacts)> {
        if !self.names_class(class) {
            return None;
        }
        if self.hierarchy.class(class).is_none() {
            return (class == member.owner).then_some(None);
        }
        let (owner, field) = self.hierarchy.field(class, &member.name)?;
        // A field of the same name may hide the one that is meant.
        let meant = self.hierarchy.field(&member.owner, &member.name);
        let same = meant.is_none_or(|(meant, _)| meant.name == owner.name);
        let open = self.uses(&owner, field.access)
            && !(kind == Kind::Write && field.access & flags::FINAL != 0);
        (same && open).then_some(Some((owner, field)))
    }

    /// Whether a member of an object can be used if a variable of this class holds it.
    pub(crate) fn member(&self, class: &str, action: &Action<'_>) -> bool {
        let member = &action.site.target;
        match action.kind {
            Kind::Call => self.method(class, member).is_some(),
            kind => self.field(class, member, kind).is_some(),
        }
    }

    /// Whether the statement can be written without reflection. `class` is that of the receiver.
    pub(crate) fn is_open(&self, action: &Action<'_>, class: Option<&str>) -> bool {
        let member = &action.site.target;
        if action.site.is_constructor() {
            return self.constructor(member).is_some();
        }
        match class.filter(|_| action.site.has_receiver()) {
            Some(class) if !class.starts_with('[') => {
                self.member(&member.owner, action)
                    || self
                        .hierarchy
                        .lineage(class)
                        .iter()
                        .any(|class| self.member(class, action))
            }
            Some(_) => true,
            None => self.member(&member.owner, action),
        }
    }
}
