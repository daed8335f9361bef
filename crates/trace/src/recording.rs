//! Reads a recording: all metadata at once, the events as a stream, blobs and classes on demand.
//!
//! Opening reads the file once, checks every block, and stops at the first one that is not
//! whole. What comes after it is reported, not read.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use culprit_model::site::TypeDef;
use culprit_model::{BlobId, Caught, Event, Failure, Losses, Site, ThreadId, Turn};
use sha2::{Digest, Sha256};

use crate::Table;
use crate::allowance::Allowance;
use crate::block::{BLOCK_HEADER, FILE_HEADER, MAGIC, MAX_EVENTS, Tag};
use crate::codec::{Cursor, Malformed};
use crate::error::Error;
use crate::metadata::{
    BlobKind, ClassHead, End, LoaderDef, MetadataEntry, Start, ThreadDef, decode_blob, decode_class,
};
use crate::record::Layout;
use crate::run::RunFolder;
use crate::scan::{Heads, Scan, ScanStep};
use crate::segment;
use crate::source::{Block, BlockError, BlockReader, RecordingFile, RecordingSource};
use crate::{EventsHead, FormatVersion};

/// A recording, opened.
#[derive(Debug)]
pub struct Recording {
    pub(crate) path: PathBuf,
    pub(crate) source: RecordingSource,
    length: u64,
    start: Start,
    loaders: Table<LoaderDef>,
    types: Table<TypeDef>,
    sites: Table<Site>,
    /// In the order of `sites`.
    pub(crate) layouts: Vec<Layout>,
    threads: Table<ThreadDef>,
    classes: Vec<ClassInfo>,
    failures: Vec<Failure>,
    caught: Vec<Caught>,
    losses: Losses,
    end: Option<End>,
    truncation: Option<Truncation>,
    /// Events blocks in file order.
    pub(crate) events: Vec<EventsBlock>,
    /// Events that were not carried over from before.
    own_events: u64,
    /// Blob to its block in `blob_blocks`.
    blobs: BTreeMap<BlobId, u32>,
    blob_blocks: Vec<Block>,
    blob_cache: Mutex<Option<(u32, Vec<u8>)>>,
}

/// The place of an events block, and its head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventsBlock {
    pub(crate) block: Block,
    pub(crate) head: EventsHead,
}

/// The part of a file that could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Truncation {
    /// The end of the last whole block.
    pub offset: u64,
    /// Bytes after it.
    pub bytes_left: u64,
}

/// A class stored in a recording.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    /// Internal name.
    pub name: String,
    /// Number of its defining loader.
    pub loader: u32,
    /// URL of its code source.
    pub origin: Option<String>,
    /// True if it belongs to the observed set.
    pub observed: bool,
    /// True if it was woven ahead of time, by `culprit instrument`.
    pub ahead: bool,
    /// True if only its outline is stored: the class file without code.
    pub outline: bool,
    /// Hash of its bytes.
    pub sha256: [u8; 32],
    /// Number of its bytes.
    pub length: u32,
    block: Block,
}

