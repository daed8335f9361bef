//! `StackMapTable`: absolute frames in memory, relative ones in the file.

use crate::code::MethodContext;
use crate::descriptor::{MethodDescriptor, ValueType};
use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::reader::{Reader, count16};

/// Types all frames of a method may hold together. A frame of one byte repeats all locals of the one before it, so
/// a small attribute could ask for gigabytes.
const MAX_TYPES: usize = 8 << 20;

/// What the verifier knows of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerificationType {
    /// Unusable.
    Top,
    /// `int` and everything narrower.
    Integer,
    /// `float`.
    Float,
    /// `long`; takes two slots, but one entry in a frame.
    Long,
    /// `double`; takes two slots, but one entry in a frame.
    Double,
    /// `null`.
    Null,
    /// The receiver of a constructor before `super(...)` or `this(...)`.
    UninitializedThis,
    /// An instance of this class constant.
    Object(u16),
    /// The result of the `new` at this pc, before its constructor ran.
    Uninitialized(u16),
}

impl VerificationType {
    /// Two for `long` and `double`, else one.
    pub fn slots(self) -> u16 {
        match self {
            VerificationType::Long | VerificationType::Double => 2,
            _ => 1,
        }
    }
}

/// The types of all locals and of the operand stack at one pc.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// Locals, one entry per value. Those past the end are unusable.
    pub locals: Vec<VerificationType>,
    /// Operand stack, bottom first, one entry per value.
    pub stack: Vec<VerificationType>,
}

impl Frame {
    /// Slots the listed locals take.
    pub fn local_slots(&self) -> usize {
        self.locals.iter().map(|t| usize::from(t.slots())).sum()
    }
}

/// The frame at the start of a method, which the file does not spell out. Adds class constants for arguments whose
/// classes the pool does not name yet.
pub fn initial_frame(method: MethodContext, pool: &mut Pool) -> Result<Frame> {
    let mut locals = Vec::new();
    if !method.is_static() {
        locals.push(if method.starts_uninitialized(pool) {
            VerificationType::UninitializedThis
        } else {
            VerificationType::Object(method.this_class)
        });
    }
    let descriptor = pool.utf8_bytes(method.descriptor)?.to_vec();
    for argument in MethodDescriptor::parse(&descriptor)?.arguments() {
        locals.push(match argument {
            ValueType::Int(_) => VerificationType::Integer,
            ValueType::Long => VerificationType::Long,
            ValueType::Float => VerificationType::Float,
            ValueType::Double => VerificationType::Double,
            ValueType::Reference(name) => VerificationType::Object(pool.add_class_bytes(name)?),
        });
    }
    Ok(Frame {
        locals,
        stack: Vec::new(),
    })
}

/// Reads the content of a `StackMapTable`: frames with their pcs, in order.
pub fn parse_frames(bytes: &[u8], initial: &Frame) -> Result<Vec<(u32, Frame)>> {
    let mut reader = Reader::new(bytes);
    let mut frames = Vec::new();
    let mut locals = initial.locals.clone();
    let mut next = 0;
    let mut types = 0;
    for _ in 0..reader.u16()? {
        let kind = reader.u8()?;
        let mut stack = Vec::new();
        let delta = match kind {
            0..=63 => u16::from(kind),
            64..=127 => {
                stack.push(verification_type(&mut reader)?);
                u16::from(kind - 64)
            }
            247 => {
                let delta = reader.u16()?;
                stack.push(verification_type(&mut reader)?);
                delta
            }
            248..=250 => {
                let delta = reader.u16()?;
                let kept = locals.len().checked_sub(usize::from(251 - kind));
                locals.truncate(kept.ok_or(Error::BadAttribute("StackMapTable"))?);
                delta
            }
            251 => reader.u16()?,
            252..=254 => {
                let delta = reader.u16()?;
                for _ in 251..kind {
                    locals.push(verification_type(&mut reader)?);
                }
                delta
            }
            255 => {
                let delta = reader.u16()?;
                locals.clear();
                for _ in 0..reader.u16()? {
                    locals.push(verification_type(&mut reader)?);
                }
                for _ in 0..reader.u16()? {
                    stack.push(verification_type(&mut reader)?);
                }
                delta
            }
            _ => return Err(Error::BadAttribute("StackMapTable")),
        };
        let pc = next + u32::from(delta);
        types += locals.len() + stack.len();
        if pc > u32::from(u16::MAX) || types > MAX_TYPES {
            return Err(Error::BadAttribute("StackMapTable"));
        }
        frames.push((
            pc,
            Frame {
                locals: locals.clone(),
                stack,
            },
        ));
        next = pc + 1;
    }
    reader.end("StackMapTable")?;
    Ok(frames)
}

/// Writes the content of a `StackMapTable`, each frame in its shortest form. Pcs must rise.
pub fn write_frames(frames: &[(u32, Frame)], initial: &Frame) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(frames.len() * 8 + 2);
    out.extend(count16("frames", frames.len())?.to_be_bytes());
    let mut before: &[VerificationType] = &initial.locals;
    let mut next = 0;
    for (pc, frame) in frames {
        let delta = pc.checked_sub(next).and_then(|d| u16::try_from(d).ok());
        let delta = delta.ok_or(Error::BadAttribute("StackMapTable"))?;
        next = pc + 1;
        write_frame(&mut out, delta, before, frame)?;
        before = &frame.locals;
    }
    Ok(out)
}

