//! The files of the project, without what builds and runs leave behind.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Folders that hold no source, by name.
const NOT_OURS: [&str; 4] = [".git", "target", "culprit-runs", "node_modules"];

/// All files below the root, as paths from there, sorted.
pub(crate) fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if !entry.file_type()?.is_dir() {
                found.push(path);
            } else if !NOT_OURS.iter().any(|name| entry.file_name() == *name) {
                waiting.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// True if the name ends in this extension.
pub(crate) fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}
