//! Unified diffs: edits of lines that are near each other become one hunk, with unchanged lines around,
//! which is shown side by side or written as `diff -u` and Git do it. Lines are bytes.

use std::ops::Range;

/// Unchanged lines around changed ones.
pub(crate) const AROUND: usize = 3;

/// The replacement of old lines by new ones.
pub(crate) trait LineEdit {
    fn old_lines(&self) -> &Range<usize>;
    fn new_lines(&self) -> &Range<usize>;
}

/// Edits that are near each other, and the lines of both sides that show them.
pub(crate) struct Hunk<'e, E> {
    edits: &'e [E],
    old: Range<usize>,
    new: Range<usize>,
}

/// A piece of a hunk, side by side.
pub(crate) enum HunkPiece<'e, E> {
    /// A line that both sides have, by its number in each.
    Same {
        old: usize,
        new: usize,
    },
    Edit(&'e E),
}

/// The hunks of a file. `lines` is the number of old lines.
pub(crate) fn hunks<E: LineEdit>(edits: &[E], lines: usize) -> impl Iterator<Item = Hunk<'_, E>> {
    // Edits with less than twice the lines around between them are shown as one.
    let near = |one: &E, next: &E| next.old_lines().start - one.old_lines().end <= 2 * AROUND;
    edits.chunk_by(near).filter_map(move |edits| {
        let (first, last) = (edits.first()?, edits.last()?);
        let before = AROUND.min(first.old_lines().start);
        let after = AROUND.min(lines - last.old_lines().end);
        Some(Hunk {
            edits,
            old: first.old_lines().start - before..last.old_lines().end + after,
            new: first.new_lines().start - before..last.new_lines().end + after,
        })
    })
}

impl<'e, E: LineEdit> Hunk<'e, E> {
    /// The lines side by side.
    pub(crate) fn pieces(&self) -> Vec<HunkPiece<'e, E>> {
        let same = |old: Range<usize>, new: Range<usize>| {
            let lines = old.zip(new);
            lines.map(|(old, new)| HunkPiece::Same { old, new })
        };
        let (mut at, mut there) = (self.old.start, self.new.start);
        let mut pieces = Vec::new();
        for edit in self.edits {
            pieces.extend(same(
                at..edit.old_lines().start,
                there..edit.new_lines().start,
            ));
            pieces.push(HunkPiece::Edit(edit));
            (at, there) = (edit.old_lines().end, edit.new_lines().end);
        }
        pieces.extend(same(at..self.old.end, there..self.new.end));
        pieces
    }

    /// Writes the hunk. `first` lines come before those that are numbered from 0.
    pub(crate) fn write<'l>(
        &self,
        first: usize,
        old: impl Fn(usize) -> &'l [u8],
        new: impl Fn(usize) -> &'l [u8],
        out: &mut Vec<u8>,
    ) {
        let head = [&self.old, &self.new].map(|lines| place(first, lines));
        let head = format!("@@ -{} +{} @@\n", head[0], head[1]);
        out.extend_from_slice(head.as_bytes());
        let mut put = |sign: u8, line: &[u8]| {
            out.push(sign);
            out.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        };
        let mut at = self.old.start;
        // Removed lines precede added ones, as long as nothing is between them.
        let is_next = |one: &E, next: &E| one.old_lines().end == next.old_lines().start;
        for edits in self.edits.chunk_by(is_next) {
            let start = edits.first().map_or(at, |edit| edit.old_lines().start);
            (at..start).for_each(|line| put(b' ', old(line)));
            let gone = edits.iter().flat_map(|edit| edit.old_lines().clone());
            gone.for_each(|line| put(b'-', old(line)));
            let come = edits.iter().flat_map(|edit| edit.new_lines().clone());
            come.for_each(|line| put(b'+', new(line)));
            at = edits.last().map_or(start, |edit| edit.old_lines().end);
        }
        (at..self.old.end).for_each(|line| put(b' ', old(line)));
    }
}

/// Lines from 1; a range of none begins after the line before it.
fn place(first: usize, lines: &Range<usize>) -> String {
    let start = first + lines.start;
    match lines.len() {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}
