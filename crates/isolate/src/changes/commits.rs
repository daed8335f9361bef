//! Versions that are sets of commits.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use culprit_reduce::{DeltaSet, Problem, Verdict};

use super::Error;
use super::course::{Course, Found, Versions, Work};
use super::git::Repository;
use super::history::{History, Version};
use super::sides;
use super::tree::Tree;
use super::trial::Trial;
use crate::Digest;

/// Versions of a history.
pub(crate) struct Checkouts<'c> {
    pub(crate) repository: &'c Repository,
    pub(crate) history: &'c History,
    /// A folder of ours for versions on their way to a bench.
    pub(crate) folder: &'c Path,
    /// The work tree as it was when we began.
    pub(crate) work_tree: Option<&'c Tree>,
    pub(crate) number: AtomicU64,
}

impl Checkouts<'_> {
    /// The tree of a version in Git; `Err` says why there is none. The work tree has none.
    fn tree_of(&self, version: &Version) -> Result<Result<Option<String>, String>, Error> {
        let Version::Commits(heads) = version else {
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

    /// Does something with the files of a version. `Err` says why it has none.
    pub(crate) fn with<T>(
        &self,
        set: &DeltaSet,
        work: impl FnOnce(&Tree) -> Result<T, Error>,
    ) -> Result<Result<T, String>, Error> {
        let tree = match self.tree_of(&self.history.version(set))? {
            Ok(tree) => tree,
            Err(why) => return Ok(Err(why)),
        };
        let Some(tree) = tree else {
            let tree = self.work_tree.ok_or(Error::NoWorkTree)?;
            return work(tree).map(Ok);
        };
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(number.to_string());
        let done = match self.repository.check_out(&tree, &folder) {
            // A version of long ago may want a commit that is no more.
            Err(error @ Error::OldSubmodule(_)) => Ok(Err(error.to_string())),
            Err(error) => Err(error),
            Ok(()) => work(&Tree::read(&folder)?).map(Ok),
        };
        std::fs::remove_dir_all(&folder).map_err(Error::at(&folder))?;
        done
    }

    /// Copies a version into a folder.
    pub(crate) fn copy(&self, set: &DeltaSet, folder: &Path) -> Result<Tree, Error> {
        match self.tree_of(&self.history.version(set))? {
            Ok(Some(tree)) => self.repository.check_out(&tree, folder)?,
            Ok(None) => sides::copy_tree(self.work_tree.ok_or(Error::NoWorkTree)?, folder)?,
            Err(why) => return Err(Error::Search(why)),
        }
        Tree::read(folder)
    }
}

impl Versions for Checkouts<'_> {
    fn digest(&self, set: &DeltaSet) -> Result<Result<Digest, String>, Error> {
        let tree = self.tree_of(&self.history.version(set))?;
        Ok(tree.map(|tree| match tree {
            Some(id) => Digest::of(id.as_bytes()),
            None => Digest::of(sides::WORK_TREE.as_bytes()),
        }))
    }

    fn judge(
        &self,
        set: &DeltaSet,
        trial: &Trial<'_>,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Verdict<String>, Error> {
        let judged = self.with(set, |tree| trial.judge(tree, None, wanted))?;
        Ok(judged.unwrap_or_else(Verdict::Unresolved))
    }
}

impl Course<'_> {
    /// Narrows a history down to the commits that decide: those that pass and those that fail.
    pub(crate) fn narrow_history(
        &mut self,
        versions: &Checkouts<'_>,
    ) -> Result<(DeltaSet, DeltaSet), Error> {
        let history = versions.history;
        let work = Work {
            name: "commits",
            problem: Problem::new(history.size()).needs(history.needs()),
            units: history.size(),
            share: 1.0,
            versions,
            deltas: &DeltaSet::len,
            learn: &mut |_, _| false,
        };
        match self.search(work)? {
            Found::Sets { passing, failing } | Found::Again { passing, failing } => {
                Ok((passing, failing))
            }
        }
    }
}
