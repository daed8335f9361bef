//! The counterparts of an input that fails: the same text without one word or line, with which the script passes.
//!
//! A text may fail at one place before the program comes to what is wrong at another: without its date, a line fails like
//! before as long as an earlier part of it does, and fails otherwise on a version in which that part is right. So each word
//! without which the script passes is left in a smaller input, which passes without it too. One of these words is the
//! one that the failure is about; without the others, the program may not look at the text at all.

use std::ops::Range;

use culprit_model::{Reference, Tables, Value};

use super::places::{ValuePosition, leaves};
use super::shrinker::with;
use super::simpler::{is_small, units};
use crate::{Error, Statement};

/// The most lines, and the most words of one line, without which a text is tried.
const MOST_PIECES: usize = 64;

/// The most pieces that count.
const MOST_COUNTERPARTS: usize = 8;

/// The most pieces of a candidate that are tried as what is left of one.
const MOST_ALIKE: usize = 4;

/// Whether statements pass.
pub(super) type Passes<'a> = dyn Fn(&[Statement]) -> Result<bool, Error> + 'a;

/// A piece of a text without which the script passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Counterpart {
    piece: Vec<u16>,
    kind: Piece,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Piece {
    /// With its end.
    Line,
    /// Letters and digits, or one other character.
    Word,
}

/// Statements that are given texts, and how to see whether others like them pass.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a> {
    pub(super) statements: &'a [Statement],
    pub(super) prelude: usize,
    pub(super) tables: &'a Tables,
    pub(super) passes: &'a Passes<'a>,
}

impl Counterpart {
    /// The pieces without which the script passes, of the first text that is not small and has some.
    pub(super) fn all(inputs: Inputs<'_>) -> Result<Vec<Counterpart>, Error> {
        for text in inputs.texts() {
            let first = text.places[0].get(inputs.statements);
            if first.is_some_and(|value| is_small(value, inputs.tables)) {
                continue;
            }
            let found = Counterpart::of(&text, inputs)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Those of one text: the words of the lines that matter, or else these lines.
    fn of(text: &Text, inputs: Inputs<'_>) -> Result<Vec<Counterpart>, Error> {
        let units = &text.units;
        let lines = pieces(units, Piece::Line);
        let is_one = lines.len() == 1;
        let mut found = Vec::new();
        for line in lines.into_iter().take(MOST_PIECES) {
            if !is_one && !inputs.pass_without(text, &line)? {
                continue;
            }
            let before = found.len();
            let words = pieces(&units[line.clone()], Piece::Word).into_iter();
            let words = words.map(|word| line.start + word.start..line.start + word.end);
            for word in words.take(MOST_PIECES) {
                if found.len() < MOST_COUNTERPARTS && inputs.pass_without(text, &word)? {
                    found.push(Counterpart {
                        piece: units[word].to_vec(),
                        kind: Piece::Word,
                    });
                }
            }
            if !is_one && found.len() == before {
                found.push(Counterpart {
                    piece: units[line].to_vec(),
                    kind: Piece::Line,
                });
            }
            if found.len() >= MOST_COUNTERPARTS {
                break;
            }
        }
        Ok(found)
    }

    /// True if statements pass without what they have left of the piece.
    pub(super) fn is_of(&self, inputs: Inputs<'_>) -> Result<bool, Error> {
        let mut tried = 0;
        for text in inputs.texts() {
            let found = pieces(&text.units, self.kind).into_iter();
            for piece in found.filter(|piece| is_part(&text.units[piece.clone()], &self.piece)) {
                if tried == MOST_ALIKE {
                    return Ok(false);
                }
                tried += 1;
                if inputs.pass_without(&text, &piece)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

impl Inputs<'_> {
    fn texts(&self) -> Vec<Text> {
        let mut found: Vec<Text> = Vec::new();
        for place in leaves(self.statements, self.prelude) {
            let value = place.get(self.statements);
            let Some(units) = value.and_then(|value| units(value, self.tables)) else {
                continue;
            };
            match found.iter_mut().find(|text| text.units == units) {
                Some(text) => text.places.push(place),
                None => found.push(Text {
                    places: vec![place],
                    units,
                }),
            }
        }
        found
    }

    fn pass_without(&self, text: &Text, piece: &Range<usize>) -> Result<bool, Error> {
        let rest = [&text.units[..piece.start], &text.units[piece.end..]].concat();
        let rest = Value::Reference(Reference::String(rest));
        (self.passes)(&with(self.statements, &text.places, &rest))
    }
}

/// A text, and all the places where it is.
struct Text {
    places: Vec<ValuePosition>,
    units: Vec<u16>,
}

/// The pieces of a text, without spaces between words.
fn pieces(units: &[u16], kind: Piece) -> Vec<Range<usize>> {
    let is_of_word = |unit: u16| {
        let character = char::from_u32(unit.into());
        // Halves of characters belong together.
        character.is_none_or(char::is_alphanumeric)
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (at, unit) in units.iter().copied().enumerate() {
        let (joins, goes_on) = match kind {
            Piece::Line => (is_open, unit != u16::from(b'\n')),
            Piece::Word => (is_open && is_of_word(unit), is_of_word(unit)),
        };
        match found.last_mut() {
            Some(last) if joins => last.end = at + 1,
            _ if kind == Piece::Word && is_space(unit) => {}
            _ => found.push(at..at + 1),
        }
        is_open = goes_on;
    }
    found
}

fn is_space(unit: u16) -> bool {
    char::from_u32(unit.into()).is_some_and(char::is_whitespace)
}

/// True if a piece is what is left of another one when characters are removed.
fn is_part(piece: &[u16], of: &[u16]) -> bool {
    let mut of = of.iter();
    !piece.is_empty() && piece.iter().all(|unit| of.any(|other| other == unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[track_caller]
    fn check(text: &str, kind: Piece, expected: &[&str]) {
        let units = encoded(text);
        let found = pieces(&units, kind);
        let found: Vec<String> = found
            .into_iter()
            .map(|piece| String::from_utf16_lossy(&units[piece]))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn words_are_letters_and_digits_or_signs() {
        check("a1 (b)  c", Piece::Word, &["a1", "(", "b", ")", "c"]);
        check("2024-01", Piece::Word, &["2024", "-", "01"]);
        check("\u{1F600}x", Piece::Word, &["\u{1F600}x"]);
    }

    #[test]
    fn lines_have_their_ends() {
        check("a b\n\nc", Piece::Line, &["a b\n", "\n", "c"]);
    }

    #[test]
    fn part_of_a_word_is_what_is_left_when_characters_go() {
        let is_part = |one: &str, of: &str| is_part(&encoded(one), &encoded(of));
        assert!(is_part("took", "mistook") && is_part("mk", "mistook"));
        assert!(!is_part("kt", "mistook") && !is_part("", "mistook"));
    }
}
