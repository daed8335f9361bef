//! What can be wrong with class bytes or with a requested edit.
//!
//! Two variants matter to callers that edit: [`Error::CodeTooLarge`] and [`Error::PoolFull`] are limits of the format,
//! not mistakes; the right answer is to leave that method or class as it was.

/// Why bytes could not be read, or an edit could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input ends inside a structure.
    #[error("class file ends early: {wanted} more bytes wanted at offset {at}")]
    Truncated {
        /// Offset inside the structure being read.
        at: usize,
        /// How many bytes the structure wanted there.
        wanted: usize,
    },
    /// The first four bytes are not `CAFEBABE`.
    #[error("not a class file: magic number {0:#010x}")]
    BadMagic(u32),
    /// Bytes follow the end of a structure.
    #[error("{count} bytes after the end of the {what}")]
    Trailing {
        /// The structure that should have ended.
        what: &'static str,
        /// How many bytes are left.
        count: usize,
    },
    /// A constant pool entry has a tag no version defines.
    #[error("constant {index} has unknown tag {tag}")]
    BadTag {
        /// Pool index of the entry.
        index: u16,
        /// Its tag.
        tag: u8,
    },
    /// A pool index is out of range or names an entry of another kind.
    #[error("constant {index} is not a {wanted}")]
    BadConstant {
        /// The index used.
        index: u16,
        /// The kind of entry wanted there.
        wanted: &'static str,
    },
    /// The constant pool has no room for another entry.
    #[error("constant pool is full")]
    PoolFull,
    /// A string is longer than 65,535 bytes in modified UTF-8.
    #[error("string of {0} bytes does not fit a constant")]
    StringTooLong(usize),
    /// A descriptor does not follow the grammar.
    #[error("malformed descriptor {0:?}")]
    BadDescriptor(String),
    /// An opcode is undefined, or a switch has impossible bounds.
    #[error("invalid instruction {opcode:#04x} at pc {pc}")]
    BadInstruction {
        /// Where it is.
        pc: u32,
        /// Its opcode.
        opcode: u8,
    },
    /// A jump, table or range points where no instruction starts.
    #[error("{what} refers to pc {pc}, where no instruction starts")]
    BadTarget {
        /// What holds the reference.
        what: &'static str,
        /// The pc referred to.
        pc: i64,
    },
    /// An attribute does not follow its layout.
    #[error("malformed {0} attribute")]
    BadAttribute(&'static str),
    /// The edited code would not fit a method.
    #[error("edited code would be {size} bytes, the limit is 65535")]
    CodeTooLarge {
        /// The size that was needed.
        size: usize,
    },
    /// A count in the output exceeds what its field can hold.
    #[error("too many {what}: {count}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// Code handed to the editor breaks its rules.
    #[error("inserted code {0}")]
    BadInsertion(&'static str),
    /// A far jump needs a frame the simulator cannot give.
    #[error("no frame is known at pc {pc}")]
    NoFrame {
        /// The jump.
        pc: u32,
    },
    /// The simulator met code that no verifier would accept.
    #[error("code at pc {pc} cannot be simulated: {what}")]
    BadSimulation {
        /// Where.
        pc: u32,
        /// What is wrong.
        what: &'static str,
    },
}

/// Shorthand used throughout the crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
