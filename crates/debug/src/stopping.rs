//! The end of commands that do not end by themselves, such as servers: after some time, or after some failures.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use culprit_jvm::{Ending, end_marked};
use culprit_model::Evidence;
use culprit_trace::{Recording, RunFolder};

/// The moment at which a command is ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopAfter {
    /// So many failures were seen.
    Failures(u64),
    /// So much time has passed.
    Time(Duration),
}

/// The time between two looks at the recordings of a run.
const PAUSE: Duration = Duration::from_millis(200);

/// The time that a command has to end once it is asked to.
const GRACE: Duration = Duration::from_secs(10);

/// A run that is being watched, to end it.
pub(crate) struct StopWatch {
    /// Dropped when the run has ended.
    running: Sender<()>,
    thread: JoinHandle<Option<Stopped>>,
}

/// A run that was ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stopped {
    /// The time after which it was.
    pub(crate) after: Duration,
    /// The failures that were seen until then.
    pub(crate) failures: u64,
}

/// The run to watch, and when to end it.
pub(crate) struct Watched {
    pub(crate) folder: PathBuf,
    pub(crate) after: StopAfter,
    /// The failures of an earlier run that was ended after some time: a run that has had as many of them is ended, too.
    pub(crate) enough: Option<u64>,
    /// The class of the exceptions that count; otherwise, all that are likely to be failures.
    pub(crate) class: Option<String>,
}

impl StopWatch {
    pub(crate) fn start(watched: Watched) -> StopWatch {
        let (running, is_over) = channel::<()>();
        let thread = thread::spawn(move || {
            let began = Instant::now();
            let has_ended = |wait: Duration| {
                let waited = is_over.recv_timeout(wait);
                waited != Err(RecvTimeoutError::Timeout)
            };
            while !watched.is_time(began.elapsed()) {
                if has_ended(PAUSE) {
                    return None;
                }
            }
            let after = began.elapsed();
            let mark = format!("out={}", watched.folder.display());
            end_marked(&mark, Ending::Asked);
            if !has_ended(GRACE) {
                end_marked(&mark, Ending::Killed);
            }
            Some(Stopped {
                after,
                failures: watched.failures(),
            })
        });
        StopWatch { running, thread }
    }

    /// The run has ended; when it was asked to, if it was.
    pub(crate) fn end(self) -> Option<Stopped> {
        drop(self.running);
        // A panic of the thread has been reported.
        self.thread.join().unwrap_or_default()
    }
}

impl Watched {
    fn is_time(&self, elapsed: Duration) -> bool {
        match self.after {
            StopAfter::Time(time) => {
                let had = |enough: u64| enough > 0 && self.failures() >= enough;
                elapsed >= time || self.enough.is_some_and(had)
            }
            StopAfter::Failures(wanted) => self.failures() >= wanted,
        }
    }

    /// The failures that are in the recordings by now. Those that cannot be read yet have none.
    fn failures(&self) -> u64 {
        let run = RunFolder::open(&self.folder);
        let recordings = run.map(|run| run.recordings).unwrap_or_default();
        recordings.iter().map(|path| self.failures_in(path)).sum()
    }

    fn failures_in(&self, path: &Path) -> u64 {
        let Ok(recording) = Recording::open(path) else {
            return 0;
        };
        let class = self.class.as_deref();
        let left = recording.failures().iter();
        let left = left.filter(|failure| class.is_none_or(|class| failure.is_of(class)));
        let caught = recording.caught().iter().filter(|caught| match class {
            Some(class) => caught.failure.is_of(class),
            None => caught.evidence() > Evidence::None,
        });
        left.count() as u64 + caught.map(|caught| caught.count).sum::<u64>()
    }
}
