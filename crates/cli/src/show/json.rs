//! The same facts as JSON. Documents say which they are and in which version; lines of events
//! have the version in every line, since lines are often taken apart.

use std::io::{self, Write};

use culprit_model::{Event, FailureKind, Member, Reference, Site, Value};
use culprit_trace::{EndReason, Gap, Recording};
use serde_json::{Map, Value as Json, json};

use super::folder::Table;
use super::summary::Summary;
use super::value::{Elements, boxed_class, constant, elements, type_name, units};
use culprit_report::place::{dotted, source};

/// Version of all documents here; rises when a field changes its meaning or goes away.
const VERSION: u32 = 1;

/// The summary of a recording, as one document.
pub(crate) fn summary(summary: &Summary<'_>, out: &mut dyn Write) -> io::Result<()> {
    let recording = summary.recording;
    let start = recording.start();
    let document = json!({
        "document": "recording-summary",
        "version": VERSION,
        "path": recording.path().display().to_string(),
        "bytes": recording.bytes(),
        "culprit": start.culprit,
        "program": {
            "pid": start.pid,
            "command": start.command,
            "directory": start.directory,
            "started_ms": start.started_ms,
            "properties": pairs(&start.properties),
            "options": start.options,
        },
        "jvm": {
            "name": start.jvm_name,
            "version": start.jvm_version,
            "vendor": start.jvm_vendor,
            "flags": start.jvm_flags,
        },
        "notes": pairs(&start.notes),
        "end": recording.end().map(|end| json!({
            "reason": match end.reason {
                EndReason::JvmEnded => "jvm-ended",
                EndReason::Stopped => "stopped",
            },
            "exit_status": end.exit_status,
            "duration_ms": end.duration_ms,
        })),
        "truncated": recording.truncation().map(|cut| json!({
            "offset": cut.offset,
            "bytes_left": cut.bytes_left,
        })),
        "damaged": summary.broken.as_ref().map(ToString::to_string),
        "observed": {
            "selection": summary.selection(),
            "classes": summary.observed().map(dotted).collect::<Vec<_>>(),
        },
        "events": {
            "count": recording.event_count(),
            "by_kind": summary.kinds.iter()
                .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
                .collect::<Map<String, Json>>(),
            "by_class": summary.classes.iter().map(|class| json!({
                "class": class.name,
                "incoming": class.incoming,
                "outgoing": class.outgoing,
            })).collect::<Vec<_>>(),
        },
        "threads": summary.threads.iter().map(|(id, count)| {
            let thread = recording.threads().get(id.0);
            json!({
                "thread": id.0,
                "name": thread.map(|t| &t.name),
                "java_id": thread.map(|t| t.java_id),
                "virtual": thread.map(|t| t.is_virtual),
                "events": count,
            })
        }).collect::<Vec<_>>(),
        "failures": recording.failures().iter().zip(&summary.left_at).map(|(failure, left_at)| json!({
            "kind": match failure.kind {
                FailureKind::Uncaught => "uncaught",
                FailureKind::Test => "test",
            },
            "thread": failure.thread.0,
            "place": failure.place,
            "class": failure.class,
            "message": failure.message,
            "stack": failure.stack,
            "left_observed_code_at": left_at,
        })).collect::<Vec<_>>(),
        "losses": {
            "counts": recording.losses().counts.iter()
                .map(|(name, count)| (name.clone(), json!(count)))
                .collect::<Map<String, Json>>(),
            "at_gaps": summary.gaps,
            "not_woven": recording.losses().not_woven.iter()
                .map(|(name, reason)| json!({"name": dotted(name), "reason": reason}))
                .collect::<Vec<_>>(),
            "stopped": recording.losses().stopped,
        },
    });
    writeln!(out, "{document:#}")
}

/// The recordings of a run folder, as one document.
pub(crate) fn folder(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let rows = table.rows.iter().map(|row| {
        let path = row.path.display().to_string();
        match &row.content {
            Ok(content) => json!({
                "path": path,
                "pid": content.pid,
                "command": content.command,
                "events": content.events,
                "failures": content.failures,
            }),
            Err(error) => json!({"path": path, "error": error}),
        }
    });
    let document = json!({
        "document": "run-folder",
        "version": VERSION,
        "path": table.path.display().to_string(),
        "facts": pairs(&table.facts),
        "recordings": rows.collect::<Vec<_>>(),
    });
    writeln!(out, "{document:#}")
}

