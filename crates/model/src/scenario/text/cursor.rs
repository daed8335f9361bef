//! A line of text that is read from left to right, and what was expected where it is wrong.

use crate::literal::unescaped;

/// Something else was expected at a place in the line.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// In bytes.
    pub(crate) at: usize,
    pub(crate) expected: String,
}

/// A line, and how far it has been read.
pub(crate) struct Cursor<'t> {
    pub(crate) line: &'t str,
    pub(crate) at: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(line: &'t str) -> Cursor<'t> {
        Cursor { line, at: 0 }
    }

    pub(crate) fn rest(&self) -> &'t str {
        &self.line[self.at..]
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn wrong<T>(&self, expected: impl Into<String>) -> Result<T, Wrong> {
        self.wrong_at(self.at, expected)
    }

    pub(crate) fn wrong_at<T>(&self, at: usize, expected: impl Into<String>) -> Result<T, Wrong> {
        let expected = expected.into();
        Err(Wrong { at, expected })
    }

    /// Goes on to the next thing; whether there was room before it.
    pub(crate) fn space(&mut self) -> bool {
        let rest = self.rest();
        let left = rest.trim_start();
        self.at += rest.len() - left.len();
        left.len() < rest.len()
    }

    /// Takes a text if it comes next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let comes = self.rest().starts_with(text);
        if comes {
            self.at += text.len();
        }
        comes
    }

    /// Takes a text, and what room is before it, if it comes next.
    pub(crate) fn eat_next(&mut self, text: &str) -> bool {
        let before = self.at;
        self.space();
        let comes = self.eat(text);
        if !comes {
            self.at = before;
        }
        comes
    }

    /// Takes a word, and the room around it, if it comes next as a whole.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let before = self.at;
        self.space();
        let comes = self.eat(word) && (self.space() || self.rest().is_empty());
        if !comes {
            self.at = before;
        }
        comes
    }

    pub(crate) fn expect(&mut self, text: &str) -> Result<(), Wrong> {
        if self.eat_next(text) {
            return Ok(());
        }
        self.space();
        self.wrong(format!("`{text}`"))
    }

    pub(crate) fn expect_end(&mut self, expected: &str) -> Result<(), Wrong> {
        self.space();
        if self.rest().is_empty() {
            return Ok(());
        }
        self.wrong(expected)
    }

    /// Takes characters for as long as they pass.
    pub(crate) fn run(&mut self, passes: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c| !passes(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// A number without sign.
    pub(crate) fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, Wrong> {
        self.space();
        let start = self.at;
        let digits = self.run(|c| c.is_ascii_digit());
        match digits.parse() {
            Ok(number) => Ok(number),
            Err(_) => self.wrong_at(start, what),
        }
    }

    /// The units of a literal up to its closing quote; the opening one has been read.
    pub(crate) fn quoted(&mut self, quote: char) -> Result<Vec<u16>, Wrong> {
        let mut units = Vec::new();
        loop {
            let at = self.at;
            let Some(c) = self.peek() else {
                return self.wrong(format!("a closing {quote}"));
            };
            self.at += c.len_utf8();
            if c == quote {
                return Ok(units);
            }
            if c != '\\' {
                units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            } else if self.eat("u") {
                units.push(self.hex_unit(at)?);
            } else if let Some(c) = self.peek().and_then(unescaped) {
                self.at += 1;
                units.push(c as u16);
            } else {
                return self.wrong_at(at, r#"one of \n, \r, \t, \\, \", \' and \u0000"#);
            }
        }
    }

    fn hex_unit(&mut self, start: usize) -> Result<u16, Wrong> {
        let digits = self.rest().get(..4).unwrap_or_default();
        if digits.len() < 4 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return self.wrong_at(start, r"four hexadecimal digits after \u");
        }
        self.at += 4;
        // Four digits fit.
        Ok(u16::from_str_radix(digits, 16).unwrap_or_default())
    }
}
