//! Text from programs, recordings and files, made safe to print.
//!
//! A terminal obeys control characters, and a reader is deceived by characters that reorder or hide
//! text. This file alone decides which characters are harmful, for every medium, and they are always
//! printed as the escapes of a Java string (`\u001b`), which JSON has in common with Java. Text
//! without harmful characters is not changed, not even copied.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

/// Whether a character may steer a terminal, break a line, or reorder or hide text: control
/// characters (C0, DEL, C1), line and paragraph separators, bidirectional controls, all that
/// Unicode calls default-ignorable (zero-width characters, variation selectors, tags), interlinear
/// annotations, and the noncharacters `U+FDD0` to `U+FDEF`, which programs use internally.
pub fn is_harmful(c: char) -> bool {
    match c {
        ' '..='~' => false,
        '\0'..='\u{9f}' => true,
        _ => matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fdd0}'..='\u{fdef}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'),
    }
}

/// Text that belongs on one line: a name, a message, a path.
pub fn line(text: &str) -> Cow<'_, str> {
    cleaned(text, is_harmful)
}

/// Text of several lines: line feeds and tabs are kept.
pub fn block(text: &str) -> Cow<'_, str> {
    cleaned(text, |c| c != '\n' && c != '\t' && is_harmful(c))
}

/// A path, or another text of the system, on one line. Bytes that are no text become `\xff`.
pub fn path(path: &(impl AsRef<Path> + ?Sized)) -> String {
    os(path.as_ref().as_os_str())
}

/// A text of the system on one line. Bytes that are no text become `\xff`.
pub fn os(text: &OsStr) -> String {
    let mut out = String::new();
    for chunk in text.as_encoded_bytes().utf8_chunks() {
        out.push_str(&line(chunk.valid()));
        chunk
            .invalid()
            .iter()
            .for_each(|it| push_byte(*it, &mut out));
    }
    out
}

/// Appends a character as an escape of a Java string.
pub fn push_escaped(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => {
            let mut units = [0; 2];
            c.encode_utf16(&mut units)
                .iter()
                .for_each(|unit| push_unit(*unit, out));
        }
    }
}

/// Appends a code unit of UTF-16 as `\u001b`.
pub fn push_unit(unit: u16, out: &mut String) {
    out.push_str(&format!("\\u{unit:04x}"));
}

/// Appends a byte that is no text as `\xff`.
pub fn push_byte(byte: u8, out: &mut String) {
    out.push_str(&format!("\\x{byte:02x}"));
}

fn cleaned(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_escaped) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match is_escaped(c) {
            true => push_escaped(c, &mut out),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn harmful_characters_become_visible() {
        for (text, expect) in [
            ("\u{1b}]0;OWNED\u{7}", "\\u001b]0;OWNED\\u0007"),
            ("\u{9b}31m\u{7f}", "\\u009b31m\\u007f"),
            (
                "a\u{202e}b\u{2066}c\u{200f}d\u{61c}",
                "a\\u202eb\\u2066c\\u200fd\\u061c",
            ),
            ("a\u{200b}\u{2060}\u{feff}b", "a\\u200b\\u2060\\ufeffb"),
            ("\u{e0041}", "\\udb40\\udc41"),
            ("a\u{2028}b\u{2029}", "a\\u2028b\\u2029"),
            ("two\r\nlines\t", "two\\r\\nlines\\t"),
        ] {
            assert_eq!(line(text), expect);
        }
        assert_eq!(block("a\tb\r\nc\u{1b}"), "a\tb\\r\nc\\u001b");
    }

    #[test]
    fn plain_text_of_any_language_is_not_copied() {
        for text in [
            "",
            "C:\\u001b stays",
            "naïve “ß” \u{1F600}",
            "漢字 עברית العربية ไทย",
        ] {
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn bytes_of_a_path_that_are_no_text_are_shown_one_by_one() {
        let name = OsStr::from_bytes(b"a\xff\n\xc3\xa9\xf0\x9f");
        assert_eq!(path(name), "a\\xff\\n\u{e9}\\xf0\\x9f");
    }

    proptest! {
        #[test]
        fn nothing_harmful_is_left_and_all_else_is_kept(text in any::<String>()) {
            let one = line(&text);
            prop_assert!(!one.contains(is_harmful));
            let several = block(&text);
            prop_assert!(!several.contains(|c| c != '\n' && c != '\t' && is_harmful(c)));
            let kept = |text: &str| text.chars().filter(|c| !is_harmful(*c)).collect::<String>();
            prop_assume!(!text.contains('\\'));
            let unescaped = undone(&one);
            prop_assert_eq!(&unescaped, &text);
            prop_assert!(text.contains(is_harmful) || kept(&text) == one);
        }

        #[test]
        fn any_bytes_are_shown_on_one_line(bytes in any::<Vec<u8>>()) {
            prop_assert!(!os(OsStr::from_bytes(&bytes)).contains(is_harmful));
        }
    }

    /// The text that was cleaned, if it had no backslashes of its own.
    fn undone(text: &str) -> String {
        let mut units = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let c = match (c, c == '\\') {
                (c, false) => c,
                (_, true) => match rest.next() {
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('t') => '\t',
                    _ => {
                        let digits: String = rest.by_ref().take(4).collect();
                        units.push(u16::from_str_radix(&digits, 16).unwrap());
                        continue;
                    }
                },
            };
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
        }
        String::from_utf16(&units).unwrap()
    }
}
