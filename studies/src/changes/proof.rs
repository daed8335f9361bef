//! An independent check of a result: it is where the fix was made, and none of its lines can
//! be taken back such that the failure stays.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use culprit_jvm::Jdk;
use serde_json::Value;

use super::subject::Subject;
use super::{shell, tried};

/// A result with both versions left in place.
pub struct Found<'r> {
    pub subject: &'r Subject,
    pub report: &'r Value,
    /// The folder with the versions `passing` and `failing`.
    pub variants: PathBuf,
}

/// The place of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a method in which the fix was made.
    Method,
    /// In its class, in another method.
    Class,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Place::Method => "its method",
            Place::Class => "its class",
        })
    }
}

/// The outcome of a version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Passes,
    Fails,
    Unresolved,
}

/// One change of a result, and where it is in both versions, lines from 0.
struct Spot {
    file: String,
    what: Option<String>,
    old: usize,
    new: usize,
    removed: Vec<String>,
    added: Vec<String>,
}

impl Found<'_> {
    /// The place of the changes: some must be in a class in which the fix was made.
    pub fn place(&self, jdk: &Jdk) -> anyhow::Result<Place> {
        let spots = self.spots()?;
        let mut is_in_class = false;
        for fix in &self.subject.case.fix {
            let (class, method) = fix.split_once('#').context("no method")?;
            let outer = class.split('$').next().unwrap_or(class);
            let file = format!("{}.java", outer.replace('.', "/"));
            for spot in spots.iter().filter(|spot| spot.file.ends_with(&file)) {
                is_in_class = true;
                for (version, line, count) in [
                    ("passing", spot.old, spot.removed.len()),
                    ("failing", spot.new, spot.added.len()),
                ] {
                    let here = line + 1..line + 1 + count;
                    let lines = self.method(jdk, version, class, method)?;
                    if lines.is_some_and(|lines| here.into_iter().any(|at| lines.contains(&at))) {
                        return Ok(Place::Method);
                    }
                }
            }
        }
        ensure!(
            is_in_class,
            "{}: no line is in the class of {}: {:#}",
            self.subject.case.name,
            self.subject.case.fix.join(" or "),
            self.report["changes"]
        );
        Ok(Place::Class)
    }

    /// The lines of a method, by the line numbers that the compiler gave its code. The line before
    /// them is that of its head.
    fn method(
        &self,
        jdk: &Jdk,
        version: &str,
        class: &str,
        method: &str,
    ) -> anyhow::Result<Option<RangeInclusive<usize>>> {
        let folder = self.variants.join(version);
        if !folder.join("classes").exists() {
            shell(&folder, &self.subject.build)?;
        }
        let javap = jdk.tool("javap");
        let script = format!("{} -l -p -cp classes '{class}'", javap.display());
        let (_, told) = tried(&folder, &script)?;
        let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
        let name = match method {
            "<init>" => simple,
            other => other,
        };
        let (mut inside, mut lines) = (false, Vec::new());
        for line in told.lines() {
            match line.trim().strip_prefix("line ") {
                Some(rest) if inside => {
                    let number = rest.split(':').next().unwrap_or_default();
                    lines.push(number.parse::<usize>()?);
                }
                Some(_) => {}
                None if line.ends_with(';') => {
                    let head = line.split('(').next().unwrap_or_default();
                    let last = head.rsplit([' ', '.', '$']).next();
                    inside = line.contains('(') && last == Some(name);
                }
                None => {}
            }
        }
        let (first, last) = (lines.iter().min(), lines.iter().max());
        Ok(first.zip(last).map(|(first, last)| first - 1..=*last))
    }

    /// Checks that the failing version passes or has no verdict without any one of the changes; how
    /// many were tried.
    pub fn is_minimal(&self, work: &Path) -> anyhow::Result<usize> {
        let spots = self.spots()?;
        let failing = self.variants.join("failing");
        ensure!(
            self.verdict(&self.variants.join("passing"))? == Verdict::Passes,
            "{}: the passing version does not pass",
            self.subject.case.name
        );
        ensure!(
            self.verdict(&failing)? == Verdict::Fails,
            "{}: the failing version does not fail",
            self.subject.case.name
        );
        for spot in &spots {
            if work.exists() {
                fs::remove_dir_all(work)?;
            }
            shell(
                &self.variants,
                &format!("cp -r failing {0} && rm -rf {0}/classes", work.display()),
            )?;
            self.take_back(spot, work)?;
            let verdict = self.verdict(work)?;
            ensure!(
                verdict != Verdict::Fails,
                "{}: it still fails without {}:{} {:?} {:?}",
                self.subject.case.name,
                spot.file,
                spot.new + 1,
                spot.removed,
                spot.added
            );
        }
        Ok(spots.len())
    }

    fn verdict(&self, folder: &Path) -> anyhow::Result<Verdict> {
        let (built, _) = tried(folder, &self.subject.build)?;
        if built != 0 {
            return Ok(Verdict::Unresolved);
        }
        let (status, said) = tried(folder, &self.subject.test)?;
        Ok(match status {
            0 => Verdict::Passes,
            _ if said.contains(&self.subject.case.failure) => Verdict::Fails,
            _ => Verdict::Unresolved,
        })
    }

    /// Takes one change back in a copy of the failing version.
    fn take_back(&self, spot: &Spot, copy: &Path) -> anyhow::Result<()> {
        let path = copy.join(&spot.file);
        let before = self.variants.join("passing").join(&spot.file);
        match spot.what.as_deref() {
            None => {
                let mut lines = lines_of(&path)?;
                let range = spot.new..spot.new + spot.added.len();
                lines.splice(range, spot.removed.clone());
                fs::write(&path, joined(&lines))?;
            }
            Some("new file") => fs::remove_file(&path)?,
            Some(what) if what.starts_with("renamed from ") => {
                let old = copy.join(&what["renamed from ".len()..]);
                if let Some(folder) = old.parent() {
                    fs::create_dir_all(folder)?;
                }
                fs::rename(&path, old)?;
            }
            Some(_) => drop(fs::copy(before, &path)?),
        }
        Ok(())
    }

    /// The changes of the report in order, found in both versions by going through them side by side.
    fn spots(&self) -> anyhow::Result<Vec<Spot>> {
        let mut found: Vec<Spot> = Vec::new();
        let (mut old, mut new) = (0, 0);
        let changes = self.report["changes"].as_array().context("no changes")?;
        let mut at: Option<(String, Vec<String>, Vec<String>)> = None;
        for change in changes {
            let texts = |key: &str| -> Vec<String> {
                let lines = change[key].as_array().into_iter().flatten();
                lines
                    .filter_map(|line| Some(line.as_str()?.to_owned()))
                    .collect()
            };
            let file = change["file"].as_str().context("no file")?.to_owned();
            let (removed, added) = (texts("removed"), texts("added"));
            let what = change["what"].as_str().map(str::to_owned);
            if at.as_ref().is_none_or(|(name, _, _)| *name != file) {
                let read = |version: &str| {
                    lines_of(&self.variants.join(version).join(&file)).unwrap_or_default()
                };
                at = Some((file.clone(), read("passing"), read("failing")));
                (old, new) = (0, 0);
            }
            if let (None, Some((_, passing, failing))) = (&what, &at) {
                while old < passing.len() && new < failing.len() && passing[old] == failing[new] {
                    (old, new) = (old + 1, new + 1);
                }
                let is_here =
                    passing[old..].starts_with(&removed) && failing[new..].starts_with(&added);
                ensure!(is_here, "{file}: {change} is not in the versions");
            }
            found.push(Spot {
                file,
                what,
                old,
                new,
                removed: removed.clone(),
                added: added.clone(),
            });
            (old, new) = (old + removed.len(), new + added.len());
        }
        Ok(found)
    }
}

/// The lines of a file without their ends, byte for character.
fn lines_of(file: &Path) -> anyhow::Result<Vec<String>> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().map(str::to_owned).collect())
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}
