//! Edits: each delta is something that one side has and the other has not, in one text.
//!
//! The text is that of the new side. A delta that is kept leaves its places as they are; one that
//! is not puts what the old side has there. All deltas give the new side, none gives the old one.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use culprit_reduce::DeltaSet;

/// A text with its deltas.
pub(crate) struct Edits {
    text: Arc<Vec<u8>>,
    /// In the order of the text.
    places: Vec<DeltaSpan>,
    count: u64,
}

/// The range that a delta covers, and the bytes without it.
struct DeltaSpan {
    range: Range<usize>,
    /// What stands there without the delta.
    without: Box<[u8]>,
    delta: u64,
}

impl Edits {
    /// No deltas yet.
    pub(crate) fn new(text: Arc<Vec<u8>>) -> Edits {
        Edits {
            text,
            places: Vec::new(),
            count: 0,
        }
    }

    /// Adds a delta that shows in one place.
    pub(crate) fn add(&mut self, range: Range<usize>, without: &[u8]) {
        self.add_all([(range, without.into())]);
    }

    /// Adds a delta that shows in several. Places of all deltas are disjoint, or one lies in the
    /// other and the outer one counts.
    pub(crate) fn add_all(&mut self, places: impl IntoIterator<Item = (Range<usize>, Box<[u8]>)>) {
        let delta = self.count;
        self.count += 1;
        for (range, without) in places {
            self.places.push(DeltaSpan {
                range,
                without,
                delta,
            });
        }
    }

    /// How many deltas there are.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    /// How many bytes the places have, on the side where that is more.
    pub(crate) fn differing(&self) -> u64 {
        let each = self.places.iter();
        each.map(|place| place.range.len().max(place.without.len()) as u64)
            .sum()
    }

    /// Puts the places in order. Those at one place stay as they were added.
    pub(crate) fn sorted(mut self) -> Edits {
        // What is put in before a place comes first, then the outer ones.
        self.places.sort_by_key(|place| {
            let Range { start, end } = place.range;
            (start, end > start, Reverse(end))
        });
        self
    }

    /// The text with these deltas.
    pub(crate) fn render(&self, kept: &DeltaSet) -> Vec<u8> {
        let mut result = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for place in &self.places {
            if kept.contains(place.delta) || place.range.start < at {
                continue;
            }
            result.extend_from_slice(&self.text[at..place.range.start]);
            result.extend_from_slice(&place.without);
            at = place.range.end;
        }
        result.extend_from_slice(&self.text[at..]);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_are_there_or_what_the_other_side_has() {
        let mut edits = Edits::new(Arc::new(b"(a+b)*c".to_vec()));
        edits.add_all([(0..1, Box::default()), (4..5, Box::default())]);
        edits.add(6..7, b"1");
        edits.add(6..6, b"x");
        let edits = edits.sorted();
        let check = |kept: &[u64], expect: &str| {
            let text = edits.render(&kept.iter().copied().collect());
            assert_eq!(String::from_utf8(text).unwrap(), expect);
        };
        check(&[0, 1, 2], "(a+b)*c");
        check(&[], "a+b*x1");
        check(&[0], "(a+b)*x1");
        check(&[0, 1], "(a+b)*xc");
    }
}
