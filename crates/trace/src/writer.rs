//! Writes a recording, whole blocks at a time. Knows the frame and the metadata; the records of
//! the events pass through untouched.
//!
//! Invariant: between two calls the file ends with a whole block, also after a call that failed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use culprit_model::site::TypeDef;
use culprit_model::{BlobId, Caught, Failure, Losses, Site, ThreadId, Turn};
use sha2::{Digest, Sha256};
use zstd::bulk::Compressor;

use crate::block::{
    BATCH, BLOCK_HEADER, BlockHeader, EVENTS_HEAD, FLAG_ZSTD, MAX_BLOCK, MAX_EVENTS, Tag,
    file_header,
};
use crate::codec::Put;
use crate::error::WriteError;
use crate::metadata::{
    BlobKind, ClassDef, End, Ending, LoaderDef, MetadataEntry, Start, ThreadDef, encode_blob,
    encode_class,
};

/// Payloads below this size are not worth a zstd frame.
const COMPRESS_FROM: usize = 64;
/// The fastest level of the main strategy; higher ones cost more than they save here.
const LEVEL: i32 = 1;

/// The blocks whose entries are gathered.
const TABLES: [Tag; 5] = [
    Tag::Loaders,
    Tag::Types,
    Tag::Sites,
    Tag::Threads,
    Tag::Blobs,
];

/// The destination of a recording: bytes are appended, and cut back to the last whole block after a
/// write that failed half-way.
pub trait Store: Write {
    /// Drops everything after the first `length` bytes.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

/// The file must be open for appending, as `Writer::create` opens it.
impl Store for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

impl Store for Vec<u8> {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.truncate(length as usize);
        Ok(())
    }
}

/// The facts about a run of records that are known before decoding them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EventsHead {
    /// The thread they belong to.
    pub thread: ThreadId,
    /// The turn in force before the first record.
    pub turn: Turn,
    /// Place of the first event among the events of the thread.
    pub ordinal: u64,
    /// Number of events; control records do not count.
    pub count: u32,
}

/// Writes one recording.
///
/// Table entries (loaders, types, sites, threads, blobs) are gathered and written before the next
/// block that may need them, or by `flush`.
pub struct Writer<S: Store = File> {
    store: S,
    compressor: Compressor<'static>,
    /// Bytes of the file up to its last whole block.
    written: u64,
    events: u64,
    closed: bool,
    loaders: Vec<u8>,
    types: Vec<u8>,
    sites: Vec<u8>,
    threads: Vec<u8>,
    blobs: Vec<u8>,
    /// Reused: one entry, the block under construction.
    entry: Vec<u8>,
    block: Vec<u8>,
}

impl Writer<File> {
    /// Starts a recording in a new file that only its owner can read. A file that is already
    /// there is an error: recordings are never overwritten.
    pub fn create(path: &Path) -> Result<Writer<File>, WriteError> {
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Writer::new(options.open(path)?)
    }
}

impl<S: Store> Writer<S> {
    /// Starts a recording in an empty store.
    pub fn new(store: S) -> Result<Writer<S>, WriteError> {
        let mut writer = Writer {
            store,
            compressor: Compressor::new(LEVEL)?,
            written: 0,
            events: 0,
            closed: false,
            loaders: Vec::new(),
            types: Vec::new(),
            sites: Vec::new(),
            threads: Vec::new(),
            blobs: Vec::new(),
            entry: Vec::new(),
            block: Vec::new(),
        };
        writer.block.extend_from_slice(&file_header());
        writer.append_block()?;
        Ok(writer)
    }

    /// Bytes in the file.
    pub fn bytes_written(&self) -> u64 {
        self.written
    }

    /// Events in the file.
    pub fn events_written(&self) -> u64 {
        self.events
    }

    /// Writes what is known at the start. Must come first.
    pub fn start(&mut self, start: &Start) -> Result<(), WriteError> {
        self.single(Tag::Start, start)
    }

    /// Defines class loaders.
    pub fn loaders(&mut self, loaders: &[LoaderDef]) -> Result<(), WriteError> {
        self.table(Tag::Loaders, loaders)
    }

