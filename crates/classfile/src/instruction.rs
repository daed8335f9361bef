//! Decoding of instructions: extent, operands and control flow. What an instruction does to types is `simulate`'s
//! business.

use crate::descriptor::MethodDescriptor;
use crate::descriptor::parse_field;
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::reader::{i32_at, u16_at};

/// Opcodes by their specified names.
pub mod op {
    #![expect(missing_docs, reason = "the names are those of the specification")]
    macro_rules! opcodes {
        ($($name:ident = $value:literal),* $(,)?) => { $(pub const $name: u8 = $value;)* };
    }
    opcodes! {
        NOP = 0x00, ACONST_NULL = 0x01, ICONST_M1 = 0x02, ICONST_0 = 0x03, ICONST_1 = 0x04, ICONST_2 = 0x05,
        ICONST_3 = 0x06, ICONST_4 = 0x07, ICONST_5 = 0x08, LCONST_0 = 0x09, LCONST_1 = 0x0a, FCONST_0 = 0x0b,
        FCONST_1 = 0x0c, FCONST_2 = 0x0d, DCONST_0 = 0x0e, DCONST_1 = 0x0f, BIPUSH = 0x10, SIPUSH = 0x11,
        LDC = 0x12, LDC_W = 0x13, LDC2_W = 0x14, ILOAD = 0x15, LLOAD = 0x16, FLOAD = 0x17, DLOAD = 0x18,
        ALOAD = 0x19, ILOAD_0 = 0x1a, LLOAD_0 = 0x1e, FLOAD_0 = 0x22, DLOAD_0 = 0x26, ALOAD_0 = 0x2a,
        ALOAD_3 = 0x2d, IALOAD = 0x2e, LALOAD = 0x2f, FALOAD = 0x30, DALOAD = 0x31, AALOAD = 0x32, BALOAD = 0x33,
        CALOAD = 0x34, SALOAD = 0x35, ISTORE = 0x36, LSTORE = 0x37, FSTORE = 0x38, DSTORE = 0x39, ASTORE = 0x3a,
        ISTORE_0 = 0x3b, LSTORE_0 = 0x3f, FSTORE_0 = 0x43, DSTORE_0 = 0x47, ASTORE_0 = 0x4b, ASTORE_3 = 0x4e,
        IASTORE = 0x4f, LASTORE = 0x50, FASTORE = 0x51, DASTORE = 0x52, AASTORE = 0x53, BASTORE = 0x54,
        CASTORE = 0x55, SASTORE = 0x56, POP = 0x57, POP2 = 0x58, DUP = 0x59, DUP_X1 = 0x5a, DUP_X2 = 0x5b,
        DUP2 = 0x5c, DUP2_X1 = 0x5d, DUP2_X2 = 0x5e, SWAP = 0x5f, IADD = 0x60, LADD = 0x61, FADD = 0x62,
        DADD = 0x63, ISUB = 0x64, LSUB = 0x65, FSUB = 0x66, DSUB = 0x67, IMUL = 0x68, LMUL = 0x69, FMUL = 0x6a,
        DMUL = 0x6b, IDIV = 0x6c, LDIV = 0x6d, FDIV = 0x6e, DDIV = 0x6f, IREM = 0x70, LREM = 0x71, FREM = 0x72,
        DREM = 0x73, INEG = 0x74, LNEG = 0x75, FNEG = 0x76, DNEG = 0x77, ISHL = 0x78, LSHL = 0x79, ISHR = 0x7a,
        LSHR = 0x7b, IUSHR = 0x7c, LUSHR = 0x7d, IAND = 0x7e, LAND = 0x7f, IOR = 0x80, LOR = 0x81, IXOR = 0x82,
        LXOR = 0x83, IINC = 0x84, I2L = 0x85, I2F = 0x86, I2D = 0x87, L2I = 0x88, L2F = 0x89, L2D = 0x8a,
        F2I = 0x8b, F2L = 0x8c, F2D = 0x8d, D2I = 0x8e, D2L = 0x8f, D2F = 0x90, I2B = 0x91, I2C = 0x92,
        I2S = 0x93, LCMP = 0x94, FCMPL = 0x95, FCMPG = 0x96, DCMPL = 0x97, DCMPG = 0x98, IFEQ = 0x99,
        IFNE = 0x9a, IFLT = 0x9b, IFGE = 0x9c, IFGT = 0x9d, IFLE = 0x9e, IF_ICMPEQ = 0x9f, IF_ICMPNE = 0xa0,
        IF_ICMPLT = 0xa1, IF_ICMPGE = 0xa2, IF_ICMPGT = 0xa3, IF_ICMPLE = 0xa4, IF_ACMPEQ = 0xa5,
        IF_ACMPNE = 0xa6, GOTO = 0xa7, JSR = 0xa8, RET = 0xa9, TABLESWITCH = 0xaa, LOOKUPSWITCH = 0xab,
        IRETURN = 0xac, LRETURN = 0xad, FRETURN = 0xae, DRETURN = 0xaf, ARETURN = 0xb0, RETURN = 0xb1,
        GETSTATIC = 0xb2, PUTSTATIC = 0xb3, GETFIELD = 0xb4, PUTFIELD = 0xb5, INVOKEVIRTUAL = 0xb6,
        INVOKESPECIAL = 0xb7, INVOKESTATIC = 0xb8, INVOKEINTERFACE = 0xb9, INVOKEDYNAMIC = 0xba, NEW = 0xbb,
        NEWARRAY = 0xbc, ANEWARRAY = 0xbd, ARRAYLENGTH = 0xbe, ATHROW = 0xbf, CHECKCAST = 0xc0,
        INSTANCEOF = 0xc1, MONITORENTER = 0xc2, MONITOREXIT = 0xc3, WIDE = 0xc4, MULTIANEWARRAY = 0xc5,
        IFNULL = 0xc6, IFNONNULL = 0xc7, GOTO_W = 0xc8, JSR_W = 0xc9,
    }
}

