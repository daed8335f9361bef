//! Values in the text form, both ways. Every value says its own type: `5` is an int, `5L` a long,
//! `5s` a short, `5b` a byte, `0.5` a double, `0.5f` a float.

use super::cursor::{Cursor, Wrong};
use super::names::{Lookup, ScenarioNames};
use super::word;
use crate::value::Contents;
use crate::{BlobId, ObjectId, Reference, TypeId, Value, literal};

/// Deeper values are not read: a text must not exhaust the stack. Java arrays have at most 255
/// dimensions.
const DEEPEST: u32 = 300;

/// The values that Java calls `NaN`; there are others.
const NAN_FLOAT: u32 = 0x7fc0_0000;
const NAN_DOUBLE: u64 = 0x7ff8_0000_0000_0000;

impl ScenarioNames {
    /// Appends a value.
    pub(crate) fn write(&self, value: &Value, out: &mut String) {
        match value {
            Value::Boolean(v) => out.push_str(if *v { "true" } else { "false" }),
            Value::Byte(v) => out.push_str(&format!("{v}b")),
            Value::Short(v) => out.push_str(&format!("{v}s")),
            Value::Char(v) => out.push_str(&literal::character(*v)),
            Value::Int(v) => out.push_str(&v.to_string()),
            Value::Long(v) => out.push_str(&format!("{v}L")),
            Value::Float(v) => {
                let odd = (v.to_bits() != NAN_FLOAT).then_some(v.to_bits().into());
                out.push_str(&floating(f64::from(*v), format!("{v:?}"), odd));
                out.push('f');
            }
            Value::Double(v) => {
                let odd = (v.to_bits() != NAN_DOUBLE).then_some(v.to_bits());
                out.push_str(&floating(*v, format!("{v:?}"), odd));
            }
            Value::Reference(v) => self.write_reference(v, out),
        }
    }

    fn write_reference(&self, reference: &Reference, out: &mut String) {
        match reference {
            Reference::Null => out.push_str("null"),
            Reference::Object { id, class } => {
                out.push_str(&format!("{id}:{}", self.type_text(*class)));
            }
            Reference::String(units) => {
                out.push_str(&literal::string(units.iter().copied(), usize::MAX));
            }
            Reference::StringBlob(blob) => out.push_str(&blob.to_string()),
            Reference::Redacted => out.push_str("redacted"),
            Reference::Unknown => out.push_str("unknown"),
            Reference::Class(class) => out.push_str(&format!("{}.class", self.type_text(*class))),
            Reference::Enum { class, ordinal } => {
                let constant = self.constant(*class, *ordinal);
                out.push_str(&format!("{}.{constant}", self.type_text(*class)));
            }
            Reference::Structure { class, fields } => {
                out.push_str(&format!("state {}{{", self.type_text(*class)));
                self.write_all(fields, out);
                out.push('}');
            }
            Reference::Piece(number) => out.push_str(&format!("piece {number}")),
            Reference::Constant { class, name } => {
                let name = literal::string(name.encode_utf16(), usize::MAX);
                out.push_str(&format!("constant {} {name}", self.type_text(*class)));
            }
            Reference::Boxed(value) => {
                out.push_str("box ");
                self.write(value, out);
            }
            Reference::Array {
                id,
                class,
                length,
                contents,
            } => {
                out.push_str(&format!("{id}:{}{{", self.type_text(*class)));
                match contents {
                    Contents::Elements(elements) if elements.len() as u64 == u64::from(*length) => {
                        self.write_all(elements, out);
                    }
                    contents => {
                        out.push_str(&length.to_string());
                        self.write_contents(contents, out);
                    }
                }
                out.push('}');
            }
        }
    }

    /// Appends values with commas between them.
    pub(crate) fn write_all(&self, values: &[Value], out: &mut String) {
        for (place, value) in values.iter().enumerate() {
            if place > 0 {
                out.push_str(", ");
            }
            self.write(value, out);
        }
    }

