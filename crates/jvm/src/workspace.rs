//! The folders a worker may change: the working folder, the home and the temporary files of its runs.
//!
//! A run finds them as the first run did, whatever earlier runs left there. Code of a candidate may still be
//! running while they are restored, so nothing is written or removed by a path that this code could replace by a
//! link: entries are moved between a folder that has been open since before it ran, and folders where it has no
//! rights.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::{CWD, Mode, OFlags, openat, renameat};

use crate::removal::{move_out, remove_folder};
use crate::untrusted;

/// The working folder of a program.
#[derive(Clone, Debug, Default)]
pub enum WorkingFolder {
    /// The scratch folder of the worker, which is not restored between runs.
    #[default]
    Scratch,
    /// An empty folder. The home of the user is empty, too.
    Empty,
    /// A folder with copies of the files of another folder. The home of the user is empty.
    Copy(Arc<Template>),
    /// A folder of the user, which a sandbox lets the program read only.
    Given(PathBuf),
}

/// The working folder, as a part of a sentence.
impl fmt::Display for WorkingFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkingFolder::Scratch => f.write_str("a scratch folder"),
            WorkingFolder::Empty => f.write_str("an empty folder"),
            WorkingFolder::Copy(template) => write!(f, "a copy of {}", template.root.display()),
            WorkingFolder::Given(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Entries of a folder that are copied at most.
const MOST_ENTRIES: usize = 2_000;

/// Bytes of the files that are copied at most, all together and each.
const MOST_BYTES: u64 = 64 << 20;
const MOST_OF_ONE: u64 = 4 << 20;

/// The entries of a folder, by paths below it. Those near the top come first: where there are too many, or where
/// one is too large, a link to the original takes the place of a copy, which can be read but not changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Template {
    root: PathBuf,
    /// The folder with the contents of the files: the root, or a folder that they were saved to.
    contents: PathBuf,
    entries: Vec<(PathBuf, FolderEntry)>,
    /// The time that all entries are older than.
    before: Option<SystemTime>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FolderEntry {
    Folder,
    File,
    Link,
}

impl Template {
    /// The entries of a folder that are older than a time: what a run leaves behind is no part of what it found.
    /// On file systems that do not know when a file was made, the entries of any age.
    pub fn of(root: &Path, before: SystemTime) -> io::Result<Template> {
        Template::read(root, Some(before))
    }

    /// All entries of a folder.
    pub fn whole(root: &Path) -> io::Result<Template> {
        Template::read(root, None)
    }

    fn read(root: &Path, before: Option<SystemTime>) -> io::Result<Template> {
        let mut template = Template {
            root: root.to_owned(),
            contents: root.to_owned(),
            entries: Vec::new(),
            before,
        };
        let device = fs::metadata(root)?.dev();
        let mut bytes = 0;
        let mut folders = VecDeque::from([PathBuf::new()]);
        while let Some(folder) = folders.pop_front() {
            let inner = match entries(&root.join(&folder), before) {
                Err(error) if folder.as_os_str().is_empty() => return Err(error),
                // Nobody can read it, or it is gone.
                Err(_) => continue,
                Ok(inner) => inner,
            };
            let is_small = template.entries.len() + inner.len() <= MOST_ENTRIES;
            let is_linked = !is_small && !folder.as_os_str().is_empty();
            if is_linked {
                template.link(&folder);
                continue;
            }
            for (name, known) in inner {
                let path = folder.join(name);
                let fits = known.len() <= MOST_OF_ONE && bytes + known.len() <= MOST_BYTES;
                let entry = match () {
                    // What is mounted there may be endless, as the files of /proc are.
                    () if known.dev() != device => FolderEntry::Link,
                    () if known.is_dir() && is_history(&path) => FolderEntry::Link,
                    () if known.is_dir() => FolderEntry::Folder,
                    () if known.is_file() && fits => FolderEntry::File,
                    () if known.is_file() || known.is_symlink() => FolderEntry::Link,
                    // Pipes, sockets and devices.
                    () => continue,
                };
                match entry {
                    FolderEntry::Folder => folders.push_back(path.clone()),
                    FolderEntry::File => bytes += known.len(),
                    FolderEntry::Link => {}
                }
                template.entries.push((path, entry));
            }
        }
        Ok(template)
    }

    /// The template without the entries of a folder in it.
    pub fn without(mut self, folder: &Path) -> Template {
        if let Ok(inner) = folder.strip_prefix(&self.root)
            && !inner.as_os_str().is_empty()
        {
            self.entries.retain(|(path, _)| !path.starts_with(inner));
        }
        self
    }

    /// The template with all folders, and with some of the files.
    pub fn only(mut self, is_kept: &dyn Fn(&Path) -> bool) -> Template {
        let entries = &mut self.entries;
        entries.retain(|(path, entry)| *entry == FolderEntry::Folder || is_kept(path));
        self
    }

    /// The files, by their paths below the folder.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let files = self.entries.iter();
        let files = files.filter(|(_, entry)| *entry != FolderEntry::Folder);
        files.map(|(path, _)| path.as_path())
    }

    /// The folder that the entries are in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A file of the folder that was written to, replaced or removed since: runs may find it changed by runs before
    /// them.
    pub fn changed(&self) -> Option<&Path> {
        let is_changed = |path: &Path| match fs::metadata(self.root.join(path)) {
            Ok(known) => {
                let is_younger = |before| known.modified().is_ok_and(|modified| modified >= before);
                known.is_file() && self.before.is_some_and(is_younger)
            }
            Err(_) => true,
        };
        let mut files = self
            .entries
            .iter()
            .filter(|(_, it)| *it != FolderEntry::Folder);
        files
            .find(|(path, _)| is_changed(path))
            .map(|(path, _)| path.as_path())
    }

    /// Saves the contents of the files to an empty folder, from which they are copied from now on.
    pub fn save_to(mut self, folder: &Path) -> io::Result<Template> {
        self.lay_out(folder)?;
        self.contents = folder.to_owned();
        Ok(self)
    }

    /// True if every entry is copied, and all of them together have so many bytes at most.
    fn fits(&self, most: u64) -> bool {
        let mut entries = self.entries.iter();
        let is_whole = entries.all(|(_, entry)| *entry != FolderEntry::Link);
        let sizes = self.files().filter_map(|path| {
            let known = fs::metadata(self.root.join(path));
            known.ok().map(|known| known.len())
        });
        is_whole && sizes.sum::<u64>() <= most
    }

    /// True if the folder had nothing that a run could find.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn link(&mut self, folder: &Path) {
        let mut entries = self.entries.iter_mut();
        if let Some((_, entry)) = entries.find(|(path, _)| path == folder) {
            *entry = FolderEntry::Link;
        }
    }

    /// The target of a link: the original, or the target of the original if that was copied, too.
    fn target(&self, path: &Path) -> PathBuf {
        let original = self.root.join(path);
        let target = fs::read_link(&original).ok();
        let is_here = |target: &PathBuf| {
            let around = original.parent().unwrap_or(&self.root);
            target.is_relative()
                && (self.entries.iter()).any(|(path, it)| {
                    *it == FolderEntry::File && self.root.join(path) == around.join(target)
                })
        };
        target.filter(is_here).unwrap_or(original)
    }

    /// Lays the entries out in an empty folder.
    pub fn lay_out(&self, folder: &Path) -> io::Result<()> {
        for (path, entry) in &self.entries {
            let to = folder.join(path);
            let made = match entry {
                FolderEntry::Folder => fs::create_dir(&to),
                FolderEntry::Link => symlink(self.target(path), &to),
                FolderEntry::File => copy(&self.contents.join(path), &to),
            };
            match made {
                // The user may change the folder meanwhile, and need not have the right to read all of it.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                    ) => {}
                made => made?,
            }
        }
        Ok(())
    }
}

