//! Scripts that fail as a program did, made from recordings and from followed runs.
//!
//! A [`Script`] runs on the program as it is, which is what a test printed from it does. [`extract`] makes one
//! from a recording and [`followed`] from a run whose driver was followed; [`select`] and [`drivers`] choose the
//! classes to record or to follow. Recipes rebuild JDK objects that a recording describes, [`links`] connects a
//! failed assertion with the result it checks, and [`seek`] and [`Predicate`] find the statement after which a
//! condition of the user holds.
//!
//! Nothing here starts a JVM: whoever asks for a run passes a [`RunScript`]. Only a [`Predicate`] has its
//! expression compiled.
#![forbid(unsafe_code)]

mod alias;
mod assertions;
mod borders;
mod clojure;
mod condition;
mod containers;
mod decision;
mod default_arguments;
mod dependencies;
mod effects;
mod elements;
mod error;
mod extraction;
mod failure_point;
mod followed_run;
mod input_files;
mod loader;
mod loop_ends;
mod own_code;
mod predicate;
mod quiet;
mod recipe;
mod run;
mod selection;
mod spies;
mod surroundings;
mod wrong_result;

pub use alias::{rename, with_aliases, without_idle_reads};
pub use assertions::{actual, finds_fault, is_for_assertions, links};
pub use borders::{Border, Route, inner_borders, route};
pub use condition::{BadCondition, Condition};
pub use culprit_model::{Script, Statement};
pub use decision::start_of_test;
pub use default_arguments::with_default_arguments;
pub use dependencies::{closure, interactions, needs};
pub use effects::{
    changes_library, changes_receiver_by_code, is_command_with_status, is_named_for_change,
    loses_changes,
};
pub use elements::fetches;
pub use error::Error;
pub use extraction::{Extracted, UnseenException, escape, extract, extract_until};
pub use failure_point::{TEXT, printing, seek, standard_stream};
pub use followed_run::{
    CallOfThrower, FollowedFailure, InnerLevel, OwnCalls, call_of_thrower, driver_methods, drivers,
    followed, followed_until, has_own_methods, inner_levels, own_calls, without_idle_guards,
};
pub use input_files::{InputFile, WithFiles, is_input_file, resource_names, with_input_files};
pub use loader::loader_of_failing_call;
pub use own_code::OwnCode;
pub use predicate::{CONDITION_CLASS, Predicate, PredicateCompiler};
pub use run::{RunScript, ScriptRun};
pub use selection::{Failed, select};
pub use surroundings::Surroundings;
pub use wrong_result::{WrongResult, wrong_results};