    /// What follows the length of an array.
    fn write_contents(&self, contents: &Contents, out: &mut String) {
        match contents {
            Contents::Unknown => out.push_str(" unknown"),
            Contents::Blob(blob) => out.push_str(&format!(" in {blob}")),
            Contents::Part { from, known } => {
                out.push_str(&format!(" from {from}"));
                self.write_contents(known, out);
            }
            Contents::Elements(elements) => {
                out.push_str(": ");
                self.write_all(elements, out);
            }
        }
    }

    /// The name of an enum constant, or its number where no name leads back to it.
    fn constant(&self, class: TypeId, ordinal: u32) -> String {
        let constants = self.constants(class);
        let name = constants.get(ordinal as usize).filter(|name| {
            let first = constants.iter().position(|other| other == *name);
            word::is_word(name) && *name != "class" && first == Some(ordinal as usize)
        });
        name.map_or_else(|| ordinal.to_string(), Clone::clone)
    }

    /// Reads a value.
    pub(crate) fn read(&self, cursor: &mut Cursor<'_>) -> Result<Value, Wrong> {
        self.read_within(cursor, 0)
    }

    /// Reads a value that is so deep within others.
    fn read_within(&self, cursor: &mut Cursor<'_>, depth: u32) -> Result<Value, Wrong> {
        cursor.space();
        if depth > DEEPEST {
            return cursor.wrong(format!("values nested at most {DEEPEST} deep"));
        }
        match cursor.peek() {
            Some('-' | '0'..='9') => number(cursor),
            Some('\'') => character(cursor),
            Some('#') => self.object(cursor, depth).map(Value::Reference),
            Some('"') => self.string(cursor).map(Value::Reference),
            Some('@') => self.member(cursor).map(Value::Reference),
            _ => self.named(cursor, depth),
        }
    }

    /// Reads values up to a closing bracket.
    pub(crate) fn read_all(
        &self,
        cursor: &mut Cursor<'_>,
        close: &str,
    ) -> Result<Vec<Value>, Wrong> {
        self.read_all_within(cursor, close, 0)
    }

    fn read_all_within(
        &self,
        cursor: &mut Cursor<'_>,
        close: &str,
        depth: u32,
    ) -> Result<Vec<Value>, Wrong> {
        let mut values = Vec::new();
        if cursor.eat_next(close) {
            return Ok(values);
        }
        loop {
            values.push(self.read_within(cursor, depth)?);
            if cursor.eat_next(close) {
                return Ok(values);
            }
            if !cursor.eat_next(",") {
                cursor.space();
                return cursor.wrong(format!("`,` or `{close}`"));
            }
        }
    }

    /// An object or an array, from `#` on.
    fn object(&self, cursor: &mut Cursor<'_>, depth: u32) -> Result<Reference, Wrong> {
        cursor.eat("#");
        let id = ObjectId(cursor.number("the number of an object")?);
        if !cursor.eat(":") {
            return cursor.wrong("`:` and the type of the object");
        }
        let class = self.read_type(cursor)?;
        if !cursor.eat("{") {
            return Ok(Reference::Object { id, class });
        }
        let (length, contents) = self.array(cursor, depth + 1)?;
        Ok(Reference::Array {
            id,
            class,
            length,
            contents,
        })
    }

    /// Length and contents of an array, after its opening brace.
    fn array(&self, cursor: &mut Cursor<'_>, depth: u32) -> Result<(u32, Contents), Wrong> {
        // Elements alone tell the length. A length is a number before a colon or a word.
        let start = cursor.at;
        cursor.space();
        let digits = cursor.run(|c| c.is_ascii_digit());
        let room = cursor.space();
        let next = cursor.peek();
        cursor.at = start;
        if !digits.is_empty()
            && (next == Some(':') || room && next.is_some_and(char::is_alphabetic))
        {
            let length = cursor.number("the length of an array")?;
            let contents = self.contents(cursor, depth)?;
            return Ok((length, contents));
        }
        let elements = self.read_all_within(cursor, "}", depth)?;
        match u32::try_from(elements.len()) {
            Ok(length) => Ok((length, Contents::Elements(elements))),
            Err(_) => cursor.wrong("an array of at most 4294967295 elements"),
        }
    }

