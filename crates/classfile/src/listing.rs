//! What the code of a method does, as text: without places in the constant pool, addresses, line numbers and the
//! choice between short and long forms. Two methods with the same listing do the same.

use std::collections::BTreeMap;

use crate::class::{ClassFile, Member};
use crate::code::Code;
use crate::error::{Error, Result};
use crate::instruction::{Instruction, op};
use crate::pool::{Pool, tag};
use crate::reader::{Reader, u16_at};

/// Constants within constants that are followed: those of a class file that means well are not deeper.
const DEEPEST: u32 = 16;

/// The listing of a method; empty where it has no code.
pub fn listing(class: &ClassFile, method: &Member) -> Result<Vec<String>> {
    let Some(attribute) = method.attribute(&class.pool, "Code") else {
        return Ok(Vec::new());
    };
    let code = Code::parse(attribute, &class.pool)?;
    let instructions = code.instructions().collect::<Result<Vec<_>>>()?;
    // The place after the last instruction is the end of the last range.
    let places = instructions.iter().map(|it| it.pc);
    let end = instructions.last().map_or(0, Instruction::next_pc);
    let numbers: BTreeMap<i64, usize> = places.chain([end]).map(i64::from).zip(0..).collect();
    let number = |pc: i64| {
        let found = numbers.get(&pc).copied();
        found.ok_or(Error::BadTarget { what: "target", pc })
    };
    let bootstraps = Bootstraps::of(class)?;
    let mut lines = Vec::with_capacity(instructions.len() + code.handlers.len());
    for instruction in &instructions {
        let mut line = format!("{}", generic(instruction));
        if let Some(local) = instruction.local() {
            line.push_str(&format!(" v{local}"));
        }
        if let Some(index) = instruction.pool_index() {
            line.push_str(&format!(" {}", bootstraps.constant(index, 0)?));
        }
        for target in instruction.targets() {
            line.push_str(&format!(" @{}", number(target)?));
        }
        line.push_str(&immediate(instruction));
        lines.push(line);
    }
    for handler in &code.handlers {
        let caught = match handler.catch_type {
            0 => "anything".to_owned(),
            index => class.pool.class_name(index)?.into_owned(),
        };
        let at = |pc: u16| number(i64::from(pc));
        let (start, end) = (at(handler.start)?, at(handler.end)?);
        lines.push(format!(
            "catch {caught} {start}..{end} @{}",
            at(handler.handler)?
        ));
    }
    Ok(lines)
}

/// One opcode for all forms of an instruction.
fn generic(instruction: &Instruction<'_>) -> u8 {
    match instruction.generic_opcode() {
        op::LDC_W => op::LDC,
        op::GOTO_W => op::GOTO,
        op::JSR_W => op::JSR,
        opcode => opcode,
    }
}

/// Numbers that are part of an instruction.
fn immediate(instruction: &Instruction<'_>) -> String {
    let bytes = instruction.bytes;
    match instruction.opcode {
        op::BIPUSH | op::NEWARRAY => format!(" {}", bytes.get(1).copied().unwrap_or(0) as i8),
        op::SIPUSH => format!(" {}", u16_at(bytes, 1) as i16),
        op::IINC if instruction.is_wide() => format!(" {}", u16_at(bytes, 4) as i16),
        op::IINC => format!(" {}", bytes.get(2).copied().unwrap_or(0) as i8),
        op::MULTIANEWARRAY => format!(" {}", bytes.get(3).copied().unwrap_or(0)),
        _ => match instruction.switch() {
            Some(switch) => switch.cases().map(|(key, _)| format!(" {key}")).collect(),
            None => String::new(),
        },
    }
}

/// The constants of a class, with what its `BootstrapMethods` say.
struct Bootstraps<'c> {
    pool: &'c Pool,
    /// Method handle and arguments of each.
    methods: Vec<(u16, Vec<u16>)>,
}

