//! A folder that `culprit` is run in, and what is hostile.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Sets the title of the window, clears the screen by a C1 control, reverses, hides, and forges.
pub(crate) const HOSTILE: &str =
    "\u{1b}]0;OWNED\u{7}\u{9b}2J\u{202e}\u{200b}\u{2066}\u{e0041}\rx\nculprit: forged";

/// A part of it that a file name or a commit message has, and that must be seen.
pub(crate) const SEEN: &str = "\\u001b]0;OWNED\\u0007\\u009b2J\\u202e\\u200b\\u2066\\udb40\\udc41";

pub(crate) struct Stage(tempfile::TempDir);

pub(crate) struct Told {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `culprit`; whatever it says is clean.
    #[track_caller]
    pub(crate) fn culprit<W: AsRef<OsStr>>(&self, words: &[W]) -> Told {
        let told = self.run(env!("CARGO_BIN_EXE_culprit"), words);
        for text in [&told.out, &told.err] {
            is_clean(text);
            let is_forged = |line: &str| line.starts_with("culprit: forged");
            assert!(!text.lines().any(is_forged), "{text}");
        }
        told
    }

    #[expect(clippy::disallowed_methods, reason = "the command under test, and Git")]
    pub(crate) fn run<W: AsRef<OsStr>>(&self, program: &str, words: &[W]) -> Told {
        let output = Command::new(program)
            .args(words)
            .current_dir(self.path())
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .env_remove("JAVA_TOOL_OPTIONS")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Told {
            status: output.status.code().unwrap(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// The text of a file, which is clean.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        let text = fs::read_to_string(self.path().join(name)).unwrap();
        is_clean(&text);
        text
    }
}

#[track_caller]
pub(crate) fn is_clean(text: &str) {
    let is_bad = |c| c != '\n' && c != '\t' && culprit_model::clean::is_harmful(c);
    assert!(!text.contains(is_bad), "{text:?}");
}
