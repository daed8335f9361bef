//! Walks the events of a recording in global order: merges the blocks of the threads by turn.
//!
//! Memory is bounded: of each thread at most one block is in memory, and all of them together
//! stay within a budget; beyond it, blocks whose turn is far away are dropped and read again.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt;

use culprit_model::{Event, EventIndex, EventKind, SiteId, ThreadId, Turn};

use crate::allowance::Allowance;
use crate::block::Tag;
use crate::codec::{Cursor, Malformed};
use crate::error::Error;
use crate::need::GAP_FORGOTTEN;
use crate::record::{Layout, Record, record};
use crate::recording::{EventsBlock, Recording};
use crate::source::BlockReader;

/// Bytes of decompressed records kept in memory.
const BUDGET: usize = 96 << 20;

/// An event without its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventHead {
    /// Place in the global order.
    pub index: EventIndex,
    /// The thread.
    pub thread: ThreadId,
    /// The turn.
    pub turn: Turn,
    /// Place among the events of the thread.
    pub ordinal: u64,
    /// The kind of the event.
    pub kind: EventKind,
    /// Its site. An exception that ends a call from before the first event has site 0.
    pub site: SiteId,
    /// Crossings of the thread that were open before the event. A return or throw therefore has
    /// a depth one higher than its call.
    pub depth: u32,
}

/// A place where events were dropped while recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    /// Place in the global order of the event that follows.
    pub before: EventIndex,
    /// The thread that lost events.
    pub thread: ThreadId,
    /// Why.
    pub reason: GapReason,
    /// The number of missing events.
    pub count: u64,
}

/// Why events are missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GapReason {
    /// Only the last events were to be kept.
    Forgotten,
    /// A reason that this version does not know, by its number.
    Unknown(u32),
}

impl fmt::Display for GapReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GapReason::Forgotten => write!(f, "forgotten"),
            GapReason::Unknown(number) => write!(f, "unknown ({number})"),
        }
    }
}

/// One step of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanStep {
    /// An event.
    Event(EventHead),
    /// A gap.
    Gap(Gap),
}

/// Walks a recording. After a step that is an event, its values can be had from `event`.
pub struct Scan<'r> {
    recording: &'r Recording,
    reader: BlockReader,
    lanes: Vec<Lane>,
    /// Lanes with records left, but for the current one, by their next turn.
    queue: BinaryHeap<Reverse<(Turn, usize)>>,
    current: Option<usize>,
    /// The place of the values of the last event.
    values: Option<Values>,
    next_index: u64,
    /// Sites of open calls that are kept, of all lanes.
    open_calls: usize,
    resident: usize,
    budget: usize,
    spare: Vec<Vec<u8>>,
    /// For what is only looked at.
    unlimited: Allowance,
    failed: bool,
}

/// The records of one thread.
struct Lane {
    thread: ThreadId,
    /// Places in `Recording::events`.
    blocks: Vec<usize>,
    /// The current one among them.
    block: usize,
    /// Its records, unless they were dropped to save memory.
    raw: Option<Vec<u8>>,
    /// Bytes of them that are done.
    done: usize,
    /// Events of the block that are done.
    seen: u32,
    /// Events that are missing in the gaps of the block before them.
    missing: u64,
    /// Place of the block's first event, by the blocks before it.
    next: u64,
    turn: Turn,
    open: OpenCalls,
}

/// The calls of a thread that are open.
#[derive(Default)]
struct OpenCalls {
    /// The sites of the inner ones, outermost first.
    sites: Vec<SiteId>,
    /// The number of open calls around them whose sites are unknown.
    outer: u32,
}

/// Open calls of all threads whose sites are kept. Java stacks are shallower; a recording that lost the ends
/// of calls may seem deeper.
const MAX_OPEN: usize = 1 << 22;

/// Open calls of each thread whose sites are always kept.
const FEW_OPEN: usize = 1 << 10;

impl OpenCalls {
    fn depth(&self) -> u32 {
        self.outer.saturating_add(self.sites.len() as u32)
    }

