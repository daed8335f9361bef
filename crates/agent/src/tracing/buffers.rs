//! The buffers of the threads that are traced, and their order.
//!
//! Woven code writes to them by address. Here they are atomics, so that reading them needs no trust in who writes.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use culprit_trace::instructions::TracedThread;

use crate::lock::LockSafe;

/// Slots of the table from threads to states.
pub(super) const SLOTS: usize = 1 << 16;

/// Words of a buffer.
const WORDS: usize = 1 << 16;

/// Words that the longest event takes, with the change of turns before it.
const LONGEST: usize = 8;

/// Positions in the state of a thread, in words of 64 bits. `Trace.java` has the same layout in bytes.
const POSITION: usize = 0;
const LIMIT: usize = 1;
const DEPTH_AND_INDEX: usize = 2;
const FULL: usize = 3;
const STATE_WORDS: usize = 8;

/// All threads of a run.
pub(super) struct Buffers {
    table: Box<[AtomicU64]>,
    order: Box<AtomicU64>,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    all: Vec<Thread>,
    by_id: HashMap<u64, usize>,
    /// Words taken in this run.
    words: u64,
}

struct Thread {
    state: Box<[AtomicU64]>,
    buffer: Box<[AtomicU32]>,
    object: u32,
    taken: Vec<u32>,
}

impl Default for Buffers {
    fn default() -> Buffers {
        Buffers {
            table: (0..2 * SLOTS).map(|_| AtomicU64::new(0)).collect(),
            order: Box::default(),
            threads: Mutex::default(),
        }
    }
}

impl Buffers {
    pub(super) fn table(&self) -> i64 {
        self.table.as_ptr() as i64
    }

    pub(super) fn order(&self) -> i64 {
        &raw const *self.order as i64
    }

    /// Forgets the threads of earlier runs.
    pub(super) fn clear(&self) {
        let mut threads = self.threads.lock_safe();
        for slot in &self.table {
            slot.store(0, Ordering::Relaxed);
        }
        self.order.store(0, Ordering::Relaxed);
        // A thread of an earlier run may be about to write to its buffer.
        let old = std::mem::take(&mut *threads);
        std::mem::forget(old.all);
    }

    /// The address of the state of a thread.
    pub(super) fn attach(&self, tid: u64, object: u32) -> i64 {
        let mut threads = self.threads.lock_safe();
        let Threads { all, by_id, .. } = &mut *threads;
        let index = *by_id.entry(tid).or_insert_with(|| {
            // The order cell is 0 before the first event, so that no thread has this number.
            let number = all.len() as u64 + 1;
            all.push(Thread::new(number, object));
            all.len() - 1
        });
        let Some(thread) = all.get(index) else {
            return 0;
        };
        let address = thread.state.as_ptr() as u64;
        let slot = (tid as usize & (SLOTS - 1)) * 2;
        if let Some([owner, state]) = self.table.get(slot..slot + 2) {
            // Only threads that share the slot could see one without the other, and each compares the owner.
            owner.store(0, Ordering::Release);
            state.store(address, Ordering::Release);
            owner.store(tid, Ordering::Release);
        }
        address as i64
    }

    /// Takes the events of a thread and empties its buffer; the bytes that were taken in this run so far.
    pub(super) fn flush(&self, state: i64) -> u64 {
        let mut threads = self.threads.lock_safe();
        let mut all = threads.all.iter_mut();
        let thread = all.find(|thread| thread.state.as_ptr() as i64 == state);
        let words = thread.map_or(0, Thread::take);
        threads.words += words as u64;
        threads.words * 4
    }

    /// The events of all threads.
    pub(super) fn take(&self) -> Vec<TracedThread> {
        let mut threads = self.threads.lock_safe();
        let threads = threads.all.iter_mut();
        let threads = threads.map(|thread| {
            thread.take();
            TracedThread {
                object: thread.object,
                words: std::mem::take(&mut thread.taken),
            }
        });
        threads.collect()
    }
}

impl Thread {
    fn new(number: u64, object: u32) -> Thread {
        let thread = Thread {
            state: (0..STATE_WORDS).map(|_| AtomicU64::new(0)).collect(),
            buffer: (0..WORDS).map(|_| AtomicU32::new(0)).collect(),
            object,
            taken: Vec::new(),
        };
        let base = thread.buffer.as_ptr() as u64;
        let full = base + 4 * (WORDS - LONGEST) as u64;
        let values = [
            (POSITION, base),
            (LIMIT, full),
            (DEPTH_AND_INDEX, number << 32),
            (FULL, full),
        ];
        for (at, value) in values {
            if let Some(word) = thread.state.get(at) {
                word.store(value, Ordering::Release);
            }
        }
        thread
    }

    /// Takes the events in the buffer; how many words they have.
    fn take(&mut self) -> usize {
        let base = self.buffer.as_ptr() as u64;
        let Some(position) = self.state.get(POSITION) else {
            return 0;
        };
        let end = position.load(Ordering::Acquire).saturating_sub(base) / 4;
        let words = self.buffer.iter().take(end as usize);
        let words = words.map(|word| word.load(Ordering::Relaxed));
        self.taken.extend(words);
        position.store(base, Ordering::Release);
        end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_state_and_its_events_are_taken_once() {
        let buffers = Buffers::default();
        let state = buffers.attach(70_000, 5);
        assert_eq!(buffers.attach(70_000, 5), state);
        assert_ne!(buffers.attach(4_464, 6), state);
        {
            let threads = buffers.threads.lock_safe();
            threads.all[0].buffer[1].store(9, Ordering::Relaxed);
            threads.all[0].state[POSITION].fetch_add(8, Ordering::Relaxed);
        }
        assert_eq!(buffers.flush(state), 8);
        assert_eq!(buffers.flush(state), 8);
        let taken = buffers.take();
        assert_eq!(
            (taken[0].object, taken[0].words.as_slice()),
            (5, &[0, 9][..])
        );
        assert_eq!((taken[1].object, taken[1].words.len()), (6, 0));
    }
}
