//! A place in a text where a shape may start, and what shapes are made of.

/// A match: its length in bytes, and what stands for it.
pub(super) type Match = Option<(usize, &'static str)>;

/// A place in a text.
pub(super) struct Place<'a> {
    pub(super) before: &'a str,
    pub(super) rest: &'a str,
}

impl Place<'_> {
    /// True if a word goes on here.
    pub(super) fn is_inside_word(&self) -> bool {
        self.before.chars().next_back().is_some_and(is_word)
    }

    /// The first byte from here on.
    pub(super) fn first(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }
}

/// The number of bytes at the start that satisfy a condition; it must hold for bytes of ASCII only, or for
/// all others.
pub(super) fn run(text: &str, condition: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| condition(*byte)).count()
}

/// The number of digits at the start.
pub(super) fn digits(text: &str) -> usize {
    run(text, |byte| byte.is_ascii_digit())
}

/// Exactly so many digits.
pub(super) fn fixed(text: &str, count: usize) -> Option<usize> {
    (digits(text) == count).then_some(count)
}

pub(super) fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '>')
}

/// True if no word goes on behind so many bytes.
pub(super) fn ends(text: &str, length: usize) -> bool {
    !text[length..].chars().next().is_some_and(goes_on)
}

pub(super) fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '<')
}

/// True if a dot or hyphen joins more to it: a number with fractions, a host, a version.
pub(super) fn continues(text: &str, length: usize) -> bool {
    let mut rest = text[length..].chars();
    let joined = matches!(rest.next(), Some('.' | '-'));
    joined && rest.next().is_some_and(goes_on)
}

/// Folders that systems keep for temporary files.
const TEMPORARY: [&str; 4] = [
    "/tmp/",
    "/var/tmp/",
    "/var/folders/",
    "/private/var/folders/",
];

/// The path of a temporary file.
pub(super) fn temporary_path<'a>(place: &Place<'a>) -> Option<&'a str> {
    let first = place.first()?;
    let may_start = first == b'/' || first.is_ascii_alphabetic();
    if !may_start || place.is_inside_word() {
        return None;
    }
    let rest = place.rest;
    let unix = TEMPORARY.iter().any(|folder| rest.starts_with(folder));
    let drive = rest.as_bytes().get(1..3) == Some(b":\\".as_slice());
    if !unix && !drive {
        return None;
    }
    let path = &rest[..run(rest, is_of_path)];
    let windows = drive && path.to_ascii_lowercase().contains("\\temp\\");
    let is_whole = ends(rest, path.len());
    let path = path.trim_end_matches(['.', ':']);
    ((unix || windows) && is_whole).then_some(path)
}

fn is_of_path(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b"\"'`<>()[]{},;|".contains(&byte)
}
