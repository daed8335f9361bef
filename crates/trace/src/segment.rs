//! Segments: the files beside a recording that holds its last events only, while its JVM runs.
//!
//! `jvm-7.culprit` then has the definitions, and `jvm-7.culprit.1`, `jvm-7.culprit.2` and so on the
//! events. The newest two exist, for a moment three. A reader takes them as one file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::metadata::Start;

/// The note in START that tells a reader to look for segments.
const NOTE: (&str, &str) = ("segments", "yes");

impl Start {
    /// Says that the events are in segments.
    pub fn set_segmented(&mut self) {
        self.notes.push((NOTE.0.to_owned(), NOTE.1.to_owned()));
    }

    pub(crate) fn is_segmented(&self) -> bool {
        self.notes.iter().any(|(name, _)| name == NOTE.0)
    }

    /// The same start for a recording in one piece.
    pub(crate) fn whole(&self) -> Start {
        let mut start = self.clone();
        start.notes.retain(|(name, _)| name != NOTE.0);
        start
    }
}

/// The segment of a number.
pub(crate) fn path(recording: &Path, number: u64) -> PathBuf {
    let mut name = recording.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}

/// The segments of a recording, oldest first.
pub(crate) fn list(recording: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = match recording.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Some(name) = recording.file_name().and_then(|name| name.to_str()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let file = entry?.file_name();
        let rest = file.to_str().and_then(|file| file.strip_prefix(name));
        let number = rest.and_then(|rest| rest.strip_prefix('.')?.parse::<u64>().ok());
        found.extend(number);
    }
    found.sort_unstable();
    Ok(found
        .into_iter()
        .map(|number| path(recording, number))
        .collect())
}

/// Removes a recording with its segments.
pub fn remove(recording: &Path) -> io::Result<()> {
    remove_segments(recording)?;
    fs::remove_file(recording)
}

pub(crate) fn remove_segments(recording: &Path) -> io::Result<()> {
    for segment in list(recording)? {
        fs::remove_file(segment)?;
    }
    Ok(())
}
