//! The study of attacks: programs try to get out of the sandbox, recordings and repositories try to harm whoever
//! opens them, and witnesses outside say what came of it. See `docs/studies/attacks.md`.

pub mod attempt;
pub mod cases;
pub mod files_list;
pub mod loop_device;
pub mod page;
pub mod place;
pub mod results;
pub mod session;
pub mod stage;
pub mod system_list;
pub mod tricks;
pub mod within;
pub mod witness;

pub use attempt::{Aim, Attempt, Verdict, Way, Witness};

/// All attempts that a confined program makes by itself.
pub fn attempts() -> impl Iterator<Item = &'static Attempt> {
    files_list::ATTEMPTS.iter().chain(system_list::ATTEMPTS)
}
