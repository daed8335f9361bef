//! The effect of each instruction on locals and operand stack, as far as dependences are concerned.

use culprit_classfile::descriptor::{MethodDescriptor, ValueType};
use culprit_classfile::{ClassFile, Instruction, op};

/// The effect of an instruction. Values are counted in slots: `long` and `double` have two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    /// No value is defined or moved.
    None,
    /// Pushes a constant.
    Constant {
        slots: u8,
    },
    Load {
        local: u16,
        slots: u8,
    },
    Store {
        local: u16,
        slots: u8,
    },
    Increment {
        local: u16,
    },
    /// Computes a value from others.
    Compute {
        pops: u8,
        pushes: u8,
    },
    /// `dup` and its forms: a copy of the topmost `count` slots is put below `under` more.
    Copy {
        count: u8,
        under: u8,
    },
    Swap,
    Pop {
        slots: u8,
    },
    /// Decides where to continue.
    Branch {
        pops: u8,
    },
    GetField {
        field: u32,
        slots: u8,
        is_static: bool,
    },
    PutField {
        field: u32,
        slots: u8,
        is_static: bool,
    },
    LoadElement {
        slots: u8,
    },
    StoreElement {
        slots: u8,
    },
    /// Calls the method of a call site.
    Invoke {
        call: u32,
    },
    New,
    NewArray {
        pops: u8,
    },
    Return {
        slots: u8,
    },
    Throw,
    /// A check that leaves the value where it is.
    Check,
}

/// The type of the value that an instruction defines, as far as traces distinguish it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ValueKind {
    Int,
    Long,
    Float,
    Double,
    Object,
}

impl ValueKind {
    /// The kind of a descriptor.
    pub(crate) fn of(descriptor: &str) -> ValueKind {
        match descriptor.as_bytes().first() {
            Some(b'J') => ValueKind::Long,
            Some(b'F') => ValueKind::Float,
            Some(b'D') => ValueKind::Double,
            Some(b'L' | b'[') => ValueKind::Object,
            _ => ValueKind::Int,
        }
    }

    /// The kind of a type.
    pub(crate) fn of_type(value: ValueType<'_>) -> ValueKind {
        match value {
            ValueType::Int(_) => ValueKind::Int,
            ValueType::Long => ValueKind::Long,
            ValueType::Float => ValueKind::Float,
            ValueType::Double => ValueKind::Double,
            ValueType::Reference(_) => ValueKind::Object,
        }
    }

    fn of_group(distance: u8) -> ValueKind {
        match distance {
            1 => ValueKind::Long,
            2 => ValueKind::Float,
            3 => ValueKind::Double,
            4 => ValueKind::Object,
            _ => ValueKind::Int,
        }
    }

    pub(crate) fn slots(self) -> u8 {
        match self {
            ValueKind::Long | ValueKind::Double => 2,
            _ => 1,
        }
    }
}

/// A method that is called, as a call site names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CallSite {
    /// Empty for a dynamic call.
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) descriptor: String,
    /// Slots of the arguments, the receiver first.
    pub(crate) arguments: Vec<u8>,
    pub(crate) has_receiver: bool,
    /// The method is chosen by the receiver.
    pub(crate) is_virtual: bool,
    pub(crate) result: Option<ValueKind>,
    /// The name and descriptor of the body of a lambda or method reference that a dynamic call makes.
    pub(crate) body: Option<(String, String)>,
}

impl CallSite {
    pub(crate) fn is_dynamic(&self) -> bool {
        self.owner.is_empty()
    }

    pub(crate) fn argument_slots(&self) -> usize {
        self.arguments.iter().map(|slots| usize::from(*slots)).sum()
    }
}

