//! A panic of ours quotes whatever it was about, so its message is cleaned like all others.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::thread;

use super::clean::Clean;

/// From now on panics are printed like all other text, with harmful characters as escapes.
pub(crate) fn clean_panics() {
    panic::set_hook(Box::new(|info| {
        // Nothing is left to tell the user with when stderr is gone.
        let _ = print(info, &Backtrace::capture(), io::stderr());
    }));
}

fn print(info: &PanicHookInfo<'_>, trace: &Backtrace, stream: impl Write) -> io::Result<()> {
    let mut stream = Clean::new(stream);
    let thread = thread::current();
    let name = thread.name().unwrap_or("without a name");
    writeln!(stream, "thread '{name}' {info}")?;
    if trace.status() == BacktraceStatus::Captured {
        writeln!(stream, "{trace}")?;
    }
    stream.flush()
}
