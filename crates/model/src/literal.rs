//! Characters and strings as literals of Java source. Java strings are rows of UTF-16 code units,
//! which need not be paired; every row has a literal, and nothing in it can steer a terminal.

use crate::clean;

/// A character literal: `'x'`.
pub fn character(unit: u16) -> String {
    let mut out = String::from('\'');
    match char::from_u32(unit.into()) {
        Some(c) => escape(c, '\'', &mut out),
        None => clean::push_unit(unit, &mut out),
    }
    out.push('\'');
    out
}

/// A string literal of at most so many characters.
pub fn string(units: impl IntoIterator<Item = u16>, limit: usize) -> String {
    let mut out = String::from('"');
    for c in char::decode_utf16(units).take(limit) {
        match c {
            Ok(c) => escape(c, '"', &mut out),
            Err(lone) => clean::push_unit(lone.unpaired_surrogate(), &mut out),
        }
    }
    out.push('"');
    out
}

fn escape(c: char, quote: char, out: &mut String) {
    match c {
        '\\' => out.push_str("\\\\"),
        c if c == quote => {
            out.push('\\');
            out.push(c);
        }
        c if clean::is_harmful(c) => clean::push_escaped(c, out),
        c => out.push(c),
    }
}

/// What stands for the letter after a backslash; `\u` has its unit behind it.
pub(crate) fn unescaped(letter: char) -> Option<char> {
    Some(match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '\\' | '"' | '\'' => letter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_those_of_java_source() {
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        for (found, expect) in [
            (character('x' as u16), "'x'"),
            (character('\'' as u16), "'\\''"),
            (character(0xd800), "'\\ud800'"),
            (string(units("a\"\n\\é☺😀"), 99), "\"a\\\"\\n\\\\é☺😀\""),
            (
                string(units("\u{1b}[31m\u{202e}"), 99),
                "\"\\u001b[31m\\u202e\"",
            ),
            (string([0x41, 0xdc00], 99), "\"A\\udc00\""),
            (string(units("abc"), 2), "\"ab\""),
        ] {
            assert_eq!(found, expect);
        }
    }
}