/// One decoded instruction, borrowing its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Where it starts.
    pub pc: u32,
    /// What it does. For a `wide` form this is the widened opcode; see [`Instruction::is_wide`].
    pub opcode: u8,
    /// All its bytes, padding and `wide` prefix included.
    pub bytes: &'a [u8],
}

/// The targets of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch<'a> {
    pc: u32,
    /// From the default offset on, without padding.
    body: &'a [u8],
    is_table: bool,
}

impl<'a> Instruction<'a> {
    /// Decodes the instruction at `pc`.
    pub fn decode(code: &'a [u8], pc: u32) -> Result<Instruction<'a>> {
        let rest = code.get(pc as usize..).unwrap_or_default();
        let Some(&first) = rest.first() else {
            return Err(Error::BadTarget {
                what: "instruction",
                pc: i64::from(pc),
            });
        };
        let bad = || Error::BadInstruction { pc, opcode: first };
        let (opcode, length) = match first {
            op::WIDE => match rest.get(1) {
                Some(&op::IINC) => (op::IINC, 6),
                Some(&inner @ (op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | op::RET)) => {
                    (inner, 4)
                }
                _ => return Err(bad()),
            },
            op::TABLESWITCH | op::LOOKUPSWITCH => {
                let padding = 3 - pc as usize % 4;
                let body = rest.get(1 + padding..).unwrap_or_default();
                if body.len() < 8 {
                    return Err(bad());
                }
                let length = if first == op::TABLESWITCH {
                    let (low, high) = (i64::from(i32_at(body, 4)), i64::from(i32_at(body, 8)));
                    if body.len() < 12 || low > high {
                        return Err(bad());
                    }
                    12 + 4 * (high - low + 1)
                } else {
                    let pairs = i64::from(i32_at(body, 4));
                    if pairs < 0 {
                        return Err(bad());
                    }
                    8 + 8 * pairs
                };
                if length > body.len() as i64 {
                    return Err(bad());
                }
                (first, 1 + padding + length as usize)
            }
            _ => match LENGTHS.get(usize::from(first)) {
                None | Some(0) => return Err(bad()),
                Some(length) => (first, usize::from(*length)),
            },
        };
        let bytes = rest.get(..length).ok_or_else(bad)?;
        Ok(Instruction { pc, opcode, bytes })
    }

    /// Number of bytes.
    #[expect(clippy::len_without_is_empty, reason = "an instruction is never empty")]
    pub fn len(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Where the next instruction starts.
    pub fn next_pc(&self) -> u32 {
        self.pc + self.len()
    }

    /// Whether this is the `wide` form of its opcode.
    pub fn is_wide(&self) -> bool {
        self.bytes.first() == Some(&op::WIDE)
    }

    /// The target of a jump or subroutine call; switches have their own.
    pub fn target(&self) -> Option<i64> {
        let offset = match self.opcode {
            op::IFEQ..=op::JSR | op::IFNULL | op::IFNONNULL => {
                i64::from(u16_at(self.bytes, 1) as i16)
            }
            op::GOTO_W | op::JSR_W => i64::from(i32_at(self.bytes, 1)),
            _ => return None,
        };
        Some(i64::from(self.pc) + offset)
    }

    /// The targets of a switch.
    pub fn switch(&self) -> Option<Switch<'a>> {
        if !matches!(self.opcode, op::TABLESWITCH | op::LOOKUPSWITCH) {
            return None;
        }
        let body = self.bytes.get(1 + (3 - self.pc as usize % 4)..)?;
        Some(Switch {
            pc: self.pc,
            body,
            is_table: self.opcode == op::TABLESWITCH,
        })
    }

    /// Every pc this instruction can jump to; the instruction after it is not among them unless jumped to.
    pub fn targets(&self) -> impl Iterator<Item = i64> + use<'a> {
        let switch = self.switch();
        self.target()
            .into_iter()
            .chain(switch.into_iter().flat_map(|s| s.targets()))
    }

