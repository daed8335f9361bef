//! Recordings out of parts: a mutated block would fail its checksum before anything else is looked at, so
//! bytes can also be given as the payloads of blocks whose frames are right.

/// First bytes of a recording: magic and major version.
pub const HEADER: [u8; 10] = *b"CULPRIT\x1a\x01\x00";

/// Bytes of events blocks that are never compressed.
const EVENTS_HEAD: usize = 24;

/// A part of a recording. As bytes: the tag, with [`COMPRESSED`] added or not, the length of the payload
/// in two bytes, and the payload.
pub struct Block<'a> {
    pub tag: u8,
    pub is_compressed: bool,
    pub payload: &'a [u8],
}

/// Added to a tag: the payload is compressed in the recording.
pub const COMPRESSED: u8 = 0x80;

/// The parts that bytes tell of. The last one may be cut off.
pub fn parts(bytes: &[u8]) -> Vec<Block<'_>> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let [tag, low, high, tail @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(tail.len());
        let (payload, after) = tail.split_at(length);
        parts.push(Block {
            tag: tag & !COMPRESSED,
            is_compressed: tag & COMPRESSED != 0,
            payload,
        });
        rest = after;
    }
    parts
}

/// Appends the bytes of a part, as [`parts`] reads them.
pub fn put_part(tag: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    let length = u16::try_from(payload.len()).unwrap_or(u16::MAX);
    out.extend(length.to_le_bytes());
    out.extend(&payload[..usize::from(length)]);
}

/// The recording that has these blocks.
pub fn recording(parts: &[Block<'_>]) -> Vec<u8> {
    let mut out = HEADER.to_vec();
    for part in parts {
        put_block(part, &mut out);
    }
    out
}

/// The blocks of a recording that is whole: tags, and payloads as they were before compression.
///
/// # Panics
/// If it is not.
pub fn take_apart(recording: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut blocks = Vec::new();
    let mut rest = &recording[HEADER.len()..];
    while let Some((header, tail)) = rest.split_first_chunk::<14>() {
        let word = |at: usize| {
            let bytes = header[at..at + 4].try_into();
            u32::from_le_bytes(bytes.expect("4 bytes")) as usize
        };
        let (tag, is_compressed) = (header[0], header[1] != 0);
        let (stored, after) = tail.split_at(word(2));
        let plain = plain_head(tag, stored.len());
        let mut payload = stored[..plain].to_vec();
        match is_compressed {
            true => payload
                .extend(zstd::bulk::decompress(&stored[plain..], word(6)).expect("a whole block")),
            false => payload.extend(&stored[plain..]),
        }
        blocks.push((tag, payload));
        rest = after;
    }
    blocks
}

/// Bytes of a payload that are never compressed.
fn plain_head(tag: u8, length: usize) -> usize {
    match tag {
        8 | 12 => EVENTS_HEAD.min(length),
        _ => 0,
    }
}

/// Appends a block with the lengths and the checksum that it should have.
pub fn put_block(block: &Block<'_>, out: &mut Vec<u8>) {
    let plain = plain_head(block.tag, block.payload.len());
    let (head, body) = block.payload.split_at(plain);
    let mut payload = head.to_vec();
    match block.is_compressed {
        true => payload.extend(zstd::bulk::compress(body, 1).unwrap_or_default()),
        false => payload.extend(body),
    }
    let mut fields = vec![block.tag, u8::from(block.is_compressed)];
    fields.extend((payload.len() as u32).to_le_bytes());
    fields.extend((block.payload.len() as u32).to_le_bytes());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&fields);
    crc.update(&payload);
    out.extend(fields);
    out.extend(crc.finalize().to_le_bytes());
    out.extend(payload);
}
