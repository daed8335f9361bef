//! Events as short lines, in the notation of `culprit show --events`.
//!
//! Objects are numbered anew in the order in which the lines name them, threads are named only
//! where there are several, and the depth of an event is its indentation. Everything else is as
//! recorded, so equal lines mean equal recordings.

use std::collections::HashMap;
use std::ops::Range;

use culprit_model::value::{Contents, Shape};
use culprit_model::{BlobId, Event, EventKind, ObjectId, Reference, Site, TypeId, Value};
use culprit_trace::{BlobKind, Recording};

/// The lines of all events.
pub(crate) fn lines(recording: &Recording) -> Vec<String> {
    lines_in(recording, 0..MOST)
}

/// More events than this are looked at in parts, by their heads.
pub(crate) const MOST: u64 = 50_000;

/// The lines of the events with these places in the global order.
pub(crate) fn lines_in(recording: &Recording, places: Range<u64>) -> Vec<String> {
    assert!(places.start > 0 || recording.event_count() <= places.end);
    let mut renderer = Renderer::new(recording);
    let several = recording.thread_event_counts().len() > 1;
    let events = recording.events_in(places).map(|event| event.unwrap());
    events
        .map(|event| {
            let thread = if several {
                format!("{} ", event.thread)
            } else {
                String::new()
            };
            let indent = 2 * shown_depth(&event) as usize;
            format!("{thread}{:indent$}{}", "", renderer.event(&event))
        })
        .collect()
}

/// Returns and throws stand below the call they end.
fn shown_depth(event: &Event) -> u32 {
    let ends = matches!(
        event.kind,
        EventKind::IncomingReturn
            | EventKind::IncomingThrow
            | EventKind::OutgoingReturn
            | EventKind::OutgoingThrow
    );
    match ends {
        true => event
            .depth
            .checked_sub(1)
            .expect("an end without a beginning"),
        false => event.depth,
    }
}

pub(crate) struct Renderer<'r> {
    recording: &'r Recording,
    numbers: HashMap<ObjectId, usize>,
}

/// Fields of the JDK and of the fixtures that tell something and are there in every version.
const TELLING: [&str; 14] = [
    "elementData",
    "size",
    "map",
    "table",
    "key",
    "value",
    "next",
    "mag",
    "signum",
    "detailMessage",
    "cause",
    "name",
    "count",
    "friend",
];

/// Whose results the JVM makes up.
const HASHES: [&str; 2] = ["Object.hashCode", "System.identityHashCode"];

