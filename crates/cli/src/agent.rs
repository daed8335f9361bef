//! The agent that this executable carries, and how it gets onto the disk for the JVM to load.
//!
//! It is unpacked into a private folder under a name that holds its hash. A file found there
//! is used only if it belongs to us, nobody else may write to it, and its content is, byte for
//! byte, what we carry; otherwise it is replaced. A folder that others may write to is never
//! used.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::exit::{ExitCode, Expected};

/// The agent library, as built by the build script.
pub(crate) const LIBRARY: &[u8] = include_bytes!(env!("CULPRIT_AGENT_FILE"));

/// Its SHA-256, in hexadecimal.
const HASH: &str = env!("CULPRIT_AGENT_HASH");

/// Folders of this process to unpack into, best first.
pub(crate) fn folders_of_process() -> Vec<PathBuf> {
    folders(
        std::env::var_os("XDG_CACHE_HOME"),
        std::env::var_os("HOME"),
        &std::env::temp_dir(),
    )
}

fn folders(cache: Option<OsString>, home: Option<OsString>, temporary: &Path) -> Vec<PathBuf> {
    let absolute = |value: OsString| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
    let cache = cache.and_then(absolute);
    let home = home.and_then(absolute).map(|home| home.join(".cache"));
    let own = rustix::process::geteuid().as_raw();
    cache
        .or(home)
        .map(|parent| parent.join("culprit"))
        .into_iter()
        .chain([temporary.join(format!("culprit-{own}"))])
        .collect()
}

/// The path of the unpacked agent, in the first folder that will do.
pub(crate) fn unpack(folders: &[PathBuf]) -> Result<PathBuf, Expected> {
    unpack_as(&format!("agent-{}.so", &HASH[..16]), folders)
}

/// The path of a second file with the same: a JVM loads a file once, and is to have two agents.
pub(crate) fn unpack_twin(folders: &[PathBuf]) -> Result<PathBuf, Expected> {
    unpack_as(&format!("agent-{}-twin.so", &HASH[..16]), folders)
}

fn unpack_as(name: &str, folders: &[PathBuf]) -> Result<PathBuf, Expected> {
    let mut reasons = Vec::new();
    for folder in folders {
        match unpack_into(folder, name, LIBRARY) {
            Ok(file) => return Ok(file),
            Err(reason) => reasons.push(format!("{}: {reason}", folder.display())),
        }
    }
    let message = format!(
        "no folder to unpack the agent into ({})",
        reasons.join("; ")
    );
    Err(Expected::new(ExitCode::Usage, message)
        .hint("set XDG_CACHE_HOME to a folder that only you can write to"))
}

fn unpack_into(folder: &Path, name: &str, library: &[u8]) -> Result<PathBuf, String> {
    let text = folder.to_str().ok_or("its name is not UTF-8")?;
    // The JVM ends the path of an agent at `=`, and splits JAVA_TOOL_OPTIONS at white space.
    if text.contains(|c: char| c == '=' || c == '"' || c == '\'' || c.is_whitespace()) {
        return Err("the JVM cannot load from a path with blanks, quotes or `=`".to_owned());
    }
    private_folder(folder)?;
    let file = folder.join(name);
    if !is_sound(&file, library) {
        write_whole(folder, &file, library).map_err(|error| error.to_string())?;
    }
    Ok(file)
}

/// Makes a folder that only the user can write to, or sees to it that it is one.
pub(crate) fn private_folder(folder: &Path) -> Result<(), String> {
    make_private(folder).map_err(|error| error.to_string())?;
    check_private(folder)
}

