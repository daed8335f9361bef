//! Where old pcs went, and the attributes of `Code` that must follow.
//!
//! Frames and the exception table must name instructions exactly. Debug tables need not: some tools write pcs inside
//! an instruction there, and the VM does not mind, so those move with the instruction they are in.

use crate::annotations::skip_annotation;
use crate::class::Attribute;
use crate::edit::EditPosition;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::reader::{Reader, u16_at};

/// Marks pcs inside an instruction.
const INSIDE: u32 = 1 << 31;

/// From old pcs to new ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PcMap {
    /// Per old pc, the index of the instruction there, with [`INSIDE`] set where it does not start. The end of the
    /// code counts as an instruction.
    indices: Vec<u32>,
    /// Per instruction, where the code before it starts; one more for the end.
    pub(crate) starts: Vec<u32>,
    /// Per instruction, where it is itself.
    pub(crate) instructions: Vec<u32>,
    /// Per instruction, where it ends and the code after it starts.
    pub(crate) afters: Vec<u32>,
}

impl PcMap {
    pub(crate) fn new(pcs: impl Iterator<Item = u32>, length: usize) -> PcMap {
        let mut indices = Vec::with_capacity(length + 1);
        let mut count: u32 = 0;
        for pc in pcs {
            indices.resize(pc as usize, count.saturating_sub(1) | INSIDE);
            indices.push(count);
            count += 1;
        }
        indices.resize(length, count.saturating_sub(1) | INSIDE);
        indices.push(count);
        let count = count as usize;
        PcMap {
            indices,
            starts: vec![0; count + 1],
            instructions: vec![0; count],
            afters: vec![0; count],
        }
    }

    /// The new pc of the instruction that was at `pc`, or nothing if none was.
    pub fn new_pc(&self, pc: u32) -> Option<u32> {
        self.instruction(pc, "").ok()
    }

    /// The index of the instruction at an old pc.
    pub(crate) fn index(&self, pc: i64, what: &'static str) -> Result<usize> {
        let index = usize::try_from(pc).ok().and_then(|pc| self.indices.get(pc));
        match index {
            Some(&index) if (index as usize) < self.instructions.len() => Ok(index as usize),
            _ => Err(Error::BadTarget { what, pc }),
        }
    }

    /// Where the code before an instruction starts.
    pub(crate) fn target(&self, pc: u32, what: &'static str) -> Result<u32> {
        Ok(self.starts[self.index(i64::from(pc), what)?])
    }

    /// Where the code before an old pc starts; the end of the old code is allowed.
    pub(crate) fn start(&self, pc: u32, what: &'static str) -> Result<u32> {
        match self.indices.get(pc as usize) {
            Some(&index) if index & INSIDE == 0 => Ok(self.starts[index as usize]),
            _ => Err(Error::BadTarget {
                what,
                pc: i64::from(pc),
            }),
        }
    }

    pub(crate) fn instruction(&self, pc: u32, what: &'static str) -> Result<u32> {
        Ok(self.instructions[self.index(i64::from(pc), what)?])
    }

    pub(crate) fn after(&self, pc: u32, what: &'static str) -> Result<u32> {
        Ok(self.afters[self.index(i64::from(pc), what)?])
    }

