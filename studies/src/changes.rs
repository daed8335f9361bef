//! What `culprit isolate changes` is measured on.

pub mod made;