    /// The local variable it names.
    pub fn local(&self) -> Option<u16> {
        match self.opcode {
            op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | op::RET | op::IINC => {
                Some(if self.is_wide() {
                    u16_at(self.bytes, 2)
                } else {
                    u16::from(*self.bytes.get(1)?)
                })
            }
            op::ILOAD_0..=op::ALOAD_3 => Some(u16::from((self.opcode - op::ILOAD_0) % 4)),
            op::ISTORE_0..=op::ASTORE_3 => Some(u16::from((self.opcode - op::ISTORE_0) % 4)),
            _ => None,
        }
    }

    /// The load, store or push this is a short form of: `iload` for `iload_2`.
    pub fn generic_opcode(&self) -> u8 {
        match self.opcode {
            op::ILOAD_0..=op::ALOAD_3 => op::ILOAD + (self.opcode - op::ILOAD_0) / 4,
            op::ISTORE_0..=op::ASTORE_3 => op::ISTORE + (self.opcode - op::ISTORE_0) / 4,
            opcode => opcode,
        }
    }

    /// The constant it names.
    pub fn pool_index(&self) -> Option<u16> {
        match self.opcode {
            op::LDC => Some(u16::from(*self.bytes.get(1)?)),
            op::LDC_W | op::LDC2_W | op::GETSTATIC..=op::NEW | op::ANEWARRAY => {
                Some(u16_at(self.bytes, 1))
            }
            op::CHECKCAST | op::INSTANCEOF | op::MULTIANEWARRAY => Some(u16_at(self.bytes, 1)),
            _ => None,
        }
    }

    /// Whether it leaves the method normally.
    pub fn is_return(&self) -> bool {
        matches!(self.opcode, op::IRETURN..=op::RETURN)
    }

    /// Whether it calls a method.
    pub fn is_invoke(&self) -> bool {
        matches!(self.opcode, op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC)
    }

