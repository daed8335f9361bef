//! Changes of a program: which of those between a good and a bad version make a test fail?
//!
//! The stages, in the order in which data passes them:
//!
//! 1. *Versions*: a side is a commit, the work tree or a folder ([`VersionSource`]). Git is asked for its files,
//!    its submodules and the commits between both sides; nothing of the user's is written.
//! 2. *Deltas*: the difference of two trees becomes deltas: files, renames, modes, blocks, hunks and lines
//!    ([`Difference`]), any subset of which can be made.
//! 3. *Needs*: the deltas that others depend on, from names, brackets, grammars and the messages of failed
//!    builds. They save tests and decide nothing.
//! 4. *Trials*: a version is put into a build folder, built and tested.
//! 5. *Searches*: a [`Request`] runs levels of searches under one driver, and checks the result.
//! 6. *Results*: the deciding lines as a patch, side by side, with the commits that they come from.

mod commits;
mod git;
pub mod git_output;
mod history;
mod sides;
mod submodules;
mod tree;
mod work_tree;

mod binary;
mod difference;
mod lines;
mod link_guard;
mod renames;

mod blocks;
mod brackets;
mod complaints;
mod grammars;
mod groups;
mod names;

mod build_folder;
mod file_times;
mod trial;

mod error;
mod isolation;
mod session;

mod blame;
mod patch;

pub use blame::{Change, ChangeOrigin};
pub use build_folder::Leftovers;
pub use difference::Difference;
pub use error::Error;
pub use git::{ELSEWHERE, Git, Repository};
pub use git_output::{Commit, Submodule};
pub use isolation::{Checks, Commits, Isolation, Request};
pub use patch::{Compared, NoText, Row};
pub use sides::{VersionSource, WORK_TREE};
pub use trial::reason_in;
