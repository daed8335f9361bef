//! Artefacts: what candidates are turned into for a test.
//!
//! Different candidates may give the same artefact, whose verdict is then known. An artefact may have a
//! flaw that makes a test pointless, such as a text that is not well-formed: the gate answers
//! *unresolved* for it without a test.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::memo::Memo;
use crate::digest::Digest;
use crate::oracle::{Oracle, Verdict, Wanted};
use crate::set::DeltaSet;

/// Something to test.
pub struct Artefact<C> {
    /// The digest of everything that a test of it can see.
    pub digest: Digest,
    /// Its size, in a unit of the technique: bytes, lines, calls.
    pub size: u64,
    /// The content, or the flaw that makes a test pointless.
    pub content: Result<C, String>,
}

impl<C> Artefact<C> {
    pub(super) fn identity(&self) -> Identity {
        Identity {
            digest: self.digest,
            size: self.size,
            flaw: self.content.as_ref().err().cloned(),
        }
    }

    /// The verdict: from the memo, by the flaw, or from the judge.
    pub(super) fn judged<E>(
        &self,
        memo: &Memo,
        judge: impl FnOnce(&C) -> Result<Verdict<String>, E>,
    ) -> Result<Verdict<String>, E> {
        if let Some(known) = memo.get(self.digest) {
            return Ok(known);
        }
        match &self.content {
            Err(flaw) => Ok(Verdict::Unresolved(flaw.clone())),
            Ok(content) => {
                let verdict = judge(content)?;
                memo.learn(self.digest, verdict.clone());
                Ok(verdict)
            }
        }
    }
}

/// Makes artefacts of candidates and judges them.
pub trait ArtefactOracle: Sync {
    /// The content of an artefact.
    type Content;
    /// The reason why a candidate could not be judged at all. It ends the search.
    type Error: Send;

    /// Makes the artefact of a candidate.
    fn make(&self, candidate: &DeltaSet) -> Result<Artefact<Self::Content>, Self::Error>;

    /// Judges the content of an artefact. When `wanted.still()` turns false, the oracle may give up with
    /// an error, which is ignored; every verdict that it returns counts.
    fn judge(
        &self,
        content: &Self::Content,
        wanted: &Wanted<'_>,
    ) -> Result<Verdict<String>, Self::Error>;
}

/// An artefact without its content.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) digest: Digest,
    pub(super) size: u64,
    pub(super) flaw: Option<String>,
}

/// The oracle of one search for the engine.
pub(super) struct Gate<'g, O> {
    oracle: &'g O,
    memo: &'g Memo,
    /// Artefacts of the search by the digest of their candidate.
    known: Mutex<HashMap<Digest, Identity>>,
}

impl<'g, O: ArtefactOracle> Gate<'g, O> {
    pub(super) fn new(oracle: &'g O, memo: &'g Memo) -> Gate<'g, O> {
        Gate {
            oracle,
            memo,
            known: Mutex::default(),
        }
    }

    fn make(&self, candidate: &DeltaSet) -> Result<Artefact<O::Content>, O::Error> {
        let artefact = self.oracle.make(candidate)?;
        self.known().insert(candidate.digest(), artefact.identity());
        Ok(artefact)
    }

    pub(super) fn identity(&self, candidate: &DeltaSet) -> Result<Identity, O::Error> {
        let known = self.known().get(&candidate.digest()).cloned();
        match known {
            Some(identity) => Ok(identity),
            None => Ok(self.make(candidate)?.identity()),
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Digest, Identity>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O: ArtefactOracle> Oracle for Gate<'_, O> {
    type Detail = String;
    type Error = O::Error;

    fn judge(
        &self,
        candidate: &DeltaSet,
        wanted: &Wanted<'_>,
    ) -> Result<Verdict<String>, O::Error> {
        let artefact = self.make(candidate)?;
        artefact.judged(self.memo, |content| self.oracle.judge(content, wanted))
    }
}
