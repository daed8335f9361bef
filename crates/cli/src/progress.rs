//! One line on stderr that says what is being done and for how long, rewritten as it goes on.
//!
//! Where stderr is no terminal there is none. While there is one nobody else writes to the console.

use std::marker::PhantomData;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use culprit_model::clean;

use crate::console::{Console, StatusLine};

/// How often the line is written. What is over before that shows none.
const PERIOD: Duration = Duration::from_millis(200);

/// The line, as long as it is there.
pub(crate) struct Progress<'c> {
    shown: Option<(Arc<Shared>, JoinHandle<()>)>,
    /// The console is lent to it.
    _console: PhantomData<&'c ()>,
}

struct Shared {
    state: Mutex<State>,
    over: Condvar,
}

struct State {
    text: String,
    is_over: bool,
}

impl<'c> Progress<'c> {
    /// Says something from now on.
    pub(crate) fn begin(console: &'c mut Console, text: &str) -> Progress<'c> {
        tracing::info!("{text}");
        let is_shown = console.has_terminal();
        Progress {
            shown: is_shown.then(|| show(text)),
            _console: PhantomData,
        }
    }

    /// Says something else.
    pub(crate) fn say(&self, text: String) {
        if let Some((shared, _)) = &self.shown {
            shared.lock().text = text;
        }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if let Some((shared, thread)) = self.shown.take() {
            shared.lock().is_over = true;
            shared.over.notify_one();
            // A panic of it was reported by then and harms nobody.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn show(text: &str) -> (Arc<Shared>, JoinHandle<()>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            text: text.to_owned(),
            is_over: false,
        }),
        over: Condvar::new(),
    });
    let of_thread = Arc::clone(&shared);
    (shared, thread::spawn(move || rewrite(&of_thread)))
}

/// Writes the line again and again. Without a stderr there is nobody to tell.
fn rewrite(shared: &Shared) {
    let began = Instant::now();
    let mut status = StatusLine::default();
    let mut state = shared.lock();
    while !state.is_over {
        let waited = shared.over.wait_timeout(state, PERIOD);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if !state.is_over {
            let text = clean::line(&state.text);
            status.write(&line(&text, began.elapsed(), StatusLine::columns()));
        }
    }
}

/// The text and the seconds, within the columns of a terminal. The last one stays free, so that no
/// terminal begins another line.
fn line(text: &str, since: Duration, columns: usize) -> String {
    let time = format!(", {} s", since.as_secs());
    let room = columns.saturating_sub(3 + time.len());
    let text = match text.chars().count() > room {
        true => {
            let start: String = text.chars().take(room.saturating_sub(1)).collect();
            format!("{start}…")
        }
        false => text.to_owned(),
    };
    let line = format!("  {text}{time}");
    line.chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_into_the_terminal_with_its_seconds() {
        let after = Duration::from_millis(12_900);
        assert_eq!(line("recording", after, 80), "  recording, 12 s");
        let long = "recording ".repeat(20);
        for columns in 12..40 {
            let line = line(&long, after, columns);
            assert_eq!(line.chars().count(), columns - 1);
            assert!(line.ends_with("…, 12 s"), "{line}");
        }
        assert_eq!(line(&long, after, 4), "  …");
    }

    #[test]
    fn a_console_without_a_terminal_has_no_line() {
        let mut console = Console::kept();
        let progress = Progress::begin(&mut console, "recording");
        progress.say("checking".to_owned());
        drop(progress);
        assert_eq!(console.kept_text().1, "");
    }
}