/// A long string or array content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blob {
    /// The kind of the bytes.
    pub kind: BlobKind,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Recording {
    /// Opens a recording, or the only recording of a run folder.
    pub fn open(path: &Path) -> Result<Recording, Error> {
        let file = |path: &Path| {
            let part = RecordingFile::open(path, 0).map_err(|source| io_error(path, source))?;
            Recording::read(path.to_owned(), RecordingSource::Files(vec![part]))
        };
        if path.is_dir() {
            let folder = RunFolder::open(path)?;
            match folder.recordings.as_slice() {
                [only] => file(only),
                _ => Err(Error::SeveralRecordings {
                    path: path.to_owned(),
                    recordings: folder.recordings,
                }),
            }
        } else {
            file(path)
        }
    }

    /// Reads a recording that is in memory; errors name it as `name`.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Recording, Error> {
        Recording::read(PathBuf::from(name), RecordingSource::Memory(bytes))
    }

    fn read(path: PathBuf, mut source: RecordingSource) -> Result<Recording, Error> {
        check_header(&path, &source, 0)?;
        let mut loader = Loader::new();
        let mut truncation = loader.read(&path, &source, 0)?;
        if loader.start.as_ref().is_some_and(Start::is_segmented) {
            for start in add_segments(&path, &mut source)? {
                truncation = loader.read(&path, &source, start)?.or(truncation);
            }
        }
        let Some(start) = loader.start else {
            return Err(Error::Empty { path });
        };
        let sites: Table<Site> = loader.sites.into_iter().collect();
        Ok(Recording {
            path,
            length: source.length(),
            source,
            start,
            loaders: loader.loaders.into_iter().collect(),
            types: loader.types.into_iter().collect(),
            layouts: sites.iter().map(Layout::of).collect(),
            sites,
            threads: loader.threads.into_iter().collect(),
            classes: loader.classes,
            failures: loader.failures,
            caught: (loader.caught.into_values())
                // One of count 0 has become a failure.
                .filter(|caught| caught.count > 0)
                .collect(),
            losses: loader.losses,
            end: loader.end,
            truncation,
            events: loader.events,
            own_events: loader.own_events,
            blobs: loader.blobs,
            blob_blocks: loader.blob_blocks,
            blob_cache: Mutex::new(None),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.length
    }

    /// The facts known at the start.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// Class loaders.
    pub fn loaders(&self) -> &Table<LoaderDef> {
        &self.loaders
    }

    /// Run-time classes.
    pub fn types(&self) -> &Table<TypeDef> {
        &self.types
    }

    /// Sites.
    pub fn sites(&self) -> &Table<Site> {
        &self.sites
    }

    /// Threads.
    pub fn threads(&self) -> &Table<ThreadDef> {
        &self.threads
    }

    /// Stored classes, in the order of storing.
    pub fn classes(&self) -> &[ClassInfo] {
        &self.classes
    }

    /// Exceptions that made the run fail.
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// Exceptions that were caught, in the order of their numbers.
    pub fn caught(&self) -> &[Caught] {
        &self.caught
    }

    /// The exceptions that made the run fail, and those that were caught after them: their places are the numbers,
    /// from 1, by which a user chooses one.
    pub fn exceptions(&self) -> impl Iterator<Item = &Failure> {
        let caught = self.caught.iter().map(|caught| &caught.failure);
        self.failures.iter().chain(caught)
    }

    /// The losses of the recording, as last reported by the agent.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// The end of the recording; `None` if the JVM did not end in order.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The part of the file that could not be read.
    pub fn truncation(&self) -> Option<Truncation> {
        self.truncation
    }

    /// True if the file ends within a block.
    pub fn is_truncated(&self) -> bool {
        self.truncation.is_some()
    }

    /// Number of events.
    pub fn event_count(&self) -> u64 {
        self.events.iter().map(|e| u64::from(e.head.count)).sum()
    }

    /// Number of events that were not carried over from before.
    pub(crate) fn own_events(&self) -> u64 {
        self.own_events
    }

    /// Bytes of the file that hold events, and not what they refer to.
    pub fn event_bytes(&self) -> u64 {
        let length = |e: &EventsBlock| BLOCK_HEADER as u64 + u64::from(e.block.header.length);
        self.events.iter().map(length).sum()
    }

    /// Number of events of each thread that has any.
    pub fn thread_event_counts(&self) -> BTreeMap<ThreadId, u64> {
        let mut counts = BTreeMap::new();
        for events in &self.events {
            *counts.entry(events.head.thread).or_default() += u64::from(events.head.count);
        }
        counts
    }

    /// Walks the events in global order; the caller decides which to decode.
    pub fn scan(&self) -> Scan<'_> {
        Scan::new(self)
    }

    /// All events in global order, without their values.
    pub fn heads(&self) -> Heads<'_> {
        Heads::new(self.scan())
    }

    /// All events in global order.
    pub fn events(&self) -> impl Iterator<Item = Result<Event, Error>> + '_ {
        self.events_in(0..u64::MAX)
    }

    /// The events with these places in the global order.
    pub fn events_in(&self, places: Range<u64>) -> impl Iterator<Item = Result<Event, Error>> + '_ {
        let mut scan = self.scan();
        std::iter::from_fn(move || {
            loop {
                let head = match scan.step()? {
                    Ok(ScanStep::Event(head)) => head,
                    Ok(ScanStep::Gap(_)) => continue,
                    Err(error) => return Some(Err(error)),
                };
                if head.index.0 >= places.end {
                    return None;
                }
                if head.index.0 >= places.start {
                    return Some(scan.event(&head));
                }
            }
        })
    }

    /// True if the recording has a blob of that id.
    pub fn has_blob(&self, id: BlobId) -> bool {
        self.blobs.contains_key(&id)
    }

    /// A blob, read from the file; `None` if the recording has none of that id.
    pub fn blob(&self, id: BlobId) -> Result<Option<Blob>, Error> {
        let Some(place) = self.blobs.get(&id).copied() else {
            return Ok(None);
        };
        let block = self.blob_blocks[place as usize];
        let mut cache = self
            .blob_cache
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if cache.as_ref().is_none_or(|(cached, _)| *cached != place) {
            let mut raw = cache.take().map_or_else(Vec::new, |(_, raw)| raw);
            self.load(&block, Tag::Blobs, &mut raw)?;
            *cache = Some((place, raw));
        }
        let raw = cache.as_ref().map_or(&[][..], |(_, raw)| raw.as_slice());
        let allowance = Allowance::of_file(self.length);
        let found = entries(raw, &allowance)
            .find_map(|entry| {
                let decoded =
                    entry.and_then(|entry| decode_blob(&mut Cursor::new(entry, &allowance)));
                match decoded {
                    Ok((found, kind, bytes)) if found == id => Some(Ok(Blob {
                        kind,
                        bytes: bytes.to_vec(),
                    })),
                    Ok(_) => None,
                    Err(error) => Some(Err(error)),
                }
            })
            .transpose();
        found.map_err(|error| self.damaged(&block, error))
    }

    /// The class file of a stored class, checked against its hash.
    pub fn class_bytes(&self, class: &ClassInfo) -> Result<Vec<u8>, Error> {
        let mut raw = Vec::new();
        self.load(&class.block, Tag::Class, &mut raw)?;
        let allowance = Allowance::of_file(self.length);
        let (_, bytes) = decode_class(&mut Cursor::new(&raw, &allowance))
            .map_err(|error| self.damaged(&class.block, error))?;
        if Sha256::digest(bytes).as_slice() == class.sha256.as_slice() {
            Ok(bytes.to_vec())
        } else {
            Err(self.damaged(&class.block, Malformed("class bytes of the stored hash")))
        }
    }

    fn load(&self, block: &Block, tag: Tag, raw: &mut Vec<u8>) -> Result<(), Error> {
        let mut reader = BlockReader::new().map_err(|e| io_error(&self.path, e))?;
        self.load_with(&mut reader, block, tag, raw)
    }

    pub(crate) fn load_with(
        &self,
        reader: &mut BlockReader,
        block: &Block,
        tag: Tag,
        raw: &mut Vec<u8>,
    ) -> Result<(), Error> {
        reader
            .load(&self.source, block, tag, raw)
            .map_err(|error| match error {
                BlockError::Io(source) => io_error(&self.path, source),
                BlockError::Broken => {
                    self.damaged(block, Malformed("the block that was there before"))
                }
                BlockError::Malformed(error) => self.damaged(block, error),
            })
    }

    pub(crate) fn damaged(&self, block: &Block, error: Malformed) -> Error {
        damaged(&self.path, &self.source, block.offset, error)
    }
}

