//! The `Code` attribute: instructions, exception table and nested attributes.

use crate::class::{Attribute, ClassFile, Member, access, attributes, write_attributes};
use crate::error::{Error, Result};
use crate::instruction::Instructions;
use crate::pool::Pool;
use crate::reader::{Reader, count16};

/// The body of a method.
///
/// The shorter layout of versions before 45.3, which no compiler since JDK 1.0.2 writes, is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// Slots of operand stack the method may use.
    pub max_stack: u16,
    /// Slots of local variables, arguments included.
    pub max_locals: u16,
    /// Instructions.
    pub bytes: Vec<u8>,
    /// Exception table; earlier entries win.
    pub handlers: Vec<Handler>,
    /// Line numbers, frames and the like.
    pub attributes: Vec<Attribute>,
}

/// An entry of the exception table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// First pc covered.
    pub start: u16,
    /// First pc after those covered.
    pub end: u16,
    /// Where control goes.
    pub handler: u16,
    /// Class constant of what is caught, 0 for anything.
    pub catch_type: u16,
}

/// What the editor and the simulator must know about a method besides its code. Indices into the class's pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodContext {
    /// Major version of the class.
    pub major: u16,
    /// Class constant of the class.
    pub this_class: u16,
    /// Access flags of the method.
    pub access: u16,
    /// UTF-8 constant of the method's name.
    pub name: u16,
    /// UTF-8 constant of the method's descriptor.
    pub descriptor: u16,
}

impl MethodContext {
    /// The context of one method of a class.
    pub fn new(class: &ClassFile, method: &Member) -> MethodContext {
        MethodContext {
            major: class.major,
            this_class: class.this_class,
            access: method.access,
            name: method.name,
            descriptor: method.descriptor,
        }
    }

    /// Whether the method has no receiver.
    pub fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }

    /// Whether local 0 starts out as `uninitializedThis`: in every constructor but that of `java/lang/Object`.
    pub fn starts_uninitialized(&self, pool: &Pool) -> bool {
        !self.is_static()
            && pool.utf8_bytes(self.name) == Ok(b"<init>")
            && pool.class_name_bytes(self.this_class) != Ok(b"java/lang/Object")
    }
}

impl Code {
    /// Reads a `Code` attribute. The name of the attribute is the caller's business.
    pub fn parse(attribute: &Attribute, _pool: &Pool) -> Result<Code> {
        let mut reader = Reader::new(&attribute.bytes);
        let max_stack = reader.u16()?;
        let max_locals = reader.u16()?;
        let length = reader.u32()? as usize;
        if length == 0 || length > usize::from(u16::MAX) {
            return Err(Error::BadAttribute("Code"));
        }
        let bytes = reader.take(length)?.to_vec();
        let mut handlers = Vec::new();
        for _ in 0..reader.u16()? {
            handlers.push(Handler {
                start: reader.u16()?,
                end: reader.u16()?,
                handler: reader.u16()?,
                catch_type: reader.u16()?,
            });
        }
        let attributes = attributes(&mut reader)?;
        reader.end("Code attribute")?;
        Ok(Code {
            max_stack,
            max_locals,
            bytes,
            handlers,
            attributes,
        })
    }

    /// Writes a `Code` attribute.
    pub fn write(&self, pool: &mut Pool) -> Result<Attribute> {
        let size = self.bytes.len();
        if size > usize::from(u16::MAX) {
            return Err(Error::CodeTooLarge { size });
        }
        let mut out = Vec::with_capacity(size + 64);
        out.extend(self.max_stack.to_be_bytes());
        out.extend(self.max_locals.to_be_bytes());
        out.extend((size as u32).to_be_bytes());
        out.extend(&self.bytes);
        out.extend(count16("exception handlers", self.handlers.len())?.to_be_bytes());
        for handler in &self.handlers {
            for word in [
                handler.start,
                handler.end,
                handler.handler,
                handler.catch_type,
            ] {
                out.extend(word.to_be_bytes());
            }
        }
        write_attributes(&mut out, &self.attributes)?;
        Ok(Attribute {
            name: pool.add_utf8("Code")?,
            bytes: out,
        })
    }

    /// The instructions in order. Ends after the first one that cannot be decoded.
    pub fn instructions(&self) -> Instructions<'_> {
        Instructions::new(&self.bytes)
    }

    /// All line numbers of the method.
    pub fn lines(&self, pool: &Pool) -> Result<LineTable> {
        let mut entries = Vec::new();
        for attribute in self
            .attributes
            .iter()
            .filter(|a| a.is(pool, "LineNumberTable"))
        {
            let mut reader = Reader::new(&attribute.bytes);
            for _ in 0..reader.u16()? {
                entries.push((reader.u16()?, reader.u16()?));
            }
        }
        entries.sort_by_key(|(pc, _)| *pc);
        Ok(LineTable { entries })
    }

    /// The source line of a pc. For more than one question, ask [`Code::lines`] once.
    pub fn line_at(&self, pool: &Pool, pc: u32) -> Option<u16> {
        self.lines(pool).ok()?.line_at(pc)
    }
}

/// Line numbers by pc, merged from all `LineNumberTable`s of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineTable {
    entries: Vec<(u16, u16)>,
}

impl LineTable {
    /// The line of the nearest entry at or before `pc`. Where several entries share a pc, the VM's rule holds:
    /// the first counts for that pc itself, the last for those after it.
    pub fn line_at(&self, pc: u32) -> Option<u16> {
        let exact = self.entries.partition_point(|(at, _)| u32::from(*at) < pc);
        match self.entries.get(exact) {
            Some((at, line)) if u32::from(*at) == pc => Some(*line),
            _ => exact
                .checked_sub(1)
                .and_then(|i| self.entries.get(i))
                .map(|(_, line)| *line),
        }
    }

    /// Pcs and lines, by pc.
    pub fn entries(&self) -> &[(u16, u16)] {
        &self.entries
    }
}
