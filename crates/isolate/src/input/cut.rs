//! Where content is cut: sections, lines, tokens, characters, bytes.

use std::ops::Range;

/// What content is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Characters of UTF-8.
    Text,
    /// Bytes, in lines: text in another encoding.
    Lines,
    /// Bytes without more to tell of them.
    Binary,
}

/// How fine it is cut.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Grain {
    /// Lines up to a blank one.
    Sections,
    Lines,
    /// Words, blanks, and each other character.
    Tokens,
    Characters,
    Bytes,
}

impl Grain {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Grain::Sections => "sections",
            Grain::Lines => "lines",
            Grain::Tokens => "tokens",
            Grain::Characters => "characters",
            Grain::Bytes => "bytes",
        }
    }
}

impl Content {
    /// Looks at bytes.
    pub fn of(bytes: &[u8]) -> Content {
        if bytes.contains(&0) {
            return Content::Binary;
        }
        if std::str::from_utf8(bytes).is_ok() {
            return Content::Text;
        }
        let odd = |byte: &&u8| **byte < 9 || (14..32).contains(*byte) || **byte == 127;
        match bytes.iter().filter(odd).count() * 50 > bytes.len() {
            true => Content::Binary,
            false => Content::Lines,
        }
    }

    /// The cuts for it, coarse to fine.
    pub(crate) fn grains(self) -> &'static [Grain] {
        match self {
            Content::Text => &[
                Grain::Sections,
                Grain::Lines,
                Grain::Tokens,
                Grain::Characters,
            ],
            Content::Lines => &[Grain::Sections, Grain::Lines, Grain::Tokens, Grain::Bytes],
            Content::Binary => &[Grain::Bytes],
        }
    }
}

/// The pieces of bytes, in order, without gaps.
pub(crate) fn cut(bytes: &[u8], grain: Grain) -> Pieces<'_> {
    Pieces {
        bytes,
        grain,
        at: 0,
    }
}

/// Pieces one after the other.
pub(crate) struct Pieces<'a> {
    bytes: &'a [u8],
    grain: Grain,
    at: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let length = match self.grain {
            Grain::Sections => section(rest),
            Grain::Lines => line(rest),
            Grain::Tokens => token(rest),
            Grain::Characters => character(rest),
            Grain::Bytes => 1,
        };
        let start = self.at;
        self.at += length;
        Some(start..self.at)
    }
}

/// With the end of the line.
fn line(rest: &[u8]) -> usize {
    let end = rest.iter().position(|byte| *byte == b'\n');
    end.map_or(rest.len(), |end| end + 1)
}

/// Lines to the next that is blank, and all blank ones after that.
fn section(rest: &[u8]) -> usize {
    let is_blank = |line: &[u8]| line.iter().all(u8::is_ascii_whitespace);
    let mut end = 0;
    let mut blank_seen = false;
    while end < rest.len() {
        let length = line(&rest[end..]);
        let blank = is_blank(&rest[end..end + length]);
        if blank_seen && !blank {
            break;
        }
        blank_seen = blank && end > 0;
        end += length;
    }
    end
}

/// A word, a run of blanks, or one character.
fn token(rest: &[u8]) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let run = |holds: &dyn Fn(&u8) -> bool| rest.iter().take_while(|byte| holds(byte)).count();
    match &rest[0] {
        first if is_word(first) => run(&is_word),
        first if is_blank(first) => run(&is_blank),
        _ => character(rest),
    }
}

/// A character of UTF-8, with what combines with it; a line break of two is one. A byte where it is no UTF-8.
fn character(rest: &[u8]) -> usize {
    if rest.starts_with(b"\r\n") {
        return 2;
    }
    let length = match rest[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    match rest.get(..length).map(std::str::from_utf8) {
        Some(Ok(_)) => length,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, grain: Grain, expect: &[&str]) {
        let pieces: Vec<&str> = cut(text.as_bytes(), grain).map(|it| &text[it]).collect();
        assert_eq!(pieces, expect);
    }

    #[test]
    fn text_is_cut_coarse_to_fine() {
        check(
            "a\nb\n\n\nc\n\nd",
            Grain::Sections,
            &["a\nb\n\n\n", "c\n\n", "d"],
        );
        check("a\r\nb\n\nc", Grain::Lines, &["a\r\n", "b\n", "\n", "c"]);
        check(
            "<SELECT NAME=\"é1\"  x>",
            Grain::Tokens,
            &[
                "<", "SELECT", " ", "NAME", "=", "\"", "é1", "\"", "  ", "x", ">",
            ],
        );
        check("é\r\nx", Grain::Characters, &["é", "\r\n", "x"]);
    }

    #[test]
    fn content_is_told_by_its_bytes() {
        assert_eq!(Content::of("größer\n".as_bytes()), Content::Text);
        assert_eq!(
            Content::of(b"gr\xf6\xdfer, this is latin-1\n"),
            Content::Lines
        );
        assert_eq!(Content::of(b"\x7fELF\0\x01"), Content::Binary);
        assert_eq!(Content::of(b"\x89PNG\r\n\x1a\xff\x01"), Content::Binary);
        assert_eq!(Content::of(b""), Content::Text);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_put_together_the_whole(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            for grain in [Grain::Sections, Grain::Lines, Grain::Tokens, Grain::Characters, Grain::Bytes] {
                let mut end = 0;
                for piece in cut(&bytes, grain) {
                    prop_assert_eq!(piece.start, end);
                    prop_assert!(piece.end > end);
                    end = piece.end;
                }
                prop_assert_eq!(end, bytes.len());
            }
        }
    }
}
