//! Class bytes in, class bytes out: parse, edit and write Java class files. No JVM is needed and none is known here.
//!
//! Bytes may come from anywhere, so every reader is bounded: any input gives a value or an [`Error`], never a panic.

#![forbid(unsafe_code)]

mod annotations;
mod asm;
mod class;
mod code;
pub mod descriptor;
mod edit;
mod error;
mod frames;
mod instruction;
mod layout;
mod listing;
pub mod mutf8;
mod named;
mod outline;
mod pool;
mod reader;
mod relocate;
mod simulate;
mod variables;

pub use annotations::{annotated_class, is_annotated};
pub use asm::{Asm, LocalKind};
pub use class::{Attribute, ClassFile, Member, access};
pub use code::{Code, Handler, LineTable, MethodContext};
pub use edit::{EditPosition, Edited, Editor, HandlerSpec};
pub use error::{Error, Result};
pub use frames::{Frame, VerificationType, initial_frame, parse_frames, write_frames};
pub use instruction::{Instruction, Instructions, Switch, op};
pub use listing::listing;
pub use named::named_classes;
pub use outline::outline;
pub use pool::{DynamicRef, MemberRef, Pool, tag};
pub use relocate::PcMap;
pub use simulate::{ClassId, SimulatedState, Simulation, SlotType, simulate};
pub use variables::VariableTable;
