//! Types in the source: Kotlin has names of its own for some of the JDK, arguments for all that have some, and imports.

use culprit_model::value::Shape;

use super::metadata::KotlinType;
use super::{Writer, words};
use crate::access::package;
use crate::types::Type;

/// Types of the JDK for which Kotlin has another one.
const MAPPED: [(&str, &str); 19] = [
    ("java/lang/Object", "Any"),
    ("java/lang/String", "String"),
    ("java/lang/CharSequence", "CharSequence"),
    ("java/lang/Throwable", "Throwable"),
    ("java/lang/Comparable", "Comparable"),
    ("java/lang/Enum", "Enum"),
    ("java/lang/Number", "Number"),
    ("java/lang/annotation/Annotation", "Annotation"),
    ("java/lang/Cloneable", "Cloneable"),
    ("java/lang/Iterable", "MutableIterable"),
    ("java/util/Iterator", "MutableIterator"),
    ("java/util/ListIterator", "MutableListIterator"),
    ("java/util/Collection", "MutableCollection"),
    ("java/util/List", "MutableList"),
    ("java/util/Set", "MutableSet"),
    ("java/util/Map", "MutableMap"),
    ("java/util/Map$Entry", "MutableMap.MutableEntry"),
    ("java/lang/Void", "Void"),
    ("java/lang/Class", "Class"),
];

/// Classes of `java.util` that Kotlin knows without an import.
const ALIASES: [&str; 5] = [
    "java/util/ArrayList",
    "java/util/HashMap",
    "java/util/HashSet",
    "java/util/LinkedHashMap",
    "java/util/LinkedHashSet",
];

/// The arguments of a type that has some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TypeArguments {
    /// None, as in class literals and before a dot.
    None,
    /// Stars: nothing is known of them.
    Stars,
    /// Anything, also null.
    Any,
}

/// The name of a primitive type, of its box and of its values in names of functions.
pub(super) fn primitive(shape: Shape) -> &'static str {
    match shape {
        Shape::Boolean => "Boolean",
        Shape::Byte => "Byte",
        Shape::Short => "Short",
        Shape::Char => "Char",
        Shape::Int => "Int",
        Shape::Long => "Long",
        Shape::Float => "Float",
        Shape::Double => "Double",
        Shape::Reference => "Any",
    }
}

/// The class of the JDK has another name in Kotlin.
pub(super) fn is_mapped(class: &str) -> bool {
    let is_box = Shape::boxed_by(class).is_some();
    is_box || MAPPED.iter().any(|(name, _)| *name == class)
}