fn make_private(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn check_private(folder: &Path) -> Result<(), String> {
    let data = folder
        .symlink_metadata()
        .map_err(|error| error.to_string())?;
    if !data.is_dir() {
        Err("not a folder".to_owned())
    } else if data.uid() != rustix::process::geteuid().as_raw() {
        Err("belongs to another user".to_owned())
    } else if data.mode() & 0o022 != 0 {
        Err("others may write to it".to_owned())
    } else {
        Ok(())
    }
}

fn is_sound(file: &Path, library: &[u8]) -> bool {
    let safe = file.symlink_metadata().is_ok_and(|data| {
        data.is_file()
            && data.uid() == rustix::process::geteuid().as_raw()
            && data.mode() & 0o022 == 0
            && data.len() == library.len() as u64
    });
    safe && fs::read(file).is_ok_and(|bytes| bytes == library)
}

/// Another `culprit` may do the same at the same time, and a JVM may load the file at any
/// moment: it appears whole or not at all.
fn write_whole(folder: &Path, file: &Path, library: &[u8]) -> io::Result<()> {
    let part = folder.join(format!("agent-{}.part", std::process::id()));
    // Left over by a process of the same number that was killed; absent in all other cases.
    let _ = fs::remove_file(&part);
    let write = || {
        let mut out = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&part)?;
        out.write_all(library)?;
        out.set_permissions(Permissions::from_mode(0o500))?;
        out.sync_all()?;
        fs::rename(&part, file)
    };
    write().inspect_err(|_| {
        // The first error is the one to tell.
        let _ = fs::remove_file(&part);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn the_agent_is_unpacked_once_into_a_private_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("new/culprit");
        let file = unpack(std::slice::from_ref(&folder)).unwrap();
        assert_eq!(fs::read(&file).unwrap(), LIBRARY);
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o500));
        let inode = file.metadata().unwrap().ino();
        assert_eq!(unpack(std::slice::from_ref(&folder)).unwrap(), file);
        assert_eq!(file.metadata().unwrap().ino(), inode);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_tampered_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let folders = [dir.path().join("culprit")];
        let file = unpack(&folders).unwrap();
        let mut bytes = LIBRARY.to_vec();
        bytes[100] ^= 1;
        fs::remove_file(&file).unwrap();
        fs::write(&file, &bytes).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o500)).unwrap();
        assert_eq!(unpack(&folders).unwrap(), file);
        assert_eq!(fs::read(&file).unwrap(), LIBRARY);
    }

    #[test]
    fn a_file_others_may_write_to_and_a_link_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let folders = [dir.path().join("culprit")];
        let file = unpack(&folders).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o522)).unwrap();
        unpack(&folders).unwrap();
        assert_eq!(mode(&file), 0o500);

        let elsewhere = dir.path().join("elsewhere.so");
        fs::rename(&file, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        unpack(&folders).unwrap();
        assert!(file.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn a_folder_others_may_write_to_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(0o770)).unwrap();
        let error = unpack(std::slice::from_ref(&open)).unwrap_err();
        assert_eq!(error.code, ExitCode::Usage);
        assert!(error.message.contains("others may write to it"), "{error}");

        let next = dir.path().join("next");
        let file = unpack(&[open, next.clone()]).unwrap();
        assert!(file.starts_with(next));
    }

    #[test]
    fn a_place_the_jvm_cannot_load_from_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let next = dir.path().join("next");
        for odd in ["a b/culprit", "a=b/culprit"] {
            let file = unpack(&[dir.path().join(odd), next.clone()]).unwrap();
            assert!(file.starts_with(&next), "{odd}");
        }
        fs::write(dir.path().join("file"), "").unwrap();
        let blocked = dir.path().join("file/culprit");
        assert!(unpack(&[blocked, next.clone()]).unwrap().starts_with(next));
    }

    #[test]
    fn the_cache_folder_comes_before_home_and_both_before_the_temporary_one() {
        let tmp = Path::new("/tmp");
        let temporary = format!("/tmp/culprit-{}", rustix::process::geteuid().as_raw());
        let list = |cache: Option<&str>, home: Option<&str>| {
            folders(cache.map(Into::into), home.map(Into::into), tmp)
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            list(Some("/c"), Some("/h")),
            ["/c/culprit", temporary.as_str()]
        );
        assert_eq!(
            list(Some("relative"), Some("/h")),
            ["/h/.cache/culprit", temporary.as_str()]
        );
        assert_eq!(list(None, None), [temporary.as_str()]);
    }
}
