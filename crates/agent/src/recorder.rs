//! The recorder: a thread of its own that takes what the program's threads hand over and writes
//! the recording. Owns the file, the limits and the counters of what is lost.
//!
//! The thread never enters the JVM. Whatever goes wrong here ends the recording and says so in
//! it; the program does not notice.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use culprit_model::options::{CaptureLimits, RecordOptions};
use culprit_model::site::TypeDef;
use culprit_model::{BlobId, Failure, Losses, Site, ThreadId};
use culprit_trace::{
    BlobKind, ClassDef, EndReason, Ending, LoaderDef, Ring, Start, ThreadDef, WriteError, Writer,
    join, remove,
};

use crate::blobs::Blobs;
use crate::callbacks::write_private;
use crate::caught::CaughtTable;
use crate::lock::LockSafe;
use crate::state::{Chunk, States};

/// How often published records are fetched from threads that do not fill their buffers: what a
/// killed JVM may lose.
const TICK: Duration = Duration::from_millis(250);
/// Records waiting to be written; beyond this the program's threads wait for the disk.
const MOST_WAITING: usize = 64 << 20;
/// Failures kept; a program may go on failing for ever.
const MOST_FAILURES: u64 = 1000;
/// No exit status was seen.
const UNKNOWN_STATUS: i64 = i64::MIN;

/// A class file on its way into the recording.
pub(crate) struct OwnedClass {
    pub(crate) name: String,
    pub(crate) loader: u32,
    pub(crate) origin: Option<String>,
    pub(crate) observed: bool,
    /// Woven ahead of time.
    pub(crate) ahead: bool,
    /// Without code.
    pub(crate) outline: bool,
    pub(crate) bytes: Vec<u8>,
}

/// What the recorder is told.
pub(crate) enum Message {
    Events(Chunk),
    Loader(LoaderDef),
    Type(TypeDef),
    Sites(Vec<Site>),
    Thread(ThreadDef),
    /// A thread has no more events.
    Ended(ThreadId),
    Class(OwnedClass),
    Blob {
        id: BlobId,
        kind: BlobKind,
        bytes: Vec<u8>,
    },
    Failure(Failure),
    /// Put there by the recorder itself: what was handed over before has been taken.
    Mark,
    End,
}

impl Message {
    /// Memory that the message holds on to, as far as it matters.
    fn bytes(&self) -> usize {
        match self {
            Message::Events(chunk) => chunk.records.memory(),
            Message::Blob { bytes, .. } => bytes.len(),
            Message::Class(class) => class.bytes.len(),
            _ => 0,
        }
    }
}

/// The handle that the rest of the agent has.
pub(crate) struct Recorder {
    queue: Mutex<Queue>,
    arrived: Condvar,
    taken: Condvar,
    pub(crate) states: States,
    pub(crate) blobs: Blobs,
    pub(crate) caught: CaughtTable,
    losses: Mutex<LossCounters>,
    stopped: AtomicBool,
    exit_status: AtomicI64,
    events: AtomicU64,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    /// Memory of the messages.
    waiting: usize,
    /// The recorder's thread sleeps, and nobody has woken it yet.
    asleep: bool,
    closed: bool,
}

#[derive(Default)]
struct LossCounters {
    counts: BTreeMap<&'static str, u64>,
    not_woven: Vec<(String, String)>,
    stopped: Option<String>,
    changed: bool,
}

impl Recorder {
    pub(crate) fn new(sample: Option<u32>) -> std::io::Result<Recorder> {
        Ok(Recorder {
            queue: Mutex::default(),
            arrived: Condvar::new(),
            taken: Condvar::new(),
            states: States::new(sample)?,
            blobs: Blobs::default(),
            caught: CaughtTable::new(),
            losses: Mutex::default(),
            stopped: AtomicBool::new(false),
            exit_status: AtomicI64::new(UNKNOWN_STATUS),
            events: AtomicU64::new(0),
        })
    }

    /// Hands a message over. Waits while too much is waiting to be written.
    pub(crate) fn send(&self, message: Message) {
        if message.bytes() > 0 {
            self.wait_for_room();
        }
        self.push(message);
    }

