//! Whether what the subject did is what the scenario says.

use culprit_model::value::{Contents, Shape};
use culprit_model::{EventKind, Reference, Site, SiteKind, Step, Value};
use culprit_wire::LineCheck;

use super::run::{Bindings, ScenarioSide, SubjectSide};

/// Characters of a text that are shown.
const LONGEST: usize = 60;
/// Characters of a text that are sent whole.
const WHOLE: usize = 100_000;
/// Characters that are shown before and after the first difference of two long texts.
const BEFORE: usize = 20;
const AFTER: usize = 30;

type Sides<'s> = (&'s ScenarioSide, &'s SubjectSide);

/// Why a place is not the one that the scenario names.
pub(super) fn sites(said: &Site, done: &Site, lines: LineCheck) -> Option<String> {
    let place = |site: &Site| {
        let target = &site.target;
        let name = format!("{}.{}", target.owner, target.name).replace('/', ".");
        let is_same =
            (&said.target.owner, &said.target.name) == (&done.target.owner, &done.target.name);
        match is_same {
            false => name,
            // The parameters or the caller differ.
            true => {
                let caller = format!("{}.{}", site.class, site.method).replace('/', ".");
                format!("{name}{} called from {caller}", target.descriptor)
            }
        }
    };
    let same = said.kind == done.kind
        && said.target == done.target
        && said.class == done.class
        && said.method == done.method
        && said.descriptor == done.descriptor;
    if !same && done.target.name == "<clinit>" {
        let class = done.target.owner.replace('/', ".");
        return Some(format!(
            "the replay runs the static initialiser of {class}, the recording does not"
        ));
    }
    if !same {
        return Some(format!(
            "the recording has {}, the replay {}",
            place(said),
            place(done)
        ));
    }
    // Stubs have no lines.
    match (said.line, done.line) {
        (Some(said), Some(done)) if said != done && lines == LineCheck::Compare => Some(format!(
            "line {said} in the recording, line {done} in the replay"
        )),
        _ => None,
    }
}

/// Whether a class is one that the JVM made of a lambda or a method reference.
pub(super) fn is_lambda(class: &str) -> bool {
    class.contains("$$Lambda")
}

/// Whether the scenario has the body of an external lambda where the subject has called the object that
/// stands in for it.
pub(super) fn is_body(said: &Site, done: &Site) -> bool {
    let callees = said.kind == SiteKind::Callee && done.kind == SiteKind::Callee;
    callees && is_lambda(&done.target.owner) && !is_lambda(&said.target.owner)
}

/// The same for calls that went through a lambda: the body is given what the lambda captured, and then
/// what the lambda is given. What it returns was taken from the scenario.
pub(super) fn through_lambda(
    step: &Step,
    values: &[Value],
    sides: Sides<'_>,
    bindings: &mut Bindings,
) -> Option<String> {
    let arguments = match step.kind {
        EventKind::OutgoingCall => values.get(1..).unwrap_or_default(),
        EventKind::OutgoingThrow => values,
        _ => return None,
    };
    let Some(captured) = step.values.len().checked_sub(arguments.len()) else {
        return Some("another number of values".to_owned());
    };
    let said = step.values.iter().skip(captured);
    let mut pairs = said.zip(arguments).enumerate();
    pairs.find_map(|(i, (said, done))| {
        self::values(unboxed(said), unboxed(done), sides, bindings)
            .map(|why| format!("argument {} differs: {why}", i + 1))
    })
}

/// The name of a value of an event, as a user counts the values of a call.
pub(super) fn role(kind: EventKind, site: Option<&Site>, index: usize, count: usize) -> String {
    let has_receiver = site.is_some_and(Site::has_receiver);
    let is_last = index + 1 == count;
    let name = match kind {
        EventKind::IncomingCall | EventKind::OutgoingCall => match (has_receiver, index) {
            (true, 0) => "the receiver",
            (true, _) => return format!("argument {index}"),
            (false, _) => return format!("argument {}", index + 1),
        },
        EventKind::IncomingReturn | EventKind::OutgoingReturn if is_last => "the result",
        EventKind::IncomingThrow | EventKind::OutgoingThrow if is_last => "the exception",
        EventKind::IncomingRead
        | EventKind::IncomingWrite
        | EventKind::OutgoingRead
        | EventKind::OutgoingWrite => match is_last {
            true => "the value of the field",
            false => "the object with the field",
        },
        _ => return format!("value {}", index + 1),
    };
    name.to_owned()
}

