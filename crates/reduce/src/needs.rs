//! Which deltas need which: no candidate is ever proposed that has a delta and lacks one it needs.
//!
//! A set is *closed* when it has everything its deltas need. There are two ways to take deltas
//! out of a closed set and get a closed one, and one way to put some in; all of them stay between
//! any closed sets they started between, so `dd` may use them without losing its bounds.

use std::ops::Range;

use crate::digest::Digester;
use crate::set::{Builder, DeltaSet};

/// What deltas need.
#[derive(Clone, Debug, Default)]
pub struct Needs(NeedsKind);

#[derive(Clone, Debug, Default)]
enum NeedsKind {
    #[default]
    Nothing,
    Graph(Graph),
    /// Sorted and disjoint. In each, a delta needs the one before it.
    Chains(Vec<Range<u64>>),
}

/// Edges in both directions, in rows: those of delta `d` are `edges[starts[d]..starts[d + 1]]`.
#[derive(Clone, Debug)]
struct Graph {
    needs: Rows,
    needed_by: Rows,
}

#[derive(Clone, Debug)]
struct Rows {
    starts: Vec<u32>,
    edges: Vec<u32>,
}

/// What becomes of the deltas that are bound to those taken out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Closing {
    /// They go too: what is left is as small as it can be.
    Drop,
    /// They stay, and so does what they need: what is left is as large as it can be.
    Keep,
}

impl Needs {
    /// Deltas are independent.
    pub fn nothing() -> Needs {
        Needs(NeedsKind::Nothing)
    }

    /// Deltas below `size` and pairs of them: the first needs the second. Circles are allowed;
    /// their deltas come and go together.
    ///
    /// # Panics
    /// If a pair names a delta that is not below `size`.
    pub fn graph(size: u32, pairs: impl IntoIterator<Item = (u32, u32)>) -> Needs {
        let mut pairs: Vec<(u32, u32)> = pairs.into_iter().filter(|(a, b)| a != b).collect();
        let known = pairs.iter().all(|&(a, b)| a < size && b < size);
        assert!(known, "a delta needs one that does not exist");
        pairs.sort_unstable();
        pairs.dedup();
        let needs = Rows::new(size, &pairs);
        for pair in &mut pairs {
            *pair = (pair.1, pair.0);
        }
        pairs.sort_unstable();
        let needed_by = Rows::new(size, &pairs);
        Needs(NeedsKind::Graph(Graph { needs, needed_by }))
    }

    /// A tree, or several: for each delta its parent, which it needs.
    pub fn tree(parents: &[Option<u32>]) -> Needs {
        let size = u32::try_from(parents.len()).expect("a tree has fewer than 2^32 nodes");
        Needs::graph(
            size,
            (0..size).zip(parents).filter_map(|(d, p)| Some((d, (*p)?))),
        )
    }

    /// Ranges in which each delta needs the one before it, as moves of one switch in a schedule or
    /// commits of one branch do. They take no room for each delta.
    ///
    /// # Panics
    /// If ranges overlap.
    pub fn chains(ranges: impl IntoIterator<Item = Range<u64>>) -> Needs {
        let mut chains: Vec<Range<u64>> = ranges.into_iter().filter(|r| !r.is_empty()).collect();
        chains.sort_by_key(|chain| chain.start);
        let disjoint = chains.windows(2).all(|pair| pair[0].end <= pair[1].start);
        assert!(disjoint, "chains overlap");
        Needs(NeedsKind::Chains(chains))
    }

    /// Takes deltas out of a closed set.
    pub(crate) fn without(&self, set: &DeltaSet, gone: &DeltaSet, closing: Closing) -> DeltaSet {
        match (&self.0, closing) {
            (NeedsKind::Nothing, _) => set.minus(gone),
            (NeedsKind::Graph(graph), Closing::Drop) => graph.drop(set, gone),
            (NeedsKind::Graph(graph), Closing::Keep) => graph.keep(set, gone),
            (NeedsKind::Chains(chains), Closing::Drop) => {
                let ends = gone.ranges().map(|r| r.start..end_of_chain(chains, r.end));
                set.minus(&ends.collect())
            }
            (NeedsKind::Chains(chains), Closing::Keep) => from_starts(chains, &set.minus(gone)),
        }
    }

