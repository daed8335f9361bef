//! Which recordings were made here: by `culprit record` or `culprit debug`, for this user, on this machine.
//!
//! A recording names the class path of its program, and `culprit minimize` runs what is there. One that comes
//! from elsewhere may name any jar of this machine, or a shared folder with classes that somebody put there
//! for the purpose. So both note what they made, in the private folder of the agent, by a hash of all that
//! the recording says of its JVM; a recording whose hash is not there merely claims it. The owner of the file
//! says nothing: a download belongs to whoever downloaded it.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use culprit_trace::{Recording, Start};
use sha2::{Digest, Sha256};

use crate::agent::private_folder;
use crate::program::Maker;

/// The file with the hashes, a line each.
const NAME: &str = "recorded";

/// Bytes after which the older half is forgotten: some ten thousand recordings.
const LARGEST: u64 = 1 << 20;

/// Notes recordings as made here. What cannot be read is left out.
pub(crate) fn note(recordings: &[PathBuf], folders: &[PathBuf]) -> io::Result<()> {
    let mut lines = String::new();
    for path in recordings {
        if let Ok(recording) = Recording::open(path) {
            lines.push_str(&hash(recording.start()));
            lines.push('\n');
        }
    }
    append(&lines, folders)
}

/// Notes a text, such as the script of a test, as written here.
pub(crate) fn note_text(text: &str, folders: &[PathBuf]) -> io::Result<()> {
    append(&format!("{}\n", hex(&Sha256::digest(text))), folders)
}

fn append(lines: &str, folders: &[PathBuf]) -> io::Result<()> {
    let Some(folder) = folders.iter().find(|folder| private_folder(folder).is_ok()) else {
        return Err(io::ErrorKind::PermissionDenied.into());
    };
    let file = folder.join(NAME);
    forget_old(&file)?;
    let mut options = File::options();
    let options = options.append(true).create(true).mode(0o600);
    options.open(file)?.write_all(lines.as_bytes())
}

/// The maker of a recording.
pub(crate) fn maker(recording: &Recording, folders: &[PathBuf]) -> Maker {
    match is_noted(&hash(recording.start()), folders) {
        true => Maker::Us,
        false => Maker::Unknown,
    }
}

/// The writer of a text.
pub(crate) fn writer(text: &str, folders: &[PathBuf]) -> Maker {
    match is_noted(&hex(&Sha256::digest(text)), folders) {
        true => Maker::Us,
        false => Maker::Unknown,
    }
}

fn is_noted(hash: &str, folders: &[PathBuf]) -> bool {
    let files = folders
        .iter()
        .filter(|folder| private_folder(folder).is_ok());
    let mut files = files.map(|folder| folder.join(NAME));
    files.any(|file| {
        let known = fs::read_to_string(&file).unwrap_or_default();
        is_private(&file) && known.lines().any(|line| line == hash)
    })
}

fn is_private(file: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let data = file.symlink_metadata();
    data.is_ok_and(|data| data.is_file() && data.uid() == own && data.mode() & 0o022 == 0)
}

fn forget_old(file: &Path) -> io::Result<()> {
    if file.metadata().is_ok_and(|data| data.len() > LARGEST) {
        let known = fs::read_to_string(file)?;
        let lines: Vec<&str> = known.lines().collect();
        let newer = lines[lines.len() / 2..].join("\n") + "\n";
        fs::write(file, newer)?;
    }
    Ok(())
}

fn hash(start: &Start) -> String {
    hex(&start.digest())
}

fn hex(digest: &[u8]) -> String {
    let mut hash = String::new();
    for byte in digest {
        // Writing to a text does not fail.
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

#[cfg(test)]
mod tests {
    use culprit_trace::Writer;

    use super::*;

    fn recording(folder: &Path, class_path: &str) -> PathBuf {
        let file = folder.join(format!("{class_path}.culprit"));
        let mut writer = Writer::create(&file).unwrap();
        let start = Start {
            pid: 7,
            properties: vec![("java.class.path".to_owned(), class_path.to_owned())],
            ..Start::default()
        };
        writer.start(&start).unwrap();
        writer.into_store().unwrap();
        file
    }

    #[test]
    fn what_was_noted_is_ours_and_what_was_changed_is_not() {
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().join("culprit")];
        let [made, forged] = ["a", "b"].map(|path| recording(home.path(), path));
        let is_ours = |path: &Path| maker(&Recording::open(path).unwrap(), &folders) == Maker::Us;
        assert!(!is_ours(&made));
        note(std::slice::from_ref(&made), &folders).unwrap();
        assert!(is_ours(&made));
        assert!(!is_ours(&forged));
        // A copy says the same of its JVM.
        let copy = home.path().join("copy.culprit");
        fs::copy(&made, &copy).unwrap();
        assert!(is_ours(&copy));
    }

    #[test]
    fn a_list_that_others_can_write_to_says_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let folders = [home.path().join("culprit")];
        let made = recording(home.path(), "a");
        note(std::slice::from_ref(&made), &folders).unwrap();
        let shared = fs::Permissions::from_mode(0o666);
        fs::set_permissions(folders[0].join(NAME), shared).unwrap();
        let recording = Recording::open(&made).unwrap();
        assert_eq!(maker(&recording, &folders), Maker::Unknown);
    }
}
