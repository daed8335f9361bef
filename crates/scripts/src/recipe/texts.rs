//! Builders of text, what reads and writes text in memory, and what takes text apart.

use culprit_model::Value;

use super::Recipe::By;
use super::object_maker::{ObjectMaker, text};
use super::state_piece::StatePiece;
use super::{Table, items};

pub(super) const RECIPES: Table = &[
    ("java/lang/StringBuilder", By(builder)),
    ("java/lang/StringBuffer", By(builder)),
    ("java/io/StringReader", By(reader)),
    ("java/io/StringWriter", By(writer)),
    ("java/io/CharArrayReader", By(char_reader)),
    ("java/io/CharArrayWriter", By(char_writer)),
    ("java/nio/HeapCharBuffer", By(char_buffer)),
    ("java/nio/StringCharBuffer", By(string_buffer)),
    ("java/util/StringJoiner", By(joiner)),
    ("java/util/StringTokenizer", By(tokenizer)),
    ("java/util/regex/Pattern", By(pattern)),
    ("java/util/regex/Matcher", By(matcher)),
];

/// The text in a builder.
fn built(held: StatePiece<'_>) -> Option<Vec<u16>> {
    let count = usize::try_from(held.int("count")?).ok()?;
    let bytes = held.integers("value")?;
    let bytes: Vec<u8> = bytes.iter().map(|byte| *byte as u8).collect();
    Some(match held.int("coder")? {
        0 => bytes.get(..count)?.iter().copied().map(u16::from).collect(),
        _ => {
            let units = bytes.get(..2 * count)?.chunks_exact(2);
            units.map(|b| u16::from_le_bytes([b[0], b[1]])).collect()
        }
    })
}

fn builder<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let built = built(held)?;
    let (descriptor, given) = match built.is_empty() {
        true => ("()V", vec![]),
        false => ("(Ljava/lang/String;)V", vec![text(&built)]),
    };
    maker.make(&format!("{}.<init>{descriptor}", held.class()), given, made)
}

fn reader<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    // Since JDK 25 another reader does the work.
    let (held, field) = match held.open("r") {
        Some(inner) => (inner, "val$cs"),
        None => (held, "str"),
    };
    let given = match held.int("next")? {
        // A long text stays where it is.
        0 => {
            held.text(field)?;
            maker.field(held, field)?
        }
        next => text(held.text(field)?.get(usize::try_from(next).ok()?..)?),
    };
    let target = "java/io/StringReader.<init>(Ljava/lang/String;)V";
    maker.make(target, vec![given], made)
}

/// Makes something that text is written to, and writes.
pub(super) fn written(
    maker: &mut ObjectMaker<'_, '_>,
    class: &str,
    units: &[u16],
    made: &Value,
) -> Option<()> {
    maker.make(&format!("{class}.<init>()V"), vec![], made)?;
    write(maker, class, units, made)
}

/// Writes text, if there is any.
pub(super) fn write(
    maker: &mut ObjectMaker<'_, '_>,
    class: &str,
    units: &[u16],
    made: &Value,
) -> Option<()> {
    if units.is_empty() {
        return Some(());
    }
    let write = format!("{class}.write(Ljava/lang/String;)V");
    maker.send(&write, made, vec![text(units)], None)
}

fn writer<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    written(maker, held.class(), &built(held.open("buf")?)?, made)
}

/// Characters of an array, from one up to another.
pub(super) fn units(held: StatePiece<'_>, array: &str, from: i64, to: i64) -> Option<Vec<u16>> {
    let units = held.integers(array)?;
    let part = units.get(usize::try_from(from).ok()?..usize::try_from(to).ok()?)?;
    Some(part.iter().map(|unit| *unit as u16).collect())
}

fn char_reader<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let units = units(held, "buf", held.int("pos")?, held.int("count")?)?;
    let units = maker.array("[C", units.into_iter().map(Value::Char).collect());
    maker.make("java/io/CharArrayReader.<init>([C)V", vec![units], made)
}

fn char_writer<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let units = units(held, "buf", 0, held.int("count")?)?;
    written(maker, held.class(), &units, made)
}