    /// Puts deltas into a closed set, with what they need.
    pub(crate) fn with(&self, set: &DeltaSet, new: &DeltaSet) -> DeltaSet {
        match &self.0 {
            NeedsKind::Nothing => set.union(new),
            NeedsKind::Graph(graph) => graph.add(set, new),
            NeedsKind::Chains(chains) => set.union(&from_starts(chains, new)),
        }
    }

    /// A delta of the set and one that it needs and the set lacks.
    pub(crate) fn unmet(&self, set: &DeltaSet) -> Option<(u64, u64)> {
        match &self.0 {
            NeedsKind::Nothing => None,
            NeedsKind::Graph(graph) => {
                let members = set.iter().take_while(|d| *d < graph.needs.len());
                let mut pairs = members.flat_map(|d| {
                    let needs = graph.needs.of(d).iter();
                    needs.map(move |n| (d, u64::from(*n)))
                });
                pairs.find(|(_, needed)| !set.contains(*needed))
            }
            NeedsKind::Chains(chains) => {
                let mut starts = set.ranges().map(|range| range.start);
                let start = starts.find(|start| start_of_chain(chains, *start) < *start)?;
                Some((start, start - 1))
            }
        }
    }

    pub(crate) fn add_to(&self, digester: &mut Digester) {
        let mut pair = |a: u64, b: u64| [a, b].map(|number| digester.number(number));
        match &self.0 {
            NeedsKind::Nothing => {
                pair(0, 0);
            }
            NeedsKind::Graph(graph) => {
                pair(1, graph.needs.len());
                for delta in 0..graph.needs.len() {
                    for needed in graph.needs.of(delta) {
                        pair(delta, u64::from(*needed));
                    }
                }
            }
            NeedsKind::Chains(chains) => {
                pair(2, chains.len() as u64);
                for chain in chains.iter() {
                    pair(chain.start, chain.end);
                }
            }
        }
    }
}

/// Ranges up to the ends of the set's ranges, each from the start of the chain it starts in.
fn from_starts(chains: &[Range<u64>], set: &DeltaSet) -> DeltaSet {
    set.ranges()
        .map(|range| start_of_chain(chains, range.start)..range.end)
        .collect()
}

fn start_of_chain(chains: &[Range<u64>], delta: u64) -> u64 {
    let after = chains.partition_point(|chain| chain.start <= delta);
    match after.checked_sub(1).map(|at| &chains[at]) {
        Some(chain) if delta < chain.end => chain.start,
        _ => delta,
    }
}

/// The end of the chain that the last delta before `end` is in.
fn end_of_chain(chains: &[Range<u64>], end: u64) -> u64 {
    let at = chains.partition_point(|chain| chain.end < end);
    match chains.get(at) {
        Some(chain) if chain.start < end => chain.end,
        _ => end,
    }
}

impl Graph {
    fn drop(&self, set: &DeltaSet, gone: &DeltaSet) -> DeltaSet {
        let mut left = Bits::of(&set.minus(gone));
        let mut work: Vec<u32> = Vec::new();
        let mut dropped = false;
        for delta in self.needed_by.known(gone) {
            let dependents = self.needed_by.of(delta).iter();
            work.extend(dependents.copied().filter(|d| left.take(*d)));
        }
        while let Some(delta) = work.pop() {
            dropped = true;
            let dependents = self.needed_by.of(u64::from(delta)).iter();
            work.extend(dependents.copied().filter(|d| left.take(*d)));
        }
        if dropped {
            left.to_set()
        } else {
            set.minus(gone)
        }
    }

    fn keep(&self, set: &DeltaSet, gone: &DeltaSet) -> DeltaSet {
        let kept = set.minus(gone);
        let left = Bits::of(&kept);
        let gone = set.intersection(gone);
        let mut work: Vec<u32> = Vec::new();
        // Whichever side is smaller tells which of those that go are needed by those that stay.
        if kept.len() < gone.len() {
            for delta in self.needs.known(&kept) {
                let needs = self.needs.of(delta).iter().copied();
                work.extend(needs.filter(|n| !left.has(*n)));
            }
        } else {
            for delta in self.needed_by.known(&gone) {
                let mut dependents = self.needed_by.of(delta).iter();
                if dependents.any(|d| left.has(*d)) {
                    work.push(delta as u32);
                }
            }
        }
        if work.is_empty() {
            return kept;
        }
        self.complete(left, work)
    }

