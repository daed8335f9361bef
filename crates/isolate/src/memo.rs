//! Verdicts by what was tested: different deltas may give the same bytes.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use culprit_reduce::Verdict;
use xxhash_rust::xxh3::Xxh3;

/// 128 bits that stand for the bytes of an artefact. No protection against someone who looks for two
/// with one digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(u128);

impl Digest {
    /// Of bytes in memory.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(xxhash_rust::xxh3::xxh3_128(bytes))
    }
}

/// As 32 hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Makes the digest of something that comes in pieces. How it is cut does not count.
pub struct Digester(Box<Xxh3>);

impl Default for Digester {
    fn default() -> Digester {
        Digester(Box::new(Xxh3::new()))
    }
}

impl Digester {
    /// The next bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The next field: fields do not run into each other.
    pub fn field(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    pub fn finish(&self) -> Digest {
        Digest(self.0.digest128())
    }
}

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

    #[test]
    fn a_digest_depends_on_bytes_and_not_on_how_they_come() {
        let mut digester = Digester::default();
        digester.add(b"ab");
        digester.add(b"c");
        assert_eq!(digester.finish(), Digest::of(b"abc"));
        let of = |parts: [&str; 2]| {
            let mut digester = Digester::default();
            parts
                .iter()
                .for_each(|part| digester.field(part.as_bytes()));
            digester.finish()
        };
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
    }
}
