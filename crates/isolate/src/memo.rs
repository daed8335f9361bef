//! Verdicts by what was tested: different deltas may give the same bytes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use culprit_reduce::{Digest, Verdict};

/// Verdicts that are known.
#[derive(Default)]
pub struct Memo(Mutex<HashMap<Digest, Verdict<String>>>);

impl Memo {
    /// The verdict on an artefact, judged if it is not known. Errors are not kept. Two threads that
    /// ask at the same time may both judge.
    pub fn recall<E>(
        &self,
        artefact: Digest,
        judge: impl FnOnce() -> Result<Verdict<String>, E>,
    ) -> Result<Verdict<String>, E> {
        if let Some(known) = self.lock().get(&artefact) {
            return Ok(known.clone());
        }
        let verdict = judge()?;
        self.lock().insert(artefact, verdict.clone());
        Ok(verdict)
    }

    /// What is known of an artefact.
    pub fn get(&self, artefact: Digest) -> Option<Verdict<String>> {
        self.lock().get(&artefact).cloned()
    }

    /// Knows a verdict from now on.
    pub fn learn(&self, artefact: Digest, verdict: Verdict<String>) {
        self.lock().insert(artefact, verdict);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Verdict<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_judged_once() {
        let memo = Memo::default();
        let ask = |bytes: &[u8], verdict: Verdict<String>| {
            memo.recall::<()>(Digest::of(bytes), || Ok(verdict))
                .unwrap()
        };
        assert_eq!(ask(b"a", Verdict::Pass), Verdict::Pass);
        let fail = Verdict::Fail("x".to_owned());
        assert_eq!(ask(b"b", fail.clone()), fail);
        assert_eq!(ask(b"a", fail), Verdict::Pass);
        let failed: Result<_, &str> = memo.recall(Digest::of(b"c"), || Err("no"));
        assert_eq!(failed, Err("no"));
        assert_eq!(memo.get(Digest::of(b"c")), None);
    }
}
