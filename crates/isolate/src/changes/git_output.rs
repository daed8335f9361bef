//! What Git prints, read. The bytes may be those of any repository, with names, messages and paths that
//! somebody chose to do harm: every function takes all bytes, and paths that lead out of the work tree
//! are left out.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::tree::EntryKind;

/// The mode of an entry that is a submodule.
const SUBMODULE: &[u8] = b"160000 ";

/// The least digits of the name of an object.
const DIGITS: usize = 40;

/// What `ls-files -t` says of a file that a sparse checkout leaves out.
const SKIPPED: &[u8] = b"S";

/// The stage of a file in conflict whose mode counts before those of the others.
const OURS: &[u8] = b"2";

/// What a commit says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commit {
    /// Its full name.
    pub id: String,
    /// Who wrote it.
    pub author: String,
    /// And their address.
    pub mail: String,
    /// When, as in ISO 8601.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

/// A repository inside another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Submodule {
    /// Where it is.
    pub path: PathBuf,
    /// The commit that is wanted of it.
    pub commit: String,
}

/// What the index has at a path.
#[derive(Clone, Debug)]
pub struct Indexed {
    /// `None` for a submodule.
    pub(crate) kind: Option<EntryKind>,
    /// Whether it counts as unchanged where the work tree has it not.
    pub(crate) is_skipped: bool,
}

/// Of `rev-list --parents`: commits, each with its parents.
pub fn commits(out: &[u8]) -> Vec<(String, Vec<String>)> {
    let commits = lines(out).into_iter().filter_map(|line| {
        let line = text(line);
        let mut names = line.split(' ').map(str::to_owned);
        Some((names.next()?, names.collect()))
    });
    commits.collect()
}

/// Of `log --format=%H%x00%an%x00%ae%x00%aI%x00%s`: commits.
pub fn descriptions(out: &[u8]) -> Vec<Commit> {
    let commit = |line: &[u8]| {
        let line = text(line);
        let mut fields = line.split('\0').map(str::to_owned);
        let mut next = || fields.next().unwrap_or_default();
        Commit {
            id: next(),
            author: next(),
            mail: next(),
            date: next(),
            subject: next(),
        }
    };
    lines(out).into_iter().map(commit).collect()
}

/// Of `blame --porcelain`: the commits of the lines of a file, and those among them that the range begins after.
pub fn annotations(out: &[u8]) -> (Vec<String>, HashSet<String>) {
    let mut found: Vec<String> = Vec::new();
    let mut borders = HashSet::new();
    for line in out.split(|byte| *byte == b'\n') {
        // `COMMIT OLD NEW [COUNT]`; all other lines begin with a word or a tab.
        let line = String::from_utf8_lossy(line);
        let mut words = line.split(' ');
        let id = words.next().unwrap_or_default();
        let is_id = id.len() >= DIGITS && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id && words.clone().all(|word| word.parse::<u32>().is_ok()) {
            found.push(id.to_owned());
        } else if line == "boundary" {
            borders.extend(found.last().cloned());
        }
    }
    (found, borders)
}

/// Of `ls-tree -z` and `ls-files --stage -z`: the submodules among the entries of a tree or of the index.
pub fn submodules(out: &[u8]) -> Vec<Submodule> {
    let entries = out.split(|byte| *byte == 0).filter_map(|entry| {
        let about = entry.strip_prefix(SUBMODULE)?;
        let tab = about.iter().position(|byte| *byte == b'\t')?;
        let words = String::from_utf8_lossy(&about[..tab]);
        let commit = words.split(' ').find(|word| is_object(word))?;
        Some(Submodule {
            path: path_within(&about[tab + 1..])?,
            commit: commit.to_owned(),
        })
    });
    entries.collect()
}

/// Of `ls-files -z -t --stage --cached --others`: all paths, with what the index has there.
pub fn listed(out: &[u8]) -> BTreeMap<PathBuf, Option<Indexed>> {
    let mut found = BTreeMap::new();
    for line in out.split(|byte| *byte == 0) {
        // `TAG MODE OBJECT STAGE<tab>PATH`, or `? PATH` for a new file.
        let mut words = line.splitn(2, |byte| *byte == b' ');
        let (Some(tag), Some(rest)) = (words.next(), words.next()) else {
            continue;
        };
        if tag == b"?" {
            found.extend(path_within(rest).map(|path| (path, None)));
            continue;
        }
        let mut fields = rest.splitn(2, |byte| *byte == b'\t');
        let (Some(about), Some(name)) = (fields.next(), fields.next()) else {
            continue;
        };
        let Some(path) = path_within(name) else {
            continue;
        };
        let mode = about.split(|byte| *byte == b' ').next();
        let kinds = [EntryKind::File, EntryKind::Program, EntryKind::Link];
        let indexed = Indexed {
            kind: kinds
                .into_iter()
                .find(|kind| mode == Some(kind.mode().as_bytes())),
            is_skipped: tag == SKIPPED,
        };
        if about.ends_with(OURS) || !found.contains_key(&path) {
            found.insert(path, Some(indexed));
        }
    }
    found
}

/// Whether a word can be the name of an object, and so no option of Git's.
fn is_object(word: &str) -> bool {
    word.len() >= DIGITS && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A path below the work tree. Git itself refuses `..` and absolute paths when it adds a file, but
/// lists whatever an index or a tree made by others has.
fn path_within(bytes: &[u8]) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(bytes));
    let mut parts = path.components();
    let is_within = parts.all(|part| matches!(part, Component::Normal(_)));
    (is_within && !bytes.is_empty() && !bytes.contains(&0)).then(|| path.to_owned())
}

/// What is printed, without line breaks at its end.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .trim_end_matches('\n')
        .to_owned()
}

/// The lines that are not empty.
pub(super) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter(|line| !line.is_empty()).collect()
}

/// The first line of an error message.
pub(super) fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("fatal: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789012345678901234567890123456789";

    #[test]
    fn paths_that_lead_out_of_the_work_tree_are_left_out() {
        for path in ["../up", "/etc/passwd", "a/../../b", "."] {
            let index = format!("H 100644 {ID} 0\t{path}\0? {path}\0");
            assert!(listed(index.as_bytes()).is_empty(), "{path}");
            let tree = format!("160000 commit {ID}\t{path}\0");
            assert!(submodules(tree.as_bytes()).is_empty(), "{path}");
        }
        let tree = format!("160000 commit {ID}\tsub/a..b\0");
        assert_eq!(submodules(tree.as_bytes()).len(), 1);
    }

    #[test]
    fn a_submodule_is_at_an_object_and_not_at_an_option() {
        let option = format!("--{}", "x".repeat(DIGITS));
        let tree = format!("160000 commit {option}\tsub\0");
        assert!(submodules(tree.as_bytes()).is_empty());
    }
}
