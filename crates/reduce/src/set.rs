//! Sets of deltas, as sorted ranges: billions of deltas in a row take sixteen bytes.
//!
//! Invariant: ranges are sorted, not empty, and never touch, so that equal sets are equal ranges.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::digest::Digest;

/// A set of deltas, which are numbers from 0. Copies share their ranges.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct DeltaSet {
    spans: Arc<[Span]>,
    len: u64,
}

/// A half-open range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Span {
    start: u64,
    end: u64,
}

impl DeltaSet {
    /// The set without deltas.
    pub fn empty() -> DeltaSet {
        DeltaSet::default()
    }

    /// The deltas from 0 to `size`, without `size`.
    pub fn all(size: u64) -> DeltaSet {
        DeltaSet::from(0..size)
    }

    /// How many deltas there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is no delta.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The ranges, in order; they do not touch.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<u64>> + '_ {
        self.spans.iter().map(|span| span.start..span.end)
    }

    /// The deltas, in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges().flatten()
    }

    /// The first delta.
    pub fn first(&self) -> Option<u64> {
        self.spans.first().map(|span| span.start)
    }

    /// The last delta.
    pub fn last(&self) -> Option<u64> {
        self.spans.last().map(|span| span.end - 1)
    }

    /// Whether the delta is in the set.
    pub fn contains(&self, delta: u64) -> bool {
        let after = self.spans.partition_point(|span| span.start <= delta);
        after > 0 && delta < self.spans[after - 1].end
    }

    /// Whether every delta is in the other set too.
    pub fn is_subset(&self, other: &DeltaSet) -> bool {
        if self.len > other.len {
            return false;
        }
        let mut at = 0;
        self.spans.iter().all(|span| {
            at += other.spans[at..].partition_point(|o| o.end < span.end);
            other.spans.get(at).is_some_and(|o| o.start <= span.start)
        })
    }

    /// Whether the two share a delta.
    pub fn intersects(&self, other: &DeltaSet) -> bool {
        let (few, many) = if self.spans.len() <= other.spans.len() {
            (self, other)
        } else {
            (other, self)
        };
        few.spans.iter().any(|span| {
            let at = many.spans.partition_point(|o| o.end <= span.start);
            many.spans.get(at).is_some_and(|o| o.start < span.end)
        })
    }

    /// The deltas of either.
    pub fn union(&self, other: &DeltaSet) -> DeltaSet {
        if other.is_empty() {
            return self.clone();
        }
        if self.is_empty() {
            return other.clone();
        }
        let mut result = Builder::with_room(self.spans.len() + other.spans.len());
        let (mut a, mut b) = (self.spans.iter().peekable(), other.spans.iter().peekable());
        while let Some(next) = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if y.start < x.start => b.next(),
            (Some(_), _) => a.next(),
            (None, _) => b.next(),
        } {
            result.push(next.start..next.end);
        }
        result.finish()
    }

    /// The deltas that are not in the other set.
    pub fn minus(&self, other: &DeltaSet) -> DeltaSet {
        if other.is_empty() {
            return self.clone();
        }
        let mut result = Builder::with_room(self.spans.len() + other.spans.len());
        let mut at = 0;
        for span in self.spans.iter() {
            let mut start = span.start;
            at += skip(&other.spans[at..], |o| o.end <= span.start);
            for hole in &other.spans[at..] {
                if hole.start >= span.end {
                    break;
                }
                result.push(start..hole.start);
                start = start.max(hole.end);
            }
            result.push(start..span.end);
        }
        result.finish()
    }

    /// The deltas of both.
    pub fn intersection(&self, other: &DeltaSet) -> DeltaSet {
        let mut result = Builder::with_room(self.spans.len().min(other.spans.len()));
        let (mut i, mut j) = (0, 0);
        while let (Some(a), Some(b)) = (self.spans.get(i), other.spans.get(j)) {
            if a.end <= b.start {
                i += skip(&self.spans[i..], |span| span.end <= b.start);
            } else if b.end <= a.start {
                j += skip(&other.spans[j..], |span| span.end <= a.start);
            } else {
                result.push(a.start.max(b.start)..a.end.min(b.end));
                if a.end < b.end {
                    i += 1;
                } else {
                    j += 1;
                }
            }
        }
        result.finish()
    }

    /// The last so many deltas, or all.
    pub fn take_last(&self, count: u64) -> DeltaSet {
        let mut left = count.min(self.len);
        let mut spans = Vec::new();
        for span in self.spans.iter().rev() {
            if left == 0 {
                break;
            }
            let taken = left.min(span.end - span.start);
            spans.push(Span {
                start: span.end - taken,
                end: span.end,
            });
            left -= taken;
        }
        spans.reverse();
        DeltaSet {
            spans: spans.into(),
            len: count.min(self.len),
        }
    }

    /// So many parts in order, of sizes that differ by one at most. Parts are never empty: there
    /// are fewer of them where deltas are too few.
    pub fn split(&self, parts: u64) -> Vec<DeltaSet> {
        let parts = parts.min(self.len);
        let mut result = Vec::with_capacity(usize::try_from(parts).unwrap_or(0));
        let mut spans = self.spans.iter().copied();
        let mut open = spans.next();
        for part in 0..parts {
            let end = place_of(self.len, part + 1, parts);
            let mut left = end - place_of(self.len, part, parts);
            let mut builder = Builder::default();
            while left > 0
                && let Some(span) = open
            {
                let taken = left.min(span.end - span.start);
                builder.push(span.start..span.start + taken);
                left -= taken;
                open = if span.start + taken < span.end {
                    Some(Span {
                        start: span.start + taken,
                        end: span.end,
                    })
                } else {
                    spans.next()
                };
            }
            result.push(builder.finish());
        }
        result
    }

    /// The digest of the set, by which memos and journals know it.
    pub fn digest(&self) -> Digest {
        let spans = self.spans.iter();
        Digest::of_numbers(spans.flat_map(|span| [span.start, span.end]))
    }
}