    /// Waits while too much is waiting to be written.
    pub(crate) fn wait_for_room(&self) {
        let mut queue = self.queue.lock_safe();
        while queue.waiting > MOST_WAITING && !queue.closed {
            queue = self
                .taken
                .wait(queue)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// Hands a message over at once, so it may be called under a lock.
    pub(crate) fn push(&self, message: Message) {
        let mut queue = self.queue.lock_safe();
        if !queue.closed {
            queue.waiting += message.bytes();
            queue.messages.push_back(message);
            // A notification is a system call, also if nobody sleeps.
            if std::mem::take(&mut queue.asleep) {
                self.arrived.notify_one();
            }
        }
    }

    /// Counts something that the recording lacks.
    pub(crate) fn lost(&self, what: &'static str) {
        let mut losses = self.losses.lock_safe();
        *losses.counts.entry(what).or_default() += 1;
        losses.changed = true;
    }

    /// Says how much of something the recording lacks.
    fn count(&self, what: &'static str, count: u64) {
        let mut losses = self.losses.lock_safe();
        losses.changed |= losses.counts.insert(what, count) != Some(count);
    }

    /// A class or method runs unmodified.
    pub(crate) fn not_woven(&self, what: String, why: String) {
        let mut losses = self.losses.lock_safe();
        losses.not_woven.push((what, why));
        losses.changed = true;
    }

    /// Ends capture, and says why; the program goes on.
    pub(crate) fn stop(&self, why: String) {
        if self.stopped.swap(true, Ordering::Relaxed) {
            return;
        }
        self.states.stop();
        let mut losses = self.losses.lock_safe();
        losses.stopped = Some(why);
        losses.changed = true;
    }

    /// The classes and methods that run unmodified, each with the reason.
    pub(crate) fn all_not_woven(&self) -> Vec<(String, String)> {
        self.losses.lock_safe().not_woven.clone()
    }

    /// Why capture ended, if it did.
    pub(crate) fn why_stopped(&self) -> Option<String> {
        if !self.is_stopped() {
            return None;
        }
        let why = self.losses.lock_safe().stopped.clone();
        Some(why.unwrap_or_else(|| "capture has ended".to_owned()))
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn set_exit_status(&self, status: i32) {
        self.exit_status.store(i64::from(status), Ordering::Relaxed);
    }

    fn exit_status(&self) -> Option<i32> {
        i32::try_from(self.exit_status.load(Ordering::Relaxed)).ok()
    }

    /// What was handed over so far.
    pub(crate) fn take_now(&self) -> VecDeque<Message> {
        self.empty(&mut self.queue.lock_safe())
    }

    fn empty(&self, queue: &mut Queue) -> VecDeque<Message> {
        // Threads wait for room only while there is too much.
        if std::mem::take(&mut queue.waiting) > MOST_WAITING {
            self.taken.notify_all();
        }
        std::mem::take(&mut queue.messages)
    }

    fn take(&self, wait: Duration) -> VecDeque<Message> {
        let mut queue = self.queue.lock_safe();
        if queue.messages.is_empty() && !wait.is_zero() {
            // The queue is empty, and both are seen under its lock: no message can slip in between.
            queue.asleep = true;
            queue = match self.arrived.wait_timeout(queue, wait) {
                Ok((queue, _)) => queue,
                Err(poisoned) => poisoned.into_inner().0,
            };
            queue.asleep = false;
        }
        self.empty(&mut queue)
    }

    /// What was handed over and not taken.
    #[cfg(test)]
    pub(crate) fn handed_over(&self) -> VecDeque<Message> {
        self.take(Duration::ZERO)
    }

    fn close(&self) {
        let mut queue = self.queue.lock_safe();
        queue.closed = true;
        queue.messages.clear();
        self.taken.notify_all();
    }

    /// The losses, if they changed since they were last asked for.
    fn changed_losses(&self) -> Option<Losses> {
        let mut losses = self.losses.lock_safe();
        std::mem::take(&mut losses.changed).then(|| Losses {
            counts: losses
                .counts
                .iter()
                .map(|(name, n)| ((*name).to_owned(), *n))
                .collect(),
            not_woven: losses.not_woven.clone(),
            stopped: losses.stopped.clone(),
        })
    }
}

/// The recorder's thread, to be waited for when the JVM ends.
pub(crate) struct RecorderThread(std::thread::JoinHandle<()>);

impl RecorderThread {
    pub(crate) fn spawn(
        recorder: Arc<Recorder>,
        options: &RecordOptions,
        path: PathBuf,
        writer: Writer,
        mut start: Start,
    ) -> Result<RecorderThread, WriteError> {
        let ring = match options.last {
            Some(last) => {
                start.set_segmented();
                Some((last, Ring::create(&path, last)?))
            }
            None => None,
        };
        let mut scribe = Scribe {
            recorder,
            writer,
            path,
            limits: options.limits,
            ring,
            forgetting: None,
            keep_failing: options.keep_failing,
            failures: 0,
            ending: false,
            started: Instant::now(),
            window: (Instant::now(), 0),
        };
        let thread = std::thread::Builder::new()
            .name("culprit-recorder".to_owned())
            .spawn(move || {
                block_signals();
                // A panic in here must not reach the thread's end unseen: the handle ignores it, the
                // file stays readable up to its last whole block.
                let _ =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scribe.run(&start)));
                scribe.recorder.stop("the recorder failed".to_owned());
                scribe.recorder.close();
            })?;
        Ok(RecorderThread(thread))
    }

    pub(crate) fn join(self) {
        let _ = self.0.join();
    }
}

/// Signals of the process are the JVM's business.
pub(crate) fn block_signals() {
    // SAFETY: an all-zero signal set is a valid value for sigfillset to overwrite.
    let mut all: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `all` is a signal set of ours.
    unsafe { libc::sigfillset(&mut all) };
    // SAFETY: changes the mask of this thread only.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut()) };
}

/// What runs in the recorder's thread.
struct Scribe {
    recorder: Arc<Recorder>,
    writer: Writer,
    path: PathBuf,
    limits: CaptureLimits,
    /// The last events only, and how many of them.
    ring: Option<(u64, Ring)>,
    /// Contents that are being forgotten.
    forgetting: Option<Forgetting>,
    keep_failing: bool,
    failures: u64,
    /// The JVM has said that it ends.
    ending: bool,
    started: Instant,
    /// Start of the current second and the events seen before it.
    window: (Instant, u64),
}

/// Contents below a number are new when they come again, but records on their way may still name
/// them: those in the queue, until the mark came round, and those in the buffers of threads.
struct Forgetting {
    below: BlobId,
    /// Whether the mark came round, and how often the buffers were fetched since.
    fetched: Option<u32>,
}

/// After so many the records on their way are there: one that was being written at one of them is
/// complete at the next.
const FETCHES: u32 = 3;

impl Scribe {
    fn run(&mut self, start: &Start) {
        if let Err(error) = self.record(start) {
            self.recorder.stop(error.to_string());
            self.recorder.close();
            // The disk may have room for these few bytes still.
            self.writer.forget_gathered();
            if let Some((_, ring)) = &mut self.ring {
                ring.forget_gathered();
            }
            self.write_losses().and_then(|()| self.end()).ok();
        }
    }