    pub(crate) fn end(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    pub(crate) fn place(&self, place: EditPosition) -> Result<u32> {
        match place {
            EditPosition::AfterEntry => Ok(self.starts[0]),
            EditPosition::Before(pc) => self.target(pc, "place"),
            EditPosition::At(pc) => self.instruction(pc, "place"),
            EditPosition::After(pc) => self.after(pc, "place"),
            EditPosition::End => Ok(self.end()),
        }
    }

    /// The index of the instruction that contains an old pc, or the end.
    fn containing(&self, pc: u32) -> usize {
        let pc = (pc as usize).min(self.indices.len() - 1);
        (self.indices[pc] & !INSIDE) as usize
    }

    /// Where debug information that starts at an old pc starts now. What holds from the first pc on also holds in
    /// the entry code.
    fn debug_start(&self, pc: u32) -> u32 {
        if pc == 0 {
            0
        } else {
            self.starts[self.containing(pc)]
        }
    }

    fn debug_instruction(&self, pc: u32) -> u32 {
        let index = self.containing(pc);
        self.instructions
            .get(index)
            .copied()
            .unwrap_or_else(|| self.end())
    }

    /// Start and length of a range of old pcs.
    fn debug_range(&self, start: u16, length: u16) -> (u16, u16) {
        let from = self.debug_start(u32::from(start));
        let to = match u32::from(start) + u32::from(length) {
            0 => 0,
            end => self.starts[self.containing(end)],
        };
        (from as u16, to.saturating_sub(from) as u16)
    }
}

/// The one attribute of that name, if any; two are malformed.
pub(crate) fn only<'a>(
    attributes: &'a [Attribute],
    pool: &Pool,
    name: &'static str,
) -> Result<Option<&'a Attribute>> {
    let mut found = attributes.iter().filter(|a| a.is(pool, name));
    match (found.next(), found.next()) {
        (first, None) => Ok(first),
        _ => Err(Error::BadAttribute(name)),
    }
}

pub(crate) fn lines(bytes: &[u8], map: &PcMap) -> Result<Vec<u8>> {
    let mut out = bytes.to_vec();
    let mut reader = Reader::new(bytes);
    for _ in 0..reader.u16()? {
        let at = reader.at();
        let pc = reader.u16()?;
        reader.u16()?;
        set(&mut out, at, map.debug_start(u32::from(pc)) as u16);
    }
    reader.end("LineNumberTable attribute")?;
    Ok(out)
}

/// `LocalVariableTable` and `LocalVariableTypeTable`, which are alike where it matters.
pub(crate) fn variables(bytes: &[u8], map: &PcMap) -> Result<Vec<u8>> {
    let mut out = bytes.to_vec();
    let mut reader = Reader::new(bytes);
    for _ in 0..reader.u16()? {
        let at = reader.at();
        let entry = reader.take(10)?;
        set_range(&mut out, at, entry, map);
    }
    reader.end("LocalVariableTable attribute")?;
    Ok(out)
}

pub(crate) fn type_annotations(bytes: &[u8], map: &PcMap) -> Result<Vec<u8>> {
    let mut out = bytes.to_vec();
    let mut reader = Reader::new(bytes);
    for _ in 0..reader.u16()? {
        let target = reader.u8()?;
        let at = reader.at();
        match target {
            0x00 | 0x01 | 0x16 => drop(reader.take(1)?),
            0x10 | 0x11 | 0x12 | 0x17 => drop(reader.take(2)?),
            0x13..=0x15 => {}
            // Local variables and resources.
            0x40 | 0x41 => {
                for _ in 0..reader.u16()? {
                    let at = reader.at();
                    let entry = reader.take(6)?;
                    set_range(&mut out, at, entry, map);
                }
            }
            // Catch clauses, by position in the exception table, to which we only append.
            0x42 => drop(reader.take(2)?),
            // `instanceof`, `new` and method references, by pc.
            0x43..=0x46 => {
                let pc = reader.u16()?;
                set(&mut out, at, map.debug_instruction(u32::from(pc)) as u16);
            }
            // Casts and type arguments, by pc.
            0x47..=0x4b => {
                let pc = reader.u16()?;
                reader.u8()?;
                set(&mut out, at, map.debug_instruction(u32::from(pc)) as u16);
            }
            _ => return Err(Error::BadAttribute("type annotations")),
        }
        let path = reader.u8()?;
        reader.take(2 * usize::from(path))?;
        skip_annotation(&mut reader, 0)?;
    }
    reader.end("type annotations attribute")?;
    Ok(out)
}

fn set_range(out: &mut [u8], at: usize, entry: &[u8], map: &PcMap) {
    let (start, length) = map.debug_range(u16_at(entry, 0), u16_at(entry, 2));
    set(out, at, start);
    set(out, at + 2, length);
}

fn set(out: &mut [u8], at: usize, value: u16) {
    if let Some(place) = out.get_mut(at..at + 2) {
        place.copy_from_slice(&value.to_be_bytes());
    }
}
