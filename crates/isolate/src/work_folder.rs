//! A folder for a run of ours, and how it goes: commands of the user's leave folders in it that cannot be
//! written, such as Go's cache of modules.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

/// What its owner needs to change what is in a folder.
const OPEN: u32 = 0o700;

/// A new folder that is removed at the end, whatever the modes of folders in it.
pub struct WorkFolder(TempDir);

impl WorkFolder {
    /// Makes one among temporary files.
    pub fn new() -> io::Result<WorkFolder> {
        let made = tempfile::Builder::new()
            .prefix("culprit-isolate-")
            .tempdir();
        made.map(WorkFolder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // Nothing more can be done about what stays.
        let _ = remove(self.0.path());
    }
}

/// Removes a folder with all that is in it, if it is there.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    let gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    gone(fs::remove_dir_all(folder)).or_else(|_| {
        unlock(folder);
        gone(fs::remove_dir_all(folder))
    })
}

/// Lets us write in a folder and in all that are in it, but for what is behind links. Those of somebody
/// else stay as they are.
pub(crate) fn unlock(folder: &Path) {
    let Ok(found) = fs::symlink_metadata(folder) else {
        return;
    };
    if !found.is_dir() {
        return;
    }
    let mut mode = found.permissions();
    if mode.mode() & OPEN != OPEN {
        mode.set_mode(mode.mode() | OPEN);
        let _ = fs::set_permissions(folder, mode);
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_mode(folder: &Path, mode: u32) {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn folders_are_unlocked_and_what_is_behind_links_is_not() {
        let root = tempfile::tempdir().unwrap();
        let (ours, theirs) = (root.path().join("ours"), root.path().join("theirs"));
        let deep = ours.join("a/b");
        for folder in [&deep, &theirs] {
            fs::create_dir_all(folder).unwrap();
        }
        std::os::unix::fs::symlink(&theirs, deep.join("link")).unwrap();
        for folder in [&deep, &ours.join("a"), &theirs] {
            set_mode(folder, 0o555);
        }
        unlock(&ours);
        let mode = |folder: &Path| fs::metadata(folder).unwrap().permissions().mode() & 0o777;
        let modes = [&deep, &ours.join("a"), &theirs].map(|folder| mode(folder));
        assert_eq!(modes, [0o755, 0o755, 0o555]);
        remove(&ours).unwrap();
        assert!(!ours.exists() && theirs.exists());
    }

    #[test]
    fn a_work_folder_goes_with_read_only_folders_in_it() {
        let work = WorkFolder::new().unwrap();
        let path = work.path().to_owned();
        let deep = path.join("1/tree/mod");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("f"), "x").unwrap();
        set_mode(&deep, 0o555);
        set_mode(&path.join("1"), 0);
        drop(work);
        assert!(!path.exists());
    }
}