    fn record(&mut self, start: &Start) -> Result<(), WriteError> {
        self.writer.start(start)?;
        let mut last_tick = Instant::now();
        loop {
            for message in self.recorder.take(TICK) {
                self.handle(message)?;
            }
            if last_tick.elapsed() >= TICK {
                self.fetch()?;
                last_tick = Instant::now();
            }
            // The end may have come with the messages or while fetching.
            let ends = self.ending;
            if ends {
                self.fetch()?;
            }
            self.check_limits();
            self.write_caught(ends)?;
            self.write_losses()?;
            self.flush()?;
            if ends {
                self.finish()?;
                return Ok(());
            }
        }
    }

    /// Fetches what the threads have published. Definitions that were sent meanwhile come before
    /// it, since it may use them. Records that a thread handed over meanwhile are older or younger
    /// than what was fetched from it: their place among the thread's events tells.
    fn fetch(&mut self) -> Result<(), WriteError> {
        let mut chunks = self.recorder.states.drain_all();
        let mut ended = Vec::new();
        for message in self.recorder.take(Duration::ZERO) {
            match message {
                Message::Events(chunk) => chunks.push(chunk),
                Message::Ended(_) => ended.push(message),
                definition => self.handle(definition)?,
            }
        }
        let left_out = self.recorder.states.left_out();
        if left_out > 0 {
            self.recorder.count(Losses::LEFT_OUT, left_out);
        }
        chunks.sort_by_key(|chunk| (chunk.head.thread, chunk.head.ordinal));
        for chunk in chunks {
            self.events(chunk)?;
        }
        ended
            .into_iter()
            .try_for_each(|message| self.handle(message))?;
        self.release();
        Ok(())
    }

    /// Lets go of contents that no record on its way can name any more.
    fn release(&mut self) {
        let Some(Forgetting {
            below,
            fetched: Some(fetched),
        }) = &mut self.forgetting
        else {
            return;
        };
        *fetched += 1;
        if *fetched >= FETCHES {
            if let Some((_, ring)) = &mut self.ring {
                ring.release(*below);
            }
            self.forgetting = None;
        }
    }