    /// Defines run-time classes.
    pub fn types(&mut self, types: &[TypeDef]) -> Result<(), WriteError> {
        self.table(Tag::Types, types)
    }

    /// Defines sites.
    pub fn sites(&mut self, sites: &[Site]) -> Result<(), WriteError> {
        self.table(Tag::Sites, sites)
    }

    /// Defines a thread. The last definition of a thread counts, so a name may be corrected.
    pub fn thread(&mut self, thread: &ThreadDef) -> Result<(), WriteError> {
        self.table(Tag::Threads, std::slice::from_ref(thread))
    }

    /// Stores a class file with its hash.
    pub fn class(&mut self, class: &ClassDef<'_>) -> Result<(), WriteError> {
        self.flush()?;
        let sha256 = Sha256::digest(class.bytes);
        let mut payload = std::mem::take(&mut self.entry);
        payload.clear();
        encode_class(class, &sha256, &mut payload);
        let result = self.write(Tag::Class, "a class", &payload);
        self.entry = payload;
        result
    }

    /// Stores a long string or array content under an id of the caller's.
    pub fn blob(&mut self, id: BlobId, kind: BlobKind, bytes: &[u8]) -> Result<(), WriteError> {
        let mut entry = std::mem::take(&mut self.entry);
        entry.clear();
        encode_blob(id, kind, bytes, &mut entry);
        let result = self.gather(Tag::Blobs, &entry);
        self.entry = entry;
        result
    }

    /// Writes records of one thread, exactly as the Java runtime left them in its buffer. The
    /// slice must start and end between records.
    pub fn events(&mut self, head: EventsHead, records: &[u8]) -> Result<(), WriteError> {
        self.flush()?;
        self.frame_events(Tag::Events, head, records)?;
        self.append_block()?;
        self.events += u64::from(head.count);
        Ok(())
    }

    /// Writes records of before the first events block: what those need that follow.
    pub(crate) fn carry(&mut self, head: EventsHead, records: &[u8]) -> Result<(), WriteError> {
        self.flush()?;
        self.frame_events(Tag::Carry, head, records)?;
        self.append_block()
    }

    /// Marks an exception that made the run fail.
    pub fn failure(&mut self, failure: &Failure) -> Result<(), WriteError> {
        self.single(Tag::Failure, failure)
    }

    /// Notes an exception that was caught. A later entry of the same number replaces this one.
    pub fn caught(&mut self, caught: &Caught) -> Result<(), WriteError> {
        self.single(Tag::Caught, caught)
    }

    /// Says what the recording lacks so far. Each call replaces what the calls before it said.
    pub fn losses(&mut self, losses: &Losses) -> Result<(), WriteError> {
        self.single(Tag::Losses, losses)
    }

    /// Ends the recording in order, with the totals.
    pub fn end(&mut self, ending: &Ending) -> Result<(), WriteError> {
        self.flush()?;
        let end = End {
            reason: ending.reason,
            exit_status: ending.exit_status,
            duration_ms: ending.duration_ms,
            events: self.events,
            bytes: self.written,
        };
        self.single(Tag::End, &end)
    }

