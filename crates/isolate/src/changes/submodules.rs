//! Submodules: repositories inside a version, at a commit each.

use std::path::{Path, PathBuf};

use super::Error;
use super::git::Repository;
use super::git_output::{self, Submodule};

impl Repository {
    /// Submodules of a tree that the user has not got, and those inside others. They are left empty, as
    /// Git leaves them.
    pub(super) fn absent_submodules(&self, tree: &str) -> Result<Vec<Submodule>, Error> {
        self.absent(self.submodules(tree)?)
    }

    /// Those of the work tree.
    pub(super) fn absent_of_work_tree(&self) -> Result<Vec<Submodule>, Error> {
        let out = self.answer(&["ls-files", "--stage", "-z"])?;
        self.absent(git_output::submodules(&out))
    }

    fn absent(&self, all: Vec<Submodule>) -> Result<Vec<Submodule>, Error> {
        let mut found = Vec::new();
        for submodule in all {
            let Some(place) = self.place_of(&submodule) else {
                found.push(submodule);
                continue;
            };
            // Whether it has the commit shows when it is checked out.
            let inner = self.inside(&place)?;
            let Ok(commit) = inner.resolve(&submodule.commit) else {
                continue;
            };
            let below = inner.absent_submodules(&inner.tree_of(&commit)?)?;
            found.extend(below.into_iter().map(|it| Submodule {
                path: submodule.path.join(it.path),
                commit: it.commit,
            }));
        }
        Ok(found)
    }

    /// Writes the files of a tree's submodules, but for those that the user has not got.
    pub(super) fn check_out_submodules(&self, tree: &str, folder: &Path) -> Result<(), Error> {
        for submodule in self.submodules(tree)? {
            if let Some(place) = self.place_of(&submodule) {
                let inner = self.inside(&place)?;
                let commit = inner
                    .resolve(&submodule.commit)
                    .map_err(|_| Error::OldSubmodule(submodule.clone()))?;
                inner.check_out(&inner.tree_of(&commit)?, &folder.join(&submodule.path))?;
            }
        }
        Ok(())
    }

    fn submodules(&self, tree: &str) -> Result<Vec<Submodule>, Error> {
        let out = self.answer(&["ls-tree", "-r", "-z", "--full-tree", tree])?;
        Ok(git_output::submodules(&out))
    }

    /// Where the user has a submodule.
    fn place_of(&self, submodule: &Submodule) -> Option<PathBuf> {
        let place = self.work_tree()?.join(&submodule.path);
        // A folder that is no repository of its own would be taken for one of the outer's.
        place.join(".git").exists().then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::git::fixture::ScriptedRepository;
    use super::*;

    #[test]
    fn submodules_are_checked_out_where_they_are_there() {
        let inner = ScriptedRepository::by("echo 1 >f; commit one; echo 2 >f; commit two");
        let made = ScriptedRepository::by(&format!(
            "git -c protocol.file.allow=always submodule --quiet add {} sub; git -C sub checkout -q HEAD~1; commit one; git -C sub checkout -q main; commit two",
            inner.folder.path().display()
        ));
        let repository = made.repository();
        let out = tempfile::tempdir().unwrap();
        for (revision, expect) in [("HEAD~1", "1\n"), ("HEAD", "2\n")] {
            let tree = repository
                .tree_of(&repository.resolve(revision).unwrap())
                .unwrap();
            let folder = out.path().join(expect.trim());
            repository.check_out(&tree, &folder).unwrap();
            assert_eq!(fs::read_to_string(folder.join("sub/f")).unwrap(), expect);
        }
        let tree = repository.tree_of("HEAD").unwrap();
        assert_eq!(repository.absent_submodules(&tree).unwrap(), []);
        made.run("git submodule deinit -f sub");
        assert_eq!(repository.absent_of_work_tree().unwrap().len(), 1);
        let absent = repository.absent_submodules(&tree).unwrap();
        assert_eq!(absent.len(), 1, "{absent:?}");
        repository.check_out(&tree, &out.path().join("x")).unwrap();
        assert!(!out.path().join("x/sub/f").exists());
        made.run("git init -q sub");
        let error = repository
            .check_out(&tree, &out.path().join("y"))
            .unwrap_err();
        assert!(matches!(error, Error::OldSubmodule(_)), "{error}");
    }
}
