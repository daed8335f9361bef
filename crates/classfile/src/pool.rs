//! The constant pool. Entries are only appended, so an index once handed out stays true; the bytes of existing
//! entries are never rewritten.
//!
//! The pool keeps the file's own bytes and an offset per entry: reading a class costs one copy, writing it another.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::mutf8;
use crate::reader::{Reader, i32_at, u16_at};

/// Tags of pool entries, as in the file.
pub mod tag {
    #![expect(missing_docs, reason = "the names are those of the specification")]
    pub const UTF8: u8 = 1;
    pub const INTEGER: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const LONG: u8 = 5;
    pub const DOUBLE: u8 = 6;
    pub const CLASS: u8 = 7;
    pub const STRING: u8 = 8;
    pub const FIELD: u8 = 9;
    pub const METHOD: u8 = 10;
    pub const INTERFACE_METHOD: u8 = 11;
    pub const NAME_AND_TYPE: u8 = 12;
    pub const METHOD_HANDLE: u8 = 15;
    pub const METHOD_TYPE: u8 = 16;
    pub const DYNAMIC: u8 = 17;
    pub const INVOKE_DYNAMIC: u8 = 18;
    pub const MODULE: u8 = 19;
    pub const PACKAGE: u8 = 20;
}

/// No entry: index 0, and the second half of a `long` or `double`.
const UNUSABLE: u32 = u32::MAX;

/// How far a lookup goes before it gives up and adds a duplicate, which is legal. Bounds hostile collisions.
const MAX_PROBES: usize = 64;

/// The constant pool of one class.
#[derive(Debug, Clone)]
pub struct Pool {
    /// All entries, tag first, as in the file.
    bytes: Vec<u8>,
    /// Offset of each entry in `bytes`, or [`UNUSABLE`].
    offsets: Vec<u32>,
    /// Open-addressing table of indices by entry bytes, 0 for free. Empty until the first addition.
    table: Vec<u16>,
}

/// What a field or method constant names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRef<'a> {
    /// Internal name of the class that the constant names, not necessarily the one that declares the member.
    pub owner: Cow<'a, str>,
    /// Name.
    pub name: Cow<'a, str>,
    /// Descriptor.
    pub descriptor: Cow<'a, str>,
    /// Whether the constant says the owner is an interface.
    pub is_interface: bool,
}

/// What an invokedynamic or dynamic constant names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicRef<'a> {
    /// Index into the `BootstrapMethods` attribute.
    pub bootstrap: u16,
    /// Name.
    pub name: Cow<'a, str>,
    /// Method descriptor of a call site, field descriptor of a constant.
    pub descriptor: Cow<'a, str>,
}