    /// Writes the gathered table entries.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        for tag in TABLES {
            self.flush_table(tag)?;
        }
        Ok(())
    }

    /// Forgets the gathered table entries. What was written does not need them; where there is no
    /// room for them, there may be for how the recording ends.
    pub fn forget_gathered(&mut self) {
        for tag in TABLES {
            self.pending(tag).clear();
        }
    }

    /// Writes the gathered table entries and gives the store back.
    pub fn into_store(mut self) -> Result<S, WriteError> {
        self.flush()?;
        Ok(self.store)
    }

    fn single(&mut self, tag: Tag, value: &impl MetadataEntry) -> Result<(), WriteError> {
        self.flush()?;
        let mut payload = std::mem::take(&mut self.entry);
        payload.clear();
        value.encode(&mut payload);
        let result = self.write(tag, "an entry", &payload);
        self.entry = payload;
        result
    }

    fn table(&mut self, tag: Tag, values: &[impl MetadataEntry]) -> Result<(), WriteError> {
        let mut entry = std::mem::take(&mut self.entry);
        let mut result = Ok(());
        for value in values {
            entry.clear();
            value.encode(&mut entry);
            result = self.gather(tag, &entry);
            if result.is_err() {
                break;
            }
        }
        self.entry = entry;
        result
    }

    /// Adds an entry to its table, with its length in front.
    fn gather(&mut self, tag: Tag, entry: &[u8]) -> Result<(), WriteError> {
        // The length in front takes at most five bytes.
        if entry.len() + 5 > MAX_BLOCK {
            return Err(WriteError::TooLarge {
                what: "an entry",
                length: entry.len(),
                limit: MAX_BLOCK,
            });
        }
        if self.pending(tag).len() + entry.len() > BATCH {
            self.flush_table(tag)?;
        }
        self.pending(tag).put_bytes(entry);
        Ok(())
    }

    fn pending(&mut self, tag: Tag) -> &mut Vec<u8> {
        match tag {
            Tag::Loaders => &mut self.loaders,
            Tag::Types => &mut self.types,
            Tag::Sites => &mut self.sites,
            Tag::Threads => &mut self.threads,
            _ => &mut self.blobs,
        }
    }

    fn flush_table(&mut self, tag: Tag) -> Result<(), WriteError> {
        let mut entries = std::mem::take(self.pending(tag));
        if entries.is_empty() {
            return Ok(());
        }
        let result = self.write(tag, "a table", &entries);
        // Entries that did not reach the file stay, for the next attempt.
        if result.is_ok() {
            entries.clear();
            entries.shrink_to(BATCH);
        }
        *self.pending(tag) = entries;
        result
    }

    fn frame_events(
        &mut self,
        tag: Tag,
        head: EventsHead,
        records: &[u8],
    ) -> Result<(), WriteError> {
        if records.len() > MAX_EVENTS {
            return Err(WriteError::TooLarge {
                what: "a buffer of records",
                length: records.len(),
                limit: MAX_EVENTS,
            });
        }
        let mut plain = Vec::with_capacity(EVENTS_HEAD);
        plain.put_u32(head.thread.0);
        plain.put_u64(head.turn.0);
        plain.put_u64(head.ordinal);
        plain.put_u32(head.count);
        self.frame(tag, "a buffer of records", &plain, records)
    }

    fn write(&mut self, tag: Tag, what: &'static str, body: &[u8]) -> Result<(), WriteError> {
        self.frame(tag, what, &[], body)?;
        self.append_block()
    }

    /// Makes `self.block` of `plain` as it is, then `body`, compressed where that makes it
    /// smaller.
    fn frame(
        &mut self,
        tag: Tag,
        what: &'static str,
        plain: &[u8],
        body: &[u8],
    ) -> Result<(), WriteError> {
        let raw = plain.len() + body.len();
        if raw > MAX_BLOCK {
            return Err(WriteError::TooLarge {
                what,
                length: raw,
                limit: MAX_BLOCK,
            });
        }
        self.block.clear();
        self.block.resize(BLOCK_HEADER, 0);
        self.block.put(plain);
        let start = self.block.len();
        let mut flags = 0;
        if body.len() >= COMPRESS_FROM {
            self.block.resize(start + body.len(), 0);
            // Fails where the result would not be smaller than the body; then it stays plain.
            match self
                .compressor
                .compress_to_buffer(body, &mut self.block[start..])
            {
                Ok(length) => {
                    self.block.truncate(start + length);
                    flags = FLAG_ZSTD;
                }
                Err(_) => self.block.truncate(start),
            }
        }
        if flags == 0 {
            self.block.put(body);
        }
        let header = BlockHeader::frame(tag, flags, raw as u32, &self.block[BLOCK_HEADER..]);
        self.block[..BLOCK_HEADER].copy_from_slice(&header);
        Ok(())
    }

    /// Appends `self.block` with one write, or takes the part that was written back.
    fn append_block(&mut self) -> Result<(), WriteError> {
        if self.closed {
            return Err(WriteError::Closed);
        }
        match self.store.write_all(&self.block) {
            Ok(()) => {
                self.written += self.block.len() as u64;
                Ok(())
            }
            Err(error) => {
                if self.store.cut(self.written).is_err() {
                    self.closed = true;
                }
                Err(error.into())
            }
        }
    }
}
