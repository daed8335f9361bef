//! A pair of inputs as people look at it: the lines in which they differ, side by side, and as a
//! unified diff.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::changes::changes;
use super::cut::{Content, Grain, cut};
use super::material::{Beside, Item, Material, Mode, Stuff};
use crate::unified::{self, AROUND, Hunk, HunkPiece, LineEdit};

/// Bytes in a row of what is no text.
const ROW: usize = 16;

/// A file that differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    pub path: PathBuf,
    /// Whether the passing side has it, and the failing one.
    pub is_there: (bool, bool),
    /// Its modes, where they differ.
    pub modes: Option<(Mode, Mode)>,
    /// `None` between parts of the file.
    pub rows: Vec<Option<PairRow>>,
    /// How many lines more there are.
    pub more: usize,
    /// Bytes that only one side has, of what stands for each other on the side that has more.
    pub bytes: u64,
}

/// A line of each side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PairRow {
    pub passing: Option<Half>,
    pub failing: Option<Half>,
}

/// A line, and what of it differs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Half {
    /// From 1; of what is no text the place of its first byte.
    pub number: usize,
    pub text: String,
    /// Bytes of the text.
    pub differs: Range<usize>,
}

/// Both sides, file by file, with so many rows at most.
pub fn pairs(old: &Material, new: &Material, most: usize) -> Vec<Pair> {
    let mut most = most;
    let each = differing(old, new).map(|(path, before, after)| {
        let (one, other) = (bytes(before), bytes(after));
        let is_binary = [one, other]
            .iter()
            .any(|side| Content::of(side) == Content::Binary);
        let (rows, more, bytes) = match is_binary {
            true => (binary(one, other), 0, bytes_of_binary(one, other)),
            false => text(one, other, most),
        };
        most = most.saturating_sub(rows.len());
        Pair {
            path: path.to_owned(),
            is_there: (before.is_some(), after.is_some()),
            modes: modes(before, after),
            rows,
            more,
            bytes,
        }
    });
    each.collect()
}

/// What makes the passing side the failing one, as `diff -u` prints it.
pub fn unified(old: &Material, new: &Material) -> Vec<u8> {
    let mut out = Vec::new();
    for (path, before, after) in differing(old, new) {
        let (one, other) = (bytes(before), bytes(after));
        let name = |side: Option<&Item>, letter: &str| match side {
            Some(_) => format!("{letter}/{}", path.display()),
            None => "/dev/null".to_owned(),
        };
        let (from, to) = (name(before, "a"), name(after, "b"));
        let is_text = |item: Option<&Item>| {
            item.is_none_or(|item| {
                matches!(item.stuff, Stuff::File { .. })
                    && Content::of(item.bytes()) != Content::Binary
            })
        };
        if let Some((old, new)) = modes(before, after) {
            let path = path.display();
            let head = format!("diff --git a/{path} b/{path}\nold mode {old}\nnew mode {new}\n");
            out.extend_from_slice(head.as_bytes());
            if one == other {
                continue;
            }
        }
        if !is_text(before) || !is_text(after) {
            out.extend_from_slice(format!("Binary files {from} and {to} differ\n").as_bytes());
            continue;
        }
        out.extend_from_slice(format!("--- {from}\n+++ {to}\n").as_bytes());
        let all = compared(one, other);
        for hunk in all.hunks() {
            hunk.write(all.first, |at| all.old[at], |at| all.new[at], &mut out);
        }
    }
    out
}

/// The modes of a file in both, where they differ.
fn modes(old: Option<&Item>, new: Option<&Item>) -> Option<(Mode, Mode)> {
    let modes = (old?.mode()?, new?.mode()?);
    (modes.0 != modes.1).then_some(modes)
}

fn bytes(side: Option<&Item>) -> &[u8] {
    side.map_or(&[], Item::bytes)
}

fn differing<'a>(old: &'a Material, new: &'a Material) -> impl Iterator<Item = Beside<'a>> {
    old.beside(new).filter(|(_, before, after)| before != after)
}