impl Writer<'_> {
    /// The name of a type, without the sign that it may be null.
    pub(super) fn type_name(&self, of: &Type, arguments: TypeArguments) -> String {
        match of {
            Type::Primitive(shape) => primitive(*shape).to_owned(),
            Type::Null => "Any".to_owned(),
            Type::Array(component) => match &**component {
                Type::Primitive(shape) => format!("{}Array", primitive(*shape)),
                component => {
                    let name = self.type_name(component, TypeArguments::Stars);
                    let sign = match arguments {
                        TypeArguments::None => "",
                        _ => "?",
                    };
                    format!("Array<{name}{sign}>")
                }
            },
            Type::Class(name) => {
                let count = self.type_variables(name).len();
                let class = self.class_name(name);
                match arguments {
                    _ if count == 0 => class,
                    TypeArguments::None => class,
                    TypeArguments::Stars => format!("{class}<{}>", vec!["*"; count].join(", ")),
                    TypeArguments::Any => {
                        format!("{class}{}", self.widest(&self.type_variables(name)))
                    }
                }
            }
        }
    }

    /// The widest type arguments for type variables with these bounds, in angle brackets.
    pub(super) fn widest(&self, bounds: &[Type]) -> String {
        let arguments = bounds.iter().map(|bound| match bound.is_object() {
            true => "Any?".to_owned(),
            false => self.type_name(bound, TypeArguments::Stars),
        });
        let arguments: Vec<String> = arguments.collect();
        format!("<{}>", arguments.join(", "))
    }

    /// The bounds of the type variables of a class.
    pub(super) fn type_variables(&self, class: &str) -> Vec<Type> {
        let facts = self.scope.access.hierarchy.class(class);
        let signature = facts.and_then(|facts| facts.signature.clone());
        let bounds = signature.as_deref().and_then(crate::signature::bounds);
        bounds.unwrap_or_default()
    }

    /// The name of a class, without type arguments.
    pub(super) fn class_name(&self, name: &str) -> String {
        if let Some(shape) = Shape::boxed_by(name) {
            return primitive(shape).to_owned();
        }
        if let Some((_, mapped)) = MAPPED.iter().find(|(java, _)| *java == name) {
            return (*mapped).to_owned();
        }
        self.java_class_name(name)
    }

    /// The name of a class as Java has it: before its static members, which Kotlin's own types do not have.
    pub(super) fn java_class_name(&self, name: &str) -> String {
        if is_mapped(name) {
            return words(&name.replace('$', "."));
        }
        let facts = self.scope.access.hierarchy.class(name);
        let nesting = facts.as_ref().and_then(|facts| facts.nesting.as_ref());
        let nesting = nesting.and_then(|it| it.outer.as_ref().zip(it.name.as_ref()));
        if let Some((outer, inner)) = nesting {
            return format!("{}.{}", self.java_class_name(outer), super::word(inner));
        }
        let simple = name.rsplit('/').next().unwrap_or(name).to_owned();
        let home = package(name);
        let mut imports = self.imports.borrow_mut();
        let owner = imports
            .entry(simple.clone())
            .or_insert_with(|| name.to_owned());
        // A class without a package has no import.
        let is_reachable = !home.is_empty() || self.scope.access.package.is_empty();
        match owner == name && is_reachable {
            true => super::word(&simple),
            false => words(name),
        }
    }

    /// The lines of the imports.
    pub(super) fn import_lines(&self) -> Vec<String> {
        let imports = self.imports.borrow();
        let classes = imports.values().filter(|class| {
            let home = package(class);
            let is_known = home == "java/lang" || ALIASES.contains(&class.as_str());
            let is_of_kotlin = matches!(home, "kotlin" | "kotlin/collections" | "kotlin/text");
            home != self.scope.access.package && !home.is_empty() && !is_known && !is_of_kotlin
        });
        let mut lines: Vec<String> = classes.map(|class| words(class)).collect();
        lines.extend(self.members.borrow().iter().map(|name| words(name)));
        lines.sort();
        lines.dedup();
        lines
    }

    /// A type that Kotlin declares.
    pub(super) fn kotlin_type(&self, of: &KotlinType) -> String {
        let sign = if of.is_nullable { "?" } else { "" };
        let Some(class) = &of.class else {
            return "Any?".to_owned();
        };
        let name = match class.strip_prefix("kotlin/") {
            Some(rest) => rest.rsplit('/').next().unwrap_or(rest).to_owned(),
            None => self.java_class_name(&class.replace('.', "$")),
        };
        if of.arguments.is_empty() {
            return format!("{name}{sign}");
        }
        let arguments = of.arguments.iter().map(|it| match it {
            Some(it) => self.kotlin_type(it),
            None => "*".to_owned(),
        });
        let arguments: Vec<String> = arguments.collect();
        format!("{name}<{}>{sign}", arguments.join(", "))
    }

    /// A type with its arguments as a class file has it, where `null` is allowed.
    pub(super) fn signed_type(&self, signature: &str) -> Option<String> {
        let (name, rest) = self.read_type(signature, "?")?;
        rest.is_empty().then_some(name)
    }

    /// The arguments in the signature of a type.
    pub(super) fn signed_arguments(&self, signature: &str) -> Option<String> {
        let (name, rest) = self.read_type(signature, "")?;
        let at = name.find('<')?;
        rest.is_empty().then(|| name[at..].to_owned())
    }

    fn read_type<'t>(&self, signature: &'t str, sign: &str) -> Option<(String, &'t str)> {
        let first = signature.chars().next()?;
        if first == '[' {
            let inner = &signature[1..];
            if let Some(shape) = Shape::of(inner).filter(|it| *it != Shape::Reference) {
                return Some((format!("{}Array{sign}", primitive(shape)), &inner[1..]));
            }
            let (name, rest) = self.read_type(inner, "?")?;
            return Some((format!("Array<{name}>{sign}"), rest));
        }
        if first == 'T' {
            return None;
        }
        if first != 'L' {
            let shape = Shape::of(signature)?;
            return Some((primitive(shape).to_owned(), &signature[1..]));
        }
        let end = signature.find(['<', ';'])?;
        let class = self.class_name(&signature[1..end]);
        let mut rest = &signature[end..];
        let Some(mut inner) = rest.strip_prefix('<') else {
            let count = self.type_variables(&signature[1..end]).len();
            let stars = match count {
                0 => String::new(),
                count => format!("<{}>", vec!["*"; count].join(", ")),
            };
            return Some((format!("{class}{stars}{sign}"), &rest[1..]));
        };
        let mut arguments = Vec::new();
        loop {
            if let Some(after) = inner.strip_prefix('>') {
                rest = after;
                break;
            }
            if let Some(after) = inner.strip_prefix('*') {
                arguments.push("*".to_owned());
                inner = after;
                continue;
            }
            let variance = match inner.chars().next()? {
                '+' => "out ",
                '-' => "in ",
                _ => "",
            };
            let (name, after) = self.read_type(inner.trim_start_matches(['+', '-']), "")?;
            arguments.push(format!("{variance}{name}"));
            inner = after;
        }
        let rest = rest.strip_prefix(';')?;
        Some((format!("{class}<{}>{sign}", arguments.join(", ")), rest))
    }
}