    fn innermost(&self) -> Option<SiteId> {
        self.sites.last().copied()
    }

    /// Notes an event of the thread. `all` is the number of sites that are kept for all threads.
    fn note(&mut self, kind: EventKind, site: SiteId, all: &mut usize) {
        match kind {
            EventKind::IncomingCall | EventKind::OutgoingCall => {
                if *all >= MAX_OPEN && self.sites.len() >= FEW_OPEN {
                    let forgotten = self.sites.len() / 2;
                    self.sites.drain(..forgotten);
                    self.sites.shrink_to_fit();
                    self.outer = self.outer.saturating_add(forgotten as u32);
                    *all -= forgotten;
                }
                self.sites.push(site);
                *all += 1;
            }
            EventKind::IncomingReturn
            | EventKind::IncomingThrow
            | EventKind::OutgoingReturn
            | EventKind::OutgoingThrow => self.close(1, all),
            _ => {}
        }
    }

    fn close(&mut self, calls: u32, all: &mut usize) {
        let inner = self.sites.len().min(calls as usize);
        self.sites.truncate(self.sites.len() - inner);
        *all -= inner;
        if self.sites.capacity() > FEW_OPEN.max(4 * self.sites.len()) {
            self.sites.shrink_to(2 * self.sites.len());
        }
        self.outer = self.outer.saturating_sub(calls - inner as u32);
    }
}

/// The values of an event that was stepped to, but not over.
struct Values {
    lane: usize,
    kind: EventKind,
    /// Its place; `None` for an event whose site is not known.
    layout: Option<usize>,
    start: usize,
}

impl<'r> Scan<'r> {
    pub(crate) fn new(recording: &'r Recording) -> Scan<'r> {
        let mut threads: BTreeMap<ThreadId, Vec<usize>> = BTreeMap::new();
        for (place, events) in recording.events.iter().enumerate() {
            threads.entry(events.head.thread).or_default().push(place);
        }
        let lanes: Vec<Lane> = threads
            .into_iter()
            .map(|(thread, blocks)| Lane {
                thread,
                turn: recording.events[blocks[0]].head.turn,
                blocks,
                block: 0,
                raw: None,
                done: 0,
                seen: 0,
                missing: 0,
                next: 0,
                open: OpenCalls::default(),
            })
            .collect();
        let queue = lanes
            .iter()
            .enumerate()
            .map(|(place, lane)| Reverse((lane.turn, place)))
            .collect();
        Scan {
            recording,
            // Creating it fails only for lack of memory, like any other allocation.
            reader: BlockReader::new().expect("memory for a decompression context"),
            lanes,
            queue,
            current: None,
            values: None,
            next_index: 0,
            open_calls: 0,
            resident: 0,
            budget: BUDGET,
            spare: Vec::new(),
            unlimited: Allowance::unlimited(),
            failed: false,
        }
    }

    /// The next event or gap; `None` at the end. Nothing follows an error.
    pub fn step(&mut self) -> Option<Result<ScanStep, Error>> {
        if self.failed {
            return None;
        }
        let result = self.advance().transpose();
        self.failed = !matches!(result, Some(Ok(_)));
        result
    }

    /// The event of the last step, with its values. Can be asked once.
    ///
    /// # Panics
    /// If `head` is not what the last call of `step` returned.
    pub fn event(&mut self, head: &EventHead) -> Result<Event, Error> {
        let values = self
            .values
            .as_ref()
            .filter(|_| head.index.0 + 1 == self.next_index)
            .expect("the head of the last step");
        let lane = &self.lanes[values.lane];
        let raw = lane.raw.as_deref().unwrap_or_default();
        let allowance = Allowance::of_file(self.recording.bytes());
        let rest = raw.get(values.start..).unwrap_or_default();
        let mut cursor = Cursor::new(rest, &allowance);
        let decoded = layout(self.recording, values.layout).values(
            values.kind,
            &mut cursor,
            self.recording.types(),
        );
        match decoded {
            Ok(decoded) => {
                let (lane, done) = (values.lane, raw.len() - cursor.left());
                self.lanes[lane].done = done;
                self.values = None;
                Ok(Event {
                    index: head.index,
                    thread: head.thread,
                    turn: head.turn,
                    ordinal: head.ordinal,
                    kind: head.kind,
                    site: head.site,
                    values: decoded,
                    depth: head.depth,
                })
            }
            Err(error) => {
                self.failed = true;
                Err(self.damaged(values.lane, error))
            }
        }
    }

    fn damaged(&self, lane: usize, error: Malformed) -> Error {
        self.recording
            .damaged(&self.events_block(lane).block, error)
    }

    fn events_block(&self, lane: usize) -> &'r EventsBlock {
        let lane = &self.lanes[lane];
        &self.recording.events[lane.blocks[lane.block]]
    }

