//! Files in a folder that somebody else could write to: a candidate, say, or a program that is tested.
//!
//! A name there may lead anywhere, to a device or to a pipe that nobody writes to, and a file may be of any
//! length. So only regular files are opened, links are not followed, nobody waits, and only so many bytes
//! are read.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};

/// Names in a folder that are looked at.
const NAMES: usize = 10_000;

/// Opens a regular file for reading. A link is none.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::NOFOLLOW)
}

/// Opens the regular file that a path leads to, by links if there are some, for reading.
pub fn open_target(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::empty())
}

fn open_with(path: &Path, more: OFlags) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        )),
    }
}

/// The first bytes of a file.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same as text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&read(path, most)?).into_owned())
}

/// Copies a file, or its start, to a new one that only we can read. What is at that place is replaced.
pub fn copy(from: &Path, to: &Path, most: u64) -> io::Result<()> {
    let from = open(from)?;
    match fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut new = File::options();
    let mut to = new.write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut from.take(most), &mut to)?;
    to.flush()
}

/// The files of a folder whose names end so, by name: the first few of those that are found soon.
pub fn files_with(folder: &Path, extension: &str, most: usize) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .take(NAMES)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == extension))
        .collect();
    found.sort();
    found.truncate(most);
    found
}

/// The last bytes of a file that is open, as text. Others may write to it meanwhile.
pub(crate) fn end_of(file: &File, most: u64) -> String {
    let length = file.metadata().map_or(0, |known| known.len());
    let mut bytes = vec![0; usize::try_from(length.min(most)).unwrap_or(0)];
    let count = file.read_at(&mut bytes, length.saturating_sub(most));
    bytes.truncate(count.unwrap_or(0));
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{FileType, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_nobody_waits() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        mknodat(CWD, at("pipe.log"), FileType::Fifo, Mode::RUSR, 0).unwrap();
        fs::write(at("text.log"), "0123456789").unwrap();
        fs::create_dir(at("folder.log")).unwrap();
        symlink(at("pipe.log"), at("to-pipe.log")).unwrap();
        symlink(at("text.log"), at("to-text.log")).unwrap();
        symlink("/dev/zero", at("zeros.log")).unwrap();
        for name in ["pipe", "folder", "to-pipe", "to-text", "zeros", "none"] {
            let path = at(&format!("{name}.log"));
            assert!(open(&path).is_err(), "{name}");
            assert!(copy(&path, &at("copy"), 10).is_err(), "{name}");
        }
        assert_eq!(read_text(&at("text.log"), 4).unwrap(), "0123");
        assert!(open_target(&at("to-text.log")).is_ok());
        for name in ["pipe.log", "to-pipe.log", "zeros.log", "folder.log"] {
            assert!(open_target(&at(name)).is_err(), "{name}");
        }
        let found = files_with(folder.path(), "log", 10);
        assert_eq!(found, [at("text.log")]);
    }

    #[test]
    fn what_is_copied_replaces_a_link_and_not_what_that_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("report"), "new").unwrap();
        fs::write(at("precious"), "old").unwrap();
        symlink(at("precious"), at("saved")).unwrap();
        copy(&at("report"), &at("saved"), 2).unwrap();
        assert_eq!(fs::read_to_string(at("precious")).unwrap(), "old");
        assert_eq!(fs::read_to_string(at("saved")).unwrap(), "ne");
        assert!(!at("saved").is_symlink());
    }

    #[test]
    fn the_end_of_a_file_is_read_without_moving_its_position() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut file = File::options()
            .create(true)
            .read(true)
            .append(true)
            .open(&path)
            .unwrap();
        file.write_all(b"first line\nlast").unwrap();
        assert_eq!(end_of(&file, 4), "last");
        assert_eq!(end_of(&file, 100), "first line\nlast");
    }
}
