//! A line of a terminal that is written again and again, by a thread of its own.

use std::io::{self, Write};

use super::clean::Clean;

/// Columns of a terminal that does not tell.
const COLUMNS: usize = 80;

/// Goes to the start of the line and empties it.
const CLEAR: &str = "\r\x1b[K";

/// The last line of stderr, emptied in the end. Without a stderr there is nobody to tell.
#[derive(Default)]
pub(crate) struct StatusLine {
    is_written: bool,
}

impl StatusLine {
    /// Replaces the line.
    pub(crate) fn write(&mut self, text: &str) {
        let _ = replace(text, io::stderr());
        self.is_written = true;
    }

    /// How many characters fit into the line.
    pub(crate) fn columns() -> usize {
        let size = rustix::termios::tcgetwinsize(io::stderr());
        let columns = size.map_or(0, |size| usize::from(size.ws_col));
        if columns == 0 { COLUMNS } else { columns }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if self.is_written {
            let _ = replace("", io::stderr());
        }
    }
}

fn replace(text: &str, stream: impl Write) -> io::Result<()> {
    let mut stream = Clean::new(stream);
    stream.write_own(CLEAR)?;
    write!(stream, "{text}")?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_line_is_clean() {
        let mut bytes = Vec::new();
        replace("a\u{1b}[2J\u{202e}", &mut bytes).unwrap();
        assert_eq!(bytes, b"\r\x1b[Ka\\u001b[2J\\u202e");
    }
}
