//! The JSON documents of recordings, run folders and events.

use std::collections::BTreeMap;

use culprit_model::{Catcher, Caught, Event, Failure, FailureKind, Member, Reference, Site, Value};
use culprit_trace::{EndReason, Gap, Recording};

use super::folder::FolderTable;
use super::summary::Summary;
use super::value::{Elements, boxed_class, constant, elements, type_name, units};
use super::{self as document, EVENT_VERSION, FolderDocument, Scalar, SummaryDocument};
use crate::document::Document;
use crate::place::{dotted, source};

/// The class of strings.
const STRING: &str = "java.lang.String";

impl Summary<'_> {
    /// The summary for programs.
    pub fn document(&self) -> Document<SummaryDocument> {
        let recording = self.recording;
        let (start, losses) = (recording.start(), recording.losses());
        let not_woven = losses.not_woven.iter();
        Document::new(SummaryDocument {
            path: recording.path().display().to_string(),
            bytes: recording.bytes(),
            culprit: start.culprit.clone(),
            program: document::Program {
                pid: start.pid,
                command: start.command.clone(),
                directory: start.directory.clone(),
                started_ms: start.started_ms,
                properties: map(&start.properties),
                options: start.options.clone(),
            },
            jvm: document::Jvm {
                name: start.jvm_name.clone(),
                version: start.jvm_version.clone(),
                vendor: start.jvm_vendor.clone(),
                flags: start.jvm_flags.clone(),
            },
            notes: map(&start.notes),
            end: recording.end().map(|end| document::End {
                reason: match end.reason {
                    EndReason::JvmEnded => document::EndReason::JvmEnded,
                    EndReason::Stopped => document::EndReason::Stopped,
                },
                exit_status: end.exit_status,
                duration_ms: end.duration_ms,
            }),
            truncated: recording.truncation().map(|cut| document::Truncation {
                offset: cut.offset,
                bytes_left: cut.bytes_left,
            }),
            damaged: self.broken.as_ref().map(ToString::to_string),
            observed: document::Observed {
                selection: self.selection(),
                classes: self.observed().map(dotted).collect(),
            },
            events: document::EventCounts {
                count: recording.event_count(),
                by_kind: map(&self
                    .kinds
                    .iter()
                    .map(|(kind, count)| (kind.name(), *count))
                    .collect::<Vec<_>>()),
                by_class: self.classes.clone(),
            },
            threads: self
                .threads
                .iter()
                .map(|(id, count)| {
                    let thread = recording.threads().get(id.0);
                    document::Thread {
                        thread: id.0,
                        name: thread.map(|thread| thread.name.clone()),
                        java_id: thread.map(|thread| thread.java_id),
                        is_virtual: thread.map(|thread| thread.is_virtual),
                        events: *count,
                    }
                })
                .collect(),
            failures: recording
                .failures()
                .iter()
                .zip(&self.left_at)
                .map(|(failure, left_at)| document::Failure {
                    kind: match failure.kind {
                        FailureKind::Uncaught => document::FailureKind::Uncaught,
                        FailureKind::Test => document::FailureKind::Test,
                        FailureKind::Caught => document::FailureKind::Caught,
                    },
                    thread: failure.thread.0,
                    place: failure.place.clone(),
                    class: failure.class.clone(),
                    message: failure.message.clone(),
                    stack: failure.stack.to_string(),
                    left_observed_code_at: *left_at,
                })
                .collect(),
            caught: recording
                .caught()
                .iter()
                .zip(recording.failures().len() as u64 + 1..)
                .map(|(caught, number)| caught_document(caught, number))
                .collect(),
            losses: document::Losses {
                counts: losses
                    .counts
                    .iter()
                    .map(|(name, count)| (name.clone(), *count))
                    .collect(),
                at_gaps: self.gaps,
                not_woven: not_woven
                    .map(|(name, reason)| document::NotWoven {
                        name: dotted(name),
                        reason: reason.clone(),
                    })
                    .collect(),
                stopped: losses.stopped.clone(),
            },
        })
    }
}

fn caught_document(caught: &Caught, number: u64) -> document::CaughtException {
    let failure = &caught.failure;
    document::CaughtException {
        failure: number,
        thread: failure.thread.0,
        class: failure.class.clone(),
        message: failure.message.clone(),
        thrown_at: failure.throw_site().map(str::to_owned),
        caught_by: Some(failure.place.clone()).filter(|place| !place.is_empty()),
        catcher: match caught.catcher {
            Catcher::Program => document::Catcher::Program,
            Catcher::Outside => document::Catcher::Outside,
            Catcher::Test => document::Catcher::Test,
            Catcher::Unknown => document::Catcher::Unknown,
        },
        printed: caught.printed > 0,
        count: caught.count,
        stack: failure.stack.clone(),
    }
}

impl FolderTable {
    /// The recordings for programs.
    pub fn document(&self) -> Document<FolderDocument> {
        let recordings = self.rows.iter().map(|row| document::FolderEntry {
            path: row.path.display().to_string(),
            content: match &row.content {
                Ok(content) => document::FolderContent::Readable {
                    pid: content.pid,
                    command: content.command.clone(),
                    events: content.events,
                    failures: content.failures,
                },
                Err(error) => document::FolderContent::Unreadable {
                    error: error.clone(),
                },
            },
        });
        Document::new(FolderDocument {
            path: self.path.display().to_string(),
            facts: map(&self.facts),
            recordings: recordings.collect(),
        })
    }
}

