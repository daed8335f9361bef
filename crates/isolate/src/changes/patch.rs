//! The difference of two versions as a patch that `git apply` takes.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use culprit_reduce::DeltaSet;

use super::Error;
use super::binary;
use super::difference::{Difference, MadeFile, is_text};
use super::lines::EditScript;
use super::tree::EntryKind;
use crate::unified::{self, HunkPiece};

/// What a patch has of files that are no text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoText {
    /// Their bytes: the patch applies.
    Held,
    /// That they differ: the patch is to be read.
    Named,
}

impl Difference {
    /// What makes a version with some deltas one with others.
    pub fn patch(&self, from: &DeltaSet, to: &DeltaSet, no_text: NoText) -> Result<Vec<u8>, Error> {
        let mut patch = Vec::new();
        for (before, after) in self.changed(from)?.iter().zip(&self.changed(to)?) {
            let is_link = |side: &MadeFile| {
                side.as_ref()
                    .map(|(_, entry)| entry.kind == EntryKind::Link)
            };
            match (is_link(before), is_link(after)) {
                _ if before == after => {}
                // A file that becomes a link goes, and the link comes.
                (Some(one), Some(other)) if one != other => {
                    file(before, &None, no_text, &mut patch)?;
                    file(&None, after, no_text, &mut patch)?;
                }
                _ => file(before, after, no_text, &mut patch)?,
            }
        }
        Ok(patch)
    }

    /// Both versions of the lines that differ, with some lines around them, side by side.
    pub fn side_by_side(&self, from: &DeltaSet, to: &DeltaSet) -> Result<Vec<Compared>, Error> {
        let mut all = Vec::new();
        for (before, after) in self.changed(from)?.iter().zip(&self.changed(to)?) {
            if before != after {
                all.extend(compared(before, after)?);
            }
        }
        Ok(all)
    }
}

/// A file in both versions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    /// Where it is in the passing version; `None` if it is not there.
    pub old: Option<String>,
    /// Where it is in the failing version.
    pub new: Option<String>,
    /// Its modes as Git writes them, where they differ: whether it can be run, or is a link.
    pub modes: Option<(&'static str, &'static str)>,
    /// Lines side by side; `None` between parts of the file.
    pub rows: Vec<Option<Row>>,
}

/// A line of each version, with its number from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The line that passes.
    pub old: Option<(usize, String)>,
    /// The line that fails.
    pub new: Option<(usize, String)>,
    /// Whether they differ.
    pub is_changed: bool,
}

fn compared(before: &MadeFile, after: &MadeFile) -> Result<Option<Compared>, Error> {
    let path = |side: &MadeFile| side.as_ref().map(|(path, _)| path.display().to_string());
    let bytes = |side: &MadeFile| match side {
        Some((_, entry)) => entry.bytes(),
        None => Ok([].into()),
    };
    let (from, to) = (bytes(before)?, bytes(after)?);
    let mut found = Compared {
        old: path(before),
        new: path(after),
        modes: match (before, after) {
            (Some((_, old)), Some((_, new))) => modes(old.kind, new.kind),
            _ => None,
        },
        rows: Vec::new(),
    };
    if !is_text(&from) || !is_text(&to) {
        return Ok(Some(found));
    }
    let script = EditScript::new(from.to_vec(), to.to_vec());
    let old = |at: usize| Some((at + 1, script.old.shown(at)));
    let new = |at: usize| Some((at + 1, script.new.shown(at)));
    let same = |at: usize, there: usize| Row {
        old: old(at),
        new: new(there),
        is_changed: false,
    };
    for hunk in unified::hunks(&script.edits, script.old.len()) {
        if !found.rows.is_empty() {
            found.rows.push(None);
        }
        for piece in hunk.pieces() {
            let edit = match piece {
                HunkPiece::Same { old, new } => {
                    found.rows.push(Some(same(old, new)));
                    continue;
                }
                HunkPiece::Edit(edit) => edit,
            };
            let (gone, come) = script.shown(edit);
            let row = |lines: &[String], start: usize, at: usize| {
                let line = lines.get(at)?;
                Some((start + at + 1, line.clone()))
            };
            for line in 0..gone.len().max(come.len()) {
                found.rows.push(Some(Row {
                    old: row(&gone, edit.old.start, line),
                    new: row(&come, edit.new.start, line),
                    is_changed: true,
                }));
            }
        }
    }
    Ok(Some(found))
}

/// The modes of a file in both versions, where they differ.
pub(crate) fn modes(old: EntryKind, new: EntryKind) -> Option<(&'static str, &'static str)> {
    (old != new).then(|| (old.mode(), new.mode()))
}

