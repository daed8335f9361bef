//! A folder that looks like another one but for one file.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

/// Makes a folder of links to all that is in another one. The way to one file below it consists of real
/// folders, and that file is not there: the path where it belongs.
pub(crate) fn shadow(of: &Path, file: &Path, into: &Path) -> io::Result<PathBuf> {
    let (mut real, mut own) = (of.to_owned(), into.to_owned());
    for part in file.components() {
        let Component::Normal(name) = part else {
            return Err(io::Error::other("not below the folder"));
        };
        fs::create_dir_all(&own)?;
        // A folder of the way need not be there: then there is nothing beside it either.
        if let Ok(entries) = fs::read_dir(&real) {
            for entry in entries {
                let entry = entry?;
                if entry.file_name() != name {
                    symlink(entry.path(), own.join(entry.file_name()))?;
                }
            }
        }
        real.push(name);
        own.push(name);
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_one_file_is_there_and_the_user_keeps_his_own() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().join("real");
        fs::create_dir_all(real.join("data/more")).unwrap();
        for name in ["top", "data/in.txt", "data/other", "data/more/x"] {
            fs::write(real.join(name), name).unwrap();
        }
        let own = home.path().join("own");
        let place = shadow(&real, Path::new("data/in.txt"), &own).unwrap();
        fs::write(&place, "new").unwrap();
        let read = |path: &str| fs::read_to_string(own.join(path)).unwrap();
        assert_eq!(read("top") + &read("data/other"), "topdata/other");
        assert_eq!(read("data/more/x"), "data/more/x");
        assert_eq!(read("data/in.txt"), "new");
        let kept = fs::read_to_string(real.join("data/in.txt")).unwrap();
        assert_eq!(kept, "data/in.txt");
        assert!(shadow(&real, Path::new("../x"), &home.path().join("no")).is_err());
    }
}
