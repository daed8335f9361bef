//! Static state on replay. A JVM initialises a class once; scenarios that follow each other in one
//! JVM each need it as it was at the start. So the initialiser of an observed class becomes a method
//! that can run again, and code that uses the class asks first whether it has run.
//!
//! A class has, besides: a flag, which the executor takes back along with the static fields, and a
//! method that whoever uses the class calls before.

use culprit_classfile::{Asm, Attribute, ClassFile, Code, Instruction, Member, access, op};

use crate::method::Weaver;
use crate::probe::ANSWER;
use crate::{Error, MemberKind, World};

/// The initialiser, as a method.
const INITIALISER: &str = "$culprit$clinit";
/// Runs the initialiser unless it has run.
pub const TOUCH: &str = "$culprit$touch";
/// Whether the initialiser has run.
pub const READY: &str = "$culprit$ready";

/// What a class needs to be as it was at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reset {
    /// Nothing: it has no static state.
    Nothing,
    /// Its fields set back and its initialiser run again.
    Again,
    /// To be loaded anew: the fields of an interface are set once.
    Load,
}

/// What a class needs to be as it was at the start.
pub fn reset(class: &ClassFile) -> Reset {
    let mut methods = class.methods.iter();
    let initialised = methods.any(|m| class.pool.utf8(m.name).is_ok_and(|name| name == "<clinit>"));
    let in_interface = class.access & access::INTERFACE != 0;
    let holds = class.fields.iter().any(|f| is_variable(class, f));
    match (initialised || holds, in_interface) {
        (false, _) => Reset::Nothing,
        (true, false) => Reset::Again,
        (true, true) => Reset::Load,
    }
}

/// The static fields that a scenario may change: name and descriptor.
pub fn variables(class: &ClassFile) -> Result<Vec<(String, String)>, Error> {
    let fields = class.fields.iter().filter(|f| is_variable(class, f));
    fields
        .map(|field| {
            let name = class.pool.utf8(field.name)?.into_owned();
            Ok((name, class.pool.utf8(field.descriptor)?.into_owned()))
        })
        .collect()
}

fn is_variable(class: &ClassFile, field: &Member) -> bool {
    field.access & access::STATIC != 0 && field.attribute(&class.pool, "ConstantValue").is_none()
}

/// Has code ask, before an instruction that uses another class, whether that is initialised.
pub(crate) fn touch(
    weaver: &mut Weaver<'_>,
    world: &dyn World,
    instruction: &Instruction<'_>,
) -> Result<(), Error> {
    let kind = match instruction.opcode {
        op::GETSTATIC | op::PUTSTATIC => Some(MemberKind::Field),
        op::INVOKESTATIC => Some(MemberKind::Method),
        op::NEW => None,
        _ => return Ok(()),
    };
    let used = match (kind, instruction.pool_index()) {
        (None, Some(class)) => weaver.pool.class_name(class)?.into_owned(),
        (Some(kind), Some(_)) => {
            let Some(named) = weaver.named(instruction)? else {
                return Ok(());
            };
            let target = named.target();
            let declaring = world.declaring(target.owner, kind, target.name, target.descriptor);
            declaring.unwrap_or_else(|| target.owner.to_owned())
        }
        _ => return Ok(()),
    };
    if used == weaver.class || !world.is_reset(&used) {
        return Ok(());
    }
    let method = weaver.pool.add_method_ref(&used, TOUCH, "()V")?;
    let mut asm = Asm::new();
    asm.invokestatic(method);
    weaver.editor.insert_before(instruction.pc, asm);
    Ok(())
}