    fn advance(&mut self) -> Result<Option<ScanStep>, Error> {
        self.skip_values()?;
        loop {
            let lane = match self.current {
                Some(lane) => lane,
                None => match self.queue.pop() {
                    Some(Reverse((_, lane))) => {
                        self.current = Some(lane);
                        lane
                    }
                    None => return Ok(None),
                },
            };
            if self.lanes[lane].raw.is_none() {
                self.load(lane)?;
            }
            match self.record(lane) {
                Ok(Some(NextStep::Step(step))) => return Ok(Some(step)),
                Ok(Some(NextStep::Turn)) => self.yield_turn(lane),
                Ok(Some(NextStep::Nothing)) => {}
                Ok(None) => self.next_block(lane),
                Err(error) => return Err(self.damaged(lane, error)),
            }
        }
    }

    fn skip_values(&mut self) -> Result<(), Error> {
        let Some(values) = self.values.take() else {
            return Ok(());
        };
        let lane = &mut self.lanes[values.lane];
        let raw = lane.raw.as_deref().unwrap_or_default();
        let rest = raw.get(values.start..).unwrap_or_default();
        let mut cursor = Cursor::new(rest, &self.unlimited);
        let skipped = layout(self.recording, values.layout).skip(
            values.kind,
            &mut cursor,
            self.recording.types(),
        );
        lane.done = raw.len() - cursor.left();
        skipped.map_err(|error| self.damaged(values.lane, error))
    }

    /// Reads one record of the lane; `None` at the end of its block.
    fn record(&mut self, place: usize) -> Result<Option<NextStep>, Malformed> {
        let block = self.events_block(place);
        let lane = &mut self.lanes[place];
        let raw = lane.raw.as_deref().unwrap_or_default();
        let rest = raw.get(lane.done..).unwrap_or_default();
        let mut cursor = Cursor::new(rest, &self.unlimited);
        if cursor.is_empty() {
            return if lane.seen == block.head.count {
                Ok(None)
            } else {
                Err(Malformed("as many events as counted"))
            };
        }
        let found = record(&mut cursor)?;
        let done = raw.len() - cursor.left();
        lane.done = done;
        Ok(Some(match found {
            Record::Event(kind, site) => {
                if lane.seen == block.head.count {
                    return Err(Malformed("as many events as counted"));
                }
                // Probes that see an exception arrive do not know which call it ends: site 0 is
                // the innermost open one. Of a call before the first event nothing is known.
                let site = match site {
                    SiteId(0) => lane.open.innermost().unwrap_or_default(),
                    site => site,
                };
                let layout = self.recording.sites().place(site.0);
                if layout.is_none() && site != SiteId(0) {
                    return Err(Malformed("a defined site"));
                }
                let head = EventHead {
                    index: EventIndex(self.next_index),
                    thread: lane.thread,
                    turn: lane.turn,
                    ordinal: block
                        .head
                        .ordinal
                        .wrapping_add(lane.missing)
                        .wrapping_add(lane.seen.into()),
                    kind,
                    site,
                    depth: lane.open.depth(),
                };
                lane.seen += 1;
                lane.open.note(kind, site, &mut self.open_calls);
                self.next_index += 1;
                self.values = Some(Values {
                    lane: place,
                    kind,
                    layout,
                    start: done,
                });
                NextStep::Step(ScanStep::Event(head))
            }
            Record::Turn(turn) => {
                lane.turn = turn;
                NextStep::Turn
            }
            Record::Unwound(crossings) => {
                lane.open.close(crossings, &mut self.open_calls);
                NextStep::Nothing
            }
            Record::Gap { reason, count } => {
                lane.missing = lane.missing.wrapping_add(count);
                NextStep::Step(ScanStep::Gap(Gap {
                    before: EventIndex(self.next_index),
                    thread: lane.thread,
                    reason: match reason {
                        GAP_FORGOTTEN => GapReason::Forgotten,
                        other => GapReason::Unknown(other),
                    },
                    count,
                }))
            }
            Record::Pad => NextStep::Nothing,
        }))
    }

