//! The escape sequences of styles.

use clap::builder::styling::{AnsiColor, Effects, Style as Ansi};
use culprit_report::style::{Look, Mark, mark};

/// The escape sequence of the mark that a text begins with, and the text after the mark.
pub(super) fn sequence(text: &str) -> Option<(String, &str)> {
    let (mark, rest) = mark(text)?;
    let sequence = match mark {
        Mark::Begin(look) => ansi(look).render().to_string(),
        Mark::End => Ansi::new().bold().render_reset().to_string(),
    };
    Some((sequence, rest))
}

fn ansi(look: Look) -> Ansi {
    let color = |c: AnsiColor| Ansi::new().fg_color(Some(c.into()));
    match look {
        Look::Title => Ansi::new().effects(Effects::BOLD | Effects::UNDERLINE),
        Look::Strong => Ansi::new().bold(),
        Look::Dim => Ansi::new().dimmed(),
        Look::Bad => color(AnsiColor::Red).bold(),
        Look::Warn => color(AnsiColor::Yellow),
        Look::Value => color(AnsiColor::Green),
    }
}

#[cfg(test)]
mod tests {
    use culprit_report::style::Style;

    use super::*;

    #[test]
    fn the_mark_of_each_style_stands_for_its_sequence() {
        for look in Look::ALL {
            let text = format!("{s}x", s = Style::from(look));
            let expect = ansi(look).render().to_string();
            assert_eq!(sequence(&text), Some((expect, "x")));
            let text = format!("{s:#}x", s = Style::from(look));
            assert_eq!(sequence(&text), Some(("\u{1b}[0m".to_owned(), "x")));
        }
    }
}
