//! Chance that is the same on every machine: the numbers of SplitMix64 (Steele, Lea and Flood,
//! 2014).

/// A row of numbers that a seed determines.
#[derive(Clone, Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    /// A row for each name under the same seed.
    pub(crate) fn named(seed: u64, name: &str) -> Draw {
        // FNV-1a, so that the row depends on nothing but the name.
        Draw(name.bytes().fold(seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is small: the bias does not matter.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// So many different items, or all if there are fewer, in the order they stand in.
    pub(crate) fn some<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut places: Vec<usize> = (0..items.len()).collect();
        let count = count.min(items.len());
        for at in 0..count {
            let other = at + self.below(items.len() - at);
            places.swap(at, other);
        }
        let mut chosen = places[..count].to_vec();
        chosen.sort_unstable();
        chosen.into_iter().map(|at| items[at].clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        let mut draw = Draw::new(1_234_567);
        let numbers: Vec<u64> = (0..3).map(|_| draw.next()).collect();
        let expect = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(numbers, expect);
    }

    #[test]
    fn some_items_are_different_and_in_order() {
        let items: Vec<u32> = (0..10).collect();
        for seed in 0..50 {
            let some = Draw::new(seed).some(&items, 4);
            assert_eq!(some.len(), 4);
            assert!(some.windows(2).all(|pair| pair[0] < pair[1]), "{some:?}");
        }
        assert_eq!(Draw::new(1).some(&items, 99), items);
        assert_ne!(
            Draw::named(1, "a").below(1 << 20),
            Draw::named(1, "b").below(1 << 20)
        );
    }
}
