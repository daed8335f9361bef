//! Changes of a program: which of those between a good and a bad version make a test fail?

mod bench;
mod blocks;
mod difference;
mod error;
mod git;
mod groups;
mod history;
mod lines;
mod names;
mod renames;
mod tree;

pub use bench::Leftovers;
pub use difference::Difference;
pub use error::Error;
pub use git::{Commit, Repository};
