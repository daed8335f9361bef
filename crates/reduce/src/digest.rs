//! Digests: 128 bits that identify a set of deltas, a problem, or the bytes of an artefact.
//!
//! The hash is XXH3 with 128 bits, the same on every machine. Journals contain digests, so another
//! hash means another version of the journal. XXH3 gives no protection against somebody who looks for
//! two inputs with one digest.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The XXH3 hash of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(u128);

impl Digest {
    /// The digest of bytes in memory.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(xxh3_128(bytes))
    }

    /// The digest of a list of numbers.
    pub(crate) fn of_numbers(numbers: impl Iterator<Item = u64>) -> Digest {
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        Digest::of(&bytes)
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

impl FromStr for Digest {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Digest, Self::Err> {
        u128::from_str_radix(text, 16).map(Digest)
    }
}

/// Computes the digest of bytes that arrive in pieces.
pub struct Digester(Box<Xxh3>);

impl Default for Digester {
    fn default() -> Digester {
        Digester(Box::new(Xxh3::new()))
    }
}

impl Digester {
    /// Adds bytes. Only their sequence counts, not how it is split.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds the length of a field and its bytes, so that neighbouring fields do not run into each other.
    pub fn field(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.add(bytes);
    }

    /// Adds a number.
    pub(crate) fn number(&mut self, number: u64) {
        self.add(&number.to_le_bytes());
    }

    /// Adds a digest.
    pub fn digest(&mut self, digest: Digest) {
        self.add(&digest.0.to_le_bytes());
    }

    /// The digest of all that was added.
    pub fn finish(&self) -> Digest {
        Digest(self.0.digest128())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_parses_from_its_text() {
        let digest = Digest::of(b"x");
        assert_eq!(digest.to_string().parse(), Ok(digest));
    }

    #[test]
    fn a_digest_depends_on_the_bytes_and_not_on_their_pieces() {
        let mut digester = Digester::default();
        digester.add(b"ab");
        digester.add(b"c");
        assert_eq!(digester.finish(), Digest::of(b"abc"));
    }

    #[test]
    fn the_same_bytes_in_other_fields_have_another_digest() {
        let of = |parts: [&str; 2]| {
            let mut digester = Digester::default();
            parts
                .iter()
                .for_each(|part| digester.field(part.as_bytes()));
            digester.finish()
        };
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
        assert_ne!(of(["", "a"]), of(["a", ""]));
    }
}
