//! Names in the text form: as they are where that leaves no doubt, in quotes otherwise. Classes
//! have their internal names (`com/acme/Order`), arrays are written as in source (`int[][]`).

use super::cursor::{Cursor, Wrong};
use crate::literal;
use crate::value::Shape;

fn is_bare(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '<' | '>' | '/')
}

/// Whether a name needs no quotes: it cannot be taken for a number either.
pub(crate) fn is_word(text: &str) -> bool {
    let number = |c: char| c.is_ascii_digit() || c == '-';
    !text.is_empty() && !text.starts_with(number) && text.chars().all(is_bare)
}

/// A name.
pub(crate) fn word(text: &str) -> String {
    if is_word(text) {
        text.to_owned()
    } else {
        literal::string(text.encode_utf16(), usize::MAX)
    }
}

pub(crate) fn read_word(cursor: &mut Cursor<'_>, what: &str) -> Result<String, Wrong> {
    let start = cursor.at;
    if cursor.eat("\"") {
        return read_quoted(cursor, start);
    }
    let word = cursor.run(is_bare);
    if is_word(word) {
        Ok(word.to_owned())
    } else {
        cursor.wrong_at(start, what)
    }
}

/// The rest of a name in quotes.
fn read_quoted(cursor: &mut Cursor<'_>, start: usize) -> Result<String, Wrong> {
    let units = cursor.quoted('"')?;
    match String::from_utf16(&units) {
        Ok(text) => Ok(text),
        Err(_) => cursor.wrong_at(start, "a name without unpaired surrogates"),
    }
}

/// A class by its internal name.
pub(crate) fn class(name: &str) -> String {
    bare_class(name).unwrap_or_else(|| literal::string(name.encode_utf16(), usize::MAX))
}

/// The same without its package, where that can be written without quotes.
pub(crate) fn simple_class(name: &str) -> Option<String> {
    let text = bare_class(name)?;
    let simple = text.rsplit('/').next()?;
    is_word(simple.trim_end_matches("[]")).then(|| simple.to_owned())
}

fn bare_class(name: &str) -> Option<String> {
    let dimensions = name.bytes().take_while(|b| *b == b'[').count();
    let element = &name[dimensions..];
    let base = match (dimensions, element.strip_prefix('L')) {
        (0, _) => element,
        (_, Some(class)) => class.strip_suffix(';')?,
        (_, None) => primitive_name(element)?,
    };
    let text = format!("{base}{}", "[]".repeat(dimensions));
    (is_word(base) && internal(base, dimensions) == name).then_some(text)
}

/// The internal name of a class as it is written here.
pub(crate) fn read_class(cursor: &mut Cursor<'_>) -> Result<String, Wrong> {
    let start = cursor.at;
    if cursor.eat("\"") {
        return read_quoted(cursor, start);
    }
    let base = read_word(cursor, "the name of a class")?;
    let mut dimensions = 0;
    while cursor.eat("[]") {
        dimensions += 1;
    }
    Ok(internal(&base, dimensions))
}

fn internal(base: &str, dimensions: usize) -> String {
    let brackets = "[".repeat(dimensions);
    if dimensions == 0 {
        return base.to_owned();
    }
    match Shape::of_class(base) {
        Shape::Reference => format!("{brackets}L{base};"),
        shape => format!("{brackets}{}", shape.code()),
    }
}

fn primitive_name(descriptor: &str) -> Option<&'static str> {
    let shape = Shape::of(descriptor).filter(|shape| *shape != Shape::Reference);
    shape
        .filter(|_| descriptor.len() == 1)
        .map(Shape::class_name)
}

/// Whether a descriptor can stand at the end of a member without quotes.
pub(crate) fn is_descriptor(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_descriptor_part)
}

pub(crate) fn is_descriptor_part(c: char) -> bool {
    is_bare(c) || matches!(c, '(' | ')' | '[' | ';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_written_so_that_a_reader_finds_them_again() {
        for (name, text, simple) in [
            ("com/acme/Order", "com/acme/Order", Some("Order")),
            ("[I", "int[]", Some("int[]")),
            (
                "[[Lcom/acme/Order$1;",
                "com/acme/Order$1[][]",
                Some("Order$1[][]"),
            ),
            ("int", "int", Some("int")),
            ("[Lint;", "\"[Lint;\"", None),
            ("[Q", "\"[Q\"", None),
            ("a.b", "\"a.b\"", None),
            ("3d/Point", "\"3d/Point\"", None),
            ("a/3d", "a/3d", None),
            ("", "\"\"", None),
        ] {
            assert_eq!(class(name), text);
            assert_eq!(simple_class(name).as_deref(), simple, "{name}");
            let mut cursor = Cursor::new(text);
            assert_eq!(read_class(&mut cursor).unwrap(), name);
            assert_eq!(cursor.rest(), "");
        }
    }
}
