//! Short names for large things: 128 bits, the same on every machine and in every version, since
//! journals hold them. No protection against someone who looks for two sets with one name.

use std::fmt;
use std::str::FromStr;

/// 128 bits that stand for a set of deltas or for a problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

/// As 32 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Fingerprint, Self::Err> {
        u128::from_str_radix(text, 16).map(Fingerprint)
    }
}

/// Odd numbers without a pattern: the first 64 bits of the fractional parts of square roots of
/// 2, 3, 5 and 7, made odd.
const KEYS: [u64; 4] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
];

/// Mixes numbers into two 64-bit lanes by wide multiplication.
pub(crate) struct Mixer {
    lanes: [u64; 2],
    count: u64,
}

impl Mixer {
    pub(crate) fn new() -> Mixer {
        Mixer {
            lanes: [KEYS[0], KEYS[1]],
            count: 0,
        }
    }

    pub(crate) fn pair(&mut self, a: u64, b: u64) {
        let [x, y] = self.lanes;
        self.lanes = [
            fold(x ^ a, KEYS[2] ^ b).wrapping_add(y),
            fold(y ^ b, KEYS[3] ^ a.rotate_left(32)) ^ x,
        ];
        self.count += 1;
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.pair(u64::from_le_bytes(word), chunk.len() as u64);
        }
        self.pair(bytes.len() as u64, u64::MAX);
    }

    pub(crate) fn fingerprint(&mut self, other: Fingerprint) {
        self.pair((other.0 >> 64) as u64, other.0 as u64);
    }

    pub(crate) fn finish(mut self) -> Fingerprint {
        let count = self.count;
        self.pair(count, KEYS[0]);
        self.pair(KEYS[1], count);
        Fingerprint(u128::from(self.lanes[0]) << 64 | u128::from(self.lanes[1]))
    }
}

/// Both halves of a product, one over the other.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn fingerprints_are_read_as_they_are_written() {
        let fingerprint = Mixer::new().finish();
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
    }

    #[test]
    fn neighbours_differ() {
        let mut seen = HashSet::new();
        for start in 0..300u64 {
            for end in 0..300u64 {
                let mut mixer = Mixer::new();
                mixer.pair(start, end);
                let Fingerprint(all) = mixer.finish();
                // Each half is as good as the whole at this size.
                assert!(seen.insert(all as u64) && seen.insert((all >> 64) as u64));
            }
        }
    }

    #[test]
    fn texts_that_run_into_each_other_differ() {
        let of = |parts: [&str; 2]| {
            let mut mixer = Mixer::new();
            parts.iter().for_each(|part| mixer.bytes(part.as_bytes()));
            mixer.finish()
        };
        assert_ne!(of(["ab", "c"]), of(["a", "bc"]));
        assert_ne!(of(["", "a"]), of(["a", ""]));
    }
}
