//! The class file as a whole. Attributes stay raw bytes until somebody edits them, so whatever is not touched is
//! written back bit for bit.

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::reader::{Reader, count16};

/// Access flags, as in the file.
pub mod access {
    #![expect(missing_docs, reason = "the names are those of the specification")]
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const SUPER: u16 = 0x0020;
    pub const VOLATILE: u16 = 0x0040;
    pub const BRIDGE: u16 = 0x0040;
    pub const TRANSIENT: u16 = 0x0080;
    pub const VARARGS: u16 = 0x0080;
    pub const NATIVE: u16 = 0x0100;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const STRICT: u16 = 0x0800;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ANNOTATION: u16 = 0x2000;
    pub const ENUM: u16 = 0x4000;
    pub const MODULE: u16 = 0x8000;
}

/// One class, interface or module descriptor.
#[derive(Debug, Clone)]
pub struct ClassFile {
    /// Minor version.
    pub minor: u16,
    /// Major version; 52 is Java 8.
    pub major: u16,
    /// Constants.
    pub pool: Pool,
    /// Access flags.
    pub access: u16,
    /// Class constant of this class.
    pub this_class: u16,
    /// Class constant of the superclass, 0 for `java/lang/Object` and modules.
    pub super_class: u16,
    /// Class constants of the interfaces.
    pub interfaces: Vec<u16>,
    /// Fields in file order.
    pub fields: Vec<Member>,
    /// Methods in file order.
    pub methods: Vec<Member>,
    /// Attributes of the class itself.
    pub attributes: Vec<Attribute>,
}

/// A field or a method.
#[derive(Debug, Clone)]
pub struct Member {
    /// Access flags.
    pub access: u16,
    /// UTF-8 constant of the name.
    pub name: u16,
    /// UTF-8 constant of the descriptor.
    pub descriptor: u16,
    /// Attributes.
    pub attributes: Vec<Attribute>,
}

/// An attribute: a name and bytes whose meaning depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// UTF-8 constant of the name.
    pub name: u16,
    /// Content, without name and length.
    pub bytes: Vec<u8>,
}

impl ClassFile {
    /// Reads a class file. Versions are not judged: a future version with today's layout is fine.
    pub fn parse(bytes: &[u8]) -> Result<ClassFile> {
        let mut reader = Reader::new(bytes);
        let magic = reader.u32()?;
        if magic != 0xcafe_babe {
            return Err(Error::BadMagic(magic));
        }
        let minor = reader.u16()?;
        let major = reader.u16()?;
        let pool = Pool::parse(&mut reader)?;
        let access = reader.u16()?;
        let this_class = reader.u16()?;
        let super_class = reader.u16()?;
        let mut interfaces = Vec::new();
        for _ in 0..reader.u16()? {
            interfaces.push(reader.u16()?);
        }
        let fields = members(&mut reader)?;
        let methods = members(&mut reader)?;
        let attributes = attributes(&mut reader)?;
        reader.end("class file")?;
        Ok(ClassFile {
            minor,
            major,
            pool,
            access,
            this_class,
            super_class,
            interfaces,
            fields,
            methods,
            attributes,
        })
    }

    /// Writes the class file. Fails only when a table has outgrown its count.
    pub fn write(&self) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(16 * 1024);
        out.extend(0xcafe_babe_u32.to_be_bytes());
        out.extend(self.minor.to_be_bytes());
        out.extend(self.major.to_be_bytes());
        self.pool.write(&mut out);
        for word in [
            self.access,
            self.this_class,
            self.super_class,
            count16("interfaces", self.interfaces.len())?,
        ] {
            out.extend(word.to_be_bytes());
        }
        for interface in &self.interfaces {
            out.extend(interface.to_be_bytes());
        }
        write_members(&mut out, "fields", &self.fields)?;
        write_members(&mut out, "methods", &self.methods)?;
        write_attributes(&mut out, &self.attributes)?;
        Ok(out)
    }

    /// Internal name of this class.
    pub fn name(&self) -> Result<Cow<'_, str>> {
        self.pool.class_name(self.this_class)
    }

    /// Internal name of the superclass, if there is one.
    pub fn super_name(&self) -> Result<Option<Cow<'_, str>>> {
        match self.super_class {
            0 => Ok(None),
            index => self.pool.class_name(index).map(Some),
        }
    }

    /// Internal names of the interfaces.
    pub fn interface_names(&self) -> Result<Vec<Cow<'_, str>>> {
        self.interfaces
            .iter()
            .map(|index| self.pool.class_name(*index))
            .collect()
    }

    /// The first class attribute of that name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        find(&self.attributes, &self.pool, name)
    }

    /// The name in the `SourceFile` attribute.
    pub fn source_file(&self) -> Option<String> {
        let bytes = self.attribute("SourceFile")?.bytes.get(..2)?;
        let name = self.pool.utf8(u16::from_be_bytes([bytes[0], bytes[1]]));
        name.ok().map(|name| name.into_owned())
    }
}

impl Member {
    /// Position of the first attribute of that name in `attributes`.
    pub fn attribute_index(&self, pool: &Pool, name: &str) -> Option<usize> {
        self.attributes.iter().position(|a| a.is(pool, name))
    }

    /// The first attribute of that name.
    pub fn attribute(&self, pool: &Pool, name: &str) -> Option<&Attribute> {
        find(&self.attributes, pool, name)
    }
}

impl Attribute {
    /// Whether this attribute has that name.
    pub fn is(&self, pool: &Pool, name: &str) -> bool {
        pool.utf8_bytes(self.name) == Ok(name.as_bytes())
    }
}

pub(crate) fn find<'a>(
    attributes: &'a [Attribute],
    pool: &Pool,
    name: &str,
) -> Option<&'a Attribute> {
    attributes.iter().find(|a| a.is(pool, name))
}

fn members(reader: &mut Reader<'_>) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    for _ in 0..reader.u16()? {
        members.push(Member {
            access: reader.u16()?,
            name: reader.u16()?,
            descriptor: reader.u16()?,
            attributes: attributes(reader)?,
        });
    }
    Ok(members)
}

pub(crate) fn attributes(reader: &mut Reader<'_>) -> Result<Vec<Attribute>> {
    let mut attributes = Vec::new();
    for _ in 0..reader.u16()? {
        let name = reader.u16()?;
        let length = reader.u32()?;
        attributes.push(Attribute {
            name,
            bytes: reader.take(length as usize)?.to_vec(),
        });
    }
    Ok(attributes)
}

fn write_members(out: &mut Vec<u8>, what: &'static str, members: &[Member]) -> Result<()> {
    out.extend(count16(what, members.len())?.to_be_bytes());
    for member in members {
        for word in [member.access, member.name, member.descriptor] {
            out.extend(word.to_be_bytes());
        }
        write_attributes(out, &member.attributes)?;
    }
    Ok(())
}

pub(crate) fn write_attributes(out: &mut Vec<u8>, attributes: &[Attribute]) -> Result<()> {
    out.extend(count16("attributes", attributes.len())?.to_be_bytes());
    for attribute in attributes {
        let count = attribute.bytes.len();
        let length = u32::try_from(count).map_err(|_| Error::TooMany {
            what: "attribute bytes",
            count,
        })?;
        out.extend(attribute.name.to_be_bytes());
        out.extend(length.to_be_bytes());
        out.extend(&attribute.bytes);
    }
    Ok(())
}
