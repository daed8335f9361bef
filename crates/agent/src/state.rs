//! Thread states: the memory that the Java runtime and the agent share. Owns the region of
//! states, the table from Java thread ids to states, the order cell, and the buffers.
//!
//! The layout here and the offsets in `State.java` are the same thing twice; a test compares
//! them. The program's thread writes records and publishes them by one release store of
//! `published`; everything else about a buffer is touched under the thread's slot lock.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};

use culprit_model::{ThreadId, Turn};
use culprit_trace::EventsHead;

use crate::buffer::{Buffer, FIRST_BUFFER, LATER_BUFFER, Pool, RESERVE, Records};
use crate::lock::{LockSafe, ShareSafe};

/// Bytes of a state; the token arithmetic of the runtime relies on it.
pub(crate) const STATE_SIZE: usize = 256;
/// States at most, by the 24 bits a token has for the index. The region is reserved address
/// space: a page is used only once a state in it is.
const MOST_STATES: usize = 1 << 24;
/// With less address space than for these, nothing is recorded.
const FEWEST_STATES: usize = 1 << 12;
/// Slots of the table, a power of two. Of two live threads with the same slot the first has it;
/// the other asks the agent each time.
pub(crate) const TABLE_SIZE: usize = 1 << 16;
/// Bytes of a slot: the id of the thread, then its word (index, depth), or 0.
const SLOT_SIZE: usize = 16;
/// Object ids are handed to threads in ranges of this size.
const ID_RANGE: u64 = 4096;

/// One thread's state. Fields without an atomic type are touched by the owning thread only.
#[repr(C, align(256))]
pub(crate) struct ThreadState {
    position: AtomicU64,
    /// Events in the buffer (upper half) and bytes of whole records in it (lower half).
    published: AtomicU64,
    base: AtomicU64,
    limit: AtomicU64,
    depth: AtomicI32,
    index: AtomicI32,
    next_id: AtomicU64,
    last_id: AtomicU64,
    turn: AtomicU64,
    sample: AtomicI32,
    sample_count: AtomicI32,
    /// Address of the thread's slot in the table, or of `own_slot` where two threads have the same.
    slot: AtomicU64,
    /// The thread has muted itself; written by the thread.
    muted: AtomicI32,
    /// Capture has ended; written by the agent. The runtime reads both words at once.
    stopped: AtomicI32,
    /// The next observed constructor to be entered is called by `this(...)` or `super(...)` of an
    /// incoming one.
    chained: AtomicI32,
    /// Outermost calls and accesses that were left out by `--sample`.
    left_out: AtomicU64,
    /// On replay, what observed code is answered if it is a scalar.
    answer: AtomicU64,
    /// What the next object carries that an observed constructor makes on this thread.
    births: AtomicU64,
    /// Events of the thread in buffers before this one.
    events: AtomicU64,
    /// How many events there were when the thread last compared two equal strings, and how many such
    /// comparisons in a row there were since.
    alike_since: AtomicU64,
    alike: AtomicU64,
    own_slot: [AtomicU64; 2],
}

/// Names and offsets of the fields that the runtime knows, for the test that compares them.
#[cfg(test)]
pub(crate) const LAYOUT: [(&str, usize); 20] = [
    ("POSITION", std::mem::offset_of!(ThreadState, position)),
    ("PUBLISHED", std::mem::offset_of!(ThreadState, published)),
    ("BASE", std::mem::offset_of!(ThreadState, base)),
    ("LIMIT", std::mem::offset_of!(ThreadState, limit)),
    ("DEPTH", std::mem::offset_of!(ThreadState, depth)),
    ("INDEX", std::mem::offset_of!(ThreadState, index)),
    ("NEXT_ID", std::mem::offset_of!(ThreadState, next_id)),
    ("LAST_ID", std::mem::offset_of!(ThreadState, last_id)),
    ("TURN", std::mem::offset_of!(ThreadState, turn)),
    ("SAMPLE", std::mem::offset_of!(ThreadState, sample)),
    (
        "SAMPLE_COUNT",
        std::mem::offset_of!(ThreadState, sample_count),
    ),
    ("SLOT", std::mem::offset_of!(ThreadState, slot)),
    ("MUTED", std::mem::offset_of!(ThreadState, muted)),
    ("CHAINED", std::mem::offset_of!(ThreadState, chained)),
    ("LEFT_OUT", std::mem::offset_of!(ThreadState, left_out)),
    ("ANSWER", std::mem::offset_of!(ThreadState, answer)),
    ("BIRTHS", std::mem::offset_of!(ThreadState, births)),
    ("EVENTS", std::mem::offset_of!(ThreadState, events)),
    (
        "ALIKE_SINCE",
        std::mem::offset_of!(ThreadState, alike_since),
    ),
    ("ALIKE", std::mem::offset_of!(ThreadState, alike)),
];

