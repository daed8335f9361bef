//! A tree of files: what a version of a program is. Folders are only where files are.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;
use crate::{Digest, Digester};

/// The entry at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TreeEntry {
    pub(crate) kind: EntryKind,
    pub(crate) source: EntryBytes,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum EntryKind {
    File,
    Program,
    /// A symbolic link; its bytes are where it points to.
    Link,
}

impl EntryKind {
    /// As Git writes it.
    pub(crate) fn mode(self) -> &'static str {
        match self {
            EntryKind::File => "100644",
            EntryKind::Program => "100755",
            EntryKind::Link => "120000",
        }
    }
}

/// The bytes of an entry, on disk or in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum EntryBytes {
    Disk(Arc<Path>),
    Memory(Arc<[u8]>),
}

impl TreeEntry {
    pub(crate) fn bytes(&self) -> Result<Arc<[u8]>, Error> {
        match &self.source {
            EntryBytes::Memory(bytes) => Ok(bytes.clone()),
            EntryBytes::Disk(path) => {
                let read = match self.kind {
                    EntryKind::Link => {
                        fs::read_link(path).map(|to| to.as_os_str().as_bytes().to_owned())
                    }
                    EntryKind::File | EntryKind::Program => fs::read(path),
                };
                read.map(Arc::from).map_err(Error::at(path))
            }
        }
    }
}

/// Files by their paths, which are relative.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FileTree(pub(crate) BTreeMap<PathBuf, TreeEntry>);

impl FileTree {
    /// All files below a folder, but for the data of Git: that of a submodule or of a further work tree
    /// leads to a repository.
    pub(crate) fn read(folder: &Path) -> Result<FileTree, Error> {
        let mut tree = FileTree::default();
        tree.add_folder(folder, Path::new(""), None)?;
        Ok(tree)
    }

    /// The same without what is in a folder of ours, which may be below.
    pub(crate) fn read_without(folder: &Path, ours: &Path) -> Result<FileTree, Error> {
        let real = |path: &Path| path.canonicalize().map_err(Error::at(path));
        let (top, ours) = (real(folder)?, real(ours)?);
        let mut tree = FileTree::default();
        tree.add_folder(folder, Path::new(""), ours.strip_prefix(&top).ok())?;
        Ok(tree)
    }

    fn add_folder(
        &mut self,
        folder: &Path,
        below: &Path,
        ours: Option<&Path>,
    ) -> Result<(), Error> {
        for found in fs::read_dir(folder).map_err(Error::at(folder))? {
            let found = found.map_err(Error::at(folder))?;
            let (path, relative) = (found.path(), below.join(found.file_name()));
            let kind = found.file_type().map_err(Error::at(&path))?;
            if found.file_name() == ".git" || Some(relative.as_path()) == ours {
                continue;
            }
            if kind.is_dir() {
                self.add_folder(&path, &relative, ours)?;
            } else {
                self.add(&path, relative)?;
            }
        }
        Ok(())
    }

    /// Adds what is at a path on disk. Pipes and devices are refused.
    pub(crate) fn add(&mut self, path: &Path, relative: PathBuf) -> Result<(), Error> {
        let found = fs::symlink_metadata(path).map_err(Error::at(path))?;
        let kind = match found.file_type() {
            kind if kind.is_symlink() => EntryKind::Link,
            kind if kind.is_file() && found.permissions().mode() & 0o100 != 0 => EntryKind::Program,
            kind if kind.is_file() => EntryKind::File,
            _ => {
                let odd = io::Error::other("neither a file nor a link nor a folder");
                return Err(Error::at(path)(odd));
            }
        };
        let source = EntryBytes::Disk(path.into());
        self.0.insert(relative, TreeEntry { kind, source });
        Ok(())
    }

    /// What stands for all of it.
    pub(crate) fn digest(&self) -> Result<Digest, Error> {
        let mut digest = Digester::default();
        for (path, entry) in &self.0 {
            digest.field(path.as_os_str().as_bytes());
            digest.field(&[entry.kind as u8]);
            digest.field(&entry.bytes()?);
        }
        Ok(digest.finish())
    }

    /// A path that is a file and a folder at once, which no disk can hold.
    pub(crate) fn conflict(&self) -> Option<&Path> {
        let mut paths = self.0.keys();
        let mut last = paths.next()?;
        // What is below a path need not follow it at once, but something below it does or the path
        // is no folder: paths compare part by part.
        for path in paths {
            if path.starts_with(last) {
                return Some(last);
            }
            last = path;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::link_guard::LinkGuard;
    use super::*;

    #[test]
    fn a_tree_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let entry = |kind, text: &str| TreeEntry {
            kind,
            source: EntryBytes::Memory(text.as_bytes().into()),
        };
        let entries = [
            ("a/b.txt", entry(EntryKind::File, "x\r\n")),
            ("run", entry(EntryKind::Program, "#!/bin/sh\n")),
            ("to", entry(EntryKind::Link, "a/nowhere")),
        ];
        let mut way = LinkGuard::below(folder.path());
        for (path, entry) in &entries {
            way.write(Path::new(path), entry).unwrap();
        }
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(".git/x"), "x").unwrap();
        fs::write(folder.path().join("a/.git"), "gitdir: /nowhere\n").unwrap();
        let tree = FileTree::read(folder.path()).unwrap();
        assert_eq!(tree.0.len(), 3);
        for (path, entry) in &entries {
            let found = &tree.0[Path::new(path)];
            assert_eq!(found.kind, entry.kind);
            assert_eq!(found.bytes().unwrap(), entry.bytes().unwrap());
        }
    }

    #[test]
    fn a_file_that_is_also_a_folder_is_noticed() {
        let entry = TreeEntry {
            kind: EntryKind::File,
            source: EntryBytes::Memory([].into()),
        };
        let tree =
            |paths: &[&str]| FileTree(paths.iter().map(|p| (p.into(), entry.clone())).collect());
        assert_eq!(tree(&["a", "a.b", "b/c"]).conflict(), None);
        assert_eq!(tree(&["a", "a.b", "a/c"]).conflict(), Some(Path::new("a")));
    }
}