/// A boxed value is as good as the value.
fn unboxed(value: &Value) -> &Value {
    match value {
        Value::Reference(Reference::Boxed(value)) => value,
        value => value,
    }
}

/// Why a value is not the one that the scenario has.
pub(super) fn values(
    said: &Value,
    done: &Value,
    sides: Sides<'_>,
    bindings: &mut Bindings,
) -> Option<String> {
    let differ = || {
        Some(format!(
            "{}, not {}",
            show(done, sides.1),
            say(said, sides.0)
        ))
    };
    match (said, done) {
        (Value::Reference(said_reference), Value::Reference(done_reference)) => {
            match references(said_reference, done_reference, sides, bindings) {
                Sameness::Same => None,
                Sameness::Another => differ(),
                Sameness::Because(why) => Some(why),
            }
        }
        // Bits, since no number is like another that is not a number.
        (Value::Float(a), Value::Float(b)) if a.to_bits() == b.to_bits() => None,
        (Value::Double(a), Value::Double(b)) if a.to_bits() == b.to_bits() => None,
        (a, b) if a == b => None,
        _ => differ(),
    }
}

enum Sameness {
    Same,
    Another,
    Because(String),
}

fn same(yes: bool) -> Sameness {
    if yes {
        Sameness::Same
    } else {
        Sameness::Another
    }
}

fn references(
    said: &Reference,
    done: &Reference,
    sides: Sides<'_>,
    bindings: &mut Bindings,
) -> Sameness {
    match (said, done) {
        // What the recording does not know, anything may be.
        (Reference::Redacted | Reference::Unknown, _) => Sameness::Same,
        (Reference::Null, Reference::Null) => Sameness::Same,
        (
            Reference::String(_) | Reference::StringBlob(_),
            Reference::String(_) | Reference::StringBlob(_),
        ) => texts(
            &text(said, |id| sides.0.blob(id)),
            &text(done, |id| sides.1.blob(id)),
        ),
        (Reference::Class(a), Reference::Class(b)) => {
            same(same_class(sides.0.type_name(*a), sides.1.type_name(*b)))
        }
        (
            Reference::Enum {
                class: a,
                ordinal: x,
            },
            Reference::Enum {
                class: b,
                ordinal: y,
            },
        ) => same(x == y && same_class(sides.0.type_name(*a), sides.1.type_name(*b))),
        (Reference::Piece(a), Reference::Piece(b)) => same(a == b),
        (Reference::Constant { class: a, name: x }, Reference::Constant { class: b, name: y }) => {
            same(x == y && same_class(sides.0.type_name(*a), sides.1.type_name(*b)))
        }
        (
            Reference::Structure {
                class: a,
                fields: x,
            },
            Reference::Structure {
                class: b,
                fields: y,
            },
        ) => {
            if !same_class(sides.0.type_name(*a), sides.1.type_name(*b)) {
                return Sameness::Another;
            }
            if x.len() != y.len() {
                return Sameness::Because(format!("{} fields, not {}", y.len(), x.len()));
            }
            let mut pairs = x.iter().zip(y);
            match pairs.find_map(|(x, y)| values(x, y, sides, bindings)) {
                None => Sameness::Same,
                Some(why) => Sameness::Because(format!("a field: {why}")),
            }
        }
        (Reference::Boxed(a), Reference::Boxed(b)) => same(values(a, b, sides, bindings).is_none()),
        (Reference::Object { id: a, class: x }, Reference::Object { id: b, class: y }) => {
            let (x, y) = (sides.0.type_name(*x), sides.1.type_name(*y));
            if !same_class(x, y) {
                return Sameness::Another;
            }
            identity(bindings.same(*a, b.0))
        }
        (
            Reference::Array {
                id: a,
                class: x,
                length: m,
                contents: c,
            },
            Reference::Array {
                id: b,
                class: y,
                length: n,
                contents: d,
            },
        ) => {
            let (x, y) = (sides.0.type_name(*x), sides.1.type_name(*y));
            if !same_class(x, y) || m != n {
                return Sameness::Another;
            }
            // A piece of a state has no id.
            if a.0 != 0 && !bindings.same(*a, b.0) {
                return identity(false);
            }
            // How much of an array a call may have changed is seen at objects that a replay does not have.
            if let (Contents::Elements(whole), Contents::Part { from, known }) = (c, d)
                && let Contents::Elements(part) = &**known
            {
                let said = whole.iter().skip(*from as usize);
                let mut pairs = said.zip(part);
                let differing = pairs.find_map(|(x, y)| values(x, y, sides, bindings));
                return differing.map_or(Sameness::Same, Sameness::Because);
            }
            if let (Contents::Elements(_) | Contents::Blob(_), Contents::Part { from, .. }) = (c, d)
            {
                let (said, done) = (
                    bytes(c, |id| sides.0.blob(id)),
                    bytes(d, |id| sides.1.blob(id)),
                );
                let start = said.len() / (*m).max(1) as usize * *from as usize;
                return same(
                    said.get(start..)
                        .is_some_and(|said| said.starts_with(&done)),
                );
            }
            contents(c, d, sides, bindings)
        }
        _ => Sameness::Another,
    }
}

