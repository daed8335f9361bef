//! What `culprit isolate changes` is measured on.

pub mod histories;
pub mod made;
