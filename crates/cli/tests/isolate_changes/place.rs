//! A folder that `culprit isolate changes` is run in.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with a repository, or without.
pub(crate) struct Place(pub(crate) TempDir);

#[expect(clippy::disallowed_methods, reason = "what a user does by hand")]
pub(crate) fn shell(folder: &Path, script: &str) -> Output {
    let output = Command::new("/bin/sh")
        .args(["-ec", script])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([
            ("GIT_AUTHOR_NAME", "Ann"),
            ("GIT_AUTHOR_EMAIL", "ann@example.org"),
        ])
        .envs([
            ("GIT_COMMITTER_NAME", "Ann"),
            ("GIT_COMMITTER_EMAIL", "ann@example.org"),
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{script}: {}",
        text(&output.stderr)
    );
    output
}

#[expect(clippy::disallowed_methods, reason = "the command under test")]
pub(crate) fn culprit(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_culprit"));
    command
        .args(["isolate", "changes"])
        .args(words)
        .current_dir(folder)
        .env("NO_COLOR", "1");
    command
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Place {
    pub(crate) fn empty() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub(crate) fn repository(script: &str) -> Place {
        let place = Place::empty();
        let start = "git init -q -b main .; commit() { git add -A; git commit -qm \"$1\"; }\n";
        shell(place.path(), &format!("{start}{script}"));
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// All that is in the folder and in its repository: bytes, modes, times.
    pub(crate) fn state(&self) -> String {
        let script = "find . -type f -print0 | sort -z | xargs -0 -r sha256sum; \
                      find . | sort | xargs -d '\\n' stat -c '%n %Y %a %N'";
        text(&shell(self.path(), script).stdout)
    }

    /// The status, and the report or what was said instead of one. Nothing here changes by it.
    pub(crate) fn isolate(&self, words: &[&str]) -> (i32, Result<Value, String>) {
        let before = self.state();
        let found = self.isolate_unseen(words);
        assert_eq!(self.state(), before);
        found
    }

    pub(crate) fn isolate_unseen(&self, words: &[&str]) -> (i32, Result<Value, String>) {
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("out");
        let mut words = words.to_vec();
        let folder = folder.to_str().unwrap().to_owned();
        words.extend(["-o", &folder]);
        let output = culprit(self.path(), &words).output().unwrap();
        let report = fs::read_to_string(Path::new(&folder).join("report.json"));
        let found = match report {
            Ok(report) => Ok(serde_json::from_str(&report).unwrap()),
            Err(_) => Err(text(&output.stderr)),
        };
        (output.status.code().unwrap_or(-1), found)
    }

    pub(crate) fn found(&self, words: &[&str]) -> Value {
        let (code, found) = self.isolate(words);
        let found = found.unwrap_or_else(|said| panic!("{said}"));
        assert_eq!(code, 0, "{found:#}");
        found
    }

    #[track_caller]
    pub(crate) fn refused(&self, words: &[&str], expect_code: i32, expect: &str) {
        let (code, found) = self.isolate(words);
        let said = found.expect_err("no report");
        assert_eq!(code, expect_code, "{said}");
        // A line may end anywhere.
        assert!(said.replace("\n  ", " ").contains(expect), "{said}");
    }
}

/// The changes of a report as `file:-removed+added`.
pub(crate) fn changes(report: &Value) -> Vec<String> {
    let all = report["changes"].as_array().unwrap();
    let shown = all.iter().map(|change| {
        let lines = |key: &str, sign: &str| -> String {
            let lines = change[key].as_array().unwrap().iter();
            lines
                .map(|line| format!("{sign}{}", line.as_str().unwrap()))
                .collect()
        };
        let what = change["what"].as_str().unwrap_or_default();
        let file = change["file"].as_str().unwrap();
        format!(
            "{file}:{what}{}{}",
            lines("removed", "-"),
            lines("added", "+")
        )
    });
    shown.collect()
}