    /// Whether it may jump or go on.
    pub fn is_conditional(&self) -> bool {
        matches!(
            self.opcode,
            op::IFEQ..=op::IF_ACMPNE | op::IFNULL | op::IFNONNULL
        )
    }

    /// Whether control can reach the next instruction from here. True for `jsr`, whose subroutine comes back.
    pub fn falls_through(&self) -> bool {
        !matches!(
            self.opcode,
            op::GOTO | op::GOTO_W | op::RET..=op::RETURN | op::ATHROW
        )
    }

    /// By how many slots the operand stack grows.
    pub fn stack_change(&self, pool: &Pool) -> Result<i32> {
        Ok(match self.opcode {
            op::GETSTATIC | op::PUTSTATIC | op::GETFIELD | op::PUTFIELD => {
                let slots = i32::from(parse_field(pool.descriptor_bytes(self.index())?)?.slots());
                match self.opcode {
                    op::GETSTATIC => slots,
                    op::PUTSTATIC => -slots,
                    op::GETFIELD => slots - 1,
                    _ => -slots - 1,
                }
            }
            op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                let descriptor = MethodDescriptor::parse(pool.descriptor_bytes(self.index())?)?;
                let receiver =
                    i32::from(!matches!(self.opcode, op::INVOKESTATIC | op::INVOKEDYNAMIC));
                let result = descriptor.returns().map_or(0, |r| i32::from(r.slots()));
                result - receiver - descriptor.argument_slots() as i32
            }
            op::MULTIANEWARRAY => 1 - i32::from(self.bytes.get(3).copied().unwrap_or(0)),
            opcode => i32::from(
                CHANGES.get(usize::from(opcode)).copied().unwrap_or(b'E') as i8 - b'E' as i8,
            ),
        })
    }

    fn index(&self) -> u16 {
        u16_at(self.bytes, 1)
    }
}

impl<'a> Switch<'a> {
    /// Where control goes when no key matches.
    pub fn default_target(&self) -> i64 {
        i64::from(self.pc) + i64::from(i32_at(self.body, 0))
    }

    /// Keys and targets in the order of the file.
    pub fn cases(&self) -> impl Iterator<Item = (i32, i64)> + use<'a> {
        let Switch { pc, body, is_table } = *self;
        let (from, step) = if is_table { (12, 4) } else { (8, 8) };
        let low = i32_at(body, 4);
        let body = body.get(from..).unwrap_or_default();
        body.chunks_exact(step).enumerate().map(move |(i, case)| {
            let key = if is_table {
                low.wrapping_add(i as i32)
            } else {
                i32_at(case, 0)
            };
            (key, i64::from(pc) + i64::from(i32_at(case, step - 4)))
        })
    }

    /// The default target, then those of the cases.
    pub fn targets(&self) -> impl Iterator<Item = i64> + use<'a> {
        std::iter::once(self.default_target()).chain(self.cases().map(|(_, target)| target))
    }

    /// The bytes between the default offset and the first case, and after it: bounds or pair count, and the cases.
    pub(crate) fn body(&self) -> &'a [u8] {
        self.body
    }

    pub(crate) fn is_table(&self) -> bool {
        self.is_table
    }
}

/// Decodes code from front to back.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    code: &'a [u8],
    pc: u32,
}

impl<'a> Instructions<'a> {
    pub(crate) fn new(code: &'a [u8]) -> Self {
        Instructions { code, pc: 0 }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instruction<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.pc as usize >= self.code.len() {
            return None;
        }
        let instruction = Instruction::decode(self.code, self.pc);
        self.pc = match &instruction {
            Ok(instruction) => instruction.next_pc(),
            Err(_) => u32::MAX,
        };
        Some(instruction)
    }
}

