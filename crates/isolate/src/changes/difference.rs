//! The difference of two trees as deltas, any subset of which can be made.
//!
//! A file that is in one tree only is there or not: one delta, and one for each of its lines. A
//! file that is in both has a delta for each edit of a line, one for its mode, one for its path if
//! it was renamed; or one for all of it where it has no lines. Subsets are made from the structure
//! of the difference itself: nothing is looked for in the text.

use std::collections::BTreeMap;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use culprit_reduce::DeltaSet;

use crate::{Digest, Digester};

use super::Error;
use super::lines::EditScript;
use super::renames;
use super::tree::{EntryBytes, EntryKind, FileTree, TreeEntry};

/// Bytes at the start of a file that tell whether it is text.
const LOOKED_AT: usize = 8000;

/// Two trees and what is between them.
pub struct Difference {
    pub(crate) base: FileTree,
    pub(crate) files: Vec<FileChange>,
    size: u64,
}

/// What became of a file.
pub(crate) struct FileChange {
    pub(crate) old: Option<(PathBuf, TreeEntry)>,
    pub(crate) new: Option<(PathBuf, TreeEntry)>,
    /// Its lines, where it has some.
    pub(crate) script: Option<EditScript>,
    /// All of its deltas.
    pub(crate) deltas: Range<u64>,
    /// It is there, or not.
    pub(crate) presence: Option<u64>,
    pub(crate) path: Option<u64>,
    pub(crate) mode: Option<u64>,
    /// All of its bytes.
    pub(crate) whole: Option<u64>,
    /// The ends of all of its lines. The script has lines with plain ends then.
    pub(crate) ends: Option<u64>,
    /// How its lines end in the good version and in the bad one.
    styles: (Ends, Ends),
    /// One for each edit of the script.
    pub(crate) edits: Range<u64>,
}

/// The kind of a delta.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DeltaKind {
    Presence,
    Path,
    Mode,
    Whole,
    Ends,
    Edit(usize),
}

/// How the lines of a text end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ends {
    /// All with a line feed.
    Plain,
    /// All with a carriage return before it.
    Windows,
    /// Some so and some so.
    Mixed,
}

impl Ends {
    fn of(bytes: &[u8]) -> Ends {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let returns = bytes.windows(2).filter(|pair| *pair == b"\r\n").count();
        match returns {
            0 => Ends::Plain,
            returns if returns == lines => Ends::Windows,
            _ => Ends::Mixed,
        }
    }

    /// The text with plain ends, where they are of one kind.
    fn stripped(self, bytes: &[u8]) -> Vec<u8> {
        let mut result = bytes.to_vec();
        if self == Ends::Windows {
            let mut at = 0;
            result.retain(|byte| {
                at += 1;
                *byte != b'\r' || bytes.get(at) != Some(&b'\n')
            });
        }
        result
    }

    /// A text with plain ends as it is with these.
    fn put(self, bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Ends::Plain | Ends::Mixed => bytes,
            Ends::Windows => {
                let lines = bytes.split_inclusive(|byte| *byte == b'\n');
                let ended = lines.flat_map(|line| match line.strip_suffix(b"\n") {
                    Some(line) => [line, b"\r\n"],
                    None => [line, b""],
                });
                ended.flatten().copied().collect()
            }
        }
    }
}

