//! The methods that code of a package can call and the fields that it can use, through a given class.

use std::rc::Rc;

use culprit_classfile::access as flags;
use culprit_model::Member;
use culprit_model::script::Action;

use crate::access::Access;
use crate::facts::{ClassFacts, FieldFacts};
use crate::graph::Node;
use crate::hierarchy::DeclaredMethod;

/// An access to a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldAccess {
    Read,
    Write,
}

/// The declaration that a name in the source refers to. `None` inside where the class is unknown.
pub(crate) type Reached<T> = Option<Option<T>>;

impl Access<'_> {
    /// The method, called through this class.
    pub(crate) fn method(&self, class: &str, member: &Member) -> Reached<DeclaredMethod> {
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
    pub(crate) fn constructor(&self, member: &Member) -> Reached<DeclaredMethod> {
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
        access: FieldAccess,
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
            && !(access == FieldAccess::Write && field.access & flags::FINAL != 0);
        (same && open).then_some(Some((owner, field)))
    }

    /// The member of a statement can be used on a variable of this class.
    pub(crate) fn member(&self, class: &str, node: &Node<'_>) -> bool {
        let Some(member) = node.target() else {
            return false;
        };
        match &node.statement.action {
            Action::Read(_) => self.field(class, member, FieldAccess::Read).is_some(),
            Action::Write(_) => self.field(class, member, FieldAccess::Write).is_some(),
            _ => self.method(class, member).is_some(),
        }
    }

    /// The statement can be written without reflection. `class` is that of the receiver.
    pub(crate) fn is_open(&self, node: &Node<'_>, class: Option<&str>) -> bool {
        let Some(member) = node.target() else {
            return true;
        };
        if node.is_constructor() {
            return self.constructor(member).is_some();
        }
        match class.filter(|_| node.receiver.is_some()) {
            Some(class) if !class.starts_with('[') => {
                self.member(&member.owner, node)
                    || self
                        .hierarchy
                        .lineage(class)
                        .iter()
                        .any(|class| self.member(class, node))
            }
            Some(_) => true,
            None => self.member(&member.owner, node),
        }
    }
}
