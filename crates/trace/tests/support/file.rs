//! Takes recordings apart and puts them together again, by the specification rather than by the
//! code under test.

/// A block with its payload decompressed.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) tag: u8,
    /// The uncompressed part in front of a compressed payload.
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

pub(crate) const FILE_HEADER: usize = 10;
pub(crate) const BLOCK_HEADER: usize = 14;
pub(crate) const EVENTS: u8 = 8;

/// The offsets of the blocks, followed by the end of the file.
pub(crate) fn borders(bytes: &[u8]) -> Vec<usize> {
    let mut borders = vec![FILE_HEADER];
    let mut at = FILE_HEADER;
    while at < bytes.len() {
        at += BLOCK_HEADER + word(bytes, at + 2) as usize;
        borders.push(at);
    }
    borders
}

pub(crate) fn take_apart(bytes: &[u8]) -> Vec<Block> {
    borders(bytes)
        .windows(2)
        .map(|pair| {
            let block = &bytes[pair[0]..pair[1]];
            let (tag, flags, raw) = (block[0], block[1], word(block, 6) as usize);
            let plain = if tag == EVENTS { 24 } else { 0 };
            let (head, body) = block[BLOCK_HEADER..].split_at(plain);
            let body = match flags {
                0 => body.to_vec(),
                _ => zstd::bulk::decompress(body, raw).unwrap(),
            };
            assert_eq!(head.len() + body.len(), raw);
            let head = head.to_vec();
            Block { tag, head, body }
        })
        .collect()
}

/// Uncompressed, with right lengths and checksums.
pub(crate) fn put_together(blocks: &[Block]) -> Vec<u8> {
    let mut out = b"CULPRIT\x1a\x01\x00".to_vec();
    for block in blocks {
        let payload = [block.head.as_slice(), &block.body].concat();
        let mut fields = vec![block.tag, 0];
        fields.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        fields.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        let crc = crc32fast::hash(&[fields.as_slice(), &payload].concat());
        out.extend_from_slice(&fields);
        out.extend_from_slice(&crc.to_le_bytes());
        out.extend_from_slice(&payload);
    }
    out
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}
