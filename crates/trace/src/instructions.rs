//! The instruction trace: the control flow, the heap accesses and the values of one run of a script, in one file.
//!
//! A worker writes it, `culprit-slice` replays it. The file contains everything that a replay needs: the classes as
//! they were before weaving, where their blocks begin, which instructions report that they are done, and a stream of
//! events for each thread. An event is one or more words of 32 bits; the top five bits of its first word are its
//! kind, the others its operand. The words are in the byte order of the machine that wrote them, little-endian.
//!
//! The reader is given files of a confined worker: any bytes are read or refused, and memory is in proportion to them.

mod event;
mod reader;
mod writer;

pub use event::{Event, EventKind, Events, MAX_OPERAND};
pub use reader::InstructionTraceError;
pub use writer::write;

/// The extension of instruction traces.
pub const INSTRUCTIONS_EXTENSION: &str = "instructions";

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"CULPRITI";

/// The version of the format.
const VERSION: u16 = 1;

const CLASS: u8 = 1;
const THREAD: u8 = 2;
const CHUNK: u8 = 3;
const OBJECTS: u8 = 4;
const END: u8 = 5;

/// One run, instruction by instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InstructionTrace {
    /// The classes whose code was run and woven.
    pub classes: Vec<TracedClass>,
    /// By number.
    pub threads: Vec<TracedThread>,
    /// The objects by id, the first of which is 1.
    pub objects: Vec<TracedObject>,
    /// The end of the trace.
    pub ending: TraceEnding,
}

/// A class before weaving, and where it was woven.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracedClass {
    /// The class file.
    pub bytes: Vec<u8>,
    /// The methods that were run.
    pub methods: Vec<TracedMethod>,
}

/// Where a method reports what it does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracedMethod {
    /// Its position in the class file.
    pub index: u16,
    /// The number of its first block. The others follow.
    pub first_block: u32,
    /// Where its blocks begin, from 0 on.
    pub blocks: Vec<u16>,
    /// The instructions that report that they are done, in order.
    pub reporting: Vec<u16>,
}

/// A thread and its events.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracedThread {
    /// The id of its `Thread` object.
    pub object: u32,
    /// The words of its events.
    pub words: Vec<u32>,
}

/// An object that was met.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TracedObject {
    /// The internal name of its class, or the descriptor of an array.
    pub class: String,
    /// The content of a string, from its start; the value of a boxed number.
    pub text: Option<String>,
}

/// The end of the trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceEnding {
    /// The reason why events are missing at the end.
    pub partial: Option<String>,
    /// Methods that run as they are, each with the reason.
    pub not_woven: Vec<(String, String)>,
}

impl InstructionTrace {
    /// Reads a trace.
    pub fn read(bytes: &[u8]) -> Result<InstructionTrace, InstructionTraceError> {
        reader::read(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn example() -> InstructionTrace {
        InstructionTrace {
            classes: vec![TracedClass {
                bytes: vec![1, 2, 3],
                methods: vec![TracedMethod {
                    index: 4,
                    first_block: 70_000,
                    blocks: vec![0, 9],
                    reporting: vec![3, 5, 65535],
                }],
            }],
            threads: vec![
                TracedThread {
                    object: 1,
                    words: vec![7, 8],
                },
                TracedThread::default(),
            ],
            objects: vec![
                TracedObject {
                    class: "java/lang/Thread".to_owned(),
                    text: None,
                },
                TracedObject {
                    class: "java/lang/String".to_owned(),
                    text: Some("ü".to_owned()),
                },
            ],
            ending: TraceEnding {
                partial: Some("the limit".to_owned()),
                not_woven: vec![("a/A.m()V".to_owned(), "too large".to_owned())],
            },
        }
    }

    #[test]
    fn a_trace_survives_a_round_trip() {
        let mut bytes = Vec::new();
        write(&mut bytes, &example()).unwrap();
        assert_eq!(InstructionTrace::read(&bytes).unwrap(), example());
    }

    #[test]
    fn a_file_that_was_cut_is_read_up_to_its_last_whole_section() {
        let mut bytes = Vec::new();
        write(&mut bytes, &example()).unwrap();
        bytes.truncate(bytes.len() - 1);
        let read = InstructionTrace::read(&bytes).unwrap();
        assert_eq!(read.classes, example().classes);
        assert_eq!(read.ending.partial.as_deref(), Some("the file ends early"));
    }

    #[test]
    fn another_version_is_refused_by_its_number() {
        let mut bytes = Vec::new();
        write(&mut bytes, &example()).unwrap();
        bytes[8] = 9;
        let error = InstructionTrace::read(&bytes).unwrap_err();
        assert_eq!(error, InstructionTraceError::Version { found: 9 });
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>(), at in 0usize..200) {
            let mut file = Vec::new();
            write(&mut file, &example()).unwrap();
            let at = at.min(file.len());
            file.splice(at.., bytes);
            let _ = InstructionTrace::read(&file);
        }
    }
}