/// What the first object carries that an observed constructor makes on a thread: the marks that
/// `Identity.java` knows, and the thread above the number.
fn first_birth(thread: ThreadId) -> u64 {
    const BORN: u64 = 1 << 62;
    const BIRTH: u64 = 1 << 61;
    const NUMBER_BITS: u32 = 36;
    BORN | (u64::from(thread.0) << NUMBER_BITS & (BIRTH - 1)) | BIRTH
}

/// A run of whole records of one thread.
pub(crate) struct Chunk {
    pub(crate) head: EventsHead,
    pub(crate) records: Records,
}

/// The agent's side of a thread: its buffer and how much of it was handed over.
struct ThreadSlot {
    thread: ThreadId,
    buffer: Buffer,
    /// Bytes and events of the buffer that were handed over already.
    drained: u32,
    drained_events: u32,
    /// Events handed over from all buffers.
    ordinal: u64,
    /// The turn in force where the next chunk starts.
    turn: u64,
    /// Calls left out that were counted already.
    left_out: u64,
    /// The thread has ended and its state may belong to another by now.
    ended: bool,
}

/// All thread states.
pub(crate) struct States {
    /// States that there is address space for.
    most: usize,
    region: Region,
    table: Region,
    order: Box<AtomicU64>,
    slots: RwLock<Vec<Option<Arc<Mutex<ThreadSlot>>>>>,
    pool: Arc<Pool>,
    threads: Mutex<Threads>,
    next_object: AtomicU64,
    left_out: AtomicU64,
    gated: AtomicBool,
}

#[derive(Default)]
struct Threads {
    by_tid: BTreeMap<i64, u32>,
    free: Vec<u32>,
    next: u32,
    stopped: bool,
    sample: i32,
}

impl States {
    pub(crate) fn new(sample: Option<u32>) -> std::io::Result<States> {
        let (most, region) = reserve_states(MOST_STATES)?;
        let table = Region::usable(SLOT_SIZE * TABLE_SIZE)?;
        Ok(States {
            most,
            region,
            table,
            order: Box::new(AtomicU64::new(0)),
            slots: RwLock::new(vec![None]),
            pool: Arc::default(),
            threads: Mutex::new(Threads {
                sample: sample.map_or(0, |k| i32::try_from(k).unwrap_or(i32::MAX)),
                ..Threads::default()
            }),
            next_object: AtomicU64::new(1),
            left_out: AtomicU64::new(0),
            gated: AtomicBool::new(false),
        })
    }

    pub(crate) fn region_address(&self) -> i64 {
        self.region.start as i64
    }

    pub(crate) fn table_address(&self) -> i64 {
        self.table.start as i64
    }

    pub(crate) fn order_address(&self) -> i64 {
        &raw const *self.order as i64
    }

    fn state(&self, index: u32) -> &ThreadState {
        let offset = (index as usize & (MOST_STATES - 1)) * STATE_SIZE;
        // SAFETY: the offset is inside the reserved region.
        let state = unsafe { self.region.start.add(offset) }.cast::<ThreadState>();
        // SAFETY: the region is zeroed, aligned to pages and never unmapped; every field of a state
        // is an atomic, for which any bits are valid.
        unsafe { &*state }
    }

    fn index_of(&self, state: i64) -> u32 {
        ((state - self.region_address()) as usize / STATE_SIZE) as u32
    }

    fn slot(&self, index: u32) -> Option<Arc<Mutex<ThreadSlot>>> {
        self.slots
            .lock_read()
            .get(index as usize)
            .cloned()
            .flatten()
    }

    /// The word of a thread, and its number if this is its first event.
    pub(crate) fn attach(&self, tid: i64) -> (i64, Option<ThreadId>) {
        let mut threads = self.threads.lock_safe();
        let (index, new) = match threads.by_tid.get(&tid) {
            Some(&index) => (index, None),
            None => match self.new_thread(&mut threads, tid) {
                Some((index, thread)) => (index, Some(thread)),
                None => return (0, None),
            },
        };
        (self.word(index), new)
    }

