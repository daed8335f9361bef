//! Files of a tree, or of the index, written into our folders.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use culprit_jvm::Status;
use tempfile::TempDir;

use super::Repository;
use super::command::odd;
use crate::changes::Error;
use crate::changes::git_output::first_line;

impl Repository {
    /// Writes the files of a tree into a folder that is empty, as a checkout would: submodules too,
    /// but for those that the user has not got.
    pub(crate) fn check_out(&self, tree: &str, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(Error::at(folder))?;
        let place = self.place_for_index()?;
        let index = place.path().join("index");
        let places: [(&str, &OsStr); 2] = [
            ("GIT_INDEX_FILE", index.as_os_str()),
            ("GIT_WORK_TREE", folder.as_os_str()),
        ];
        for command in [
            &["read-tree", tree][..],
            &["checkout-index", "--all", "--force"],
        ] {
            let said = self.run(folder, command, &places)?;
            if said.status != Some(Status::Exited(0)) {
                return Err(odd(command, &first_line(&said.err)));
            }
        }
        self.check_out_submodules(tree, folder)
    }

    /// The files of the index in a folder of ours, those too that the work tree is to be without.
    pub(crate) fn indexed(&self) -> Result<TempDir, Error> {
        let place = self.place_for_index()?;
        let asked = [
            "checkout-index",
            "--all",
            "--force",
            "--ignore-skip-worktree-bits",
        ];
        let folder = place.path();
        let said = self.run(folder, &asked, &[("GIT_WORK_TREE", folder.as_os_str())])?;
        match said.status {
            Some(Status::Exited(0)) => Ok(place),
            _ => Err(odd(&asked, &first_line(&said.err))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::super::fixture::ScriptedRepository;
    use crate::changes::tree::FileTree;

    #[test]
    fn versions_are_checked_out_and_the_repository_stays_as_it_is() {
        let made = ScriptedRepository::by(
            "printf 'a\\r\\n' >a; printf '#!/bin/sh\\n' >run; chmod +x run; ln -s a link; mkdir d; echo x >d/x; commit one
             echo b >>a; commit two; echo dirty >>a; echo new >untracked; echo skipped >.gitignore; echo s >skipped",
        );
        let snapshot = "find . -type f | sort | xargs sha256sum; find . | sort | xargs stat -c '%n %Y %a' | sort";
        let before = made.run(snapshot);
        let repository = made.repository();
        let good = repository.resolve("HEAD~1").unwrap();
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("good");
        repository
            .check_out(&repository.tree_of(&good).unwrap(), &folder)
            .unwrap();
        assert_eq!(fs::read(folder.join("a")).unwrap(), b"a\r\n");
        assert!(folder.join("link").is_symlink());
        assert_eq!(fs::read(folder.join("d/x")).unwrap(), b"x\n");
        let copied = out.path().join("copied");
        repository.copy_work_tree(&copied).unwrap();
        let files: Vec<_> = FileTree::read(&copied).unwrap().0.into_keys().collect();
        let expect = [".gitignore", "a", "d/x", "link", "run", "untracked"];
        assert_eq!(files, expect.map(PathBuf::from));
        assert!(repository.is_dirty().unwrap());
        assert_eq!(made.run(snapshot), before);
    }
}
