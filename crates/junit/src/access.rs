//! The classes that code of a given package may name, and the members that it may use.

use culprit_classfile::access;
use culprit_model::owner::is_generated;

use crate::facts::{ClassFacts, MethodFacts};
use crate::hierarchy::Hierarchy;
use crate::names::is_keyword;
use crate::types::Type;

/// Packages of the JDK that its modules do not export, but for some.
const HIDDEN: [&str; 3] = ["sun/", "com/sun/", "jdk/internal/"];
const SHOWN: [&str; 5] = [
    "com/sun/net/httpserver/",
    "com/sun/jdi/",
    "com/sun/management/",
    "com/sun/source/",
    "com/sun/tools/attach/",
];

/// The view from a package, with slashes; the unnamed one is empty.
#[derive(Clone, Copy)]
pub(crate) struct Access<'a> {
    pub(crate) hierarchy: &'a Hierarchy<'a>,
    pub(crate) package: &'a str,
}

impl Access<'_> {
    /// Code of the package may name this type.
    pub(crate) fn names(&self, of: &Type) -> bool {
        match of.element() {
            Type::Class(name) => self.names_class(name),
            _ => true,
        }
    }

    pub(crate) fn names_class(&self, name: &str) -> bool {
        if !name.split('/').all(is_identifier) || is_generated(name) {
            return false;
        }
        let within = package(name) == self.package;
        if package(name).is_empty() && !within {
            return false;
        }
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        if starts(&HIDDEN) && !starts(&SHOWN) && !within {
            return false;
        }
        let Some(class) = self.hierarchy.class(name) else {
            return is_plain(name);
        };
        if class.is(access::SYNTHETIC) || class.is(access::PRIVATE) {
            return false;
        }
        let itself = class.is(access::PUBLIC) || within;
        let around = match &class.nesting {
            None => true,
            Some(nesting) => nesting
                .outer
                .as_ref()
                .is_some_and(|outer| self.names_class(outer)),
        };
        itself && around
    }

    /// Code of the package may use a member with these flags that `class` declares.
    pub(crate) fn uses(&self, class: &ClassFacts, flags: u16) -> bool {
        if flags & access::PUBLIC != 0 {
            return true;
        }
        flags & access::PRIVATE == 0 && package(&class.name) == self.package
    }

    pub(crate) fn calls(&self, class: &ClassFacts, method: &MethodFacts) -> bool {
        let is_named = method.name == "<init>" || is_identifier(&method.name);
        is_named && !method.is_synthetic() && self.uses(class, method.access)
    }
}

/// The package of a class.
pub(crate) fn package(class: &str) -> &str {
    class.rsplit_once('/').map_or("", |(package, _)| package)
}

/// A name that source code can contain. The JVM allows nearly all names, and a recording can contain any: in
/// source they would be code. Members with other names are called by reflection, where names are strings.
fn is_identifier(name: &str) -> bool {
    let is_start = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    let is_word =
        name.starts_with(is_start) && name.chars().all(|c| is_start(c) || c.is_ascii_digit());
    is_word && !is_keyword(name)
}

/// The name of an unknown class that source code can contain.
fn is_plain(name: &str) -> bool {
    let anonymous = name
        .split('$')
        .skip(1)
        .any(|part| part.is_empty() || part.starts_with(|c: char| c.is_ascii_digit()));
    !anonymous && !name.contains("/0x")
}

#[cfg(test)]
mod tests {
    use super::is_identifier;

    #[test]
    fn what_would_be_code_is_no_name() {
        for name in [
            "add",
            "_x1",
            "Größe",
            "Cart$Line",
            "$colon$colon",
            "yield",
            "com",
        ] {
            assert!(is_identifier(name), "{name}");
        }
        for name in [
            "",
            "a b",
            "x(){}static{y()",
            "a\n",
            "1a",
            "foo-impl",
            "a;",
            "a\u{202e}",
            "void",
            "class",
        ] {
            assert!(!is_identifier(name), "{name:?}");
        }
    }
}
