//! Commands as text that a shell reads back as the same words.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use culprit_model::clean;

/// The words of a command in one line, each quoted where it needs to be.
pub(crate) fn line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    let words: Vec<String> = words.into_iter().map(|w| word(w.as_ref())).collect();
    words.join(" ")
}

fn word(word: &OsStr) -> String {
    let safe = |b: &u8| b.is_ascii_alphanumeric() || b"_-./:,=+@%".contains(b);
    match word.to_str() {
        Some(text) if !text.is_empty() && word.as_bytes().iter().all(safe) => text.to_owned(),
        Some(text) if !text.contains(clean::is_harmful) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => format!("$'{}'", escape(word.as_bytes())),
    }
}

/// The inside of `$'...'`, which can hold any byte and stays on one line.
fn escape(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| match byte {
            b'\\' | b'\'' => format!("\\{}", *byte as char),
            0x20..=0x7e => (*byte as char).to_string(),
            _ => format!("\\x{byte:02x}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_would_change_them() {
        assert_eq!(line(["java", "-Dx=1", "a.B"]), "java -Dx=1 a.B");
        assert_eq!(line(["a b", "", "it's", "$x"]), r"'a b' '' 'it'\''s' '$x'");
        assert_eq!(line(["two\nlines"]), r"$'two\x0alines'");
        assert_eq!(line([OsStr::from_bytes(b"\xff'")]), r"$'\xff\''");
    }
}
