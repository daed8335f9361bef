//! A bounded cursor over bytes. It never reads past the end and never allocates from a length it was told.

use crate::error::{Error, Result};

#[derive(Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self
            .at
            .checked_add(count)
            .filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return Err(Error::Truncated {
                at: self.at,
                wanted: count - self.remaining().min(count),
            });
        };
        let slice = &self.bytes[self.at..end];
        self.at = end;
        Ok(slice)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// Complains about bytes nobody read.
    pub(crate) fn end(&self, what: &'static str) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            count => Err(Error::Trailing { what, count }),
        }
    }
}

/// A table length as the format stores it.
pub(crate) fn count16(what: &'static str, count: usize) -> Result<u16> {
    u16::try_from(count).map_err(|_| Error::TooMany { what, count })
}

/// A big-endian `u16` at `at`, zero when out of range; for slices whose length was checked before.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    match bytes.get(at..at + 2) {
        Some(&[a, b]) => u16::from_be_bytes([a, b]),
        _ => 0,
    }
}

/// A big-endian `i32` at `at`, zero when out of range; for slices whose length was checked before.
pub(crate) fn i32_at(bytes: &[u8], at: usize) -> i32 {
    match bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => i32::from_be_bytes([a, b, c, d]),
        _ => 0,
    }
}
