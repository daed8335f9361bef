//! A builder for the straight-line code the editor inserts. No jumps: every existing frame then stays true and the
//! editor needs no frames for inserted code.
//!
//! The builder writes bytes only. Stack depth and highest local are computed by the editor, from the bytes and the
//! pool, so a helper cannot lie about them.

use crate::error::Result;
use crate::instruction::op;
use crate::pool::Pool;

/// How a value sits in locals and on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalKind {
    /// `int` and everything narrower.
    Int,
    /// `long`, two slots.
    Long,
    /// `float`.
    Float,
    /// `double`, two slots.
    Double,
    /// Any reference.
    Reference,
}

impl LocalKind {
    /// Slots taken.
    pub fn slots(self) -> u16 {
        match self {
            LocalKind::Long | LocalKind::Double => 2,
            _ => 1,
        }
    }

    /// The kind of a field or argument descriptor.
    pub fn of(descriptor: &str) -> LocalKind {
        match descriptor.as_bytes().first() {
            Some(b'J') => LocalKind::Long,
            Some(b'F') => LocalKind::Float,
            Some(b'D') => LocalKind::Double,
            Some(b'L' | b'[') => LocalKind::Reference,
            _ => LocalKind::Int,
        }
    }

    /// Distance from the `int` form of a load, store or return.
    fn ordinal(self) -> u8 {
        match self {
            LocalKind::Int => 0,
            LocalKind::Long => 1,
            LocalKind::Float => 2,
            LocalKind::Double => 3,
            LocalKind::Reference => 4,
        }
    }
}

/// Straight-line code under construction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asm {
    bytes: Vec<u8>,
}

impl Asm {
    /// No code yet.
    pub fn new() -> Asm {
        Asm::default()
    }

    /// The bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether there is no code.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Number of bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Any instruction without operands.
    pub fn op(&mut self, opcode: u8) -> &mut Self {
        self.bytes.push(opcode);
        self
    }