impl Pool {
    /// A pool without entries.
    pub fn new() -> Pool {
        Pool {
            bytes: Vec::new(),
            offsets: vec![UNUSABLE],
            table: Vec::new(),
        }
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Pool> {
        let count = reader.u16()?;
        if count == 0 {
            return Err(Error::BadConstant {
                index: 0,
                wanted: "pool size",
            });
        }
        let mut offsets = Vec::with_capacity(usize::from(count));
        offsets.push(UNUSABLE);
        let whole = reader.clone();
        let start = reader.at();
        while offsets.len() < usize::from(count) {
            offsets.push((reader.at() - start) as u32);
            let tag = reader.u8()?;
            let length = match tag {
                tag::UTF8 => usize::from(reader.u16()?),
                tag::LONG | tag::DOUBLE => 8,
                tag::INTEGER
                | tag::FLOAT
                | tag::FIELD
                | tag::METHOD
                | tag::INTERFACE_METHOD
                | tag::NAME_AND_TYPE
                | tag::DYNAMIC
                | tag::INVOKE_DYNAMIC => 4,
                tag::METHOD_HANDLE => 3,
                tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => 2,
                _ => {
                    return Err(Error::BadTag {
                        index: (offsets.len() - 1) as u16,
                        tag,
                    });
                }
            };
            reader.take(length)?;
            if matches!(tag, tag::LONG | tag::DOUBLE) {
                if offsets.len() >= usize::from(count) {
                    let index = (offsets.len() - 1) as u16;
                    return Err(Error::BadConstant {
                        index,
                        wanted: "constant with room for its second half",
                    });
                }
                offsets.push(UNUSABLE);
            }
        }
        let mut whole = whole;
        let bytes = whole.take(reader.at() - start)?.to_vec();
        Ok(Pool {
            bytes,
            offsets,
            table: Vec::new(),
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        // `push` keeps the count below 65,536.
        out.extend((self.offsets.len() as u16).to_be_bytes());
        out.extend(&self.bytes);
    }

    /// Puts `to` in the place of `from` in all texts, both of the same length: names of classes and
    /// members, descriptors, strings.
    pub fn rename(&mut self, from: &str, to: &str) {
        debug_assert_eq!(from.len(), to.len());
        for offset in self.offsets.iter().filter(|offset| **offset != UNUSABLE) {
            let at = *offset as usize;
            let Some([tag::UTF8, high, low]) = self.bytes.get(at..at + 3) else {
                continue;
            };
            let length = usize::from(u16::from_be_bytes([*high, *low]));
            let Some(text) = self.bytes.get_mut(at + 3..at + 3 + length) else {
                continue;
            };
            let mut start = 0;
            while let Some(found) = text[start..]
                .windows(from.len())
                .position(|part| part == from.as_bytes())
            {
                start += found;
                text[start..start + to.len()].copy_from_slice(to.as_bytes());
                start += to.len();
            }
        }
        // What was known of constants by their contents.
        self.table.clear();
    }

    /// Number of indices, the unusable index 0 included: what the file calls `constant_pool_count`.
    pub fn count(&self) -> usize {
        self.offsets.len()
    }

    /// The tag at an index.
    pub fn tag(&self, index: u16) -> Option<u8> {
        Some(*self.entry(index)?.first()?)
    }

    /// Tag and content of an entry, to the end of the pool's bytes.
    fn entry(&self, index: u16) -> Option<&[u8]> {
        let offset = *self.offsets.get(usize::from(index))?;
        if offset == UNUSABLE {
            return None;
        }
        self.bytes.get(offset as usize..)
    }

    fn wanted(&self, index: u16, tags: &[u8], wanted: &'static str) -> Result<&[u8]> {
        match self.entry(index) {
            Some(entry) if entry.first().is_some_and(|tag| tags.contains(tag)) => Ok(&entry[1..]),
            _ => Err(Error::BadConstant { index, wanted }),
        }
    }

    /// The bytes of a UTF-8 constant, in the file's own encoding.
    pub fn utf8_bytes(&self, index: u16) -> Result<&[u8]> {
        let entry = self.wanted(index, &[tag::UTF8], "UTF-8 constant")?;
        entry
            .get(2..2 + usize::from(u16_at(entry, 0)))
            .ok_or(Error::BadConstant {
                index,
                wanted: "UTF-8 constant",
            })
    }

    /// A UTF-8 constant, decoded. Unpaired surrogates become U+FFFD.
    pub fn utf8(&self, index: u16) -> Result<Cow<'_, str>> {
        self.utf8_bytes(index).map(mutf8::decode)
    }

    /// The name a class constant holds, in the file's own encoding.
    pub fn class_name_bytes(&self, index: u16) -> Result<&[u8]> {
        self.utf8_bytes(u16_at(
            self.wanted(index, &[tag::CLASS], "class constant")?,
            0,
        ))
    }

    /// The name a class constant holds: internal form, or a descriptor for arrays.
    pub fn class_name(&self, index: u16) -> Result<Cow<'_, str>> {
        self.class_name_bytes(index).map(mutf8::decode)
    }

    /// Name and descriptor of a name-and-type constant, in the file's own encoding.
    pub fn name_and_type_bytes(&self, index: u16) -> Result<(&[u8], &[u8])> {
        let entry = self.wanted(index, &[tag::NAME_AND_TYPE], "name and type constant")?;
        Ok((
            self.utf8_bytes(u16_at(entry, 0))?,
            self.utf8_bytes(u16_at(entry, 2))?,
        ))
    }

    /// Name and descriptor of a name-and-type constant.
    pub fn name_and_type(&self, index: u16) -> Result<(Cow<'_, str>, Cow<'_, str>)> {
        let (name, descriptor) = self.name_and_type_bytes(index)?;
        Ok((mutf8::decode(name), mutf8::decode(descriptor)))
    }

    /// Owner, name and descriptor of a field or method constant, in the file's own encoding.
    pub fn member_bytes(&self, index: u16) -> Result<(&[u8], &[u8], &[u8])> {
        let tags = [tag::FIELD, tag::METHOD, tag::INTERFACE_METHOD];
        let entry = self.wanted(index, &tags, "field or method constant")?;
        let (name, descriptor) = self.name_and_type_bytes(u16_at(entry, 2))?;
        Ok((self.class_name_bytes(u16_at(entry, 0))?, name, descriptor))
    }

    /// What a field or method constant names.
    pub fn member(&self, index: u16) -> Result<MemberRef<'_>> {
        let (owner, name, descriptor) = self.member_bytes(index)?;
        Ok(MemberRef {
            owner: mutf8::decode(owner),
            name: mutf8::decode(name),
            descriptor: mutf8::decode(descriptor),
            is_interface: self.tag(index) == Some(tag::INTERFACE_METHOD),
        })
    }

