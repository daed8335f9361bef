//! Words of a command as `/bin/sh` reads them back, to the byte, without characters that would harm a
//! terminal on which the script is looked at.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use culprit_model::clean;

/// A word, quoted where it needs to be.
pub fn quoted(word: &OsStr) -> OsString {
    let bytes = word.as_bytes();
    let safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:,=+@%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(safe) {
        return word.to_owned();
    }
    let mut quoted = String::from("'");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' => quoted.push_str(r"'\''"),
                // It cannot come out of a command that is put in place, and does no harm.
                '\n' => quoted.push(c),
                c if clean::is_harmful(c) => {
                    push_octal(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut quoted);
                }
                c => quoted.push(c),
            }
        }
        push_octal(chunk.invalid(), &mut quoted);
    }
    quoted.push('\'');
    quoted.into()
}

/// Appends bytes that a command prints, to a word in quotes.
fn push_octal(bytes: &[u8], quoted: &mut String) {
    if bytes.is_empty() {
        return;
    }
    quoted.push_str("'\"$(printf '");
    for byte in bytes {
        quoted.push_str(&format!("\\{byte:03o}"));
    }
    quoted.push_str("')\"'");
}

/// A command with the word, which is quoted, wherever it has the mark, or last if it has none. Quotes
/// around the mark alone are not needed.
pub(crate) fn with_word(command: &OsStr, mark: &str, word: &OsStr) -> OsString {
    let mut rest = command.as_bytes();
    let mut script = Vec::new();
    while let Some(at) = rest
        .windows(mark.len())
        .position(|it| it == mark.as_bytes())
    {
        let (mut before, mut after) = (&rest[..at], &rest[at + mark.len()..]);
        if let (Some((one, less)), Some((other, more))) = (before.split_last(), after.split_first())
            && one == other
            && b"'\"".contains(one)
        {
            (before, after) = (less, more);
        }
        script.extend_from_slice(before);
        script.extend_from_slice(word.as_bytes());
        rest = after;
    }
    script.extend_from_slice(rest);
    if rest.len() == command.len() {
        script.push(b' ');
        script.extend_from_slice(word.as_bytes());
    }
    OsString::from_vec(script)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::tests::{shell, spot};

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let all: Vec<u8> = (1..=255).collect();
        for word in [b"plain-1.txt", &b"it's\ntwo lines"[..], b"$HOME", b"", &all] {
            let mut test = shell("");
            test.command = "printf %s ".into();
            test.command.push(quoted(OsStr::from_bytes(word)));
            test.command.push(" >said");
            test.run(&spot(folder.path()), &|| true).unwrap();
            assert_eq!(std::fs::read(folder.path().join("said")).unwrap(), word);
        }
        assert_eq!(quoted("plain-1.txt".as_ref()), "plain-1.txt");
        let hostile = quoted("a\u{1b}]0;x\u{7}\u{202e}".as_ref());
        let hostile = hostile.to_str().unwrap();
        assert!(!hostile.contains(clean::is_harmful), "{hostile:?}");
    }

    #[test]
    fn a_word_is_put_where_it_is_wanted_or_last() {
        let check = |command: &str, expect: &str| {
            let made = with_word(command.as_ref(), "{}", "w".as_ref());
            assert_eq!(made, expect);
        };
        check("cat", "cat w");
        check("{} <{}", "w <w");
        check("a {} b", "a w b");
        check("a \"{}\" '{}' '{} b'", "a w w 'w b'");
    }
}
