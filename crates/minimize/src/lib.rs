//! From a recording of a failure to the few calls that make it fail.
//!
//! A [`Script`] runs on the program as it is, which is what a test does that is printed from it.
//! [`extract`] makes one of a recording, [`slice`] keeps what shares objects with the failing call, [`minimise`] takes out what
//! the failure does not need, and what is left is given smaller inputs.
#![forbid(unsafe_code)]

mod alias;
mod choose;
mod concrete;
mod condition;
mod confines;
mod error;
mod extract;
mod fetch;
mod follow;
mod link;
mod merge;
mod minimise;
mod predicate;
mod program;
mod recipe;
mod script;
mod seek;
mod shrink;
mod slice;
mod stage;
mod surroundings;
mod test;
mod verify;

pub use choose::{Failed, choose};
pub use condition::{BadCondition, Condition};
pub use confines::Confines;
pub use culprit_model::{Script, Statement};
pub use error::Error;
pub use extract::{Extracted, extract};
pub use follow::{driver_methods, drivers, followed, followed_until, innermost};
pub use link::assertion_classes;
pub use minimise::{CALLS, Likeness, Minimised, minimise};
pub use predicate::Predicate;
pub use program::{Program, class_path, directory};
pub use script::needs;
pub use shrink::VALUES;
pub use slice::slice;
pub use stage::{Run, Stage};
pub use test::{Found, Means, full_name, make_test};
pub use verify::{
    ByHand, Checked, Fails, Needed, Runner, Surroundings, VARIABLES, Verified, junit_of, verify,
};