impl Difference {
    /// What makes the one tree the other.
    pub(crate) fn new(good: FileTree, bad: &FileTree) -> Result<Difference, Error> {
        let mut gone: BTreeMap<PathBuf, TreeEntry> = BTreeMap::new();
        let mut pairs: Vec<Pair> = Vec::new();
        for (path, old) in &good.0 {
            match bad.0.get(path) {
                None => drop(gone.insert(path.clone(), old.clone())),
                Some(new) => {
                    if old.kind != new.kind || old.bytes()? != new.bytes()? {
                        pairs.push((
                            Some((path.clone(), old.clone())),
                            Some((path.clone(), new.clone())),
                        ));
                    }
                }
            }
        }
        let come = bad.0.iter().filter(|(path, _)| !good.0.contains_key(*path));
        let mut come: BTreeMap<PathBuf, TreeEntry> = come
            .map(|(path, entry)| (path.clone(), entry.clone()))
            .collect();
        for (from, to) in renames::find(&gone, &come)? {
            let old = gone.remove_entry(&from);
            pairs.push((old, come.remove_entry(&to)));
        }
        pairs.extend(gone.into_iter().map(|old| (Some(old), None)));
        pairs.extend(come.into_iter().map(|new| (None, Some(new))));
        pairs.sort_by(|one, other| place(one).cmp(place(other)));
        let mut files = Vec::new();
        let mut next = 0;
        for (old, new) in pairs {
            let file = FileChange::new(old, new, next)?;
            next = file.deltas.end;
            files.push(file);
        }
        Ok(Difference {
            base: good,
            files,
            size: next,
        })
    }

    /// The number of deltas.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Places where something changed: runs of changed lines, files without lines, modes, names.
    pub fn places(&self) -> usize {
        self.files.iter().map(FileChange::places).sum()
    }

    /// Files in which something changed.
    pub fn changed_files(&self) -> usize {
        self.files.len()
    }

    /// The file of a delta, and what of it the delta is.
    pub(crate) fn locate(&self, delta: u64) -> (&FileChange, DeltaKind) {
        let at = self.files.partition_point(|file| file.deltas.end <= delta);
        let file = &self.files[at];
        let part = match Some(delta) {
            found if found == file.presence => DeltaKind::Presence,
            found if found == file.path => DeltaKind::Path,
            found if found == file.mode => DeltaKind::Mode,
            found if found == file.whole => DeltaKind::Whole,
            found if found == file.ends => DeltaKind::Ends,
            _ => DeltaKind::Edit((delta - file.edits.start) as usize),
        };
        (file, part)
    }

    /// A delta in a line: the file, and what becomes of it.
    pub fn describe(&self, delta: u64) -> String {
        let (file, _) = self.locate(delta);
        format!("{}: {}", file.shown_path().display(), self.what(delta))
    }

    /// What becomes of the file by a delta.
    pub(crate) fn what(&self, delta: u64) -> String {
        let (file, part) = self.locate(delta);
        let path = |side: &Option<(PathBuf, TreeEntry)>| match side {
            Some((path, _)) => path.display().to_string(),
            None => String::new(),
        };
        match (part, &file.script) {
            (DeltaKind::Edit(number), Some(script)) => {
                let (gone, come) = script.shown(&script.edits[number]);
                let gone = gone.iter().map(|line| format!("-{line}"));
                let come = come.iter().map(|line| format!("+{line}"));
                gone.chain(come).collect::<Vec<_>>().join(" ")
            }
            (DeltaKind::Presence, _) if file.old.is_none() => "new file".to_owned(),
            (DeltaKind::Presence, _) => "removed".to_owned(),
            (DeltaKind::Path, _) => format!("renamed from {}", path(&file.old)),
            (DeltaKind::Ends, _) => "other line ends".to_owned(),
            (DeltaKind::Mode | DeltaKind::Whole | DeltaKind::Edit(_), _) => {
                match (part, file.kinds()) {
                    (DeltaKind::Mode, Some((old, new))) => {
                        format!("mode {} became {}", old.mode(), new.mode())
                    }
                    (_, Some((EntryKind::Link, EntryKind::Link))) => {
                        "the link points elsewhere".to_owned()
                    }
                    (_, Some((_, EntryKind::Link))) => "the file became a link".to_owned(),
                    (_, Some((EntryKind::Link, _))) => "the link became a file".to_owned(),
                    _ => "other bytes".to_owned(),
                }
            }
        }
    }