fn damaged(
    path: &Path,
    source: &RecordingSource,
    offset: u64,
    Malformed(expected): Malformed,
) -> Error {
    let part = source.part(offset);
    Error::Damaged {
        path: part.map_or(path, |part| &part.path).to_owned(),
        offset: offset - part.map_or(0, |part| part.start),
        expected,
    }
}

/// Adds the segments of a recording to its file; where each starts.
fn add_segments(path: &Path, source: &mut RecordingSource) -> Result<Vec<u64>, Error> {
    let mut starts = Vec::new();
    for segment in segment::list(path).map_err(|e| io_error(path, e))? {
        let start = source.length();
        match RecordingFile::open(&segment, start) {
            Ok(part) => {
                if let RecordingSource::Files(parts) = source {
                    parts.push(part);
                }
            }
            // The JVM still runs, and has a newer one by now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(io_error(&segment, error)),
        }
        match check_header(&segment, source, start) {
            // It was just begun.
            Err(Error::Empty { .. }) => {}
            checked => {
                checked?;
                starts.push(start);
            }
        }
    }
    Ok(starts)
}

fn io_error(path: &Path, source: io::Error) -> Error {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => Error::NotFound { path },
        _ => Error::Io { path, source },
    }
}

fn check_header(path: &Path, source: &RecordingSource, start: u64) -> Result<(), Error> {
    let mut header = [0; FILE_HEADER];
    let length = source.length() - start;
    let present = length.min(FILE_HEADER as u64) as usize;
    source
        .read(&mut header[..present], start)
        .map_err(|e| io_error(path, e))?;
    let magic = present.min(MAGIC.len());
    let path = path.to_owned();
    if header[..magic] != MAGIC[..magic] {
        return Err(Error::NotARecording { path });
    }
    if present < FILE_HEADER {
        return Err(Error::Empty { path });
    }
    let found = FormatVersion(u16::from_le_bytes([header[8], header[9]]));
    if !found.is_readable() {
        return Err(Error::Version {
            path,
            found,
            supported: FormatVersion::CURRENT,
        });
    }
    Ok(())
}

