//! A guard against links below a folder: nothing is written through one, since its target is not ours.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use culprit_jvm::{between_starts, remove_folder};

use super::Error;
use super::tree::{EntryKind, TreeEntry};

/// The folders above files. A run or the user may have put a link in place of one.
pub(super) struct LinkGuard<'b> {
    folder: &'b Path,
    /// Paths known to be folders.
    clear: HashSet<PathBuf>,
}

impl<'b> LinkGuard<'b> {
    pub(super) fn below(folder: &'b Path) -> LinkGuard<'b> {
        LinkGuard {
            folder,
            clear: HashSet::new(),
        }
    }

    /// True if every part of the path above the file is a folder.
    pub(super) fn is_clear(&mut self, path: &Path) -> bool {
        let Some(above) = path.parent().filter(|above| *above != Path::new("")) else {
            return true;
        };
        if self.clear.contains(above) {
            return true;
        }
        let is_clear = self.is_clear(above)
            && fs::symlink_metadata(self.folder.join(above)).is_ok_and(|found| found.is_dir());
        if is_clear {
            self.clear.insert(above.to_owned());
        }
        is_clear
    }

    /// Removes files and links in place of folders.
    pub(super) fn make_clear(&mut self, path: &Path) -> Result<(), Error> {
        if self.is_clear(path) {
            return Ok(());
        }
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        // The outermost first: behind a link nothing is touched.
        above.reverse();
        for above in above.into_iter().filter(|above| *above != Path::new("")) {
            let place = self.folder.join(above);
            match fs::symlink_metadata(&place) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return fs::remove_file(&place).map_err(Error::at(&place)),
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Makes what is at a path the entry, as it should be: folders around it included.
    pub(super) fn write(&mut self, path: &Path, entry: &TreeEntry) -> Result<(), Error> {
        self.make_clear(path)?;
        let place = self.folder.join(path);
        make_room(&place)?;
        write(&place, entry)
    }
}

/// Removes a folder that stands where a file is to be: runs leave such things.
fn make_room(place: &Path) -> Result<(), Error> {
    if fs::symlink_metadata(place).is_ok_and(|found| found.is_dir()) {
        remove_folder(place).map_err(Error::at(place))?;
    }
    Ok(())
}

fn write(path: &Path, entry: &TreeEntry) -> Result<(), Error> {
    let failed = || Error::at(path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::at(folder))?;
    }
    let bytes = entry.bytes()?;
    let before = fs::symlink_metadata(path);
    // Links are not written through, and a file that others hold is left to them.
    if before.is_ok() {
        fs::remove_file(path).map_err(failed())?;
    }
    match entry.kind {
        EntryKind::Link => {
            let target = Path::new(OsStr::from_bytes(&bytes));
            std::os::unix::fs::symlink(target, path).map_err(failed())
        }
        EntryKind::File | EntryKind::Program => {
            let write = || fs::write(path, &bytes);
            let (written, mode) = match entry.kind {
                EntryKind::Program => (between_starts(write), 0o755),
                _ => (write(), 0o644),
            };
            written.map_err(failed())?;
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(failed())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::EntryBytes;
    use super::*;

    #[test]
    fn nothing_is_written_through_a_link() {
        let root = tempfile::tempdir().unwrap();
        let (theirs, ours) = (root.path().join("theirs"), root.path().join("ours"));
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("x"), "1").unwrap();
        let entry = |kind, bytes: &[u8]| TreeEntry {
            kind,
            source: EntryBytes::Memory(bytes.into()),
        };
        let mut way = LinkGuard::below(&ours);
        let link = entry(EntryKind::Link, theirs.as_os_str().as_bytes());
        way.write(Path::new("data"), &link).unwrap();
        let file = entry(EntryKind::File, b"2");
        way.write(Path::new("data/x"), &file).unwrap();
        assert_eq!(fs::read(theirs.join("x")).unwrap(), b"1");
        assert_eq!(fs::read(ours.join("data/x")).unwrap(), b"2");
    }
}
