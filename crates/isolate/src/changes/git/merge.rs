//! Trees that no commit of the user's has: changes merged or carried over, in our store of objects.

use std::ffi::OsStr;
use std::path::Path;

use culprit_jvm::Status;

use super::Repository;
use super::command::odd;
use crate::changes::Error;
use crate::changes::git_output::{first_line, text};

/// The status of Git for options that it does not know.
const USAGE: u8 = 129;

impl Repository {
    /// A tree with the changes of all the commits, which are no ancestors of each other; `None` if
    /// they do not merge without a conflict.
    pub(crate) fn merged(&self, commits: &[&str]) -> Result<Option<String>, Error> {
        let Some((first, rest)) = commits.split_first() else {
            return Ok(None);
        };
        let mut commit = (*first).to_owned();
        let mut tree = self.tree_of(first)?;
        for next in rest {
            let asked = [
                "merge-tree",
                "--write-tree",
                // What was added from another repository has a root of its own.
                "--allow-unrelated-histories",
                &commit,
                next,
            ];
            let said = self.ask(&asked)?;
            match said.status {
                Some(Status::Exited(0)) => {}
                Some(Status::Exited(1)) => return Ok(None),
                Some(Status::Exited(USAGE)) => return Err(Error::OldGit),
                _ => return Err(odd(&["merge-tree"], &first_line(&said.err))),
            }
            tree = text(&said.out);
            commit = self.commit_tree(&tree, &[&commit, next])?;
        }
        Ok(Some(tree))
    }

    /// A tree with what is in a folder, and besides with what makes one folder the other; `None` if
    /// the folder has other changes at the same places.
    pub(crate) fn carried_over(
        &self,
        (from, to): (&Path, &Path),
        folder: &Path,
    ) -> Result<Option<String>, Error> {
        let base = self.commit_tree(&self.tree_in(from)?, &[])?;
        let change = self.commit_tree(&self.tree_in(to)?, &[&base])?;
        let other = self.commit_tree(&self.tree_in(folder)?, &[&base])?;
        self.merged(&[&other, &change])
    }

    /// The tree of all that is in a folder of ours, in our store.
    fn tree_in(&self, folder: &Path) -> Result<String, Error> {
        let place = self.place_for_index()?;
        let index = place.path().join("index");
        let places: [(&str, &OsStr); 2] = [
            ("GIT_INDEX_FILE", index.as_os_str()),
            ("GIT_WORK_TREE", folder.as_os_str()),
        ];
        // Modes count, whatever the user's file system is like.
        let add = ["-c", "core.fileMode=true", "add", "--all", "--force", "."];
        let mut said = self.run(folder, &add, &places)?;
        if said.status == Some(Status::Exited(0)) {
            said = self.run(folder, &["write-tree"], &places)?;
        }
        match said.status {
            Some(Status::Exited(0)) => Ok(text(&said.out)),
            _ => Err(odd(&["add"], &first_line(&said.err))),
        }
    }

    /// A commit of ours.
    fn commit_tree(&self, tree: &str, parents: &[&str]) -> Result<String, Error> {
        let mut asked = vec!["commit-tree", tree, "-m", "merged"];
        asked.extend(parents.iter().flat_map(|parent| ["-p", parent]));
        self.line(&self.data, &asked)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::fixture::ScriptedRepository;

    #[test]
    fn branches_are_merged_outside_of_the_repository() {
        let made = ScriptedRepository::by(
            "seq 20 >a; commit base; git checkout -qb side; sed -i s/^2$/two/ a; commit side
             git checkout -q main; sed -i s/^19$/nineteen/ a; commit main; git checkout -qb clash HEAD~1; sed -i s/^19$/other/ a; commit clash",
        );
        let repository = made.repository();
        let count = "find .git/objects -type f | wc -l";
        let before = made.run(count);
        let id = |name: &str| repository.resolve(name).unwrap();
        let merged = repository
            .merged(&[&id("main"), &id("side")])
            .unwrap()
            .unwrap();
        let out = tempfile::tempdir().unwrap();
        repository
            .check_out(&merged, &out.path().join("x"))
            .unwrap();
        let text = fs::read_to_string(out.path().join("x/a")).unwrap();
        assert!(
            text.contains("two\n") && text.contains("nineteen\n"),
            "{text}"
        );
        assert_eq!(
            repository.merged(&[&id("main"), &id("clash")]).unwrap(),
            None
        );
        assert_eq!(made.run(count), before);
    }

    #[test]
    fn histories_without_a_common_commit_are_merged() {
        let made = ScriptedRepository::by(
            "echo a >a; commit base; git checkout -q --orphan other; git rm -qrf .; echo b >b; commit other",
        );
        let repository = made.repository();
        let id = |name: &str| repository.resolve(name).unwrap();
        let merged = repository.merged(&[&id("main"), &id("other")]).unwrap();
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("x");
        repository.check_out(&merged.unwrap(), &folder).unwrap();
        assert!(folder.join("a").exists() && folder.join("b").exists());
    }
}
