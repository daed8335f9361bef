//! The source of a recording's bytes: a file, or memory. Reads whole blocks and undoes their
//! compression; knows nothing of what they hold.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use zstd::bulk::Decompressor;

use crate::block::{BLOCK_HEADER, BlockHeader, FLAG_ZSTD, MAX_BLOCK, Tag};
use crate::codec::Malformed;

#[derive(Debug)]
pub(crate) enum RecordingSource {
    /// One file, or several that are read as one.
    Files(Vec<RecordingFile>),
    Memory(Vec<u8>),
}

/// A file of a recording.
#[derive(Debug)]
pub(crate) struct RecordingFile {
    pub(crate) path: PathBuf,
    file: File,
    /// The offset of its first byte; its length follows.
    pub(crate) start: u64,
    length: u64,
}

impl RecordingFile {
    pub(crate) fn open(path: &Path, start: u64) -> io::Result<RecordingFile> {
        let file = File::open(path)?;
        Ok(RecordingFile {
            path: path.to_owned(),
            length: file.metadata()?.len(),
            file,
            start,
        })
    }

    pub(crate) fn end(&self) -> u64 {
        self.start + self.length
    }
}

impl RecordingSource {
    pub(crate) fn length(&self) -> u64 {
        match self {
            RecordingSource::Files(parts) => parts.last().map_or(0, RecordingFile::end),
            RecordingSource::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// The file that has the byte at a place in the whole.
    pub(crate) fn part(&self, offset: u64) -> Option<&RecordingFile> {
        match self {
            RecordingSource::Files(parts) => parts.iter().rfind(|part| part.start <= offset),
            RecordingSource::Memory(_) => None,
        }
    }

    pub(crate) fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            RecordingSource::Files(_) => {
                let part = self.part(offset).ok_or(io::ErrorKind::UnexpectedEof)?;
                part.file.read_exact_at(buffer, offset - part.start)
            }
            RecordingSource::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let part = bytes
                    .get(start..)
                    .and_then(|rest| rest.get(..buffer.len()))
                    .ok_or(io::ErrorKind::UnexpectedEof)?;
                buffer.copy_from_slice(part);
                Ok(())
            }
        }
    }
}

/// A block with an intact frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// The offset of its header.
    pub(crate) offset: u64,
    pub(crate) header: BlockHeader,
}

/// Why a block cannot be read.
pub(crate) enum BlockError {
    Io(io::Error),
    /// The file ends within it, or its checksum or its lengths are wrong.
    Broken,
    /// The checksum holds, but it cannot be decompressed.
    Malformed(Malformed),
}

impl From<io::Error> for BlockError {
    fn from(error: io::Error) -> BlockError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => BlockError::Broken,
            _ => BlockError::Io(error),
        }
    }
}

/// Reads and decompresses blocks, with buffers of its own that it reuses.
pub(crate) struct BlockReader {
    decompressor: Decompressor<'static>,
    disk: Vec<u8>,
}

impl BlockReader {
    pub(crate) fn new() -> io::Result<BlockReader> {
        Ok(BlockReader {
            decompressor: Decompressor::new()?,
            disk: Vec::new(),
        })
    }

    /// Reads the block at `offset` as it is on disk and checks its frame.
    pub(crate) fn frame(
        &mut self,
        source: &RecordingSource,
        offset: u64,
        file_length: u64,
    ) -> Result<Block, BlockError> {
        let mut header = [0; BLOCK_HEADER];
        source.read(&mut header, offset)?;
        let header = BlockHeader::parse(&header);
        let left = file_length.saturating_sub(offset + BLOCK_HEADER as u64);
        if u64::from(header.length) > left || header.raw_length as usize > MAX_BLOCK {
            return Err(BlockError::Broken);
        }
        self.disk.resize(header.length as usize, 0);
        source.read(&mut self.disk, offset + BLOCK_HEADER as u64)?;
        if header.expected_crc(&self.disk) != header.crc {
            return Err(BlockError::Broken);
        }
        Ok(Block { offset, header })
    }

    /// The payload on disk of the block that was read last.
    pub(crate) fn disk(&self) -> &[u8] {
        &self.disk
    }

    /// Decompresses the payload of the block that was read last, without its plain head.
    pub(crate) fn body(
        &mut self,
        block: &Block,
        tag: Tag,
        out: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        let plain = tag.plain_head();
        let body = self.disk.get(plain..).ok_or(Malformed("a whole head"))?;
        let length = (block.header.raw_length as usize)
            .checked_sub(plain)
            .ok_or(Malformed("a whole head"))?;
        out.clear();
        if block.header.flags & !FLAG_ZSTD != 0 {
            return Err(Malformed("known block flags"));
        }
        if block.header.flags & FLAG_ZSTD == 0 {
            out.extend_from_slice(body);
        } else {
            out.reserve_exact(length);
            self.decompressor
                .decompress_to_buffer(body, out)
                .map_err(|_| Malformed("a zstd frame of the announced length"))?;
        }
        if out.len() == length {
            Ok(())
        } else {
            Err(Malformed("a payload of the announced length"))
        }
    }

    /// Reads a block again.
    pub(crate) fn load(
        &mut self,
        source: &RecordingSource,
        block: &Block,
        tag: Tag,
        out: &mut Vec<u8>,
    ) -> Result<(), BlockError> {
        let end = block.offset + (BLOCK_HEADER as u64) + u64::from(block.header.length);
        let again = self.frame(source, block.offset, end)?;
        if again.header != block.header {
            return Err(BlockError::Broken);
        }
        self.body(block, tag, out).map_err(BlockError::Malformed)
    }
}
