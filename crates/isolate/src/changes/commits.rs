//! Versions that are sets of commits.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use culprit_reduce::{Artefact, ArtefactOracle, DeltaSet, Problem, Verdict, Wanted};

use super::Error;
use super::git::Repository;
use super::history::{CommitVersion, History};
use super::session::{LevelSearch, Session};
use super::sides;
use super::tree::FileTree;
use super::trial::Trial;
use crate::Digest;

/// Versions of a history.
pub(crate) struct Checkouts<'c> {
    pub(crate) repository: &'c Repository,
    pub(crate) history: &'c History,
    /// A folder of ours for versions on their way to a build folder.
    pub(crate) folder: &'c Path,
    /// The work tree as it was when we began.
    pub(crate) work_tree: Option<&'c FileTree>,
    pub(crate) number: AtomicU64,
}

impl Checkouts<'_> {
    /// The tree of a version in Git; `Err` says why there is none. The work tree has none.
    fn tree_of(&self, version: &CommitVersion) -> Result<Result<Option<String>, String>, Error> {
        let CommitVersion::Commits(heads) = version else {
            return Ok(Ok(None));
        };
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        match self.repository.merged(&heads) {
            Ok(Some(tree)) => Ok(Ok(Some(tree))),
            Ok(None) => Ok(Err("does not apply: its branches do not merge".to_owned())),
            Err(error @ Error::OldGit) => Ok(Err(error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// Judges the files of a version.
    fn judge(
        &self,
        version: &Checkout,
        trial: &Trial<'_>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Verdict<String>, Error> {
        let Checkout::Tree(tree) = version else {
            let tree = self.work_tree.ok_or(Error::NoWorkTree)?;
            return trial.judge(tree, None, wanted);
        };
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(number.to_string());
        let judged = match self.repository.check_out(tree, &folder) {
            // A version of long ago may want a commit that is no more.
            Err(error @ Error::OldSubmodule(_)) => Ok(Verdict::Unresolved(error.to_string())),
            Err(error) => Err(error),
            Ok(()) => trial.judge(&FileTree::read(&folder)?, None, wanted),
        };
        std::fs::remove_dir_all(&folder).map_err(Error::at(&folder))?;
        judged
    }

    /// A version to test; its flaw says why there is none.
    pub(crate) fn artefact(&self, set: &DeltaSet) -> Result<Artefact<Checkout>, Error> {
        let (digest, content) = match self.tree_of(&self.history.version(set))? {
            Ok(Some(id)) => (Digest::of(id.as_bytes()), Ok(Checkout::Tree(id))),
            Ok(None) => {
                let digest = Digest::of(sides::WORK_TREE.as_bytes());
                (digest, Ok(Checkout::WorkTree))
            }
            Err(why) => (set.digest(), Err(why)),
        };
        Ok(Artefact {
            digest,
            size: set.len(),
            content,
        })
    }

    /// Copies a version into a folder.
    pub(crate) fn copy(&self, set: &DeltaSet, folder: &Path) -> Result<FileTree, Error> {
        match self.tree_of(&self.history.version(set))? {
            Ok(Some(tree)) => self.repository.check_out(&tree, folder)?,
            Ok(None) => sides::copy_tree(self.work_tree.ok_or(Error::NoWorkTree)?, folder)?,
            Err(why) => return Err(Error::Search(why)),
        }
        FileTree::read(folder)
    }
}

/// The files of a version: a tree of Git, or the work tree.
pub(crate) enum Checkout {
    Tree(String),
    WorkTree,
}

/// The oracle of a history: tests of merged commits.
struct Merges<'m> {
    checkouts: &'m Checkouts<'m>,
    trial: &'m Trial<'m>,
}

impl ArtefactOracle for Merges<'_> {
    type Content = Checkout;
    type Error = Error;

    fn make(&self, set: &DeltaSet) -> Result<Artefact<Checkout>, Error> {
        self.checkouts.artefact(set)
    }

    fn judge(&self, version: &Checkout, wanted: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        self.checkouts
            .judge(version, self.trial, &|| wanted.still())
    }
}

impl Session<'_> {
    /// Narrows a history down to the commits that decide: those that pass and those that fail.
    pub(crate) fn narrow_history(
        &mut self,
        checkouts: &Checkouts<'_>,
    ) -> Result<(DeltaSet, DeltaSet), Error> {
        let history = checkouts.history;
        let search = LevelSearch {
            name: "commits",
            problem: Problem::new(history.size()).needs(history.needs()),
            share: 1.0,
            learn: &mut |_| false,
        };
        let trial = self.trial;
        let merges = Merges {
            checkouts,
            trial: &trial,
        };
        let found = self.search(search, &merges)?;
        Ok((found.passing, found.failing))
    }
}