impl Bootstraps<'_> {
    fn of(class: &ClassFile) -> Result<Bootstraps<'_>> {
        let mut methods = Vec::new();
        if let Some(attribute) = class.attribute("BootstrapMethods") {
            let mut reader = Reader::new(&attribute.bytes);
            for _ in 0..reader.u16()? {
                let handle = reader.u16()?;
                let mut arguments = Vec::new();
                for _ in 0..reader.u16()? {
                    arguments.push(reader.u16()?);
                }
                methods.push((handle, arguments));
            }
        }
        Ok(Bootstraps {
            pool: &class.pool,
            methods,
        })
    }

    fn constant(&self, index: u16, depth: u32) -> Result<String> {
        let (pool, bad) = (self.pool, |wanted| Error::BadConstant { index, wanted });
        if depth > DEEPEST {
            return Err(bad("constant that does not contain itself"));
        }
        Ok(match pool.tag(index).ok_or_else(|| bad("constant"))? {
            tag::INTEGER => format!("int {}", pool.integer(index)?),
            tag::LONG => format!("long {}", pool.long(index)?),
            tag @ (tag::FLOAT | tag::DOUBLE) => format!("{tag}:{:x?}", pool.bits(index)?),
            tag::STRING => format!("string {:?}", pool.string(index)?),
            tag::CLASS => format!("class {}", pool.class_name(index)?),
            tag::METHOD_TYPE => format!("type {}", pool.method_type(index)?),
            tag::METHOD_HANDLE => {
                let (kind, member) = pool.method_handle(index)?;
                format!("handle {kind} {}", self.constant(member, depth + 1)?)
            }
            tag::FIELD | tag::METHOD | tag::INTERFACE_METHOD => {
                let member = pool.member(index)?;
                let (owner, name) = (&member.owner, &member.name);
                format!("{owner}.{name}:{}", member.descriptor)
            }
            tag::DYNAMIC | tag::INVOKE_DYNAMIC => {
                let dynamic = pool.dynamic(index)?;
                let bootstrap = self.methods.get(usize::from(dynamic.bootstrap));
                let (handle, arguments) = bootstrap.ok_or_else(|| bad("bootstrap method"))?;
                let mut text = format!("{}:{} by ", dynamic.name, dynamic.descriptor);
                text.push_str(&self.constant(*handle, depth + 1)?);
                for argument in arguments {
                    text.push_str(&format!(", {}", self.constant(*argument, depth + 1)?));
                }
                text
            }
            _ => return Err(bad("constant that code can name")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::{Attribute, access};

    /// A class with one method, whose pool begins with some other texts.
    fn class(others: &[&str], code: impl Fn(&mut Pool) -> Vec<u8>) -> ClassFile {
        let mut pool = Pool::new();
        for other in others {
            pool.add_string(other).unwrap();
        }
        let bytes = code(&mut pool);
        let code = Code {
            max_stack: 2,
            max_locals: 2,
            bytes,
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        let attribute: Attribute = code.write(&mut pool).unwrap();
        let method = Member {
            access: access::STATIC,
            name: pool.add_utf8("f").unwrap(),
            descriptor: pool.add_utf8("()V").unwrap(),
            attributes: vec![attribute],
        };
        ClassFile {
            minor: 0,
            major: 55,
            access: access::PUBLIC,
            this_class: pool.add_class("A").unwrap(),
            super_class: pool.add_class("java/lang/Object").unwrap(),
            pool,
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: vec![method],
            attributes: Vec::new(),
        }
    }

    fn lines(class: &ClassFile) -> Vec<String> {
        listing(class, &class.methods[0]).unwrap()
    }

    fn loads(text: &'static str, long: bool) -> impl Fn(&mut Pool) -> Vec<u8> {
        move |pool| {
            let index = pool.add_string(text).unwrap();
            let mut bytes = match long {
                true => vec![op::LDC_W, (index >> 8) as u8, index as u8],
                false => vec![op::LDC, index as u8],
            };
            let target = 0_i16.wrapping_sub(bytes.len() as i16).to_be_bytes();
            bytes.extend([op::GOTO, target[0], target[1]]);
            bytes
        }
    }

    #[test]
    fn places_in_the_pool_and_long_forms_do_not_count_and_texts_do() {
        let plain = lines(&class(&[], loads("x", false)));
        assert_eq!(plain, ["18 string \"x\"", "167 @0"]);
        assert_eq!(lines(&class(&["other"], loads("x", true))), plain);
        assert_ne!(lines(&class(&[], loads("y", false))), plain);
    }
}
