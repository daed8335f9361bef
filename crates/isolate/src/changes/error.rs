//! Why changes cannot be isolated.

use std::io;
use std::path::{Path, PathBuf};

use culprit_jvm::LaunchError;

use super::Submodule;
use crate::How;

/// What stands in the way.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something on disk cannot be read or written.
    #[error("cannot use {}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A folder is in no repository.
    #[error("{} is in no Git repository: {message}", .path.display())]
    NoRepository {
        /// The folder.
        path: PathBuf,
        /// What Git says.
        message: String,
    },
    /// Git does not read what belongs to another user.
    #[error("Git refuses the repository of {}: it belongs to somebody else", .path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// The command that Git says allows it.
        allow: String,
    },
    /// A revision is not known.
    #[error("there is no revision {revision}{}", shallow(.is_shallow))]
    NoRevision {
        /// As the user wrote it.
        revision: String,
        /// Whether the repository has only the last commits.
        is_shallow: bool,
    },
    /// A submodule that differs is not there.
    #[error("the submodule {} is missing, and the versions have it at different commits", .0.path.display())]
    NoSubmodule(Submodule),
    /// A submodule is there without a commit.
    #[error("the submodule {} has no commit {}", .0.path.display(), .0.commit)]
    OldSubmodule(Submodule),
    /// The repository has no work tree.
    #[error("the repository has no work tree")]
    NoWorkTree,
    /// There is no Git.
    #[error("there is no git on PATH")]
    NoGit,
    /// Git cannot merge outside of a work tree.
    #[error("its branches cannot be merged: this needs Git 2.38 or newer")]
    OldGit,
    /// Git could not do something.
    #[error("git {command}: {message}")]
    Git {
        /// The command of Git.
        command: String,
        /// What it says.
        message: String,
    },
    /// Git took longer than there was time.
    #[error("git {command} has not ended after {seconds} s")]
    GitLate {
        /// The command of Git.
        command: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// A program could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The test could not be run.
    #[error(transparent)]
    Test(#[from] crate::Error),
    /// Both versions are the same.
    #[error("both versions are the same")]
    NoDifference,
    /// The bad version is of no use.
    #[error("the bad version: {0}")]
    Bad(#[from] crate::Unfit),
    /// The bad version cannot be built.
    #[error("the bad version {why}")]
    NotBuilt {
        /// How the build ended.
        how: How,
        /// What it said.
        why: String,
        /// The last lines that it printed.
        printed: String,
    },
    /// The good version fails as the bad one does.
    #[error("the good version fails too: {how}")]
    GoodFails {
        /// The failure.
        how: String,
        /// The last lines that the failing test printed.
        printed: String,
    },
    /// The bad version passes, and the good one fails.
    #[error("the test passes on the bad version and fails on the good one: {0}")]
    Swapped(String),
    /// The good version neither passes nor fails.
    #[error("the good version has no verdict: it {0}")]
    GoodUnresolved(String),
    /// A journal cannot be used.
    #[error(transparent)]
    Journal(#[from] culprit_reduce::JournalError),
    /// The journals are of a search that differs in these parts.
    #[error("the verdicts there belong to another search: {}", .0.join("; "))]
    OtherVerdicts(Vec<String>),
    /// Nobody waits for an answer any more, and there is none yet.
    #[error("interrupted before the good version was seen to pass: there is no result")]
    Interrupted,
    /// So many tests, or so much time, are not enough for any answer.
    #[error("the limit of tests or time was reached before the good version was seen to pass")]
    Spent,
    /// The search went wrong.
    #[error("the search failed: {0}")]
    Search(String),
}

fn shallow(is_shallow: &bool) -> &'static str {
    match is_shallow {
        true => " (the clone is shallow)",
        false => "",
    }
}

impl Error {
    /// An error of the system about a path.
    pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
        move |source| Error::Io {
            path: path.to_owned(),
            source,
        }
    }
}
