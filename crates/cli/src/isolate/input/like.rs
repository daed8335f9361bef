//! `--like`: the failure that candidates must show, read from a file or folder.

use std::fs;
use std::path::Path;

use culprit_isolate::Like;
use culprit_report::debug::TestsDocument;
use culprit_report::{Document, ReadError};
use culprit_trace::{Recording, RunFolder};
use serde::de::IgnoredAny;

use crate::exit::{ExitCode, Expected};

/// The next step where a file or folder has no failure.
const NAME_ANOTHER: &str =
    "name a file with a stack trace, a report.json of culprit debug, or a recording";

/// The failures in a file or a folder: a text with stack traces, a report of `culprit debug`, a recording, or a
/// folder of recordings.
pub(super) fn read(path: &Path) -> Result<Like, Expected> {
    let unusable = |why: String| {
        let message = format!("--like {}: {why}", path.display());
        Expected::new(ExitCode::Usage, message).hint(NAME_ANOTHER)
    };
    let found = match path.is_dir() {
        true => {
            let stacks = recorded(path).map_err(|error| unusable(error.to_string()))?;
            Like::of_stacks(stacks.iter().map(|stack| &**stack))
        }
        false => {
            let bytes = fs::read(path).map_err(|error| unusable(error.to_string()))?;
            let text = String::from_utf8_lossy(&bytes);
            let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            match Recording::open(path) {
                _ if is_json => {
                    let report = Document::<TestsDocument>::read(&text);
                    let report = report.map_err(|error| {
                        let unusable = unusable(error.to_string());
                        match error {
                            ReadError::Newer { .. } => unusable.hint(
                                "use the culprit that wrote it, or name a file with a stack trace",
                            ),
                            ReadError::Malformed { .. } | ReadError::OtherKind { .. } => unusable,
                        }
                    })?;
                    Like::of_stacks(report.tests.iter().map(|test| &*test.stack))
                }
                Ok(recording) => {
                    Like::of_stacks(recording.failures().iter().map(|failure| &*failure.stack))
                }
                Err(_) => Like::find(&text),
            }
        }
    };
    found.ok_or_else(|| unusable("it has no stack trace".to_owned()))
}

/// The stacks of all failures in a folder.
fn recorded(folder: &Path) -> Result<Vec<String>, culprit_trace::Error> {
    let mut stacks = Vec::new();
    for path in RunFolder::open(folder)?.recordings {
        let recording = Recording::open(&path)?;
        let failures = recording.failures().iter();
        stacks.extend(failures.map(|failure| failure.stack.to_string()));
    }
    Ok(stacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: &str = "java.lang.IllegalStateException: no\n\tat a.C.d(C.java:1)\n";

    #[test]
    fn failures_are_read_from_logs_and_reports() {
        let home = tempfile::tempdir().unwrap();
        let put = |name: &str, text: String| {
            let path = home.path().join(name);
            fs::write(&path, text).unwrap();
            read(&path)
        };
        let log = put("app.log", format!("12:00 started\n{STACK}12:01 ended\n")).unwrap();
        assert!(
            log.to_string().starts_with("IllegalStateException \"no\""),
            "{log}"
        );
        let entry = serde_json::json!({
            "failure": "IllegalStateException",
            "stack": STACK,
            "fails": null,
            "verified": false,
            "verdict": "none",
        });
        let report =
            serde_json::json!({ "version": 1, "command": "culprit debug", "tests": [entry] });
        assert_eq!(put("report.json", report.to_string()).unwrap(), log);
        let why = put("empty.log", "nothing\n".to_owned()).unwrap_err();
        assert!(why.to_string().contains("no stack trace"), "{why}");
        assert!(read(&home.path().join("none")).is_err());
    }

    #[test]
    fn reports_of_other_commands_and_versions_are_refused_with_the_next_step() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("report.json");
        let check = |text: &str, message: &str, hint: &str| {
            fs::write(&path, text).unwrap();
            let why = read(&path).unwrap_err();
            let name = path.display();
            assert_eq!(why.to_string(), format!("--like {name}: {message}"));
            assert_eq!(why.hint.as_deref(), Some(hint));
        };
        check(
            r#"{"document":"replay","version":1}"#,
            "a document of kind replay, not tests",
            NAME_ANOTHER,
        );
        check(
            r#"{"document":"tests","version":9,"command":"","tests":[]}"#,
            "version 9 of the document tests; this culprit reads up to 1",
            "use the culprit that wrote it, or name a file with a stack trace",
        );
        check(
            r#"{"stack":"java.lang.Error\n\tat a.B.c(B.java:1)\n"}"#,
            "not a document of kind tests: missing field `version`",
            NAME_ANOTHER,
        );
    }
}
