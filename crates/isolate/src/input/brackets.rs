//! Brackets: what they enclose, and themselves.

use std::ops::Range;
use std::sync::Arc;

use super::cut::{Grain, cut};
use super::edits::Edits;

/// Pairs that match each other, outer ones first where they begin together.
pub(crate) fn matching(text: &[u8]) -> Vec<(usize, usize)> {
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut pairs = Vec::new();
    for (at, byte) in text.iter().enumerate() {
        let opener = match byte {
            b'(' | b'[' | b'{' | b'<' => {
                open.push((*byte, at));
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            b'>' => b'<',
            _ => continue,
        };
        // One that does not match is a character like any other, and so is what it skips.
        if let Some(place) = open.iter().rposition(|(it, _)| *it == opener) {
            if opener == b'<' && place + 1 != open.len() {
                continue;
            }
            pairs.push((open[place].1, at));
            open.truncate(place);
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Each pair of brackets, with what is in it.
pub(crate) fn groups(text: &Arc<Vec<u8>>) -> Edits {
    let mut edits = Edits::new(Arc::clone(text));
    for (start, end) in matching(text) {
        edits.add(start..end + 1, b"");
    }
    edits.sorted()
}

/// The contents of each pair of brackets, without them. A single token in them is one of the tokens.
pub(crate) fn emptied(text: &Arc<Vec<u8>>) -> Edits {
    let mut edits = Edits::new(Arc::clone(text));
    for (start, end) in matching(text) {
        if cut(&text[start + 1..end], Grain::Tokens).nth(1).is_some() {
            edits.add(start + 1..end, b"");
        }
    }
    edits.sorted()
}

/// Each pair of brackets, without what is in it.
pub(crate) fn pairs(text: &Arc<Vec<u8>>) -> Edits {
    let mut edits = Edits::new(Arc::clone(text));
    for (start, end) in matching(text) {
        let places: [Range<usize>; 2] = [start..start + 1, end..end + 1];
        edits.add_all(places.map(|place| (place, Box::default())));
    }
    edits.sorted()
}

#[cfg(test)]
mod tests {
    use culprit_reduce::DeltaSet;

    use super::*;

    #[test]
    fn brackets_are_matched_and_taken_away() {
        let text = Arc::new(b"f((a)[b{c], x > y)".to_vec());
        assert_eq!(matching(&text), [(1, 17), (2, 4), (5, 9)]);
        let render =
            |edits: &Edits, kept: DeltaSet| String::from_utf8(edits.render(&kept)).unwrap();
        let all = DeltaSet::all(3);
        let one = |delta: u64| all.minus(&DeltaSet::from(delta..delta + 1));
        assert_eq!(render(&groups(&text), one(1)), "f([b{c], x > y)");
        assert_eq!(render(&groups(&text), one(0)), "f");
        assert_eq!(
            render(&emptied(&text), DeltaSet::from(0..1)),
            "f((a)[], x > y)"
        );
        assert_eq!(emptied(&text).len(), 2);
        assert_eq!(render(&pairs(&text), one(1)), "f(a[b{c], x > y)");
        assert_eq!(render(&pairs(&text), DeltaSet::empty()), "fab{c, x > y");
    }
}
