//! Prints a script as an ordinary JUnit test: plain Java or Kotlin that needs nothing of Culprit.
//!
//! The last statement of the script fails: the test fails in the same way, and passes when the bug is fixed.
//! [`Classes`] gives the declarations of classes and members, which a script does not contain.
//!
//! Invariants:
//! - The same script, classes and options give the same source.
//! - The source in Java is ASCII, and compiles as Java 8.
//! - Nothing is invented: an unknown value is an [`Error`]. Only methods of stand-ins that were never called
//!   return zeros.
#![forbid(unsafe_code)]

mod access;
mod answers;
mod blocks;
mod bodies;
mod call;
mod code;
mod condition;
mod decompile;
mod error;
mod expr;
mod facts;
mod flow;
mod generics;
mod graph;
mod hierarchy;
mod imports;
mod inline;
mod java;
mod java_class;
mod kotlin;
mod lambda;
mod lambda_body;
mod lambda_call;
mod lambda_logic;
mod layout;
pub mod literal;
mod loops;
mod mock;
mod names;
mod operators;
mod order;
mod overload;
mod package;
mod printer;
mod reach;
mod reflect;
mod scope;
mod settings;
mod signature;
mod source;
mod stand_in;
mod statements;
mod tree;
mod types;
mod values;
mod variables;

use culprit_model::script::Script;

pub use condition::Condition;
pub use error::Error;
pub use facts::{ClassBytes, ClassFacts, Classes, FieldFacts, MethodFacts, Nesting};

/// The version of JUnit that a test is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Junit {
    Four,
    Five,
}

/// The language of a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Language {
    #[default]
    Java,
    Kotlin,
}

impl Language {
    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Java => "java",
            Language::Kotlin => "kotlin",
        }
    }

    /// The ending of source files.
    pub fn ending(self) -> &'static str {
        match self {
            Language::Java => "java",
            Language::Kotlin => "kt",
        }
    }
}

/// The form of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    pub junit: Junit,
    pub language: Language,
    /// The name of the class: `OrderTest`.
    pub name: String,
    /// Statements that repeat become loops.
    pub loops: bool,
    /// The condition that the last statement checks, if it does not fail by itself.
    pub condition: Option<Condition>,
}

/// A test as source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrintedTest {
    /// With dots; empty for the unnamed one.
    pub package: String,
    pub class_name: String,
    pub language: Language,
    /// The whole file.
    pub source: String,
    /// The name of the test method.
    pub method: String,
    /// The text after each `import`, in order.
    pub imports: Vec<String>,
    pub notes: Notes,
}

/// Properties of a test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    pub uses_reflection: bool,
    /// Objects that small classes, or plain new objects, stand in for.
    pub stand_ins: usize,
    /// Calls and accesses of fields, as they are written: once in a loop.
    pub statements: usize,
    /// Statements of the script that are written; the others are further rounds of loops.
    pub written: Vec<usize>,
    pub loops: usize,
    /// Calls out of the code that the test leaves to the real objects.
    pub left_alone: usize,
    /// The assertion that failed compares nothing that the code returned: the test cannot pass.
    pub compares_constants: bool,
}

/// Prints a script. The lines of the comment above the class may depend on the notes.
pub fn print(
    script: &Script,
    classes: &dyn Classes,
    options: &Options,
    comment: impl Fn(&Notes) -> Vec<String>,
) -> Result<PrintedTest, Error> {
    // The package is chosen among those of the classes that are used.
    let script = script.pruned();
    let hierarchy = hierarchy::Hierarchy::new(classes);
    let package = package::choose(&graph::Graph::of(&script)?, &hierarchy);
    let printer = printer::Printer {
        access: access::Access {
            hierarchy: &hierarchy,
            package: &package,
        },
        options,
        comment: &comment,
    };
    printer.print(&script)
}
