//! A case: a real input, and a script that says whether the fault shows on a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::process::{Outcome, Run, remove, words};

/// Fetching, and one answer of a test, take no longer.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// One script of `studies/isolate`.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    pub name: String,
    pub script: PathBuf,
    /// The name of the input.
    pub input: String,
    pub language: String,
    pub fault: String,
}

/// A case whose input is there.
pub struct Ready {
    pub case: Case,
    /// The folder of the input and of the files that its test needs.
    pub folder: PathBuf,
    pub bytes: Vec<u8>,
    /// True if a process waits in the background.
    has_resident: bool,
}

impl Case {
    /// The cases of a folder, by name.
    pub fn all(folder: &Path) -> anyhow::Result<Vec<Case>> {
        let mut cases = Vec::new();
        for entry in fs::read_dir(folder)? {
            let script = entry?.path();
            let name = script.file_stem().unwrap_or_default().to_string_lossy();
            if script.extension().is_some_and(|it| it == "sh") && name != "common" {
                cases.push(Case::read(&script.canonicalize()?, &name)?);
            }
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(cases)
    }

    fn read(script: &Path, name: &str) -> anyhow::Result<Case> {
        let text = fs::read_to_string(script)?;
        let told = |key: &str| {
            let start = format!("# {key}: ");
            let line = text.lines().find_map(|line| line.strip_prefix(&start));
            line.map(str::to_owned)
                .with_context(|| format!("{} does not tell its {key}", script.display()))
        };
        Ok(Case {
            name: name.to_owned(),
            script: script.to_owned(),
            input: told("input")?,
            language: told("language")?,
            fault: told("fault")?,
        })
    }

    /// Fetches the input, and sees that the fault shows on it and not on an empty file.
    pub fn ready(self, place: &Path) -> anyhow::Result<Ready> {
        let folder = place.join("cases").join(&self.name);
        remove(&folder)?;
        fs::create_dir_all(&folder)?;
        let cache = place.join("cache");
        fs::create_dir_all(&cache)?;
        let is_fetched = self.run("fetch", &folder, &[("STUDY_CACHE", &cache)])?;
        ensure!(is_fetched, "{} cannot be fetched", self.name);
        let has_resident = fs::read_to_string(&self.script)?.contains("\nstart)");
        if has_resident {
            let is_started = self.run("start", &folder, &[])?;
            ensure!(is_started, "{} cannot be started", self.name);
        }
        let bytes = fs::read(folder.join(&self.input))?;
        let ready = Ready {
            case: self,
            folder,
            bytes,
            has_resident,
        };
        let nothing = ready.folder.join("nothing");
        fs::write(&nothing, b"")?;
        let name = &ready.case.name;
        ensure!(ready.shows(&ready.input())?, "{name} shows no fault");
        ensure!(!ready.shows(&nothing)?, "{name} fails on nothing");
        Ok(ready)
    }

    fn run(&self, verb: &str, path: &Path, env: &[(&str, &Path)]) -> anyhow::Result<bool> {
        let log = |kind: &str| path.with_extension(format!("{verb}-{kind}"));
        let mut args = words([&self.script]);
        args.extend([verb.into(), path.into()]);
        let pairs = env.iter().map(|(key, value)| (key.into(), value.into()));
        let run = Run {
            program: "/bin/sh".into(),
            args,
            folder: std::env::current_dir()?,
            env: pairs.collect(),
            stdout: log("out"),
            stderr: log("err"),
            limit: LIMIT,
        };
        let outcome = run.run()?;
        Ok(matches!(outcome, Outcome::Ended { status, .. } if status.is_success()))
    }
}

impl Ready {
    /// The input.
    pub fn input(&self) -> PathBuf {
        self.folder.join(&self.case.input)
    }

    /// True if the fault shows on a file.
    pub fn shows(&self, file: &Path) -> anyhow::Result<bool> {
        self.case.run("test", file, &[("STUDY_CASE", &self.folder)])
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        if self.has_resident
            && let Ok(process) = fs::read_to_string(self.folder.join("pid"))
        {
            let args = words([process.trim()]);
            // It ends by itself when nobody asks for long.
            let _ = crate::process::tool(Path::new("/bin/kill"), args, &self.folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_tell_what_they_are() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("isolate");
        let cases = Case::all(&folder).unwrap();
        assert!(cases.len() >= 10, "{cases:?}");
        assert!(cases.iter().all(|case| case.fault.len() > 20));
    }
}