/// The entries of a table block.
fn entries<'a>(
    raw: &'a [u8],
    allowance: &'a Allowance,
) -> impl Iterator<Item = Result<&'a [u8], Malformed>> {
    let mut cursor = Cursor::new(raw, allowance);
    let mut broken = false;
    std::iter::from_fn(move || {
        if broken || cursor.is_empty() {
            return None;
        }
        let entry = cursor.bytes();
        broken = entry.is_err();
        Some(entry)
    })
}

fn decode_table<T: MetadataEntry>(
    raw: &[u8],
    allowance: &Allowance,
    into: &mut Vec<T>,
) -> Result<(), Malformed> {
    for entry in entries(raw, allowance) {
        allowance.charge_items::<T>(1)?;
        into.push(T::decode(&mut Cursor::new(entry?, allowance))?);
    }
    Ok(())
}

/// Gathers the metadata, block by block.
struct Loader {
    allowance: Allowance,
    start: Option<Start>,
    loaders: Vec<LoaderDef>,
    types: Vec<TypeDef>,
    sites: Vec<Site>,
    threads: Vec<ThreadDef>,
    classes: Vec<ClassInfo>,
    failures: Vec<Failure>,
    caught: BTreeMap<u32, Caught>,
    losses: Losses,
    end: Option<End>,
    events: Vec<EventsBlock>,
    own_events: u64,
    blobs: BTreeMap<BlobId, u32>,
    blob_blocks: Vec<Block>,
}

impl Loader {
    fn new() -> Loader {
        Loader {
            allowance: Allowance::of_file(0),
            start: None,
            loaders: Vec::new(),
            types: Vec::new(),
            sites: Vec::new(),
            threads: Vec::new(),
            classes: Vec::new(),
            failures: Vec::new(),
            caught: BTreeMap::new(),
            losses: Losses::default(),
            end: None,
            events: Vec::new(),
            own_events: 0,
            blobs: BTreeMap::new(),
            blob_blocks: Vec::new(),
        }
    }