/// Copies a file with its mode and its time, which tells whether a run has written to the copy. Something else that
/// took its place meanwhile is not copied.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(from) = untrusted::open(from) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let known = from.metadata()?;
    let mut new = File::options();
    let new = new.write(true).create_new(true).mode(known.mode() & 0o777);
    let mut to = new.open(to)?;
    io::copy(&mut from.take(MOST_OF_ONE), &mut to)?;
    to.set_modified(known.modified()?)
}

/// The most bytes of a file or folder that is copied for a test.
const MOST_OF_INPUT: u64 = 16 << 20;

/// Copies a file or a folder that a test reads; false if it is neither, or too large.
pub fn copy_input(from: &Path, to: &Path) -> io::Result<bool> {
    let known = fs::metadata(from)?;
    if known.is_dir() {
        let template = Template::whole(from)?;
        if !template.fits(MOST_OF_INPUT) {
            return Ok(false);
        }
        fs::create_dir_all(to)?;
        template.lay_out(to)?;
        return Ok(true);
    }
    let is_small = known.is_file() && known.len() <= MOST_OF_INPUT;
    if is_small {
        fs::copy(from, to)?;
    }
    Ok(is_small)
}

/// True if a folder is the database of a version control system.
fn is_history(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| [".git", ".hg", ".svn"].contains(&name))
}

