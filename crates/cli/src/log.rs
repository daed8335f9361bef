//! The log of a run: phases, processes and candidates, with verdicts and times, for a bug report.
//!
//! Events of all crates (`tracing`) go to `culprit.log` in the folder of the results, and with `-v` to the
//! terminal. `CULPRIT_LOG` selects the events of the file: a level, or levels of crates
//! (`info,culprit_jvm=trace`); `off` writes no file. The file is private, contains no harmful character
//! and has a bounded size. A log that cannot be written never affects the run.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use culprit_model::clean;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::console::Diagnostics;
use crate::exit::{ExitCode, Expected};

/// The variable that selects the events of the file.
pub(crate) const VARIABLE: &str = "CULPRIT_LOG";

/// The file, in a folder of results. A folder that contains nothing else counts as empty.
pub(crate) const FILE: &str = "culprit.log";

/// The largest size of the file in bytes.
const LARGEST: usize = 4 << 20;

/// The most bytes of events kept in memory until the folder of the results is known.
const HELD: usize = 64 << 10;

/// The last line of a log that has reached its largest size.
const FULL: &str = "The log is full: later events are missing.\n";

static LOG: Mutex<Log> = Mutex::new(Log::Held(Vec::new()));

fn log() -> MutexGuard<'static, Log> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts logging: to memory until [`keep_in`] names a folder, and to the terminal if `verbose` is above 0.
pub(crate) fn begin(verbose: u8, selected: Option<&OsStr>) -> Result<(), Expected> {
    let of_file = selection(selected)?;
    let of_terminal = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let file = fmt::layer().with_writer(|| Sink).with_filter(of_file);
    let terminal = fmt::layer()
        .without_time()
        .with_writer(|| Diagnostics)
        .with_filter(ours(of_terminal));
    let subscriber = tracing_subscriber::registry().with(file).with(terminal);
    // A second subscriber in one process is not there to be installed.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// Writes the log to a folder from now on, with all events so far.
pub(crate) fn keep_in(folder: &Path) {
    log().keep_in(folder.join(FILE), LARGEST);
}

/// Removes the file: the folder is given up.
pub(crate) fn discard() {
    log().discard();
}

fn selection(selected: Option<&OsStr>) -> Result<Targets, Expected> {
    let Some(text) = selected.filter(|it| !it.is_empty()) else {
        return Ok(ours(LevelFilter::DEBUG));
    };
    let parsed = text.to_str().and_then(|it| it.parse().ok());
    parsed.ok_or_else(|| {
        let message = format!(
            "{VARIABLE} is not a selection of events: {}",
            clean::os(text)
        );
        Expected::new(ExitCode::Usage, message).hint(
            "write a level (off, info, debug, trace), or levels of crates: info,culprit_jvm=trace",
        )
    })
}

/// The events of our own crates up to a level.
fn ours(level: LevelFilter) -> Targets {
    Targets::new().with_target("culprit", level)
}

/// Gives each event, one line of text, to the log.
struct Sink;

impl Write for Sink {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        log().append(event);
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The place to which events are written.
enum Log {
    /// The folder is not known yet.
    Held(Vec<u8>),
    /// A file that is made with the first event.
    Kept {
        path: PathBuf,
        file: Option<File>,
        /// Bytes that may still be written.
        left: usize,
    },
    /// The file is full, cannot be written, or is not wanted.
    Closed,
}

impl Log {
    fn append(&mut self, event: &[u8]) {
        let text = String::from_utf8_lossy(event);
        let line = format!("{}\n", clean::line(text.trim_end_matches('\n')));
        match self {
            Log::Held(held) if held.len() + line.len() <= HELD => held.extend(line.as_bytes()),
            Log::Held(_) | Log::Closed => {}
            Log::Kept { .. } => self.write(line.as_bytes()),
        }
    }

    /// The first folder counts: others are within it.
    fn keep_in(&mut self, path: PathBuf, largest: usize) {
        let Log::Held(held) = self else {
            return;
        };
        let held = std::mem::take(held);
        let size = path.metadata().map_or(0, |it| it.len());
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        *self = Log::Kept {
            path,
            file: None,
            left: largest.saturating_sub(size),
        };
        if !held.is_empty() {
            self.write(&held);
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        let Log::Kept { path, file, left } = self else {
            return;
        };
        let opened = match file {
            Some(file) => Ok(file),
            None => open(path).map(|opened| file.insert(opened)),
        };
        let is_full = bytes.len() + FULL.len() > *left;
        let written = opened.and_then(|file| match is_full {
            true => file.write_all(&FULL.as_bytes()[..FULL.len().min(*left)]),
            false => file.write_all(bytes),
        });
        match written {
            Ok(()) if !is_full => *left -= bytes.len(),
            // Without a log the run is as good as with one.
            _ => *self = Log::Closed,
        }
    }

    fn discard(&mut self) {
        if let Log::Kept { path, .. } = self {
            // It may not have been made.
            let _ = std::fs::remove_file(path);
        }
        *self = Log::Closed;
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn events_are_held_until_the_folder_is_known_and_stay_on_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let mut log = Log::Held(Vec::new());
        log.append(b"first\n");
        log.keep_in(path.clone(), LARGEST);
        log.keep_in(folder.path().join("within"), LARGEST);
        log.append("a\u{1b}[2J\nforged\n".as_bytes());
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "first\na\\u001b[2J\\nforged\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_log_does_not_grow_without_bound_and_says_that_it_is_full() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        for _ in 0..2 {
            let mut log = Log::Held(Vec::new());
            log.keep_in(path.clone(), 100);
            for _ in 0..20 {
                log.append(b"an event\n");
            }
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.len() <= 100, "{text}");
            assert!(
                text.starts_with("an event\n") && text.contains(FULL),
                "{text}"
            );
        }
        let mut held = Log::Held(Vec::new());
        for _ in 0..HELD {
            held.append(b"an event\n");
        }
        assert!(matches!(held, Log::Held(held) if held.len() <= HELD));
    }

    #[test]
    fn a_run_without_events_leaves_no_file_and_a_discarded_log_none_either() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let mut log = Log::Held(Vec::new());
        log.keep_in(path.clone(), LARGEST);
        assert!(!path.exists());
        log.append(b"an event\n");
        assert!(path.exists());
        log.discard();
        log.append(b"another\n");
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_written_closes_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::Held(Vec::new());
        log.keep_in(folder.path().join("gone").join(FILE), LARGEST);
        log.append(b"an event\n");
        assert!(matches!(log, Log::Closed));
    }

    #[test]
    fn events_are_selected_by_levels_and_crates() {
        use tracing::Level;
        let is_on = |text: &str, target: &str, level: Level| {
            let selected = selection(Some(text.as_ref())).unwrap();
            selected.would_enable(target, &level)
        };
        assert!(is_on("", "culprit_jvm::pool", Level::DEBUG));
        assert!(!is_on("", "culprit_jvm::pool", Level::TRACE));
        assert!(!is_on("", "other", Level::ERROR));
        assert!(!is_on("off", "culprit_jvm", Level::ERROR));
        assert!(is_on(
            "info,culprit_jvm=trace",
            "culprit_jvm::pool",
            Level::TRACE
        ));
        assert!(!is_on(
            "info,culprit_jvm=trace",
            "culprit_reduce",
            Level::DEBUG
        ));
        let error = selection(Some("culprit=loud".as_ref())).unwrap_err();
        assert_eq!(error.code, ExitCode::Usage);
    }
}