/// Lines with their ends, and which of them differ. Those far from any difference are left out.
struct Compared<'a> {
    /// How many lines come before.
    first: usize,
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    edits: Vec<Edit>,
}

/// Lines of either side that differ.
struct Edit {
    old: Range<usize>,
    new: Range<usize>,
}

impl LineEdit for Edit {
    fn old_lines(&self) -> &Range<usize> {
        &self.old
    }

    fn new_lines(&self) -> &Range<usize> {
        &self.new
    }
}

fn compared<'a>(old: &'a [u8], new: &'a [u8]) -> Compared<'a> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let ends = old[same..].iter().rev().zip(new[same..].iter().rev());
    let after = ends.take_while(|(a, b)| a == b).count();
    let start = lines_back(&old[..same], AROUND);
    let end = after - lines_on(&old[old.len() - after..], AROUND + 1);
    let first = old[..start].iter().filter(|byte| **byte == b'\n').count();
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let lines = |text: &'a [u8]| -> Vec<&'a [u8]> {
        cut(text, Grain::Lines).map(|line| &text[line]).collect()
    };
    let (old, new) = (lines(old), lines(new));
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let edits = diff.hunks().map(|it| Edit {
        old: range(it.before),
        new: range(it.after),
    });
    Compared {
        first,
        edits: edits.collect(),
        old,
        new,
    }
}

/// Where the line at the end of a text begins, or one so many lines before it.
fn lines_back(text: &[u8], count: usize) -> usize {
    let ends = text
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, byte)| **byte == b'\n');
    ends.map(|(at, _)| at + 1).nth(count).unwrap_or(0)
}

/// Where so many lines of a text end.
fn lines_on(text: &[u8], count: usize) -> usize {
    let mut ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.nth(count - 1).map_or(text.len(), |(at, _)| at + 1)
}

impl Compared<'_> {
    fn hunks(&self) -> impl Iterator<Item = Hunk<'_, Edit>> {
        unified::hunks(&self.edits, self.old.len())
    }
}

impl Compared<'_> {
    /// Bytes of an edit that differ: of its lines one by one, or of all at once if that is less, as it
    /// is where a line was parted.
    fn bytes(&self, edit: &Edit) -> u64 {
        let (old, new) = (&self.old[edit.old.clone()], &self.new[edit.new.clone()]);
        let line = |lines: &[&[u8]], at: usize| lines.get(at).map_or(0, |line| line.len());
        let each = (0..old.len().max(new.len())).map(|at| match (old.get(at), new.get(at)) {
            (Some(one), Some(other)) => apart(one, other),
            _ => (line(old, at) + line(new, at)) as u64,
        });
        each.sum::<u64>().min(apart(&old.concat(), &new.concat()))
    }
}

