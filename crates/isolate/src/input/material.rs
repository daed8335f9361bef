//! Material: what a test is run on. One file, or a folder of them.

use std::cmp::Ordering;
use std::fmt;
use std::fs;
use std::io;
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use culprit_jvm::between_starts;

use crate::{Digest, Digester, Error};

/// A file by its name, or all that is in a folder, sorted by path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Material {
    /// Whether it is a folder, and not one file.
    pub is_folder: bool,
    /// Sorted by path, each path once.
    pub items: Vec<Item>,
}

/// A path, and what is there on one side and on the other.
pub(crate) type Beside<'a> = (&'a Path, Option<&'a Item>, Option<&'a Item>);

/// One thing in a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// Below the folder; of a file its name.
    pub path: PathBuf,
    pub stuff: Stuff,
}

/// What it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stuff {
    File {
        bytes: Arc<Vec<u8>>,
        executable: bool,
    },
    Link(PathBuf),
    /// A folder that is empty.
    Folder,
}

/// Whether a file can be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Plain,
    Program,
}

/// As Git writes it.
impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Plain => "100644",
            Mode::Program => "100755",
        })
    }
}

impl Material {
    /// A folder of things in any order.
    pub fn folder(mut items: Vec<Item>) -> Material {
        items.sort_by(|a, b| a.path.cmp(&b.path));
        Material {
            is_folder: true,
            items,
        }
    }

    /// Reads a file, or a folder with all below it.
    pub fn read(path: &Path) -> Result<Material, Error> {
        let data = fs::metadata(path).map_err(Error::at(path))?;
        if data.is_dir() {
            let mut items = Vec::new();
            collect(path, Path::new(""), &mut items)?;
            return Ok(Material::folder(items));
        }
        if !data.is_file() {
            let why = io::Error::other("it is neither a file nor a folder");
            return Err(Error::at(path)(why));
        }
        let name = path.file_name().unwrap_or("input".as_ref());
        Ok(Material {
            is_folder: false,
            items: vec![Item {
                path: name.into(),
                stuff: file(path, &data)?,
            }],
        })
    }

    /// The same without anything in it: a file of no bytes, or an empty folder.
    pub fn emptied(&self) -> Material {
        let mut empty = self.clone();
        match self.is_folder {
            true => empty.items.clear(),
            false => empty.items.iter_mut().for_each(Item::clear),
        }
        empty
    }

    /// How many bytes all files have.
    pub fn len(&self) -> u64 {
        self.items
            .iter()
            .map(|item| item.bytes().len() as u64)
            .sum()
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        match self.is_folder {
            true => self.items.is_empty(),
            false => self.len() == 0,
        }
    }

    /// What stands for it in caches.
    pub fn digest(&self) -> Digest {
        let mut digester = Digester::default();
        for item in &self.items {
            digester.field(item.path.as_os_str().as_bytes());
            match &item.stuff {
                Stuff::File { bytes, executable } => {
                    digester.field(if *executable { b"x" } else { b"f" });
                    digester.field(bytes);
                }
                Stuff::Link(target) => {
                    digester.field(b"l");
                    digester.field(target.as_os_str().as_bytes());
                }
                Stuff::Folder => digester.field(b"d"),
            }
        }
        digester.finish()
    }

    /// The place of a path.
    pub(crate) fn find(&self, path: &Path) -> Option<usize> {
        let items = &self.items;
        items
            .binary_search_by(|it| it.path.as_path().cmp(path))
            .ok()
    }

