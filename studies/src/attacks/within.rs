//! The attempts once more, made by candidates of `culprit debug` in a real worker, and by the generated test when it is
//! checked.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::ensure;

use super::attempt::{Attempt, Observed, Witness};
use super::session::{Order, Session};
use super::stage::{Stage, tell};
use super::witness::{Common, Trial};
use crate::process::words;

/// The folder of the copy of the program. It reads there what to do.
pub const SUBJECT: &str = "subject";

/// The environment of the attempts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Within {
    Worker,
    Check,
}

impl Stage {
    /// The observations on attempts, by way and name.
    pub fn observe_within(
        &self,
        within: Within,
        culprit: &Path,
        attempts: &[&'static Attempt],
    ) -> anyhow::Result<BTreeMap<String, Observed>> {
        let (name, mode) = match within {
            Within::Worker => ("worker", "attempts"),
            Within::Check => ("check", "check-attempts"),
        };
        let folder = self.place.join(name);
        fs::create_dir_all(&folder)?;
        // What ends the JVM if it succeeds comes last.
        let mut attempts: Vec<&'static Attempt> = attempts.to_vec();
        attempts.retain(|it| !it.is_alone());
        attempts.sort_by_key(|it| it.name.starts_with("exec") || it.name == "unlink-by-int80");
        let common = Common::new(&folder, false)?;
        let trials = Trial::all(&attempts, self.jdk.version.feature, &folder)?;
        let sleeper = self.sleeper()?;
        let mut session = self.session(culprit, &folder, mode)?;
        let subject = folder.join(SUBJECT);
        session.limit = Duration::from_secs(400);
        let options = words(["--jobs", "1", "--max-time", "120s"]);
        session.args.splice(1..1, options);
        let mut reports = Reports::new(vec![session.scratch(), folder.clone(), "/tmp".into()]);
        let refresh = |said: &BTreeMap<String, Option<String>>| -> anyhow::Result<()> {
            let rest: Vec<&Trial> = (trials.iter())
                .filter(|trial| !said.contains_key(&trial.key()))
                .collect();
            let plan = self.plan(&common, &rest, Some(sleeper.id()))?;
            fs::write(subject.join("plan.new"), plan)?;
            Ok(fs::rename(subject.join("plan.new"), subject.join("plan"))?)
        };
        refresh(&reports.said)?;
        let seen = session.watch(|| {
            if reports.look(&subject)? {
                refresh(&reports.said)?;
            }
            Ok(Order::GoOn)
        });
        let seen = seen?;
        ensure!(
            reports.said.len() * 10 >= trials.len() * 9,
            "only {} of {} attempts were made in a {name}: {}",
            reports.said.len(),
            trials.len(),
            seen.printed
        );
        let mut observed = BTreeMap::new();
        for trial in &trials {
            let Some(refusal) = reports.said.get(&trial.key()).cloned() else {
                continue;
            };
            let place = trial.place.folder.file_name().unwrap_or_default();
            let harm = match trial.attempt.witness {
                Witness::Ran => {
                    let mark = format!("ran-{}", place.to_string_lossy());
                    let ran = reports.marks.contains(&mark);
                    ran.then(|| "the program ran".to_owned())
                }
                Witness::Node => {
                    let made = reports.marks.contains("a node");
                    made.then(|| "a device node was made".to_owned())
                }
                _ => common.harm(trial)?,
            };
            observed.insert(trial.key(), Observed { harm, refusal });
        }
        Ok(observed)
    }

    /// `culprit debug` of the program that attacks in a way: of a copy of it, so that many can run at a time.
    pub fn session(&self, culprit: &Path, folder: &Path, mode: &str) -> anyhow::Result<Session> {
        let subject = folder.join(SUBJECT);
        let classes = self.copy_to(&subject)?;
        fs::write(subject.join("mode"), mode)?;
        let mut args: Vec<OsString> = words(["debug", "-o", "results", "--"]);
        args.push(self.jdk.tool("java").into());
        args.extend(words(["-Xmx256m", "-cp"]));
        args.push(classes.into());
        args.push("app.Main".into());
        Ok(Session {
            culprit: culprit.to_owned(),
            args,
            folder: folder.to_owned(),
            env: Vec::new(),
            limit: Duration::from_secs(120),
        })
    }
}

/// The files that candidates leave in their folders, which are removed with their workers.
struct Reports {
    places: Vec<PathBuf>,
    said: BTreeMap<String, Option<String>>,
    marks: BTreeSet<String>,
    lines: BTreeMap<PathBuf, usize>,
}

impl Reports {
    fn new(places: Vec<PathBuf>) -> Reports {
        Reports {
            places,
            said: BTreeMap::new(),
            marks: BTreeSet::new(),
            lines: BTreeMap::new(),
        }
    }

    /// Takes in what is new, and says so in a folder that the candidate can read.
    fn look(&mut self, answers: &Path) -> anyhow::Result<bool> {
        let mut news = false;
        for report in reports_below(&self.places) {
            let text = fs::read_to_string(&report).unwrap_or_default();
            let count = text.lines().count();
            if self.lines.insert(report.clone(), count) == Some(count) {
                continue;
            }
            news = true;
            text.lines().for_each(|line| tell(&mut self.said, line));
            let beside = report.parent().unwrap_or(Path::new("/"));
            for entry in fs::read_dir(beside).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with("ran-") {
                    self.marks.insert(name);
                }
                let kind = entry.file_type();
                if kind.is_ok_and(|it| it.is_block_device() || it.is_char_device()) {
                    self.marks.insert("a node".to_owned());
                }
            }
            let name = report.file_name().unwrap_or_default().to_string_lossy();
            let process = name.trim_start_matches("attacks-report-");
            fs::write(answers.join(format!("taken-{process}")), count.to_string())?;
        }
        Ok(news)
    }
}

fn reports_below(places: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<(PathBuf, u8)> = places.iter().map(|it| (it.clone(), 0)).collect();
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            if name.starts_with("attacks-report-") {
                found.push(entry.path());
            } else if is_folder && depth < 6 && folder != Path::new("/tmp") {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    found
}