    /// What follows the length of an array, with the closing brace.
    fn contents(&self, cursor: &mut Cursor<'_>, depth: u32) -> Result<Contents, Wrong> {
        let mut parts = Vec::new();
        while cursor.eat_next("from ") {
            parts.push(cursor.number("the place of an element")?);
        }
        let known = if cursor.eat_next(":") {
            Contents::Elements(self.read_all_within(cursor, "}", depth)?)
        } else if cursor.eat_next("unknown") {
            cursor.expect("}")?;
            Contents::Unknown
        } else if cursor.eat_next("in blob ") {
            let blob = BlobId(cursor.number("the number of a blob")?);
            cursor.expect("}")?;
            Contents::Blob(blob)
        } else {
            cursor.space();
            return cursor.wrong("`:` and elements, `unknown`, `in blob` or `from`");
        };
        let part = |known, from| Contents::Part {
            from,
            known: Box::new(known),
        };
        Ok(parts.into_iter().rev().fold(known, part))
    }

    /// A string, or a constant of a class whose name needs quotes.
    fn string(&self, cursor: &mut Cursor<'_>) -> Result<Reference, Wrong> {
        let start = cursor.at;
        cursor.eat("\"");
        let units = cursor.quoted('"')?;
        if cursor.peek() == Some('.') {
            cursor.at = start;
            return self.member(cursor);
        }
        Ok(Reference::String(units))
    }

    /// A value that starts with a word.
    fn named(&self, cursor: &mut Cursor<'_>, depth: u32) -> Result<Value, Wrong> {
        let start = cursor.at;
        if word::read_class(cursor).is_ok() && cursor.peek() == Some('.') {
            cursor.at = start;
            return self.member(cursor).map(Value::Reference);
        }
        let text = &cursor.line[start..cursor.at];
        Ok(match text {
            "true" => Value::Boolean(true),
            "false" => Value::Boolean(false),
            "Infinity" => Value::Double(f64::INFINITY),
            "Infinityf" => Value::Float(f32::INFINITY),
            "NaNf" => Value::Float(f32::from_bits(NAN_FLOAT)),
            "NaN" => not_a_number(cursor)?,
            _ => Value::Reference(match text {
                "null" => Reference::Null,
                "redacted" => Reference::Redacted,
                "unknown" => Reference::Unknown,
                "blob" => Reference::StringBlob(BlobId(cursor.number("the number of a blob")?)),
                "box" => Reference::Boxed(Box::new(self.read_within(cursor, depth + 1)?)),
                "piece" => Reference::Piece(cursor.number("the number of a piece")?),
                "state" => {
                    cursor.space();
                    let class = self.read_type(cursor)?;
                    cursor.expect("{")?;
                    let fields = self.read_all_within(cursor, "}", depth + 1)?;
                    Reference::Structure { class, fields }
                }
                "constant" => {
                    cursor.space();
                    let class = self.read_type(cursor)?;
                    cursor.space();
                    let name = word::read_word(cursor, "the name of a constant")?;
                    Reference::Constant { class, name }
                }
                _ => return cursor.wrong_at(start, "a value"),
            }),
        })
    }

    /// A class, or a constant of an enum.
    fn member(&self, cursor: &mut Cursor<'_>) -> Result<Reference, Wrong> {
        let class = self.read_type(cursor)?;
        if !cursor.eat(".") {
            return cursor.wrong("`.class`, or `.` and a constant");
        }
        if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
            let ordinal = cursor.number("the number of a constant")?;
            return Ok(Reference::Enum { class, ordinal });
        }
        let start = cursor.at;
        let name = word::read_word(cursor, "`class`, or a constant")?;
        if name == "class" {
            return Ok(Reference::Class(class));
        }
        match self
            .constants(class)
            .iter()
            .position(|other| *other == name)
        {
            Some(ordinal) => Ok(Reference::Enum {
                class,
                ordinal: ordinal as u32,
            }),
            None => cursor.wrong_at(start, format!("a constant of {}", self.type_text(class))),
        }
    }

    /// A type: by its number, by its whole name, or by its name without package.
    pub(crate) fn read_type(&self, cursor: &mut Cursor<'_>) -> Result<TypeId, Wrong> {
        let start = cursor.at;
        if cursor.eat("@") {
            return Ok(TypeId(cursor.number("the number of a type")?));
        }
        let name = word::class(&word::read_class(cursor)?);
        match self.find_type(&name) {
            Lookup::One(id) => Ok(id),
            Lookup::None => cursor.wrong_at(start, "a type of the table above"),
            Lookup::Several => cursor.wrong_at(
                start,
                format!("a whole name or a number such as @1: {name} is the name of several types"),
            ),
        }
    }
}