    /// What this one and another have at each path that either has, sorted by path.
    pub(crate) fn beside<'a>(&'a self, other: &'a Material) -> impl Iterator<Item = Beside<'a>> {
        let mut own = self.items.iter().peekable();
        let mut others = other.items.iter().peekable();
        iter::from_fn(move || {
            let order = match (own.peek(), others.peek()) {
                (Some(one), Some(other)) => one.path.cmp(&other.path),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let one = own.next_if(|_| order.is_le());
            let other = others.next_if(|_| order.is_ge());
            let path = &one.or(other)?.path;
            Some((path.as_path(), one, other))
        })
    }

    /// Something that is no folder and has things below it: it cannot be written.
    pub(crate) fn conflict(&self) -> Option<&Path> {
        // What is below a path comes right behind it.
        let mut pairs = self.items.windows(2);
        let found = pairs
            .find(|pair| pair[0].stuff != Stuff::Folder && pair[1].path.starts_with(&pair[0].path));
        found.map(|pair| pair[0].path.as_path())
    }

    /// The same with other bytes in one of its files.
    pub(crate) fn with(&self, index: usize, bytes: Vec<u8>) -> Material {
        let mut changed = self.clone();
        if let Stuff::File { bytes: own, .. } = &mut changed.items[index].stuff {
            *own = Arc::new(bytes);
        }
        changed
    }

    /// The same with a file that can be run, or not.
    pub(crate) fn with_mode(&self, index: usize, mode: Mode) -> Material {
        let mut changed = self.clone();
        if let Stuff::File { executable, .. } = &mut changed.items[index].stuff {
            *executable = mode == Mode::Program;
        }
        changed
    }

    /// Writes it below a folder; the path of what was written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, Error> {
        if self.is_folder {
            let top = folder.join("input");
            fs::create_dir_all(&top).map_err(Error::at(&top))?;
            for item in &self.items {
                item.write(&top)?;
            }
            return Ok(top);
        }
        for item in &self.items {
            item.write(folder)?;
        }
        let name = self.items.first().map(|item| item.path.as_path());
        Ok(folder.join(name.unwrap_or(Path::new("input"))))
    }
}

impl Material {
    /// Of two files the name is no difference: both are given to the test under one.
    pub(crate) fn take_name_of(&mut self, other: &Material) {
        if let ([own], [other]) = (&mut *self.items, &*other.items)
            && !self.is_folder
        {
            own.path.clone_from(&other.path);
        }
    }

    /// Writes the one file that it is under another name.
    pub fn write_as(&self, path: &Path) -> Result<(), Error> {
        for item in &self.items {
            let renamed = Item {
                path: path.to_owned(),
                stuff: item.stuff.clone(),
            };
            renamed.write(Path::new(""))?;
        }
        Ok(())
    }
}

impl Item {
    /// Of a file its bytes; nothing of anything else.
    pub fn bytes(&self) -> &[u8] {
        match &self.stuff {
            Stuff::File { bytes, .. } => bytes,
            Stuff::Link(_) | Stuff::Folder => &[],
        }
    }

    /// Of a file whether it can be run.
    pub fn mode(&self) -> Option<Mode> {
        match &self.stuff {
            Stuff::File { executable, .. } if *executable => Some(Mode::Program),
            Stuff::File { .. } => Some(Mode::Plain),
            Stuff::Link(_) | Stuff::Folder => None,
        }
    }

    pub(crate) fn clear(&mut self) {
        if let Stuff::File { bytes, .. } = &mut self.stuff {
            *bytes = Arc::default();
        }
    }

    /// Writes it below a folder.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(&self.path);
        let written = || -> io::Result<()> {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            match &self.stuff {
                Stuff::File { bytes, executable } => {
                    let write = || fs::write(&path, bytes.as_slice());
                    if !*executable {
                        return write();
                    }
                    between_starts(write)?;
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
                }
                Stuff::Link(target) => symlink(target, &path),
                Stuff::Folder => fs::create_dir_all(&path),
            }
        };
        written().map_err(Error::at(&path))
    }
}

fn file(path: &Path, data: &fs::Metadata) -> Result<Stuff, Error> {
    Ok(Stuff::File {
        bytes: Arc::new(fs::read(path).map_err(Error::at(path))?),
        executable: data.permissions().mode() & 0o111 != 0,
    })
}