    /// The descriptor of a field, method, invokedynamic or dynamic constant, in the file's own encoding.
    pub fn descriptor_bytes(&self, index: u16) -> Result<&[u8]> {
        let tags = [
            tag::FIELD,
            tag::METHOD,
            tag::INTERFACE_METHOD,
            tag::DYNAMIC,
            tag::INVOKE_DYNAMIC,
        ];
        let entry = self.wanted(index, &tags, "constant with a descriptor")?;
        Ok(self.name_and_type_bytes(u16_at(entry, 2))?.1)
    }

    /// What an invokedynamic or dynamic constant names.
    pub fn dynamic(&self, index: u16) -> Result<DynamicRef<'_>> {
        let entry = self.wanted(
            index,
            &[tag::DYNAMIC, tag::INVOKE_DYNAMIC],
            "dynamic constant",
        )?;
        let (name, descriptor) = self.name_and_type(u16_at(entry, 2))?;
        Ok(DynamicRef {
            bootstrap: u16_at(entry, 0),
            name,
            descriptor,
        })
    }

    /// Reference kind and referenced index of a method handle constant.
    pub fn method_handle(&self, index: u16) -> Result<(u8, u16)> {
        let entry = self.wanted(index, &[tag::METHOD_HANDLE], "method handle constant")?;
        Ok((entry.first().copied().unwrap_or(0), u16_at(entry, 1)))
    }

    /// The descriptor of a method type constant.
    pub fn method_type(&self, index: u16) -> Result<Cow<'_, str>> {
        let entry = self.wanted(index, &[tag::METHOD_TYPE], "method type constant")?;
        self.utf8(u16_at(entry, 0))
    }

    /// The text of a string constant.
    pub fn string(&self, index: u16) -> Result<Cow<'_, str>> {
        self.utf8(u16_at(
            self.wanted(index, &[tag::STRING], "string constant")?,
            0,
        ))
    }

    /// The value of an integer constant.
    pub fn integer(&self, index: u16) -> Result<i32> {
        Ok(i32_at(
            self.wanted(index, &[tag::INTEGER], "integer constant")?,
            0,
        ))
    }

    /// The value of a long constant.
    pub fn long(&self, index: u16) -> Result<i64> {
        let entry = self.wanted(index, &[tag::LONG], "long constant")?;
        Ok(i64::from(i32_at(entry, 0)) << 32 | i64::from(i32_at(entry, 4) as u32))
    }

    /// The bytes of a `float` or `double` constant.
    pub fn bits(&self, index: u16) -> Result<&[u8]> {
        let entry = self.wanted(index, &[tag::FLOAT, tag::DOUBLE], "floating constant")?;
        let width = match self.tag(index) {
            Some(tag::FLOAT) => 4,
            _ => 8,
        };
        Ok(entry.get(..width).unwrap_or_default())
    }

    /// Adds or finds a UTF-8 constant.
    pub fn add_utf8(&mut self, text: &str) -> Result<u16> {
        self.add_utf8_bytes(&mutf8::encode(text))
    }

    /// Adds or finds a UTF-8 constant given in the file's own encoding.
    pub fn add_utf8_bytes(&mut self, text: &[u8]) -> Result<u16> {
        let length = u16::try_from(text.len()).map_err(|_| Error::StringTooLong(text.len()))?;
        let mut entry = Vec::with_capacity(text.len() + 3);
        entry.push(tag::UTF8);
        entry.extend(length.to_be_bytes());
        entry.extend(text);
        self.intern(&entry)
    }

    /// Adds or finds a class constant.
    pub fn add_class(&mut self, name: &str) -> Result<u16> {
        self.add_class_bytes(&mutf8::encode(name))
    }

    /// Adds or finds a class constant whose name is in the file's own encoding.
    pub fn add_class_bytes(&mut self, name: &[u8]) -> Result<u16> {
        let name = self.add_utf8_bytes(name)?;
        self.intern(&one(tag::CLASS, name))
    }

    /// Adds or finds a string constant.
    pub fn add_string(&mut self, text: &str) -> Result<u16> {
        let text = self.add_utf8(text)?;
        self.intern(&one(tag::STRING, text))
    }

    /// Adds or finds an integer constant.
    pub fn add_integer(&mut self, value: i32) -> Result<u16> {
        let [a, b, c, d] = value.to_be_bytes();
        self.intern(&[tag::INTEGER, a, b, c, d])
    }

    /// Gives an integer constant another value, for all who use it.
    pub fn set_integer(&mut self, index: u16, value: i32) -> Result<()> {
        self.wanted(index, &[tag::INTEGER], "integer constant")?;
        let at = self.offsets[usize::from(index)] as usize + 1;
        self.bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
        // The lookup table knows the old value.
        self.table.clear();
        Ok(())
    }

    /// Adds or finds a long constant.
    pub fn add_long(&mut self, value: i64) -> Result<u16> {
        let [a, b, c, d, e, f, g, h] = value.to_be_bytes();
        self.intern(&[tag::LONG, a, b, c, d, e, f, g, h])
    }

    /// Adds or finds a name-and-type constant.
    pub fn add_name_and_type(&mut self, name: &str, descriptor: &str) -> Result<u16> {
        let name = self.add_utf8(name)?;
        let descriptor = self.add_utf8(descriptor)?;
        self.intern(&two(tag::NAME_AND_TYPE, name, descriptor))
    }

    /// Adds or finds a field constant.
    pub fn add_field_ref(&mut self, owner: &str, name: &str, descriptor: &str) -> Result<u16> {
        self.add_member(tag::FIELD, owner, name, descriptor)
    }

    /// Adds or finds the constant of a method of a class.
    pub fn add_method_ref(&mut self, owner: &str, name: &str, descriptor: &str) -> Result<u16> {
        self.add_member(tag::METHOD, owner, name, descriptor)
    }

    /// Adds or finds the constant of a method of an interface.
    pub fn add_interface_method_ref(
        &mut self,
        owner: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<u16> {
        self.add_member(tag::INTERFACE_METHOD, owner, name, descriptor)
    }

    /// Adds or finds a method handle constant.
    pub fn add_method_handle(&mut self, kind: u8, member: u16) -> Result<u16> {
        let [a, b] = member.to_be_bytes();
        self.intern(&[tag::METHOD_HANDLE, kind, a, b])
    }

    /// Adds or finds the constant of a dynamic call site.
    pub fn add_invoke_dynamic(
        &mut self,
        bootstrap: u16,
        name: &str,
        descriptor: &str,
    ) -> Result<u16> {
        let member = self.add_name_and_type(name, descriptor)?;
        self.intern(&two(tag::INVOKE_DYNAMIC, bootstrap, member))
    }

    /// Adds or finds a constant of another pool, with what it is made of: a text, a number, a string, a class, or a
    /// name with its type.
    pub fn copy(&mut self, from: &Pool, index: u16) -> Result<u16> {
        let bad = Error::BadConstant {
            index,
            wanted: "constant that stands for itself",
        };
        let entry = from.entry(index).unwrap_or_default();
        match from.tag(index) {
            Some(tag::UTF8) => self.add_utf8_bytes(from.utf8_bytes(index)?),
            Some(tag @ (tag::CLASS | tag::STRING)) => {
                let text = self.add_utf8_bytes(from.utf8_bytes(u16_at(entry, 1))?)?;
                self.intern(&one(tag, text))
            }
            Some(tag::NAME_AND_TYPE) => {
                let (name, descriptor) = from.name_and_type_bytes(index)?;
                let name = self.add_utf8_bytes(name)?;
                let descriptor = self.add_utf8_bytes(descriptor)?;
                self.intern(&two(tag::NAME_AND_TYPE, name, descriptor))
            }
            Some(tag::INTEGER | tag::FLOAT) => self.intern(entry.get(..5).ok_or(bad)?),
            Some(tag::LONG | tag::DOUBLE) => self.intern(entry.get(..9).ok_or(bad)?),
            _ => Err(bad),
        }
    }

    fn add_member(&mut self, tag: u8, owner: &str, name: &str, descriptor: &str) -> Result<u16> {
        let owner = self.add_class(owner)?;
        let member = self.add_name_and_type(name, descriptor)?;
        self.intern(&two(tag, owner, member))
    }

    fn intern(&mut self, entry: &[u8]) -> Result<u16> {
        // Half empty at worst, for all the entries there are and may come.
        if self.table.len() < (self.offsets.len() + 1) * 2 {
            self.rebuild();
        }
        let mask = self.table.len() - 1;
        let mut slot = hash(entry) & mask;
        for _ in 0..MAX_PROBES {
            match self.table[slot] {
                0 => {
                    let index = self.push(entry)?;
                    self.table[slot] = index;
                    return Ok(index);
                }
                // An entry's length follows from its first bytes, so a common prefix of this length is equality.
                index if self.entry(index).is_some_and(|e| e.starts_with(entry)) => {
                    return Ok(index);
                }
                _ => slot = (slot + 1) & mask,
            }
        }
        self.push(entry)
    }

    fn push(&mut self, entry: &[u8]) -> Result<u16> {
        let slots = if matches!(entry.first(), Some(&(tag::LONG | tag::DOUBLE))) {
            2
        } else {
            1
        };
        let index = self.offsets.len();
        if index + slots > usize::from(u16::MAX) {
            return Err(Error::PoolFull);
        }
        self.offsets.push(self.bytes.len() as u32);
        if slots == 2 {
            self.offsets.push(UNUSABLE);
        }
        self.bytes.extend(entry);
        Ok(index as u16)
    }

    fn rebuild(&mut self) {
        let size = (self.offsets.len() * 4).next_power_of_two().max(64);
        let mut table = vec![0; size];
        let mut end = self.bytes.len();
        // Backwards, so that each entry ends where the next one starts, and so that of equal entries the first wins.
        for index in (1..self.offsets.len()).rev() {
            let offset = self.offsets[index];
            if offset == UNUSABLE {
                continue;
            }
            let entry = &self.bytes[offset as usize..end];
            end = offset as usize;
            let mut slot = hash(entry) & (size - 1);
            for _ in 0..MAX_PROBES {
                let same = table[slot] == 0
                    || self
                        .entry(table[slot])
                        .is_some_and(|e| e.starts_with(entry));
                if same {
                    table[slot] = index as u16;
                    break;
                }
                slot = (slot + 1) & (size - 1);
            }
        }
        self.table = table;
    }
}

