//! Field and method descriptors, read without allocation.

use crate::error::{Error, Result};
use crate::mutf8;

/// The type of one value, as the stack and the local variables see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType<'a> {
    /// `boolean`, `byte`, `char`, `short` or `int`; the byte is the descriptor letter.
    Int(u8),
    /// `long`.
    Long,
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// A class by its internal name, or an array by its descriptor: the form a class constant has.
    Reference(&'a [u8]),
}

impl ValueType<'_> {
    /// Two for `long` and `double`, else one.
    pub fn slots(self) -> u16 {
        match self {
            ValueType::Long | ValueType::Double => 2,
            _ => 1,
        }
    }
}

/// A method descriptor whose grammar has been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodDescriptor<'a> {
    arguments: &'a [u8],
    returns: &'a [u8],
}

impl<'a> MethodDescriptor<'a> {
    /// Checks and splits `(...)R`.
    pub fn parse(descriptor: &'a [u8]) -> Result<Self> {
        let bad = || Error::BadDescriptor(mutf8::decode(descriptor).into_owned());
        let rest = descriptor.strip_prefix(b"(").ok_or_else(bad)?;
        let mut tail = rest;
        while !tail.starts_with(b")") {
            tail = next(tail).ok_or_else(bad)?.1;
        }
        let arguments = &rest[..rest.len() - tail.len()];
        let returns = &tail[1..];
        if returns != b"V" && !matches!(next(returns), Some((_, []))) {
            return Err(bad());
        }
        Ok(MethodDescriptor { arguments, returns })
    }

    /// Argument types, without the receiver.
    pub fn arguments(&self) -> impl Iterator<Item = ValueType<'a>> + use<'a> {
        let mut rest = self.arguments;
        std::iter::from_fn(move || {
            let (value, tail) = next(rest)?;
            rest = tail;
            Some(value)
        })
    }

    /// Slots all arguments take, without the receiver.
    pub fn argument_slots(&self) -> u32 {
        self.arguments().map(|a| u32::from(a.slots())).sum()
    }

    /// The result, or nothing for `void`.
    pub fn returns(&self) -> Option<ValueType<'a>> {
        Some(next(self.returns)?.0)
    }
}

/// Checks and reads a field descriptor.
pub fn parse_field(descriptor: &[u8]) -> Result<ValueType<'_>> {
    match next(descriptor) {
        Some((value, [])) => Ok(value),
        _ => Err(Error::BadDescriptor(mutf8::decode(descriptor).into_owned())),
    }
}

/// One type from the front, and the rest.
fn next(bytes: &[u8]) -> Option<(ValueType<'_>, &[u8])> {
    let (first, tail) = bytes.split_first()?;
    let value = match first {
        b'Z' | b'B' | b'C' | b'S' | b'I' => ValueType::Int(*first),
        b'J' => ValueType::Long,
        b'F' => ValueType::Float,
        b'D' => ValueType::Double,
        b'L' => {
            let end = tail
                .iter()
                .position(|b| *b == b';')
                .filter(|end| *end > 0)?;
            return Some((ValueType::Reference(&tail[..end]), &tail[end + 1..]));
        }
        b'[' => {
            let dimensions = bytes
                .iter()
                .position(|b| *b != b'[')
                .filter(|d| *d <= 255)?;
            let (element, rest) = next(&bytes[dimensions..])?;
            // The element cannot be an array again: all brackets were skipped.
            let _ = element;
            return Some((
                ValueType::Reference(&bytes[..bytes.len() - rest.len()]),
                rest,
            ));
        }
        _ => return None,
    };
    Some((value, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_and_result_are_split() {
        let d = MethodDescriptor::parse(b"(I[[JLjava/lang/String;D)[Lx;").unwrap();
        let arguments: Vec<_> = d.arguments().collect();
        assert_eq!(
            arguments,
            [
                ValueType::Int(b'I'),
                ValueType::Reference(b"[[J"),
                ValueType::Reference(b"java/lang/String"),
                ValueType::Double
            ]
        );
        assert_eq!(d.argument_slots(), 5);
        assert_eq!(d.returns(), Some(ValueType::Reference(b"[Lx;")));
        assert_eq!(MethodDescriptor::parse(b"()V").unwrap().returns(), None);
    }

    #[test]
    fn malformed_descriptors_are_errors() {
        for bad in [
            "", "(", "()", "(V)V", "(L;)V", "([)V", "(I", "()VV", "()II", "I", "(Lx)V",
        ] {
            assert!(MethodDescriptor::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        for bad in ["", "V", "II", "[", "L;", "Lx"] {
            assert!(parse_field(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
