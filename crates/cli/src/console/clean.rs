//! The one way out: a stream to which harmful characters are written as escapes.

use std::io::{self, Write};
use std::str;

use culprit_model::clean::{is_harmful, push_byte, push_escaped};

use super::style;

/// Passes text on to a stream. Harmful characters and bytes that are no text become visible escapes,
/// line feeds and tabs are kept, and marks of styles become escape sequences.
pub(super) struct Clean<W> {
    inner: W,
    /// The beginning of a character whose other bytes have not been written yet.
    begun: Vec<u8>,
}

impl<W: Write> Clean<W> {
    pub(super) fn new(inner: W) -> Clean<W> {
        Clean {
            inner,
            begun: Vec::new(),
        }
    }

    /// What everything was written to.
    #[cfg(test)]
    pub(super) fn inner(&self) -> &W {
        &self.inner
    }

    /// Writes text of our own as it is, escape sequences included.
    pub(super) fn write_own(&mut self, text: &str) -> io::Result<()> {
        self.inner.write_all(text.as_bytes())
    }

    fn write_text(&mut self, mut text: &str) -> io::Result<()> {
        while let Some(at) = text.find(is_escaped) {
            self.inner.write_all(&text.as_bytes()[..at])?;
            text = &text[at..];
            let mut out = String::new();
            if let Some((sequence, rest)) = style::sequence(text) {
                (out, text) = (sequence, rest);
            } else if let Some(c) = text.chars().next() {
                push_escaped(c, &mut out);
                text = &text[c.len_utf8()..];
            }
            self.inner.write_all(out.as_bytes())?;
        }
        self.inner.write_all(text.as_bytes())
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut out = String::new();
        bytes.iter().for_each(|byte| push_byte(*byte, &mut out));
        self.inner.write_all(out.as_bytes())
    }
}

fn is_escaped(c: char) -> bool {
    c != '\n' && c != '\t' && is_harmful(c)
}

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let joined: Vec<u8>;
        let mut rest = bytes;
        if !self.begun.is_empty() {
            joined = [&self.begun[..], bytes].concat();
            self.begun.clear();
            rest = &joined;
        }
        loop {
            let error = match str::from_utf8(rest) {
                Ok(text) => {
                    self.write_text(text)?;
                    break;
                }
                Err(error) => error,
            };
            let (text, after) = rest.split_at(error.valid_up_to());
            self.write_text(str::from_utf8(text).unwrap_or_default())?;
            let Some(length) = error.error_len() else {
                self.begun = after.to_vec();
                break;
            };
            let (odd, after) = after.split_at(length);
            self.write_bytes(odd)?;
            rest = after;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        self.write_bytes(&begun)?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use culprit_report::style::{Look, Style};

    fn printed(pieces: &[&[u8]]) -> String {
        let mut clean = Clean::new(Vec::new());
        for piece in pieces {
            clean.write_all(piece).unwrap();
        }
        clean.flush().unwrap();
        String::from_utf8(clean.inner).unwrap()
    }

    #[test]
    fn a_text_cannot_bring_a_style_of_its_own() {
        let mut clean = Clean::new(Vec::new());
        let bad = Style::from(Look::Bad);
        write!(clean, "{bad}a\u{1b}[1m{bad:#}\u{1b}[0m").unwrap();
        let text = String::from_utf8(clean.inner).unwrap();
        let expect = "\u{1b}[1m\u{1b}[31ma\\u001b[1m\u{1b}[0m\\u001b[0m";
        assert_eq!(text, expect);
        assert_eq!(
            printed(&["\u{fdd0}0000a".as_bytes()]),
            "\\ufdd00000a",
            "a mark with another number"
        );
    }

    #[test]
    fn a_character_may_come_in_pieces_and_bytes_that_are_no_text_are_seen() {
        assert_eq!(printed(&[b"a\xe2", b"\x80", b"\xaeb"]), "a\\u202eb");
        assert_eq!(printed(&[b"a\xff\xc3", b"b\xc3"]), "a\\xff\\xc3b\\xc3");
    }

    proptest! {
        #[test]
        fn no_harmful_character_comes_out(pieces in any::<Vec<Vec<u8>>>()) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            prop_assert!(!printed(&pieces).contains(is_escaped));
        }

        #[test]
        fn plain_text_comes_out_as_it_is(text in "[ -~\n\té-ř漢字😀]*", at in any::<prop::sample::Index>()) {
            let (one, other) = text.as_bytes().split_at(at.index(text.len() + 1));
            prop_assert_eq!(printed(&[one, other]), text);
        }
    }
}
