//! Locks on replay. Who gets a lock first is nobody's event, but a thread that takes one too early
//! would keep it from the thread whose turn it is. So each waits, before it takes a lock, until the
//! scenario has come to its next step, or stands still because what that thread needs is done under
//! the lock; what it does after giving a lock back needs no order.
//!
//! A synchronized method takes its lock before any of its code runs: it becomes one that waits, and
//! calls the method as it was.

use culprit_classfile::{Asm, ClassFile, Code, Instruction, LocalKind, access, op};
use culprit_model::value::split_descriptor;

use crate::Error;
use crate::method::Weaver;
use crate::probe::ANSWER;
use crate::reference::return_of;

/// How the names of methods start that were synchronized.
const LOCKED: &str = "$culprit$locked$";
/// Classes of the JDK that make threads wait for each other.
const WAITING: &str = "java/util/concurrent/";

/// Makes a thread wait before an instruction that may take a lock.
pub(crate) fn gate(weaver: &mut Weaver<'_>, instruction: &Instruction<'_>) -> Result<(), Error> {
    let takes = match instruction.opcode {
        op::MONITORENTER => true,
        op::INVOKEDYNAMIC => false,
        _ if instruction.is_invoke() => weaver
            .named(instruction)?
            .is_some_and(|named| named.target().owner.starts_with(WAITING)),
        _ => false,
    };
    if takes {
        let mut asm = Asm::new();
        let method = weaver.pool.add_method_ref(ANSWER, "awaitLock", "()V")?;
        asm.invokestatic(method);
        weaver.editor.insert_before(instruction.pc, asm);
    }
    Ok(())
}

/// Has the callers of synchronized methods wait.
pub(crate) fn gate_methods(class: &mut ClassFile) -> Result<(), Error> {
    let own = class.name()?.into_owned();
    let mut gates = Vec::new();
    for number in 0..class.methods.len() {
        let method = &class.methods[number];
        let place = method.attribute_index(&class.pool, "Code");
        let (true, Some(place)) = (method.access & access::SYNCHRONIZED != 0, place) else {
            continue;
        };
        let name = class.pool.utf8(method.name)?.into_owned();
        let descriptor = class.pool.utf8(method.descriptor)?.into_owned();
        let locked = format!("{LOCKED}{number}${name}");
        let mut gate = method.clone();
        gate.access &= !access::SYNCHRONIZED;
        let code = code(class, &own, &locked, &descriptor, gate.access)?;
        gate.attributes[place] = code.write(&mut class.pool)?;
        gates.push(gate);
        let renamed = class.pool.add_utf8(&locked)?;
        let method = &mut class.methods[number];
        let code = method.attributes.swap_remove(place);
        method.attributes = vec![code];
        method.name = renamed;
        let kept = access::STATIC | access::SYNCHRONIZED;
        method.access = method.access & kept | access::PRIVATE | access::SYNTHETIC;
    }
    class.methods.extend(gates);
    Ok(())
}

fn code(
    class: &mut ClassFile,
    own: &str,
    locked: &str,
    descriptor: &str,
    flags: u16,
) -> Result<Code, Error> {
    let (parameters, result) =
        split_descriptor(descriptor).ok_or_else(|| Error::Descriptor(descriptor.to_owned()))?;
    let pool = &mut class.pool;
    let of_class = flags & access::STATIC != 0;
    let mut asm = Asm::new();
    let wait = pool.add_method_ref(ANSWER, "awaitLock", "()V")?;
    asm.invokestatic(wait);
    let mut local = 0;
    if !of_class {
        asm.aload(0);
        local = 1;
    }
    for parameter in parameters {
        let kind = LocalKind::of(parameter);
        asm.load(kind, local);
        local += kind.slots();
    }
    let method = pool.add_method_ref(own, locked, descriptor)?;
    match of_class {
        true => asm.invokestatic(method),
        false => asm.invokespecial(method),
    };
    asm.op(return_of(result));
    Ok(Code {
        max_stack: local + 2,
        max_locals: local,
        bytes: asm.bytes().to_vec(),
        handlers: Vec::new(),
        attributes: Vec::new(),
    })
}
