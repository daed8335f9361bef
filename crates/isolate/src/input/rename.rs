//! Shorter words: names that are one letter everywhere, numbers that are one digit.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::cut::{Grain, cut};
use super::edits::Edits;

/// More names than this are left alone: a pass that tries them all would take too long.
const MOST: usize = 500;

/// Words by what they are, with their places.
fn words(text: &[u8]) -> BTreeMap<&[u8], Vec<Range<usize>>> {
    let mut words: BTreeMap<&[u8], Vec<Range<usize>>> = BTreeMap::new();
    for piece in cut(text, Grain::Tokens) {
        let first = text[piece.start];
        if first.is_ascii_alphanumeric() || first == b'_' {
            words.entry(&text[piece.clone()]).or_default().push(piece);
        }
    }
    words
}

/// Each name of more than one letter, everywhere, or one letter that is not in use.
pub(crate) fn names(text: &Arc<Vec<u8>>) -> Edits {
    let mut edits = Edits::new(Arc::clone(text));
    let words = words(text);
    let used: BTreeSet<u8> = words
        .keys()
        .filter(|word| word.len() == 1)
        .map(|word| word[0])
        .collect();
    let mut free = (b'a'..=b'z')
        .chain(b'A'..=b'Z')
        .filter(|it| !used.contains(it));
    let is_name = |word: &&[u8]| word.len() > 1 && !word[0].is_ascii_digit();
    let mut long: Vec<_> = words.iter().filter(|(word, _)| is_name(word)).collect();
    // The longest gain most.
    long.sort_by_key(|(word, places)| std::cmp::Reverse((word.len() - 1) * places.len()));
    for (_, places) in long.into_iter().take(MOST) {
        let Some(letter) = free.next() else { break };
        let short = |place: &Range<usize>| (place.clone(), Box::from([letter].as_slice()));
        edits.add_all(places.iter().map(short));
    }
    edits.sorted()
}

/// Each number of more than one digit, or 0.
pub(crate) fn numbers(text: &Arc<Vec<u8>>) -> Edits {
    let mut edits = Edits::new(Arc::clone(text));
    for (word, places) in words(text) {
        if word.len() > 1 && word[0].is_ascii_digit() {
            for place in places {
                edits.add(place, b"0");
            }
        }
    }
    edits.sorted()
}

#[cfg(test)]
mod tests {
    use culprit_reduce::DeltaSet;

    use super::*;

    #[test]
    fn a_name_is_changed_everywhere_and_never_to_one_in_use() {
        let text = Arc::new(b"total = a + total * 17".to_vec());
        let edits = names(&text);
        let short = String::from_utf8(edits.render(&DeltaSet::empty())).unwrap();
        assert_eq!(short, "b = a + b * 17");
        let zero = numbers(&text).render(&DeltaSet::empty());
        assert_eq!(String::from_utf8(zero).unwrap(), "total = a + total * 0");
    }
}
