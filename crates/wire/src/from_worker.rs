//! What a worker says to Culprit.

use culprit_model::Outcome;

use crate::codec::{Cursor, Put, UNTRUSTED};
use crate::outcome::{outcome, put_outcome};
use crate::{Message, VERSION, WireError};

const READY: u8 = 1;
const DONE: u8 = 2;
const FAULT: u8 = 3;
const COVERAGE: u8 = 4;
const TAKEN_IN: u8 = 5;

/// A message from a worker.
#[derive(Clone, PartialEq, Debug)]
pub enum FromWorker {
    /// The greeting: the worker is up. Its tag and the version come first in every version of the
    /// protocol.
    Ready {
        version: u16,
        /// 11, 17, ...
        jdk_feature: u16,
        /// As `java.version` has it.
        java_version: String,
        pid: u32,
    },
    /// A run has ended.
    Done { number: u64, outcome: Outcome },
    /// The worker found a mistake of its own; it ends.
    Fault(String),
    /// How often lines were run; comes before the `Done` of its run.
    Coverage(Vec<ClassCoverage>),
    /// The subject is taken in, and the first run begins. A worker need not say so; then nobody knows how
    /// long its first run takes by itself.
    TakenIn,
}

/// How often the lines of a class were run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClassCoverage {
    /// Internal name.
    pub class: String,
    /// Lines that were run, each with its count.
    pub lines: Vec<(u16, u64)>,
}

impl FromWorker {
    /// The greeting of a worker of this version.
    pub fn ready(jdk_feature: u16, java_version: String, pid: u32) -> FromWorker {
        FromWorker::Ready {
            version: VERSION,
            jdk_feature,
            java_version,
            pid,
        }
    }
}

impl Message for FromWorker {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            FromWorker::Ready {
                version,
                jdk_feature,
                java_version,
                pid,
            } => {
                out.put_u8(READY);
                out.put_u16(*version);
                out.put_u16(*jdk_feature);
                out.put_str(java_version);
                out.put_varint(u64::from(*pid));
            }
            FromWorker::Done { number, outcome } => {
                out.put_u8(DONE);
                out.put_varint(*number);
                put_outcome(out, outcome);
            }
            FromWorker::Fault(what) => {
                out.put_u8(FAULT);
                out.put_str(what);
            }
            FromWorker::Coverage(classes) => {
                out.put_u8(COVERAGE);
                out.put_list(classes, put_coverage);
            }
            FromWorker::TakenIn => out.put_u8(TAKEN_IN),
        }
    }

    fn decode(bytes: &[u8]) -> Result<FromWorker, WireError> {
        let cursor = &mut Cursor::new(bytes, UNTRUSTED);
        let message = match cursor.u8()? {
            READY => {
                let version = cursor.u16()?;
                // What follows is another version's business.
                if version != VERSION {
                    return Err(WireError::Version {
                        found: version,
                        supported: VERSION,
                    });
                }
                FromWorker::Ready {
                    version,
                    jdk_feature: cursor.u16()?,
                    java_version: cursor.string()?,
                    pid: cursor.varint_u32()?,
                }
            }
            DONE => FromWorker::Done {
                number: cursor.varint()?,
                outcome: outcome(cursor)?,
            },
            FAULT => FromWorker::Fault(cursor.string()?),
            COVERAGE => FromWorker::Coverage(cursor.list(coverage)?),
            TAKEN_IN => FromWorker::TakenIn,
            _ => return Err(WireError::Malformed("a known message from a worker")),
        };
        cursor.end()?;
        Ok(message)
    }
}

fn put_coverage(out: &mut Vec<u8>, coverage: &ClassCoverage) {
    out.put_str(&coverage.class);
    out.put_list(&coverage.lines, |out, (line, count)| {
        out.put_u16(*line);
        out.put_varint(*count);
    });
}

fn coverage(cursor: &mut Cursor<'_>) -> Result<ClassCoverage, WireError> {
    Ok(ClassCoverage {
        class: cursor.string()?,
        lines: cursor.list(|cursor| Ok((cursor.u16()?, cursor.varint()?)))?,
    })
}
