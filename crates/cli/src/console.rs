//! The terminal: results go to `out`, progress and diagnostics to `err`.
//!
//! Everything that is printed passes through here, and nothing in it can steer a terminal or hide:
//! harmful characters are written as escapes, whoever they come from. `xtask tidy` checks that no
//! other file writes to the streams of this process. Colour is decided once, from `--color`,
//! `NO_COLOR` and what the streams are; the rest of the program only asks for styles as values,
//! which are empty where colour is off.

mod clean;
mod diagnostics;
mod panics;
mod status;
mod style;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;

use clap::ValueEnum;
use clap::builder::StyledStr;

use clean::Clean;
use culprit_report::style::Styles;
pub(crate) use diagnostics::Diagnostics;
pub(crate) use panics::clean_panics;
pub(crate) use status::StatusLine;

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

enum Stream {
    Real(Clean<Box<dyn Write>>),
    #[cfg(test)]
    Kept(Clean<Vec<u8>>),
}

impl Stream {
    fn real(writer: impl Write + 'static) -> Stream {
        Stream::Real(Clean::new(Box::new(writer)))
    }

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
            Color::Always => Styles::marked(),
            Color::Auto if terminal && !no_color => Styles::marked(),
            Color::Auto | Color::Never => Styles::plain(),
        };
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Console {
            has_terminal: stderr.is_terminal() && !is_dumb,
            out_styles: styles(stdout.is_terminal()),
            err_styles: styles(stderr.is_terminal()),
            out: Stream::real(BufWriter::new(stdout)),
            err: Stream::real(stderr),
        }
    }

    /// Keeps everything in memory, without colour, for tests.
    #[cfg(test)]
    pub(crate) fn kept() -> Console {
        Console {
            out: Stream::Kept(Clean::new(Vec::new())),
            err: Stream::Kept(Clean::new(Vec::new())),
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

    /// Prints a help text, which is all our own, with its styles where there is colour.
    pub(crate) fn help(&mut self, text: &StyledStr) -> io::Result<()> {
        match &mut self.out {
            Stream::Real(out) if self.out_styles != Styles::plain() => {
                out.write_own(&text.ansi().to_string())
            }
            out => write!(out.writer(), "{text}"),
        }
    }

    /// Styles for `out`.
    pub(crate) fn styles(&self) -> Styles {
        self.out_styles
    }

    /// Styles for `err`.
    pub(crate) fn err_styles(&self) -> Styles {
        self.err_styles
    }

    /// The number of characters of a line of `out`, as the terminal or `COLUMNS` has it.
    pub(crate) fn columns(&self) -> Option<usize> {
        columns(io::stdout())
    }

    /// The number of characters of a line of `err`, as the terminal or `COLUMNS` has it.
    pub(crate) fn err_columns(&self) -> Option<usize> {
        columns(io::stderr())
    }

    /// Shows no status line: other lines are written to `err` at any time.
    pub(crate) fn without_status(mut self) -> Console {
        self.has_terminal = false;
        self
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
            Stream::Kept(bytes) => String::from_utf8_lossy(bytes.inner()).into_owned(),
        };
        (text(&self.out), text(&self.err))
    }
}

/// The number of columns of a terminal, or what `COLUMNS` says.
fn columns(of: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(of).ok();
    let told = size.map(|size| usize::from(size.ws_col));
    let told = told.filter(|columns| *columns > 0);
    told.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_clean_on_both_streams() {
        let mut console = Console::kept();
        writeln!(console.out(), "\u{1b}]0;OWNED\u{7}\ta").unwrap();
        writeln!(console.err(), "\u{9b}2J\u{202e}").unwrap();
        let (out, err) = console.kept_text();
        assert_eq!(out, "\\u001b]0;OWNED\\u0007\ta\n");
        assert_eq!(err, "\\u009b2J\\u202e\n");
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