    /// The address of the state of a thread, if it has one.
    pub(crate) fn address(&self, tid: i64) -> Option<i64> {
        let index = *self.threads.lock_safe().by_tid.get(&tid)?;
        Some(self.region_address() + i64::from(index) * STATE_SIZE as i64)
    }

    /// What the runtime finds in a slot: index and depth of the thread, or 0 while it is silent.
    fn word(&self, index: u32) -> i64 {
        let state = self.state(index);
        let silent =
            state.muted.load(Ordering::Relaxed) != 0 || state.stopped.load(Ordering::Relaxed) != 0;
        let depth = state.depth.load(Ordering::Relaxed);
        if silent {
            0
        } else {
            i64::from(index) << 32 | i64::from(depth)
        }
    }

    fn table_slot(&self, tid: i64) -> &[AtomicU64; 2] {
        let offset = (tid as usize & (TABLE_SIZE - 1)) * SLOT_SIZE;
        // SAFETY: the offset is inside the table's region.
        let slot = unsafe { self.table.start.add(offset) }.cast::<[AtomicU64; 2]>();
        // SAFETY: the region is zeroed, aligned to pages and never unmapped.
        unsafe { &*slot }
    }

    /// Gives a thread its slot in the table, or one of its own if that is taken.
    fn claim_slot(&self, index: u32, tid: i64) {
        let state = self.state(index);
        let shared = self.table_slot(tid);
        let free = shared[0].load(Ordering::Relaxed) == 0;
        let slot = if free { shared } else { &state.own_slot };
        state.slot.store(slot.as_ptr() as u64, Ordering::Relaxed);
        slot[1].store(self.word(index) as u64, Ordering::Relaxed);
        slot[0].store(tid as u64, Ordering::Release);
    }

    /// Takes the slot of a thread that has ended back.
    fn free_slot(&self, tid: i64) {
        let shared = self.table_slot(tid);
        if shared[0].load(Ordering::Relaxed) == tid as u64 {
            shared[1].store(0, Ordering::Relaxed);
            shared[0].store(0, Ordering::Release);
        }
    }

    fn new_thread(&self, threads: &mut Threads, tid: i64) -> Option<(u32, ThreadId)> {
        let mut slots = self.slots.lock_write();
        let index = match threads.free.pop() {
            Some(index) => index,
            None if slots.len() < self.most => {
                let needed = (slots.len() + 1) * STATE_SIZE;
                self.region.commit(needed).ok()?;
                slots.push(None);
                slots.len() as u32 - 1
            }
            None => return None,
        };
        threads.next += 1;
        let thread = ThreadId(threads.next);
        let slot = ThreadSlot {
            thread,
            buffer: Buffer::new(FIRST_BUFFER),
            drained: 0,
            drained_events: 0,
            ordinal: 0,
            turn: 0,
            left_out: 0,
            ended: false,
        };
        let state = self.state(index);
        state.aim(&slot.buffer, 0, self.is_gated());
        state.depth.store(0, Ordering::Relaxed);
        state.index.store(index as i32, Ordering::Relaxed);
        state.next_id.store(0, Ordering::Relaxed);
        state.last_id.store(0, Ordering::Relaxed);
        state.turn.store(0, Ordering::Relaxed);
        state.sample.store(threads.sample, Ordering::Relaxed);
        state.sample_count.store(0, Ordering::Relaxed);
        state.muted.store(0, Ordering::Relaxed);
        state.chained.store(0, Ordering::Relaxed);
        state.left_out.store(0, Ordering::Relaxed);
        state.births.store(first_birth(thread), Ordering::Relaxed);
        state.events.store(0, Ordering::Relaxed);
        state.alike_since.store(0, Ordering::Relaxed);
        state.alike.store(0, Ordering::Relaxed);
        state
            .stopped
            .store(i32::from(threads.stopped), Ordering::Relaxed);
        self.claim_slot(index, tid);
        *slots.get_mut(index as usize)? = Some(Arc::new(Mutex::new(slot)));
        threads.by_tid.insert(tid, index);
        Some((index, thread))
    }

