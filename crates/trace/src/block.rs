//! Blocks: the frame around everything in a recording, with its lengths and its checksum.
//! Knows nothing of what is inside.

use crate::FormatVersion;
use crate::codec::Put;

/// First bytes of every recording. The last one stops a file from being printed as text.
pub(crate) const MAGIC: [u8; 8] = *b"CULPRIT\x1a";
/// Bytes before the first block: magic and major version.
pub(crate) const FILE_HEADER: usize = MAGIC.len() + 2;
/// Bytes of a block before its payload.
pub(crate) const BLOCK_HEADER: usize = 14;
/// Bytes at the start of an events block that are never compressed.
pub(crate) const EVENTS_HEAD: usize = 24;

/// The payload, after its plain head if it has one, is a zstd frame.
pub(crate) const FLAG_ZSTD: u8 = 1;

/// Largest uncompressed payload of a block.
pub const MAX_BLOCK: usize = 64 << 20;
/// Largest uncompressed records of one events block.
pub const MAX_EVENTS: usize = 16 << 20;
/// Largest uncompressed payload of a block of table entries, unless it is a single entry.
pub(crate) const BATCH: usize = 256 << 10;

/// The content of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Tag {
    Start = 1,
    Loaders = 2,
    Types = 3,
    Sites = 4,
    Threads = 5,
    Class = 6,
    Blobs = 7,
    Events = 8,
    Failure = 9,
    Losses = 10,
    End = 11,
    Carry = 12,
    Caught = 13,
}

impl Tag {
    pub(crate) fn from_code(code: u8) -> Option<Tag> {
        Some(match code {
            1 => Tag::Start,
            2 => Tag::Loaders,
            3 => Tag::Types,
            4 => Tag::Sites,
            5 => Tag::Threads,
            6 => Tag::Class,
            7 => Tag::Blobs,
            8 => Tag::Events,
            9 => Tag::Failure,
            10 => Tag::Losses,
            11 => Tag::End,
            12 => Tag::Carry,
            13 => Tag::Caught,
            _ => return None,
        })
    }

    /// Bytes of the payload that stay plain when the rest is compressed.
    pub(crate) fn plain_head(self) -> usize {
        match self {
            Tag::Events | Tag::Carry => EVENTS_HEAD,
            _ => 0,
        }
    }
}

/// The fields before a payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BlockHeader {
    /// Kept as a number: unknown tags are skipped, not refused.
    pub(crate) tag: u8,
    pub(crate) flags: u8,
    /// Bytes of payload that follow in the file.
    pub(crate) length: u32,
    /// Bytes of payload once decompressed.
    pub(crate) raw_length: u32,
    pub(crate) crc: u32,
}

impl BlockHeader {
    pub(crate) fn parse(bytes: &[u8; BLOCK_HEADER]) -> BlockHeader {
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        BlockHeader {
            tag: bytes[0],
            flags: bytes[1],
            length: word(2),
            raw_length: word(6),
            crc: word(10),
        }
    }

    /// Header bytes for a payload, checksum included.
    pub(crate) fn frame(tag: Tag, flags: u8, raw_length: u32, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(BLOCK_HEADER);
        out.put_u8(tag as u8);
        out.put_u8(flags);
        out.put_u32(payload.len() as u32);
        out.put_u32(raw_length);
        let crc = checksum(&out, payload);
        out.put_u32(crc);
        out
    }

    /// The checksum the block should have with this payload.
    pub(crate) fn expected_crc(&self, payload: &[u8]) -> u32 {
        let mut fields = Vec::with_capacity(BLOCK_HEADER);
        fields.put_u8(self.tag);
        fields.put_u8(self.flags);
        fields.put_u32(self.length);
        fields.put_u32(self.raw_length);
        checksum(&fields, payload)
    }
}

fn checksum(fields: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(fields);
    hasher.update(payload);
    hasher.finalize()
}

/// The bytes before the first block.
pub(crate) fn file_header() -> [u8; FILE_HEADER] {
    let mut header = [0; FILE_HEADER];
    header[..MAGIC.len()].copy_from_slice(&MAGIC);
    header[MAGIC.len()..].copy_from_slice(&FormatVersion::CURRENT.0.to_le_bytes());
    header
}
