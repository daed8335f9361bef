//! The times of files in a build folder.
//!
//! Tools tell by times whether what they made of a file is out of date: `make` by which of the two is
//! later, Python by the whole second and the size of the source. So a file that is written anew is later
//! than all that was there before, and in another second than other contents of its size. Its time is the
//! true one, which may have to be waited for: with files of the future `make` and `ninja` build their
//! makefiles again without end, and `configure` gives up; with files of the past nothing is built again.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Error;
use super::tree::TreeEntry;
use crate::Digest;

/// How long to sleep at least before looking again.
const PAUSE: Duration = Duration::from_millis(1);

/// A clock that was set back is not waited for. No file system has longer steps than two seconds.
const PATIENCE: Duration = Duration::from_secs(3);

/// When files in a build folder were written, by the clock of its file system.
pub(super) struct FileTimes {
    /// A file that is written to see the time.
    hand: PathBuf,
    /// What was written last, by path and size, and in which second.
    written: HashMap<(PathBuf, usize), (u64, Digest)>,
}

impl FileTimes {
    pub(super) fn new(hand: PathBuf) -> FileTimes {
        FileTimes {
            hand,
            written: HashMap::new(),
        }
    }

    /// Waits until these entries may be written below a folder.
    pub(super) fn wait_for(
        &mut self,
        folder: &Path,
        entries: &[(&PathBuf, &TreeEntry)],
    ) -> Result<(), Error> {
        if entries.is_empty() {
            return Ok(());
        }
        let now = self.now()?;
        let second = second_of(now);
        self.written.retain(|_, (then, _)| *then >= second);
        let mut until = now + Duration::from_nanos(1);
        for (path, entry) in entries {
            if self.had_other(folder, path, entry, second)? {
                until = UNIX_EPOCH + Duration::from_secs(second + 1);
                break;
            }
        }
        let mut slept = Duration::ZERO;
        while let Ok(left) = until.duration_since(self.now()?)
            && !left.is_zero()
            && slept < PATIENCE
        {
            let pause = left.clamp(PAUSE, PATIENCE);
            sleep(pause);
            slept += pause;
        }
        Ok(())
    }

    /// Keeps in mind what was written.
    pub(super) fn note(
        &mut self,
        folder: &Path,
        path: &Path,
        entry: &TreeEntry,
    ) -> Result<(), Error> {
        let found = fs::symlink_metadata(folder.join(path)).and_then(|found| found.modified());
        let at = found.map_err(Error::at(path))?;
        let bytes = entry.bytes()?;
        let key = (path.to_owned(), bytes.len());
        self.written
            .insert(key, (second_of(at), Digest::of(&bytes)));
        Ok(())
    }

    /// Nothing is left that was made of what was written.
    pub(super) fn forget(&mut self) {
        self.written.clear();
    }

    /// Whether a path had other contents of the same size in this second: ours, or those that a run wrote.
    fn had_other(
        &self,
        folder: &Path,
        path: &Path,
        entry: &TreeEntry,
        second: u64,
    ) -> Result<bool, Error> {
        let bytes = entry.bytes()?;
        let ours = self.written.get(&(path.to_owned(), bytes.len()));
        if ours.is_some_and(|(_, other)| *other != Digest::of(&bytes)) {
            return Ok(true);
        }
        let Ok(found) = fs::symlink_metadata(folder.join(path)) else {
            return Ok(false);
        };
        let at = found.modified().map_err(Error::at(path))?;
        Ok(second_of(at) >= second && found.len() == bytes.len() as u64)
    }

    fn now(&self) -> Result<SystemTime, Error> {
        let failed = || Error::at(&self.hand);
        fs::write(&self.hand, "x").map_err(failed())?;
        let found = fs::metadata(&self.hand).map_err(failed())?;
        found.modified().map_err(failed())
    }
}

fn second_of(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::super::build_folder::{BuildFolder, BuildFolders, Leftovers};
    use super::super::difference::tests::tree;
    use super::*;
    use crate::test::tests::shell;

    fn in_a_build_folder(work: impl FnOnce(&BuildFolders, &mut BuildFolder) -> Result<(), Error>) {
        let root = tempfile::tempdir().unwrap();
        let folders = BuildFolders::new(root.path().to_owned(), Leftovers::Stay);
        folders
            .at(|build_folder| work(&folders, build_folder))
            .unwrap();
    }

    #[test]
    fn what_is_written_is_later_than_what_was_built_before() {
        in_a_build_folder(|_, build_folder| {
            let folder = build_folder.setup().directory;
            let time = |name: &str| fs::metadata(folder.join(name)).unwrap().modified().unwrap();
            for round in 0..20 {
                fs::write(folder.join("built"), "x").unwrap();
                build_folder.hold(&tree(&[("source", &"x".repeat(round))]))?;
                assert!(time("source") > time("built"));
            }
            Ok(())
        });
    }

    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    #[test]
    fn python_does_not_take_the_bytecode_of_the_candidate_before() {
        in_a_build_folder(|folders, build_folder| {
            let python = shell("python3 test.py");
            if folders
                .run(&shell("python3 -V"), build_folder, &|| true)?
                .how
                .code()
                != Some(0)
            {
                eprintln!("skipped: there is no python3");
                return Ok(());
            }
            let test = "import part\nraise SystemExit(part.LIMIT)\n";
            for limit in [10, 20, 30] {
                let part = format!("LIMIT = {limit}\n");
                build_folder.hold(&tree(&[("part.py", &part), ("test.py", test)]))?;
                let ending = folders.run(&python, build_folder, &|| true)?;
                assert_eq!(ending.how.code(), Some(limit), "{}", ending.err);
            }
            Ok(())
        });
    }

    #[test]
    fn contents_of_one_size_have_seconds_of_their_own() {
        in_a_build_folder(|_, build_folder| {
            let place = build_folder.setup().directory.join("a");
            let second = || second_of(fs::metadata(&place).unwrap().modified().unwrap());
            build_folder.hold(&tree(&[("a", "one")]))?;
            let first = second();
            // It goes, and comes back with other contents.
            build_folder.hold(&tree(&[]))?;
            build_folder.hold(&tree(&[("a", "two")]))?;
            let next = second();
            assert_ne!(next, first);
            // A run puts something else there.
            fs::write(&place, "odd").unwrap();
            let odd = second();
            build_folder.hold(&tree(&[("a", "two")]))?;
            assert_ne!(second(), odd);
            Ok(())
        });
    }
}