/// One event.
pub(crate) fn event(event: &Event, site: &Site, recording: &Recording) -> document::Event {
    let known = site.id.0 != 0;
    document::Event {
        version: EVENT_VERSION,
        index: event.index.0,
        thread: event.thread.0,
        turn: event.turn.0,
        ordinal: event.ordinal,
        depth: event.depth,
        kind: event.kind.name().to_owned(),
        class: known.then(|| dotted(&site.class)),
        method: known.then(|| site.method.clone()),
        line: site.line,
        place: known.then(|| source(site)),
        target: known.then(|| document::Target {
            owner: dotted(&site.target.owner),
            name: site.target.name.clone(),
            descriptor: site.target.descriptor.clone(),
            is_static: site.is_static,
        }),
        values: event.values.iter().map(|it| value(it, recording)).collect(),
        message: None,
        thrown_at: None,
    }
}

/// An event with what is known of the exception that it ended a call with.
pub(super) fn with_exception(
    event: document::Event,
    exception: Option<&Failure>,
) -> document::Event {
    let frame = exception.and_then(Failure::throw_site);
    document::Event {
        message: exception.and_then(|thrown| thrown.message.clone()),
        thrown_at: frame.map(str::to_owned),
        ..event
    }
}

/// Lost events, in the place of an event.
pub(super) fn gap(gap: &Gap) -> document::Gap {
    document::Gap {
        version: EVENT_VERSION,
        kind: document::GapKind::Gap,
        before: gap.before.0,
        thread: gap.thread.0,
        reason: gap.reason.to_string(),
        count: gap.count,
    }
}

fn map<K: ToString, V: Clone>(pairs: &[(K, V)]) -> BTreeMap<String, V> {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect()
}

fn scalar(type_name: &str, value: Scalar) -> document::Value {
    document::Value::Scalar {
        type_name: type_name.to_owned(),
        value,
        utf16: None,
    }
}

/// A value, or `None` for null.
fn value(value: &Value, recording: &Recording) -> Option<document::Value> {
    let integer = |name: &str, value: i64| scalar(name, Scalar::Integer(value));
    Some(match value {
        Value::Boolean(v) => scalar("boolean", Scalar::Boolean(*v)),
        Value::Byte(v) => integer("byte", (*v).into()),
        Value::Short(v) => integer("short", (*v).into()),
        Value::Char(v) => integer("char", (*v).into()),
        Value::Int(v) => integer("int", (*v).into()),
        Value::Long(v) => integer("long", *v),
        Value::Float(v) => scalar("float", number(f64::from(*v), v)),
        Value::Double(v) => scalar("double", number(*v, v)),
        Value::Reference(v) => return reference(v, recording),
    })
}

/// JSON has no infinities and no NaN: they are texts.
fn number(value: f64, shown: &dyn std::fmt::Display) -> Scalar {
    match value.is_finite() {
        true => Scalar::Number(value),
        false => Scalar::Text(shown.to_string()),
    }
}

fn string(units: &[u16]) -> document::Value {
    document::Value::Scalar {
        type_name: STRING.to_owned(),
        value: Scalar::Text(String::from_utf16_lossy(units)),
        // JSON text cannot hold unpaired surrogates: then the units are added.
        utf16: String::from_utf16(units).is_err().then(|| units.to_vec()),
    }
}

fn reference(reference: &Reference, recording: &Recording) -> Option<document::Value> {
    let named = |class| type_name(class, recording);
    Some(match reference {
        Reference::Null => return None,
        Reference::Object { id, class } => document::Value::Object {
            type_name: named(*class),
            id: id.0,
        },
        Reference::String(text) => string(text),
        Reference::StringBlob(id) => match units(*id, recording) {
            Some(text) => string(&text),
            None => document::Value::Missing {
                type_name: STRING.to_owned(),
                missing: id.0,
            },
        },
        Reference::Unknown => document::Value::Unknown { unknown: true },
        Reference::Redacted => document::Value::Redacted {
            type_name: STRING.to_owned(),
            redacted: true,
        },
        Reference::Class(class) => scalar("java.lang.Class", Scalar::Text(named(*class))),
        Reference::Enum { class, ordinal } => document::Value::Enum {
            type_name: named(*class),
            constant: constant(*class, *ordinal, recording),
            ordinal: *ordinal,
        },
        Reference::Boxed(boxed) => match value(boxed, recording)? {
            document::Value::Scalar { value, .. } => scalar(&boxed_class(boxed), value),
            other => other,
        },
        Reference::Structure { class, fields } => {
            let names = recording.types().get(class.0);
            let names = names.map_or(&[][..], |class| &class.fields);
            let field = |(field, held): (&Member, &Value)| document::Field {
                owner: dotted(&field.owner),
                name: field.name.clone(),
                value: value(held, recording),
            };
            document::Value::Structure {
                type_name: named(*class),
                fields: names.iter().zip(fields).map(field).collect(),
            }
        }
        Reference::Piece(number) => document::Value::Piece { piece: *number },
        Reference::Constant { class, name } => document::Value::Static {
            type_name: named(*class),
            field: name.clone(),
        },
        Reference::Array {
            id,
            class,
            length,
            contents,
        } => {
            let (mut missing, mut from, mut known) = (None, None, None);
            match elements(contents, *class, recording) {
                Elements::Unknown => {}
                Elements::Missing(blob) => missing = Some(blob.0),
                Elements::Known(first, elements) => {
                    from = Some(first).filter(|first| *first > 0);
                    known = Some(elements.iter().map(|it| value(it, recording)).collect());
                }
            }
            document::Value::Array {
                type_name: named(*class),
                length: *length,
                id: Some(id.0).filter(|id| *id != 0),
                missing,
                from,
                elements: known,
            }
        }
    })
}
