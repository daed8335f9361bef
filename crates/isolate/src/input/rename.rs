//! Shorter words: names that are one letter everywhere, numbers that are one digit, words that stand
//! behind the same sign elsewhere in the input, and fewer signs that take as much room.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::cut::{Content, Grain, cut};
use super::edits::Edits;

/// More names than this are left alone: a pass that tries them all would take too long.
const MOST: usize = 500;

/// Words that others may stand for, at most: each of them costs tests.
const WORDS: usize = 100;

/// So many words that follow a sign in the input may stand for another one that does.
const LIKELY: usize = 3;

/// Bytes of the input that are looked through for them, at most.
const READ: usize = 1 << 20;

/// The longest of what is no text whose bytes may be 0.
const ZEROED: usize = 4096;

/// Signs of which few do for many others: a number stays large with nines, a line long with tabs.
const FEW: [u8; 2] = [b'9', b'\t'];

fn is_word(text: &[u8]) -> bool {
    text[0].is_ascii_alphanumeric() || text[0] == b'_'
}

/// Words by what they are, with their places.
fn words(text: &[u8]) -> BTreeMap<&[u8], Vec<Range<usize>>> {
    let mut words: BTreeMap<&[u8], Vec<Range<usize>>> = BTreeMap::new();
    for piece in cut(text, Grain::Tokens) {
        if is_word(&text[piece.clone()]) {
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
    long.sort_by_key(|(word, places)| Reverse((word.len() - 1) * places.len()));
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

/// What else may stand in a text where nothing can be left out, by the names of the passes.
pub(crate) fn others(input: &[u8], text: &Arc<Vec<u8>>) -> Vec<(String, Edits)> {
    let likely = likely(input, text).into_iter().enumerate();
    let likely = likely.map(|(number, edits)| (format!("likely words {}", number + 1), edits));
    let fewer = fewer(text).into_iter().enumerate();
    let fewer = fewer.map(|(number, edits)| (format!("fewer signs {}", number + 1), edits));
    let halves = [("bytes of characters".to_owned(), halves(text))];
    likely.chain(fewer).chain(halves).collect()
}

/// The longest words of a text.
fn longest(text: &[u8]) -> Vec<Range<usize>> {
    let words = cut(text, Grain::Tokens).filter(|piece| is_word(&text[piece.clone()]));
    let mut words: Vec<_> = words.filter(|piece| piece.len() > 1).collect();
    words.sort_by_key(|piece| Reverse(piece.len()));
    words.truncate(WORDS);
    words
}

/// Each word, or a shorter one that follows the same sign in the input; one choice for all words at a
/// time, the likeliest first.
fn likely(input: &[u8], text: &Arc<Vec<u8>>) -> Vec<Edits> {
    let input = &input[..input.len().min(READ)];
    let mut behind: BTreeMap<Option<u8>, BTreeMap<&[u8], usize>> = BTreeMap::new();
    for piece in cut(input, Grain::Tokens).filter(|piece| is_word(&input[piece.clone()])) {
        let words = behind.entry(sign_before(input, piece.start)).or_default();
        *words.entry(&input[piece]).or_default() += 1;
    }
    let mut choices: Vec<Edits> = Vec::new();
    for piece in longest(text) {
        let Some(words) = behind.get(&sign_before(text, piece.start)) else {
            continue;
        };
        let shorter = words.iter().filter(|(word, _)| word.len() < piece.len());
        let mut shorter: Vec<_> = shorter.collect();
        shorter.sort_by_key(|(word, times)| (Reverse(**times), word.len()));
        for (number, (word, _)) in shorter.into_iter().take(LIKELY).enumerate() {
            if choices.len() == number {
                choices.push(Edits::new(Arc::clone(text)));
            }
            choices[number].add(piece.clone(), word);
        }
    }
    choices.into_iter().map(Edits::sorted).collect()
}

/// The byte before a place.
fn sign_before(text: &[u8], place: usize) -> Option<u8> {
    place.checked_sub(1).map(|before| text[before])
}

/// Each word of several letters, or half as many of one sign.
fn fewer(text: &Arc<Vec<u8>>) -> Vec<Edits> {
    let of = |sign: u8| {
        let mut edits = Edits::new(Arc::clone(text));
        for piece in longest(text) {
            let half = vec![sign; piece.len() / 2];
            edits.add(piece, &half);
        }
        edits.sorted()
    };
    FEW.map(of).into()
}

/// The bytes of characters that have several, each.
fn halves(text: &Arc<Vec<u8>>) -> Edits {
    let mut edits = Edits::new(Arc::clone(text));
    for piece in cut(text, Grain::Characters).filter(|piece| !text[piece.start].is_ascii()) {
        for place in piece {
            edits.add(place..place + 1, b"");
        }
    }
    edits.sorted()
}

/// Each byte of what is no text, or 0: of lengths and flags that are 0 much else can go.
pub(crate) fn zeros(text: &Arc<Vec<u8>>) -> Edits {
    let mut edits = Edits::new(Arc::clone(text));
    if Content::of(text) == Content::Binary && text.len() <= ZEROED {
        for place in (0..text.len()).filter(|place| text[*place] != 0) {
            edits.add(place..place + 1, b"\0");
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

    fn without(edits: &[Edits]) -> Vec<String> {
        let left = edits.iter().map(|it| it.render(&DeltaSet::empty()));
        left.map(|text| String::from_utf8_lossy(&text).into_owned())
            .collect()
    }

    #[test]
    fn a_word_may_be_one_that_follows_the_same_sign() {
        let input = b"=head1 A\n=item B\n=item C\n=cut\n x";
        let text = Arc::new(b"=head1 A".to_vec());
        assert_eq!(without(&likely(input, &text)), ["=item A", "=cut A"]);
        assert!(likely(input, &Arc::new(b"cut".to_vec())).is_empty());
    }

    #[test]
    fn bytes_may_be_zero_where_it_is_no_text() {
        let of = |bytes: &[u8]| zeros(&Arc::new(bytes.to_vec()));
        assert_eq!(of(b"\0ab").render(&DeltaSet::empty()), b"\0\0\0");
        assert_eq!((of(b"\0ab").len(), of(b"ab").len()), (2, 0));
    }

    #[test]
    fn a_word_may_be_half_as_many_signs() {
        let text = Arc::new("a 1000 größe".as_bytes().to_vec());
        assert_eq!(without(&fewer(&text)), ["a 99 999", "a \t\t \t\t\t"]);
        let halves = halves(&text);
        assert_eq!(
            (halves.len(), without(&[halves])[0].as_str()),
            (4, "a 1000 gre")
        );
    }
}