/// Bytes per opcode; 0 for those whose length depends on their operands.
#[rustfmt::skip]
const LENGTHS: [u8; 202] = [
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 0x00 nop .. dconst_1
    2, 3, 2, 3, 3, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, // 0x10 bipush ..
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 0x20
    1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, // 0x30 .. istore
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 0x40
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 0x50
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 0x60
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 0x70
    1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 0x80 .. iinc
    1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, // 0x90 .. ifeq
    3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 0, 0, 1, 1, 1, 1, // 0xa0 .. ret, switches
    1, 1, 3, 3, 3, 3, 3, 3, 3, 5, 5, 3, 2, 3, 1, 1, // 0xb0 .. athrow
    3, 3, 1, 1, 0, 4, 3, 3, 5, 5,                   // 0xc0 checkcast .. jsr_w
];

/// Stack growth per opcode as a letter, `E` for none. Those that depend on the pool are handled apart.
#[rustfmt::skip]
const CHANGES: &[u8; 202] = b"\
EFFFFFFFFGGFFFGG\
FFFFGFGFGFFFFFGG\
GGFFFFGGGGFFFFDE\
DEDDDDDCDCDDDDDC\
CCCDDDDCCCCDDDDB\
ABABBBBDCFFFGGGE\
DCDCDCDCDCDCDCDC\
DCDCEEEEDDDDDDDC\
DCDCEFEFDDEEFFDE\
DEEEBDDBBDDDDDDC\
CCCCCCCEFEDDDCDC\
DEEEEEEEEEEFEEED\
EEDDEEDDEF";

#[cfg(test)]
mod tests {
    use super::*;

    fn change(bytes: &[u8]) -> i32 {
        Instruction::decode(bytes, 0)
            .unwrap()
            .stack_change(&Pool::new())
            .unwrap()
    }

    #[test]
    fn stack_changes_match_the_specification() {
        for (opcode, expected) in [
            (op::NOP, 0),
            (op::ACONST_NULL, 1),
            (op::ICONST_5, 1),
            (op::LCONST_0, 2),
            (op::FCONST_2, 1),
            (op::DCONST_1, 2),
            (op::LLOAD_0, 2),
            (op::FLOAD_0, 1),
            (op::DLOAD_0, 2),
            (op::ALOAD_0, 1),
            (op::ALOAD_3, 1),
            (op::IALOAD, -1),
            (op::LALOAD, 0),
            (op::FALOAD, -1),
            (op::DALOAD, 0),
            (op::AALOAD, -1),
            (op::SALOAD, -1),
            (op::ISTORE_0, -1),
            (op::LSTORE_0, -2),
            (op::FSTORE_0, -1),
            (op::DSTORE_0, -2),
            (op::ASTORE_0, -1),
            (op::ASTORE_3, -1),
            (op::IASTORE, -3),
            (op::LASTORE, -4),
            (op::FASTORE, -3),
            (op::DASTORE, -4),
            (op::AASTORE, -3),
            (op::SASTORE, -3),
            (op::POP, -1),
            (op::POP2, -2),
            (op::DUP, 1),
            (op::DUP_X1, 1),
            (op::DUP_X2, 1),
            (op::DUP2, 2),
            (op::DUP2_X1, 2),
            (op::DUP2_X2, 2),
            (op::SWAP, 0),
            (op::IADD, -1),
            (op::LADD, -2),
            (op::FADD, -1),
            (op::DADD, -2),
            (op::DREM, -2),
            (op::INEG, 0),
            (op::DNEG, 0),
            (op::ISHL, -1),
            (op::LSHL, -1),
            (op::LUSHR, -1),
            (op::IAND, -1),
            (op::LAND, -2),
            (op::IOR, -1),
            (op::LOR, -2),
            (op::IXOR, -1),
            (op::LXOR, -2),
            (op::I2L, 1),
            (op::I2F, 0),
            (op::I2D, 1),
            (op::L2I, -1),
            (op::L2F, -1),
            (op::L2D, 0),
            (op::F2I, 0),
            (op::F2L, 1),
            (op::F2D, 1),
            (op::D2I, -1),
            (op::D2L, 0),
            (op::D2F, -1),
            (op::I2B, 0),
            (op::I2S, 0),
            (op::LCMP, -3),
            (op::FCMPL, -1),
            (op::FCMPG, -1),
            (op::DCMPL, -3),
            (op::DCMPG, -3),
            (op::IRETURN, -1),
            (op::LRETURN, -2),
            (op::FRETURN, -1),
            (op::DRETURN, -2),
            (op::ARETURN, -1),
            (op::RETURN, 0),
            (op::ARRAYLENGTH, 0),
            (op::ATHROW, -1),
            (op::MONITORENTER, -1),
            (op::MONITOREXIT, -1),
        ] {
            assert_eq!(change(&[opcode]), expected, "{opcode:#04x}");
        }
        for (opcode, expected) in [
            (op::SIPUSH, 1),
            (op::IFEQ, -1),
            (op::IFLE, -1),
            (op::IF_ICMPEQ, -2),
            (op::IF_ACMPNE, -2),
            (op::GOTO, 0),
            (op::JSR, 1),
            (op::NEW, 1),
            (op::ANEWARRAY, 0),
            (op::CHECKCAST, 0),
            (op::INSTANCEOF, 0),
            (op::IFNULL, -1),
            (op::IFNONNULL, -1),
            (op::LDC_W, 1),
            (op::LDC2_W, 2),
            (op::IINC, 0),
        ] {
            assert_eq!(change(&[opcode, 0, 0]), expected, "{opcode:#04x}");
        }
        for (opcode, expected) in [
            (op::BIPUSH, 1),
            (op::LDC, 1),
            (op::ILOAD, 1),
            (op::LLOAD, 2),
            (op::FLOAD, 1),
            (op::DLOAD, 2),
            (op::ALOAD, 1),
            (op::ISTORE, -1),
            (op::LSTORE, -2),
            (op::FSTORE, -1),
            (op::DSTORE, -2),
            (op::ASTORE, -1),
            (op::RET, 0),
            (op::NEWARRAY, 0),
        ] {
            assert_eq!(change(&[opcode, 0]), expected, "{opcode:#04x}");
        }
        assert_eq!(change(&[op::GOTO_W, 0, 0, 0, 0]), 0);
        assert_eq!(change(&[op::JSR_W, 0, 0, 0, 0]), 1);
        assert_eq!(change(&[op::WIDE, op::LSTORE, 1, 0]), -2);
        assert_eq!(change(&[op::MULTIANEWARRAY, 0, 0, 3]), -2);
    }