/// Where the part starts among so many deltas.
fn place_of(len: u64, part: u64, parts: u64) -> u64 {
    let place = u128::from(len) * u128::from(part) / u128::from(parts);
    u64::try_from(place).unwrap_or(len)
}

/// How many spans at the front satisfy the condition: looks at few when they are few.
fn skip(spans: &[Span], condition: impl Fn(&Span) -> bool) -> usize {
    let mut step = 1;
    let mut known = 0;
    while known + step <= spans.len() && condition(&spans[known + step - 1]) {
        known += step;
        step *= 2;
    }
    let end = spans.len().min(known + step);
    known + spans[known..end].partition_point(condition)
}

impl From<Range<u64>> for DeltaSet {
    fn from(range: Range<u64>) -> DeltaSet {
        DeltaSet::from_iter([range])
    }
}

/// Ranges in any order; they may touch and overlap.
impl FromIterator<Range<u64>> for DeltaSet {
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(ranges: I) -> DeltaSet {
        let mut ranges: Vec<Range<u64>> = ranges.into_iter().collect();
        ranges.sort_by_key(|range| range.start);
        let mut builder = Builder::with_room(ranges.len());
        ranges.into_iter().for_each(|range| builder.push(range));
        builder.finish()
    }
}

/// Deltas in any order; one may come twice.
impl FromIterator<u64> for DeltaSet {
    fn from_iter<I: IntoIterator<Item = u64>>(deltas: I) -> DeltaSet {
        deltas.into_iter().map(|delta| delta..delta + 1).collect()
    }
}