/// The entries of a folder by their names, without those that are not older than a time.
fn entries(folder: &Path, before: Option<SystemTime>) -> io::Result<BTreeMap<OsString, Metadata>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(known) = entry.metadata() else {
            continue;
        };
        let is_younger = |before| known.created().is_ok_and(|made| made >= before);
        if before.is_some_and(is_younger) {
            continue;
        }
        found.insert(entry.file_name(), known);
        if found.len() > MOST_ENTRIES {
            break;
        }
    }
    Ok(found)
}

/// The folders of one worker.
#[derive(Debug)]
pub struct Workspace {
    directory: PathBuf,
    options: Vec<OsString>,
    restored: Vec<Restored>,
}

impl Workspace {
    /// Makes the folders in the scratch folder of a worker. What is laid out is made beside that folder, where the
    /// worker has no rights.
    pub fn new(scratch: &Path, folder: &WorkingFolder) -> io::Result<Workspace> {
        let (directory, template) = match folder {
            WorkingFolder::Scratch => {
                return Ok(Workspace {
                    directory: scratch.to_owned(),
                    options: Vec::new(),
                    restored: Vec::new(),
                });
            }
            WorkingFolder::Empty => (None, None),
            WorkingFolder::Copy(template) => (None, Some(Arc::clone(template))),
            WorkingFolder::Given(path) => (Some(path.clone()), None),
        };
        let temporary = scratch.join("tmp");
        let mut options = vec![property("java.io.tmpdir", &temporary)];
        let mut restored = vec![Restored::new(temporary, None)?];
        let directory = match directory {
            Some(directory) => directory,
            None => {
                let (own, home) = (scratch.join("work"), scratch.join("home"));
                options.push(property("user.home", &home));
                restored.push(Restored::new(home, None)?);
                restored.push(Restored::new(own.clone(), template)?);
                own
            }
        };
        let mut workspace = Workspace {
            directory,
            options,
            restored,
        };
        workspace.restore()?;
        Ok(workspace)
    }

    /// The working folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The options that tell a JVM of its home and of the folder for temporary files.
    pub fn jvm_options(&self) -> &[OsString] {
        &self.options
    }

    /// Makes the folders what they were before the first run.
    pub(crate) fn restore(&mut self) -> io::Result<()> {
        self.restored.iter_mut().try_for_each(Restored::restore)
    }
}

fn property(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(format!("-D{name}="));
    option.push(value);
    option
}

