//! Old interfaces on replay. Before Java 8 an interface has no code but its initialiser, so there is
//! no place for detours. It gets a newer version, and the frames that the newer version asks for.

use culprit_classfile::{
    Attribute, ClassFile, Code, MethodContext, Pool, access, initial_frame, op, simulate,
    write_frames,
};

use crate::Error;

/// The first version in which interfaces have code besides their initialiser.
pub(crate) const JAVA_8: u16 = 52;
/// The first version in which frames mean something; they may still be missing.
const JAVA_6: u16 = 50;

const FRAMES: &str = "StackMapTable";

/// Makes an interface with an initialiser one of Java 8. One that cannot be stays as it was: code
/// with subroutines, with instructions that no path leads to, or with two classes in one place,
/// of which it is not known here what they have in common.
pub(crate) fn interface(class: &mut ClassFile) -> Result<(), Error> {
    if class.access & access::INTERFACE == 0 || class.major >= JAVA_8 {
        return Ok(());
    }
    let named = |name: u16| class.pool.utf8(name).is_ok_and(|name| name == "<clinit>");
    let Some(place) = class.methods.iter().position(|m| named(m.name)) else {
        return Ok(());
    };
    // What no JVM takes stays what no JVM takes.
    let mut others = class.methods.iter().enumerate();
    if others.any(|(other, m)| other != place && m.access & access::ABSTRACT == 0) {
        return Ok(());
    }
    let method = &class.methods[place];
    let Some(attribute) = method.attribute_index(&class.pool, "Code") else {
        return Ok(());
    };
    let mut code = Code::parse(&method.attributes[attribute], &class.pool)?;
    let has_frames = code.attributes.iter().any(|a| a.is(&class.pool, FRAMES));
    if class.major < JAVA_6 || class.major == JAVA_6 && !has_frames {
        let mut context = MethodContext::new(class, method);
        context.access |= access::STATIC;
        code.attributes.retain(|a| !a.is(&class.pool, FRAMES));
        let Some(frames) = frames(&code, &mut class.pool, context)? else {
            return Ok(());
        };
        code.attributes.push(Attribute {
            name: class.pool.add_utf8(FRAMES)?,
            bytes: frames,
        });
        class.methods[place].attributes[attribute] = code.write(&mut class.pool)?;
    }
    // Old versions do without the flag.
    class.methods[place].access |= access::STATIC;
    (class.major, class.minor) = (JAVA_8, 0);
    Ok(())
}

/// The content of a `StackMapTable` for code without one.
fn frames(code: &Code, pool: &mut Pool, method: MethodContext) -> Result<Option<Vec<u8>>, Error> {
    let simulation = simulate(code, pool, method)?;
    if simulation.merges_classes() {
        return Ok(None);
    }
    let mut joins: Vec<u32> = code.handlers.iter().map(|h| h.handler.into()).collect();
    for instruction in code.instructions() {
        let instruction = instruction?;
        let subroutine = matches!(instruction.opcode, op::JSR | op::JSR_W | op::RET);
        if subroutine || simulation.at(instruction.pc).is_none() {
            return Ok(None);
        }
        joins.extend(
            instruction
                .targets()
                .filter_map(|pc| u32::try_from(pc).ok()),
        );
    }
    joins.sort_unstable();
    joins.dedup();
    let mut frames = Vec::with_capacity(joins.len());
    for pc in joins {
        if let Some(state) = simulation.at(pc) {
            frames.push((pc, simulation.frame(state, 0, pool)?));
        }
    }
    let initial = initial_frame(method, pool)?;
    Ok(Some(write_frames(&frames, &initial)?))
}

#[cfg(test)]
mod tests {
    use culprit_classfile::{Asm, Member};

    use super::*;

    /// The version of an interface of Java 5 after it was to be raised, by the code of its initialiser.
    fn raised(code: impl FnOnce(&mut Asm, &mut Pool)) -> (u16, Option<Vec<u8>>) {
        let mut pool = Pool::new();
        let mut asm = Asm::new();
        code(&mut asm, &mut pool);
        let code = Code {
            max_stack: 2,
            max_locals: 1,
            bytes: asm.bytes().to_vec(),
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        let method = Member {
            access: 0,
            name: pool.add_utf8("<clinit>").unwrap(),
            descriptor: pool.add_utf8("()V").unwrap(),
            attributes: vec![code.write(&mut pool).unwrap()],
        };
        let mut class = ClassFile {
            minor: 0,
            major: 49,
            access: access::INTERFACE | access::ABSTRACT,
            this_class: pool.add_class("a/Old").unwrap(),
            super_class: pool.add_class("java/lang/Object").unwrap(),
            interfaces: Vec::new(),
            fields: Vec::new(),
            methods: vec![method],
            attributes: Vec::new(),
            pool,
        };
        interface(&mut class).unwrap();
        let code = Code::parse(&class.methods[0].attributes[0], &class.pool).unwrap();
        let mut attributes = code.attributes.into_iter();
        let table = attributes.find(|a| a.is(&class.pool, FRAMES));
        (class.major, table.map(|table| table.bytes))
    }

    /// Pops one of two strings, the second a string or something else.
    fn choice(asm: &mut Asm, pool: &mut Pool, class: Option<&str>) {
        let mut second = Asm::new();
        second.push_string(pool, "b").unwrap();
        if let Some(class) = class {
            second.checkcast(pool.add_class(class).unwrap());
        }
        let mut first = Asm::new();
        first.push_string(pool, "a").unwrap();
        let over = first.len() as u16 + 6;
        asm.op(op::ICONST_0).op_index(op::IFEQ, over).append(&first);
        asm.op_index(op::GOTO, second.len() as u16 + 3)
            .append(&second);
        asm.pop().op(op::RETURN);
    }

    #[test]
    fn a_choice_gets_frames() {
        let (version, frames) = raised(|asm, pool| choice(asm, pool, None));
        assert_eq!(version, JAVA_8);
        assert_eq!(frames.unwrap()[..2], [0, 2]);
        let (version, frames) = raised(|asm, _| {
            asm.op(op::RETURN);
        });
        assert_eq!((version, frames), (JAVA_8, Some(vec![0, 0])));
    }

    #[test]
    fn what_newer_versions_cannot_have_stays() {
        let (version, _) = raised(|asm, pool| choice(asm, pool, Some("java/lang/Integer")));
        assert_eq!(version, 49);
        let (version, _) = raised(|asm, _| {
            asm.op_index(op::JSR, 4).op(op::RETURN);
            asm.astore(0).op(op::RET).op(0);
        });
        assert_eq!(version, 49);
        let (version, _) = raised(|asm, _| {
            asm.op(op::RETURN).op(op::RETURN);
        });
        assert_eq!(version, 49);
    }
}
