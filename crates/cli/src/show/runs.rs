//! The runs in a folder that was named instead of one of them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use culprit_model::{clean, shell};
use culprit_report::figure::counted;
use culprit_trace::{Error, RunFolder};

use crate::exit::{ExitCode, Expected};

/// The number of runs that are listed.
const RUNS: usize = 10;

/// The beginnings of the names of runs in a result folder of `culprit debug` in which no calls were recorded.
const UNRECORDED: [&str; 3] = ["witness", "follow-", "inner-"];

/// The error of a command that needs the calls of a run and cannot read its folder.
pub(crate) fn expected_calls(command: &str, error: &Error) -> Expected {
    let has_calls = |name: &OsStr| {
        let name = name.to_string_lossy();
        !UNRECORDED.iter().any(|start| name.starts_with(start))
    };
    listed(command, error, has_calls).unwrap_or_else(|| super::expected(error))
}

/// The error of a command that cannot read the folder of a run.
pub(crate) fn expected_run(command: &str, error: &Error) -> Expected {
    listed(command, error, |_| true).unwrap_or_else(|| super::expected(error))
}

/// The error that lists the runs in a folder without recordings, or `None` if there are none.
fn listed(command: &str, error: &Error, is_wanted: impl Fn(&OsStr) -> bool) -> Option<Expected> {
    let Error::NoRecordings { path } = error else {
        return None;
    };
    let runs = runs(path, is_wanted);
    let last = runs.last()?;
    let count = counted(runs.len() as u64, "run");
    let message = format!("{} contains no recording, but {count}", path.display());
    let older = runs.len().saturating_sub(RUNS);
    let mut lines = Vec::new();
    if older > 0 {
        lines.push(format!("{older} older, and"));
    }
    lines.extend(runs.iter().skip(older).map(|run| {
        let recordings = counted(run.recordings as u64, "recording");
        format!("{}: {recordings}", clean::path(&run.path))
    }));
    let words = ["culprit".as_ref(), command.as_ref(), last.path.as_os_str()];
    lines.push(format!("name one of them: {}", shell::line(words)));
    Some(Expected::new(ExitCode::Usage, message).hint(lines.join("\n  ")))
}

/// A run in a folder.
struct ListedRun {
    path: PathBuf,
    recordings: usize,
    changed: Option<SystemTime>,
}

/// The runs in a folder, the newest last.
fn runs(folder: &Path, is_wanted: impl Fn(&OsStr) -> bool) -> Vec<ListedRun> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut runs: Vec<ListedRun> = entries
        .filter(|entry| is_wanted(&entry.file_name()))
        .filter_map(|entry| {
            let path = entry.path();
            Some(ListedRun {
                recordings: RunFolder::open(&path).ok()?.recordings.len(),
                changed: entry.metadata().and_then(|it| it.modified()).ok(),
                path,
            })
        })
        .collect();
    runs.sort_by(|a, b| (a.changed, &a.path).cmp(&(b.changed, &b.path)));
    runs
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use super::*;

    /// A folder with runs of these names, from the oldest to the newest.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (age, name) in names.iter().enumerate() {
            let run = folder.path().join(name);
            fs::create_dir(&run).unwrap();
            fs::write(run.join("jvm-1.culprit"), "").unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(age as u64);
            File::open(&run).unwrap().set_modified(time).unwrap();
        }
        folder
    }

    fn told(folder: &Path, tell: impl Fn(&Error) -> Expected) -> (ExitCode, String) {
        let error = RunFolder::open(folder).unwrap_err();
        let told = tell(&error);
        let text = format!("{}\n  {}", told.message, told.hint.unwrap());
        (told.code, text.replace(folder.to_str().unwrap(), "DIR"))
    }

    #[test]
    fn the_runs_in_a_folder_are_listed_and_the_newest_is_last() {
        let folder = folder(&["b", "a"]);
        let (code, text) = told(folder.path(), |error| expected_run("show", error));
        assert_eq!(code, ExitCode::Usage);
        insta::assert_snapshot!(text, @r"
        DIR contains no recording, but 2 runs
          DIR/b: 1 recording
          DIR/a: 1 recording
          name one of them: culprit show DIR/a
        ");
    }

    #[test]
    fn of_many_runs_the_newest_are_listed() {
        let names: Vec<String> = (10..25).map(|number| format!("run-{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let folder = folder(&names);
        let (_, text) = told(folder.path(), |error| expected_run("replay", error));
        assert_eq!(text.lines().count(), 13, "{text}");
        assert!(text.contains("\n  5 older, and\n  DIR/run-15: "), "{text}");
        assert!(text.ends_with("culprit replay DIR/run-24"), "{text}");
    }

    #[test]
    fn of_a_result_folder_the_runs_with_calls_are_listed() {
        let debug = folder(&["run-1-1", "follow-1", "witness", "witness-2"]);
        let (_, text) = told(debug.path(), |error| expected_calls("minimize", error));
        assert!(text.contains("but 1 run\n  DIR/run-1-1: "), "{text}");
        let followed = folder(&["follow-1", "witness"]);
        let (code, _) = told(followed.path(), |error| expected_calls("minimize", error));
        assert_eq!(code, ExitCode::Recording);
    }
}
