//! The small byte codec of the metadata: little-endian numbers, LEB128 varints, and strings and
//! byte strings with a varint length in front. Knows nothing of blocks.

use crate::allowance::Allowance;

/// Why bytes could not be understood; names what was expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Writing.
pub(crate) trait Put {
    fn put(&mut self, bytes: &[u8]);

    fn put_u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    fn put_u16(&mut self, value: u16) {
        self.put(&value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    fn put_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.put_u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.put_u8(value as u8);
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.put_varint(bytes.len() as u64);
        self.put(bytes);
    }

    fn put_str(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }

    fn put_optional_str(&mut self, text: Option<&str>) {
        self.put_u8(u8::from(text.is_some()));
        if let Some(text) = text {
            self.put_str(text);
        }
    }
}

impl Put for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Reading. Every step checks what is left, and charges what it makes to an allowance.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    allowance: &'a Allowance,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], allowance: &'a Allowance) -> Cursor<'a> {
        Cursor {
            rest: bytes,
            allowance,
        }
    }

    /// The allowance that all decoded items are charged to.
    pub(crate) fn allowance(&self) -> &'a Allowance {
        self.allowance
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        match self.rest.split_at_checked(length) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(Malformed("more bytes")),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(*head)
            }
            None => Err(Malformed("more bytes")),
        }
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[b]| b)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Malformed> {
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
        Err(Malformed("a varint of at most 64 bits"))
    }

    pub(crate) fn varint_u32(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.varint()?).map_err(|_| Malformed("a number of at most 32 bits"))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.varint()?;
        self.take(usize::try_from(length).map_err(|_| Malformed("more bytes"))?)
    }

    pub(crate) fn str(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed("UTF-8 text"))
    }

    pub(crate) fn string(&mut self) -> Result<String, Malformed> {
        let text = self.str()?;
        self.allowance.charge_allocation(text.len())?;
        Ok(text.to_owned())
    }

    pub(crate) fn optional_string(&mut self) -> Result<Option<String>, Malformed> {
        match self.u8()? {
            0 => Ok(None),
            1 => self.string().map(Some),
            _ => Err(Malformed("0 or 1 before an optional text")),
        }
    }

    /// A varint count, then that many items of at least one byte each.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.varint()?;
        if count > self.left() as u64 {
            return Err(Malformed("as many items as counted"));
        }
        self.allowance.charge_items::<T>(count)?;
        (0..count).map(|_| item(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_survive_the_round_trip(value: u64) {
            let mut bytes = Vec::new();
            bytes.put_varint(value);
            let allowance = Allowance::unlimited();
            let mut cursor = Cursor::new(&bytes, &allowance);
            prop_assert_eq!(cursor.varint(), Ok(value));
            prop_assert!(cursor.is_empty());
        }
    }

    #[test]
    fn overlong_varints_are_refused() {
        assert!(
            Cursor::new(&[0xff; 11], &Allowance::unlimited())
                .varint()
                .is_err()
        );
        let mut nine = [0xff; 10];
        nine[9] = 0x02;
        assert!(
            Cursor::new(&nine, &Allowance::unlimited())
                .varint()
                .is_err()
        );
    }

    #[test]
    fn a_list_longer_than_its_bytes_is_refused_before_it_is_allocated() {
        let mut bytes = Vec::new();
        bytes.put_varint(u64::MAX / 2);
        assert!(
            Cursor::new(&bytes, &Allowance::unlimited())
                .list(|c| c.u8())
                .is_err()
        );
    }
}
