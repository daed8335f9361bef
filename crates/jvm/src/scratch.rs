//! Folders for files on the way, below the folder for temporary files: only their owner can look into them,
//! and nothing of them is left.
//!
//! A folder is locked as long as somebody uses it. A process that is killed leaves its folder behind and
//! its lock not, so [`Scratch::sweep`] tells those apart.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};

use crate::removal::remove_folder;

/// The prefix of the names of such folders. Result folders have other names.
const PREFIX: &str = "culprit-tmp-";

/// The number of names to try, since others may use the same.
const ATTEMPTS: usize = 100;

/// A folder that is removed when this is dropped, whatever is in it.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Locked until then.
    _lock: OwnedFd,
}

impl Scratch {
    /// Makes one among temporary files. The purpose is part of its name.
    pub fn new(purpose: &str) -> io::Result<Scratch> {
        Scratch::in_folder(&std::env::temp_dir(), purpose)
    }

    /// Makes one in a folder.
    pub fn in_folder(folder: &Path, purpose: &str) -> io::Result<Scratch> {
        let at_folder = |error: io::Error| {
            let kind = error.kind();
            io::Error::new(
                kind,
                Unmade {
                    folder: folder.to_owned(),
                    error,
                },
            )
        };
        for _ in 0..ATTEMPTS {
            let path = folder.join(format!("{PREFIX}{purpose}-{}", unused_name()));
            match Scratch::at(path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Ok(None) => {}
                Ok(Some(made)) => return Ok(made),
                Err(error) => return Err(at_folder(error)),
            }
        }
        Err(at_folder(io::ErrorKind::AlreadyExists.into()))
    }

    /// `None` where a sweep took it for one that was left behind: it was not locked yet.
    fn at(path: PathBuf) -> io::Result<Option<Scratch>> {
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        // A mask may have taken rights from us, too.
        match fs::set_permissions(&path, fs::Permissions::from_mode(0o700)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            given => given?,
        }
        Ok(lock(&path)?.map(|lock| Scratch { path, _lock: lock }))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what killed processes of the same user left behind among temporary files; how many folders.
    pub fn sweep() -> usize {
        sweep(&std::env::temp_dir())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is for the next sweep.
        let _ = remove_folder(&self.path);
    }
}

/// No folder could be made.
#[derive(Debug, thiserror::Error)]
#[error("no folder for temporary files in {}: {error}", .folder.display())]
struct Unmade {
    folder: PathBuf,
    #[source]
    error: io::Error,
}

/// Locks a folder that is ours; `None` where somebody else has it, or it is gone.
fn lock(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    let folder = match openat(CWD, path, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        folder => folder?,
    };
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        locked => locked?,
    }
    let is_there = rustix::fs::fstat(&folder)?.st_nlink > 0;
    Ok(is_there.then_some(folder))
}

fn sweep(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let us = rustix::process::geteuid().as_raw();
    let is_old = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let is_named = name.to_str().is_some_and(is_ours);
        // Of the entry itself, not of what a link leads to.
        is_named
            && entry
                .metadata()
                .is_ok_and(|known| known.is_dir() && known.uid() == us)
    };
    let old = entries.filter(is_old).map(|entry| entry.path());
    let swept = old.filter(|path| match lock(path) {
        // Nobody can begin to use it while we have the lock.
        Ok(Some(_lock)) => remove_folder(path).is_ok(),
        _ => false,
    });
    swept.count()
}

/// True if a folder has a name as [`unused_name`] ends it: a process, a number, chance.
fn is_ours(name: &str) -> bool {
    let parts: Vec<&str> = name.rsplitn(4, '-').collect();
    let [chance, number, process, start] = parts[..] else {
        return false;
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
    let is_chance = chance.len() == 16 && chance.bytes().all(|it| it.is_ascii_hexdigit());
    start.starts_with(PREFIX) && is_number(process) && is_number(number) && is_chance
}

/// A name that nobody is likely to have.
fn unused_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    // Where there is no chance, names that exist are passed over.
    format!("{}-{number}-{:016x}", std::process::id(), chance())
}

/// A number by chance; 0 where there is no source of chance.
pub(crate) fn chance() -> u64 {
    let mut chance = [0; 8];
    if let Ok(mut source) = File::open("/dev/urandom") {
        let _ = io::Read::read_exact(&mut source, &mut chance);
    }
    u64::from_ne_bytes(chance)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_for_its_owner_and_goes_with_its_use() {
        let root = tempfile::tempdir().unwrap();
        let scratch = Scratch::in_folder(root.path(), "test").unwrap();
        let path = scratch.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::set_permissions(path.join("a"), fs::Permissions::from_mode(0o0)).unwrap();
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_sweep_takes_what_nobody_uses_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let used = Scratch::in_folder(root.path(), "used").unwrap();
        let at = |name: &str| root.path().join(name);
        const LEFT: &str = "culprit-tmp-left-123-0-0123456789abcdef";
        for name in [LEFT, "culprit-tmp-notes", "culprit-debug", "other"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("file"), "x").unwrap();
        }
        fs::write(at("culprit-tmp-file"), "x").unwrap();
        symlink(at("other"), at("culprit-tmp-link")).unwrap();
        assert_eq!(sweep(root.path()), 1);
        assert!(!at(LEFT).exists());
        for name in [
            "culprit-tmp-notes/file",
            "culprit-debug/file",
            "other/file",
            "culprit-tmp-file",
            "culprit-tmp-link",
        ] {
            assert!(at(name).exists(), "{name}");
        }
        assert!(used.path().exists());
        assert_eq!(sweep(root.path()), 0);
    }

    #[test]
    fn folders_that_are_being_made_are_not_swept() {
        let root = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let making = scope.spawn(|| {
                for _ in 0..500 {
                    let made = Scratch::in_folder(root.path(), "new").unwrap();
                    fs::write(made.path().join("file"), "x").unwrap();
                }
            });
            while !making.is_finished() {
                sweep(root.path());
            }
        });
    }

    #[test]
    fn where_no_folder_can_be_made_is_said() {
        let error = Scratch::in_folder(Path::new("/nowhere/at/all"), "test").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    }
}
