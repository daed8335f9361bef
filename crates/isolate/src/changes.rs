//! Changes of a program: which of those between a good and a bad version make a test fail?

mod blocks;
mod difference;
mod error;
mod groups;
mod lines;
mod names;
mod renames;
mod tree;

pub use difference::Difference;
pub use error::Error;
