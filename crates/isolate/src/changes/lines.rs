//! Two texts as lines, and the edits between them, any subset of which can be made.
//!
//! An edit replaces some lines of the old text by some of the new one; either may be none. Edits
//! are in the order of the text and share no line, so a subset is made by going through the old
//! text once: nothing is searched for, and nothing can be in the wrong place. All edits give the
//! new text, none gives the old one, to the byte: lines keep their ends.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::unified::LineEdit;
use imara_diff::{Algorithm, Diff, InternedInput};

/// Pairs of lines that are compared to find which line became which; beyond it they are taken in
/// order.
const COMPARED: usize = 40_000;

/// How much of two lines is the same, of 1000, when one is taken for the other.
const ALIKE: u32 = 500;

/// Replaces lines of the old text by lines of the new one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Edit {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
    /// Edits of a hunk have no unchanged line between them.
    pub(crate) hunk: usize,
}

impl LineEdit for Edit {
    fn old_lines(&self) -> &Range<usize> {
        &self.old
    }

    fn new_lines(&self) -> &Range<usize> {
        &self.new
    }
}

/// The edits between two texts.
#[derive(Clone, Debug)]
pub(crate) struct EditScript {
    pub(crate) old: Text,
    pub(crate) new: Text,
    pub(crate) edits: Vec<Edit>,
}

/// Bytes, and where their lines are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    bytes: Vec<u8>,
    /// Where lines begin, and the end.
    starts: Vec<usize>,
}

impl Text {
    pub(crate) fn new(bytes: Vec<u8>) -> Text {
        let mut starts = vec![0];
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        starts.extend(ends.map(|(at, _)| at + 1));
        if starts.last() != Some(&bytes.len()) {
            starts.push(bytes.len());
        }
        Text { bytes, starts }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// A line with its end.
    pub(crate) fn line(&self, at: usize) -> &[u8] {
        &self.bytes[self.starts[at]..self.starts[at + 1]]
    }

    /// Lines with their ends.
    pub(crate) fn lines(&self, range: Range<usize>) -> &[u8] {
        match range.is_empty() {
            true => &[],
            false => &self.bytes[self.starts[range.start]..self.starts[range.end]],
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A line as characters, without its end.
    pub(crate) fn shown(&self, at: usize) -> String {
        let line = String::from_utf8_lossy(self.line(at));
        line.trim_end_matches(['\n', '\r']).to_owned()
    }

    /// A line as characters, with its end spelled out where it is no plain one.
    fn spelled(&self, at: usize) -> String {
        let line = self.line(at);
        let (body, end) = match line.strip_suffix(b"\n") {
            Some(body) => (body, ""),
            None => (line, " (no line end)"),
        };
        String::from_utf8_lossy(body).replace('\r', "\\r") + end
    }

    /// Whether the last line has no end.
    fn is_open(&self) -> bool {
        self.bytes.last().is_some_and(|byte| *byte != b'\n')
    }
}

impl EditScript {
    pub(crate) fn new(old: Vec<u8>, new: Vec<u8>) -> EditScript {
        let (old, new) = (Text::new(old), Text::new(new));
        let edits = edits(&old, &new);
        EditScript { old, new, edits }
    }

    /// The lines that an edit takes away and those that it brings. Where they read the same, it is their ends
    /// that differ, and these are shown.
    pub(crate) fn shown(&self, edit: &Edit) -> (Vec<String>, Vec<String>) {
        let lines = |show: fn(&Text, usize) -> String| -> (Vec<String>, Vec<String>) {
            let old = edit.old.clone().map(|at| show(&self.old, at));
            let new = edit.new.clone().map(|at| show(&self.new, at));
            (old.collect(), new.collect())
        };
        match lines(Text::shown) {
            (old, new) if old == new => lines(Text::spelled),
            told => told,
        }
    }

    /// The old text with some of the edits.
    pub(crate) fn apply(&self, is_made: impl Fn(usize) -> bool) -> Vec<u8> {
        let mut result = Vec::with_capacity(self.old.bytes.len().max(self.new.bytes.len()));
        let mut at = 0;
        for (number, edit) in self.edits.iter().enumerate() {
            result.extend_from_slice(self.old.lines(at..edit.old.start));
            result.extend_from_slice(match is_made(number) {
                true => self.new.lines(edit.new.clone()),
                false => self.old.lines(edit.old.clone()),
            });
            at = edit.old.end;
        }
        result.extend_from_slice(self.old.lines(at..self.old.len()));
        result
    }
}

fn edits(old: &Text, new: &Text) -> Vec<Edit> {
    let input = InternedInput::new(old.bytes(), new.bytes());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let mut edits = Vec::new();
    for (hunk, found) in diff.hunks().enumerate() {
        let before = found.before.start as usize..found.before.end as usize;
        let after = found.after.start as usize..found.after.end as usize;
        // A line without an end would run into one that follows it, were only one of them there.
        let is_open =
            old.is_open() && before.end == old.len() || new.is_open() && after.end == new.len();
        if is_open {
            let (old, new) = (before, after);
            edits.push(Edit { old, new, hunk });
        } else {
            part(old, new, before, after, hunk, &mut edits);
        }
    }
    edits
}

/// Parts a hunk into edits of single lines. A line that became another is one edit.
fn part(
    old: &Text,
    new: &Text,
    before: Range<usize>,
    after: Range<usize>,
    hunk: usize,
    edits: &mut Vec<Edit>,
) {
    let pairs = pairs(old, new, &before, &after);
    let (mut o, mut n) = (before.start, after.start);
    for (to_old, to_new) in pairs.into_iter().chain([(before.end, after.end)]) {
        let gone = (o..to_old).map(|at| (at..at + 1, n..n));
        let come = (n..to_new).map(|at| (to_old..to_old, at..at + 1));
        edits.extend(gone.chain(come).map(|(old, new)| Edit { old, new, hunk }));
        if to_old < before.end && to_new < after.end {
            edits.push(Edit {
                old: to_old..to_old + 1,
                new: to_new..to_new + 1,
                hunk,
            });
        }
        (o, n) = (to_old + 1, to_new + 1);
    }
}

/// Which removed line became which added one, in order.
fn pairs(
    old: &Text,
    new: &Text,
    before: &Range<usize>,
    after: &Range<usize>,
) -> Vec<(usize, usize)> {
    let (rows, columns) = (before.len(), after.len());
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    if rows == 1 && columns == 1 || rows == columns && rows * columns > COMPARED {
        return before.clone().zip(after.clone()).collect();
    }
    if rows * columns > COMPARED {
        return Vec::new();
    }
    let bags = |text: &Text, range: &Range<usize>| -> Vec<Bag> {
        range.clone().map(|at| Bag::of(text.line(at))).collect()
    };
    let (olds, news) = (bags(old, before), bags(new, after));
    // The best sum of likeness of what is left, from each pair on.
    let mut best = vec![vec![0u32; columns + 1]; rows + 1];
    let alike: Vec<Vec<u32>> = olds
        .iter()
        .map(|one| news.iter().map(|other| one.likeness(other)).collect())
        .collect();
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let skip = best[row + 1][column].max(best[row][column + 1]);
            let taken = match alike[row][column] {
                likeness if likeness >= ALIKE => likeness + best[row + 1][column + 1],
                _ => 0,
            };
            best[row][column] = skip.max(taken);
        }
    }
    let mut found = Vec::new();
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        let here = best[row][column];
        let likeness = alike[row][column];
        if likeness >= ALIKE && here == likeness + best[row + 1][column + 1] {
            found.push((before.start + row, after.start + column));
            (row, column) = (row + 1, column + 1);
        } else if here == best[row + 1][column] {
            row += 1;
        } else {
            column += 1;
        }
    }
    found
}

