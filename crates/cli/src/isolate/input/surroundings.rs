//! What is in the folder where the user is: a test that runs there may change it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Names with size and time of the last change. What is below folders is not looked at.
#[derive(PartialEq, Debug)]
pub(super) struct Surroundings(BTreeMap<OsString, (u64, Option<SystemTime>)>);

impl Surroundings {
    pub(super) fn of(folder: &Path) -> Surroundings {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let known = entries.filter_map(|entry| {
            let data = entry.metadata().ok()?;
            Some((entry.file_name(), (data.len(), data.modified().ok())))
        });
        Surroundings(known.collect())
    }

    /// What is new, gone or different, but for a folder of ours.
    pub(super) fn changed(&self, after: &Surroundings, ours: &Path) -> Vec<String> {
        let names = self.0.keys().chain(after.0.keys());
        let mut changed: Vec<String> = names
            .filter(|name| self.0.get(*name) != after.0.get(*name))
            .filter(|name| ours.file_name() != Some(name))
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        changed.sort();
        changed.dedup();
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_test_leaves_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "1").unwrap();
        fs::write(at("b"), "1").unwrap();
        let before = Surroundings::of(folder.path());
        fs::write(at("b"), "22").unwrap();
        fs::write(at("c.o"), "").unwrap();
        fs::create_dir(at("results")).unwrap();
        let after = Surroundings::of(folder.path());
        assert_eq!(before.changed(&after, &at("results")), ["b", "c.o"]);
    }
}
