//! The names of classes in the source: simple names with imports, qualified names where two classes have the same
//! simple name.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::access::package;
use crate::hierarchy::Hierarchy;
use crate::types::Type;

/// Names of classes in one source file. The first class that wants a simple name has it.
pub(crate) struct Imports<'a> {
    hierarchy: &'a Hierarchy<'a>,
    package: &'a str,
    test: String,
    /// Classes at the top level, by simple name.
    simple: RefCell<BTreeMap<String, String>>,
    statics: RefCell<BTreeSet<String>>,
    generic: RefCell<bool>,
    deprecated: RefCell<bool>,
}

/// The classes named so far.
pub(crate) struct ImportedNames {
    simple: BTreeMap<String, String>,
    statics: BTreeSet<String>,
    generic: bool,
    deprecated: bool,
}

impl<'a> Imports<'a> {
    /// For a file of this package whose class has this name.
    pub(crate) fn new(hierarchy: &'a Hierarchy<'a>, package: &'a str, test: &str) -> Imports<'a> {
        let whole = if package.is_empty() {
            test.to_owned()
        } else {
            format!("{package}/{test}")
        };
        Imports {
            hierarchy,
            package,
            test: test.to_owned(),
            simple: RefCell::new(BTreeMap::from([(test.to_owned(), whole)])),
            statics: RefCell::default(),
            generic: RefCell::default(),
            deprecated: RefCell::default(),
        }
    }

    pub(crate) fn named(&self) -> ImportedNames {
        ImportedNames {
            simple: self.simple.borrow().clone(),
            statics: self.statics.borrow().clone(),
            generic: *self.generic.borrow(),
            deprecated: *self.deprecated.borrow(),
        }
    }

    /// Nothing was named since: what was written is not used.
    pub(crate) fn reset(&self, named: ImportedNames) {
        self.simple.replace(named.simple);
        self.statics.replace(named.statics);
        self.generic.replace(named.generic);
        self.deprecated.replace(named.deprecated);
    }

    /// The name of a type.
    pub(crate) fn name(&self, of: &Type) -> String {
        match of {
            Type::Primitive(shape) => shape.class_name().to_owned(),
            Type::Class(name) => self.class(name),
            Type::Array(component) => format!("{}[]", self.name(component)),
            Type::Null => self.class("java/lang/Object"),
        }
    }

    /// The name of a class.
    pub(crate) fn class(&self, name: &str) -> String {
        let facts = self.hierarchy.class(name);
        self.is_named(&Type::class(name));
        self.is_deprecated(facts.as_ref().is_some_and(|facts| facts.is_deprecated));
        let nesting = facts.as_ref().and_then(|facts| facts.nesting.as_ref());
        if let Some((outer, inner)) =
            nesting.and_then(|nesting| nesting.outer.as_ref().zip(nesting.name.as_ref()))
        {
            return format!("{}.{inner}", self.outer(outer));
        }
        match facts {
            // Nothing is known of it: a dollar stands between classes, most likely.
            None if name.rfind('$') > name.rfind('/').map(|at| at + 1) => {
                let from = name.rfind('/').map_or(0, |at| at + 1);
                let at = from + 1 + name[from + 1..].find('$').unwrap_or(0);
                let inner = name[at..].trim_start_matches('$').replace('$', ".");
                format!("{}.{inner}", self.top(&name[..at]))
            }
            _ => self.top(name),
        }
    }

    /// The name of a type where type arguments are not missed: in class literals, before a dot.
    pub(crate) fn plain(&self, of: &Type) -> String {
        let before = *self.generic.borrow();
        let text = self.name(of);
        *self.generic.borrow_mut() = before;
        text
    }

    fn outer(&self, name: &str) -> String {
        self.plain(&Type::class(name))
    }

    /// The name of the test class.
    pub(crate) fn test(&self) -> &str {
        &self.test
    }

    fn top(&self, name: &str) -> String {
        let simple = name.rsplit('/').next().unwrap_or(name);
        let mut taken = self.simple.borrow_mut();
        let owner = taken
            .entry(simple.to_owned())
            .or_insert_with(|| name.to_owned());
        if owner == name {
            simple.to_owned()
        } else {
            name.replace('/', ".")
        }
    }

    /// The name of a static method that asserts: without its class, unless the method of another
    /// class has that name already (`assertThrows` of TestNG and of JUnit).
    pub(crate) fn static_method(&self, class: &str, method: &str) -> String {
        let line = format!("{}.{method}", class.replace('/', "."));
        let mut statics = self.statics.borrow_mut();
        let name = |line: &str| line.rsplit('.').next() == Some(method);
        if statics.iter().any(|other| *other != line && name(other)) {
            return format!("{}.{method}", self.top(class));
        }
        statics.insert(line);
        method.to_owned()
    }

    /// A type is used without type arguments.
    pub(crate) fn is_named(&self, of: &Type) {
        let facts = of
            .element()
            .name()
            .and_then(|name| self.hierarchy.class(name));
        if facts.is_some_and(|facts| facts.is_generic()) {
            *self.generic.borrow_mut() = true;
        }
    }

    /// Something deprecated is named, if this is.
    pub(crate) fn is_deprecated(&self, it: bool) {
        if it {
            *self.deprecated.borrow_mut() = true;
        }
    }

    /// The warnings to suppress.
    pub(crate) fn suppressed(&self) -> Vec<&'static str> {
        let mut all = Vec::new();
        if *self.deprecated.borrow() {
            all.push("deprecation");
        }
        if *self.generic.borrow() {
            all.extend(["rawtypes", "unchecked"]);
        }
        all
    }

    /// The import lines, sorted, static ones apart.
    pub(crate) fn lines(&self) -> (Vec<String>, Vec<String>) {
        let mut plain = BTreeSet::new();
        for (simple, class) in &*self.simple.borrow() {
            let home = package(class);
            let shadowed = || {
                let beside = if self.package.is_empty() {
                    simple.clone()
                } else {
                    format!("{}/{simple}", self.package)
                };
                self.hierarchy.class(&beside).is_some()
            };
            if home != self.package && (home != "java/lang" || shadowed()) {
                plain.insert(class.replace('/', "."));
            }
        }
        let statics = self.statics.borrow().iter().cloned().collect();
        (plain.into_iter().collect(), statics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ClassBytes;

    #[test]
    fn of_two_static_methods_with_one_name_the_second_is_called_with_its_class() {
        let classes = ClassBytes(|_: &str| None);
        let hierarchy = Hierarchy::new(&classes);
        let imports = Imports::new(&hierarchy, "shop", "CartTest");
        let name = |class, method| imports.static_method(class, method);
        assert_eq!(name("org/testng/Assert", "assertThrows"), "assertThrows");
        assert_eq!(name("org/testng/Assert", "assertThrows"), "assertThrows");
        let second = name("org/junit/jupiter/api/Assertions", "assertThrows");
        assert_eq!(second, "Assertions.assertThrows");
        assert_eq!(name("org/junit/jupiter/api/Assertions", "fail"), "fail");
    }
}