    /// The modes of the file as Git writes them, where a delta changes them.
    pub(crate) fn modes(&self, delta: u64) -> Option<(&'static str, &'static str)> {
        let (file, part) = self.locate(delta);
        let is_link = |kind: EntryKind| kind == EntryKind::Link;
        let (old, new) = file.kinds()?;
        let is_changed = match part {
            DeltaKind::Mode => true,
            DeltaKind::Whole => is_link(old) != is_link(new),
            DeltaKind::Presence | DeltaKind::Path | DeltaKind::Ends | DeltaKind::Edit(_) => false,
        };
        is_changed.then(|| (old.mode(), new.mode()))
    }

    /// The files with some of the deltas; those that nothing is left of have no entry.
    pub(crate) fn changed(&self, made: &DeltaSet) -> Result<Vec<MadeFile>, Error> {
        self.files.iter().map(|file| file.make(made)).collect()
    }

    /// The good tree with some of the deltas, and what stands for it; `Err` with a path where two
    /// files would be at once.
    pub(crate) fn tree(
        &self,
        made: &DeltaSet,
    ) -> Result<Result<(FileTree, Digest), PathBuf>, Error> {
        self.tree_of(self.changed(made)?)
    }

    /// The same of files that were changed so.
    pub(crate) fn tree_of(
        &self,
        changed: Vec<MadeFile>,
    ) -> Result<Result<(FileTree, Digest), PathBuf>, Error> {
        let mut tree = self.base.clone();
        for file in &self.files {
            if let Some((path, _)) = &file.old {
                tree.0.remove(path);
            }
        }
        let mut digest = Digester::default();
        for (path, entry) in changed.into_iter().flatten() {
            let bytes = entry.bytes()?;
            digest.field(path.as_os_str().as_bytes());
            digest.field(&[entry.kind as u8]);
            digest.field(&bytes);
            if tree.0.insert(path.clone(), entry).is_some() {
                return Ok(Err(path));
            }
        }
        if let Some(path) = tree.conflict() {
            return Ok(Err(path.to_owned()));
        }
        Ok(Ok((tree, digest.finish())))
    }

    /// Writes the good tree with some of the deltas into a folder.
    pub fn write(&self, made: &DeltaSet, folder: &Path) -> Result<(), Error> {
        match self.tree(made)? {
            Ok((tree, _)) => super::sides::copy_tree(&tree, folder),
            Err(path) => {
                let twice = std::io::Error::other("two files would be there");
                Err(Error::at(&path)(twice))
            }
        }
    }

    /// What deltas of different files need so that no two files are at one path.
    pub(crate) fn path_needs(&self) -> Vec<(u64, u64)> {
        let leaving = self.files.iter().filter_map(|file| {
            let leaves = match (&file.old, &file.new) {
                (Some(_), None) => file.presence,
                (Some(_), Some(_)) => file.path,
                (None, _) => None,
            };
            Some((file.old.as_ref()?.0.as_path(), leaves?))
        });
        let leaving: BTreeMap<&Path, u64> = leaving.collect();
        let mut needs = Vec::new();
        for file in &self.files {
            let arrives = match &file.old {
                None => file.presence,
                Some(_) => file.path,
            };
            let (Some(arrives), Some((path, _))) = (arrives, &file.new) else {
                continue;
            };
            // A file in the way, or a file where a folder is to be.
            for above in path.ancestors() {
                if let Some(leaves) = leaving.get(above).filter(|leaves| **leaves != arrives) {
                    needs.push((arrives, *leaves));
                }
            }
            // A folder where the file is to be.
            let below = leaving.range::<&Path, _>(path.as_path()..);
            let below = below.take_while(|(other, _)| other.starts_with(path));
            needs.extend(
                below
                    .map(|(_, leaves)| (arrives, *leaves))
                    .filter(|(a, b)| a != b),
            );
        }
        needs
    }
}

