//! Build folders: where candidates are put together, built and tested, one for each job.
//!
//! A build folder keeps what is the same: only files that differ from the candidate before are written,
//! and the others keep their times, so that builds there continue from the last one. What a run changed of
//! the candidate's files is put back; what else it left stays, unless the folders are to be fresh.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Error;
use super::file_times::FileTimes;
use super::link_guard::LinkGuard;
use super::tree::{EntryBytes, EntryKind, FileTree, TreeEntry};
use crate::work_folder::unlock;
use crate::{Ending, RunSetup, TestCommand};
use culprit_jvm::remove_folder;

/// What is left in a build folder from the candidate before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Leftovers {
    /// All that its runs made: builds go on from the last one.
    #[default]
    Stay,
    /// Nothing: each candidate is built anew.
    Go,
}

/// The build folders of all jobs.
pub(crate) struct BuildFolders {
    root: PathBuf,
    leftovers: Leftovers,
    idle: Mutex<Idle>,
    strays: AtomicUsize,
}

#[derive(Default)]
struct Idle {
    folders: Vec<BuildFolder>,
    made: usize,
}

/// A folder with a candidate in it.
pub(crate) struct BuildFolder {
    folder: PathBuf,
    /// For temporary files of runs.
    scratch: PathBuf,
    leftovers: Leftovers,
    written: BTreeMap<PathBuf, Written>,
    times: FileTimes,
    /// How often the folders could not be used any more.
    moves: usize,
}

struct Written {
    entry: TreeEntry,
    stamp: Stamp,
}

impl Written {
    fn at(place: &Path, entry: &TreeEntry) -> Option<Written> {
        Some(Written {
            entry: entry.clone(),
            stamp: Stamp::of(place)?,
        })
    }
}

