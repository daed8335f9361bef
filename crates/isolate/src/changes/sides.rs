//! The two versions, copied into folders of ours before anything runs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Error;
use super::git::{Git, Repository};
use super::git_output::Submodule;
use super::link_guard::LinkGuard;
use super::tree::FileTree;

/// The name of the work tree where a revision is asked for.
pub const WORK_TREE: &str = "WORKTREE";

/// A version as the user names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VersionSource {
    /// A folder.
    Folder(PathBuf),
    /// A commit, by its full name, and as the user wrote it.
    Commit {
        /// The full name.
        id: String,
        /// As the user wrote it.
        name: String,
    },
    /// The files of the work tree as they are.
    WorkTree,
}

impl VersionSource {
    /// What the user means by a word: a revision if there is one of that name, or a folder.
    pub fn find(
        word: &OsStr,
        directory: &Path,
        git: &Git,
        repository: &mut Option<Repository>,
    ) -> Result<VersionSource, Error> {
        let folder = directory.join(word);
        let found = match repository {
            Some(_) => Ok(()),
            None => Repository::find(directory, git).map(|found| *repository = Some(found)),
        };
        let refused = match (found, repository) {
            (Ok(()), Some(repository)) if word == WORK_TREE => {
                return match repository.work_tree() {
                    Some(_) => Ok(VersionSource::WorkTree),
                    None => Err(Error::NoWorkTree),
                };
            }
            (Ok(()), Some(repository)) => match repository.resolve(&word.to_string_lossy()) {
                Ok(id) => {
                    let name = word.to_string_lossy().into_owned();
                    return Ok(VersionSource::Commit { id, name });
                }
                Err(error) => error,
            },
            (Err(error), _) => error,
            (Ok(()), None) => Error::NoGit,
        };
        match folder.is_dir() {
            true => Ok(VersionSource::Folder(folder)),
            false => Err(refused),
        }
    }

    /// As the user would write it.
    pub fn name(&self) -> String {
        match self {
            VersionSource::Folder(path) => path.display().to_string(),
            VersionSource::Commit { name, .. } => name.clone(),
            VersionSource::WorkTree => "the work tree".to_owned(),
        }
    }

    /// Submodules that it is to have and the user has not got; it is tested without them.
    pub fn absent_submodules(&self, repository: &Repository) -> Result<Vec<Submodule>, Error> {
        match self {
            VersionSource::Folder(_) => Ok(Vec::new()),
            VersionSource::Commit { id, .. } => {
                repository.absent_submodules(&repository.tree_of(id)?)
            }
            VersionSource::WorkTree => repository.absent_of_work_tree(),
        }
    }

    /// Copies the version into a folder of ours, which is empty. What is in the folder for results is
    /// no part of it; Git overlooks that by itself.
    pub(crate) fn copy(
        &self,
        repository: Option<&Repository>,
        results: &Path,
        folder: &Path,
    ) -> Result<FileTree, Error> {
        match self {
            VersionSource::Folder(from) => {
                copy_tree(&FileTree::read_without(from, results)?, folder)?
            }
            VersionSource::Commit { id, .. } => {
                let repository = repository.ok_or(Error::NoGit)?;
                repository.check_out(&repository.tree_of(id)?, folder)?;
            }
            VersionSource::WorkTree => {
                let repository = repository.ok_or(Error::NoWorkTree)?;
                repository.copy_work_tree(folder)?;
            }
        }
        FileTree::read(folder)
    }
}

/// Writes all files of a tree into a folder.
pub(crate) fn copy_tree(tree: &FileTree, folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(Error::at(folder))?;
    let mut guard = LinkGuard::below(folder);
    for (path, entry) in &tree.0 {
        guard.write(path, entry)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::git::fixture::{ScriptedRepository, git};
    use super::*;

    #[test]
    fn a_word_is_a_revision_before_it_is_a_folder() {
        let made =
            ScriptedRepository::by("mkdir old; echo x >old/f; commit one; git tag v1; mkdir v1 v2");
        let folder = made.folder.path();
        let find = |word: &str| VersionSource::find(word.as_ref(), folder, &git(), &mut None);
        assert!(matches!(find("v1"), Ok(VersionSource::Commit { .. })));
        assert!(matches!(find("v2"), Ok(VersionSource::Folder(_))));
        assert!(matches!(find("WORKTREE"), Ok(VersionSource::WorkTree)));
        assert!(matches!(find("v3"), Err(Error::NoRevision { .. })));
        let outside = tempfile::tempdir().unwrap();
        std::fs::create_dir(outside.path().join("a")).unwrap();
        let find =
            |word: &str| VersionSource::find(word.as_ref(), outside.path(), &git(), &mut None);
        assert!(matches!(find("a"), Ok(VersionSource::Folder(_))));
        assert!(matches!(find("b"), Err(Error::NoRepository { .. })));
    }
}