/// Where a buffer is: its position and its limit, unless it shows all of what it has.
fn bounds(held: StatePiece<'_>) -> Option<Option<(Value, Value, i64)>> {
    let is_whole = held.int("offset")? == 0;
    is_whole.then_some(())?;
    let [position, limit, capacity] = ["position", "limit", "capacity"].map(|f| held.int(f));
    let (position, limit, capacity) = (position?, limit?, capacity?);
    if (position, limit) == (0, capacity) {
        return Some(None);
    }
    let int = |n: i64| i32::try_from(n).map(Value::Int).ok();
    Some(Some((int(position)?, int(limit)?, limit - position)))
}

fn char_buffer<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    wrapped(maker, held, made, "java/nio/CharBuffer", 'C')
}

/// A buffer around an array of its own kind of elements.
pub(super) fn wrapped<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
    class: &str,
    element: char,
) -> Option<()> {
    (held.int("isReadOnly")? == 0).then_some(())?;
    let mut given = vec![maker.field(held, "hb")?];
    let part = match bounds(held)? {
        None => "",
        Some((from, _, count)) => {
            given.extend([from, Value::Int(i32::try_from(count).ok()?)]);
            "II"
        }
    };
    let target = format!("{class}.wrap([{element}{part})L{class};");
    maker.make(&target, given, made)
}

fn string_buffer<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let (descriptor, rest) = match bounds(held)? {
        None => ("(Ljava/lang/CharSequence;)", vec![]),
        Some((from, to, _)) => ("(Ljava/lang/CharSequence;II)", vec![from, to]),
    };
    let mut given = vec![maker.field(held, "str")?];
    given.extend(rest);
    let class = "java/nio/CharBuffer";
    maker.make(&format!("{class}.wrap{descriptor}L{class};"), given, made)
}

fn joiner<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let class = "java/util/StringJoiner";
    let sequence = "Ljava/lang/CharSequence;";
    let (target, fields): (_, &[&str]) = match (held.text("prefix")?, held.text("suffix")?) {
        (prefix, suffix) if prefix.is_empty() && suffix.is_empty() => {
            (format!("{class}.<init>({sequence})V"), &["delimiter"])
        }
        _ => (
            format!("{class}.<init>({sequence}{sequence}{sequence})V"),
            &["delimiter", "prefix", "suffix"],
        ),
    };
    maker.of(&target, held, fields, made)?;
    let add = format!("{class}.add({sequence})L{class};");
    maker.fill(&add, made, items::joiner(held)?)
}

/// One of what is left.
fn tokenizer<'a>(
    maker: &mut ObjectMaker<'a, '_>,
    held: StatePiece<'a>,
    made: &Value,
) -> Option<()> {
    let gone = usize::try_from(held.int("currentPosition")?).ok()?;
    let mut given = vec![text(held.text("str")?.get(gone..)?)];
    let delimiters = held.string("delimiters")?;
    let returns = held.int("retDelims")? != 0;
    let descriptor = match (returns, delimiters.as_str()) {
        (false, " \t\n\r\u{c}") => "(Ljava/lang/String;)V",
        (false, _) => "(Ljava/lang/String;Ljava/lang/String;)V",
        (true, _) => "(Ljava/lang/String;Ljava/lang/String;Z)V",
    };
    if descriptor.len() > "(Ljava/lang/String;)V".len() {
        given.push(maker.field(held, "delimiters")?);
    }
    if returns {
        given.push(Value::Boolean(true));
    }
    maker.make(&format!("{}.<init>{descriptor}", held.class()), given, made)
}

fn pattern<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let class = "java/util/regex/Pattern";
    let (parameters, fields): (_, &[&str]) = match held.int("flags")? {
        0 => ("(Ljava/lang/String;)", &["pattern"]),
        _ => ("(Ljava/lang/String;I)", &["pattern", "flags"]),
    };
    let target = format!("{class}.compile{parameters}L{class};");
    maker.of(&target, held, fields, made)
}

/// One that has not begun.
fn matcher<'a>(maker: &mut ObjectMaker<'a, '_>, held: StatePiece<'a>, made: &Value) -> Option<()> {
    let is_new = |(field, value)| held.int(field) == Some(value);
    let fields = [("first", -1), ("oldLast", -1), ("from", 0)];
    fields.into_iter().all(is_new).then_some(())?;
    let given = vec![maker.field(held, "text")?];
    let pattern = maker.field(held, "parentPattern")?;
    let class = "java/util/regex/Matcher";
    let target = format!("java/util/regex/Pattern.matcher(Ljava/lang/CharSequence;)L{class};");
    maker.send(&target, &pattern, given, Some(made))
}