    /// Whole instructions as they are, such as a copy of the one being replaced.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend(bytes);
        self
    }

    /// Any instruction with a 16-bit pool index.
    pub fn op_index(&mut self, opcode: u8, index: u16) -> &mut Self {
        self.bytes.push(opcode);
        self.bytes.extend(index.to_be_bytes());
        self
    }

    /// Code after this code.
    pub fn append(&mut self, other: &Asm) -> &mut Self {
        self.raw(&other.bytes)
    }

    /// Pushes a local.
    pub fn load(&mut self, kind: LocalKind, local: u16) -> &mut Self {
        self.local(op::ILOAD, op::ILOAD_0, kind, local)
    }

    /// Pops into a local.
    pub fn store(&mut self, kind: LocalKind, local: u16) -> &mut Self {
        self.local(op::ISTORE, op::ISTORE_0, kind, local)
    }

    fn local(&mut self, general: u8, short: u8, kind: LocalKind, local: u16) -> &mut Self {
        let opcode = general + kind.ordinal();
        match u8::try_from(local) {
            Ok(local @ 0..=3) => self.op(short + 4 * kind.ordinal() + local),
            Ok(local) => self.raw(&[opcode, local]),
            Err(_) => self.op(op::WIDE).op_index(opcode, local),
        }
    }

    /// `iload`.
    pub fn iload(&mut self, local: u16) -> &mut Self {
        self.load(LocalKind::Int, local)
    }

    /// `lload`.
    pub fn lload(&mut self, local: u16) -> &mut Self {
        self.load(LocalKind::Long, local)
    }

    /// `aload`.
    pub fn aload(&mut self, local: u16) -> &mut Self {
        self.load(LocalKind::Reference, local)
    }

    /// `istore`.
    pub fn istore(&mut self, local: u16) -> &mut Self {
        self.store(LocalKind::Int, local)
    }

    /// `lstore`.
    pub fn lstore(&mut self, local: u16) -> &mut Self {
        self.store(LocalKind::Long, local)
    }

    /// `astore`.
    pub fn astore(&mut self, local: u16) -> &mut Self {
        self.store(LocalKind::Reference, local)
    }

    /// Pushes an `int` by the shortest instruction; only large values touch the pool.
    pub fn push_int(&mut self, pool: &mut Pool, value: i32) -> Result<&mut Self> {
        if let -1..=5 = value {
            return Ok(self.op((i32::from(op::ICONST_0) + value) as u8));
        }
        if let Ok(value) = i8::try_from(value) {
            return Ok(self.raw(&[op::BIPUSH, value as u8]));
        }
        if let Ok(value) = i16::try_from(value) {
            return Ok(self.op_index(op::SIPUSH, value as u16));
        }
        let index = pool.add_integer(value)?;
        Ok(self.ldc(index))
    }

    /// Pushes a `long` by the shortest instructions.
    pub fn push_long(&mut self, pool: &mut Pool, value: i64) -> Result<&mut Self> {
        match value {
            0 => Ok(self.op(op::LCONST_0)),
            1 => Ok(self.op(op::LCONST_1)),
            _ => match i16::try_from(value) {
                Ok(short) => Ok(self.push_int(pool, i32::from(short))?.op(op::I2L)),
                Err(_) => {
                    let index = pool.add_long(value)?;
                    Ok(self.op_index(op::LDC2_W, index))
                }
            },
        }
    }

    /// Pushes a string constant.
    pub fn push_string(&mut self, pool: &mut Pool, text: &str) -> Result<&mut Self> {
        let index = pool.add_string(text)?;
        Ok(self.ldc(index))
    }

    /// `ldc` or `ldc_w` for a one-slot constant.
    pub fn ldc(&mut self, index: u16) -> &mut Self {
        match u8::try_from(index) {
            Ok(index) => self.raw(&[op::LDC, index]),
            Err(_) => self.op_index(op::LDC_W, index),
        }
    }

    /// `aconst_null`.
    pub fn aconst_null(&mut self) -> &mut Self {
        self.op(op::ACONST_NULL)
    }

    /// `invokestatic`.
    pub fn invokestatic(&mut self, method: u16) -> &mut Self {
        self.op_index(op::INVOKESTATIC, method)
    }

    /// `invokevirtual`.
    pub fn invokevirtual(&mut self, method: u16) -> &mut Self {
        self.op_index(op::INVOKEVIRTUAL, method)
    }

    /// `invokespecial`.
    pub fn invokespecial(&mut self, method: u16) -> &mut Self {
        self.op_index(op::INVOKESPECIAL, method)
    }

    /// `invokeinterface`; `slots` counts the receiver and all arguments.
    pub fn invokeinterface(&mut self, method: u16, slots: u8) -> &mut Self {
        self.op_index(op::INVOKEINTERFACE, method).raw(&[slots, 0])
    }

    /// `getstatic`.
    pub fn getstatic(&mut self, field: u16) -> &mut Self {
        self.op_index(op::GETSTATIC, field)
    }

    /// `putstatic`.
    pub fn putstatic(&mut self, field: u16) -> &mut Self {
        self.op_index(op::PUTSTATIC, field)
    }

    /// `getfield`.
    pub fn getfield(&mut self, field: u16) -> &mut Self {
        self.op_index(op::GETFIELD, field)
    }

    /// `putfield`.
    pub fn putfield(&mut self, field: u16) -> &mut Self {
        self.op_index(op::PUTFIELD, field)
    }

    /// `checkcast`.
    pub fn checkcast(&mut self, class: u16) -> &mut Self {
        self.op_index(op::CHECKCAST, class)
    }

    /// `pop`.
    pub fn pop(&mut self) -> &mut Self {
        self.op(op::POP)
    }

    /// Duplicates one value.
    pub fn dup_value(&mut self, kind: LocalKind) -> &mut Self {
        self.op(if kind.slots() == 2 { op::DUP2 } else { op::DUP })
    }

    /// `dup`.
    pub fn dup(&mut self) -> &mut Self {
        self.op(op::DUP)
    }

    /// `dup2`.
    pub fn dup2(&mut self) -> &mut Self {
        self.op(op::DUP2)
    }

    /// `swap`.
    pub fn swap(&mut self) -> &mut Self {
        self.op(op::SWAP)
    }

    /// `athrow`.
    pub fn athrow(&mut self) -> &mut Self {
        self.op(op::ATHROW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locals_take_the_shortest_form() {
        let mut asm = Asm::new();
        asm.aload(3)
            .lload(4)
            .store(LocalKind::Double, 255)
            .istore(256)
            .lload(1000);
        let expected = [
            &[op::ALOAD_3][..],
            &[op::LLOAD, 4],
            &[op::DSTORE, 255],
            &[op::WIDE, op::ISTORE, 1, 0],
            &[op::WIDE, op::LLOAD, 3, 0xe8],
        ];
        assert_eq!(asm.bytes(), expected.concat());
        let mut asm = Asm::new();
        asm.astore(0)
            .load(LocalKind::Float, 2)
            .load(LocalKind::Double, 1);
        assert_eq!(
            asm.bytes(),
            [op::ASTORE_0, op::FLOAD_0 + 2, op::DLOAD_0 + 1]
        );
    }

    #[test]
    fn integers_take_the_shortest_form() {
        let mut pool = Pool::new();
        let mut check = |value, expected: &[u8]| {
            let mut asm = Asm::new();
            asm.push_int(&mut pool, value).unwrap();
            assert_eq!(asm.bytes(), expected, "{value}");
        };
        check(-1, &[op::ICONST_M1]);
        check(5, &[op::ICONST_5]);
        check(6, &[op::BIPUSH, 6]);
        check(-128, &[op::BIPUSH, 0x80]);
        check(128, &[op::SIPUSH, 0, 128]);
        check(-32768, &[op::SIPUSH, 0x80, 0]);
        check(32768, &[op::LDC, 1]);
        for value in 0..300 {
            pool.add_integer(value).unwrap();
        }
        let mut asm = Asm::new();
        asm.push_int(&mut pool, 1 << 20).unwrap();
        assert_eq!(asm.bytes()[0], op::LDC_W);
    }
}
