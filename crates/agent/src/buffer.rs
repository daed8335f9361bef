//! Buffers that threads of the program write records to, and the records that are handed over.
//!
//! A full buffer is handed over as it is, and the thread gets an empty one from the pool. Nobody
//! else has an address in the full one then: the thread that hands it over is the one that wrote to
//! it, its state points to the other buffer before it goes on, and the recorder's thread copies from
//! a buffer only under the lock of the thread's slot, while it is the slot's.

use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex};

use crate::lock::LockSafe;

/// Room behind the limit of a buffer for the scalars and references of one record.
pub(crate) const RESERVE: usize = 4096;
/// The first buffer of a thread, small for the sake of virtual threads, and the later ones.
pub(crate) const FIRST_BUFFER: usize = 16 << 10;
pub(crate) const LATER_BUFFER: usize = 128 << 10;

/// Memory that a thread of the program writes records to. While it does, it is never seen as a Rust
/// slice, since the program may be writing elsewhere in it at the same time.
pub(crate) struct Buffer {
    pub(crate) start: *mut u8,
    pub(crate) length: usize,
}

// SAFETY: the memory belongs to this value alone as far as Rust is concerned; the one outside
// writer is the Java thread that owns the state, and `copy_out` reads only what it published.
unsafe impl Send for Buffer {}
// SAFETY: as above; a shared buffer is only read.
unsafe impl Sync for Buffer {}

impl Buffer {
    pub(crate) fn new(length: usize) -> Buffer {
        let memory = vec![0u8; length].into_boxed_slice();
        Buffer {
            start: Box::into_raw(memory).cast(),
            length,
        }
    }

    /// The bytes of a buffer that was handed over.
    fn bytes(&self) -> &[u8] {
        // SAFETY: `start` and `length` are those of a live allocation that was initialised as a whole.
        // Nobody writes to it: only `Records` asks, and the state of no thread points here then (see
        // `flush`).
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }

    pub(crate) fn copy_out(&self, from: usize, to: usize) -> Vec<u8> {
        let (to, from) = (to.min(self.length), from.min(to));
        let mut bytes = Vec::with_capacity(to - from);
        // SAFETY: `from <= to <= length`, so the source is inside the allocation.
        let source = unsafe { self.start.add(from) };
        // SAFETY: the vector has room for `to - from` bytes and is not part of the buffer.
        unsafe { std::ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), to - from) };
        // SAFETY: that many bytes were just written.
        unsafe { bytes.set_len(to - from) };
        bytes
    }

    pub(crate) fn copy_in(&mut self, bytes: &[u8]) {
        let length = bytes.len().min(self.length);
        // SAFETY: both are at least `length` long and distinct allocations.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start, length) };
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let memory = std::ptr::slice_from_raw_parts_mut(self.start, self.length);
        // SAFETY: `start` and `length` come from a box of exactly this slice, freed only here; the
        // owning thread has another buffer by now, or has ended.
        drop(unsafe { Box::from_raw(memory) });
    }
}

/// Records that were handed over.
pub(crate) enum Records {
    Copied(Vec<u8>),
    Whole(WholeBuffer),
}

/// A buffer that was handed over; it goes back to the pool when its records are no longer needed.
pub(crate) struct WholeBuffer {
    /// `None` only while it is dropped.
    buffer: Option<Buffer>,
    records: Range<usize>,
    pool: Arc<Pool>,
}

impl Records {
    /// The records at a place of a buffer that no thread of the program writes to any more.
    pub(crate) fn whole(buffer: Buffer, records: Range<usize>, pool: &Arc<Pool>) -> Records {
        Records::Whole(WholeBuffer {
            records: records.start..records.end.min(buffer.length),
            buffer: Some(buffer),
            pool: Arc::clone(pool),
        })
    }

    /// Memory that the records keep in use.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Records::Copied(bytes) => bytes.len(),
            Records::Whole(whole) => whole.buffer.as_ref().map_or(0, |buffer| buffer.length),
        }
    }
}

impl Deref for Records {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Records::Copied(bytes) => bytes,
            Records::Whole(whole) => {
                let bytes = whole.buffer.as_ref().map_or(&[][..], Buffer::bytes);
                bytes.get(whole.records.clone()).unwrap_or_default()
            }
        }
    }
}

impl Drop for WholeBuffer {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.pool.give_back(buffer);
        }
    }
}

/// Empty buffers of the usual size, whose memory the system need not provide and clear again.
#[derive(Default)]
pub(crate) struct Pool(Mutex<Vec<Buffer>>);

/// Buffers that are kept: 2 MB. While more are on their way to the disk the disk is the limit.
const MOST_POOLED: usize = 16;

impl Pool {
    /// An empty buffer of at least so many bytes.
    pub(crate) fn take(&self, size: usize) -> Buffer {
        let pooled = match size <= LATER_BUFFER {
            true => self.0.lock_safe().pop(),
            false => None,
        };
        pooled.unwrap_or_else(|| Buffer::new(size.max(LATER_BUFFER)))
    }

    fn give_back(&self, buffer: Buffer) {
        let mut pool = self.0.lock_safe();
        if buffer.length == LATER_BUFFER && pool.len() < MOST_POOLED {
            pool.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_keeps_few_buffers_and_those_of_the_usual_size_only() {
        let pool = Pool::default();
        pool.give_back(Buffer::new(FIRST_BUFFER));
        pool.give_back(Buffer::new(2 * LATER_BUFFER));
        assert!(pool.0.lock_safe().is_empty());
        for _ in 0..2 * MOST_POOLED {
            pool.give_back(Buffer::new(LATER_BUFFER));
        }
        assert_eq!(pool.0.lock_safe().len(), MOST_POOLED);
        assert_eq!(pool.take(2 * LATER_BUFFER).length, 2 * LATER_BUFFER);
        assert_eq!(pool.take(1).length, LATER_BUFFER);
    }
}
