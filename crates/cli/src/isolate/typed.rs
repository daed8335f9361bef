//! A command line as it would be typed again: in reports, and in the script that repeats it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use culprit_isolate::quoted;

use crate::record::quote;

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

    /// In one line, for people, with secrets masked.
    pub(crate) fn line(&self) -> String {
        quote::line(quote::masked(&self.0))
    }

    /// For `/bin/sh`, with secrets masked: a script is shown to others.
    pub(crate) fn script(&self) -> OsString {
        let words = quote::masked(&self.0);
        let words: Vec<OsString> = words.iter().map(|word| quoted(word)).collect();
        words.join(" ".as_ref())
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
        let start = "culprit isolate input ./-dash.txt '--test=-x y' --like";
        assert_eq!(typed.line(), format!(r"{start} $'two\x0alines' --stdin"));
        let script = format!("{start} 'two\nlines' --stdin");
        assert_eq!(typed.script(), OsString::from(script));
    }
}
