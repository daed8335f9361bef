//! One recording and its replay.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use culprit_trace::{Recording, RunFolder};
use serde_json::Value as Json;

use super::cause;
use super::program::Tests;
use super::ready::Ready;
use super::set::Set;
use crate::process::{Outcome, Run, remove, words};

/// The outcome of a recording and its replay.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Verdict {
    InSync,
    /// There is no event in the recording.
    Nothing,
    OutOfSync,
    /// The recording has something that cannot be replayed yet.
    Unsupported,
    /// The replaying JVM died, or took too long.
    Lost,
    /// The replay was refused.
    Refused,
    /// The recorded run did something else than the plain one, or there is no recording of it.
    Disturbed,
    /// There are more events than the study replays.
    TooLarge,
    /// A mistake that `culprit replay` found in itself.
    Defect,
}

impl Verdict {
    pub const EACH: [Verdict; 9] = [
        Verdict::InSync,
        Verdict::Nothing,
        Verdict::OutOfSync,
        Verdict::Unsupported,
        Verdict::Lost,
        Verdict::Refused,
        Verdict::Disturbed,
        Verdict::TooLarge,
        Verdict::Defect,
    ];

    /// True if it is as it should be.
    pub fn is_good(self) -> bool {
        matches!(self, Verdict::InSync | Verdict::Nothing | Verdict::TooLarge)
    }

    fn word(self) -> &'static str {
        match self {
            Verdict::InSync => "in sync",
            Verdict::Nothing => "no events",
            Verdict::OutOfSync => "out of sync",
            Verdict::Unsupported => "unsupported",
            Verdict::Lost => "lost",
            Verdict::Refused => "refused",
            Verdict::Disturbed => "disturbed",
            Verdict::TooLarge => "too large",
            Verdict::Defect => "defect",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for Verdict {
    type Err = ();

    fn from_str(text: &str) -> Result<Verdict, ()> {
        let found = Verdict::EACH.into_iter().find(|it| it.word() == text);
        found.ok_or(())
    }
}

/// The facts about a recording and its replay.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Ended {
    pub(crate) verdict: Verdict,
    /// Why, without what differs from case to case.
    pub(crate) cause: String,
    /// Why, in full.
    pub(crate) told: String,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    pub(crate) record: Duration,
    pub(crate) replay: Duration,
    /// The classes that were loaded, of those that were observed.
    pub(crate) loaded: BTreeSet<String>,
}

impl Ended {
    fn new(verdict: Verdict, told: &str) -> Ended {
        Ended {
            verdict,
            cause: cause::shape(told),
            told: told.to_owned(),
            events: 0,
            bytes: 0,
            record: Duration::ZERO,
            replay: Duration::ZERO,
            loaded: BTreeSet::new(),
        }
    }
}

/// A folder in which one case after the other is run.
#[derive(Debug)]
pub(crate) struct Place<'r> {
    pub(crate) ready: &'r Ready<'r>,
    pub(crate) folder: PathBuf,
}