/// Has a method that may be called by what is no code of a class (a method reference, a handle,
/// reflection), or by a subclass without static state, ask for its own class.
pub(crate) fn enter(weaver: &mut Weaver<'_>, world: &dyn World) -> Result<(), Error> {
    let uses = weaver.is_constructor() || weaver.is_static() && weaver.name != "<clinit>";
    if uses && world.is_reset(weaver.class) {
        let method = weaver.pool.add_method_ref(weaver.class, TOUCH, "()V")?;
        let mut asm = Asm::new();
        asm.invokestatic(method);
        weaver.editor.insert_entry(asm);
    }
    Ok(())
}

/// Gives a woven class its flag and methods.
pub(crate) fn prepare(class: &mut ClassFile, world: &dyn World) -> Result<(), Error> {
    let own = class.name()?.into_owned();
    if !world.is_reset(&own) {
        return Ok(());
    }
    let initialiser = class.pool.add_utf8(INITIALISER)?;
    let mut renamed = false;
    for method in &mut class.methods {
        if class.pool.utf8(method.name)? == "<clinit>" {
            method.name = initialiser;
            method.access = access::PRIVATE | access::STATIC | access::SYNTHETIC;
            renamed = true;
        }
    }
    for field in &mut class.fields {
        // Only the initialiser of a class may set a final field. `Hiding.java` shows it as it was.
        if field.access & access::STATIC != 0 && field.access & access::FINAL != 0 {
            field.access = field.access & !access::FINAL | access::SYNTHETIC;
        }
    }
    let flag = class.pool.add_field_ref(&own, READY, "Z")?;
    class.fields.push(Member {
        access: access::PUBLIC | access::STATIC | access::SYNTHETIC | access::TRANSIENT,
        name: class.pool.add_utf8(READY)?,
        descriptor: class.pool.add_utf8("Z")?,
        attributes: Vec::new(),
    });
    let mut first = Asm::new();
    first.getstatic(flag);
    let mut run = Asm::new();
    run.op(op::ICONST_1).putstatic(flag);
    let superclass = class.super_name()?.map(|name| name.into_owned());
    if let Some(above) = superclass.filter(|name| world.is_reset(name)) {
        run.invokestatic(class.pool.add_method_ref(&above, TOUCH, "()V")?);
    }
    let touched = class
        .pool
        .add_method_ref(ANSWER, "touched", "(Ljava/lang/String;)V")?;
    run.push_string(&mut class.pool, &own)?
        .invokestatic(touched);
    if renamed {
        run.invokestatic(class.pool.add_method_ref(&own, INITIALISER, "()V")?);
    }
    let jump = 3 + run.len() as u16;
    first.op_index(op::IFNE, jump).append(&run);
    let end = first.len() as u16;
    first.op(op::RETURN);
    let frame = class.major >= 50;
    method(
        class,
        TOUCH,
        access::PUBLIC | access::STATIC | access::SYNTHETIC,
        &first,
        frame.then_some(end),
    )?;
    let mut once = Asm::new();
    once.invokestatic(class.pool.add_method_ref(&own, TOUCH, "()V")?)
        .op(op::RETURN);
    method(class, "<clinit>", access::STATIC, &once, None)
}

fn method(
    class: &mut ClassFile,
    name: &str,
    flags: u16,
    asm: &Asm,
    frame: Option<u16>,
) -> Result<(), Error> {
    const SAME_FRAME_EXTENDED: u8 = 251;
    let mut attributes = Vec::new();
    if let Some(frame) = frame {
        let [high, low] = frame.to_be_bytes();
        attributes.push(Attribute {
            name: class.pool.add_utf8("StackMapTable")?,
            bytes: vec![0, 1, SAME_FRAME_EXTENDED, high, low],
        });
    }
    let code = Code {
        max_stack: 2,
        max_locals: 0,
        bytes: asm.bytes().to_vec(),
        handlers: Vec::new(),
        attributes,
    };
    let member = Member {
        access: flags,
        name: class.pool.add_utf8(name)?,
        descriptor: class.pool.add_utf8("()V")?,
        attributes: vec![code.write(&mut class.pool)?],
    };
    class.methods.push(member);
    Ok(())
}
