//! The subjects of the study of `culprit isolate changes`.

pub mod case;
pub mod histories;
pub mod made;
pub mod proof;
pub mod releases;
pub mod study;
pub mod subject;

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use serde_json::Value;

use crate::process::{Outcome, Run, words};

/// Nothing takes longer.
const LIMIT: Duration = Duration::from_secs(3600);

/// Isolates in a folder with one job, and reads the report. Results go to `out`.
pub fn isolate(
    culprit: &Path,
    folder: &Path,
    out: &Path,
    options: &[&str],
) -> anyhow::Result<Value> {
    let mut args = words(["isolate", "changes", "--jobs", "1"]);
    args.extend(words(options));
    args.extend(["-o".into(), out.as_os_str().to_owned()]);
    let run = Run {
        program: culprit.to_owned(),
        args,
        folder: folder.to_owned(),
        env: Vec::new(),
        stdout: out.with_extension("out.txt"),
        stderr: out.with_extension("err.txt"),
        limit: LIMIT,
    };
    let outcome = run.run()?;
    let is_good = matches!(outcome, Outcome::Ended { status, .. } if status.is_success());
    ensure!(is_good, "{outcome:?}: {}", fs::read_to_string(&run.stderr)?);
    let report = fs::read_to_string(out.join("report.json"))?;
    Ok(serde_json::from_str(&report)?)
}

/// Verdicts in a result folder that have something, such as a level, in them.
pub fn verdicts_with(out: &Path, what: &str) -> anyhow::Result<usize> {
    let all = fs::read_to_string(out.join("candidates.jsonl"))?;
    Ok(all.lines().filter(|line| line.contains(what)).count())
}

/// Runs a script that must end well.
pub fn shell(folder: &Path, script: &str) -> anyhow::Result<()> {
    let (status, said) = tried(folder, script)?;
    ensure!(status == 0, "{script} ends with {status}: {said}");
    Ok(())
}

/// Runs a script: its status, and all that it said.
pub fn tried(folder: &Path, script: &str) -> anyhow::Result<(i32, String)> {
    let run = Run {
        program: "/bin/sh".into(),
        args: words(["-c", script]),
        folder: folder.to_owned(),
        env: Vec::new(),
        stdout: folder.with_extension("shell-out.txt"),
        stderr: folder.with_extension("shell-err.txt"),
        limit: LIMIT,
    };
    let outcome = run.run()?;
    let Outcome::Ended { status, .. } = outcome else {
        anyhow::bail!("{script} does not end");
    };
    let text = |file: &Path| -> anyhow::Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())
    };
    let said = text(&run.stdout)? + &text(&run.stderr)?;
    Ok((status.shell_code().into(), said))
}