impl Place<'_> {
    pub(crate) fn recording(&self) -> PathBuf {
        self.folder.join("recording")
    }

    /// The output of a test without Culprit; `None` if it differs from run to run.
    pub(crate) fn plain(&self, test: &str) -> anyhow::Result<Option<String>> {
        if self.ready.program.tests == Tests::Published {
            return Ok(None);
        }
        let (outcome, _) = self.run(&self.ready.java, &[], test, "plain")?;
        match outcome {
            Outcome::Ended { status, .. } if status.is_success() => {
                Ok(Some(self.printed("plain")?))
            }
            ended => bail!("{test} does not end as it should without us: {ended:?}"),
        }
    }

    /// Records a test and replays the recording, which stays in the folder.
    pub(crate) fn case(&self, test: &str, set: &Set, plain: Option<&str>) -> anyhow::Result<Ended> {
        remove(&self.recording())?;
        let mut before = words(["record", "--quiet", "-o"]);
        before.push(self.recording().into());
        for pattern in set.patterns(self.ready.program.observe) {
            before.extend(words(["--observe", &pattern]));
        }
        let most = self.ready.program.extent.most_events;
        if most < u64::MAX {
            // One more tells that there are too many, and a disk is not endless.
            before.extend(words(["--max-events", &(most + 1).to_string()]));
        }
        before.extend(words(["--"]));
        before.push(self.ready.java.clone().into());
        let culprit = &self.ready.study.culprit;
        let (outcome, record) = self.run(culprit, &before, test, "recorded")?;
        let mut ended = self.recorded(outcome, plain)?;
        ended.record = record;
        Ok(ended)
    }

    fn recorded(&self, outcome: Outcome, plain: Option<&str>) -> anyhow::Result<Ended> {
        let disturbed = |told: &str| Ok(Ended::new(Verdict::Disturbed, told));
        match outcome {
            Outcome::TimedOut => return disturbed("the recorded run took too long"),
            Outcome::Ended { status, .. } if !status.is_success() => {
                return disturbed(&format!("the recorded run ended with {status}"));
            }
            Outcome::Ended { .. } => {}
        }
        if plain.is_some_and(|plain| self.printed("recorded").ok().as_deref() != Some(plain)) {
            return disturbed("the recorded run printed something else than the plain one");
        }
        let run = match RunFolder::open(&self.recording()) {
            Ok(run) => run,
            Err(error) => return disturbed(&format!("there is no recording: {error}")),
        };
        let mut all = Ended::new(Verdict::Nothing, "");
        for file in &run.recordings {
            let recording = match Recording::open(file) {
                Ok(recording) => recording,
                Err(error) => return disturbed(&format!("the recording is unreadable: {error}")),
            };
            all.events += recording.event_count();
            all.bytes += recording.bytes();
            let observed = recording.classes().iter().filter(|class| class.observed);
            let names = observed.map(|class| class.name.replace('/', "."));
            all.loaded.extend(names);
        }
        if all.events == 0 {
            return Ok(all);
        }
        if all.events > self.ready.program.extent.most_events {
            all.verdict = Verdict::TooLarge;
            return Ok(all);
        }
        let began = Instant::now();
        let answer = self.replay(&run.recordings)?;
        Ok(Ended {
            replay: began.elapsed(),
            events: all.events,
            bytes: all.bytes,
            loaded: all.loaded,
            ..answer
        })
    }

    /// Replays all recordings of a run; the worst answer counts.
    fn replay(&self, files: &[PathBuf]) -> anyhow::Result<Ended> {
        let limit = self.ready.program.limit.as_secs().to_string();
        let mut args = words(["replay", "--json", "--time-limit", &limit]);
        args.extend(files.iter().map(Into::into));
        let run = Run {
            program: self.ready.study.culprit.clone(),
            args,
            folder: self.folder.clone(),
            env: Vec::new(),
            stdout: self.folder.join("replay.json"),
            stderr: self.folder.join("replay.err"),
            limit: self.ready.program.limit * 2 + Duration::from_secs(60),
        };
        if run.run()? == Outcome::TimedOut {
            return Ok(Ended::new(Verdict::Lost, "culprit replay did not end"));
        }
        let document: Json = match serde_json::from_str(&fs::read_to_string(&run.stdout)?) {
            Ok(document) => document,
            Err(_) => {
                let said = fs::read_to_string(&run.stderr)?;
                let first = said.lines().next().unwrap_or("culprit replay said nothing");
                return Ok(Ended::new(Verdict::Defect, first));
            }
        };
        let cases = document["recordings"].as_array();
        let cases = cases.context("culprit replay speaks of no recordings")?;
        let mut ended: Vec<Ended> = cases.iter().map(answer).collect::<anyhow::Result<_>>()?;
        ended.sort_by_key(|it| (it.verdict.is_good(), it.verdict == Verdict::Nothing));
        ended.into_iter().next().context("nothing was replayed")
    }

    /// Runs a test in a fresh folder.
    fn run(
        &self,
        program: &Path,
        before: &[std::ffi::OsString],
        test: &str,
        name: &str,
    ) -> anyhow::Result<(Outcome, Duration)> {
        let work = self.folder.join("work");
        self.ready.fresh(&work)?;
        let mut args = before.to_vec();
        args.extend_from_slice(&self.ready.args);
        args.push(test.into());
        let began = Instant::now();
        let outcome = Run {
            program: program.to_owned(),
            args,
            folder: work,
            env: Vec::new(),
            stdout: self.folder.join(format!("{name}.out")),
            stderr: self.folder.join(format!("{name}.err")),
            limit: self.ready.program.limit,
        }
        .run()?;
        Ok((outcome, began.elapsed()))
    }

    fn printed(&self, name: &str) -> anyhow::Result<String> {
        let bytes = fs::read(self.folder.join(format!("{name}.out")))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The report of `culprit replay` on one recording.
fn answer(case: &Json) -> anyhow::Result<Ended> {
    let why = case["why"].as_str().unwrap_or_default();
    Ok(match case["result"].as_str().unwrap_or_default() {
        "in-sync" => Ended::new(Verdict::InSync, ""),
        "nothing-observed" => Ended::new(Verdict::Nothing, ""),
        "refused" if case["events"] == 0 => Ended::new(Verdict::Nothing, ""),
        "refused" => Ended::new(Verdict::Refused, why),
        "unreadable" => Ended::new(Verdict::Refused, why),
        "unsupported" => Ended::new(Verdict::Unsupported, why),
        "time-limit" => Ended::new(Verdict::Lost, "time limit"),
        "jvm-died" => {
            let output = case["output"].as_str().unwrap_or_default();
            let told = format!("{why}: {}", cause::telling_line(output));
            Ended::new(Verdict::Lost, &told)
        }
        "defect" => Ended::new(Verdict::Defect, why),
        "out-of-sync" => {
            let difference = &case["difference"];
            let told = cause::told(difference);
            Ended {
                cause: cause::of_difference(difference),
                ..Ended::new(Verdict::OutOfSync, &told)
            }
        }
        other => bail!("culprit replay says `{other}`, which this study does not know"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn verdicts_print_and_read_back() {
        for verdict in Verdict::EACH {
            assert_eq!(verdict.to_string().parse(), Ok(verdict));
        }
    }

    #[test]
    fn answers_of_culprit_become_verdicts() {
        for (case, verdict) in [
            (json!({"result": "in-sync", "events": 3}), Verdict::InSync),
            (json!({"result": "refused", "events": 0}), Verdict::Nothing),
            (
                json!({"result": "refused", "events": 1, "why": "x"}),
                Verdict::Refused,
            ),
            (json!({"result": "time-limit"}), Verdict::Lost),
            (
                json!({"result": "out-of-sync", "difference": {"why": "y"}}),
                Verdict::OutOfSync,
            ),
        ] {
            assert_eq!(answer(&case).unwrap().verdict, verdict, "{case}");
        }
        assert!(answer(&json!({"result": "new"})).is_err());
    }
}