/// Compares two texts. Of long ones, the place of the first difference is told.
fn texts(said: &[u16], done: &[u16]) -> Sameness {
    if said == done || said.len().max(done.len()) <= LONGEST {
        return same(said == done);
    }
    let alike = said.iter().zip(done).take_while(|(a, b)| a == b).count();
    let part = |text: &[u16]| {
        let from = alike.saturating_sub(BEFORE).min(text.len());
        let to = (alike + AFTER).min(text.len());
        let shown = String::from_utf16_lossy(text.get(from..to).unwrap_or_default());
        let (less, more) = (from > 0, to < text.len());
        let dots = |cut: bool| if cut { "..." } else { "" };
        format!("{}{shown:?}{}", dots(less), dots(more))
    };
    let (done, said) = (part(done), part(said));
    Sameness::Because(format!(
        "from character {} on, {done}, not {said}",
        alike + 1
    ))
}

fn identity(yes: bool) -> Sameness {
    if yes {
        Sameness::Same
    } else {
        Sameness::Because("another object of the same class".to_owned())
    }
}

/// Classes made at run time have names that mean nothing in another run.
fn same_class(a: &str, b: &str) -> bool {
    let made = |name: &str| name.find("$$Lambda").map(|at| name[..at].to_owned());
    a == b || made(a).is_some() && made(a) == made(b)
}

fn text<'b>(
    reference: &Reference,
    blob: impl Fn(culprit_model::BlobId) -> Option<&'b [u8]>,
) -> Vec<u16> {
    match reference {
        Reference::String(units) => units.clone(),
        Reference::StringBlob(id) => units(blob(*id).unwrap_or_default()),
        _ => Vec::new(),
    }
}

/// The code units of a stored string.
pub(super) fn units(bytes: &[u8]) -> Vec<u16> {
    let pairs = bytes.chunks_exact(2);
    pairs
        .map(|pair| match pair {
            [low, high] => u16::from_le_bytes([*low, *high]),
            _ => 0,
        })
        .collect()
}

fn contents(
    said: &Contents,
    done: &Contents,
    sides: Sides<'_>,
    bindings: &mut Bindings,
) -> Sameness {
    match (said, done) {
        (Contents::Unknown, _) => Sameness::Same,
        (_, Contents::Unknown) => Sameness::Because("contents that are not told".to_owned()),
        (Contents::Elements(a), Contents::Elements(b)) => {
            let differing = a
                .iter()
                .zip(b)
                .enumerate()
                .find_map(|(i, (a, b))| Some((i, values(a, b, sides, bindings)?)));
            match differing {
                None => Sameness::Same,
                Some((i, why)) => Sameness::Because(format!("element {i}: {why}")),
            }
        }
        (Contents::Part { from: a, known: c }, Contents::Part { from: b, known: d }) => {
            if a != b {
                return Sameness::Another;
            }
            contents(c, d, sides, bindings)
        }
        _ => same(bytes(said, |id| sides.0.blob(id)) == bytes(done, |id| sides.1.blob(id))),
    }
}

/// The elements of a primitive array as bytes.
pub(super) fn bytes<'b>(
    contents: &Contents,
    blob: impl Fn(culprit_model::BlobId) -> Option<&'b [u8]>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    match contents {
        Contents::Unknown => {}
        Contents::Blob(id) => bytes.extend_from_slice(blob(*id).unwrap_or_default()),
        Contents::Part { known, .. } => return self::bytes(known, blob),
        Contents::Elements(values) => {
            for value in values {
                match value {
                    Value::Boolean(v) => bytes.push(u8::from(*v)),
                    Value::Byte(v) => bytes.push(*v as u8),
                    Value::Short(v) => bytes.extend(v.to_ne_bytes()),
                    Value::Char(v) => bytes.extend(v.to_ne_bytes()),
                    Value::Int(v) => bytes.extend(v.to_ne_bytes()),
                    Value::Long(v) => bytes.extend(v.to_ne_bytes()),
                    Value::Float(v) => bytes.extend(v.to_ne_bytes()),
                    Value::Double(v) => bytes.extend(v.to_ne_bytes()),
                    Value::Reference(_) => {}
                }
            }
        }
    }
    bytes
}

