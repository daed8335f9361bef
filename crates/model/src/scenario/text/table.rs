//! The lines of the tables, both ways.

use super::cursor::{Cursor, Wrong};
use super::word;
use crate::site::TypeDef;
use crate::{BlobId, Member, Site, SiteId, SiteKind, ThreadId, TypeId, literal};

/// `type 4 com/acme/Color loader 1 {RED, GREEN} fields {com/acme/Color.shade:I}`
pub(crate) fn class(class: &TypeDef) -> String {
    let mut line = format!("type {} {}", class.id.0, word::class(&class.name));
    if class.loader != 0 {
        line.push_str(&format!(" loader {}", class.loader));
    }
    if !class.constants.is_empty() {
        let names: Vec<String> = class
            .constants
            .iter()
            .map(|name| word::word(name))
            .collect();
        line.push_str(&format!(" {{{}}}", names.join(", ")));
    }
    if !class.fields.is_empty() {
        let fields: Vec<String> = class.fields.iter().map(member).collect();
        line.push_str(&format!(" fields {{{}}}", fields.join(", ")));
    }
    line
}

/// What follows `type`.
pub(crate) fn read_class(cursor: &mut Cursor<'_>) -> Result<TypeDef, Wrong> {
    let id = TypeId(cursor.number("the number of a type")?);
    cursor.space();
    let name = word::read_class(cursor)?;
    let loader = match cursor.eat_word("loader") {
        true => cursor.number("the number of a loader")?,
        false => 0,
    };
    let mut constants = Vec::new();
    if cursor.eat_next("{") {
        loop {
            cursor.space();
            constants.push(word::read_word(cursor, "the name of a constant")?);
            if cursor.eat_next("}") {
                break;
            }
            cursor.expect(",")?;
        }
    }
    let mut fields = Vec::new();
    if cursor.eat_word("fields") {
        cursor.expect("{")?;
        loop {
            cursor.space();
            fields.push(read_member(cursor)?);
            if cursor.eat_next("}") {
                break;
            }
            cursor.expect(",")?;
        }
    }
    cursor.expect_end("`loader`, constants in braces, `fields`, or the end of the line")?;
    Ok(TypeDef {
        id,
        name,
        loader,
        constants,
        fields,
    })
}

/// `thread 1 "main"`
pub(crate) fn thread(id: ThreadId, name: &str) -> String {
    let name = literal::string(name.encode_utf16(), usize::MAX);
    format!("thread {} {name}", id.0)
}

/// What follows `thread`.
pub(crate) fn read_thread(cursor: &mut Cursor<'_>) -> Result<(ThreadId, String), Wrong> {
    let id = ThreadId(cursor.number("the number of a thread")?);
    cursor.space();
    let name = word::read_word(cursor, "the name of a thread")?;
    cursor.expect_end("the end of the line")?;
    Ok((id, name))
}

const KINDS: [(SiteKind, &str); 5] = [
    (SiteKind::Entry, "entry"),
    (SiteKind::Call, "call"),
    (SiteKind::Callee, "callee"),
    (SiteKind::Field, "field"),
    (SiteKind::Array, "array"),
];

/// `site 2 call static java/util/Map.get(...)... in com/acme/Order.total(I)J at Order.java:15`
pub(crate) fn site(site: &Site) -> String {
    let kind = KINDS.iter().find(|(kind, _)| *kind == site.kind);
    let kind = kind.map_or("", |(_, name)| *name);
    let is_static = if site.is_static { " static" } else { "" };
    let mut line = format!(
        "site {} {kind}{is_static} {}",
        site.id.0,
        member(&site.target)
    );
    let code = code(site);
    if code != site.target {
        line.push_str(&format!(" in {}", member(&code)));
    }
    if site.source.is_some() || site.line.is_some() {
        line.push_str(" at ");
    }
    if let Some(source) = &site.source {
        line.push_str(&file(source));
    }
    if let Some(number) = site.line {
        line.push_str(&format!(":{number}"));
    }
    line
}

/// What follows `site`.
pub(crate) fn read_site(cursor: &mut Cursor<'_>) -> Result<Site, Wrong> {
    let id = SiteId(cursor.number("the number of a site")?);
    let kind = KINDS.iter().find(|(_, name)| cursor.eat_word(name));
    let Some((kind, _)) = kind else {
        cursor.space();
        return cursor.wrong("`entry`, `call`, `callee`, `field` or `array`");
    };
    let is_static = cursor.eat_word("static");
    let target = read_member(cursor)?;
    let code = match cursor.eat_word("in") {
        true => read_member(cursor)?,
        false => target.clone(),
    };
    let (mut source, mut line) = (None, None);
    if cursor.eat_word("at") {
        if cursor.peek() != Some(':') {
            source = Some(read_file(cursor)?);
        }
        if cursor.eat(":") {
            line = Some(cursor.number("the number of a line")?);
        }
    }
    cursor.expect_end("`in` and a method, `at` and a place, or the end of the line")?;
    Ok(Site {
        id,
        kind: *kind,
        class: code.owner,
        method: code.name,
        descriptor: code.descriptor,
        line,
        source,
        target,
        is_static,
    })
}

