//! The removal of a folder with all that is in it, whatever somebody else put there.
//!
//! Folders without rights are given them, links are not followed, and what is swapped for a link meanwhile
//! is not followed either: everything is done relative to folders that are open. Folders that are nested
//! deeply are moved to the top before they are emptied, so that neither the stack nor the number of open
//! files depends on how deep that is.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, fstat, openat, renameat, unlinkat};
use rustix::io::Errno;

/// The mode that an owner needs to change the contents of a folder.
const RIGHTS: Mode = Mode::RWXU;

/// Folders within each other that are open at a time.
const DEPTH: usize = 64;

/// Removes a folder, if it is there.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    let top = match open_folder(CWD, folder) {
        Err(Errno::NOENT) => return Ok(()),
        top => top?,
    };
    let device = fstat(&top)?.st_dev;
    let mut inner = vec![Emptied::new(c"".to_owned(), top.try_clone()?)?];
    let mut moved = 0;
    let mut is_moved = false;
    loop {
        let depth = inner.len();
        let Some(emptied) = inner.last_mut() else {
            break;
        };
        match emptied.next_folder()? {
            Some(name) if depth < DEPTH => {
                let opened = open_folder(emptied.folder.as_fd(), name.as_c_str())?;
                // Another file system is somebody else's, whoever mounted it there.
                if fstat(&opened)?.st_dev != device {
                    return Err(Errno::XDEV.into());
                }
                inner.push(Emptied::new(name, opened)?);
            }
            Some(name) => {
                move_to(&top, &emptied.folder, &name, &mut moved)?;
                is_moved = true;
            }
            None if depth == 1 && is_moved => {
                // What was moved to the top may not have been listed.
                emptied.entries.rewind();
                is_moved = false;
            }
            None => {
                let name = inner.pop().map(|emptied| emptied.name).unwrap_or_default();
                if let Some(around) = inner.last() {
                    unlinkat(&around.folder, &name, AtFlags::REMOVEDIR)?;
                }
            }
        }
    }
    Ok(unlinkat(CWD, folder, AtFlags::REMOVEDIR)?)
}

/// Entries that are moved out of a folder at most.
const MOST_MOVED: u64 = 50_000;

/// Moves all that is in an open folder into another folder. Whoever keeps on adding entries meanwhile is an
/// error in the end.
pub(crate) fn move_out(from: &OwnedFd, to: &Path) -> io::Result<()> {
    let to = open_folder(CWD, to)?;
    let mut moved = 0;
    loop {
        let before = moved;
        for entry in Dir::read_from(from)? {
            let name = entry?.file_name().to_owned();
            if [c".", c".."].contains(&name.as_c_str()) {
                continue;
            }
            moved += 1;
            let place = format!("{moved}");
            let done = match renameat(from, &name, &to, &place) {
                Err(Errno::ACCESS | Errno::PERM) => {
                    drop(open_folder(from.as_fd(), name.as_c_str())?);
                    renameat(from, &name, &to, &place)
                }
                done => done,
            };
            match done {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
            if moved > MOST_MOVED {
                return Err(Errno::NOTEMPTY.into());
            }
        }
        if moved == before {
            return Ok(());
        }
    }
}

/// A folder whose files are being removed.
struct Emptied {
    name: CString,
    folder: OwnedFd,
    entries: Dir,
}

impl Emptied {
    fn new(name: CString, folder: OwnedFd) -> io::Result<Emptied> {
        Ok(Emptied {
            name,
            entries: Dir::read_from(&folder)?,
            folder,
        })
    }

    /// Removes files up to the next folder.
    fn next_folder(&mut self) -> io::Result<Option<CString>> {
        for entry in self.entries.by_ref() {
            let name = entry?.file_name().to_owned();
            if [c".", c".."].contains(&name.as_c_str()) {
                continue;
            }
            match unlinkat(&self.folder, &name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR | Errno::PERM) => return Ok(Some(name)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }
}

/// Moves a folder to the top, under a name that nothing there has.
fn move_to(top: &OwnedFd, from: &OwnedFd, name: &CStr, moved: &mut u64) -> io::Result<()> {
    // Only who can write to a folder can move it elsewhere.
    drop(open_folder(from.as_fd(), name)?);
    loop {
        *moved += 1;
        match renameat(from, name, top, format!(".moved-{moved}")) {
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
            done => return Ok(done?),
        }
    }
}

/// Opens a folder that we may read and change from then on. A link is none.
fn open_folder<P: rustix::path::Arg + Copy>(
    at: impl AsFd + Copy,
    name: P,
) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let usable = |opened: &OwnedFd| {
        let mode = fstat(opened).map(|known| Mode::from_raw_mode(known.st_mode));
        mode.is_ok_and(|mode| mode.contains(RIGHTS))
    };
    match openat(at, name, flags | OFlags::RDONLY, Mode::empty()) {
        Ok(opened) if usable(&opened) => Ok(opened),
        Ok(_) | Err(Errno::ACCESS) => {
            let place = openat(at, name, flags | OFlags::PATH, Mode::empty())?;
            give_rights(&place)?;
            openat(&place, c".", flags | OFlags::RDONLY, Mode::empty())
        }
        Err(error) => Err(error),
    }
}

/// Changes the mode of a folder through its descriptor, which needs no right to read it.
#[cfg(target_os = "linux")]
fn give_rights(place: &OwnedFd) -> Result<(), Errno> {
    rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), RIGHTS)
}

#[cfg(not(target_os = "linux"))]
fn give_rights(place: &OwnedFd) -> Result<(), Errno> {
    rustix::fs::fchmod(place, RIGHTS)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set_mode(folder: &Path, mode: u32) {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn folders_without_rights_go_and_what_is_behind_links_stays() {
        let root = tempfile::tempdir().unwrap();
        let (ours, theirs) = (root.path().join("ours"), root.path().join("theirs"));
        let deep = ours.join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir_all(theirs.join("kept")).unwrap();
        fs::write(theirs.join("kept/file"), "x").unwrap();
        fs::create_dir(ours.join(".moved-1")).unwrap();
        fs::write(ours.join(".moved-1/file"), "x").unwrap();
        fs::write(deep.join("file"), "x").unwrap();
        symlink(&theirs, deep.join("link")).unwrap();
        symlink(theirs.join("kept"), ours.join("a-link")).unwrap();
        for folder in [&deep, &ours.join("a"), &ours] {
            set_mode(folder, 0o0);
        }
        set_mode(&theirs, 0o555);
        remove_folder(&ours).unwrap();
        assert!(!ours.exists());
        assert!(theirs.join("kept/file").exists());
        let mode = fs::metadata(&theirs).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o555);
        set_mode(&theirs, 0o755);
        remove_folder(&ours).unwrap();
        symlink(&theirs, &ours).unwrap();
        assert!(remove_folder(&ours).is_err());
        assert!(theirs.join("kept/file").exists());
    }

    #[test]
    fn depth_costs_neither_stack_nor_descriptors() {
        let root = tempfile::tempdir().unwrap();
        let top = root.path().join("top");
        fs::create_dir(&top).unwrap();
        let mut at = open_folder(CWD, &top).unwrap();
        for _ in 0..2_000 {
            rustix::fs::mkdirat(&at, c"d", RIGHTS).unwrap();
            at = open_folder(at.as_fd(), c"d").unwrap();
        }
        remove_folder(&top).unwrap();
        assert!(!top.exists());
    }
}