type Pair = (Option<(PathBuf, TreeEntry)>, Option<(PathBuf, TreeEntry)>);

/// A file as some deltas make it.
pub(crate) type MadeFile = Option<(PathBuf, TreeEntry)>;

fn place(pair: &Pair) -> &Path {
    let either = pair.1.as_ref().or(pair.0.as_ref());
    either.map_or(Path::new(""), |(path, _)| path.as_path())
}

impl FileChange {
    fn new(
        old: Option<(PathBuf, TreeEntry)>,
        new: Option<(PathBuf, TreeEntry)>,
        start: u64,
    ) -> Result<FileChange, Error> {
        let kinds = (
            old.as_ref().map(|o| o.1.kind),
            new.as_ref().map(|n| n.1.kind),
        );
        let bytes = |side: &Option<(PathBuf, TreeEntry)>| match side {
            Some((_, entry)) => entry.bytes(),
            None => Ok(Arc::from([])),
        };
        let (before, after) = (bytes(&old)?, bytes(&new)?);
        let link = |kind: Option<EntryKind>| kind == Some(EntryKind::Link);
        let has_lines = !link(kinds.0) && !link(kinds.1) && is_text(&before) && is_text(&after);
        let is_in_both = old.is_some() && new.is_some();
        let mut next = start;
        let mut one = |is_there: bool| {
            is_there.then(|| {
                next += 1;
                next - 1
            })
        };
        let presence = one(!is_in_both);
        let path = one(is_in_both && old.as_ref().map(|o| &o.0) != new.as_ref().map(|n| &n.0));
        let mode = one(is_in_both && kinds.0 != kinds.1 && !link(kinds.0) && !link(kinds.1));
        let differs = before != after || link(kinds.0) != link(kinds.1);
        let whole = one(is_in_both && !has_lines && differs);
        // A text whose lines all end otherwise has not changed in each of them.
        let styles = (Ends::of(&before), Ends::of(&after));
        let one_style = matches!(
            styles,
            (Ends::Plain, Ends::Windows) | (Ends::Windows, Ends::Plain)
        );
        let ends = one(is_in_both && has_lines && one_style);
        let (from, to) = match ends {
            Some(_) => (styles.0.stripped(&before), styles.1.stripped(&after)),
            None => (before.to_vec(), after.to_vec()),
        };
        // Where only the ends differ there is nothing to edit.
        let script = (has_lines && before != after).then(|| EditScript::new(from, to));
        let count = script.as_ref().map_or(0, |script| script.edits.len()) as u64;
        Ok(FileChange {
            old,
            new,
            script,
            deltas: start..next + count,
            presence,
            path,
            mode,
            whole,
            ends,
            styles,
            edits: next..next + count,
        })
    }

    /// Where the file is, in the bad tree if it is there.
    pub(crate) fn shown_path(&self) -> &Path {
        let side = self.new.as_ref().or(self.old.as_ref());
        side.map_or(Path::new(""), |(path, _)| path.as_path())
    }

    /// What it is in both versions, if it is in both.
    fn kinds(&self) -> Option<(EntryKind, EntryKind)> {
        Some((self.old.as_ref()?.1.kind, self.new.as_ref()?.1.kind))
    }

    fn places(&self) -> usize {
        let single = [self.presence, self.path, self.mode, self.whole, self.ends];
        let single = single.iter().flatten().count();
        match &self.script {
            Some(script) if single == 0 => script.edits.last().map_or(0, |edit| edit.hunk + 1),
            Some(script) if self.presence.is_none() => {
                single + script.edits.last().map_or(0, |edit| edit.hunk + 1)
            }
            _ => single,
        }
    }

