//! Which file a command name stands for, found the way a shell finds it.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::TargetError;

/// The file that `program` names: itself if it has a slash, else the first match on `path`.
pub fn resolve(program: &OsStr, path: Option<&OsStr>) -> Result<PathBuf, TargetError> {
    let name = Path::new(program);
    if name.components().count() > 1 || program.as_encoded_bytes().contains(&b'/') {
        return match (name.is_file(), is_executable(name)) {
            (true, true) => Ok(name.to_path_buf()),
            (true, false) => Err(TargetError::NotExecutable(name.to_path_buf())),
            (false, _) => Err(TargetError::NoSuchFile(name.to_path_buf())),
        };
    }
    path.into_iter()
        .flat_map(std::env::split_paths)
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
        .ok_or_else(|| TargetError::NotOnPath(program.to_string_lossy().into_owned()))
}

/// The home of the JDK whose `bin/java` this is, behind any symbolic links. `None` for a script
/// that only looks like `java`.
pub fn java_home_of(java: &Path) -> Option<PathBuf> {
    let file = java.canonicalize().ok()?;
    let bin = file.parent()?;
    let home = bin.parent()?;
    (bin.ends_with("bin") && home.join("release").is_file()).then(|| home.to_path_buf())
}

pub(crate) fn is_executable(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_on_the_path_and_paths_are_taken_as_they_are() {
        let found = resolve("sh".as_ref(), Some("/nowhere:/bin".as_ref())).unwrap();
        assert_eq!(found, Path::new("/bin/sh"));
        let found = resolve("/bin/sh".as_ref(), None).unwrap();
        assert_eq!(found, Path::new("/bin/sh"));
    }

    #[test]
    fn what_is_missing_or_cannot_run_is_told_apart() {
        let error = resolve("no-such-tool".as_ref(), Some("/bin".as_ref())).unwrap_err();
        assert!(matches!(error, TargetError::NotOnPath(_)), "{error}");
        let error = resolve("./no-such-tool".as_ref(), None).unwrap_err();
        assert!(matches!(error, TargetError::NoSuchFile(_)), "{error}");
        let error = resolve("/etc/passwd".as_ref(), None).unwrap_err();
        assert!(matches!(error, TargetError::NotExecutable(_)), "{error}");
    }
}
