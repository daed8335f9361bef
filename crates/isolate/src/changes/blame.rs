//! Who changed the lines that decide, when, and in which commit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Error;
use super::difference::{DeltaKind, Difference};
use super::git::Repository;
use super::git_output::Commit;
use super::isolation::Isolation;

/// Changes whose commits are looked for, at most: so many are no result yet.
const LOOKED_UP: u64 = 200;

/// One change that decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The file, in the failing version if it is there.
    pub path: String,
    /// What changed, other than lines.
    pub what: Option<String>,
    /// The modes of the file in both versions as Git writes them, where it changes them.
    pub modes: Option<(&'static str, &'static str)>,
    /// The first of the lines that it takes away, from 1.
    pub old_line: Option<usize>,
    /// The first of the lines that it brings, from 1.
    pub new_line: Option<usize>,
    /// Lines that it takes away.
    pub removed: Vec<String>,
    /// Lines that it brings.
    pub added: Vec<String>,
    /// Where it is from.
    pub origin: ChangeOrigin,
}

/// The origin of a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChangeOrigin {
    /// It cannot be told: there is no history, or Git does not tell.
    Unknown,
    /// Nobody waited for it, or there are too many.
    NotLookedUp,
    /// From the work tree: no commit has it.
    Uncommitted,
    /// From a commit.
    Commit(Box<Commit>),
}

/// The source of the difference of an isolation.
pub(crate) enum DifferenceSource<'s> {
    Unknown,
    Uncommitted,
    /// All of it is from one commit.
    One(&'s Commit),
    /// It lies between two commits.
    Between {
        since: &'s str,
        at: &'s str,
    },
}

/// The changes that decide. What Git cannot tell of them is unknown, and it is asked as long as that is
/// wanted.
pub(crate) fn changes(
    found: &Isolation,
    source: &DifferenceSource<'_>,
    repository: Option<&Repository>,
    wanted: &dyn Fn() -> bool,
) -> Vec<Change> {
    let mut history = repository.map(|repository| Blamed {
        repository,
        lines: BTreeMap::new(),
        next: BTreeMap::new(),
        commits: BTreeMap::new(),
    });
    let deltas = found.deltas();
    let mut changes = Vec::new();
    for delta in deltas.iter() {
        let mut change = change(&found.difference, delta);
        change.origin = match (source, &mut history) {
            (DifferenceSource::Uncommitted, _) => ChangeOrigin::Uncommitted,
            (DifferenceSource::One(commit), _) => ChangeOrigin::Commit(Box::new((*commit).clone())),
            (DifferenceSource::Between { .. }, Some(_))
                if deltas.len() > LOOKED_UP || !wanted() =>
            {
                ChangeOrigin::NotLookedUp
            }
            (DifferenceSource::Between { since, at }, Some(history)) => history
                .origin(&found.difference, delta, since, at)
                .unwrap_or(ChangeOrigin::Unknown),
            _ => ChangeOrigin::Unknown,
        };
        changes.push(change);
    }
    changes
}

fn change(difference: &Difference, delta: u64) -> Change {
    let (file, part) = difference.locate(delta);
    let mut change = Change {
        path: file.shown_path().display().to_string(),
        what: None,
        modes: difference.modes(delta),
        old_line: None,
        new_line: None,
        removed: Vec::new(),
        added: Vec::new(),
        origin: ChangeOrigin::Unknown,
    };
    match (part, &file.script) {
        (DeltaKind::Edit(number), Some(script)) => {
            let edit = &script.edits[number];
            let first =
                |lines: &std::ops::Range<usize>| (!lines.is_empty()).then_some(lines.start + 1);
            change.old_line = first(&edit.old);
            change.new_line = first(&edit.new);
            (change.removed, change.added) = script.shown(edit);
        }
        _ => change.what = Some(difference.what(delta)),
    }
    change
}

/// What Git says of lines, asked once for each file.
struct Blamed<'r> {
    repository: &'r Repository,
    lines: BTreeMap<(ChangeDirection, PathBuf), Vec<Option<String>>>,
    /// The commits that touched files first after others.
    next: BTreeMap<(String, PathBuf), Option<String>>,
    commits: BTreeMap<String, Commit>,
}

impl Blamed<'_> {
    fn origin(
        &mut self,
        difference: &Difference,
        delta: u64,
        since: &str,
        at: &str,
    ) -> Result<ChangeOrigin, Error> {
        let (file, part) = difference.locate(delta);
        let side =
            |side: &Option<(std::path::PathBuf, _)>| side.as_ref().map(|(path, _)| path.clone());
        let id = match (part, &file.script, side(&file.old), side(&file.new)) {
            (DeltaKind::Edit(number), Some(script), old, new) => {
                let edit = &script.edits[number];
                match (edit.new.is_empty(), old, new) {
                    (false, _, Some(path)) => {
                        self.line(since, at, &path, edit.new.start, ChangeDirection::Added)?
                    }
                    (_, Some(path), _) => {
                        self.line(since, at, &path, edit.old.start, ChangeDirection::Removed)?
                    }
                    _ => None,
                }
            }
            (_, _, old, new) => {
                let path = new.or(old).unwrap_or_default();
                self.repository.last_touched(since, at, &path)?
            }
        };
        match id {
            Some(id) => {
                if !self.commits.contains_key(&id) {
                    let described = self.repository.describe(&[&id])?.into_iter();
                    self.commits.extend(described.map(|it| (it.id.clone(), it)));
                }
                let commit = self.commits.get(&id);
                Ok(commit.map_or(ChangeOrigin::Unknown, |it| {
                    ChangeOrigin::Commit(Box::new(it.clone()))
                }))
            }
            None => Ok(ChangeOrigin::Unknown),
        }
    }

    /// The commit that brought a line, or the one that took it away.
    fn line(
        &mut self,
        since: &str,
        at: &str,
        path: &Path,
        line: usize,
        direction: ChangeDirection,
    ) -> Result<Option<String>, Error> {
        let key = (direction, path.to_owned());
        if !self.lines.contains_key(&key) {
            let found = match direction {
                ChangeDirection::Added => self.repository.blame(since, at, path),
                ChangeDirection::Removed => {
                    let seen = self.repository.last_seen(since, at, path);
                    seen.map(|ids| ids.into_iter().map(Some).collect())
                }
            };
            // A file of a submodule is not in the history of the repository around it.
            self.lines.insert(key.clone(), found.unwrap_or_default());
        }
        let Some(Some(id)) = self.lines[&key].get(line) else {
            return Ok(None);
        };
        match direction {
            ChangeDirection::Added => Ok(Some(id.clone())),
            ChangeDirection::Removed => {
                let key = (id.clone(), path.to_owned());
                if !self.next.contains_key(&key) {
                    let next = self.repository.next_touched(id, at, path)?;
                    self.next.insert(key.clone(), next);
                }
                Ok(self.next[&key].clone())
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ChangeDirection {
    Added,
    Removed,
}
