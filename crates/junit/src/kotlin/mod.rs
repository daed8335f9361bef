//! Statements and expressions in the syntax of Kotlin.
//!
//! The tree has the types of Java. Kotlin converts no numbers by itself, has other names for the types of the JDK,
//! and knows which values may be null; the declarations of Kotlin classes are in their metadata.

mod arguments;
mod calls;
mod defaults;
mod expressions;
mod file;
mod java_methods;
mod lambdas;
mod literals;
mod metadata;
mod protobuf;
mod stand_ins;
mod statements;
mod type_names;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::scope::Scope;
use metadata::KotlinClass;

pub(crate) use file::test;

/// The precedence of an expression in Kotlin, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Statement,
    Or,
    And,
    Equality,
    Comparison,
    /// `is`.
    Check,
    /// `shl`, `and` and the like.
    Infix,
    Sum,
    Product,
    Cast,
    Prefix,
    Postfix,
}

/// An expression as text.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Text {
    text: String,
    level: Level,
    /// Kotlin knows that it may be null.
    is_nullable: bool,
}

impl Text {
    fn new(text: impl Into<String>) -> Text {
        Text {
            text: text.into(),
            level: Level::Postfix,
            is_nullable: false,
        }
    }

    fn at(self, level: Level) -> Text {
        Text { level, ..self }
    }

    fn nullable(self, is_nullable: bool) -> Text {
        Text {
            is_nullable,
            ..self
        }
    }

    /// As an operand of something that holds together so tightly.
    fn within(&self, level: Level) -> String {
        match self.level < level {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }

    /// So that `.member` can follow.
    fn closed(&self) -> String {
        let text = self.within(Level::Postfix);
        match self.is_nullable {
            true => format!("{text}!!"),
            false => text,
        }
    }

    /// Where Kotlin wants no null.
    fn present(self) -> Text {
        match self.is_nullable {
            true => Text::new(self.closed()),
            false => self,
        }
    }
}

/// The reason why something cannot be written in Kotlin.
pub(crate) type Unwritable = String;

type Written<T> = Result<T, Unwritable>;

/// Writes the statements of one test.
struct Writer<'s> {
    scope: &'s Scope<'s>,
    /// Qualified names by the simple ones that the file uses.
    imports: RefCell<BTreeMap<String, String>>,
    /// Functions and properties that the file imports.
    members: RefCell<BTreeSet<String>>,
    classes: RefCell<BTreeMap<String, Option<Rc<KotlinClass>>>>,
    /// Methods at the end of the test class that are called.
    helpers: RefCell<BTreeSet<&'static str>>,
    /// Variables that may be null.
    nullable: RefCell<BTreeSet<String>>,
    /// The type arguments of variables, where they are known.
    generic: RefCell<BTreeMap<String, String>>,
    /// A cast has type arguments, which nothing checks.
    is_unchecked: Cell<bool>,
    /// Variables that get another value later.
    assigned: BTreeSet<String>,
    /// The labels of the lambdas around what is written; `None` for a function.
    labels: RefCell<Vec<Option<String>>>,
}

impl Writer<'_> {
    /// The declarations of a class of Kotlin.
    fn kotlin(&self, name: &str) -> Option<Rc<KotlinClass>> {
        if let Some(known) = self.classes.borrow().get(name) {
            return known.clone();
        }
        let bytes = self.scope.access.hierarchy.bytes(name);
        let found = bytes
            .and_then(|bytes| KotlinClass::parse(&bytes))
            .map(|mut found| {
                // The functions of a facade are declared in its parts.
                for part in std::mem::take(&mut found.parts) {
                    if let Some(part) = self.kotlin(&part) {
                        found.functions.extend(part.functions.iter().cloned());
                        found.properties.extend(part.properties.iter().cloned());
                    }
                }
                Rc::new(found)
            });
        self.classes
            .borrow_mut()
            .insert(name.to_owned(), found.clone());
        found
    }
}

/// Words that are no names in Kotlin.
const KEYWORDS: [&str; 28] = [
    "as",
    "break",
    "class",
    "continue",
    "do",
    "else",
    "false",
    "for",
    "fun",
    "if",
    "in",
    "interface",
    "is",
    "null",
    "object",
    "package",
    "return",
    "super",
    "this",
    "throw",
    "true",
    "try",
    "typealias",
    "typeof",
    "val",
    "var",
    "when",
    "while",
];

/// A name of the source, in backquotes if it is a keyword.
fn word(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_';
    match KEYWORDS.contains(&name) || !name.chars().all(is_plain) {
        true => format!("`{name}`"),
        false => name.to_owned(),
    }
}

/// A name with dots or slashes.
fn words(name: &str) -> String {
    let all: Vec<String> = name.split(['/', '.']).map(word).collect();
    all.join(".")
}