impl Default for Pool {
    fn default() -> Self {
        Pool::new()
    }
}

fn one(tag: u8, index: u16) -> [u8; 3] {
    let [a, b] = index.to_be_bytes();
    [tag, a, b]
}

fn two(tag: u8, first: u16, second: u16) -> [u8; 5] {
    let [a, b] = first.to_be_bytes();
    let [c, d] = second.to_be_bytes();
    [tag, a, b, c, d]
}

/// FNV-1a with a final mix, since only the low bits are used.
fn hash(bytes: &[u8]) -> usize {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    }
    (hash ^ hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_entries_share_an_index_and_indices_never_move() {
        let mut pool = Pool::new();
        let method = pool.add_method_ref("a/B", "m", "(I)V").unwrap();
        let long = pool.add_long(7).unwrap();
        let after = pool.add_integer(7).unwrap();
        assert_eq!(after, long + 2);
        for i in 0..1000 {
            pool.add_integer(i).unwrap();
        }
        assert_eq!(pool.add_method_ref("a/B", "m", "(I)V").unwrap(), method);
        assert_eq!(pool.add_integer(7).unwrap(), after);
        assert_eq!(pool.add_long(7).unwrap(), long);
        assert_ne!(
            pool.add_interface_method_ref("a/B", "m", "(I)V").unwrap(),
            method
        );
        let member = pool.member(method).unwrap();
        assert_eq!(
            (&*member.owner, &*member.name, &*member.descriptor),
            ("a/B", "m", "(I)V")
        );
        assert_eq!(pool.long(long).unwrap(), 7);
    }

    #[test]
    fn a_full_pool_is_a_typed_error() {
        let mut pool = Pool::new();
        let error = (0..70_000).find_map(|i| pool.add_integer(i).err());
        assert_eq!(error, Some(Error::PoolFull));
        assert_eq!(pool.count(), 65_535);
        assert_eq!(pool.add_long(1), Err(Error::PoolFull));
        assert_eq!(pool.add_integer(0), Ok(1));
    }

    #[test]
    fn a_written_pool_reads_back() {
        let mut pool = Pool::new();
        let text = pool.add_string("h\0é😀").unwrap();
        pool.add_long(-3).unwrap();
        let mut bytes = Vec::new();
        pool.write(&mut bytes);
        let again = Pool::parse(&mut Reader::new(&bytes)).unwrap();
        assert_eq!(again.string(text).unwrap(), "h\0é😀");
        assert_eq!(again.count(), pool.count());
        assert_eq!(again.bytes, pool.bytes);
    }
}