fn file(
    before: &MadeFile,
    after: &MadeFile,
    no_text: NoText,
    patch: &mut Vec<u8>,
) -> Result<(), Error> {
    let (Some(one), Some(other)) = (
        before.as_ref().or(after.as_ref()),
        after.as_ref().or(before.as_ref()),
    ) else {
        return Ok(());
    };
    let (old, new) = (name("a", &one.0), name("b", &other.0));
    let mut head = format!("diff --git {old} {new}\n");
    // Writing to a text cannot fail.
    let _ = match (before, after) {
        (None, Some((_, entry))) => writeln!(head, "new file mode {}", entry.kind.mode()),
        (Some((_, entry)), None) => writeln!(head, "deleted file mode {}", entry.kind.mode()),
        (Some((_, old)), Some((_, new))) if old.kind != new.kind => {
            writeln!(
                head,
                "old mode {}\nnew mode {}",
                old.kind.mode(),
                new.kind.mode()
            )
        }
        _ => Ok(()),
    };
    if one.0 != other.0 {
        let (from, to) = (name("", &one.0), name("", &other.0));
        let _ = write!(head, "rename from {from}\nrename to {to}\n");
    }
    patch.extend_from_slice(head.as_bytes());
    let bytes = |side: &MadeFile| match side {
        Some((_, entry)) => entry.bytes(),
        None => Ok([].into()),
    };
    let (from, to) = (bytes(before)?, bytes(after)?);
    if from == to {
        return Ok(());
    }
    let missing = || "/dev/null".to_owned();
    let old = before.as_ref().map_or_else(missing, |_| old);
    let new = after.as_ref().map_or_else(missing, |_| new);
    if !is_text(&from) || !is_text(&to) {
        if no_text == NoText::Held {
            let side = |side: &MadeFile, bytes| side.as_ref().map(|_| bytes);
            let held = binary::patch(side(before, &from[..]), side(after, &to[..]));
            patch.extend_from_slice(held.as_bytes());
            return Ok(());
        }
        patch.extend_from_slice(format!("Binary files {old} and {new} differ\n").as_bytes());
        return Ok(());
    }
    patch.extend_from_slice(format!("--- {old}\n+++ {new}\n").as_bytes());
    let script = EditScript::new(from.to_vec(), to.to_vec());
    let (old, new) = (|at| script.old.line(at), |at| script.new.line(at));
    for hunk in unified::hunks(&script.edits, script.old.len()) {
        hunk.write(0, old, new, patch);
    }
    Ok(())
}

/// A path below a letter, quoted as Git does it.
fn name(letter: &str, path: &Path) -> String {
    let mut full = letter.as_bytes().to_vec();
    if !letter.is_empty() {
        full.push(b'/');
    }
    full.extend_from_slice(path.as_os_str().as_bytes());
    let is_plain = |byte: &u8| (b' '..0x7f).contains(byte) && !b"\"\\".contains(byte);
    if full.iter().all(is_plain) {
        return String::from_utf8_lossy(&full).into_owned();
    }
    let quoted = full.iter().map(|byte| match byte {
        b'"' | b'\\' => format!("\\{}", *byte as char),
        byte if is_plain(byte) => (*byte as char).to_string(),
        byte => format!("\\{byte:03o}"),
    });
    format!("\"{}\"", quoted.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::super::difference::tests::tree;
    use super::super::git::fixture::ScriptedRepository;
    use super::super::sides::copy_tree;
    use super::super::tree::FileTree;
    use super::*;

    #[test]
    fn git_makes_the_one_version_the_other() {
        let long: String = (0..40).map(|line| format!("line {line}\n")).collect();
        let changed = long
            .replace("line 3\n", "LINE 3\nmore\n")
            .replace("line 30\n", "")
            .replace("line 33\n", "x\n");
        let good = tree(&[
            ("a b", &long),
            ("crlf", "a\r\nb\r\nc\r\n"),
            ("gone", "1\n2\n"),
            ("mode", "m\n"),
            ("both*", "1\n2\n"),
            ("link@", "a"),
            ("becomes", "a\n"),
            ("unlinked@", "a"),
            ("old", "1\n2\n3\n4\n5"),
            ("open", "no end"),
            ("image", &format!("\0{long}")),
            ("image moved*", &format!("\0{}", noise(3))),
            ("image gone", "\0"),
            ("text now", "\0text"),
        ]);
        let bad = tree(&[
            ("a b", &changed),
            ("crlf", "a\r\nB\nc\r\n"),
            ("new \u{e9}/f*", "1\n2"),
            ("mode*", "m\n"),
            ("both", "1\ntwo\n"),
            ("link@", "b"),
            ("becomes@", "a"),
            ("unlinked*", "1\n"),
            ("renamed*", "1\n2\n3\nfour\n5"),
            ("open", "no end\nnow\n"),
            ("image", &format!("\0{changed}")),
            ("image there", &format!("\0{}", noise(3))),
            ("image new*", &format!("\0{}", noise(5))),
            ("text now*", "text\n"),
        ]);
        let difference = Difference::new(good.clone(), &bad).unwrap();
        let all = DeltaSet::all(difference.size());
        let repo = ScriptedRepository::by("");
        let folder = repo.folder.path();
        copy_tree(&good, folder).unwrap();
        let patch = |no_text| difference.patch(&DeltaSet::empty(), &all, no_text).unwrap();
        std::fs::write(folder.join(".git/patch"), patch(NoText::Held)).unwrap();
        for (option, expect) in [("", &bad), ("--reverse", &good)] {
            repo.run(&format!(
                "git apply {option} --whitespace=nowarn .git/patch"
            ));
            let made = FileTree::read(folder).unwrap();
            assert_eq!(made.0.len(), expect.0.len());
            for (path, entry) in &made.0 {
                assert_eq!(entry.kind, expect.0[path].kind, "{path:?}");
                let bytes = expect.0[path].bytes().unwrap();
                assert_eq!(entry.bytes().unwrap(), bytes, "{path:?}");
            }
        }
        let read = String::from_utf8(patch(NoText::Named)).unwrap();
        assert!(
            read.contains("Binary files a/image and b/image differ\n"),
            "{read}"
        );
    }

    /// Text that does not get much smaller.
    fn noise(seed: u32) -> String {
        let numbers =
            std::iter::successors(Some(seed), |it| Some(it.wrapping_mul(0x9E37_79B1) ^ 77));
        numbers.take(300).map(|it| format!("{it:x}")).collect()
    }
}