    /// Lets another lane go on if its turn comes first.
    fn yield_turn(&mut self, lane: usize) {
        let key = (self.lanes[lane].turn, lane);
        if self.queue.peek().is_some_and(|Reverse(next)| *next < key) {
            self.queue.push(Reverse(key));
            self.current = None;
        }
    }

    fn next_block(&mut self, place: usize) {
        self.unload(place);
        let head = self.events_block(place).head;
        let lane = &mut self.lanes[place];
        lane.next = lane
            .next
            .wrapping_add(lane.missing)
            .wrapping_add(head.count.into());
        lane.done = 0;
        lane.seen = 0;
        lane.missing = 0;
        lane.block += 1;
        match lane.blocks.get(lane.block) {
            Some(block) => {
                lane.turn = self.recording.events[*block].head.turn;
                self.yield_turn(place);
            }
            None => self.current = None,
        }
    }

    fn load(&mut self, place: usize) -> Result<(), Error> {
        let EventsBlock { block, head } = *self.events_block(place);
        if head.ordinal != self.lanes[place].next {
            let expected =
                Malformed("the next event of its thread, or a gap that says what is lost");
            return Err(self.damaged(place, expected));
        }
        let needed = block.header.raw_length as usize;
        while self.resident + needed > self.budget {
            // The block that will be needed last goes first.
            let victim = (0..self.lanes.len())
                .filter(|lane| *lane != place && self.lanes[*lane].raw.is_some())
                .max_by_key(|lane| self.lanes[*lane].turn);
            match victim {
                Some(victim) => self.unload(victim),
                None => break,
            }
        }
        let mut raw = self.spare.pop().unwrap_or_default();
        self.recording
            .load_with(&mut self.reader, &block, Tag::Events, &mut raw)?;
        self.resident += raw.len();
        self.lanes[place].raw = Some(raw);
        Ok(())
    }

    fn unload(&mut self, place: usize) {
        if let Some(raw) = self.lanes[place].raw.take() {
            self.resident -= raw.len();
            if self.spare.is_empty() {
                self.spare.push(raw);
            }
        }
    }
}

enum NextStep {
    Step(ScanStep),
    Turn,
    Nothing,
}

fn layout(recording: &Recording, place: Option<usize>) -> &Layout {
    match place {
        Some(place) => &recording.layouts[place],
        None => &Layout::UNKNOWN,
    }
}

/// All events without their values, in global order.
pub struct Heads<'r> {
    scan: Scan<'r>,
}

impl<'r> Heads<'r> {
    pub(crate) fn new(scan: Scan<'r>) -> Heads<'r> {
        Heads { scan }
    }
}

impl Iterator for Heads<'_> {
    type Item = Result<EventHead, Error>;