/// The words and signs of a line, each with its number.
struct Bag {
    counts: BTreeMap<Vec<u8>, u32>,
    size: u32,
}

impl Bag {
    fn of(line: &[u8]) -> Bag {
        let mut counts = BTreeMap::new();
        let mut size = 0;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
        for token in line.chunk_by(|a, b| is_word(a) && is_word(b)) {
            if !token.iter().all(u8::is_ascii_whitespace) {
                *counts.entry(token.to_vec()).or_insert(0) += 1;
                size += 1;
            }
        }
        Bag { counts, size }
    }

    /// What the lines share, of 1000.
    fn likeness(&self, other: &Bag) -> u32 {
        let both = self.size + other.size;
        if both == 0 {
            return 0;
        }
        let shared = self.counts.iter().map(|(token, count)| {
            let there = other.counts.get(token).copied().unwrap_or(0);
            there.min(*count)
        });
        2000 * shared.sum::<u32>() / both
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn script(old: &str, new: &str) -> EditScript {
        EditScript::new(old.into(), new.into())
    }

    fn made(script: &EditScript, edits: &[usize]) -> String {
        String::from_utf8(script.apply(|edit| edits.contains(&edit))).unwrap()
    }

    #[test]
    fn lines_that_became_others_are_one_edit() {
        let script = script(
            "begin\nint a = 1;\nint b = 2;\nend\n",
            "begin\nint a = 5;\nlog();\nint b = 6;\nend\n",
        );
        assert_eq!(script.edits.len(), 3);
        let only_second = made(&script, &[1]);
        assert_eq!(only_second, "begin\nint a = 1;\nlog();\nint b = 2;\nend\n");
        let others = made(&script, &[0, 2]);
        assert_eq!(others, "begin\nint a = 5;\nint b = 6;\nend\n");
    }

    #[test]
    fn ends_of_lines_are_kept_and_lines_never_run_together() {
        let crlf = script("a\r\nb\r\n", "a\nb\r\n");
        assert_eq!(made(&crlf, &[0]), "a\nb\r\n");
        assert_eq!(made(&crlf, &[]), "a\r\nb\r\n");
        let open = script("a", "a\nb\n");
        assert_eq!(open.edits.len(), 1);
        assert_eq!(made(&open, &[0]), "a\nb\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn all_edits_give_the_new_text_and_any_subset_has_its_lines_only(
            old in "([ab] ?[cd]?\r?\n){0,12}[ab]?",
            new in "([ab] ?[cd]?\r?\n){0,12}[ab]?",
            chosen in any::<u64>(),
        ) {
            let script = script(&old, &new);
            let all = script.apply(|_| true);
            prop_assert_eq!(all, new.as_bytes());
            let none = script.apply(|_| false);
            prop_assert_eq!(none, old.as_bytes());
            let some = Text::new(script.apply(|edit| chosen >> (edit % 64) & 1 == 1));
            let known: Vec<&[u8]> = (0..script.old.len()).map(|at| script.old.line(at))
                .chain((0..script.new.len()).map(|at| script.new.line(at))).collect();
            for at in 0..some.len() {
                prop_assert!(known.contains(&some.line(at)));
            }
        }
    }
}
