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
    let text = match path.is_dir() {
        true => recorded(path).map_err(|error| unusable(error.to_string()))?,
        false => {
            let bytes = fs::read(path).map_err(|error| unusable(error.to_string()))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            match serde_json::from_str::<Value>(&text) {
                Ok(report) => stacks(&report),
                Err(_) => match Recording::open(path) {
                    Ok(recording) => failures(&recording),
                    Err(_) => text,
                },
            }
        }
    };
    Like::find(&text).ok_or_else(|| unusable("it has no stack trace".to_owned()))
}

fn recorded(folder: &Path) -> Result<String, culprit_trace::Error> {
    let mut text = String::new();
    for path in RunFolder::open(folder)?.recordings {
        text.push_str(&failures(&Recording::open(&path)?));
    }
    Ok(text)
}

fn failures(recording: &Recording) -> String {
    let stacks = recording.failures().iter().map(|failure| &*failure.stack);
    let stacks: Vec<&str> = stacks.collect();
    stacks.join("\n")
}

/// All that is called a stack in a report.
fn stacks(report: &Value) -> String {
    match report {
        Value::Object(fields) => {
            let each = fields.iter().map(|(name, value)| match (&**name, value) {
                ("stack", Value::String(stack)) => format!("{stack}\n"),
                _ => stacks(value),
            });
            each.collect()
        }
        Value::Array(values) => values.iter().map(stacks).collect(),
        _ => String::new(),
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