/// A float or double, but for the `f` of a float. `odd` are the bits of an unusual NaN.
fn floating(value: f64, finite: String, odd: Option<u64>) -> String {
    if value.is_nan() {
        odd.map_or_else(|| "NaN".to_owned(), |bits| format!("NaN({bits:#x})"))
    } else if value.is_finite() {
        finite
    } else if value > 0.0 {
        "Infinity".to_owned()
    } else {
        "-Infinity".to_owned()
    }
}

/// What may follow `NaN`: the bits of one that is not the usual one, and the `f` of a float.
fn not_a_number(cursor: &mut Cursor<'_>) -> Result<Value, Wrong> {
    if !cursor.eat("(0x") {
        return Ok(Value::Double(f64::from_bits(NAN_DOUBLE)));
    }
    let start = cursor.at;
    let digits = cursor.run(|c| c.is_ascii_hexdigit());
    if !cursor.eat(")") {
        return cursor.wrong("`)` after hexadecimal digits");
    }
    let value = if cursor.eat("f") {
        let bits = u32::from_str_radix(digits, 16).map(f32::from_bits);
        bits.ok().filter(|v| v.is_nan()).map(Value::Float)
    } else {
        let bits = u64::from_str_radix(digits, 16).map(f64::from_bits);
        bits.ok().filter(|v| v.is_nan()).map(Value::Double)
    };
    match value {
        Some(value) => Ok(value),
        None => cursor.wrong_at(start, "the bits of a value that is not a number"),
    }
}

fn number(cursor: &mut Cursor<'_>) -> Result<Value, Wrong> {
    let start = cursor.at;
    cursor.eat("-");
    let mut text = cursor.run(|c| c.is_ascii_alphanumeric() || c == '.');
    // The sign of an exponent.
    if text.ends_with(['e', 'E']) && (cursor.eat("-") || cursor.eat("+")) {
        cursor.run(|c| c.is_ascii_alphanumeric());
    }
    text = &cursor.line[start..cursor.at];
    let value = match text {
        "-Infinity" => Some(Value::Double(f64::NEG_INFINITY)),
        "-Infinityf" => Some(Value::Float(f32::NEG_INFINITY)),
        _ => scalar(text),
    };
    match value {
        Some(value) => Ok(value),
        None => cursor.wrong_at(start, "a number such as 5, 5L, 5s, 5b, 0.5 or 0.5f"),
    }
}

fn scalar(text: &str) -> Option<Value> {
    let whole = text.len() - usize::from(text.ends_with(['L', 's', 'b', 'f']));
    let (digits, suffix) = text.split_at(whole);
    if !digits.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match suffix {
        "L" => digits.parse().ok().map(Value::Long),
        "s" => digits.parse().ok().map(Value::Short),
        "b" => digits.parse().ok().map(Value::Byte),
        "f" => {
            let float = digits.parse().ok().filter(|v: &f32| v.is_finite());
            float.map(Value::Float)
        }
        _ if digits.contains(['.', 'e', 'E']) => {
            let double = digits.parse().ok().filter(|v: &f64| v.is_finite());
            double.map(Value::Double)
        }
        _ => digits.parse().ok().map(Value::Int),
    }
}

fn character(cursor: &mut Cursor<'_>) -> Result<Value, Wrong> {
    let start = cursor.at;
    cursor.eat("'");
    match cursor.quoted('\'')?.as_slice() {
        [unit] => Ok(Value::Char(*unit)),
        _ => cursor.wrong_at(start, "one UTF-16 unit between the quotes"),
    }
}
