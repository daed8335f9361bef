//! Does observing a program change it? The own test suites of well-known libraries are run
//! plain and recorded, and must have the same outcome test by test.

mod library;
mod outcomes;
mod report;
mod result;
mod suite;

pub use library::{LIBRARIES, Library};
pub use outcomes::Difference;
pub use report::{Section, render};
pub use result::Found;
pub use suite::Study;
