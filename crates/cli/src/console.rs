//! The terminal: results go to `out`, progress and diagnostics to `err`.
//!
//! Colour is decided once, here, from `--color`, `NO_COLOR` and what the streams are; the rest
//! of the program only asks for styles as values, which are empty where colour is off.

use std::io::{self, BufWriter, IsTerminal, Write};

use clap::ValueEnum;
pub(crate) use clap::builder::styling::Style;
use clap::builder::styling::{AnsiColor, Effects};

/// When to use colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The styles of one stream. Use as `write!(w, "{s}text{s:#}", s = styles.title)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Styles {
    /// Headings.
    pub(crate) title: Style,
    /// The word that matters in a line: a name, a path, a command to run.
    pub(crate) strong: Style,
    /// What may be skipped when reading.
    pub(crate) dim: Style,
    /// Failures and errors.
    pub(crate) bad: Style,
    /// Losses and warnings.
    pub(crate) warn: Style,
    /// Literal values of the subject program.
    pub(crate) value: Style,
}

impl Styles {
    /// No escape sequences at all.
    pub(crate) fn plain() -> Styles {
        Styles::default()
    }

    fn coloured() -> Styles {
        let color = |c: AnsiColor| Style::new().fg_color(Some(c.into()));
        Styles {
            title: Style::new().effects(Effects::BOLD | Effects::UNDERLINE),
            strong: Style::new().bold(),
            dim: Style::new().dimmed(),
            bad: color(AnsiColor::Red).bold(),
            warn: color(AnsiColor::Yellow),
            value: color(AnsiColor::Green),
        }
    }
}

enum Stream {
    Real(Box<dyn Write>),
    #[cfg(test)]
    Kept(Vec<u8>),
}

impl Stream {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Stream::Real(writer) => writer,
            #[cfg(test)]
            Stream::Kept(bytes) => bytes,
        }
    }
}

/// Both output streams with their styles.
pub(crate) struct Console {
    out: Stream,
    err: Stream,
    out_styles: Styles,
    err_styles: Styles,
    has_terminal: bool,
}

impl Console {
    /// The streams of this process.
    pub(crate) fn new(color: Color) -> Console {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let styles = |terminal: bool| match color {
            Color::Always => Styles::coloured(),
            Color::Auto if terminal && !no_color => Styles::coloured(),
            Color::Auto | Color::Never => Styles::plain(),
        };
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Console {
            has_terminal: stderr.is_terminal() && !is_dumb,
            out_styles: styles(stdout.is_terminal()),
            err_styles: styles(stderr.is_terminal()),
            out: Stream::Real(Box::new(BufWriter::new(stdout))),
            err: Stream::Real(Box::new(stderr)),
        }
    }

    /// Keeps everything in memory, without colour, for tests.
    #[cfg(test)]
    pub(crate) fn kept() -> Console {
        Console {
            out: Stream::Kept(Vec::new()),
            err: Stream::Kept(Vec::new()),
            out_styles: Styles::plain(),
            err_styles: Styles::plain(),
            has_terminal: false,
        }
    }

    /// Where results go.
    pub(crate) fn out(&mut self) -> &mut dyn Write {
        self.out.writer()
    }

    /// Where progress and diagnostics go.
    pub(crate) fn err(&mut self) -> &mut dyn Write {
        self.err.writer()
    }

    /// Styles for `out`.
    pub(crate) fn styles(&self) -> Styles {
        self.out_styles
    }

    /// Styles for `err`.
    pub(crate) fn err_styles(&self) -> Styles {
        self.err_styles
    }

    /// How many characters a line of `out` has: what the terminal says, or `COLUMNS`.
    pub(crate) fn columns(&self) -> Option<usize> {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
        let told = size.map(|size| usize::from(size.ws_col));
        let told = told.filter(|columns| *columns > 0);
        told.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok())
    }

    /// Whether `err` is a terminal, where a line can be written again.
    pub(crate) fn has_terminal(&self) -> bool {
        self.has_terminal
    }

    /// Hands everything written so far to the system: before a child writes, and at the end.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out().flush()?;
        self.err().flush()
    }

    /// What was written to `out` and `err` of a console that keeps them.
    #[cfg(test)]
    pub(crate) fn kept_text(&self) -> (String, String) {
        let text = |stream: &Stream| match stream {
            Stream::Real(_) => String::new(),
            Stream::Kept(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        };
        (text(&self.out), text(&self.err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_styles_print_nothing_around_the_text() {
        let s = Styles::plain();
        assert_eq!(format!("{s}x{s:#}", s = s.bad), "x");
    }

    #[test]
    fn a_kept_console_separates_results_from_diagnostics() {
        let mut console = Console::kept();
        writeln!(console.out(), "result").unwrap();
        writeln!(console.err(), "note").unwrap();
        assert_eq!(
            console.kept_text(),
            ("result\n".to_owned(), "note\n".to_owned())
        );
    }
}