    /// What deltas of the file need of each other: lines need a file to be in.
    pub(crate) fn needs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let is_new = self.old.is_none();
        let presence = self.presence.into_iter();
        presence.flat_map(move |presence| {
            self.edits.clone().map(move |edit| match is_new {
                true => (edit, presence),
                false => (presence, edit),
            })
        })
    }

    fn make(&self, made: &DeltaSet) -> Result<MadeFile, Error> {
        let has = |delta: Option<u64>| delta.is_some_and(|delta| made.contains(delta));
        let some = match (&self.old, &self.new) {
            (None, Some(new)) => has(self.presence).then_some((new, new)),
            (Some(old), None) => (!has(self.presence)).then_some((old, old)),
            (Some(old), Some(new)) => Some((old, new)),
            (None, None) => None,
        };
        let Some((old, new)) = some else {
            return Ok(None);
        };
        let path = if has(self.path) { &new.0 } else { &old.0 };
        // A link and a file are different as a whole.
        let kind = match self.mode {
            Some(_) if has(self.mode) => new.1.kind,
            None if has(self.whole) => new.1.kind,
            _ => old.1.kind,
        };
        let source = match &self.script {
            None if has(self.whole) => new.1.source.clone(),
            None => old.1.source.clone(),
            Some(script) => {
                let bytes = script.apply(|edit| made.contains(self.edits.start + edit as u64));
                let bytes = match self.ends {
                    Some(_) if has(self.ends) => self.styles.1.put(bytes),
                    Some(_) => self.styles.0.put(bytes),
                    None => bytes,
                };
                EntryBytes::Memory(bytes.into())
            }
        };
        let entry = TreeEntry { kind, source };
        Ok(Some((path.clone(), entry)))
    }
}