    fn next(&mut self) -> Option<Result<EventHead, Error>> {
        loop {
            match self.scan.step()? {
                Ok(ScanStep::Event(head)) => return Some(Ok(head)),
                Ok(ScanStep::Gap(_)) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventsHead, RecordBuffer, Start, Writer};
    use culprit_model::{Member, Reference, Site, SiteKind, Value};

    fn site(id: u32) -> Site {
        Site {
            id: SiteId(id),
            kind: SiteKind::Entry,
            class: "A".to_owned(),
            method: "f".to_owned(),
            descriptor: "(I)V".to_owned(),
            line: None,
            target: Member {
                owner: "A".to_owned(),
                name: "f".to_owned(),
                descriptor: "(I)V".to_owned(),
            },
            is_static: true,
            source: None,
        }
    }

    fn recording(buffer: &RecordBuffer) -> Recording {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.start(&Start::default()).unwrap();
        writer.sites(&[site(1), site(2)]).unwrap();
        let head = EventsHead {
            count: buffer.events(),
            ..EventsHead::default()
        };
        writer.events(head, buffer.bytes()).unwrap();
        Recording::from_bytes("memory", writer.into_store().unwrap()).unwrap()
    }

    #[test]
    fn site_0_is_the_innermost_open_call() {
        let thrown = [Value::Reference(Reference::Null)];
        let call = [Value::Int(1)];
        let mut buffer = RecordBuffer::new();
        buffer.event(EventKind::OutgoingThrow, SiteId(0), &thrown);
        buffer.event(EventKind::IncomingCall, SiteId(1), &call);
        buffer.event(EventKind::OutgoingCall, SiteId(2), &call);
        buffer.event(EventKind::OutgoingThrow, SiteId(0), &thrown);
        buffer.event(EventKind::OutgoingCall, SiteId(2), &call);
        buffer.unwound(1);
        buffer.event(EventKind::IncomingThrow, SiteId(0), &thrown);
        let recording = recording(&buffer);
        let found: Vec<(u32, u32)> = recording
            .events()
            .map(|event| event.map(|e| (e.site.0, e.depth)).unwrap())
            .collect();
        assert_eq!(found, [(0, 0), (1, 0), (2, 1), (2, 2), (2, 1), (1, 1)]);
    }

    #[test]
    fn site_0_outside_any_call_is_only_for_events_that_need_no_site() {
        let mut buffer = RecordBuffer::new();
        buffer.event(EventKind::IncomingCall, SiteId(0), &[Value::Int(1)]);
        let recording = recording(&buffer);
        assert!(recording.events().next().unwrap().is_err());
    }

    #[test]
    fn calls_that_never_end_do_not_fill_the_memory() {
        let mut open = OpenCalls::default();
        let mut all = 0;
        let calls = MAX_OPEN as u32 * 2 + 5;
        for _ in 0..calls {
            open.note(EventKind::IncomingCall, SiteId(1), &mut all);
        }
        assert_eq!(open.depth(), calls);
        assert!(open.sites.len() <= MAX_OPEN);
        open.close(calls - 1, &mut all);
        assert_eq!((open.depth(), open.innermost()), (1, None));
        open.close(7, &mut all);
        assert_eq!(open.depth(), 0);
    }

    #[test]
    fn events_are_the_same_when_blocks_must_be_dropped_and_read_again() {
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.start(&Start::default()).unwrap();
        writer.sites(&[site(1)]).unwrap();
        for thread in 0..3u32 {
            let mut buffer = RecordBuffer::new();
            for round in 0..50u64 {
                buffer.turn(Turn(round * 3 + u64::from(thread)));
                let value = Value::Int((round * 3) as i32 + thread as i32);
                buffer.event(EventKind::IncomingCall, SiteId(1), &[value]);
            }
            let head = EventsHead {
                thread: ThreadId(thread),
                count: 50,
                ..EventsHead::default()
            };
            writer.events(head, buffer.bytes()).unwrap();
        }
        let bytes = writer.into_store().unwrap();
        let recording = Recording::from_bytes("memory", bytes).unwrap();
        let mut scan = recording.scan();
        scan.budget = 1;
        for expected in 0..150 {
            let Some(Ok(ScanStep::Event(head))) = scan.step() else {
                panic!("event {expected} is missing");
            };
            let event = scan.event(&head).unwrap();
            assert_eq!(event.values, [Value::Int(expected)]);
            let resident = scan.lanes.iter().filter(|l| l.raw.is_some()).count();
            assert_eq!(resident, 1);
        }
        assert!(scan.step().is_none());
    }
}
