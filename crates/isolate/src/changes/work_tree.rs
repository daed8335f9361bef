//! The user's work tree as it is now, seen as Git sees it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Error;
use super::git::Repository;
use super::git_output::{self, Indexed};
use super::link_guard::LinkGuard;
use super::sides::copy_tree;
use super::tree::{EntryKind, FileTree};

impl Repository {
    /// Copies the files of the work tree into a folder: those that Git knows, and new ones that it does
    /// not ignore.
    pub(super) fn copy_work_tree(&self, folder: &Path) -> Result<(), Error> {
        let top = self.work_tree().ok_or(Error::NoWorkTree)?;
        let modes_count = self.modes_count()?;
        let mut guard = LinkGuard::below(top);
        let mut found = FileTree::default();
        let (mut folders, mut skipped) = (Vec::new(), Vec::new());
        for (path, indexed) in self.listed()? {
            let place = top.join(&path);
            // To Git, what is behind a link is gone.
            let there = guard.is_clear(&path).then(|| fs::symlink_metadata(&place));
            match there.and_then(Result::ok) {
                Some(there) if there.is_dir() => folders.push(path),
                Some(_) => {
                    found.add(&place, path.clone())?;
                    let kind = indexed.and_then(|indexed| indexed.kind);
                    if let (Some(kind), Some(entry)) = (kind, found.0.get_mut(&path))
                        && !modes_count
                        && entry.kind != EntryKind::Link
                    {
                        entry.kind = match kind {
                            EntryKind::Program => EntryKind::Program,
                            EntryKind::File | EntryKind::Link => EntryKind::File,
                        };
                    }
                }
                None if indexed.is_some_and(|it| it.is_skipped && it.kind.is_some()) => {
                    skipped.push(path);
                }
                None => {}
            }
        }
        let indexed = match skipped.is_empty() {
            true => None,
            false => Some(self.indexed()?),
        };
        if let Some(indexed) = &indexed {
            for path in skipped {
                found.add(&indexed.path().join(&path), path)?;
            }
        }
        copy_tree(&found, folder)?;
        for path in folders {
            // A submodule, or a repository inside the work tree that Git does not look into.
            if let Ok(inner) = self.inside(&top.join(&path))
                && inner.work_tree().is_some_and(|its| its != top)
            {
                inner.copy_work_tree(&folder.join(path))?;
            }
        }
        Ok(())
    }

    /// Whether the modes of files mean something there.
    fn modes_count(&self) -> Result<bool, Error> {
        let asked = ["--type=bool", "--default=true", "--get", "core.fileMode"];
        let said = self.answer(&[&["config"], &asked[..]].concat())?;
        Ok(!said.starts_with(b"false"))
    }

    /// All paths, with what the index has there.
    fn listed(&self) -> Result<BTreeMap<PathBuf, Option<Indexed>>, Error> {
        let out = self.answer(&[
            "ls-files",
            "-z",
            "-t",
            "--stage",
            "--cached",
            "--others",
            "--exclude-standard",
        ])?;
        Ok(git_output::listed(&out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::git::fixture::ScriptedRepository;
    use super::*;

    /// The files of the work tree, and those of the last commit.
    fn versions(made: &ScriptedRepository) -> (FileTree, FileTree) {
        let out = made.folder.path().join(".git/out");
        let repository = made.repository();
        repository.copy_work_tree(&out.join("now")).unwrap();
        let tree = repository.tree_of("HEAD").unwrap();
        repository.check_out(&tree, &out.join("head")).unwrap();
        let read = |name: &str| FileTree::read(&out.join(name)).unwrap();
        (read("now"), read("head"))
    }

    fn names(tree: &FileTree) -> Vec<&str> {
        let paths = tree.0.keys().map(|path| path.to_str().unwrap());
        paths.collect()
    }

    #[test]
    fn a_folder_that_became_a_link_is_a_link_and_what_is_behind_it_stays() {
        let theirs = tempfile::tempdir().unwrap();
        let theirs = theirs.path().join("data");
        let made = ScriptedRepository::by(&format!(
            "mkdir data; echo 1 >data/a; echo 2 >b; commit one
             mv data {0}; ln -s {0} data; stat -c %i {0}/a >.git/before",
            theirs.display()
        ));
        let (now, head) = versions(&made);
        assert_eq!(names(&head), ["b", "data/a"]);
        assert_eq!(names(&now), ["b", "data"]);
        assert_eq!(now.0[Path::new("data")].kind, EntryKind::Link);
        let look = format!("cmp .git/before - && cat {}/a", theirs.display());
        let inode = format!("stat -c %i {}/a", theirs.display());
        assert_eq!(made.run(&format!("{inode} | {look}")), "1\n");
    }

    #[test]
    fn what_a_sparse_checkout_leaves_out_is_not_deleted() {
        let made = ScriptedRepository::by(
            "mkdir in out; echo '*.txt text eol=crlf' >.gitattributes; echo 1 >in/a; echo 2 >out/b.txt
             printf x >out/run; chmod +x out/run; ln -s b.txt out/link; commit one
             git sparse-checkout set --sparse-index in; rm in/a; echo 3 >in/new",
        );
        let (now, head) = versions(&made);
        let left_out = ["out/b.txt", "out/link", "out/run"];
        let expect = [&[".gitattributes", "in/new"], &left_out[..]].concat();
        assert_eq!(names(&now), expect);
        for path in left_out.map(Path::new) {
            let (now, head) = (&now.0[path], &head.0[path]);
            assert_eq!(now.kind, head.kind);
            assert_eq!(now.bytes().unwrap(), head.bytes().unwrap());
        }
    }

    #[test]
    fn modes_are_those_of_the_index_where_the_disk_has_none() {
        let made = ScriptedRepository::by(
            "echo 1 >plain; echo 2 >run; chmod +x run; commit one; git config core.fileMode false
             chmod +x plain; chmod -x run; echo 3 >new; chmod +x new",
        );
        let kinds = |tree: &FileTree| ["plain", "run"].map(|path| tree.0[Path::new(path)].kind);
        let (now, head) = versions(&made);
        assert_eq!(kinds(&now), kinds(&head));
        assert_eq!(now.0[Path::new("new")].kind, EntryKind::Program);
        made.run("git config core.fileMode true");
        assert_eq!(
            kinds(&versions(&made).0),
            [EntryKind::Program, EntryKind::File]
        );
    }
}
