//! Questions about classes and the classes above them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use culprit_classfile::access;
use culprit_model::value::Shape;

use crate::facts::{ClassFacts, Classes, FieldFacts, MethodFacts};
use crate::types::{Type, parameters, result};

/// Classes with what they inherit. Each class is asked for once.
pub(crate) struct Hierarchy<'c> {
    classes: &'c dyn Classes,
    known: RefCell<BTreeMap<String, Option<Rc<ClassFacts>>>>,
}

/// A method, and the class that declares it.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredMethod {
    pub(crate) class: Rc<ClassFacts>,
    pub(crate) method: MethodFacts,
}

impl<'c> Hierarchy<'c> {
    pub(crate) fn new(classes: &'c dyn Classes) -> Hierarchy<'c> {
        Hierarchy {
            classes,
            known: RefCell::default(),
        }
    }

    pub(crate) fn class(&self, name: &str) -> Option<Rc<ClassFacts>> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let found = self.classes.class(name).map(Rc::new);
        self.known
            .borrow_mut()
            .insert(name.to_owned(), found.clone());
        found
    }

    /// The class file of a class.
    pub(crate) fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        self.classes.bytes(name)
    }

    /// A class and all above it: superclasses first, nearest first, then interfaces.
    pub(crate) fn lineage(&self, name: &str) -> Vec<String> {
        let mut line = Vec::new();
        let mut next = Some(name.to_owned());
        while let Some(name) = next {
            if line.contains(&name) {
                break;
            }
            next = self.class(&name).and_then(|class| class.superclass.clone());
            line.push(name);
        }
        let mut place = 0;
        while let Some(name) = line.get(place).cloned() {
            for interface in self.class(&name).iter().flat_map(|c| &c.interfaces) {
                if !line.contains(interface) {
                    line.push(interface.clone());
                }
            }
            place += 1;
        }
        if !line.iter().any(|name| name == "java/lang/Object") {
            line.push("java/lang/Object".to_owned());
        }
        line
    }

    /// A value of one type can be used where the other is wanted, without boxing.
    pub(crate) fn is_subtype(&self, sub: &Type, of: &Type) -> bool {
        if sub == of {
            return true;
        }
        match (sub, of) {
            (Type::Primitive(from), Type::Primitive(to)) => widens(*from, *to),
            (Type::Null, Type::Class(_) | Type::Array(_)) => true,
            (Type::Class(_) | Type::Array(_), of) if of.is_object() => true,
            (Type::Class(sub), Type::Class(of)) => self.lineage(sub).contains(of),
            (Type::Array(sub), Type::Array(of)) => match (&**sub, &**of) {
                (Type::Primitive(_), _) | (_, Type::Primitive(_)) => false,
                (sub, of) => self.is_subtype(sub, of),
            },
            (Type::Array(_), Type::Class(of)) => {
                of == "java/lang/Cloneable" || of == "java/io/Serializable"
            }
            _ => false,
        }
    }

    /// The method that a call through this class means. Of a method that the compiler made, the
    /// one that it leads to.
    pub(crate) fn method(
        &self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Option<DeclaredMethod> {
        let wanted = parameters(descriptor);
        let mut found: Option<DeclaredMethod> = None;
        for candidate in self.methods(class, name) {
            if parameters(&candidate.method.descriptor) == wanted {
                let exact = candidate.method.descriptor == descriptor;
                if found.is_none() || (exact && !candidate.method.is_synthetic()) {
                    let done = exact && !candidate.method.is_synthetic();
                    found = Some(candidate);
                    if done {
                        break;
                    }
                }
            }
        }
        let found = found?;
        if !found.method.is_synthetic() {
            return Some(found);
        }
        let mut real = self.methods(class, name).into_iter().filter(|other| {
            !other.method.is_synthetic()
                && other.class.name == found.class.name
                && parameters(&other.method.descriptor).len() == wanted.len()
        });
        match (real.next(), real.next()) {
            (Some(one), None) => Some(one),
            _ => Some(found),
        }
    }

    /// All methods of that name that a class has: its own first.
    pub(crate) fn methods(&self, class: &str, name: &str) -> Vec<DeclaredMethod> {
        let line = if name == "<init>" {
            vec![class.to_owned()]
        } else {
            self.lineage(class)
        };
        let mut all = Vec::new();
        for class in line.iter().filter_map(|name| self.class(name)) {
            all.extend(
                class
                    .methods
                    .iter()
                    .filter(|method| method.name == name)
                    .map(|method| DeclaredMethod {
                        class: class.clone(),
                        method: method.clone(),
                    }),
            );
        }
        all
    }

    /// The field that an access through this class means.
    pub(crate) fn field(&self, class: &str, name: &str) -> Option<(Rc<ClassFacts>, FieldFacts)> {
        self.lineage(class).iter().find_map(|name_of| {
            let class = self.class(name_of)?;
            let field = class.fields.iter().find(|field| field.name == name)?;
            Some((class.clone(), field.clone()))
        })
    }

    /// A checked exception.
    pub(crate) fn is_checked(&self, exception: &str) -> bool {
        let line = self.lineage(exception);
        !line
            .iter()
            .any(|name| name == "java/lang/RuntimeException" || name == "java/lang/Error")
    }

    /// Methods without code that a class has or inherits, by name and parameters.
    pub(crate) fn abstract_methods(&self, classes: &[String]) -> Vec<DeclaredMethod> {
        let mut all: Vec<DeclaredMethod> = Vec::new();
        for class in classes {
            for facts in self
                .lineage(class)
                .iter()
                .filter_map(|name| self.class(name))
            {
                for method in &facts.methods {
                    if method.is(access::ABSTRACT) {
                        all.push(DeclaredMethod {
                            class: facts.clone(),
                            method: method.clone(),
                        });
                    }
                }
            }
        }
        let mut open: Vec<DeclaredMethod> = Vec::new();
        for found in all {
            let implemented = classes
                .iter()
                .any(|class| self.has_code(class, &found.method));
            if !implemented && !open.iter().any(|other| same(&other.method, &found.method)) {
                open.push(found);
            }
        }
        open
    }

    /// The nearest declaration of a method has code. Interfaces inherit `equals` and the like from `Object`, even if
    /// they declare them.
    fn has_code(&self, class: &str, method: &MethodFacts) -> bool {
        let wanted = parameters(&method.descriptor);
        let mut same = self
            .methods(class, &method.name)
            .into_iter()
            .filter(|found| parameters(&found.method.descriptor) == wanted);
        let Some(nearest) = same.next() else {
            return false;
        };
        !nearest.method.is(access::ABSTRACT)
            || (nearest.class.is_interface()
                && same.any(|found| found.class.name == "java/lang/Object"))
    }
}

/// Same name, parameters and result.
fn same(one: &MethodFacts, other: &MethodFacts) -> bool {
    one.name == other.name
        && parameters(&one.descriptor) == parameters(&other.descriptor)
        && result(&one.descriptor).is_some() == result(&other.descriptor).is_some()
}

fn widens(from: Shape, to: Shape) -> bool {
    use Shape::{Byte, Char, Double, Float, Int, Long, Short};
    const ORDER: [Shape; 6] = [Byte, Short, Int, Long, Float, Double];
    let place = |shape| ORDER.iter().position(|other| *other == shape);
    match (from, place(from), place(to)) {
        (_, Some(from), Some(to)) => from <= to,
        (Char, None, Some(to)) => to >= 2,
        _ => false,
    }
}