fn collect(top: &Path, below: &Path, items: &mut Vec<Item>) -> Result<(), Error> {
    let here = top.join(below);
    let before = items.len();
    for entry in fs::read_dir(&here).map_err(Error::at(&here))? {
        let entry = entry.map_err(Error::at(&here))?;
        let path = below.join(entry.file_name());
        let whole = entry.path();
        let data = entry.metadata().map_err(Error::at(&whole))?;
        let stuff = match () {
            () if data.is_dir() => {
                collect(top, &path, items)?;
                continue;
            }
            () if data.is_symlink() => {
                let target = fs::read_link(&whole).map_err(Error::at(&whole))?;
                Stuff::Link(from_anywhere(&here, below, target))
            }
            () if data.is_file() => file(&whole, &data)?,
            () => {
                let why = io::Error::other("it is neither a file nor a folder nor a link");
                return Err(Error::at(&whole)(why));
            }
        };
        items.push(Item { path, stuff });
    }
    if items.len() == before && below != Path::new("") {
        items.push(Item {
            path: below.to_owned(),
            stuff: Stuff::Folder,
        });
    }
    Ok(())
}

/// Where a link goes, also from a copy of the folder: what lies outside of it is named in full.
fn from_anywhere(here: &Path, below: &Path, target: PathBuf) -> PathBuf {
    let mut depth = below.components().count();
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir => {
                let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
                return here.join(target);
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_and_stand_side_by_side() {
        let folder = |paths: &[&str]| {
            let item = |path: &&str| Item {
                path: path.into(),
                stuff: Stuff::Folder,
            };
            Material::folder(paths.iter().map(item).collect())
        };
        // By its bytes "a-b" would come before "a/c".
        let (one, other) = (folder(&["b", "a-b", "a/c"]), folder(&["d", "a/c", "a"]));
        let all = ["a/c", "a-b", "b", "nowhere"].map(|path| one.find(Path::new(path)));
        assert_eq!(all, [Some(0), Some(1), Some(2), None]);
        let beside = one.beside(&other);
        let told = beside.map(|(path, own, it)| (path.to_str(), own.is_some(), it.is_some()));
        let expect = [
            (Some("a"), false, true),
            (Some("a/c"), true, true),
            (Some("a-b"), true, false),
            (Some("b"), true, false),
            (Some("d"), false, true),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_link_goes_where_it_went() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        fs::create_dir_all(at("in/sub")).unwrap();
        fs::write(at("shared"), "outside").unwrap();
        fs::write(at("in/own"), "inside").unwrap();
        symlink("../../shared", at("in/sub/out")).unwrap();
        symlink("../own", at("in/sub/in")).unwrap();
        symlink("nowhere", at("in/dangling")).unwrap();
        let to = tempfile::tempdir().unwrap();
        let copy = Material::read(&at("in")).unwrap().write(to.path()).unwrap();
        let read = |path: &str| fs::read_to_string(copy.join(path)).unwrap();
        assert_eq!(read("sub/out"), "outside");
        assert_eq!(
            fs::read_link(copy.join("sub/in")).unwrap(),
            Path::new("../own")
        );
        assert_eq!(read("sub/in"), "inside");
        assert!(copy.join("dangling").is_symlink());
    }

    #[test]
    fn a_folder_is_read_and_written_with_links_modes_and_empty_folders() {
        let from = tempfile::tempdir().unwrap();
        let at = |path: &str| from.path().join(path);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::create_dir_all(at("empty")).unwrap();
        fs::write(at("a/b/c.txt"), "abc").unwrap();
        fs::write(at("run"), "#!/bin/sh\n").unwrap();
        fs::set_permissions(at("run"), fs::Permissions::from_mode(0o700)).unwrap();
        symlink("a/b", at("link")).unwrap();
        let material = Material::read(from.path()).unwrap();
        assert_eq!((material.items.len(), material.len()), (4, 13));
        let to = tempfile::tempdir().unwrap();
        let written = material.write(to.path()).unwrap();
        let again = Material::read(&written).unwrap();
        assert_eq!(again, material);
        assert_eq!(again.digest(), material.digest());
        assert!(material.emptied().is_empty());
    }

    #[test]
    fn a_file_keeps_its_name() {
        let from = tempfile::tempdir().unwrap();
        let path = from.path().join("Foo.java");
        fs::write(&path, "x").unwrap();
        let material = Material::read(&path).unwrap();
        let to = tempfile::tempdir().unwrap();
        assert!(material.write(to.path()).unwrap().ends_with("Foo.java"));
        assert_ne!(material.emptied().digest(), material.digest());
    }
}
