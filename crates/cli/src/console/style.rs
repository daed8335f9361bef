//! Styles as values. A style is written as a mark that only this process can make, so that the
//! console tells its own styles from escape sequences in a text, which it never passes on.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

use clap::builder::styling::{AnsiColor, Effects, Style as Ansi};

/// A style, or none. Use as `write!(w, "{s}text{s:#}", s = style)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Style(Option<Look>);

/// What a style looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Look {
    Title,
    Strong,
    Dim,
    Bad,
    Warn,
    Value,
}

const LOOKS: [Look; 6] = [
    Look::Title,
    Look::Strong,
    Look::Dim,
    Look::Bad,
    Look::Warn,
    Look::Value,
];

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
    fn letter(self) -> char {
        char::from(b'a' + self as u8)
    }

    fn ansi(self) -> Ansi {
        let color = |c: AnsiColor| Ansi::new().fg_color(Some(c.into()));
        match self {
            Look::Title => Ansi::new().effects(Effects::BOLD | Effects::UNDERLINE),
            Look::Strong => Ansi::new().bold(),
            Look::Dim => Ansi::new().dimmed(),
            Look::Bad => color(AnsiColor::Red).bold(),
            Look::Warn => color(AnsiColor::Yellow),
            Look::Value => color(AnsiColor::Green),
        }
    }
}

/// The escape sequence of the mark that a text begins with, and the text after the mark.
pub(super) fn sequence(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix(secret())?;
    let letter = rest.chars().next()?;
    let sequence = match LOOKS.into_iter().find(|look| look.letter() == letter) {
        Some(look) => look.ansi().render().to_string(),
        None if letter == END => Ansi::new().bold().render_reset().to_string(),
        None => return None,
    };
    Some((sequence, &rest[letter.len_utf8()..]))
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
    fn the_mark_of_each_style_stands_for_its_sequence() {
        for look in LOOKS {
            let text = format!("{s}x", s = Style::from(look));
            let expect = look.ansi().render().to_string();
            assert_eq!(sequence(&text), Some((expect, "x")));
            let text = format!("{s:#}x", s = Style::from(look));
            assert_eq!(sequence(&text), Some(("\u{1b}[0m".to_owned(), "x")));
        }
        assert_eq!(sequence("\u{fdd0}0123456789abcdefa"), None);
    }
}
