//! A folder that `culprit isolate input` is run in.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

pub(crate) struct Stage(tempfile::TempDir);

pub(crate) struct Told {
    pub(crate) status: Option<i32>,
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

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[expect(clippy::disallowed_methods, reason = "the command under test")]
    pub(crate) fn culprit(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_culprit"));
        command
            .args(["isolate", "input"])
            .args(words)
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Told {
        Told::of(self.culprit(words).output().unwrap())
    }
}

impl Told {
    pub(crate) fn of(output: Output) -> Told {
        Told {
            status: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub(crate) const SELECT: &str = "<SELECT NAME=\"priority\" MULTIPLE SIZE=7>";
