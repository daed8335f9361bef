//! Which edits need each other so that brackets stay in pairs, and comments whole.
//!
//! A comment has its ends as brackets have. The line that opens a bracket and the line that closes it come and go together, and what is
//! between them does not stay without them. A bracket of a line that stays may have another partner
//! after the change than before: then those that change places belong together too.

use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::difference::FileChange;
use super::lines::EditScript;

/// What the edits of a file need for their brackets.
pub(crate) fn needs(file: &FileChange) -> Vec<(u64, u64)> {
    in_pairs(file, |blocks| blocks.brackets)
}

/// Endings of files in languages with comments between `/*` and `*/`. Elsewhere that may be something
/// else, such as the `src/*` and `*/` of a shell script.
const COMMENTED: [&str; 52] = [
    "c", "cc", "cjs", "cpp", "cs", "css", "cts", "cu", "cuh", "cxx", "d", "dart", "frag", "g4",
    "glsl", "go", "gradle", "groovy", "h", "hcl", "hh", "hpp", "hxx", "i", "idl", "ii", "java",
    "js", "jsonc", "jsx", "kt", "kts", "less", "m", "mjs", "mm", "mts", "php", "proto", "rs",
    "scala", "scss", "sol", "sql", "swift", "tf", "thrift", "ts", "tsx", "v", "vert", "y",
];

/// Whether a file is surely in a language with such comments.
pub(crate) fn has_comments(file: &FileChange) -> bool {
    let ending = file.shown_path().extension();
    let ending = ending.map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    ending.is_some_and(|ending| COMMENTED.contains(&ending.as_str()))
}

/// What they need so that comments end where they did.
pub(crate) fn comments(file: &FileChange) -> Vec<(u64, u64)> {
    in_pairs(file, |blocks| blocks.comments)
}

fn in_pairs(file: &FileChange, kind: BlockFinder) -> Vec<(u64, u64)> {
    let Some(script) = &file.script else {
        return Vec::new();
    };
    let (old, new) = (
        SideLines::of_old(script, kind),
        SideLines::of_new(script, kind),
    );
    let mut needs = Vec::new();
    old.within(|outer, inner| needs.push((outer, inner)));
    new.within(|outer, inner| needs.push((inner, outer)));
    let mut circle = |one: usize, other: usize| {
        if one != other {
            needs.extend([(one, other), (other, one)]);
        }
    };
    for lines in [&old, &new] {
        for (open, close) in &lines.brackets {
            if let (Some(first), Some(last)) = (lines.edits[*open], lines.edits[*close]) {
                circle(first, last);
            }
        }
    }
    for (_, edit, kept) in new.half_kept() {
        for partner in old.partners(new.other[kept]) {
            match old.edits[partner] {
                Some(gone) => circle(edit, gone),
                None => {
                    let moved = new.partners(old.other[partner]);
                    let moved = moved.filter_map(|line| new.edits[line]);
                    moved.for_each(|other| circle(edit, other));
                }
            }
        }
    }
    // What is between ends that changed places would be between the ends that stay.
    old.astride(&new, |end, inner| needs.push((end, inner)));
    new.astride(&old, |end, inner| needs.push((inner, end)));
    let start = file.edits.start;
    let as_deltas = needs
        .into_iter()
        .map(|(a, b)| (start + a as u64, start + b as u64));
    as_deltas.collect()
}

/// The first and last lines that belong together.
type BlockFinder = fn(Blocks) -> Vec<(usize, usize)>;

/// One side of a script.
struct SideLines {
    brackets: Vec<(usize, usize)>,
    by_line: BTreeMap<usize, Vec<usize>>,
    /// The edit of each line that does not stay.
    edits: Vec<Option<usize>>,
    /// Of each line that stays, where it is on the other side.
    other: Vec<usize>,
}

impl SideLines {
    fn of_old(script: &EditScript, kind: BlockFinder) -> SideLines {
        let mut lines = SideLines::of(&script.old, kind);
        let (mut at, mut there) = (0, 0);
        let ends = [(script.old.len(), script.new.len())];
        let starts = script
            .edits
            .iter()
            .map(|edit| (edit.old.start, edit.new.start));
        let nexts = script.edits.iter().map(|edit| (edit.old.end, edit.new.end));
        for ((old, _), next) in starts.chain(ends).zip(nexts.chain(ends)) {
            for (line, other) in (at..old).zip(there..) {
                lines.other[line] = other;
            }
            (at, there) = next;
        }
        for (number, edit) in script.edits.iter().enumerate() {
            edit.old
                .clone()
                .for_each(|line| lines.edits[line] = Some(number));
        }
        lines
    }

