//! `report.json` of `culprit isolate changes`, and the lines of its `candidates.jsonl`.

use culprit_isolate::changes::reason_in;
use culprit_reduce::Tested;
use serde::{Deserialize, Serialize};

use crate::document::Content;
use crate::isolate::{Rate, Verdict, seconds};

/// The result of `culprit isolate changes`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangesDocument {
    /// The kind of isolation.
    pub kind: ChangesKind,
    /// The command that found it, without the folder for results.
    pub command: String,
    /// The version that passes.
    pub good: String,
    /// The version that fails.
    pub bad: String,
    /// The failure.
    pub failure: String,
    /// Runs of the bad version that failed.
    pub rate: Rate,
    /// Runs of each candidate, at most.
    pub runs_of_each: u32,
    /// Versions that were tested.
    pub tests: u64,
    /// Processes that runs left behind; they were ended.
    pub strays: u64,
    /// The duration of the search.
    pub seconds: f64,
    /// Whether the result is 1-minimal.
    pub minimal: bool,
    /// Whether the result was confirmed in new folders; null if it was not run there.
    pub confirmed: Option<bool>,
    /// The commits that decide, if there were any to choose from.
    pub commits: Option<Commits>,
    /// The size of the difference that was taken apart.
    pub difference: Difference,
    /// The changes that decide.
    pub changes: Vec<Change>,
    /// Checks of the result, each in a new folder.
    pub checks: Checks,
    /// The version that the difference begins with, in words.
    pub begin: String,
    /// The version that the difference ends with, in words.
    pub end: String,
    /// The file in the result folder with the changes.
    pub patch: String,
    /// The file in the result folder with the changes that must come before, if any.
    pub context: Option<String>,
    /// A paragraph for a bug report, in Markdown.
    pub bug_report: String,
}

/// The kind of isolation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ChangesKind {
    /// A difference between two versions of a program was reduced.
    Changes,
}

/// Commits that decide.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Commits {
    /// The number of commits between the two versions.
    pub of: u64,
    /// The commits that decide.
    pub left: Vec<Commit>,
    /// Commits of other branches that these fail together with.
    pub with: Vec<Commit>,
    /// Whether uncommitted changes are among them.
    pub work_tree: bool,
    /// The ids of the commits that pass when merged: the difference begins there.
    pub passing: Vec<String>,
    /// The ids of the commits that fail when merged: the difference ends there.
    pub failing: Vec<String>,
}

/// A commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Commit {
    /// Its full id.
    pub id: String,
    /// Its author.
    pub author: String,
    /// The author's address.
    pub mail: String,
    /// Its date, as in ISO 8601.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// The size of the difference between two versions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// Files that differ.
    pub files: usize,
    /// Places in them.
    pub places: usize,
    /// Single changes: lines and the like.
    pub deltas: u64,
}

/// A change that decides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The file, by its path in the failing version if it exists there.
    pub file: String,
    /// A change other than one of lines.
    pub what: Option<String>,
    /// The mode of the file in the passing version as Git writes it, if it changes.
    pub old_mode: Option<String>,
    /// The mode of the file in the failing version as Git writes it, if it changes.
    pub new_mode: Option<String>,
    /// The first removed line, from 1.
    pub old_line: Option<usize>,
    /// The first added line, from 1.
    pub new_line: Option<usize>,
    /// Removed lines.
    pub removed: Vec<String>,
    /// Added lines.
    pub added: Vec<String>,
    /// The commit that made it; null if Git does not tell.
    pub commit: Option<Origin>,
}

/// The origin of a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Origin {
    /// A commit.
    Commit(Box<Commit>),
    /// No commit is named.
    Unnamed(NoCommit),
}

/// The reason why no commit is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum NoCommit {
    /// The change is in the work tree only.
    #[serde(rename = "uncommitted")]
    Uncommitted,
    /// There was no time, or there are too many changes.
    #[serde(rename = "not looked up")]
    NotLookedUp,
}