    fn handle(&mut self, message: Message) -> Result<(), WriteError> {
        match message {
            Message::Events(chunk) => self.events(chunk),
            Message::Loader(loader) => self.writer.loaders(&[loader]),
            Message::Type(definition) => {
                if let Some((_, ring)) = &mut self.ring {
                    ring.type_def(&definition);
                }
                self.writer.types(&[definition])
            }
            Message::Sites(sites) => {
                if let Some((_, ring)) = &mut self.ring {
                    sites.iter().for_each(|site| ring.site(site));
                }
                self.writer.sites(&sites)
            }
            Message::Thread(thread) => match &mut self.ring {
                Some((_, ring)) => {
                    ring.thread(&thread);
                    Ok(())
                }
                None => self.writer.thread(&thread),
            },
            Message::Ended(thread) => {
                if let Some((_, ring)) = &mut self.ring {
                    ring.ended(thread);
                }
                Ok(())
            }
            Message::Class(class) => self.writer.class(&ClassDef {
                name: &class.name,
                loader: class.loader,
                origin: class.origin.as_deref(),
                observed: class.observed,
                ahead: class.ahead,
                outline: class.outline,
                bytes: &class.bytes,
            }),
            Message::Blob { id, kind, bytes } => match &mut self.ring {
                Some((_, ring)) => ring.blob(id, kind, &bytes),
                None => self.writer.blob(id, kind, &bytes),
            },
            Message::Failure(failure) => {
                self.failures += 1;
                if self.failures > MOST_FAILURES {
                    self.recorder.lost("failures beyond the first thousand");
                    return Ok(());
                }
                self.writer.failure(&failure)
            }
            Message::Mark => {
                if let Some(forgetting) = &mut self.forgetting {
                    forgetting.fetched = Some(0);
                }
                Ok(())
            }
            Message::End => {
                self.ending = true;
                Ok(())
            }
        }
    }

    fn events(&mut self, chunk: Chunk) -> Result<(), WriteError> {
        self.recorder
            .events
            .fetch_add(u64::from(chunk.head.count), Ordering::Relaxed);
        match &mut self.ring {
            Some((_, ring)) => {
                // What the events use is defined there, and must be there first.
                self.writer.flush()?;
                ring.events(chunk.head, &chunk.records)?;
                if ring.is_full() {
                    if self.forgetting.is_none() {
                        self.forgetting = Some(Forgetting {
                            below: self.recorder.blobs.forget(),
                            fetched: None,
                        });
                        self.recorder.push(Message::Mark);
                    }
                    ring.rotate()?;
                }
                Ok(())
            }
            None => self.writer.events(chunk.head, &chunk.records),
        }
    }

    fn check_limits(&mut self) {
        let events = self.recorder.events.load(Ordering::Relaxed);
        if self.limits.events.is_some_and(|most| events >= most) {
            self.recorder
                .stop(format!("--max-events was reached after {events} events"));
        }
        let ring = self.ring.as_ref().map_or(0, |(_, ring)| ring.bytes());
        let bytes = self.writer.bytes_written() + ring;
        if self.limits.bytes.is_some_and(|most| bytes >= most) {
            self.recorder
                .stop(format!("--max-bytes was reached after {bytes} bytes"));
        }
        let elapsed = self.window.0.elapsed();
        if elapsed >= Duration::from_secs(1) {
            let rate = ((events - self.window.1) as f64 / elapsed.as_secs_f64()) as u64;
            if self.limits.rate.is_some_and(|most| rate > most) {
                self.recorder.stop(format!(
                    "--max-rate was exceeded: {rate} events in a second"
                ));
            }
            self.window = (Instant::now(), events);
        }
    }

    /// Writes the exceptions that were caught, as far as they are news.
    fn write_caught(&mut self, is_end: bool) -> Result<(), WriteError> {
        let changed = self.recorder.caught.changed(is_end);
        let mut changed = changed.iter();
        changed.try_for_each(|caught| self.writer.caught(caught))
    }

    fn write_losses(&mut self) -> Result<(), WriteError> {
        let Some(losses) = self.recorder.changed_losses() else {
            return Ok(());
        };
        match &mut self.ring {
            Some((_, ring)) => ring.losses(&losses),
            None => self.writer.losses(&losses),
        }
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.writer.flush()?;
        match &mut self.ring {
            Some((_, ring)) => ring.flush(),
            None => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<(), WriteError> {
        let ended_well = self.failures == 0 && self.recorder.exit_status().unwrap_or(0) == 0;
        if self.keep_failing && ended_well && remove(&self.path).is_ok() {
            write_private(&self.path.with_extension("discarded"), "");
            return Ok(());
        }
        // What cannot be removed is kept, which loses nothing. Segments that cannot be joined can
        // be read as they are.
        let joined = self
            .ring
            .take()
            .is_some_and(|(last, _)| join(&self.path, last, Some(&self.ending())).is_ok());
        match joined {
            true => Ok(()),
            false => self.end(),
        }
    }

    fn end(&mut self) -> Result<(), WriteError> {
        self.writer.end(&self.ending())
    }

    fn ending(&self) -> Ending {
        let reason = match self.recorder.is_stopped() {
            true => EndReason::Stopped,
            false => EndReason::JvmEnded,
        };
        Ending {
            reason,
            exit_status: self.recorder.exit_status(),
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}
