//! Inputs: a file or a folder on which a test fails, what of it makes it fail, and next to what.
//!
//! Everything is *material*: a list of files. Two sides are known, *old* (passes, or nothing) and
//! *new* (fails). A pass cuts the difference of the two into deltas, the engine decides which of
//! them stay, and the sides are narrowed to what was found; finer passes follow. So deltas are never
//! finer than what coarser ones left.

mod across;
mod brackets;
mod changes;
mod cut;
mod edits;
mod evidence;
mod files;
mod hoist;
mod isolating;
mod material;
mod neighbours;
mod nodes;
mod pair;
mod pass;
mod place;
mod rename;
mod runner;
mod session;
mod simplifying;
mod tree;
mod vocabulary;
mod well_formed;

pub use cut::Content;
pub use evidence::{Evidence, PairForm, PassAnswer};
pub use material::{Item, Material, Mode, Stuff};
pub use pair::{Half, Pair, PairRow, pairs, unified};
pub use place::Handing;
pub use session::{Again, Isolated, Request, Syntax, Trouble, isolate};
