//! `--like`: the failure that candidates must show, from where somebody saw it.

use std::fs;
use std::path::Path;

use culprit_isolate::Like;
use culprit_trace::{Recording, RunFolder};
use serde_json::Value;

use crate::exit::{ExitCode, Expected};

/// The failures that a file or a folder tells of: a text with stack traces, a report of `culprit debug`, a
/// recording, or a folder of recordings.
pub(super) fn read(path: &Path) -> Result<Like, Expected> {
    let unusable = |why: String| {
        let message = format!("--like {}: {why}", path.display());
        Expected::new(ExitCode::Usage, message)
            .hint("name a file with a stack trace, a report.json of culprit debug, or a recording")
    };
    let found = match path.is_dir() {
        true => Like::of_stacks(
            recorded(path)
                .map_err(|error| unusable(error.to_string()))?
                .iter()
                .map(|stack| &**stack),
        ),
        false => {
            let bytes = fs::read(path).map_err(|error| unusable(error.to_string()))?;
            let text = String::from_utf8_lossy(&bytes);
            match (serde_json::from_str::<Value>(&text), Recording::open(path)) {
                (Ok(report), _) => {
                    let mut all = Vec::new();
                    stacks(&report, &mut all);
                    Like::of_stacks(all)
                }
                (_, Ok(recording)) => {
                    Like::of_stacks(recording.failures().iter().map(|failure| &*failure.stack))
                }
                _ => Like::find(&text),
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

/// All that is called a stack in a report.
fn stacks<'v>(report: &'v Value, found: &mut Vec<&'v str>) {
    match report {
        Value::Object(fields) => {
            for (name, value) in fields {
                match (&**name, value) {
                    ("stack", Value::String(stack)) => found.push(stack),
                    _ => stacks(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| stacks(value, found)),
        _ => {}
    }
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
        let report = serde_json::json!({ "version": 1, "tests": [{ "stack": STACK }] });
        assert_eq!(put("report.json", report.to_string()).unwrap(), log);
        let why = put("empty.log", "nothing\n".to_owned()).unwrap_err();
        assert!(why.to_string().contains("no stack trace"), "{why}");
        assert!(read(&home.path().join("none")).is_err());
    }
}