/// As `1-3 7 9-12`, both ends included.
impl fmt::Display for DeltaSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, span) in self.spans.iter().enumerate() {
            let gap = if i == 0 { "" } else { " " };
            match span.end - span.start {
                1 => write!(f, "{gap}{}", span.start)?,
                _ => write!(f, "{gap}{}-{}", span.start, span.end - 1)?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for DeltaSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

/// Puts a set together from ranges in order.
#[derive(Default)]
pub(crate) struct Builder {
    spans: Vec<Span>,
    len: u64,
}

impl Builder {
    pub(crate) fn with_room(ranges: usize) -> Builder {
        Builder {
            spans: Vec::with_capacity(ranges),
            len: 0,
        }
    }

    /// Adds a range that does not start before those before it. It may touch them or be empty.
    pub(crate) fn push(&mut self, range: Range<u64>) {
        let Range { start, end } = range;
        if start >= end {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if start <= last.end => {
                self.len += end.saturating_sub(last.end);
                last.end = last.end.max(end);
            }
            _ => {
                self.len += end - start;
                self.spans.push(Span { start, end });
            }
        }
    }

    pub(crate) fn finish(self) -> DeltaSet {
        DeltaSet {
            spans: self.spans.into(),
            len: self.len,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn set(deltas: &[u64]) -> DeltaSet {
        deltas.iter().copied().collect()
    }

    fn list(set: &DeltaSet) -> Vec<u64> {
        set.iter().collect()
    }

    #[test]
    fn a_set_is_written_as_its_ranges() {
        assert_eq!(set(&[3, 1, 2, 7, 9, 10]).to_string(), "1-3 7 9-10");
        assert_eq!(format!("{:?}", DeltaSet::empty()), "{}");
    }

    #[test]
    fn the_digest_is_that_of_earlier_versions() {
        // Journals depend on it: another value here means another journal version.
        let text = |set: &DeltaSet| set.digest().to_string();
        assert_eq!(text(&DeltaSet::empty()), "99aa06d3014798d86001c324468d497f");
        assert_eq!(
            text(&set(&[1, 2, 3, 9])),
            "1e153204b46fedf1a59441aca30454ac"
        );
    }

    #[test]
    fn billions_of_deltas_are_split_without_listing_them() {
        let parts = DeltaSet::all(3_842_577_240).split(3);
        let sizes: Vec<u64> = parts.iter().map(DeltaSet::len).collect();
        assert_eq!(sizes, [1_280_859_080; 3]);
        assert_eq!(DeltaSet::all(u64::MAX).split(2)[0].len(), u64::MAX / 2);
    }

    fn members() -> impl Strategy<Value = BTreeSet<u64>> {
        prop::collection::btree_set(0..40u64, 0..30)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sets_do_what_sets_of_numbers_do(a in members(), b in members(), from in 0..40u64, count in 0..40u64) {
            let (x, y): (DeltaSet, DeltaSet) = (a.iter().copied().collect(), b.iter().copied().collect());
            prop_assert_eq!(x.len(), a.len() as u64);
            prop_assert_eq!(list(&x.union(&y)), a.union(&b).copied().collect::<Vec<_>>());
            prop_assert_eq!(list(&x.minus(&y)), a.difference(&b).copied().collect::<Vec<_>>());
            prop_assert_eq!(list(&x.intersection(&y)), a.intersection(&b).copied().collect::<Vec<_>>());
            prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
            prop_assert_eq!(x.intersects(&y), !a.is_disjoint(&b));
            prop_assert_eq!(x.contains(from), a.contains(&from));
            prop_assert_eq!(x.first(), a.first().copied());
            prop_assert_eq!(x.last(), a.last().copied());
            let mut last: Vec<u64> = a.iter().rev().copied().take(count as usize).collect();
            last.reverse();
            prop_assert_eq!(list(&x.take_last(count)), last);
            // Results are in the one form that equal sets have.
            prop_assert_eq!(x.union(&y).minus(&y).union(&x.intersection(&y)), x);
        }

        #[test]
        fn parts_are_even_and_put_together_the_whole(a in members(), parts in 1..40u64) {
            let x: DeltaSet = a.iter().copied().collect();
            let split = x.split(parts);
            prop_assert_eq!(split.len() as u64, parts.min(x.len()));
            let sizes = split.iter().map(DeltaSet::len);
            if let (Some(least), Some(most)) = (sizes.clone().min(), sizes.max()) {
                prop_assert!(least > 0 && most - least <= 1);
            }
            prop_assert_eq!(split.iter().flat_map(list).collect::<Vec<_>>(), list(&x));
        }
    }
}