/// The shape of the elements of an array class.
pub(super) fn element(class: &str) -> Option<Shape> {
    Shape::of(class.strip_prefix('[')?)
}

/// A value of the subject, as a person reads it.
fn show(value: &Value, done: &SubjectSide) -> String {
    show_up_to(LONGEST, value, done)
}

/// The same with the whole text of a string.
pub(super) fn show_whole(value: &Value, done: &SubjectSide) -> String {
    show_up_to(WHOLE, value, done)
}

fn show_up_to(longest: usize, value: &Value, done: &SubjectSide) -> String {
    shown(
        longest,
        value,
        |class| done.type_name(class).to_owned(),
        |id| done.blob(id),
    )
}

/// A value of the scenario.
fn say(value: &Value, said: &ScenarioSide) -> String {
    shown(
        LONGEST,
        value,
        |class| said.type_name(class).to_owned(),
        |id| said.blob(id),
    )
}

fn shown<'b>(
    longest: usize,
    value: &Value,
    name: impl Fn(culprit_model::TypeId) -> String,
    blob: impl Fn(culprit_model::BlobId) -> Option<&'b [u8]>,
) -> String {
    let class = |class| name(class).replace('/', ".");
    match value {
        Value::Boolean(v) => v.to_string(),
        Value::Byte(v) => v.to_string(),
        Value::Short(v) => v.to_string(),
        Value::Char(v) => format!("{:?}", char::from_u32(u32::from(*v)).unwrap_or('\u{fffd}')),
        Value::Int(v) => v.to_string(),
        Value::Long(v) => format!("{v}L"),
        Value::Float(v) => format!("{v:?}f"),
        Value::Double(v) => format!("{v:?}"),
        Value::Reference(reference) => match reference {
            Reference::Null => "null".to_owned(),
            Reference::String(_) | Reference::StringBlob(_) => {
                let text = String::from_utf16_lossy(&text(reference, blob));
                let short: String = text.chars().take(longest).collect();
                let more = if short.len() < text.len() { "..." } else { "" };
                format!("{short:?}{more}")
            }
            Reference::Redacted => "a masked string".to_owned(),
            Reference::Unknown => "an unknown value".to_owned(),
            Reference::Class(id) => format!("{}.class", class(*id)),
            Reference::Enum { class: id, ordinal } => format!("{}#{ordinal}", class(*id)),
            Reference::Boxed(value) => shown(longest, value, name, blob),
            Reference::Object { class: id, .. } | Reference::Structure { class: id, .. } => {
                format!("an object of {}", class(*id))
            }
            Reference::Piece(number) => format!("piece {number}"),
            Reference::Constant { class: id, name } => format!("{}.{name}", class(*id)),
            Reference::Array {
                class: id, length, ..
            } => format!("an array {} of {length}", class(*id)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(said: &str, done: &str) -> Option<String> {
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        match texts(&units(said), &units(done)) {
            Sameness::Because(why) => Some(why),
            Sameness::Same | Sameness::Another => None,
        }
    }

    #[test]
    fn of_long_texts_the_first_difference_is_told_with_its_surroundings() {
        let long = "x".repeat(100);
        let why = told(&format!("{long}old"), &format!("{long}new")).unwrap();
        let before = "x".repeat(BEFORE);
        let expect = format!(r#"from character 101 on, ..."{before}new", not ..."{before}old""#);
        assert_eq!(why, expect);
        let cut = told(&long, &format!("y{long}")).unwrap();
        assert!(cut.starts_with("from character 1 on, \"yx"), "{cut}");
        let shorter = told(&format!("{long}!"), &long).unwrap();
        assert!(shorter.starts_with("from character 101 on, "), "{shorter}");
        assert_eq!(told("short", "texts"), None);
        assert_eq!(told(&long, &long), None);
    }

    #[test]
    fn values_have_the_names_that_a_user_counts_by() {
        let role = |kind, index, count| role(kind, None, index, count);
        assert_eq!(role(EventKind::OutgoingCall, 0, 2), "argument 1");
        assert_eq!(role(EventKind::IncomingReturn, 0, 1), "the result");
        assert_eq!(role(EventKind::OutgoingThrow, 0, 1), "the exception");
        assert_eq!(
            role(EventKind::IncomingWrite, 1, 2),
            "the value of the field"
        );
        assert_eq!(role(EventKind::ArrayRead, 2, 3), "value 3");
    }
}
