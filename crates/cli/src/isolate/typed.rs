//! A command line as it would be typed again: in reports, and in the script that repeats it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use culprit_model::{secret, shell};

/// Its words.
#[derive(Clone, Debug)]
pub(crate) struct Typed(Vec<OsString>);

impl Typed {
    /// A command of `culprit isolate`, without any options.
    pub(crate) fn new(command: &str) -> Typed {
        Typed(["culprit", "isolate", command].map(OsString::from).to_vec())
    }

    /// Adds an option with its value.
    pub(crate) fn option(&mut self, name: &str, value: impl AsRef<OsStr>) {
        let value = value.as_ref();
        if !has_hyphen(value) {
            self.0.extend([name.into(), value.to_owned()]);
            return;
        }
        // By itself it would be taken for an option.
        let mut word = OsString::from(name);
        word.push("=");
        word.push(value);
        self.0.push(word);
    }

    /// Adds those options without a value that are set.
    pub(crate) fn flags(&mut self, flags: &[(bool, &str)]) {
        let set = flags.iter().filter(|(is_set, _)| *is_set);
        self.0.extend(set.map(|(_, name)| OsString::from(name)));
    }

    /// Adds a path.
    pub(crate) fn path(&mut self, path: &Path) {
        self.0.push(match has_hyphen(path.as_os_str()) {
            true => Path::new(".").join(path).into_os_string(),
            false => path.into(),
        });
    }

    /// On one line, with the folder for results.
    pub(crate) fn line_into(mut self, folder: &Path) -> String {
        self.option("-o", folder);
        self.line()
    }

    /// On one line, for people and for `/bin/sh`, with secrets masked.
    pub(crate) fn line(&self) -> String {
        shell::line(secret::masked(&self.0))
    }

    /// Whether it has secrets, which are masked wherever it is written.
    pub(crate) fn has_secrets(&self) -> bool {
        secret::masked(&self.0) != self.0
    }
}

fn has_hyphen(word: &OsStr) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_with_a_hyphen_is_no_option() {
        let mut typed = Typed::new("input");
        typed.path(Path::new("-dash.txt"));
        typed.option("--test", "-x y");
        typed.option("--like", "two\nlines");
        typed.flags(&[(true, "--stdin"), (false, "--simplify")]);
        let expect = r#"culprit isolate input ./-dash.txt '--test=-x y' --like 'two'"$(printf '\012\154')"'ines' --stdin"#;
        assert_eq!(typed.line(), expect);
    }
}
