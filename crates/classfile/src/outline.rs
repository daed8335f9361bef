//! The outline of a class: a class file that shows what `java.lang.Class` shows without running anything, and has
//! no code. Owns what stays and what goes; knows nothing of what outlines are for.
//!
//! Methods that are neither abstract nor native have no `Code` in an outline, so a JVM loads the outline of an
//! interface without such methods as it is, and that of another class once somebody gives it bodies.

use crate::class::{Attribute, ClassFile, Member};
use crate::error::Result;
use crate::pool::Pool;
use crate::reader::{Reader, count16};

/// Attributes that name one constant: a text, a class or the value of a field.
const ONE_CONSTANT: [&str; 4] = ["Signature", "SourceFile", "NestHost", "ConstantValue"];
/// Attributes that are a list of classes.
const CLASSES: [&str; 3] = ["NestMembers", "PermittedSubclasses", "Exceptions"];

/// Makes the outline of a class. Its constant pool has what the outline uses and nothing else.
pub fn outline(class: &ClassFile) -> Result<ClassFile> {
    let mut copy = Copy {
        class,
        pool: Pool::new(),
    };
    let this_class = copy.constant(class.this_class)?;
    let super_class = copy.constant(class.super_class)?;
    let interfaces = copy.constants(&class.interfaces)?;
    let fields = copy.members(&class.fields)?;
    let methods = copy.members(&class.methods)?;
    let attributes = copy.attributes(&class.attributes)?;
    Ok(ClassFile {
        minor: class.minor,
        major: class.major,
        pool: copy.pool,
        access: class.access,
        this_class,
        super_class,
        interfaces,
        fields,
        methods,
        attributes,
    })
}

/// Takes parts of a class over to another pool.
struct Copy<'a> {
    class: &'a ClassFile,
    pool: Pool,
}