/// Verdicts on the result, each in a new folder; null where there was no time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Checks {
    /// The version that passes.
    pub passing: Option<Verdict>,
    /// The version that fails.
    pub failing: Option<Verdict>,
    /// The version that the difference begins with, with these changes alone.
    pub alone: Option<Verdict>,
    /// The version that the difference ends with, without these changes.
    pub without: Option<Verdict>,
    /// The bad version without these changes.
    pub reverted: Option<Verdict>,
    /// The reasons of the checks that have no verdict.
    #[serde(default)]
    pub no_verdict: NoVerdict,
}

/// For each check the reason why it has no verdict; null if it has one or was not made.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NoVerdict {
    /// The version that passes.
    pub passing: Option<String>,
    /// The version that fails.
    pub failing: Option<String>,
    /// The version that the difference begins with, with these changes alone.
    pub alone: Option<String>,
    /// The version that the difference ends with, without these changes.
    pub without: Option<String>,
    /// The bad version without these changes.
    pub reverted: Option<String>,
}

impl Content for ChangesDocument {
    const NAME: &'static str = "isolate-changes";
}

impl From<&culprit_isolate::changes::Commit> for Commit {
    fn from(commit: &culprit_isolate::changes::Commit) -> Commit {
        Commit {
            id: commit.id.clone(),
            author: commit.author.clone(),
            mail: commit.mail.clone(),
            date: commit.date.clone(),
            subject: commit.subject.clone(),
        }
    }
}

impl From<&culprit_isolate::changes::Commits> for Commits {
    fn from(commits: &culprit_isolate::changes::Commits) -> Commits {
        Commits {
            of: commits.of,
            left: commits.left.iter().map(Commit::from).collect(),
            with: commits.met().map(Commit::from).collect(),
            work_tree: commits.has_work_tree,
            passing: commits.passing.iter().map(|it| it.id.clone()).collect(),
            failing: commits.failing.iter().map(|it| it.id.clone()).collect(),
        }
    }
}

impl From<&culprit_isolate::changes::Change> for Change {
    fn from(change: &culprit_isolate::changes::Change) -> Change {
        use culprit_isolate::changes::ChangeOrigin;
        Change {
            file: change.path.clone(),
            what: change.what.clone(),
            old_mode: change.modes.map(|(old, _)| old.to_owned()),
            new_mode: change.modes.map(|(_, new)| new.to_owned()),
            old_line: change.old_line,
            new_line: change.new_line,
            removed: change.removed.clone(),
            added: change.added.clone(),
            commit: match &change.origin {
                ChangeOrigin::Commit(commit) => {
                    Some(Origin::Commit(Box::new(commit.as_ref().into())))
                }
                ChangeOrigin::Uncommitted => Some(Origin::Unnamed(NoCommit::Uncommitted)),
                ChangeOrigin::NotLookedUp => Some(Origin::Unnamed(NoCommit::NotLookedUp)),
                ChangeOrigin::Unknown => None,
            },
        }
    }
}

/// A line of `candidates.jsonl`: the verdict on one candidate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangesCandidate {
    /// The number of the test.
    pub test: u64,
    /// The parts that are removed: `commits`, `files`, ..., `lines`.
    pub level: String,
    /// Parts in the candidate.
    pub units: u64,
    /// Single changes in the candidate; of commits, commits.
    pub deltas: u64,
    /// Parts that are left to decide.
    pub left: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The outcome of the test.
    pub reason: String,
    /// Seconds since the search began.
    pub seconds: f64,
    /// Whether the verdict was in the journal of an earlier run.
    pub from_journal: bool,
}

impl From<&Tested> for ChangesCandidate {
    fn from(tested: &Tested) -> ChangesCandidate {
        ChangesCandidate {
            test: tested.number,
            level: tested.search.clone(),
            units: tested.units,
            deltas: tested.size,
            left: tested.left,
            verdict: tested.kind.into(),
            reason: reason_in(&tested.detail).to_owned(),
            seconds: seconds(tested.elapsed, 3),
            from_journal: tested.is_replayed,
        }
    }
}
