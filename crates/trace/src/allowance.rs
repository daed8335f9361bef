//! The memory that reading a recording may take, in proportion to its file.
//!
//! A file of some kilobytes can decompress to gigabytes, and a byte of that can stand for an item of a
//! hundred bytes. So every decoder has an [`Allowance`], which comes with its cursor, and charges there what
//! it is about to make: items of lists, texts, values, entries of tables. Nothing is allocated before it is
//! charged.

use std::cell::Cell;

use crate::codec::Malformed;

/// Bytes that any recording may take, however small it is.
const BASE: u64 = 64 << 20;

/// Bytes more for each byte of the file. Metadata compresses to a tenth, and takes three times as much
/// when decoded.
const PER_BYTE: u64 = 64;

/// Bytes that metadata may decompress to, and how many more for each byte of the file. Classes and blobs are
/// not kept: they cost time and no memory.
const RAW_BASE: u64 = 16 << 20;
const RAW_PER_BYTE: u64 = 200;

/// Bytes that an allocation costs besides its content.
const ALLOCATION: u64 = 16;

/// The remaining number of items that may be decoded. Shared by all cursors that decode for one purpose.
#[derive(Debug)]
pub(crate) struct Allowance {
    /// Bytes of memory.
    left: Cell<u64>,
    /// Bytes that blocks decompress to.
    raw: Cell<u64>,
}

impl Allowance {
    /// For a recording with files of so many bytes in all.
    pub(crate) fn of_file(bytes: u64) -> Allowance {
        let allowance = Allowance {
            left: BASE.into(),
            raw: RAW_BASE.into(),
        };
        allowance.grow(bytes);
        allowance
    }

    /// For bytes that this process wrote itself, or that are looked at where they are.
    pub(crate) fn unlimited() -> Allowance {
        Allowance {
            left: u64::MAX.into(),
            raw: u64::MAX.into(),
        }
    }

    /// Adds what a further file of the recording allows.
    pub(crate) fn grow(&self, bytes: u64) {
        for (left, per_byte) in [(&self.left, PER_BYTE), (&self.raw, RAW_PER_BYTE)] {
            let more = bytes.saturating_mul(per_byte);
            left.set(left.get().saturating_add(more));
        }
    }

    /// Charges bytes of memory.
    #[inline]
    pub(crate) fn charge(&self, bytes: u64) -> Result<(), Malformed> {
        take(&self.left, bytes)
    }

    /// Charges a block that is to be decompressed to so many bytes.
    pub(crate) fn charge_block(&self, bytes: u32) -> Result<(), Malformed> {
        take(&self.raw, bytes.into())
    }

    /// Charges items of a type, without what they own elsewhere.
    #[inline]
    pub(crate) fn charge_items<T>(&self, count: u64) -> Result<(), Malformed> {
        self.charge((size_of::<T>() as u64).saturating_mul(count))
    }

    /// Charges an allocation of its own: a text, a boxed value.
    #[inline]
    pub(crate) fn charge_allocation(&self, bytes: usize) -> Result<(), Malformed> {
        self.charge(bytes as u64 + ALLOCATION)
    }
}

#[inline]
fn take(from: &Cell<u64>, bytes: u64) -> Result<(), Malformed> {
    let left = from.get().checked_sub(bytes);
    from.set(left.ok_or(Malformed("content in proportion to the size of the file"))?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_charged_is_gone_and_nothing_more_can_be_had() {
        let allowance = Allowance::of_file(10);
        let whole = BASE + 10 * PER_BYTE;
        assert!(allowance.charge(whole - 1).is_ok());
        assert!(allowance.charge(2).is_err());
        assert!(allowance.charge(1).is_ok());
        allowance.grow(1);
        assert!(allowance.charge_items::<u64>(u64::MAX).is_err());
        assert!(allowance.charge_items::<u64>(PER_BYTE / 8).is_ok());
        assert!(allowance.charge_allocation(0).is_err());
    }
}