impl<'r> Renderer<'r> {
    pub(crate) fn new(recording: &'r Recording) -> Renderer<'r> {
        Renderer {
            recording,
            numbers: HashMap::new(),
        }
    }

    pub(crate) fn event(&mut self, event: &Event) -> String {
        let recording = self.recording;
        let site = recording.sites().get(event.site.0);
        let values: Vec<String> = event.values.iter().map(|v| self.value(v)).collect();
        let last = values.last().cloned().unwrap_or_default();
        let name = site.map_or_else(|| "?".to_owned(), member);
        let call = || {
            let (receiver, arguments) = match values.split_first() {
                Some((receiver, rest)) if site.is_some_and(Site::has_receiver) => {
                    (format!(" on {receiver}"), rest)
                }
                _ => (String::new(), values.as_slice()),
            };
            format!("{name}({}){receiver}", arguments.join(", "))
        };
        let end = || match values.is_empty() {
            true => name.clone(),
            // The hash differs from run to run, but for that of null.
            false if HASHES.contains(&&*name) && last != "0" => format!("{name} = hash"),
            false => format!("{name} = {last}"),
        };
        let access = || match values.as_slice() {
            [owner, value] => format!("{name} of {owner} = {value}"),
            _ => format!("{name} = {last}"),
        };
        match event.kind {
            EventKind::IncomingCall => format!("=> {}", call()),
            EventKind::OutgoingCall => format!("-> {}", call()),
            EventKind::IncomingReturn => format!("<= {}", end()),
            EventKind::OutgoingReturn => format!("<- {}", end()),
            EventKind::IncomingThrow => format!("<=! {name} {last}"),
            EventKind::OutgoingThrow => format!("<-! {name} {last}"),
            EventKind::OutgoingRead => format!("-> get {}", access()),
            EventKind::OutgoingWrite => format!("-> set {}", access()),
            EventKind::IncomingRead => format!("=> get {}", access()),
            EventKind::IncomingWrite => format!("=> set {}", access()),
            EventKind::ArrayRead => format!("-> get {}[{}] = {last}", values[0], values[1]),
            EventKind::ArrayWrite => format!("-> set {}[{}] = {last}", values[0], values[1]),
            EventKind::ArrayContents => format!("== {last}"),
            EventKind::Constructed => format!("== new {last}"),
            // As above.
            EventKind::IdentityHash => format!("== hash of {}", values[0]),
            EventKind::ObjectState => format!("== state of {}", values.join("; ")),
            EventKind::Held => format!("== with it: {}", values.join(", ")),
            EventKind::Born => format!("== born {}", values.join(", ")),
            EventKind::Apart => format!("== apart {}", values.join(", ")),
        }
    }

    fn object(&mut self, id: ObjectId) -> String {
        let next = self.numbers.len() + 1;
        format!("#{}", self.numbers.entry(id).or_insert(next))
    }

    pub(crate) fn value(&mut self, value: &Value) -> String {
        match value {
            Value::Boolean(v) => v.to_string(),
            Value::Byte(v) => format!("{v}b"),
            Value::Short(v) => format!("{v}s"),
            Value::Char(v) => format!("'{}'", escaped(&[*v])),
            Value::Int(v) => v.to_string(),
            Value::Long(v) => format!("{v}L"),
            Value::Float(v) => format!("{v:?}f"),
            Value::Double(v) => format!("{v:?}"),
            Value::Reference(v) => self.reference(v),
        }
    }

    fn reference(&mut self, reference: &Reference) -> String {
        match reference {
            Reference::Null => "null".to_owned(),
            Reference::Object { id, class } => {
                format!("{} {}", self.object(*id), self.class(*class))
            }
            Reference::String(units) => format!("\"{}\"", escaped(units)),
            Reference::StringBlob(blob) => {
                format!("\"{}\"", escaped(&units(self.recording, *blob)))
            }
            Reference::Unknown => "unknown".to_owned(),
            Reference::Redacted => "<redacted>".to_owned(),
            Reference::Class(class) => format!("{}.class", self.class(*class)),
            Reference::Enum { class, ordinal } => {
                let constants = &self.recording.types().get(class.0).unwrap().constants;
                format!("{}.{}", self.class(*class), constants[*ordinal as usize])
            }
            Reference::Boxed(value) => format!("boxed {}", self.value(value)),
            Reference::Structure { class, fields } => {
                let types = self.recording.types();
                let names = &types.get(class.0).unwrap().fields;
                assert_eq!(names.len(), fields.len());
                let named = names.iter().zip(fields);
                // What fields the JDK has differs from version to version.
                let told = named.filter(|(field, _)| TELLING.contains(&field.name.as_str()));
                let told: Vec<String> = told
                    .map(|(field, value)| format!("{}={}", field.name, self.value(value)))
                    .collect();
                format!("{}{{{}}}", self.class(*class), told.join(", "))
            }
            Reference::Piece(number) => format!("*{number}"),
            Reference::Constant { class, name } => format!("{}.{name}", self.class(*class)),
            Reference::Array {
                id,
                class,
                length,
                contents,
            } => {
                let name = self.class(*class).replacen("[]", &format!("[{length}]"), 1);
                let id = match id.0 {
                    0 => String::new(),
                    _ => self.object(*id),
                };
                let mut from = String::new();
                let elements = match contents {
                    Contents::Unknown => return format!("{name}{id}"),
                    Contents::Elements(elements) => elements.clone(),
                    Contents::Blob(blob) => self.blob_elements(*blob, *class),
                    Contents::Part { from: first, known } => {
                        from = format!("from {first}: ");
                        match &**known {
                            Contents::Elements(elements) => elements.clone(),
                            Contents::Blob(blob) => self.blob_elements(*blob, *class),
                            _ => panic!("a part of nothing"),
                        }
                    }
                };
                let elements: Vec<String> = elements.iter().map(|e| self.value(e)).collect();
                format!("{name}{id}{{{from}{}}}", elements.join(", "))
            }
        }
    }

    /// The class's name without its package; arrays as in source. What the JVM puts into the
    /// name of a class it makes itself is cut, since it differs from run to run.
    fn class(&self, class: TypeId) -> String {
        let name = &self.recording.types().get(class.0).unwrap().name;
        let dims = name.bytes().take_while(|b| *b == b'[').count();
        let element = match &name[dims..] {
            "Z" if dims > 0 => "boolean",
            "B" if dims > 0 => "byte",
            "S" if dims > 0 => "short",
            "C" if dims > 0 => "char",
            "I" if dims > 0 => "int",
            "J" if dims > 0 => "long",
            "F" if dims > 0 => "float",
            "D" if dims > 0 => "double",
            other => other.trim_end_matches(';'),
        };
        let element = match element.find("$$Lambda") {
            Some(at) => &element[..at + "$$Lambda".len()],
            None => element,
        };
        format!("{}{}", simple(element), "[]".repeat(dims))
    }

    fn blob_elements(&self, blob: BlobId, class: TypeId) -> Vec<Value> {
        let name = &self.recording.types().get(class.0).unwrap().name;
        let shape = Shape::of(&name[1..]).unwrap();
        let bytes = self.recording.blob(blob).unwrap().unwrap().bytes;
        let width = shape.width().unwrap();
        let scalar = |b: &[u8]| match shape {
            Shape::Boolean => Value::Boolean(b[0] != 0),
            Shape::Byte => Value::Byte(b[0] as i8),
            Shape::Short => Value::Short(i16::from_le_bytes(b.try_into().unwrap())),
            Shape::Char => Value::Char(u16::from_le_bytes(b.try_into().unwrap())),
            Shape::Int => Value::Int(i32::from_le_bytes(b.try_into().unwrap())),
            Shape::Long => Value::Long(i64::from_le_bytes(b.try_into().unwrap())),
            Shape::Float => Value::Float(f32::from_le_bytes(b.try_into().unwrap())),
            Shape::Double => Value::Double(f64::from_le_bytes(b.try_into().unwrap())),
            Shape::Reference => panic!("a blob of references"),
        };
        bytes.chunks(width).map(scalar).collect()
    }
}

/// The text of a string blob.
pub(crate) fn units(recording: &Recording, blob: BlobId) -> Vec<u16> {
    let blob = recording.blob(blob).unwrap().expect("the blob is stored");
    assert_eq!(blob.kind, BlobKind::Text);
    let pairs = blob.bytes.chunks_exact(2);
    pairs.map(|p| u16::from_le_bytes([p[0], p[1]])).collect()
}

fn member(site: &Site) -> String {
    let (owner, name) = (simple(&site.target.owner), &site.target.name);
    // Compilers number their lambdas differently.
    let name = match name.starts_with("lambda$") {
        true => name.trim_end_matches(|c: char| c.is_ascii_digit()),
        false => name,
    };
    match site.is_constructor() {
        true => format!("new {owner}"),
        false => format!("{owner}.{name}"),
    }
}

fn simple(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn escaped(units: &[u16]) -> String {
    char::decode_utf16(units.iter().copied())
        .map(|decoded| match decoded {
            Ok(c @ (' '..='~')) => c.to_string(),
            Ok(c) => c.escape_unicode().to_string(),
            Err(lone) => format!("\\u{{{:x}}}", lone.unpaired_surrogate()),
        })
        .collect()
}