/// Tells whether somebody else wrote a file.
#[derive(PartialEq)]
struct Stamp {
    node: u64,
    size: u64,
    mode: u32,
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let found = fs::symlink_metadata(path).ok()?;
        Some(Stamp {
            node: found.ino(),
            size: found.len(),
            mode: found.mode(),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

impl BuildFolders {
    /// Build folders below a folder of ours.
    pub(crate) fn new(root: PathBuf, leftovers: Leftovers) -> BuildFolders {
        BuildFolders {
            root,
            leftovers,
            idle: Mutex::default(),
            strays: AtomicUsize::new(0),
        }
    }

    /// Runs a command in a build folder.
    pub(crate) fn run(
        &self,
        test: &TestCommand,
        build_folder: &BuildFolder,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Ending, Error> {
        let ending = test.run(&build_folder.setup(), wanted)?;
        self.strays.fetch_add(ending.strays, Ordering::Relaxed);
        Ok(ending)
    }

    /// Processes that these runs left behind.
    pub(crate) fn strays(&self) -> usize {
        self.strays.load(Ordering::Relaxed)
    }

    /// Does something in a build folder that nobody else uses meanwhile.
    pub(crate) fn at<T>(
        &self,
        work: impl FnOnce(&mut BuildFolder) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut build_folder = self.take()?;
        let done = work(&mut build_folder);
        self.lock().folders.push(build_folder);
        done
    }

    fn take(&self) -> Result<BuildFolder, Error> {
        let mut idle = self.lock();
        if let Some(build_folder) = idle.folders.pop() {
            return Ok(build_folder);
        }
        idle.made += 1;
        let place = self.root.join(idle.made.to_string());
        let build_folder = BuildFolder {
            folder: place.join("tree"),
            scratch: place.join("tmp"),
            leftovers: self.leftovers,
            written: BTreeMap::new(),
            times: FileTimes::new(place.join("clock")),
            moves: 0,
        };
        build_folder.begin()?;
        Ok(build_folder)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BuildFolder {
    /// Where commands run.
    pub(crate) fn setup(&self) -> RunSetup {
        let own = self.folder.parent().unwrap_or(&self.folder);
        RunSetup {
            own: own.to_owned(),
            directory: self.folder.clone(),
            scratch: self.scratch.clone(),
            candidate: None,
            input: None,
        }
    }

    /// Makes the folder hold the tree; another folder if this one cannot be made to.
    pub(crate) fn hold(&mut self, tree: &FileTree) -> Result<(), Error> {
        if self.leftovers == Leftovers::Stay && self.restore(tree).is_ok() {
            return Ok(());
        }
        if self.leftovers == Leftovers::Stay || self.clear().is_err() {
            self.move_on()?;
        }
        self.restore(tree)
    }

    /// Makes the folder hold the tree, and what runs made stays in any case.
    pub(crate) fn restore(&mut self, tree: &FileTree) -> Result<(), Error> {
        self.put_back(tree).or_else(|_| {
            // A run may have left folders that cannot be written.
            unlock(&self.folder);
            self.put_back(tree)
        })
    }

    fn put_back(&mut self, tree: &FileTree) -> Result<(), Error> {
        let gone = self
            .written
            .keys()
            .filter(|path| !tree.0.contains_key(*path));
        let mut guard = LinkGuard::below(&self.folder);
        for path in gone.cloned().collect::<Vec<_>>() {
            if guard.is_clear(&path) {
                remove(&self.folder, &path)?;
            }
            self.written.remove(&path);
        }
        // Folders may have gone with their files.
        let mut guard = LinkGuard::below(&self.folder);
        let mut missing = Vec::new();
        for (path, entry) in &tree.0 {
            guard.make_clear(path)?;
            let place = self.folder.join(path);
            let stamp = Stamp::of(&place);
            let is_ours = self.written.get(path).is_some_and(|written| {
                written.entry == *entry && stamp.as_ref() == Some(&written.stamp)
            });
            if is_ours {
                continue;
            }
            match has(&place, entry)? {
                true => {
                    let written = Written::at(&place, entry);
                    self.written.extend(written.map(|it| (path.clone(), it)));
                }
                false => missing.push((path, entry)),
            }
        }
        self.times.wait_for(&self.folder, &missing)?;
        for (path, entry) in missing {
            guard.write(path, entry)?;
            self.times.note(&self.folder, path, entry)?;
            let written = Written::at(&self.folder.join(path), entry);
            self.written.extend(written.map(|it| (path.clone(), it)));
        }
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Error> {
        self.forget();
        for folder in [&self.folder, &self.scratch] {
            remove_folder(folder).map_err(Error::at(folder))?;
        }
        self.begin()
    }

    /// Leaves the folders as they are and begins with others.
    fn move_on(&mut self) -> Result<(), Error> {
        self.forget();
        self.moves += 1;
        for folder in [&mut self.folder, &mut self.scratch] {
            folder.set_extension(self.moves.to_string());
        }
        self.begin()
    }

    fn forget(&mut self) {
        self.written.clear();
        self.times.forget();
    }

    fn begin(&self) -> Result<(), Error> {
        for folder in [&self.folder, &self.scratch] {
            fs::create_dir_all(folder).map_err(Error::at(folder))?;
        }
        Ok(())
    }
}

/// Whether the entry is there already.
fn has(place: &Path, entry: &TreeEntry) -> Result<bool, Error> {
    let Ok(found) = fs::symlink_metadata(place) else {
        return Ok(false);
    };
    let is_program = found.mode() & 0o100 != 0;
    let same_kind = match entry.kind {
        EntryKind::Link => found.is_symlink(),
        EntryKind::Program => found.is_file() && is_program,
        EntryKind::File => found.is_file() && !is_program,
    };
    if !same_kind {
        return Ok(false);
    }
    let there = TreeEntry {
        kind: entry.kind,
        source: EntryBytes::Disk(place.into()),
    };
    Ok(there.bytes()? == entry.bytes()?)
}

/// Takes a file away, and folders that nothing is left in.
fn remove(folder: &Path, path: &Path) -> Result<(), Error> {
    let place = folder.join(path);
    match fs::remove_file(&place) {
        Ok(()) => {}
        // A run may have removed it, or put a folder there: then it is not ours.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => {
            return Ok(());
        }
        Err(error) => return Err(Error::at(&place)(error)),
    }
    for above in path
        .ancestors()
        .skip(1)
        .filter(|above| *above != Path::new(""))
    {
        if fs::remove_dir(folder.join(above)).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::super::difference::tests::tree;
    use super::*;
    use culprit_jvm::Scratch;

    fn times(folder: &Path, path: &str) -> (i64, i64) {
        let found = fs::symlink_metadata(folder.join(path)).unwrap();
        (found.mtime(), found.mtime_nsec())
    }

    #[test]
    fn only_what_differs_is_written() {
        let root = tempfile::tempdir().unwrap();
        let folders = BuildFolders::new(root.path().to_owned(), Leftovers::Stay);
        let work = |build_folder: &mut BuildFolder| {
            build_folder.hold(&tree(&[("a", "1"), ("b/c", "2"), ("run*", "3")]))?;
            let folder = build_folder.folder.clone();
            let before = times(&folder, "a");
            fs::write(folder.join("built"), "x").unwrap();
            // A run changes a file of the candidate.
            fs::write(folder.join("run"), "changed").unwrap();
            build_folder.hold(&tree(&[("a", "1"), ("b", "now a file"), ("run*", "3")]))?;
            assert_eq!(times(&folder, "a"), before);
            assert_eq!(fs::read_to_string(folder.join("b")).unwrap(), "now a file");
            assert_eq!(fs::read_to_string(folder.join("run")).unwrap(), "3");
            assert!(folder.join("built").exists());
            build_folder.hold(&tree(&[("a", "1"), ("b/c", "2")]))?;
            let found = FileTree::read(&folder)?;
            let paths: Vec<_> = found.0.keys().map(|path| path.to_str().unwrap()).collect();
            assert_eq!(paths, ["a", "b/c", "built"]);
            Ok(())
        };
        folders.at(work).unwrap();
    }

    #[test]
    fn a_fresh_folder_has_nothing_of_the_candidate_before() {
        let root = tempfile::tempdir().unwrap();
        let folders = BuildFolders::new(root.path().to_owned(), Leftovers::Go);
        let work = |build_folder: &mut BuildFolder| {
            build_folder.hold(&tree(&[("a", "1")]))?;
            fs::write(build_folder.folder.join("built"), "x").unwrap();
            build_folder.hold(&tree(&[("a", "2")]))?;
            assert!(!build_folder.folder.join("built").exists());
            Ok(())
        };
        folders.at(work).unwrap();
    }

    /// Without rights to write everywhere, as root has them, this needs modes to be mended.
    #[test]
    fn folders_that_a_run_left_read_only_are_no_hindrance() {
        for leftovers in [Leftovers::Stay, Leftovers::Go] {
            let root = Scratch::new("test").unwrap();
            let folders = BuildFolders::new(root.path().to_owned(), leftovers);
            let lock = |build_folder: &BuildFolder| {
                let built = build_folder.folder.join("src/built");
                fs::create_dir_all(&built).unwrap();
                fs::write(built.join("f"), "x").unwrap();
                for folder in [&built, &build_folder.folder.join("src")] {
                    fs::set_permissions(folder, Permissions::from_mode(0o555)).unwrap();
                }
            };
            let work = |build_folder: &mut BuildFolder| {
                build_folder.hold(&tree(&[("src/a", "1"), ("src/b", "2")]))?;
                lock(build_folder);
                build_folder.hold(&tree(&[("src/a", "one")]))?;
                let src = build_folder.folder.join("src");
                assert_eq!(fs::read_to_string(src.join("a")).unwrap(), "one");
                assert!(!src.join("b").exists());
                assert_eq!(src.join("built").exists(), leftovers == Leftovers::Stay);
                lock(build_folder);
                // A file is to be where the folder is.
                build_folder.hold(&tree(&[("src/built", "3")]))?;
                assert_eq!(fs::read_to_string(src.join("built")).unwrap(), "3");
                assert_eq!(build_folder.moves, 0);
                Ok(())
            };
            folders.at(work).unwrap();
        }
    }

    #[test]
    fn a_folder_that_cannot_be_used_any_more_is_left() {
        for leftovers in [Leftovers::Stay, Leftovers::Go] {
            let root = tempfile::tempdir().unwrap();
            let folders = BuildFolders::new(root.path().to_owned(), leftovers);
            let work = |build_folder: &mut BuildFolder| {
                build_folder.hold(&tree(&[("a", "1")]))?;
                fs::remove_dir_all(&build_folder.folder).unwrap();
                fs::write(&build_folder.folder, "in the way").unwrap();
                build_folder.hold(&tree(&[("a", "1")]))?;
                assert_eq!(
                    fs::read(build_folder.setup().directory.join("a")).unwrap(),
                    b"1"
                );
                assert!(build_folder.setup().scratch.is_dir());
                Ok(())
            };
            folders.at(work).unwrap();
        }
    }

    #[test]
    fn nothing_is_touched_behind_a_link_that_a_run_made() {
        let root = tempfile::tempdir().unwrap();
        let theirs = root.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        let files = [("x", "1"), ("y", "2"), ("z", "a file")];
        for (name, text) in files {
            fs::write(theirs.join(name), text).unwrap();
        }
        let folders = BuildFolders::new(root.path().join("builds"), Leftovers::Stay);
        let work = |build_folder: &mut BuildFolder| {
            build_folder.hold(&tree(&[("data/x", "1"), ("data/y", "2")]))?;
            let data = build_folder.folder.join("data");
            let link = || {
                fs::remove_dir_all(&data).unwrap();
                std::os::unix::fs::symlink(&theirs, &data).unwrap();
            };
            link();
            // One of the files goes.
            build_folder.hold(&tree(&[("data/y", "2")]))?;
            assert!(!data.is_symlink() && !data.join("x").exists());
            link();
            // A folder is to be where they have a file.
            build_folder.hold(&tree(&[("data/z/deep", "3")]))?;
            assert!(!data.is_symlink() && data.join("z/deep").is_file());
            Ok(())
        };
        folders.at(work).unwrap();
        for (name, text) in files {
            assert_eq!(fs::read_to_string(theirs.join(name)).unwrap(), text);
        }
    }
}