    #[test]
    fn switches_give_default_and_cases() {
        let table = [
            op::TABLESWITCH,
            0,
            0,
            0,
            0,
            0,
            0,
            9,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            2,
            0,
            0,
            0,
            7,
            0,
            0,
            0,
            8,
        ];
        let instruction = Instruction::decode(&table, 0).unwrap();
        let switch = instruction.switch().unwrap();
        assert_eq!(switch.default_target(), 9);
        assert_eq!(switch.cases().collect::<Vec<_>>(), [(1, 7), (2, 8)]);
        let lookup = [
            op::NOP,
            op::LOOKUPSWITCH,
            0,
            0,
            0,
            0,
            0,
            9,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            5,
            0,
            0,
            0,
            4,
        ];
        let instruction = Instruction::decode(&lookup, 1).unwrap();
        assert_eq!(instruction.targets().collect::<Vec<_>>(), [10, 5]);
    }

    #[test]
    fn impossible_switches_are_errors() {
        let huge = [
            op::TABLESWITCH,
            0,
            0,
            0,
            0,
            0,
            0,
            9,
            0x80,
            0,
            0,
            0,
            0x7f,
            0xff,
            0xff,
            0xff,
        ];
        assert!(Instruction::decode(&huge, 0).is_err());
        let negative = [
            op::LOOKUPSWITCH,
            0,
            0,
            0,
            0,
            0,
            0,
            9,
            0xff,
            0xff,
            0xff,
            0xff,
        ];
        assert!(Instruction::decode(&negative, 0).is_err());
        assert!(Instruction::decode(&[op::WIDE], 0).is_err());
        assert!(Instruction::decode(&[0xca], 0).is_err());
    }
}