/// Bytes from the first that differs to the last, on the side where that is more.
fn apart(one: &[u8], other: &[u8]) -> u64 {
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let ends = one[start..].iter().rev().zip(other[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    (one.len().max(other.len()) - start - end) as u64
}

/// Bytes that differ in what is no text; of blocks where they are many.
fn bytes_of_binary(old: &[u8], new: &[u8]) -> u64 {
    if old.len() == new.len() {
        // What stands at the same place is meant by people, too.
        return old.iter().zip(new).filter(|(a, b)| a != b).count() as u64;
    }
    let edits = changes(old, &Arc::new(new.to_vec()), Grain::Bytes).edits;
    edits.differing().min(apart(old, new))
}

fn shown(line: &[u8]) -> String {
    let mut text = String::new();
    for chunk in line.utf8_chunks() {
        text.push_str(chunk.valid());
        let _ = write!(text, "{}", chunk.invalid().escape_ascii());
    }
    text.truncate(text.trim_end_matches(['\n', '\r']).len());
    text
}

/// So many rows at most, how many there are besides, and the bytes that differ.
fn text(old: &[u8], new: &[u8], most: usize) -> (Vec<Option<PairRow>>, usize, u64) {
    let all = compared(old, new);
    let mut rows = Vec::new();
    let (mut more, mut differ) = (0, 0);
    let mut add = |row: &dyn Fn() -> Option<PairRow>| match rows.len() < most {
        true => rows.push(row()),
        false => more += 1,
    };
    let mut is_first = true;
    for hunk in all.hunks() {
        if !is_first {
            add(&|| None);
        }
        is_first = false;
        let same = |at: usize, there: usize| {
            let half = |number: usize, line: &[u8]| Half {
                number: all.first + number + 1,
                text: shown(line),
                differs: 0..0,
            };
            Some(PairRow {
                passing: Some(half(at, all.old[at])),
                failing: Some(half(there, all.new[there])),
            })
        };
        for piece in hunk.pieces() {
            let edit = match piece {
                HunkPiece::Same { old, new } => {
                    add(&|| same(old, new));
                    continue;
                }
                HunkPiece::Edit(edit) => edit,
            };
            differ += all.bytes(edit);
            for number in 0..edit.old.len().max(edit.new.len()) {
                let one = edit.old.clone().nth(number);
                let other = edit.new.clone().nth(number);
                add(&|| {
                    Some(row(
                        one.map(|at| (all.first + at, shown(all.old[at]))),
                        other.map(|at| (all.first + at, shown(all.new[at]))),
                    ))
                });
            }
        }
    }
    (rows, more, differ)
}

/// Two lines that stand for each other.
fn row(old: Option<(usize, String)>, new: Option<(usize, String)>) -> PairRow {
    let (start, end) = match (&old, &new) {
        (Some((_, one)), Some((_, other))) => common(one, other),
        _ => (0, 0),
    };
    let half = |(number, text): (usize, String)| Half {
        number: number + 1,
        differs: start..text.len() - end,
        text,
    };
    PairRow {
        passing: old.map(half),
        failing: new.map(half),
    }
}

/// Bytes at the start and at the end that both have, in whole characters.
fn common(one: &str, other: &str) -> (usize, usize) {
    let start = one.char_indices().zip(other.chars());
    let start = start
        .take_while(|((_, a), b)| a == b)
        .last()
        .map_or(0, |((at, letter), _)| at + letter.len_utf8());
    let ends = one[start..].chars().rev().zip(other[start..].chars().rev());
    let end = ends.take_while(|(a, b)| a == b);
    (start, end.map(|(letter, _)| letter.len_utf8()).sum())
}

/// Rows of hexadecimal digits around the first place where two differ.
fn binary(old: &[u8], new: &[u8]) -> Vec<Option<PairRow>> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let ends = old[same..].iter().rev().zip(new[same..].iter().rev());
    let after = ends.take_while(|(a, b)| a == b).count();
    let first = (same / ROW).saturating_sub(1) * ROW;
    let half = |bytes: &[u8], start: usize| {
        let end = bytes.len().min(start + ROW);
        let own = bytes.get(start..end).filter(|own| !own.is_empty())?;
        let mut text = String::new();
        for byte in own {
            // Writing to a text cannot fail.
            let _ = write!(text, "{byte:02x} ");
        }
        text.pop();
        let from = same.clamp(start, end) - start;
        let to = (bytes.len() - after).clamp(start, end) - start;
        Some(Half {
            number: start,
            // Without the blank behind the last digit.
            differs: (3 * from).min(text.len())
                ..(3 * to).saturating_sub(1).max(3 * from).min(text.len()),
            text,
        })
    };
    let rows = (0..4).map(|number| first + number * ROW);
    let rows = rows.map(|start| PairRow {
        passing: half(old, start),
        failing: half(new, start),
    });
    let there = rows.filter(|row| row.passing.is_some() || row.failing.is_some());
    there.map(Some).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(old: &Material, new: &Material) -> Vec<Pair> {
        super::pairs(old, new, usize::MAX)
    }

    #[test]
    fn only_the_bytes_that_differ_are_counted() {
        let bytes = |old: &[u8], new: &[u8]| pairs(&file("x", old), &file("x", new))[0].bytes;
        let middle = "same\n".repeat(500);
        let (old, new) = (format!("a\n{middle}b\n"), format!("<b>a\n{middle}b</b>\n"));
        assert_eq!(bytes(old.as_bytes(), new.as_bytes()), 7);
        // One that was parted, and the end of the last line.
        assert_eq!(bytes(b"ab\n", b"a\nb\n"), 1);
        assert_eq!(bytes(b"a\nb\n", b"a\nb"), 1);
        assert_eq!(bytes(&[0; 9], &[0, 1, 0, 0, 0, 0, 0, 1, 0]), 2);
        assert_eq!(bytes(b"\0abcdefgh", b"\0XXabcdefghY"), 3);
    }

    #[test]
    fn no_more_rows_are_made_than_are_wanted() {
        let (old, new) = (file("x", b""), file("x", b"1\n2\n3\n4\n"));
        let pair = &super::pairs(&old, &new, 3)[0];
        assert_eq!((pair.rows.len(), pair.more, pair.bytes), (3, 1, 8));
    }

    fn file(name: &str, bytes: &[u8]) -> Material {
        Material {
            is_folder: false,
            items: vec![Item {
                path: name.into(),
                stuff: Stuff::File {
                    bytes: Arc::new(bytes.to_vec()),
                    executable: false,
                },
            }],
        }
    }

    #[test]
    fn what_differs_in_a_line_is_marked() {
        let all = pairs(
            &file("x", b"a\nSELECT x\nc\n"),
            &file("x", b"a\n<SELECT x\nc\n"),
        );
        let rows: Vec<&PairRow> = all[0].rows.iter().flatten().collect();
        assert_eq!(rows.len(), 3);
        let failing = rows[1].failing.as_ref().unwrap();
        assert_eq!(
            (failing.number, &failing.text[failing.differs.clone()]),
            (2, "<")
        );
        let passing = rows[1].passing.as_ref().unwrap();
        assert!(passing.differs.is_empty());
        let all = pairs(&file("x", b"\0\0\0"), &file("x", b"\0\xee\0"));
        let row = all[0].rows[0].as_ref().unwrap().failing.as_ref().unwrap();
        assert_eq!((row.text.as_str(), row.differs.clone()), ("00 ee 00", 3..5));
    }

    #[test]
    fn what_is_no_text_is_shown_to_the_byte() {
        let rows = |old: &[u8], new: &[u8]| pairs(&file("x", old), &file("x", new))[0].rows.clone();
        // A byte that is gone moves all others; only it is marked.
        let rows_of_bytes = rows(b"\0\x01\x02\x03", b"\0\x02\x03");
        let row = rows_of_bytes[0].clone().unwrap();
        let passing = row.passing.unwrap();
        assert_eq!(&passing.text[passing.differs], "01");
        assert!(row.failing.unwrap().differs.is_empty());
        let rows_of_text = rows(b"gr\xf6 is latin\n", b"gr\xdf is latin\n");
        let row = rows_of_text[0].clone().unwrap();
        assert_eq!(row.passing.unwrap().text, "gr\\xf6 is latin");
    }

    #[test]
    fn the_diff_is_one_that_patch_takes() {
        let told = |old: &[u8], new: &[u8]| {
            String::from_utf8(unified(&file("x", old), &file("x", new))).unwrap()
        };
        assert_eq!(
            told(b"a\nb\nc\n", b"a\nX\nc"),
            "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+X\n+c\n\\ No newline at end of file\n"
        );
        let many: Vec<String> = (1..=50).map(|number| format!("{number}\n")).collect();
        let (old, new) = (many.concat(), many.concat().replace("25\n", "25x\n"));
        assert_eq!(
            told(old.as_bytes(), new.as_bytes()),
            "--- a/x\n+++ b/x\n@@ -22,7 +22,7 @@\n 22\n 23\n 24\n-25\n+25x\n 26\n 27\n 28\n"
        );
        assert_eq!(told(b"", b"z\n"), "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+z\n");
        assert_eq!(told(b"\0", b"\x01\0"), "Binary files a/x and b/x differ\n");
    }
}