    /// A thread has ended: its last records, and its state is free for another.
    pub(crate) fn detach(&self, tid: i64) -> Option<(ThreadId, Option<Chunk>)> {
        let mut threads = self.threads.lock_safe();
        let index = threads.by_tid.remove(&tid)?;
        let slot = self.slots.lock_write().get_mut(index as usize)?.take()?;
        let last = {
            let mut slot = slot.lock_safe();
            let chunk = self.drain_slot(index, &mut slot);
            slot.ended = true;
            (slot.thread, chunk)
        };
        self.free_slot(tid);
        self.end_turn(index);
        threads.free.push(index);
        Some(last)
    }

    /// If the state had the last event, its next owner must not continue that turn.
    fn end_turn(&self, index: u32) {
        let seen = self.order.load(Ordering::Relaxed);
        if seen & 0xff_ffff == u64::from(index) {
            let next = ((seen >> 24) + 1) << 24;
            let _ = self
                .order
                .compare_exchange(seen, next, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// Called by the owning thread when its buffer is full: what it held, and the state points
    /// to an empty buffer that starts with the record under construction.
    pub(crate) fn flush(&self, address: i64) -> Option<Chunk> {
        let index = self.index_of(address);
        let slot = self.slot(index)?;
        let mut slot = slot.lock_safe();
        let state = self.state(index);
        let base = state.base.load(Ordering::Relaxed);
        let open = base + (state.published.load(Ordering::Relaxed) & 0xffff_ffff);
        let position = state.position.load(Ordering::Relaxed);
        let partial = slot
            .buffer
            .copy_out((open - base) as usize, (position.max(open) - base) as usize);
        let size = LATER_BUFFER.max(2 * partial.len() + 2 * RESERVE);
        let new = self.published_of(index, &mut slot);
        // Where threads are gated a buffer has one record: it stays, and the record is copied.
        let is_full = new
            .as_ref()
            .is_some_and(|new| new.bytes.len() >= slot.buffer.length / 2);
        let chunk = if is_full {
            let empty = self.pool.take(size);
            let full = std::mem::replace(&mut slot.buffer, empty);
            new.map(|new| Chunk {
                head: new.head,
                records: Records::whole(full, new.bytes, &self.pool),
            })
        } else {
            let chunk = new.map(|new| new.copied(&slot.buffer));
            if slot.buffer.length < size {
                slot.buffer = self.pool.take(size);
            }
            chunk
        };
        slot.buffer.copy_in(&partial);
        slot.drained = 0;
        slot.drained_events = 0;
        let events = state.published.load(Ordering::Relaxed) >> 32;
        state.events.fetch_add(events, Ordering::Relaxed);
        state.aim(&slot.buffer, partial.len(), self.is_gated());
        chunk
    }

    /// Gives out ids from 1 again. No thread of the program runs meanwhile.
    pub(crate) fn restart_ids(&self) {
        self.next_object.store(1, Ordering::Relaxed);
        let indices: Vec<u32> = self.threads.lock_safe().by_tid.values().copied().collect();
        for index in indices {
            let state = self.state(index);
            state.next_id.store(0, Ordering::Relaxed);
            state.last_id.store(0, Ordering::Relaxed);
        }
    }

    /// Whether threads ask for room before each record, so that each can be made to wait there.
    pub(crate) fn gate(&self, gated: bool) {
        self.gated.store(gated, Ordering::Relaxed);
    }

    fn is_gated(&self) -> bool {
        self.gated.load(Ordering::Relaxed)
    }

    /// What one thread has published and not handed over yet.
    pub(crate) fn drain(&self, address: i64) -> Option<Chunk> {
        let index = self.index_of(address);
        let slot = self.slot(index)?;
        let mut slot = slot.lock_safe();
        self.drain_slot(index, &mut slot)
    }

    /// Open crossings of a thread.
    pub(crate) fn depth(&self, address: i64) -> i32 {
        let state = self.state(self.index_of(address));
        state.depth.load(Ordering::Relaxed)
    }

    /// Has a thread be as deep in open crossings as the executor says.
    pub(crate) fn set_depth(&self, address: i64, depth: i32) {
        let index = self.index_of(address);
        let state = self.state(index);
        state.depth.store(depth, Ordering::Relaxed);
        let slot = state.slot.load(Ordering::Relaxed) as *const [AtomicU64; 2];
        // SAFETY: every state in use has the address of a slot, in the table or in itself, and neither
        // is ever unmapped.
        let slot = unsafe { &*slot };
        slot[1].store(self.word(index) as u64, Ordering::Relaxed);
    }

    /// Puts a scalar where the runtime takes it from.
    pub(crate) fn answer(&self, address: i64, bits: u64) {
        let state = self.state(self.index_of(address));
        state.answer.store(bits, Ordering::Relaxed);
    }

    /// What the threads have published and not handed over yet.
    pub(crate) fn drain_all(&self) -> Vec<Chunk> {
        let slots: Vec<_> = self.slots.lock_read().iter().cloned().enumerate().collect();
        let mut chunks = Vec::new();
        for (index, slot) in slots {
            if let Some(slot) = slot {
                chunks.extend(self.drain_slot(index as u32, &mut slot.lock_safe()));
            }
        }
        chunks
    }

    fn drain_slot(&self, index: u32, slot: &mut ThreadSlot) -> Option<Chunk> {
        let new = self.published_of(index, slot)?;
        Some(new.copied(&slot.buffer))
    }

    /// The place of the records in a thread's buffer that were published and not handed over yet. The
    /// caller hands them over.
    fn published_of(&self, index: u32, slot: &mut ThreadSlot) -> Option<Published> {
        if slot.ended {
            return None;
        }
        let state = self.state(index);
        let left_out = state.left_out.load(Ordering::Relaxed);
        self.left_out
            .fetch_add(left_out - slot.left_out, Ordering::Relaxed);
        slot.left_out = left_out;
        // The turn that goes with a position: read again until no record came in between. A new
        // turn may be set already whose record is not published yet; then the next chunk starts
        // with that record, and no event of it is misplaced.
        let (published, turn) = loop {
            let before = state.published.load(Ordering::Acquire);
            let turn = state.turn.load(Ordering::Acquire);
            if before == state.published.load(Ordering::Acquire) {
                break (before, turn);
            }
        };
        let (events, bytes) = ((published >> 32) as u32, published as u32);
        if bytes <= slot.drained {
            return None;
        }
        let place = slot.drained as usize..bytes as usize;
        let count = events.wrapping_sub(slot.drained_events);
        let head = EventsHead {
            thread: slot.thread,
            turn: Turn(slot.turn),
            ordinal: slot.ordinal,
            count,
        };
        slot.ordinal += u64::from(count);
        slot.turn = turn;
        slot.drained = bytes;
        slot.drained_events = events;
        Some(Published { head, bytes: place })
    }

    /// Mutes every thread, now and in future: capture has ended.
    pub(crate) fn stop(&self) {
        let mut threads = self.threads.lock_safe();
        threads.stopped = true;
        for index in 1..self.slots.lock_read().len() as u32 {
            self.state(index).stopped.store(1, Ordering::Relaxed);
        }
        // A thread in the midst of a crossing may write its word once more; from then on it finds
        // that it is stopped.
        for (tid, _) in threads.by_tid.iter() {
            let slot = self.table_slot(*tid);
            if slot[0].load(Ordering::Relaxed) == *tid as u64 {
                slot[1].store(0, Ordering::Relaxed);
            }
        }
    }

    /// Outermost calls and accesses that were left out by `--sample`, as far as they were fetched.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// A fresh range of object ids for a thread.
    pub(crate) fn more_ids(&self, address: i64) {
        let first = self.next_object.fetch_add(ID_RANGE, Ordering::Relaxed);
        let state = self.state(self.index_of(address));
        state.next_id.store(first, Ordering::Relaxed);
        state.last_id.store(first + ID_RANGE, Ordering::Relaxed);
    }

    /// The events that a thread has published so far.
    pub(crate) fn event_count(&self, address: i64) -> u64 {
        let state = self.state(self.index_of(address));
        let in_buffer = state.published.load(Ordering::Acquire) >> 32;
        state.events.load(Ordering::Relaxed) + in_buffer
    }

    /// The number of the thread that owns a state.
    pub(crate) fn thread(&self, address: i64) -> Option<ThreadId> {
        let slot = self.slot(self.index_of(address))?;
        let slot = slot.lock_safe();
        Some(slot.thread)
    }
}

/// Records in a buffer that are about to be handed over.
struct Published {
    head: EventsHead,
    bytes: Range<usize>,
}

impl Published {
    fn copied(self, buffer: &Buffer) -> Chunk {
        let bytes = buffer.copy_out(self.bytes.start, self.bytes.end);
        Chunk {
            head: self.head,
            records: Records::Copied(bytes),
        }
    }
}

impl ThreadState {
    /// Points the state to a buffer whose first `open` bytes are a record under construction.
    fn aim(&self, buffer: &Buffer, open: usize, gated: bool) {
        let base = buffer.start as u64;
        self.base.store(base, Ordering::Relaxed);
        let room = if gated { 0 } else { buffer.length - RESERVE };
        self.limit.store(base + room as u64, Ordering::Relaxed);
        self.position.store(base + open as u64, Ordering::Relaxed);
        self.published.store(0, Ordering::Release);
    }
}

/// Address space for as many states as the system allows, up to `most`.
fn reserve_states(most: usize) -> std::io::Result<(usize, Region)> {
    match Region::reserve(STATE_SIZE * most) {
        Ok(region) => Ok((most, region)),
        Err(_) if most > FEWEST_STATES => reserve_states(most / 16),
        Err(error) => {
            let room = (STATE_SIZE * FEWEST_STATES) >> 20;
            Err(std::io::Error::new(
                error.kind(),
                format!(
                    "no address space for {room} MB of thread states: {error}; raise ulimit -v"
                ),
            ))
        }
    }
}

/// Reserved, zeroed address space that lives until the process ends. It can be used as far as it
/// is committed, and only that counts where the system does not overcommit.
pub(crate) struct Region {
    pub(crate) start: *mut u8,
    length: usize,
    committed: AtomicUsize,
}

/// Bytes that are committed at once.
const STEP: usize = 1 << 20;

// SAFETY: the region is shared memory that is never unmapped; all access goes through atomics.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    fn reserve(bytes: usize) -> std::io::Result<Region> {
        // SAFETY: an anonymous private mapping at an address of the kernel's choice touches no
        // existing memory.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Region {
            start: start.cast(),
            length: bytes,
            committed: AtomicUsize::new(0),
        })
    }

    /// Reserves address space and commits all of it.
    pub(crate) fn usable(bytes: usize) -> std::io::Result<Region> {
        let region = Region::reserve(bytes)?;
        region.commit(bytes)?;
        Ok(region)
    }

    /// Makes the first so many bytes usable. Callers take turns.
    fn commit(&self, bytes: usize) -> std::io::Result<()> {
        let done = self.committed.load(Ordering::Relaxed);
        if bytes <= done {
            return Ok(());
        }
        let end = bytes.next_multiple_of(STEP).min(self.length);
        // SAFETY: `done` and `end` are inside the region.
        let from = unsafe { self.start.add(done) };
        let usable = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the pages are our own mapping, and so far nobody uses them.
        if unsafe { libc::mprotect(from.cast(), end - done, usable) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        self.committed.store(end, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Constants of a Java source: `NAME = 12,` and `NAME = 12;`.
    fn java_constant(source: &str, name: &str) -> Option<usize> {
        source.split([',', ';', '\n']).find_map(|part| {
            let (left, right) = part.trim().split_once(" = ")?;
            (left.ends_with(name) && !left.ends_with(&format!("_{name}")))
                .then(|| right.parse().ok())
                .flatten()
        })
    }

    #[test]
    fn the_runtime_has_the_same_layout_of_a_state() {
        let source = include_str!("../../../java/runtime/src/culprit/runtime/State.java");
        for (name, offset) in LAYOUT {
            assert_eq!(java_constant(source, name), Some(offset), "{name}");
        }
        assert_eq!(
            std::mem::offset_of!(ThreadState, stopped),
            std::mem::offset_of!(ThreadState, muted) + 4
        );
        assert_eq!(std::mem::size_of::<ThreadState>(), STATE_SIZE);
    }

    fn publish(states: &States, token: i64, records: &[u8], events: u64) {
        let state = states.state((token >> 32) as u32);
        let published = state.published.load(Ordering::Relaxed);
        let at = state.base.load(Ordering::Relaxed) + (published & 0xffff_ffff);
        // SAFETY: the test writes fewer bytes than the buffer holds, as the runtime would.
        unsafe { std::ptr::copy_nonoverlapping(records.as_ptr(), at as *mut u8, records.len()) };
        let more = (events << 32) + records.len() as u64;
        state.published.store(published + more, Ordering::Release);
        state
            .position
            .store(at + records.len() as u64, Ordering::Release);
    }

    #[test]
    fn what_a_thread_publishes_is_handed_over_once_and_in_order() {
        let states = States::new(None).unwrap();
        let (token, thread) = states.attach(7);
        assert_eq!(thread, Some(ThreadId(1)));
        publish(&states, token, b"one", 1);
        let first = states.drain_all();
        assert_eq!(*first[0].records, *b"one");
        assert_eq!((first[0].head.ordinal, first[0].head.count), (0, 1));
        assert!(states.drain_all().is_empty());
        publish(&states, token, b"two,three", 2);
        let (ended, second) = states.detach(7).unwrap();
        assert_eq!(ended, ThreadId(1));
        let second = second.unwrap();
        assert_eq!(*second.records, *b"two,three");
        assert_eq!((second.head.ordinal, second.head.count), (1, 2));
    }

    #[test]
    fn a_record_under_construction_moves_to_the_new_buffer() {
        let states = States::new(None).unwrap();
        let (token, _) = states.attach(7);
        publish(&states, token, b"whole", 1);
        let state = states.state((token >> 32) as u32);
        let at = state.position.load(Ordering::Relaxed);
        // SAFETY: inside the buffer, as above.
        unsafe { std::ptr::copy_nonoverlapping(b"part".as_ptr(), at as *mut u8, 4) };
        state.position.store(at + 4, Ordering::Relaxed);
        let address = states.region_address() + (token >> 32) * STATE_SIZE as i64;
        let chunk = states.flush(address).unwrap();
        assert_eq!(*chunk.records, *b"whole");
        let base = state.base.load(Ordering::Relaxed);
        assert_eq!(state.position.load(Ordering::Relaxed), base + 4);
        // SAFETY: four bytes were moved to the start of the new buffer.
        let moved = unsafe { std::slice::from_raw_parts(base as *const u8, 4) };
        assert_eq!(moved, b"part");
    }

    #[test]
    fn a_full_buffer_is_handed_over_and_used_again_when_it_was_read() {
        let states = States::new(None).unwrap();
        let (token, _) = states.attach(7);
        let state = states.state((token >> 32) as u32);
        let address = states.region_address() + (token >> 32) * STATE_SIZE as i64;
        let base = || state.base.load(Ordering::Relaxed);
        states.flush(address);
        let (first, records) = (base(), vec![1; LATER_BUFFER - RESERVE]);
        publish(&states, token, &records[..9], 1);
        let begun = states.drain_all();
        assert_eq!(*begun[0].records, records[..9]);
        publish(&states, token, &records[9..], 1);
        let full = states.flush(address).unwrap();
        assert_ne!(base(), first, "the thread writes elsewhere by now");
        publish(&states, token, &vec![2; LATER_BUFFER - RESERVE], 1);
        assert_eq!(*full.records, records[9..]);
        assert_eq!(full.records.memory(), LATER_BUFFER);
        assert_eq!((full.head.ordinal, full.head.count), (1, 1));
        drop(full);
        let next = states.flush(address).unwrap();
        assert_eq!(base(), first, "its memory is used again");
        assert_eq!(*next.records, *vec![2; LATER_BUFFER - RESERVE]);
    }

    #[test]
    fn two_threads_with_one_slot_keep_their_states() {
        let states = States::new(None).unwrap();
        let far = 1 + TABLE_SIZE as i64;
        let (first, _) = states.attach(1);
        let (second, _) = states.attach(far);
        assert_ne!(first, second);
        assert_eq!(states.attach(far), (second, None));
        assert_eq!(states.table_slot(1)[0].load(Ordering::Relaxed), 1);
        assert_eq!(
            states.table_slot(1)[1].load(Ordering::Relaxed),
            first as u64
        );
        states.detach(1);
        states.detach(far);
        let (third, _) = states.attach(far);
        assert_eq!(
            states.table_slot(far)[1].load(Ordering::Relaxed),
            third as u64
        );
    }

    #[test]
    fn a_state_that_is_used_again_starts_a_new_turn() {
        let states = States::new(None).unwrap();
        let (token, _) = states.attach(1);
        let index = (token >> 32) as u64;
        states.order.store(5 << 24 | index, Ordering::Relaxed);
        states.detach(1);
        assert_eq!(states.order.load(Ordering::Relaxed), 6 << 24);
        assert_eq!(states.attach(2), (token, Some(ThreadId(2))));
    }

    #[test]
    fn a_stopped_recorder_gives_no_tokens() {
        let states = States::new(None).unwrap();
        let (token, _) = states.attach(1);
        assert_ne!(token, 0);
        states.stop();
        assert_eq!(states.attach(1), (0, None));
        assert_eq!(states.attach(2).0, 0);
    }
}