/// One event.
pub(crate) fn event(event: &Event, site: &Site, recording: &Recording) -> Json {
    let known = site.id.0 != 0;
    json!({
        "version": VERSION,
        "index": event.index.0,
        "thread": event.thread.0,
        "turn": event.turn.0,
        "ordinal": event.ordinal,
        "depth": event.depth,
        "kind": event.kind.name(),
        "class": known.then(|| dotted(&site.class)),
        "method": known.then_some(&site.method),
        "line": site.line,
        "place": known.then(|| source(site)),
        "target": known.then(|| json!({
            "owner": dotted(&site.target.owner),
            "name": site.target.name,
            "descriptor": site.target.descriptor,
            "static": site.is_static,
        })),
        "values": event.values.iter().map(|v| value(v, recording)).collect::<Vec<_>>(),
    })
}

/// Lost events, in the place of a line.
pub(crate) fn gap(gap: &Gap) -> Json {
    json!({
        "version": VERSION,
        "kind": "gap",
        "before": gap.before.0,
        "thread": gap.thread.0,
        "reason": gap.reason.to_string(),
        "count": gap.count,
    })
}

fn pairs(pairs: &[(String, String)]) -> Map<String, Json> {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect()
}

fn value(value: &Value, recording: &Recording) -> Json {
    let typed = |name: &str, value: Json| json!({"type": name, "value": value});
    match value {
        Value::Boolean(v) => typed("boolean", json!(v)),
        Value::Byte(v) => typed("byte", json!(v)),
        Value::Short(v) => typed("short", json!(v)),
        Value::Char(v) => typed("char", json!(v)),
        Value::Int(v) => typed("int", json!(v)),
        Value::Long(v) => typed("long", json!(v)),
        Value::Float(v) => typed("float", number(f64::from(*v), v)),
        Value::Double(v) => typed("double", number(*v, v)),
        Value::Reference(v) => reference(v, recording),
    }
}

/// JSON has no infinities and no NaN: they are texts.
fn number(value: f64, shown: &dyn std::fmt::Display) -> Json {
    if value.is_finite() {
        json!(value)
    } else {
        json!(shown.to_string())
    }
}

fn reference(reference: &Reference, recording: &Recording) -> Json {
    let string = |units: &[u16]| {
        let mut object = json!({
            "type": "java.lang.String",
            "value": String::from_utf16_lossy(units),
        });
        // JSON text cannot hold unpaired surrogates: then the units say what it was.
        if String::from_utf16(units).is_err() {
            object["utf16"] = json!(units);
        }
        object
    };
    match reference {
        Reference::Null => Json::Null,
        Reference::Object { id, class } => {
            json!({"type": type_name(*class, recording), "id": id.0})
        }
        Reference::String(text) => string(text),
        Reference::StringBlob(id) => match units(*id, recording) {
            Some(text) => string(&text),
            None => json!({"type": "java.lang.String", "missing": id.0}),
        },
        Reference::Unknown => json!({"unknown": true}),
        Reference::Redacted => json!({"type": "java.lang.String", "redacted": true}),
        Reference::Class(class) => {
            json!({"type": "java.lang.Class", "value": type_name(*class, recording)})
        }
        Reference::Enum { class, ordinal } => json!({
            "type": type_name(*class, recording),
            "constant": constant(*class, *ordinal, recording),
            "ordinal": ordinal,
        }),
        Reference::Boxed(boxed) => {
            let mut object = value(boxed, recording);
            object["type"] = json!(boxed_class(boxed));
            object
        }
        Reference::Structure { class, fields } => {
            let names = recording.types().get(class.0);
            let names = names.map_or(&[][..], |class| &class.fields);
            let field = |(field, held): (&Member, &Value)| {
                json!({
                    "owner": dotted(&field.owner),
                    "name": field.name,
                    "value": value(held, recording),
                })
            };
            let fields: Vec<Json> = names.iter().zip(fields).map(field).collect();
            json!({"type": type_name(*class, recording), "fields": fields})
        }
        Reference::Piece(number) => json!({"piece": number}),
        Reference::Constant { class, name } => {
            json!({"type": type_name(*class, recording), "static": name})
        }
        Reference::Array {
            id,
            class,
            length,
            contents,
        } => {
            let mut object = json!({
                "type": type_name(*class, recording),
                "length": length,
            });
            if id.0 != 0 {
                object["id"] = json!(id.0);
            }
            match elements(contents, *class, recording) {
                Elements::Unknown => {}
                Elements::Missing(blob) => object["missing"] = json!(blob.0),
                Elements::Known(from, elements) => {
                    if from > 0 {
                        object["from"] = json!(from);
                    }
                    let elements = elements.iter().map(|e| value(e, recording));
                    object["elements"] = elements.collect();
                }
            }
            object
        }
    }
}