    fn of_new(script: &EditScript, kind: BlockFinder) -> SideLines {
        let mut lines = SideLines::of(&script.new, kind);
        let old = SideLines::of_old(script, kind);
        for (line, other) in old.other.iter().enumerate() {
            if old.edits[line].is_none() {
                lines.other[*other] = line;
            }
        }
        for (number, edit) in script.edits.iter().enumerate() {
            edit.new
                .clone()
                .for_each(|line| lines.edits[line] = Some(number));
        }
        lines
    }

    fn of(text: &super::lines::Text, kind: BlockFinder) -> SideLines {
        let brackets = kind(Blocks::of(text));
        let mut by_line: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (open, close) in &brackets {
            by_line.entry(*open).or_default().push(*close);
            by_line.entry(*close).or_default().push(*open);
        }
        SideLines {
            brackets,
            by_line,
            edits: vec![None; text.len()],
            other: vec![0; text.len()],
        }
    }

    /// Where the brackets of a line have their other end.
    fn partners(&self, line: usize) -> impl Iterator<Item = usize> + '_ {
        self.by_line.get(&line).into_iter().flatten().copied()
    }

    /// Lines that an edit has, with that, whose bracket has its other end in a line that stays, and where
    /// that is.
    fn half_kept(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let ends = |pair: &(usize, usize)| [*pair, (pair.1, pair.0)];
        let both = self.brackets.iter().flat_map(ends);
        both.filter_map(|(one, other)| match (self.edits[one], self.edits[other]) {
            (Some(edit), None) => Some((one, edit, other)),
            _ => None,
        })
    }

    /// Tells of edits between two ends that are edits, and whose partners are partners on the other side.
    fn astride(&self, there: &SideLines, mut tell: impl FnMut(usize, usize)) {
        for (line, edit, kept) in self.half_kept() {
            let partners = there.partners(self.other[kept]);
            let staying = partners.filter(|partner| there.edits[*partner].is_none());
            let ends = staying.flat_map(|partner| self.partners(there.other[partner]));
            for end in ends.filter(|end| self.edits[*end].is_some()) {
                let between = &self.edits[line.min(end)..line.max(end)];
                let inner = between.iter().flatten();
                inner.for_each(|inner| {
                    if *inner != edit && self.edits[end] != Some(*inner) {
                        tell(edit, *inner);
                    }
                });
            }
        }
    }

    /// Tells of edits between the lines of a bracket that are an edit too.
    fn within(&self, mut tell: impl FnMut(usize, usize)) {
        for (open, close) in &self.brackets {
            let (Some(first), Some(last)) = (self.edits[*open], self.edits[*close]) else {
                continue;
            };
            for inner in self.edits[open + 1..*close].iter().flatten() {
                if *inner != first && *inner != last {
                    tell(first, *inner);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::difference::Difference;
    use super::super::difference::tests::tree;
    use super::*;

    fn check(good: &str, bad: &str, expect: &[(u64, u64)]) {
        let (good, bad) = (tree(&[("a", good)]), tree(&[("a", bad)]));
        let difference = Difference::new(good, &bad).unwrap();
        let mut found = needs(&difference.files[0]);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, expect);
    }

    #[test]
    fn new_and_old_brackets_stay_in_pairs() {
        let with = "a\nif (x) {\n  y();\n}\nb\n";
        check("a\nb\n", with, &[(0, 2), (1, 0), (2, 0)]);
        check(with, "a\nb\n", &[(0, 1), (0, 2), (2, 0)]);
    }

    #[test]
    fn comments_stay_whole() {
        let found = |good: &str, bad: &str| {
            let (good, bad) = (tree(&[("a", good)]), tree(&[("a", bad)]));
            let difference = Difference::new(good, &bad).unwrap();
            comments(&difference.files[0])
        };
        let with = "a\n/**\n * text\n */\nf();\nb\n";
        assert_eq!(found("a\nb\n", with), [(1, 0), (0, 2), (2, 0)]);
        // The start of the comment that was there is that of the first one now: without the two lines in
        // the middle there would be one comment, and f in it.
        let one = "/**\n old\n */\ng();\n";
        let two = "/**\n new\n */\nf();\n/*\n old\n */\ng();\n";
        let (come, gone) = (found(one, two), found(two, one));
        assert!(
            [(2, 1), (2, 3)].iter().all(|it| come.contains(it)),
            "{come:?}"
        );
        assert!(
            [(1, 2), (3, 2)].iter().all(|it| gone.contains(it)),
            "{gone:?}"
        );
    }

    #[test]
    fn brackets_that_change_partners_belong_together() {
        // The } of f is taken for that of g, and a new one closes f.
        check(
            "f() {\n  a;\n}\n",
            "f() {\n  b;\n}\ng() {\n  c;\n}\n",
            &[(1, 2), (2, 1)],
        );
    }
}
