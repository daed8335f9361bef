//! Which files of one tree are files of the other under a new name.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::Error;
use super::difference::is_text;
use super::tree::{EntryKind, TreeEntry};

/// Pairs of files that are compared line by line, at most. Beyond it only files that are the same
/// are taken for renamed.
const COMPARED: usize = 200_000;

/// How much of the lines two files share, of 100, when one is taken for the other.
const ALIKE: usize = 50;

/// Files that went and files that came, where one is the other.
pub(crate) fn find(
    gone: &BTreeMap<PathBuf, TreeEntry>,
    come: &BTreeMap<PathBuf, TreeEntry>,
) -> Result<Vec<(PathBuf, PathBuf)>, Error> {
    let olds = candidates(gone)?;
    let news = candidates(come)?;
    let mut scored = Vec::new();
    if olds.len() * news.len() <= COMPARED {
        for (o, old) in olds.iter().enumerate() {
            for (n, new) in news.iter().enumerate() {
                let likeness = old.likeness(new);
                if likeness >= ALIKE {
                    let other_name = old.path.file_name() != new.path.file_name();
                    scored.push((100 - likeness, other_name, o, n));
                }
            }
        }
    } else {
        let mut by_bytes: HashMap<&[u8], usize> = HashMap::new();
        for (o, old) in olds.iter().enumerate() {
            by_bytes.insert(&old.bytes, o);
        }
        for (n, new) in news.iter().enumerate() {
            if let Some(o) = by_bytes.get(&new.bytes[..]) {
                scored.push((0, false, *o, n));
            }
        }
    }
    // The most alike first; each file is renamed once.
    scored.sort_unstable();
    let (mut old_taken, mut new_taken) = (vec![false; olds.len()], vec![false; news.len()]);
    let mut found = Vec::new();
    for (_, _, o, n) in scored {
        if !old_taken[o] && !new_taken[n] {
            (old_taken[o], new_taken[n]) = (true, true);
            found.push((olds[o].path.to_owned(), news[n].path.to_owned()));
        }
    }
    Ok(found)
}

struct Candidate<'t> {
    path: &'t Path,
    bytes: std::sync::Arc<[u8]>,
    /// Lines with their number, by their bytes; none where it is no text.
    lines: BTreeMap<Vec<u8>, usize>,
}

/// Files that are not empty; links have no names of their own to speak of.
fn candidates(files: &BTreeMap<PathBuf, TreeEntry>) -> Result<Vec<Candidate<'_>>, Error> {
    let mut found = Vec::new();
    for (path, entry) in files
        .iter()
        .filter(|(_, entry)| entry.kind != EntryKind::Link)
    {
        let bytes = entry.bytes()?;
        let mut lines = BTreeMap::new();
        if is_text(&bytes) {
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                if !line.iter().all(u8::is_ascii_whitespace) {
                    *lines.entry(line.to_vec()).or_insert(0) += 1;
                }
            }
        }
        if !bytes.is_empty() {
            found.push(Candidate { path, bytes, lines });
        }
    }
    Ok(found)
}

impl Candidate<'_> {
    /// What they share, of 100.
    fn likeness(&self, other: &Candidate<'_>) -> usize {
        if self.bytes == other.bytes {
            return 100;
        }
        if self.path.extension() != other.path.extension() {
            return 0;
        }
        let size = |one: &Candidate<'_>| one.lines.values().sum::<usize>();
        let both = size(self) + size(other);
        if both == 0 {
            return 0;
        }
        let shared = self.lines.iter().map(|(line, count)| {
            let there = other.lines.get(line).copied().unwrap_or(0);
            there.min(*count)
        });
        200 * shared.sum::<usize>() / both
    }
}

#[cfg(test)]
mod tests {
    use super::super::difference::tests::tree;
    use super::*;

    #[test]
    fn the_most_alike_is_the_renamed_one() {
        let gone = tree(&[
            ("a/X.java", "1\n2\n3\n4\n"),
            ("b.bin", "\0\x01"),
            ("empty", ""),
        ]);
        let come = tree(&[
            ("c/Y.java", "1\n2\n9\n8\n"),
            ("c/X.java", "1\n2\n3\n8\n"),
            ("d.bin", "\0\x01"),
            ("other", ""),
        ]);
        let found = find(&gone.0, &come.0).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(a, b)| (a.to_str().unwrap(), b.to_str().unwrap()))
            .collect();
        assert_eq!(found, [("b.bin", "d.bin"), ("a/X.java", "c/X.java")]);
    }
}