impl Copy<'_> {
    /// A constant; 0 where there is none.
    fn constant(&mut self, index: u16) -> Result<u16> {
        match index {
            0 => Ok(0),
            index => self.pool.copy(&self.class.pool, index),
        }
    }

    fn constants(&mut self, indices: &[u16]) -> Result<Vec<u16>> {
        indices.iter().map(|index| self.constant(*index)).collect()
    }

    fn members(&mut self, members: &[Member]) -> Result<Vec<Member>> {
        let mut copied = Vec::new();
        for member in members {
            copied.push(Member {
                access: member.access,
                name: self.constant(member.name)?,
                descriptor: self.constant(member.descriptor)?,
                attributes: self.attributes(&member.attributes)?,
            });
        }
        Ok(copied)
    }

    fn attributes(&mut self, attributes: &[Attribute]) -> Result<Vec<Attribute>> {
        let mut copied = Vec::new();
        for attribute in attributes {
            let name = self.class.pool.utf8(attribute.name)?;
            // One that does not follow its layout is of no use to anybody.
            if let Some(bytes) = self.content(&name, &attribute.bytes).ok().flatten() {
                copied.push(Attribute {
                    name: self.pool.add_utf8(&name)?,
                    bytes,
                });
            }
        }
        Ok(copied)
    }

    /// The content of an attribute in terms of the new pool; `None` for those that go.
    fn content(&mut self, name: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut reader = Reader::new(bytes);
        let mut out = Vec::new();
        match name {
            "Synthetic" => {}
            "InnerClasses" => self.inner_classes(&mut reader, &mut out)?,
            "EnclosingMethod" => self.each(2, &mut reader, &mut out)?,
            "Record" => self.components(&mut reader, &mut out)?,
            name if ONE_CONSTANT.contains(&name) => self.each(1, &mut reader, &mut out)?,
            name if CLASSES.contains(&name) => {
                let count = reader.u16()?;
                out.extend(count.to_be_bytes());
                self.each(count, &mut reader, &mut out)?;
            }
            _ => return Ok(None),
        }
        reader.end("attribute")?;
        Ok(Some(out))
    }

    /// So many constants in a row.
    fn each(&mut self, count: u16, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        for _ in 0..count {
            let copied = self.constant(reader.u16()?)?;
            out.extend(copied.to_be_bytes());
        }
        Ok(())
    }

    /// The entries about the class itself and its members; compilers add all others that the code names.
    fn inner_classes(&mut self, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        let own = self.class.pool.class_name_bytes(self.class.this_class)?;
        let is_own = |index| self.class.pool.class_name_bytes(index) == Ok(own);
        let mut entries = Vec::new();
        for _ in 0..reader.u16()? {
            let entry = [reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?];
            if is_own(entry[0]) || is_own(entry[1]) {
                entries.push(entry);
            }
        }
        out.extend(count16("inner classes", entries.len())?.to_be_bytes());
        for [inner, outer, name, access] in entries {
            for index in self.constants(&[inner, outer, name])? {
                out.extend(index.to_be_bytes());
            }
            out.extend(access.to_be_bytes());
        }
        Ok(())
    }

    fn components(&mut self, reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        let count = reader.u16()?;
        out.extend(count.to_be_bytes());
        for _ in 0..count {
            self.each(2, reader, out)?;
            let attributes = crate::class::attributes(reader)?;
            let attributes = self.attributes(&attributes)?;
            crate::class::write_attributes(out, &attributes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::access;

    fn bytes(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// `public final class a.B extends a.Base implements a.I` with a bit of everything.
    fn class() -> ClassFile {
        let mut pool = Pool::new();
        let unused = pool.add_method_ref("a/Unused", "gone", "()V").unwrap();
        let mut utf8 = |text: &str| pool.add_utf8(text).unwrap();
        let names = [
            "ConstantValue",
            "Code",
            "Exceptions",
            "InnerClasses",
            "EnclosingMethod",
            "Record",
            "Signature",
            "BootstrapMethods",
            "limit",
            "I",
            "run",
            "()V",
            "Inner",
            "<T:Ljava/lang/Object;>La/Base;",
        ];
        let names: Vec<u16> = names.iter().map(|name| utf8(name)).collect();
        let [
            value,
            code,
            exceptions,
            inner,
            enclosing,
            record,
            signature,
            bootstrap,
            limit,
            int,
            run,
            none,
            simple,
            generic,
        ] = names[..]
        else {
            panic!("{names:?}")
        };
        let forty = pool.add_integer(40).unwrap();
        let mut named = |name: &str| pool.add_class(name).unwrap();
        let (this_class, super_class) = (named("a/B"), named("a/Base"));
        let (interface, failure) = (named("a/I"), named("a/Failure"));
        let (member, other) = (named("a/B$Inner"), named("java/util/Map$Entry"));
        let outer = named("a/Outer");
        let method = pool.add_name_and_type("make", "()La/B;").unwrap();
        let attribute = |name: u16, words: &[u16]| Attribute {
            name,
            bytes: bytes(words),
        };
        ClassFile {
            minor: 0,
            major: 61,
            access: access::PUBLIC | access::FINAL,
            this_class,
            super_class,
            interfaces: vec![interface],
            fields: vec![Member {
                access: access::STATIC | access::FINAL,
                name: limit,
                descriptor: int,
                attributes: vec![attribute(value, &[forty])],
            }],
            methods: vec![Member {
                access: access::PUBLIC,
                name: run,
                descriptor: none,
                attributes: vec![
                    attribute(code, &[0, 1, 0, 1, 0]),
                    attribute(exceptions, &[1, failure]),
                ],
            }],
            attributes: vec![
                attribute(inner, &[2, member, this_class, simple, 8, other, 0, 0, 8]),
                attribute(enclosing, &[outer, method]),
                attribute(record, &[1, limit, int, 1, signature, 0, 2, generic]),
                attribute(signature, &[generic]),
                attribute(bootstrap, &[1, unused, 0]),
            ],
            pool,
        }
    }

    #[test]
    fn an_outline_reads_back_and_has_everything_but_code() {
        let class = class();
        let written = outline(&class).unwrap().write().unwrap();
        let outline = ClassFile::parse(&written).unwrap();
        let pool = &outline.pool;
        assert_eq!(outline.name().unwrap(), "a/B");
        assert_eq!(outline.super_name().unwrap().unwrap(), "a/Base");
        assert_eq!(outline.interface_names().unwrap(), ["a/I"]);
        assert_eq!((outline.major, outline.access), (61, class.access));
        let field = &outline.fields[0];
        assert_eq!(pool.utf8(field.name).unwrap(), "limit");
        let value = field.attribute(pool, "ConstantValue").unwrap();
        let value = Reader::new(&value.bytes).u16().unwrap();
        assert_eq!(pool.integer(value).unwrap(), 40);
        let method = &outline.methods[0];
        assert_eq!(pool.utf8(method.descriptor).unwrap(), "()V");
        assert!(method.attribute(pool, "Code").is_none());
        assert!(method.attribute(pool, "Exceptions").is_some());
        let kept: Vec<_> = outline
            .attributes
            .iter()
            .map(|a| pool.utf8(a.name).unwrap())
            .collect();
        assert_eq!(
            kept,
            ["InnerClasses", "EnclosingMethod", "Record", "Signature"]
        );
        // Of the two entries the one about a member of the class.
        assert_eq!(outline.attributes[0].bytes.len(), 2 + 8);
        for gone in ["Code", "BootstrapMethods", "a/Unused", "gone"] {
            let mut before = (1..pool.count()).filter_map(|i| pool.utf8(i as u16).ok());
            assert!(before.all(|text| text != gone), "{gone}");
        }
    }

    #[test]
    fn an_outline_is_its_own_outline() {
        let once = outline(&class()).unwrap();
        let twice = outline(&once).unwrap();
        assert_eq!(once.write().unwrap(), twice.write().unwrap());
    }

    #[test]
    fn an_attribute_that_makes_no_sense_is_left_out() {
        let mut class = class();
        for attribute in &mut class.attributes {
            attribute.bytes.push(0);
        }
        assert!(outline(&class).unwrap().attributes.is_empty());
    }
}