/// A folder that each run finds as the first one did.
#[derive(Debug)]
struct Restored {
    path: PathBuf,
    /// Open since before any run.
    folder: OwnedFd,
    template: Option<Arc<Template>>,
    /// The entries as they were laid out.
    stamps: BTreeMap<PathBuf, Stamp>,
}

/// Tells whether an entry is the one that was laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    inode: u64,
    size: u64,
    mode: u32,
    modified: (i64, i64),
}

impl Restored {
    fn new(path: PathBuf, template: Option<Arc<Template>>) -> io::Result<Restored> {
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(CWD, &path, flags, Mode::empty())?;
        Ok(Restored {
            path,
            folder,
            template,
            stamps: BTreeMap::new(),
        })
    }

    fn restore(&mut self) -> io::Result<()> {
        let is_new = self.template.is_some() && self.stamps.is_empty();
        if !is_new && stamps(&self.opened(), self.stamps.len()) == self.stamps {
            return Ok(());
        }
        let stock = new_folder(self.beside("old"))?;
        move_out(&self.folder, &stock)?;
        remove_folder(&stock)?;
        if let Some(template) = &self.template {
            let stock = new_folder(self.beside("new"))?;
            template.lay_out(&stock)?;
            for entry in fs::read_dir(&stock)? {
                let name = entry?.file_name();
                renameat(CWD, stock.join(&name), &self.folder, &name)?;
            }
            fs::remove_dir(&stock)?;
            self.stamps = stamps(&self.opened(), MOST_ENTRIES);
        }
        Ok(())
    }

    /// A path to the folder that was opened, wherever the worker has moved it.
    fn opened(&self) -> PathBuf {
        match cfg!(target_os = "linux") {
            true => format!("/proc/self/fd/{}", self.folder.as_raw_fd()).into(),
            false => self.path.clone(),
        }
    }

    /// A place beside the scratch folder: on the same file system, and out of reach of the worker.
    fn beside(&self, what: &str) -> PathBuf {
        let scratch = self.path.parent().unwrap_or(&self.path);
        let mut name = scratch.file_name().unwrap_or_default().to_owned();
        name.push("-");
        name.push(what);
        scratch.with_file_name(name)
    }
}

/// Makes a folder, in the place of an older one.
fn new_folder(path: PathBuf) -> io::Result<PathBuf> {
    remove_folder(&path)?;
    fs::DirBuilder::new().mode(0o700).create(&path)?;
    Ok(path)
}

