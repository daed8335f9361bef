//! Changes of a program: which of those between a good and a bad version make a test fail?

mod bench;
mod binary;
mod blame;
mod blocks;
mod brackets;
mod commits;
mod complaints;
mod course;
mod difference;
mod error;
mod file_times;
mod git;
mod grammars;
mod groups;
mod history;
mod isolation;
mod lines;
mod names;
mod patch;
mod renames;
mod sides;
mod submodules;
mod tree;
mod trial;
mod way;
mod work_tree;

pub use bench::Leftovers;
pub use blame::{Change, Origin};
pub use course::{Limits, Tried};
pub use difference::Difference;
pub use error::Error;
pub use git::{Commit, ELSEWHERE, Git, Repository};
pub use isolation::{Checks, Commits, Isolation, Plan};
pub use patch::{Compared, NoText, Row};
pub use sides::{Side, WORK_TREE};
pub use submodules::Submodule;