/// The method that the code of a site is in.
fn code(site: &Site) -> Member {
    Member {
        owner: site.class.clone(),
        name: site.method.clone(),
        descriptor: site.descriptor.clone(),
    }
}

/// `com/acme/Order.total(I)J`, `com/acme/Point.x:D`, or `:I` where only a descriptor is known.
fn member(member: &Member) -> String {
    let Member {
        owner,
        name,
        descriptor,
    } = member;
    let name = match (owner.as_str(), name.as_str()) {
        ("", "") => String::new(),
        _ => format!("{}.{}", word::class(owner), word::word(name)),
    };
    if !word::is_descriptor(descriptor) {
        return format!(
            "{name}:{}",
            literal::string(descriptor.encode_utf16(), usize::MAX)
        );
    }
    match descriptor.starts_with('(') {
        true => format!("{name}{descriptor}"),
        false => format!("{name}:{descriptor}"),
    }
}

fn read_member(cursor: &mut Cursor<'_>) -> Result<Member, Wrong> {
    cursor.space();
    let (mut owner, mut name) = (String::new(), String::new());
    if !matches!(cursor.peek(), Some('(' | ':')) {
        owner = word::read_class(cursor)?;
        if !cursor.eat(".") {
            return cursor.wrong("`.` and the name of a member");
        }
        name = word::read_word(cursor, "the name of a member")?;
    }
    let start = cursor.at;
    let descriptor = if cursor.eat(":") && cursor.peek() == Some('"') {
        word::read_word(cursor, "a descriptor")?
    } else {
        let from = cursor.at;
        let text = cursor.run(word::is_descriptor_part);
        // A method's descriptor says by itself where it starts.
        let begun = from > start || text.starts_with('(');
        if !begun || text.is_empty() {
            return cursor.wrong_at(start, "a descriptor: (I)V of a method, :I of a field");
        }
        text.to_owned()
    };
    Ok(Member {
        owner,
        name,
        descriptor,
    })
}

fn is_file_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.' | '/')
}

/// A source file.
fn file(name: &str) -> String {
    match !name.is_empty() && name.chars().all(is_file_part) {
        true => name.to_owned(),
        false => literal::string(name.encode_utf16(), usize::MAX),
    }
}

fn read_file(cursor: &mut Cursor<'_>) -> Result<String, Wrong> {
    if cursor.peek() == Some('"') {
        return word::read_word(cursor, "a source file");
    }
    match cursor.run(is_file_part) {
        "" => cursor.wrong("a source file, or `:` and a line"),
        name => Ok(name.to_owned()),
    }
}

/// `blob 1 "a long text"`, or in hexadecimal digits what is no text.
pub(crate) fn blob(id: BlobId, bytes: &[u8]) -> String {
    let pairs = bytes.chunks_exact(2);
    let whole = pairs.remainder().is_empty();
    let units: Vec<u16> = pairs
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    let is_text = |text: String| !text.contains(|c: char| c.is_control() && !c.is_whitespace());
    if whole && String::from_utf16(&units).is_ok_and(is_text) {
        return format!("{id} {}", literal::string(units, usize::MAX));
    }
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut line = format!("{id} hex ");
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            line.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    line
}

/// What follows `blob`.
pub(crate) fn read_blob(cursor: &mut Cursor<'_>) -> Result<(BlobId, Vec<u8>), Wrong> {
    let id = BlobId(cursor.number("the number of a blob")?);
    cursor.space();
    let bytes = if cursor.eat("\"") {
        let units = cursor.quoted('"')?;
        units.into_iter().flat_map(u16::to_le_bytes).collect()
    } else if cursor.eat_word("hex") {
        let start = cursor.at;
        let digits = cursor.run(|c| c.is_ascii_hexdigit());
        if digits.len() % 2 != 0 {
            return cursor.wrong_at(start, "two hexadecimal digits for each byte");
        }
        let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default() as u8;
        let pairs = digits.as_bytes().chunks_exact(2);
        pairs
            .map(|pair| value(pair[0]) << 4 | value(pair[1]))
            .collect()
    } else {
        return cursor.wrong("a text in quotes, or `hex` and digits");
    };
    cursor.expect_end("the end of the line")?;
    Ok((id, bytes))
}
