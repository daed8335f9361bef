//! What is known of candidates: verdicts by digest, and what monotone verdicts imply.
//!
//! A verdict that came early (ahead of time, or from a journal) is *known*; it is *needed* once
//! the search itself asked. Only needed verdicts imply anything, so that what is implied does not
//! depend on what happened to be evaluated ahead of time.

use std::collections::HashMap;
use std::collections::VecDeque;

use crate::digest::Digest;
use crate::oracle::{Verdict, VerdictKind};
use crate::progress::VerdictOrigin;
use crate::set::DeltaSet;
use crate::settings::Inference;

/// Passing candidates that are remembered whole. Each costs a comparison per candidate.
const REMEMBERED: usize = 32;

pub(crate) struct Knowledge<D> {
    known: HashMap<Digest, KnownVerdict<D>>,
    /// Candidates that passed, none of them a part of another, the latest last.
    passed: VecDeque<DeltaSet>,
    inference: Inference,
}

pub(crate) struct KnownVerdict<D> {
    pub(crate) verdict: Verdict<D>,
    pub(crate) origin: VerdictOrigin,
    pub(crate) needed: bool,
}

impl<D> Knowledge<D> {
    pub(crate) fn new(inference: Inference) -> Knowledge<D> {
        Knowledge {
            known: HashMap::new(),
            passed: VecDeque::new(),
            inference,
        }
    }

    /// Files a verdict that nobody needed yet.
    pub(crate) fn learn(&mut self, key: Digest, verdict: Verdict<D>, origin: VerdictOrigin) {
        self.known.entry(key).or_insert(KnownVerdict {
            verdict,
            origin,
            needed: false,
        });
    }

    pub(crate) fn get(&self, key: Digest) -> Option<&KnownVerdict<D>> {
        self.known.get(&key)
    }

    pub(crate) fn knows(&self, key: Digest) -> bool {
        self.known.contains_key(&key)
    }

    /// The kind of verdict, known or implied.
    pub(crate) fn foresee(&self, candidate: &DeltaSet, key: Digest) -> Option<VerdictKind> {
        let known = self.known.get(&key).map(|entry| entry.verdict.kind());
        known.or_else(|| self.implies_pass(candidate).then_some(VerdictKind::Pass))
    }

    /// Whether needed verdicts imply that the candidate passes.
    pub(crate) fn implies_pass(&self, candidate: &DeltaSet) -> bool {
        self.passed.iter().any(|passed| candidate.is_subset(passed))
    }

    /// The search itself asked for a known verdict.
    pub(crate) fn need(&mut self, candidate: &DeltaSet, key: Digest) {
        let Some(entry) = self.known.get_mut(&key) else {
            return;
        };
        entry.needed = true;
        if self.inference == Inference::Monotone && entry.verdict.kind() == VerdictKind::Pass {
            self.passed.retain(|passed| !passed.is_subset(candidate));
            self.passed.push_back(candidate.clone());
            if self.passed.len() > REMEMBERED {
                self.passed.pop_front();
            }
        }
    }
}
