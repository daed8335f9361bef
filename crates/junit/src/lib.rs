//! Prints a scenario as an ordinary JUnit test: plain Java that needs nothing of Culprit.
//!
//! The scenario is a row of calls, one after the other, in one thread. The last one is the one that
//! failed: the test fails as it did, and passes when the bug is fixed. What the scenario does not
//! say of the classes, [`Classes`] does.
//!
//! Invariants:
//! - The same scenario, classes and options give the same source.
//! - The source is ASCII, and of the level of Java 8.
//! - Nothing is made up: a value that is not known is an [`Error`]. Only methods of stand-ins that
//!   nobody called answer with zeros.
#![forbid(unsafe_code)]

mod access;
mod alike;
mod answers;
mod blocks;
mod bodies;
mod call;
mod error;
mod expr;
mod facts;
mod flow;
mod generics;
mod hierarchy;
mod imports;
mod inline;
mod lambda;
mod lambda_body;
mod lambda_call;
mod lambda_logic;
mod layout;
mod lift;
pub mod literal;
mod loops;
mod names;
mod operators;
mod order;
mod overload;
mod place;
mod reach;
mod reflect;
mod repeats;
mod roll;
mod rounds;
mod scope;
mod sheet;
mod signature;
mod source;
mod stand_in;
mod statements;
mod story;
mod tree;
mod types;
mod values;
mod variables;

use culprit_model::Scenario;

pub use error::Error;
pub use facts::{ClassBytes, ClassFacts, Classes, FieldFacts, MethodFacts, Nesting};

/// The version of JUnit that a test is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Junit {
    Four,
    Five,
}

/// How a test is printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    pub junit: Junit,
    /// The name of the class: `OrderTest`.
    pub name: String,
    /// Whether statements that come again and again become loops.
    pub loops: bool,
}

/// A test as source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// With dots; empty for the unnamed one.
    pub package: String,
    pub class_name: String,
    /// The whole file.
    pub source: String,
    /// The name of the test method.
    pub method: String,
    /// What stands after `import`, in order.
    pub imports: Vec<String>,
    pub notes: Notes,
}

/// What is worth saying about a test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    pub uses_reflection: bool,
    /// Objects that small classes, or plain new objects, stand in for.
    pub stand_ins: usize,
    /// Calls and accesses of fields, as they are written: once in a loop.
    pub statements: usize,
    /// Statements of the scenario that are written; the others are further rounds of loops.
    pub written: Vec<usize>,
    pub loops: usize,
    /// Calls out of the code that the test leaves to the real objects.
    pub left_alone: usize,
    /// The assertion that failed compares nothing that the code returned: the test cannot pass.
    pub compares_constants: bool,
}

/// Prints a scenario. The lines of the comment above the class may say something of the test.
pub fn print(
    scenario: &Scenario,
    classes: &dyn Classes,
    options: &Options,
    comment: impl Fn(&Notes) -> Vec<String>,
) -> Result<Test, Error> {
    let hierarchy = hierarchy::Hierarchy::new(classes);
    let story = story::Story::read(scenario)?;
    let package = place::choose(&story, &hierarchy);
    let access = access::Access {
        hierarchy: &hierarchy,
        package: &package,
    };
    let press = sheet::Press {
        access,
        options,
        comment: &comment,
    };
    let straight = roll::Rolled::straight(scenario);
    let sheet = press.print(&straight)?;
    match options.loops {
        true => Ok(press.shortest(straight, sheet).test),
        false => Ok(sheet.test),
    }
}
