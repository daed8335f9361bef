//! Values as text: short enough for a line, exact where `--full` asks for it.

use culprit_model::value::{Contents, Shape};
use culprit_model::{BlobId, Reference, TypeId, Value, literal};
use culprit_trace::{BlobKind, Recording};

use crate::place::{dotted, simple, source_name};

/// The length of values and lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// Long strings, arrays and lists are cut.
    Short,
    /// Everything.
    Full,
}

/// Characters of a string, elements of an array.
const SHORT_TEXT: usize = 60;
const SHORT_ELEMENTS: usize = 8;

impl Detail {
    /// How many of something to print when `short` are enough.
    pub(super) fn limit(self, short: usize) -> usize {
        match self {
            Detail::Short => short,
            Detail::Full => usize::MAX,
        }
    }
}

/// A value as text.
pub(super) fn text(value: &Value, recording: &Recording, detail: Detail) -> String {
    match value {
        Value::Boolean(v) => v.to_string(),
        Value::Byte(v) => v.to_string(),
        Value::Short(v) => v.to_string(),
        Value::Char(v) => literal::character(*v),
        Value::Int(v) => v.to_string(),
        Value::Long(v) => format!("{v}L"),
        Value::Float(v) => format!("{v:?}f"),
        Value::Double(v) => format!("{v:?}"),
        Value::Reference(v) => reference(v, recording, detail),
    }
}

fn reference(reference: &Reference, recording: &Recording, detail: Detail) -> String {
    let class_name = |class: &TypeId| {
        let name = type_name(*class, recording);
        simple(&name).to_owned()
    };
    match reference {
        Reference::Null => "null".to_owned(),
        Reference::Object { id, class } => format!("{id} {}", class_name(class)),
        Reference::String(units) => quoted(units, detail),
        Reference::StringBlob(id) => match units(*id, recording) {
            Some(units) => quoted(&units, detail),
            None => format!("<missing {id}>"),
        },
        Reference::Redacted => "<redacted>".to_owned(),
        Reference::Unknown => "<unknown>".to_owned(),
        Reference::Class(class) => format!("{}.class", class_name(class)),
        Reference::Enum { class, ordinal } => {
            let constant = constant(*class, *ordinal, recording);
            format!("{}.{constant}", class_name(class))
        }
        Reference::Boxed(value) => format!(
            "{} {}",
            simple(&boxed_class(value)),
            text(value, recording, detail)
        ),
        Reference::Structure { class, fields } => {
            let names = fields_of(*class, recording);
            let limit = detail.limit(SHORT_ELEMENTS);
            let field = |(name, value): (String, &Value)| {
                format!("{name}={}", text(value, recording, detail))
            };
            let mut shown: Vec<String> = names.zip(fields).take(limit).map(field).collect();
            if fields.len() > limit {
                shown.push("...".to_owned());
            }
            format!("{}{{{}}}", class_name(class), shown.join(", "))
        }
        Reference::Piece(number) => format!("*{number}"),
        Reference::Constant { class, name } => format!("{}.{name}", class_name(class)),
        Reference::Array {
            id,
            class,
            length,
            contents,
        } => {
            // `int[][]` of three rows is `int[3][]`.
            let name = class_name(class).replacen("[]", &format!("[{length}]"), 1);
            let id = match id.0 {
                0 => String::new(),
                _ => id.to_string(),
            };
            let (from, elements) = match elements(contents, *class, recording) {
                Elements::Unknown => return format!("{name}{id}"),
                Elements::Missing(blob) => return format!("{name}{id}{{<missing {blob}>}}"),
                Elements::Known(from, elements) => (from, elements),
            };
            let limit = detail.limit(SHORT_ELEMENTS);
            let mut shown: Vec<String> = elements
                .iter()
                .take(limit)
                .map(|element| text(element, recording, detail))
                .collect();
            if elements.len() > limit {
                shown.push("...".to_owned());
            }
            let from = match from {
                0 => String::new(),
                from => format!("from {from}: "),
            };
            format!("{name}{id}{{{from}{}}}", shown.join(", "))
        }
    }
}

/// The pieces of a state: the object itself, then those that others refer to by number.
pub(super) fn state(pieces: &[String]) -> String {
    let numbered = pieces
        .iter()
        .enumerate()
        .map(|(number, piece)| match number {
            0 => piece.clone(),
            _ => format!("*{number} {piece}"),
        });
    numbered.collect::<Vec<_>>().join("; ")
}

/// The names of the fields of a class, as its state has them.
pub(super) fn fields_of(class: TypeId, recording: &Recording) -> impl Iterator<Item = String> {
    let fields = recording.types().get(class.0).map(|class| &class.fields);
    fields.into_iter().flatten().map(|field| field.name.clone())
}

/// The name of a run-time class, as in source.
pub(super) fn type_name(class: TypeId, recording: &Recording) -> String {
    match recording.types().get(class.0) {
        Some(class) => source_name(&class.name),
        None => format!("<{class}>"),
    }
}

/// The name of an enum constant, or its ordinal where the recording does not name it.
pub(super) fn constant(class: TypeId, ordinal: u32, recording: &Recording) -> String {
    recording
        .types()
        .get(class.0)
        .and_then(|class| class.constants.get(ordinal as usize))
        .cloned()
        .unwrap_or_else(|| format!("<constant {ordinal}>"))
}

/// The class of a boxed primitive.
pub(super) fn boxed_class(value: &Value) -> String {
    dotted(value.shape().box_name())
}

/// The text of a string blob.
pub(super) fn units(id: BlobId, recording: &Recording) -> Option<Vec<u16>> {
    let blob = recording.blob(id).ok()??;
    if blob.kind != BlobKind::Text {
        return None;
    }
    let pairs = blob.bytes.chunks_exact(2);
    Some(
        pairs
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect(),
    )
}

/// The elements of an array, as far as they are known.
pub(super) enum Elements {
    Unknown,
    Missing(BlobId),
    /// Those from an element on; from the first where it is the whole array.
    Known(u32, Vec<Value>),
}

pub(super) fn elements(contents: &Contents, class: TypeId, recording: &Recording) -> Elements {
    match contents {
        Contents::Unknown => Elements::Unknown,
        Contents::Elements(elements) => Elements::Known(0, elements.clone()),
        Contents::Blob(id) => match blob_elements(*id, class, recording) {
            Some(elements) => Elements::Known(0, elements),
            None => Elements::Missing(*id),
        },
        Contents::Part { from, known } => match elements(known, class, recording) {
            Elements::Known(_, elements) => Elements::Known(*from, elements),
            other => other,
        },
    }
}

fn blob_elements(id: BlobId, class: TypeId, recording: &Recording) -> Option<Vec<Value>> {
    let name = &recording.types().get(class.0)?.name;
    let shape = Shape::of(name.strip_prefix('[')?)?;
    let blob = recording.blob(id).ok()??;
    Value::elements_from_le_bytes(shape, &blob.bytes)
}

/// A string literal, cut where it is long and detail is short.
fn quoted(units: &[u16], detail: Detail) -> String {
    let limit = detail.limit(SHORT_TEXT);
    let mut out = literal::string(units.iter().copied(), limit);
    if units.len() > limit {
        out.push_str(&format!("... ({} chars)", units.len()));
    }
    out
}