    fn add(&self, set: &DeltaSet, new: &DeltaSet) -> DeltaSet {
        let all = set.union(new);
        let left = Bits::of(&all);
        let mut work: Vec<u32> = Vec::new();
        for delta in self.needs.known(new) {
            let needs = self.needs.of(delta).iter().copied();
            work.extend(needs.filter(|n| !left.has(*n)));
        }
        if work.is_empty() {
            return all;
        }
        self.complete(left, work)
    }

    /// Puts in the deltas and what they need.
    fn complete(&self, mut left: Bits, mut work: Vec<u32>) -> DeltaSet {
        while let Some(delta) = work.pop() {
            if left.put(delta) {
                let needs = self.needs.of(u64::from(delta)).iter().copied();
                work.extend(needs.filter(|n| !left.has(*n)));
            }
        }
        left.to_set()
    }
}

impl Rows {
    fn new(size: u32, pairs: &[(u32, u32)]) -> Rows {
        let starts = (0..=size)
            .map(|delta| pairs.partition_point(|(from, _)| *from < delta) as u32)
            .collect();
        Rows {
            starts,
            edges: pairs.iter().map(|(_, to)| *to).collect(),
        }
    }

    fn len(&self) -> u64 {
        self.starts.len() as u64 - 1
    }

    fn of(&self, delta: u64) -> &[u32] {
        let at = delta as usize;
        &self.edges[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The deltas of a set that the graph speaks of.
    fn known(&self, set: &DeltaSet) -> impl Iterator<Item = u64> {
        set.iter().take_while(|delta| *delta < self.len())
    }
}

/// A set as bits, for looking up and changing one delta at a time.
struct Bits(Vec<u64>);

impl Bits {
    fn of(set: &DeltaSet) -> Bits {
        let words = set.last().map_or(0, |last| last / 64 + 1);
        let mut bits = vec![0u64; words as usize];
        for range in set.ranges() {
            let (first, last) = ((range.start / 64) as usize, ((range.end - 1) / 64) as usize);
            let head = u64::MAX << (range.start % 64);
            let tail = u64::MAX >> (63 - (range.end - 1) % 64);
            if first == last {
                bits[first] |= head & tail;
            } else {
                bits[first] |= head;
                bits[first + 1..last].fill(u64::MAX);
                bits[last] |= tail;
            }
        }
        Bits(bits)
    }

    fn has(&self, delta: u32) -> bool {
        let word = self.0.get(delta as usize / 64);
        word.is_some_and(|word| word >> (delta % 64) & 1 == 1)
    }

    /// Takes a delta out; whether it was there.
    fn take(&mut self, delta: u32) -> bool {
        let there = self.has(delta);
        if there {
            self.0[delta as usize / 64] &= !(1 << (delta % 64));
        }
        there
    }

    /// Puts a delta in; whether it was not there.
    fn put(&mut self, delta: u32) -> bool {
        let at = delta as usize / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        let new = !self.has(delta);
        self.0[at] |= 1 << (delta % 64);
        new
    }

    fn to_set(&self) -> DeltaSet {
        let mut builder = Builder::default();
        for (at, word) in self.0.iter().enumerate() {
            let base = at as u64 * 64;
            let mut word = *word;
            let mut from = 0;
            while word != 0 {
                let zeros = word.trailing_zeros();
                let ones = (word >> zeros).trailing_ones();
                let start = from + zeros;
                builder.push(base + u64::from(start)..base + u64::from(start + ones));
                from = start + ones;
                word = if from == 64 { 0 } else { word >> zeros >> ones };
            }
        }
        builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const SIZE: u32 = 30;

    fn set(deltas: &[u64]) -> DeltaSet {
        deltas.iter().copied().collect()
    }

    #[test]
    fn what_needs_the_gone_goes_or_keeps_it() {
        // 2 needs 1, 1 needs 0; 3 is on its own.
        let needs = Needs::graph(4, [(2, 1), (1, 0)]);
        let all = DeltaSet::all(4);
        let check = |gone: &[u64], closing, expect: &[u64]| {
            assert_eq!(
                needs.without(&all, &set(gone), closing),
                set(expect),
                "{gone:?}"
            );
        };
        check(&[1], Closing::Drop, &[0, 3]);
        check(&[1], Closing::Keep, &[0, 1, 2, 3]);
        check(&[2, 3], Closing::Drop, &[0, 1]);
        check(&[2, 3], Closing::Keep, &[0, 1]);
        check(&[0, 1, 2], Closing::Keep, &[3]);
        assert_eq!(needs.with(&set(&[3]), &set(&[2])), all);
        assert_eq!(needs.unmet(&set(&[0, 2])), Some((2, 1)));
    }

    #[test]
    fn chains_of_billions_are_cut_and_completed() {
        let needs = Needs::chains([0..2_000_000_000, 2_000_000_000..5_000_000_000]);
        let all = DeltaSet::all(6_000_000_000);
        let cut = needs.without(&all, &DeltaSet::from(1_000..2_000), Closing::Drop);
        assert_eq!(cut.to_string(), "0-999 2000000000-5999999999");
        let kept = needs.without(&all, &DeltaSet::from(1_000..3_000_000_000), Closing::Keep);
        assert_eq!(kept.to_string(), "0-999 2000000000-5999999999");
        let with = needs.with(&DeltaSet::empty(), &set(&[2_000_000_005, 5_500_000_000]));
        assert_eq!(with.to_string(), "2000000000-2000000005 5500000000");
        assert_eq!(needs.unmet(&set(&[5])), Some((5, 4)));
        assert_eq!(needs.unmet(&with), None);
    }

    /// The largest closed subset, and the smallest closed superset, by repeating until nothing
    /// changes.
    fn plain(pairs: &[(u32, u32)], mut set: BTreeSet<u64>, grow: bool) -> BTreeSet<u64> {
        loop {
            let before = set.len();
            for (delta, needed) in pairs.iter().map(|&(a, b)| (u64::from(a), u64::from(b))) {
                if set.contains(&delta) && !set.contains(&needed) {
                    if grow {
                        set.insert(needed);
                    } else {
                        set.remove(&delta);
                    }
                }
            }
            if set.len() == before {
                return set;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn closing_finds_the_nearest_closed_set(
            pairs in prop::collection::vec((0..SIZE, 0..SIZE), 0..40),
            start in prop::collection::btree_set(0..u64::from(SIZE), 0..30),
            gone in prop::collection::btree_set(0..u64::from(SIZE), 0..30),
        ) {
            let needs = Needs::graph(SIZE, pairs.iter().copied());
            let start = plain(&pairs, start, true);
            let left: BTreeSet<u64> = start.difference(&gone).copied().collect();
            let (all, out): (DeltaSet, DeltaSet) =
                (start.iter().copied().collect(), gone.iter().copied().collect());
            let check = |found: DeltaSet, expect: BTreeSet<u64>| {
                assert_eq!(found.iter().collect::<BTreeSet<_>>(), expect);
                assert_eq!(needs.unmet(&found), None);
            };
            check(needs.without(&all, &out, Closing::Drop), plain(&pairs, left.clone(), false));
            check(needs.without(&all, &out, Closing::Keep), plain(&pairs, left, true));
            let both = start.union(&gone).copied().collect();
            check(needs.with(&all, &out), plain(&pairs, both, true));
        }

        #[test]
        fn chains_are_graphs_in_little_room(
            cuts in prop::collection::btree_set(0..SIZE, 0..8),
            gone in prop::collection::btree_set(0..u64::from(SIZE), 0..30),
            start in prop::collection::btree_set(0..u64::from(SIZE), 0..30),
        ) {
            let cuts: Vec<u64> = cuts.into_iter().map(u64::from).collect();
            let ranges: Vec<Range<u64>> = cuts.windows(2).map(|w| w[0]..w[1]).collect();
            let pairs = ranges.iter().flat_map(|r| r.clone().skip(1)).map(|d| (d as u32, d as u32 - 1));
            let graph = Needs::graph(SIZE, pairs);
            let chains = Needs::chains(ranges.clone());
            let start = graph.with(&DeltaSet::empty(), &start.iter().copied().collect());
            let gone: DeltaSet = gone.iter().copied().collect();
            prop_assert_eq!(chains.unmet(&start), None);
            for closing in [Closing::Drop, Closing::Keep] {
                prop_assert_eq!(chains.without(&start, &gone, closing), graph.without(&start, &gone, closing));
            }
            prop_assert_eq!(chains.with(&start, &gone), graph.with(&start, &gone));
            prop_assert_eq!(chains.unmet(&gone).is_some(), graph.unmet(&gone).is_some());
        }
    }
}