fn write_frame(
    out: &mut Vec<u8>,
    delta: u16,
    before: &[VerificationType],
    frame: &Frame,
) -> Result<()> {
    let locals = frame.locals.as_slice();
    let tagged = |out: &mut Vec<u8>, tag: u8| {
        out.push(tag);
        out.extend(delta.to_be_bytes());
    };
    match (
        frame.stack.as_slice(),
        locals.len() as i64 - before.len() as i64,
    ) {
        ([], 0) if locals == before => match u8::try_from(delta) {
            Ok(delta @ 0..=63) => out.push(delta),
            _ => tagged(out, 251),
        },
        ([only], 0) if locals == before => {
            match u8::try_from(delta) {
                Ok(delta @ 0..=63) => out.push(64 + delta),
                _ => tagged(out, 247),
            }
            write_type(out, *only);
        }
        ([], less @ -3..=-1) if before.starts_with(locals) => tagged(out, (251 + less) as u8),
        ([], more @ 1..=3) if locals.starts_with(before) => {
            tagged(out, (251 + more) as u8);
            locals[before.len()..]
                .iter()
                .for_each(|t| write_type(out, *t));
        }
        (stack, _) => {
            tagged(out, 255);
            for list in [locals, stack] {
                out.extend(count16("types in a frame", list.len())?.to_be_bytes());
                list.iter().for_each(|t| write_type(out, *t));
            }
        }
    }
    Ok(())
}

fn verification_type(reader: &mut Reader<'_>) -> Result<VerificationType> {
    Ok(match reader.u8()? {
        0 => VerificationType::Top,
        1 => VerificationType::Integer,
        2 => VerificationType::Float,
        3 => VerificationType::Double,
        4 => VerificationType::Long,
        5 => VerificationType::Null,
        6 => VerificationType::UninitializedThis,
        7 => VerificationType::Object(reader.u16()?),
        8 => VerificationType::Uninitialized(reader.u16()?),
        _ => return Err(Error::BadAttribute("StackMapTable")),
    })
}

fn write_type(out: &mut Vec<u8>, value: VerificationType) {
    let (tag, operand) = match value {
        VerificationType::Top => (0, None),
        VerificationType::Integer => (1, None),
        VerificationType::Float => (2, None),
        VerificationType::Double => (3, None),
        VerificationType::Long => (4, None),
        VerificationType::Null => (5, None),
        VerificationType::UninitializedThis => (6, None),
        VerificationType::Object(index) => (7, Some(index)),
        VerificationType::Uninitialized(pc) => (8, Some(pc)),
    };
    out.push(tag);
    if let Some(operand) = operand {
        out.extend(operand.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use VerificationType::*;
    use proptest::prelude::*;

    fn any_type() -> impl Strategy<Value = VerificationType> {
        prop_oneof![
            Just(Top),
            Just(Integer),
            Just(Float),
            Just(Long),
            Just(Double),
            Just(Null),
            Just(UninitializedThis),
            any::<u16>().prop_map(Object),
            any::<u16>().prop_map(Uninitialized),
        ]
    }

    fn any_frame() -> impl Strategy<Value = Frame> {
        (
            prop::collection::vec(any_type(), 0..6),
            prop::collection::vec(any_type(), 0..3),
        )
            .prop_map(|(locals, stack)| Frame { locals, stack })
    }

    proptest! {
        #[test]
        fn frames_survive_a_round_trip(
            initial in any_frame(),
            frames in prop::collection::vec((0_u32..200, any_frame()), 0..20),
        ) {
            let mut pc = 0;
            let frames: Vec<_> = frames.into_iter().map(|(gap, frame)| {
                let at = pc + gap;
                pc = at + 1;
                (at, frame)
            }).collect();
            let bytes = write_frames(&frames, &initial).unwrap();
            prop_assert_eq!(parse_frames(&bytes, &initial).unwrap(), frames);
        }

        #[test]
        fn any_bytes_give_frames_or_an_error(bytes in any::<Vec<u8>>()) {
            let _ = parse_frames(&bytes, &Frame::default());
        }
    }

    #[test]
    fn each_form_is_chosen_when_it_is_the_shortest() {
        let initial = Frame {
            locals: vec![Integer, Long],
            stack: vec![],
        };
        let check =
            |pc, locals: &[VerificationType], stack: &[VerificationType], first: u8, length| {
                let frame = Frame {
                    locals: locals.to_vec(),
                    stack: stack.to_vec(),
                };
                let bytes = write_frames(&[(pc, frame)], &initial).unwrap();
                assert_eq!((bytes[2], bytes.len() - 2), (first, length));
            };
        check(63, &[Integer, Long], &[], 63, 1);
        check(64, &[Integer, Long], &[], 251, 3);
        check(1, &[Integer, Long], &[Null], 65, 2);
        check(64, &[Integer, Long], &[Object(1)], 247, 6);
        check(1, &[Integer], &[], 250, 3);
        check(1, &[], &[], 249, 3);
        check(1, &[Integer, Long, Top, Null], &[], 253, 5);
        check(1, &[Integer, Null], &[], 255, 9);
        check(1, &[Integer, Long], &[Null, Null], 255, 11);
    }
}
