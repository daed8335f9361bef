//! Styles as values, for text that may be printed to a terminal.
//!
//! A style is written as a mark that only this process can make, so that the console tells our own styles from
//! escape sequences in a text, which it never passes on. A text with marks is for the console alone.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

/// A style, or none. Use as `write!(w, "{s}text{s:#}", s = style)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style(Option<Look>);

/// The appearance of a style.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// A heading.
    Title,
    /// The word that matters in a line.
    Strong,
    /// Text that may be skipped.
    Dim,
    /// A failure or an error.
    Bad,
    /// A loss or a warning.
    Warn,
    /// A literal value of the subject program.
    Value,
}

/// The styles of one stream. Use as `write!(w, "{s}text{s:#}", s = styles.title)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Styles {
    /// Headings.
    pub title: Style,
    /// The word that matters in a line: a name, a path, a command to run.
    pub strong: Style,
    /// Text that may be skipped.
    pub dim: Style,
    /// Failures and errors.
    pub bad: Style,
    /// Losses and warnings.
    pub warn: Style,
    /// Literal values of the subject program.
    pub value: Style,
}

impl Styles {
    /// No marks at all.
    pub fn plain() -> Styles {
        Styles::default()
    }

    /// A mark for each style.
    pub fn marked() -> Styles {
        Styles {
            title: Look::Title.into(),
            strong: Look::Strong.into(),
            dim: Look::Dim.into(),
            bad: Look::Bad.into(),
            warn: Look::Warn.into(),
            value: Look::Value.into(),
        }
    }
}

/// The part of a styled text that a mark begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Text of this appearance follows.
    Begin(Look),
    /// Plain text follows.
    End,
}

/// Ends the part of a mark that no text contains.
const END: char = '-';

impl From<Look> for Style {
    fn from(look: Look) -> Style {
        Style(Some(look))
    }
}

impl fmt::Display for Style {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(look) = self.0 else {
            return Ok(());
        };
        let letter = match f.alternate() {
            true => END,
            false => look.letter(),
        };
        // In one piece: the console does not put a mark together.
        f.write_str(&format!("{}{letter}", secret()))
    }
}

impl Look {
    /// All of them.
    pub const ALL: [Look; 6] = [
        Look::Title,
        Look::Strong,
        Look::Dim,
        Look::Bad,
        Look::Warn,
        Look::Value,
    ];

    fn letter(self) -> char {
        char::from(b'a' + self as u8)
    }
}

/// The mark that a text begins with, and the text after it.
pub fn mark(text: &str) -> Option<(Mark, &str)> {
    let rest = text.strip_prefix(secret())?;
    let letter = rest.chars().next()?;
    let mark = match Look::ALL.into_iter().find(|look| look.letter() == letter) {
        Some(look) => Mark::Begin(look),
        None if letter == END => Mark::End,
        None => return None,
    };
    Some((mark, &rest[letter.len_utf8()..]))
}

/// The beginning of each mark: a noncharacter, which plain text does not contain, and a number that
/// no program, recording or file can know.
fn secret() -> &'static str {
    static SECRET: OnceLock<String> = OnceLock::new();
    SECRET.get_or_init(|| {
        let part = || RandomState::new().build_hasher().finish();
        format!("\u{fdd0}{:016x}{:016x}", part(), part())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_style_prints_nothing_around_the_text() {
        assert_eq!(format!("{s}x{s:#}", s = Style::default()), "x");
    }

    #[test]
    fn marks_are_read_back_and_none_can_be_forged() {
        for look in Look::ALL {
            let text = format!("{s}x", s = Style::from(look));
            assert_eq!(mark(&text), Some((Mark::Begin(look), "x")));
            let text = format!("{s:#}x", s = Style::from(look));
            assert_eq!(mark(&text), Some((Mark::End, "x")));
        }
        assert_eq!(mark("\u{fdd0}0123456789abcdefa"), None);
    }
}