/// Reads the call site of an instruction.
pub(crate) fn call_site(class: &ClassFile, instruction: &Instruction<'_>) -> Option<CallSite> {
    let index = instruction.pool_index()?;
    let (owner, name, descriptor, body) = if instruction.opcode == op::INVOKEDYNAMIC {
        let dynamic = class.pool.dynamic(index).ok()?;
        let body = lambda_body(class, dynamic.bootstrap);
        (
            String::new(),
            dynamic.name.into_owned(),
            dynamic.descriptor.into_owned(),
            body,
        )
    } else {
        let member = class.pool.member(index).ok()?;
        (
            member.owner.into_owned(),
            member.name.into_owned(),
            member.descriptor.into_owned(),
            None,
        )
    };
    let parsed = MethodDescriptor::parse(descriptor.as_bytes()).ok()?;
    let has_receiver = !matches!(instruction.opcode, op::INVOKESTATIC | op::INVOKEDYNAMIC);
    let mut arguments = vec![1; usize::from(has_receiver)];
    arguments.extend(parsed.arguments().map(|it| it.slots() as u8));
    let (_, result) = descriptor.rsplit_once(')')?;
    let result = (result != "V").then(|| ValueKind::of(result));
    Some(CallSite {
        arguments,
        has_receiver,
        is_virtual: matches!(instruction.opcode, op::INVOKEVIRTUAL | op::INVOKEINTERFACE),
        result,
        owner,
        name,
        descriptor,
        body,
    })
}