    /// Reads the file that starts at a place in the whole; the part that cannot be read.
    fn read(
        &mut self,
        path: &Path,
        source: &RecordingSource,
        start: u64,
    ) -> Result<Option<Truncation>, Error> {
        let end = source
            .part(start)
            .map_or(source.length(), RecordingFile::end);
        self.allowance.grow(end - start);
        let mut reader = BlockReader::new().map_err(|e| io_error(path, e))?;
        let mut raw = Vec::new();
        let mut offset = start + FILE_HEADER as u64;
        while offset < end {
            let block = match reader.frame(source, offset, end) {
                Ok(block) => block,
                Err(BlockError::Io(error)) => return Err(io_error(path, error)),
                Err(_) => {
                    return Ok(Some(Truncation {
                        offset: offset - start,
                        bytes_left: end - offset,
                    }));
                }
            };
            if let Some(tag) = Tag::from_code(block.header.tag) {
                self.block(tag, block, &mut reader, &mut raw)
                    .map_err(|error| damaged(path, source, offset, error))?;
            }
            offset += BLOCK_HEADER as u64 + u64::from(block.header.length);
        }
        Ok(None)
    }

    fn block(
        &mut self,
        tag: Tag,
        block: Block,
        reader: &mut BlockReader,
        raw: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        if tag == Tag::Carry && self.own_events > 0 {
            // What it has is there already, in the segment before.
            return Ok(());
        }
        if matches!(tag, Tag::Events | Tag::Carry) {
            let head = decode_events_head(&mut Cursor::new(reader.disk(), &self.allowance))?;
            if block.header.raw_length as usize > MAX_EVENTS + tag.plain_head() {
                return Err(Malformed("records within the size limit"));
            }
            if tag == Tag::Events {
                self.own_events += u64::from(head.count);
            }
            self.events.push(EventsBlock { block, head });
            return Ok(());
        }
        self.allowance.charge_block(block.header.raw_length)?;
        reader.body(&block, tag, raw)?;
        let allowance = &self.allowance;
        let mut cursor = Cursor::new(raw, allowance);
        match tag {
            Tag::Start => self.start = Some(Start::decode(&mut cursor)?),
            Tag::Loaders => decode_table(raw, allowance, &mut self.loaders)?,
            Tag::Types => decode_table(raw, allowance, &mut self.types)?,
            Tag::Sites => {
                let known = self.sites.len();
                decode_table(raw, allowance, &mut self.sites)?;
                allowance.charge_items::<Layout>((self.sites.len() - known) as u64)?;
            }
            Tag::Threads => decode_table(raw, allowance, &mut self.threads)?,
            Tag::Class => {
                allowance.charge_items::<ClassInfo>(1)?;
                let (head, _) = decode_class(&mut cursor)?;
                self.classes.push(class_info(head, block));
            }
            Tag::Blobs => {
                let place = self.blob_blocks.len() as u32;
                self.blob_blocks.push(block);
                for entry in entries(raw, allowance) {
                    let (id, _, _) = decode_blob(&mut Cursor::new(entry?, allowance))?;
                    // Nodes of the map are half empty at worst.
                    allowance.charge_items::<(BlobId, u32)>(2)?;
                    self.blobs.insert(id, place);
                }
            }
            Tag::Failure => self.failures.push(Failure::decode(&mut cursor)?),
            Tag::Caught => {
                // Nodes of the map are half empty at worst.
                allowance.charge_items::<Caught>(2)?;
                let caught = Caught::decode(&mut cursor)?;
                self.caught.insert(caught.number, caught);
            }
            Tag::Losses => self.losses = Losses::decode(&mut cursor)?,
            Tag::End => self.end = Some(End::decode(&mut cursor)?),
            Tag::Events | Tag::Carry => {}
        }
        Ok(())
    }
}

fn decode_events_head(cursor: &mut Cursor<'_>) -> Result<EventsHead, Malformed> {
    Ok(EventsHead {
        thread: ThreadId(cursor.u32()?),
        turn: Turn(cursor.u64()?),
        ordinal: cursor.u64()?,
        count: cursor.u32()?,
    })
}

fn class_info(head: ClassHead, block: Block) -> ClassInfo {
    ClassInfo {
        name: head.name,
        loader: head.loader,
        origin: head.origin,
        observed: head.observed,
        ahead: head.ahead,
        outline: head.outline,
        sha256: head.sha256,
        length: head.length,
        block,
    }
}
