//! The reduction engine: which of many deltas does a failure need, and which difference decides?
//!
//! A *delta* is anything that can be left out or put in: a call, a line, a change, a move of a
//! thread switch. Here it is a number. A *candidate* is a set of deltas; an [`Oracle`] judges it
//! with one of three verdicts. [`Engine::ddmin`] finds a failing set from which nothing can be taken;
//! [`Engine::dd`] finds a passing and a failing set whose difference cannot become smaller.
//!
//! Invariants:
//! - Deltas are never listed unless they are judged one by one: sets are ranges.
//! - Every candidate has what its deltas need, and lies between the ends of the problem.
//! - The result and the tests behind it depend on problem, settings and verdicts alone: not on the
//!   number of jobs, not on which of them finishes first, not on interruptions with a journal.
//! - Only what the oracle called failing is ever returned as failing; the same for passing in `dd`.
//!
//! A [`Driver`] runs several searches of one session under one budget, with a memo of verdicts by
//! artefact, journals, and progress events. Techniques implement [`ArtefactOracle`] for it.
//!
//! This crate knows no processes, no consoles and nothing of what deltas are.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod digest;
mod driver;
mod engine;
mod error;
mod isolate;
mod journal;
mod knowledge;
mod minimise;
mod needs;
mod oracle;
mod pool;
mod problem;
mod progress;
mod schedule;
mod search;
mod set;
mod settings;
mod units;

pub use digest::{Digest, Digester};
pub use driver::{
    Artefact, ArtefactOracle, Driver, GRACE, Goal, Journals, Memo, ReductionEvent, Scale, Search,
    SearchResult, Tally, Tested,
};
pub use engine::{Engine, Outcome, Reduction, SearchEnd};
pub use error::{Error, JournalError, ProblemError};
pub use journal::Journal;
pub use needs::Needs;
pub use oracle::{Cancel, Clock, Detail, Judge, Oracle, SystemClock, Verdict, VerdictKind, Wanted};
pub use problem::Problem;
pub use progress::{Counts, Phase, ReductionStep, Standing, VerdictOrigin};
pub use schedule::Schedule;
pub use set::DeltaSet;
pub use settings::{Budget, Inference, Settings};
pub use units::Units;
