//! What is in the folder where the user is, and below: a test that runs there may change it.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use culprit_model::clean;

/// Entries that are looked at, at most. Folders near the top come first.
const MOST: usize = 100_000;

/// What is in each folder, by its path below the top.
#[derive(PartialEq, Debug)]
pub(super) struct Surroundings(BTreeMap<PathBuf, Entries>);

type Entries = BTreeMap<OsString, Seen>;

/// What tells that something was changed.
#[derive(PartialEq, Debug)]
enum Seen {
    /// What is in it is seen by itself.
    Folder,
    Other(u64, Option<SystemTime>),
}

impl Surroundings {
    /// Looks at a folder, but not at those that are ours.
    pub(super) fn of(top: &Path, ours: &[&Path]) -> Surroundings {
        Surroundings::within(top, ours, MOST)
    }

    fn within(top: &Path, ours: &[&Path], most: usize) -> Surroundings {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (top, ours) = (real(top), ours.iter().map(|path| real(path)));
        let ours: Vec<PathBuf> = ours.collect();
        let mut folders = BTreeMap::new();
        let mut next = VecDeque::from([PathBuf::new()]);
        let mut count = 0;
        while let Some(folder) = next.pop_front()
            && count < most
        {
            let found = fs::read_dir(top.join(&folder)).into_iter().flatten();
            let mut entries = Entries::new();
            for entry in found.flatten() {
                // Links are not followed.
                let Ok(data) = entry.metadata() else {
                    continue;
                };
                let path = folder.join(entry.file_name());
                if ours.contains(&top.join(&path)) {
                    continue;
                }
                let seen = match data.is_dir() {
                    true => Seen::Folder,
                    false => Seen::Other(data.len(), data.modified().ok()),
                };
                entries.insert(entry.file_name(), seen);
            }
            count += entries.len();
            // In their order, so that it is the same ones each time.
            let below = entries.iter().filter(|(_, seen)| **seen == Seen::Folder);
            next.extend(below.map(|(name, _)| folder.join(name)));
            folders.insert(folder, entries);
        }
        Surroundings(folders)
    }

    /// What is new, gone or different. Of a new folder, or one that is gone, only its name.
    pub(super) fn changed(&self, after: &Surroundings) -> Vec<String> {
        let mut changed: Vec<PathBuf> = Vec::new();
        for (folder, entries) in &self.0 {
            let Some(now) = after.0.get(folder) else {
                continue;
            };
            let names = entries.keys().chain(now.keys());
            let different = names.filter(|name| entries.get(*name) != now.get(*name));
            changed.extend(different.map(|name| folder.join(name)));
        }
        changed.sort();
        changed.dedup();
        let names = changed.iter().map(clean::path);
        names.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_test_leaves_is_named_also_below_folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("sub/deep")).unwrap();
        fs::create_dir_all(at("results")).unwrap();
        for name in ["a", "b", "sub/deep/c", "sub/d", "sub/same"] {
            fs::write(at(name), "1").unwrap();
        }
        let look = || Surroundings::of(folder.path(), &[&at("results")]);
        let before = look();
        assert_eq!(before.changed(&look()), [""; 0]);
        fs::write(at("b"), "22").unwrap();
        fs::write(at("sub/deep/c"), "22").unwrap();
        fs::remove_file(at("sub/d")).unwrap();
        fs::create_dir_all(at("sub/new/folder")).unwrap();
        fs::write(at("results/report"), "").unwrap();
        let changed = before.changed(&look());
        assert_eq!(changed, ["b", "sub/d", "sub/deep/c", "sub/new"]);
    }

    #[test]
    fn no_more_is_looked_at_than_is_cheap() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["a", "b", "c"] {
            fs::create_dir(at(name)).unwrap();
        }
        let look = || Surroundings::within(folder.path(), &[], 3);
        let before = look();
        assert_eq!(before.0.len(), 1);
        fs::write(at("b/x"), "").unwrap();
        fs::write(at("top"), "").unwrap();
        assert_eq!(before.changed(&look()), ["top"]);
    }
}
