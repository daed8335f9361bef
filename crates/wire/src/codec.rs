//! The bytes of a payload: little-endian numbers, LEB128 varints (signed numbers zigzag), and
//! texts and lists with a varint length in front. Knows nothing of messages.
//!
//! Like the codec of recordings in spirit, but apart from it: that one may never change its
//! form, this one may with every version.

use crate::WireError;

/// What reading gives.
pub(crate) type Result<T> = std::result::Result<T, WireError>;

/// Writing.
pub(crate) trait Put {
    fn put(&mut self, bytes: &[u8]);

    fn put_u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    fn put_bool(&mut self, value: bool) {
        self.put_u8(u8::from(value));
    }

    fn put_u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }

    fn put_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.put_u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.put_u8(value as u8);
    }

    fn put_signed(&mut self, value: i64) {
        self.put_varint(((value << 1) ^ (value >> 63)) as u64);
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_varint(bytes.len() as u64);
        self.put(bytes);
    }

    fn put_str(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }

    fn put_option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.put_bool(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    fn put_list<T>(&mut self, items: &[T], mut put: impl FnMut(&mut Self, &T)) {
        self.put_varint(items.len() as u64);
        for item in items {
            put(self, item);
        }
    }
}

impl Put for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Bytes of memory that any message may take, however short it is.
const BASE: u64 = 64 << 20;

/// Bytes of memory more for each byte of a message that comes from Culprit itself.
pub(crate) const TRUSTED: u64 = 256;

/// The same of one that comes from a worker, whose code may mean harm. What a worker says is mostly text.
pub(crate) const UNTRUSTED: u64 = 4;

/// Reading. Every step checks what is left, and charges what it makes before it makes it: a byte can stand
/// for an item of hundreds.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    /// Bytes of memory that may still be taken.
    allowance: u64,
}

impl<'a> Cursor<'a> {
    /// Reads a message that may take so many bytes of memory for each of its own.
    pub(crate) fn new(bytes: &'a [u8], per_byte: u64) -> Cursor<'a> {
        let allowance = (bytes.len() as u64).saturating_mul(per_byte);
        Cursor {
            rest: bytes,
            allowance: allowance.saturating_add(BASE),
        }
    }

    /// Charges items of a type, without what they own elsewhere.
    pub(crate) fn charge<T>(&mut self, count: u64) -> Result<()> {
        let bytes = count.saturating_mul(size_of::<T>() as u64);
        let left = self.allowance.checked_sub(bytes);
        self.allowance = left.ok_or(WireError::Malformed("content in proportion to its length"))?;
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Items up to the end of the payload.
    pub(crate) fn rest_of<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while !self.is_empty() {
            self.charge::<T>(1)?;
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// The payload must end here.
    pub(crate) fn end(&self) -> Result<()> {
        match self.rest {
            [] => Ok(()),
            _ => Err(WireError::Malformed("the end of the message")),
        }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (head, tail) = self
            .rest
            .split_at_checked(length)
            .ok_or(WireError::Malformed("more bytes"))?;
        self.rest = tail;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, tail) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(WireError::Malformed("more bytes"))?;
        self.rest = tail;
        Ok(*head)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(|[b]| b)
    }

    pub(crate) fn bool(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError::Malformed("0 or 1")),
        }
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(WireError::Malformed("a varint of at most 64 bits"))
    }

    pub(crate) fn varint_u32(&mut self) -> Result<u32> {
        u32::try_from(self.varint()?)
            .map_err(|_| WireError::Malformed("a number of at most 32 bits"))
    }

    pub(crate) fn signed(&mut self) -> Result<i64> {
        let bits = self.varint()?;
        Ok((bits >> 1) as i64 ^ -((bits & 1) as i64))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.varint()?;
        self.take(usize::try_from(length).map_err(|_| WireError::Malformed("more bytes"))?)
    }

    pub(crate) fn string(&mut self) -> Result<String> {
        let text = std::str::from_utf8(self.bytes()?);
        Ok(text
            .map_err(|_| WireError::Malformed("UTF-8 text"))?
            .to_owned())
    }

    pub(crate) fn option<T>(
        &mut self,
        value: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(match self.bool()? {
            true => Some(value(self)?),
            false => None,
        })
    }

    /// A varint count, then that many items of at least one byte each.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.varint()?;
        if count > self.rest.len() as u64 {
            return Err(WireError::Malformed("as many items as counted"));
        }
        self.charge::<T>(count)?;
        (0..count).map(|_| item(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_survive_the_round_trip(value: u64) {
            let mut bytes = Vec::new();
            bytes.put_varint(value);
            bytes.put_signed(value as i64);
            let mut cursor = Cursor::new(&bytes, TRUSTED);
            prop_assert_eq!(cursor.varint().unwrap(), value);
            prop_assert_eq!(cursor.signed().unwrap(), value as i64);
            prop_assert!(cursor.is_empty());
        }
    }

    #[test]
    fn small_numbers_of_either_sign_take_one_byte() {
        for value in [0, -1, 1, -64, 63] {
            let mut bytes = Vec::new();
            bytes.put_signed(value);
            assert_eq!(bytes.len(), 1, "{value}");
        }
    }

    #[test]
    fn overlong_varints_are_refused() {
        assert!(Cursor::new(&[0xff; 11], TRUSTED).varint().is_err());
        let mut ten = [0xff; 10];
        ten[9] = 0x02;
        assert!(Cursor::new(&ten, TRUSTED).varint().is_err());
    }

    #[test]
    fn a_list_that_would_fill_the_memory_is_refused_before_it_is_allocated() {
        let mut bytes = Vec::new();
        bytes.put_varint(10 << 20);
        bytes.resize(11 << 20, 0);
        let item = |cursor: &mut Cursor<'_>| cursor.u8().map(|_| [0u64; 16]);
        let refused = Cursor::new(&bytes, UNTRUSTED).list(item);
        assert!(matches!(refused, Err(WireError::Malformed(_))));
        assert!(Cursor::new(&bytes, UNTRUSTED).list(|c| c.u8()).is_ok());
    }

    #[test]
    fn a_list_longer_than_its_bytes_is_refused_before_it_is_allocated() {
        let mut bytes = Vec::new();
        bytes.put_varint(u64::MAX / 2);
        assert!(Cursor::new(&bytes, TRUSTED).list(|c| c.u8()).is_err());
    }
}