/// Text has no zero byte near its start, as Git sees it.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    !bytes[..bytes.len().min(LOOKED_AT)].contains(&0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A tree of texts. A path that ends in `*` is a program, one that ends in `@` a link.
    pub(crate) fn tree(files: &[(&str, &str)]) -> FileTree {
        let entries = files.iter().map(|(path, text)| {
            let (path, kind) = match path.split_at(path.len() - 1) {
                (path, "*") => (path, EntryKind::Program),
                (path, "@") => (path, EntryKind::Link),
                _ => (*path, EntryKind::File),
            };
            let source = EntryBytes::Memory(text.as_bytes().into());
            (path.into(), TreeEntry { kind, source })
        });
        FileTree(entries.collect())
    }

    fn difference(good: &[(&str, &str)], bad: &[(&str, &str)]) -> Difference {
        Difference::new(tree(good), &tree(bad)).unwrap()
    }

    fn made(difference: &Difference, deltas: &[u64]) -> FileTree {
        let set = deltas.iter().copied().collect();
        let (mut tree, _) = difference.tree(&set).unwrap().unwrap();
        for entry in tree.0.values_mut() {
            entry.source = EntryBytes::Memory(entry.bytes().unwrap());
        }
        tree
    }

    #[test]
    fn all_deltas_make_the_bad_tree_and_none_the_good_one() {
        let good = [
            ("a", "1\n2\n3\n"),
            ("gone", "x\ny\n"),
            ("same", "s"),
            ("bin", "\0a"),
            ("link@", "a"),
            ("becomes", "a\n"),
            ("mode", "m\n"),
            ("old/name", "1\n2\n3\n4\n5\n"),
            ("dir", "file\n"),
        ];
        let bad = [
            ("a", "1\n2b\n3\nnew\n"),
            ("come", "p\nq\n"),
            ("same", "s"),
            ("bin", "\0b"),
            ("link@", "b"),
            ("becomes@", "a"),
            ("mode*", "m\n"),
            ("new/name", "1\n2\n3\n4\nfive\n"),
            ("dir/file", "below\nmore\n"),
        ];
        let difference = difference(&good, &bad);
        assert_eq!(made(&difference, &[]), tree(&good));
        let all: Vec<u64> = (0..difference.size()).collect();
        assert_eq!(made(&difference, &all), tree(&bad));
        for delta in all {
            let (file, part) = difference.locate(delta);
            assert!(file.deltas.contains(&delta), "{part:?}");
        }
    }

    #[test]
    fn line_ends_that_all_changed_are_one_delta() {
        let (good, bad) = ("a\r\nb\r\nc", "a\nB\nc");
        let difference = difference(
            &[("x", good), ("y", "1\n2\n")],
            &[("x", bad), ("y", "1\r\n2\r\n")],
        );
        assert_eq!(difference.size(), 3);
        assert_eq!(
            made(&difference, &[1]),
            tree(&[("x", "a\r\nB\r\nc"), ("y", "1\n2\n")])
        );
        assert_eq!(
            made(&difference, &[0, 2]),
            tree(&[("x", "a\nb\nc"), ("y", "1\r\n2\r\n")])
        );
        let all = made(&difference, &[0, 1, 2]);
        assert_eq!(all, tree(&[("x", bad), ("y", "1\r\n2\r\n")]));
    }

    #[test]
    fn a_mode_is_a_delta_beside_those_of_the_bytes_and_a_link_is_not() {
        let good = [("x", "a\nb\n"), ("bin*", "\0a"), ("l@", "x"), ("f*", "t\n")];
        let bad = [("x*", "a\nB\n"), ("bin", "\0b"), ("l*", "t\n"), ("f@", "x")];
        let difference = difference(&good, &bad);
        let described: Vec<String> = (0..difference.size())
            .map(|delta| difference.describe(delta))
            .collect();
        let expect = [
            "bin: mode 100755 became 100644",
            "bin: other bytes",
            "f: the file became a link",
            "l: the link became a file",
            "x: mode 100644 became 100755",
            "x: -b +B",
        ];
        assert_eq!(described, expect);
        assert_eq!(difference.modes(0), Some(("100755", "100644")));
        assert_eq!(difference.modes(1), None);
        assert_eq!(difference.modes(3), Some(("120000", "100755")));
        let some = [("x*", "a\nb\n"), ("bin*", "\0b"), ("l@", "x"), ("f@", "x")];
        assert_eq!(made(&difference, &[1, 2, 4]), tree(&some));
    }

    #[test]
    fn a_rename_is_a_delta_beside_those_of_the_lines() {
        let text = "a\nb\nc\nd\n";
        let difference = difference(&[("x", text)], &[("y", "a\nb\nC\nd\n")]);
        assert_eq!(difference.size(), 2);
        assert_eq!(made(&difference, &[0]), tree(&[("y", text)]));
        assert_eq!(made(&difference, &[1]), tree(&[("x", "a\nb\nC\nd\n")]));
    }

    #[test]
    fn lines_of_a_new_file_need_it_and_a_file_goes_after_its_lines() {
        let difference = difference(&[("x", "1\n2\n")], &[("y", "p\nq\n")]);
        let needs: Vec<_> = difference
            .files
            .iter()
            .flat_map(FileChange::needs)
            .collect();
        assert_eq!(needs, [(0, 1), (0, 2), (4, 3), (5, 3)]);
        assert_eq!(
            made(&difference, &[3, 5]),
            tree(&[("x", "1\n2\n"), ("y", "q\n")])
        );
        assert_eq!(made(&difference, &[1, 2]), tree(&[("x", "")]));
    }

    #[test]
    fn a_file_gives_way_before_another_comes() {
        let swap = difference(
            &[("a", "1\n2\n3\n4\n"), ("b", "\0")],
            &[("b", "1\n2\n3\n4\n")],
        );
        // What is at b is another file, not a rename of a.
        assert_eq!(swap.path_needs(), []);
        let folder = difference(&[("a", "1\n")], &[("a/b", "\0\0")]);
        let needs = folder.path_needs();
        assert_eq!(needs.len(), 1);
        let arrives: DeltaSet = [needs[0].0].into_iter().collect();
        assert_eq!(folder.tree(&arrives).unwrap(), Err("a".into()));
    }
}