/// The entries of a folder that was laid out. One more than there should be is enough to tell that it changed.
fn stamps(folder: &Path, most: usize) -> BTreeMap<PathBuf, Stamp> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        let entries = fs::read_dir(folder.join(&inner)).into_iter().flatten();
        for entry in entries.flatten() {
            let Ok(known) = entry.metadata() else {
                continue;
            };
            let path = inner.join(entry.file_name());
            let is_folder = known.is_dir();
            let stamp = Stamp {
                inode: known.ino(),
                // Those of a folder are about its entries, which are told apart by themselves.
                size: if is_folder { 0 } else { known.size() },
                mode: known.mode(),
                modified: match is_folder {
                    true => (0, 0),
                    false => (known.mtime(), known.mtime_nsec()),
                },
            };
            if is_folder {
                folders.push(path.clone());
            }
            found.insert(path, stamp);
            if found.len() > most {
                return found;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A folder of a user, and the scratch folder of a worker.
    fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let (user, scratch) = (root.path().join("user"), root.path().join("worker-0"));
        fs::create_dir(&user).unwrap();
        fs::create_dir(&scratch).unwrap();
        (root, user, scratch)
    }

    /// A time after all others.
    fn later() -> SystemTime {
        SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1 << 40)
    }

    #[test]
    fn each_run_finds_an_empty_folder() {
        let (_root, _, scratch) = places();
        let mut workspace = Workspace::new(&scratch, &WorkingFolder::Empty).unwrap();
        let directory = workspace.directory().to_owned();
        write(&directory.join("a/b/c"), "left");
        write(&scratch.join("home/.app"), "left");
        write(&scratch.join("tmp/cache"), "left");
        workspace.restore().unwrap();
        assert!(names(&directory).is_empty());
        assert!(names(&scratch.join("home")).is_empty());
        assert!(names(&scratch.join("tmp")).is_empty());
        let options: Vec<_> = workspace.jvm_options().to_vec();
        assert_eq!(
            options,
            [
                property("java.io.tmpdir", &scratch.join("tmp")),
                property("user.home", &scratch.join("home")),
            ]
        );
    }

    #[test]
    fn each_run_finds_the_files_that_were_there() {
        let (root, user, scratch) = places();
        write(&user.join("in.txt"), "one");
        write(&user.join("conf/app.xml"), "two");
        let template = Template::of(&user, later()).unwrap();
        let folder = WorkingFolder::Copy(Arc::new(template));
        let mut workspace = Workspace::new(&scratch, &folder).unwrap();
        let directory = workspace.directory().to_owned();
        assert_eq!(names(&directory), ["conf", "in.txt"]);
        // What changes is restored: a file that is written to with as many bytes, removed, or added.
        fs::write(directory.join("in.txt"), "two").unwrap();
        workspace.restore().unwrap();
        assert_eq!(fs::read_to_string(directory.join("in.txt")).unwrap(), "one");
        fs::remove_dir_all(directory.join("conf")).unwrap();
        write(&directory.join("out/log"), "new");
        workspace.restore().unwrap();
        assert_eq!(names(&directory), ["conf", "in.txt"]);
        assert_eq!(
            fs::read_to_string(directory.join("conf/app.xml")).unwrap(),
            "two"
        );
        assert_eq!(fs::read_to_string(user.join("in.txt")).unwrap(), "one");
        assert_eq!(names(root.path()), ["user", "worker-0"]);
    }

    #[test]
    fn what_a_run_left_is_not_what_it_found() {
        let (_root, user, _) = places();
        write(&user.join("in.txt"), "one");
        let template = Template::of(&user, SystemTime::UNIX_EPOCH).unwrap();
        let knows_age = fs::metadata(&user).unwrap().created().is_ok();
        assert_eq!(template.is_empty(), knows_age);
    }

    #[test]
    fn a_folder_of_the_template_can_be_left_out() {
        let (_root, user, _) = places();
        write(&user.join("conf/count"), "2");
        write(&user.join("in.txt"), "one");
        let template = Template::of(&user, later()).unwrap();
        assert_eq!(template.clone().without(Path::new("/elsewhere")), template);
        assert_eq!(template.clone().without(&user), template);
        let without = template.without(&user.join("conf"));
        assert_eq!(
            without.entries,
            [(PathBuf::from("in.txt"), FolderEntry::File)]
        );
    }

    #[test]
    fn some_of_the_files_can_be_left_out() {
        let (_root, user, _) = places();
        write(&user.join("conf/count"), "2");
        write(&user.join("in.txt"), "one");
        let template = Template::of(&user, later()).unwrap();
        let template = template.only(&|path| path.ends_with("count"));
        let files: Vec<&Path> = template.files().collect();
        assert_eq!(files, [Path::new("conf/count")]);
        assert_eq!(template.entries.len(), 2);
    }

    #[test]
    fn files_that_are_saved_are_copied_as_they_were() {
        let (root, user, scratch) = places();
        write(&user.join("conf/count"), "2");
        symlink("conf/count", user.join("link")).unwrap();
        let saved = root.path().join("saved");
        fs::create_dir(&saved).unwrap();
        let template = Template::of(&user, later()).unwrap();
        let template = template.save_to(&saved).unwrap();
        assert_eq!(template.changed(), None);
        fs::write(user.join("conf/count"), "5").unwrap();
        fs::remove_dir_all(user.join("conf")).unwrap();
        let folder = WorkingFolder::Copy(Arc::new(template));
        let workspace = Workspace::new(&scratch, &folder).unwrap();
        let count = fs::read_to_string(workspace.directory().join("conf/count"));
        assert_eq!(count.unwrap(), "2");
        let link = fs::read_to_string(workspace.directory().join("link"));
        assert_eq!(link.unwrap(), "2");
        let WorkingFolder::Copy(template) = folder else {
            unreachable!("it is a copy");
        };
        assert_eq!(template.changed(), Some(Path::new("link")));
    }

    #[test]
    fn what_is_too_large_is_a_link_to_the_original() {
        let (_root, user, scratch) = places();
        write(&user.join("small"), "x");
        let large = File::create(user.join("large")).unwrap();
        large.set_len(MOST_OF_ONE + 1).unwrap();
        for number in 0..MOST_ENTRIES {
            write(&user.join(format!("many/{number}")), "");
        }
        write(&user.join(".git/HEAD"), "x");
        rustix::fs::mkfifoat(CWD, user.join("pipe"), Mode::RUSR).unwrap();
        let template = Template::of(&user, later()).unwrap();
        let folder = WorkingFolder::Copy(Arc::new(template));
        let workspace = Workspace::new(&scratch, &folder).unwrap();
        let directory = workspace.directory();
        assert_eq!(names(directory), [".git", "large", "many", "small"]);
        for (name, is_link) in [
            (".git", true),
            ("large", true),
            ("many", true),
            ("small", false),
        ] {
            let known = fs::symlink_metadata(directory.join(name)).unwrap();
            assert_eq!(known.is_symlink(), is_link, "{name}");
        }
    }

    #[test]
    fn links_that_a_run_leaves_lead_nowhere() {
        let (_root, user, scratch) = places();
        write(&user.join("conf/app.xml"), "two");
        write(&user.join("secret/kept"), "kept");
        let template = Template::of(&user, later()).unwrap();
        let folder = WorkingFolder::Copy(Arc::new(template));
        let mut workspace = Workspace::new(&scratch, &folder).unwrap();
        let directory = workspace.directory().to_owned();
        fs::remove_dir_all(directory.join("conf")).unwrap();
        symlink(user.join("secret"), directory.join("conf")).unwrap();
        workspace.restore().unwrap();
        assert_eq!(names(&user.join("secret")), ["kept"]);
        assert!(directory.join("conf").symlink_metadata().unwrap().is_dir());
        // Neither does a link in the place of the folder itself.
        fs::rename(&directory, scratch.join("elsewhere")).unwrap();
        symlink(user.join("secret"), &directory).unwrap();
        workspace.restore().unwrap();
        assert_eq!(names(&user.join("secret")), ["kept"]);
        assert_eq!(names(&scratch.join("elsewhere")), ["conf", "secret"]);
        // Nor is an untouched folder in its place mistaken for it.
        fs::remove_file(&directory).unwrap();
        fs::create_dir(&directory).unwrap();
        write(&scratch.join("elsewhere/left"), "left");
        workspace.restore().unwrap();
        assert_eq!(names(&scratch.join("elsewhere")), ["conf", "secret"]);
    }

    #[test]
    fn files_that_nobody_can_read_are_left_out() {
        let (_root, user, scratch) = places();
        write(&user.join("closed"), "x");
        fs::set_permissions(user.join("closed"), fs::Permissions::from_mode(0o0)).unwrap();
        write(&user.join("open"), "x");
        let template = Template::of(&user, later()).unwrap();
        let folder = WorkingFolder::Copy(Arc::new(template));
        let mut workspace = Workspace::new(&scratch, &folder).unwrap();
        workspace.restore().unwrap();
        assert!(workspace.directory().join("open").exists());
    }
}
