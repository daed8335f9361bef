//! Does every recording replay in sync? Small tests of a library are recorded with each of its
//! classes observed alone, with random sets of its classes, and with all of them; each recording
//! is replayed. This is the first study of SCARPE (NANOXML, 216 tests, about 25,000 recordings),
//! with more tests and more libraries.

mod case;
mod cause;
mod draw;
mod program;
mod ready;
mod report;
mod results;
mod set;
mod study;

pub use case::Verdict;
pub use program::{PROGRAMS, Program};
pub use report::{Section, render};
pub use results::{Results, Row};
pub use set::Kind;
pub use study::{Filter, Study};
