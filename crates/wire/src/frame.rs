//! Frames: how messages follow each other on a stream.

use std::io::{Read, Write};

use crate::WireError;

/// The largest tag and payload. Nothing that a recording holds is larger.
pub const MAX_FRAME: usize = 64 << 20;

/// A message of either direction.
pub trait Message: Sized {
    /// Appends the tag and the payload.
    fn encode(&self, out: &mut Vec<u8>);

    /// The message of a tag and a payload.
    fn decode(bytes: &[u8]) -> Result<Self, WireError>;

    /// Appends the whole frame.
    fn frame(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let start = begin(out);
        self.encode(out);
        finish(out, start)
    }

    /// Writes the whole frame at once.
    fn write_to(&self, mut to: impl Write) -> Result<(), WireError> {
        let mut bytes = Vec::new();
        self.frame(&mut bytes)?;
        to.write_all(&bytes)?;
        Ok(to.flush()?)
    }

    /// The next message; `None` where the stream ends between two messages.
    fn read_from(mut from: impl Read) -> Result<Option<Self>, WireError> {
        let mut head = [0; 4];
        let mut known = 0;
        while known < head.len() {
            match from.read(&mut head[known..]) {
                Ok(0) if known == 0 => return Ok(None),
                Ok(0) => return Err(WireError::CutOff),
                Ok(count) => known += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        let length = length_of(head)?;
        // Memory is taken as bytes arrive, not for what the length promises.
        let mut bytes = Vec::new();
        from.take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(WireError::CutOff);
        }
        Self::decode(&bytes).map(Some)
    }
}

/// Starts a frame; what is appended next is its tag and payload.
pub(crate) fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Ends the frame that was begun at `start`; one that is too large is taken back.
pub(crate) fn finish(out: &mut Vec<u8>, start: usize) -> Result<(), WireError> {
    let length = out.len() - start - 4;
    if length > MAX_FRAME {
        out.truncate(start);
        return Err(too_large(length));
    }
    out[start..start + 4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(())
}

fn length_of(head: [u8; 4]) -> Result<usize, WireError> {
    match u32::from_le_bytes(head) as usize {
        0 => Err(WireError::Malformed("a message of at least one byte")),
        length if length > MAX_FRAME => Err(too_large(length)),
        length => Ok(length),
    }
}

fn too_large(length: usize) -> WireError {
    WireError::TooLarge {
        length,
        limit: MAX_FRAME,
    }
}

/// Bytes as they came, for whoever must not block until a message is whole.
#[derive(Default, Debug)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Where the first message that was not taken yet starts.
    start: usize,
}

impl Inbox {
    /// Adds what arrived.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the next whole message; `None` until it has arrived.
    pub fn take<M: Message>(&mut self) -> Result<Option<M>, WireError> {
        let rest = &self.bytes[self.start..];
        let Some((head, rest)) = rest.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = length_of(*head)?;
        let Some(body) = rest.get(..length) else {
            return Ok(None);
        };
        let message = M::decode(body)?;
        self.start += 4 + length;
        Ok(Some(message))
    }

    /// Whether all that arrived was taken.
    pub fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }
}
