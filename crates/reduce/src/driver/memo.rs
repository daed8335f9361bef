//! The memo: verdicts by artefact, shared by all searches of a session.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::digest::Digest;
use crate::oracle::Verdict;

/// Verdicts by artefact.
#[derive(Default)]
pub struct Memo(Mutex<HashMap<Digest, Verdict<String>>>);

impl Memo {
    /// The verdict on an artefact, if it is known.
    pub fn get(&self, artefact: Digest) -> Option<Verdict<String>> {
        self.lock().get(&artefact).cloned()
    }

    /// Remembers a verdict.
    pub fn learn(&self, artefact: Digest, verdict: Verdict<String>) {
        self.lock().insert(artefact, verdict);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Verdict<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
