//! Handlers of the driver that note an exception: `catch (E e) { thrown = true; }`. Where a call returns within such a
//! `try`, what the driver finds later may be that nothing was thrown.

use culprit_classfile::{Code, Handler, Instruction, Pool, op};

use super::machine::MachineFrame;

/// Exceptions of several classes are caught by one that all of them extend.
const ANY: &str = "java/lang/Exception";

impl MachineFrame<'_, '_> {
    /// The class of the exceptions that the driver would note at this instruction, or where it called this method.
    pub(super) fn noted_exception(&self) -> Option<String> {
        let (code, pool) = (&self.followed.method.code, &self.followed.pool);
        let handlers = code.handlers.iter();
        let mut covering = handlers.filter(|handler| {
            let covered = u32::from(handler.start)..u32::from(handler.end);
            covered.contains(&self.pc) && handler.catch_type != 0
        });
        let noting = covering.clone().find(|handler| notes(code, pool, handler));
        let Some(noting) = noting else {
            return self.noted_outside.clone();
        };
        let is_one_of_several = |handler: &Handler| {
            handler.handler == noting.handler && handler.catch_type != noting.catch_type
        };
        if covering.any(is_one_of_several) {
            return Some(ANY.to_owned());
        }
        let class = pool.class_name(noting.catch_type).ok()?;
        Some(class.into_owned())
    }
}

/// Whether a handler keeps something for later: in a variable, a field, an array, a collection or the result of its method.
fn notes(code: &Code, pool: &Pool, handler: &Handler) -> bool {
    let first = u32::from(handler.handler);
    // The code that follows the `try` and the handler.
    let after = Instruction::decode(&code.bytes, u32::from(handler.end)).ok();
    let after = after.filter(|end| end.opcode == op::GOTO || end.opcode == op::GOTO_W);
    let after = after.and_then(|end| u32::try_from(end.target()?).ok());
    let mut pc = first;
    while after != Some(pc) {
        let Ok(instruction) = Instruction::decode(&code.bytes, pc) else {
            return false;
        };
        match instruction.generic_opcode() {
            // The exception itself.
            op::ASTORE if pc == first => {}
            op::ISTORE..=op::ASTORE | op::IASTORE..=op::SASTORE | op::IINC => return true,
            op::PUTFIELD | op::PUTSTATIC | op::IRETURN..=op::ARETURN => return true,
            _ if instruction.is_invoke() && is_collection(pool, &instruction) => return true,
            _ if !instruction.falls_through() => return false,
            _ => {}
        }
        pc = instruction.next_pc();
    }
    false
}

/// Whether a call is one of a collection, a counter or a text of the JDK. `try` with resources closes them.
fn is_collection(pool: &Pool, call: &Instruction<'_>) -> bool {
    let target = call.pool_index().and_then(|index| pool.member(index).ok());
    target.is_some_and(|target| {
        let owners = [
            "java/util/",
            "java/lang/StringBuilder",
            "java/lang/StringBuffer",
        ];
        let is_of_jdk = owners.iter().any(|owner| target.owner.starts_with(owner));
        is_of_jdk && target.name != "close"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The handler at 10 of code with a call at 0 that ends with a jump to what follows the handler.
    fn is_noted(handler: &[u8]) -> bool {
        let mut bytes = vec![op::NOP; 10];
        let after = (10 + handler.len()) as u8;
        bytes[3..6].copy_from_slice(&[op::GOTO, 0, after - 3]);
        bytes.extend(handler);
        // What follows keeps something of its own.
        bytes.extend([op::ICONST_1, op::ISTORE_0, op::RETURN]);
        let code = Code {
            max_stack: 2,
            max_locals: 4,
            bytes,
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        let handler = Handler {
            start: 0,
            end: 3,
            handler: 10,
            catch_type: 1,
        };
        notes(&code, &Pool::default(), &handler)
    }

    #[test]
    fn a_flag_and_a_counter_are_noted() {
        assert!(is_noted(&[op::ASTORE_3, op::ICONST_1, op::ISTORE_0 + 1]));
        assert!(is_noted(&[op::ASTORE_3, op::IINC, 1, 1]));
        assert!(is_noted(&[op::POP, op::ICONST_1, op::IRETURN]));
    }

    #[test]
    fn nothing_is_noted_by_a_handler_that_is_empty_or_throws() {
        assert!(!is_noted(&[op::ASTORE_3]));
        assert!(!is_noted(&[op::ASTORE_3, op::ALOAD_0 + 3, op::ATHROW]));
        assert!(!is_noted(&[op::ASTORE_3, op::RETURN]));
    }
}
