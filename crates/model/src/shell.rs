//! Words of a command as text that any POSIX shell reads back to the byte.
//!
//! The text is for scripts and for people: it fits on one line and contains no character that could
//! harm a terminal ([`clean`]). `$'…'` would be shorter, but `dash` does not know it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::clean;

/// The line of a script in which secrets are masked.
pub const INCOMPLETE: &str = "# Secrets are masked as ***: put them back before you run this.\n";

/// The words of a command, each quoted where it needs to be.
pub fn line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    let words: Vec<String> = words.into_iter().map(|it| word(it.as_ref())).collect();
    words.join(" ")
}

/// A word, quoted where it needs to be.
pub fn word(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:,=+@%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut quoted = Quoted::default();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            quoted.push(c);
        }
        quoted.escaped.extend(chunk.invalid());
    }
    quoted.end()
}

/// A word in single quotes, in which `printf` prints the characters that may not be shown.
#[derive(Default)]
struct Quoted {
    /// Inside of single quotes.
    text: String,
    /// Bytes behind `text` that `printf` has to print.
    escaped: Vec<u8>,
}

impl Quoted {
    fn push(&mut self, c: char) {
        // A shell removes the newlines at the end of a command's output: another character has to follow.
        if clean::is_harmful(c) || self.escaped.ends_with(b"\n") {
            let mut buffer = [0; 4];
            self.escaped.extend(c.encode_utf8(&mut buffer).as_bytes());
            return;
        }
        self.print_escaped();
        match c {
            '\'' => self.text.push_str(r"'\''"),
            c => self.text.push(c),
        }
    }

    fn print_escaped(&mut self) {
        if self.escaped.is_empty() {
            return;
        }
        self.text.push_str("'\"$(printf '");
        for byte in self.escaped.drain(..) {
            self.text.push_str(&format!("\\{byte:03o}"));
        }
        self.text.push_str("')\"'");
    }

    fn end(mut self) -> String {
        let newlines = self.escaped.iter().rev().take_while(|it| **it == b'\n');
        let newlines = newlines.count();
        self.escaped.truncate(self.escaped.len() - newlines);
        self.print_escaped();
        for _ in 0..newlines {
            // The third separator that every shell starts with.
            self.text.push_str("'\"${IFS#??}\"'");
        }
        format!("'{}'", self.text)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::{Command, Stdio};

    use proptest::prelude::*;

    use super::*;

    /// The arguments of `printf` in a script, run by a shell.
    #[expect(clippy::disallowed_methods, reason = "shells are what this is about")]
    fn arguments(shell: &str, script: &str) -> Vec<Vec<u8>> {
        let mut command = Command::new(shell);
        let command = command.args(["-c", script]).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{shell}: {output:?}\n{script}");
        let mut words: Vec<Vec<u8>> = output.stdout.split(|it| *it == 0).map(Vec::from).collect();
        assert_eq!(words.pop(), Some(Vec::new()), "{shell}: {script}");
        words
    }

    #[track_caller]
    fn is_read_back(words: &[Vec<u8>]) {
        let line = line(words.iter().map(|it| OsStr::from_bytes(it)));
        assert!(!line.contains(clean::is_harmful), "{line:?}");
        // `sh` is `dash` on Debian, and `bash` on Fedora.
        let shells = ["/bin/sh", "/bin/dash", "/bin/bash"].into_iter();
        for shell in shells.filter(|it| Path::new(it).exists()) {
            let script = format!("printf '%s\\0' {line}");
            assert_eq!(arguments(shell, &script), words, "{shell}: {line}");
        }
    }

    #[test]
    fn words_are_quoted_only_where_a_shell_would_change_them() {
        assert_eq!(line(["java", "-Dx=1", "a.B"]), "java -Dx=1 a.B");
        assert_eq!(line(["a b", "", "it's", "$x"]), r"'a b' '' 'it'\''s' '$x'");
        assert_eq!(word("two\nlines"), r#"'two'"$(printf '\012\154')"'ines'"#);
        assert_eq!(word("a\u{202e}"), r#"'a'"$(printf '\342\200\256')"''"#);
        assert_eq!(word("a\n"), r#"'a'"${IFS#??}"''"#);
    }

    #[test]
    fn hostile_words_are_read_back_to_the_byte() {
        let all: Vec<u8> = (1..=255).collect();
        let words = [
            &all[..],
            b"",
            b"\n",
            b"\n\n",
            b"a\n\n\xff",
            b"a\x1b\n\n",
            b"\n\xc3\xa4",
            b"\n'\n\"$(x)`y`\\",
            b"%s%n\\012",
            b"-n",
            b"~ * ? # ! ;",
            b"\xff'\xfe",
            "\u{1b}]0;x\u{7}\u{202e}\u{9b}31m".as_bytes(),
        ];
        is_read_back(&words.map(Vec::from));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn any_words_are_read_back_to_the_byte(
            words in prop::collection::vec(
                prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\''), 1..=255_u8], 0..12),
                1..20,
            ),
        ) {
            is_read_back(&words);
        }
    }
}
