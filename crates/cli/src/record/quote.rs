//! Commands as text that a shell reads back as the same words.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use culprit_model::{clean, secret};

/// The words of a command in one line, each quoted where it needs to be.
pub(crate) fn line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    let words: Vec<String> = words.into_iter().map(|w| word(w.as_ref())).collect();
    words.join(" ")
}

/// The words with the values of well-known secrets masked, for everything that is written or printed.
pub(crate) fn masked<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Vec<OsString> {
    let words: Vec<OsString> = words.into_iter().map(|it| it.as_ref().to_owned()).collect();
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let masked = secret::words(&texts);
    let pairs = words.iter().zip(&texts).zip(masked);
    pairs
        .map(|((word, text), masked)| match *text == masked {
            true => word.clone(),
            false => masked.into(),
        })
        .collect()
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
        assert_eq!(line(["a\u{202e}"]), r"$'a\xe2\x80\xae'");
        assert_eq!(line([OsStr::from_bytes(b"\xff'")]), r"$'\xff\''");
    }

    #[test]
    fn secrets_are_masked_and_all_other_words_are_kept_to_the_byte() {
        let odd = OsStr::from_bytes(b"\xff=x");
        let words = [
            "--password".as_ref(),
            "x".as_ref(),
            odd,
            "-Dapi.token=y".as_ref(),
        ];
        let expect = [
            "--password".as_ref(),
            "***".as_ref(),
            odd,
            "-Dapi.token=***".as_ref(),
        ];
        assert_eq!(masked(words), expect);
    }
}
