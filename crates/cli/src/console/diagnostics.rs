//! The events of a log on the terminal, one line each.

use std::io::{self, Write};

use culprit_model::clean;

/// Writes each event to stderr, without harmful characters. While events are shown there is no status line.
pub(crate) struct Diagnostics;

impl Write for Diagnostics {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = clean::line(text.trim_end_matches('\n'));
        // Without a stderr there is nobody to tell.
        let _ = writeln!(io::stderr(), "{line}");
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