/// The method that a bootstrap method of `LambdaMetafactory` is given as body.
fn lambda_body(class: &ClassFile, bootstrap: u16) -> Option<(String, String)> {
    let bytes = &class.attribute("BootstrapMethods")?.bytes;
    let word = |at: usize| {
        let bytes = bytes.get(at..at + 2)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let mut at = 2;
    for _ in 0..bootstrap {
        at += 4 + 2 * usize::from(word(at + 2)?);
    }
    let (_, factory) = class.pool.method_handle(word(at)?).ok()?;
    if class.pool.member(factory).ok()?.owner != "java/lang/invoke/LambdaMetafactory"
        || word(at + 2)? < 3
    {
        return None;
    }
    let (_, body) = class.pool.method_handle(word(at + 6)?).ok()?;
    let body = class.pool.member(body).ok()?;
    Some((body.name.into_owned(), body.descriptor.into_owned()))
}

/// The kind of value that an instruction defines or returns.
pub(crate) fn value_kind(class: &ClassFile, instruction: &Instruction<'_>) -> Option<ValueKind> {
    Some(match instruction.opcode {
        opcode @ op::IALOAD..=op::SALOAD => ValueKind::of_group(opcode - op::IALOAD),
        opcode @ op::IASTORE..=op::SASTORE => ValueKind::of_group(opcode - op::IASTORE),
        opcode @ op::IRETURN..=op::ARETURN => ValueKind::of_group(opcode - op::IRETURN),
        op::GETSTATIC..=op::PUTFIELD => {
            let member = class.pool.member(instruction.pool_index()?).ok()?;
            ValueKind::of(&member.descriptor)
        }
        _ => return None,
    })
}

/// The operation of an instruction that names neither field nor method.
pub(crate) fn simple(instruction: &Instruction<'_>) -> Operation {
    let opcode = instruction.generic_opcode();
    let local = instruction.local().unwrap_or(0);
    let wide = |distance: u8| ValueKind::of_group(distance).slots();
    let compute = |pops, pushes| Operation::Compute { pops, pushes };
    match opcode {
        op::LCONST_0 | op::LCONST_1 | op::DCONST_0 | op::DCONST_1 | op::LDC2_W => {
            Operation::Constant { slots: 2 }
        }
        op::ACONST_NULL..=op::LDC_W => Operation::Constant { slots: 1 },
        op::ILOAD..=op::ALOAD => Operation::Load {
            local,
            slots: wide(opcode - op::ILOAD),
        },
        op::ISTORE..=op::ASTORE => Operation::Store {
            local,
            slots: wide(opcode - op::ISTORE),
        },
        op::IALOAD..=op::SALOAD => Operation::LoadElement {
            slots: wide(opcode - op::IALOAD),
        },
        op::IASTORE..=op::SASTORE => Operation::StoreElement {
            slots: wide(opcode - op::IASTORE),
        },
        op::POP => Operation::Pop { slots: 1 },
        op::POP2 => Operation::Pop { slots: 2 },
        op::DUP => Operation::Copy { count: 1, under: 0 },
        op::DUP_X1 => Operation::Copy { count: 1, under: 1 },
        op::DUP_X2 => Operation::Copy { count: 1, under: 2 },
        op::DUP2 => Operation::Copy { count: 2, under: 0 },
        op::DUP2_X1 => Operation::Copy { count: 2, under: 1 },
        op::DUP2_X2 => Operation::Copy { count: 2, under: 2 },
        op::SWAP => Operation::Swap,
        op::IADD..=op::DREM => {
            let slots = wide(opcode % 4);
            compute(2 * slots, slots)
        }
        op::INEG..=op::DNEG => {
            let slots = wide(opcode % 4);
            compute(slots, slots)
        }
        // Shifts: the distance has one slot.
        op::ISHL..=op::LUSHR => {
            let slots = 1 + opcode % 2;
            compute(slots + 1, slots)
        }
        op::IAND..=op::LXOR => {
            let slots = 1 + opcode % 2;
            compute(2 * slots, slots)
        }
        op::IINC => Operation::Increment { local },
        op::I2L | op::I2D | op::F2L | op::F2D => compute(1, 2),
        op::L2I | op::L2F | op::D2I | op::D2F => compute(2, 1),
        op::L2D | op::D2L => compute(2, 2),
        op::I2F | op::F2I | op::I2B..=op::I2S | op::ARRAYLENGTH | op::INSTANCEOF => compute(1, 1),
        op::LCMP | op::DCMPL | op::DCMPG => compute(4, 1),
        op::FCMPL | op::FCMPG => compute(2, 1),
        op::IFEQ..=op::IFLE | op::IFNULL | op::IFNONNULL => Operation::Branch { pops: 1 },
        op::IF_ICMPEQ..=op::IF_ACMPNE => Operation::Branch { pops: 2 },
        op::TABLESWITCH | op::LOOKUPSWITCH => Operation::Branch { pops: 1 },
        op::IRETURN..=op::ARETURN => Operation::Return {
            slots: wide(opcode - op::IRETURN),
        },
        op::RETURN => Operation::Return { slots: 0 },
        op::NEW => Operation::New,
        op::NEWARRAY | op::ANEWARRAY => Operation::NewArray { pops: 1 },
        op::MULTIANEWARRAY => Operation::NewArray {
            pops: instruction.bytes.get(3).copied().unwrap_or(1),
        },
        op::ATHROW => Operation::Throw,
        op::CHECKCAST => Operation::Check,
        op::MONITORENTER | op::MONITOREXIT => Operation::Pop { slots: 1 },
        _ => Operation::None,
    }
}

/// True for an instruction that may throw.
pub(crate) fn may_throw(opcode: u8) -> bool {
    matches!(
        opcode,
        op::IALOAD..=op::SALOAD
            | op::IASTORE..=op::SASTORE
            | op::IDIV
            | op::LDIV
            | op::IREM
            | op::LREM
            | op::GETSTATIC..=op::INVOKEDYNAMIC
            | op::NEWARRAY..=op::CHECKCAST
            | op::MONITORENTER
            | op::MULTIANEWARRAY
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use culprit_classfile::Pool;

    /// The growth of the stack by an operation.
    fn growth(operation: Operation) -> i32 {
        let of = i32::from;
        match operation {
            Operation::None | Operation::Increment { .. } | Operation::Swap | Operation::Check => 0,
            Operation::Constant { slots } | Operation::Load { slots, .. } => of(slots),
            Operation::Store { slots, .. }
            | Operation::Pop { slots }
            | Operation::Return { slots } => -of(slots),
            Operation::Compute { pops, pushes } => of(pushes) - of(pops),
            Operation::Copy { count, .. } => of(count),
            Operation::Branch { pops } => -of(pops),
            Operation::LoadElement { slots } => of(slots) - 2,
            Operation::StoreElement { slots } => -of(slots) - 2,
            Operation::New => 1,
            Operation::NewArray { pops } => 1 - of(pops),
            Operation::Throw => -1,
            Operation::GetField { .. } | Operation::PutField { .. } | Operation::Invoke { .. } => 0,
        }
    }

    #[test]
    fn operations_move_the_stack_as_instructions_do() {
        let pool = Pool::new();
        for opcode in 0..=op::JSR_W {
            let padded = [opcode, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            let Ok(instruction) = Instruction::decode(&padded, 0) else {
                continue;
            };
            let is_simple = !matches!(
                opcode,
                op::GETSTATIC..=op::INVOKEDYNAMIC | op::JSR | op::JSR_W
            );
            if is_simple {
                let expect = instruction.stack_change(&pool).unwrap();
                assert_eq!(growth(simple(&instruction)), expect, "{opcode:#x}");
            }
        }
    }
}
