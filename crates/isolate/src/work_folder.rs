//! Folders of a run: commands of the user's leave folders in them that cannot be written, such as Go's cache
//! of modules.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What its owner needs to change what is in a folder.
const OPEN: u32 = 0o700;

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
        culprit_jvm::remove_folder(&ours).unwrap();
        assert!(!ours.exists() && theirs.exists());
    }
}
