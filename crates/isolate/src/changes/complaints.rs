//! What a failed build complains of, and which changes lacked which others by that.
//!
//! Compilers name a file, a line and names. The line is of a change that was made, of one that was
//! not, or it stays as it was. A change that was made needs what declares the names that its line
//! is missing; a change that took a declaration away needs that the lines that still use it go. It
//! knows no language: what it gets wrong makes groups larger than they need be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use culprit_reduce::DeltaSet;

use super::difference::{Difference, FileChange};
use super::names::{EditNames, words};

/// Changes that have a name in common, at most: a name of more of them tells nothing.
const COMMON: usize = 24;

/// Declarations of a name that a change may need at once.
const DECLARED: usize = 4;

/// Complaints about one file that name nothing, at most: one mistake in the syntax has many.
const NAMELESS: usize = 2;

/// What a version lacked: the first change was made and needs the second, which was not.
pub(crate) type Lack = (u64, u64);

/// A version that did not build.
pub(crate) struct Broken<'b> {
    pub(crate) difference: &'b Difference,
    pub(crate) names: &'b EditNames,
    /// What was made and might not have been.
    pub(crate) made: DeltaSet,
    /// What was not made and might have been.
    pub(crate) open: DeltaSet,
    /// All that was made.
    pub(crate) all: DeltaSet,
}

/// One thing that a message says of a line.
#[derive(Debug, PartialEq)]
struct Complaint<'m> {
    path: &'m str,
    line: usize,
    /// The message and what follows it, up to the next one.
    lines: Vec<&'m str>,
}

/// The status of a line in a version.
#[derive(Clone, Copy, PartialEq, Debug)]
enum LineStatus {
    Made(u64),
    Open(u64),
    Stays,
}

impl Broken<'_> {
    /// What the version lacked by the names in what is said of it; and by the places alone, where
    /// nothing was named.
    pub(crate) fn lacks(&self, message: &str) -> (Vec<Lack>, Vec<Lack>) {
        let mut files: BTreeMap<&Path, Layout<'_>> = BTreeMap::new();
        let mut nameless: BTreeMap<&Path, usize> = BTreeMap::new();
        let (mut found, mut near) = (BTreeSet::new(), BTreeSet::new());
        for complaint in complaints(message) {
            let Some(file) = self.file(complaint.path) else {
                // A file that did not change may use what did.
                found.extend(self.elsewhere(&complaint));
                continue;
            };
            let path = file.shown_path();
            let layout = files
                .entry(path)
                .or_insert_with(|| Layout::of(file, &self.all));
            let named = self.by_name(&complaint, layout);
            if !named.is_empty() {
                found.extend(named);
                continue;
            }
            let count = nameless.entry(path).or_default();
            *count += 1;
            if *count <= NAMELESS {
                near.extend(self.by_place(complaint.line, layout));
            }
        }
        (found.into_iter().collect(), near.into_iter().collect())
    }

    /// The changed file that a message means: its whole path ends in the file's, or, where that is of
    /// no file, only one file's path ends in what is named.
    fn file(&self, named: &str) -> Option<&FileChange> {
        let named = Path::new(named.trim_start_matches("./"));
        let paths = |file: &FileChange| {
            let sides = [&file.old, &file.new].into_iter().flatten();
            sides.map(|(path, _)| path.clone()).collect::<Vec<_>>()
        };
        let files = &self.difference.files;
        let whole = files
            .iter()
            .filter(|file| paths(file).iter().any(|path| named.ends_with(path)));
        // The longest path is the one that was named.
        let length = |file: &&FileChange| file.shown_path().components().count();
        if let Some(file) = whole.max_by_key(length) {
            return Some(file);
        }
        let mut parts = files
            .iter()
            .filter(|file| paths(file).iter().any(|path| path.ends_with(named)));
        parts.next().filter(|_| parts.next().is_none())
    }

    /// What is lacking by the names in a complaint about a line of a changed file.
    fn by_name(&self, complaint: &Complaint<'_>, layout: &Layout<'_>) -> Vec<Lack> {
        let place = layout.place(complaint.line);
        match place {
            LineStatus::Made(delta) if self.made.contains(delta) => {
                let open = |name: &str| self.declared(name, &self.open, layout, complaint.line);
                let lacking = complaint.first_of(layout, open);
                lacking.into_iter().map(|other| (delta, other)).collect()
            }
            LineStatus::Open(delta) if self.open.contains(delta) => {
                let made = |name: &str| self.declared(name, &self.made, layout, complaint.line);
                let lacking = complaint.first_of(layout, made);
                lacking.into_iter().map(|other| (other, delta)).collect()
            }
            _ => complaint.first_of(layout, |name| {
                let here = layout.file.edits.clone().into();
                let made = self.mentioned(name, &self.made);
                let open = self.mentioned(name, &self.open);
                let of_file = open.intersection(&here);
                let open = if of_file.is_empty() { open } else { of_file };
                pairs(&made, &open)
            }),
        }
    }

    /// What is lacking by the names in a complaint about a file that did not change.
    fn elsewhere(&self, complaint: &Complaint<'_>) -> Vec<Lack> {
        let names = complaint.said();
        let found = names.into_iter().map(|name| {
            let made = self.mentioned(name, &self.made);
            pairs(&made, &self.mentioned(name, &self.open))
        });
        found
            .filter(|found| !found.is_empty())
            .min_by_key(Vec::len)
            .unwrap_or_default()
    }

    /// The changes next to a line, one that was made and one that was not.
    fn by_place(&self, line: usize, layout: &Layout<'_>) -> Vec<Lack> {
        let made = layout.nearest(line, &self.made);
        let open = layout.nearest(line, &self.open);
        match (made, open) {
            (Some(made), Some(open)) => vec![(made, open), (open, made)],
            _ => Vec::new(),
        }
    }

    /// Those of some changes that declare a name, or at least mention it: those of the file before others, near ones
    /// before far ones.
    fn declared(&self, name: &str, among: &DeltaSet, layout: &Layout<'_>, line: usize) -> Vec<u64> {
        let here: DeltaSet = layout.file.edits.clone().into();
        let declared = self.names.declaring(name).intersection(among);
        let mentioned = self.mentioned(name, among);
        let choices = [
            declared.intersection(&here),
            declared,
            mentioned.intersection(&here),
            mentioned,
        ];
        let chosen = choices.into_iter().find(|choice| !choice.is_empty());
        let mut chosen: Vec<u64> = chosen.unwrap_or_default().iter().collect();
        chosen.sort_by_key(|delta| layout.distance(*delta, line));
        chosen.truncate(DECLARED);
        chosen
    }

    fn mentioned(&self, name: &str, among: &DeltaSet) -> DeltaSet {
        let found = self.names.mentioning(name).intersection(among);
        match found.len() as usize <= COMMON {
            true => found,
            false => DeltaSet::empty(),
        }
    }
}

fn pairs(made: &DeltaSet, open: &DeltaSet) -> Vec<Lack> {
    let made = made.iter().take(DECLARED);
    made.flat_map(|one| open.iter().take(DECLARED).map(move |other| (one, other)))
        .collect()
}

/// Where the lines of a changed file are in a version.
struct Layout<'l> {
    file: &'l FileChange,
    /// For each edit the lines of the version that it accounts for, and whether it was made.
    edits: Vec<(std::ops::Range<usize>, bool)>,
}

impl<'l> Layout<'l> {
    fn of(file: &'l FileChange, made: &DeltaSet) -> Layout<'l> {
        let mut edits = Vec::new();
        let (mut at, mut line) = (0, 0);
        for (delta, edit) in file
            .edits
            .clone()
            .zip(file.script.iter().flat_map(|script| &script.edits))
        {
            line += edit.old.start - at;
            let is_made = made.contains(delta);
            let count = if is_made {
                edit.new.len()
            } else {
                edit.old.len()
            };
            edits.push((line..line + count, is_made));
            line += count;
            at = edit.old.end;
        }
        Layout { file, edits }
    }

    fn delta(&self, edit: usize) -> u64 {
        self.file.edits.start + edit as u64
    }

    /// What a line is, counted from 1 as messages do.
    fn place(&self, line: usize) -> LineStatus {
        let line = line.saturating_sub(1);
        let found = self
            .edits
            .iter()
            .position(|(lines, _)| lines.contains(&line));
        match found.map(|edit| (self.delta(edit), self.edits[edit].1)) {
            Some((delta, true)) => LineStatus::Made(delta),
            Some((delta, false)) => LineStatus::Open(delta),
            None => LineStatus::Stays,
        }
    }

    /// How far a change is from a line; what comes after it counts twice, for names are declared
    /// before they are used. Changes of other files are far.
    fn distance(&self, delta: u64, line: usize) -> usize {
        let line = line.saturating_sub(1);
        let Some(edit) = delta.checked_sub(self.file.edits.start) else {
            return usize::MAX;
        };
        match self.edits.get(edit as usize) {
            Some((lines, _)) if lines.start <= line => line - lines.start,
            Some((lines, _)) => (lines.start - line) * 2,
            None => usize::MAX,
        }
    }

    fn nearest(&self, line: usize, among: &DeltaSet) -> Option<u64> {
        let here = among.intersection(&self.file.edits.clone().into());
        here.iter().min_by_key(|delta| self.distance(*delta, line))
    }

    /// The text of a line.
    fn text(&self, line: usize) -> Option<String> {
        let script = self.file.script.as_ref()?;
        let line = line.checked_sub(1)?;
        let mut at = 0;
        let mut past = 0;
        for ((lines, is_made), edit) in self.edits.iter().zip(&script.edits) {
            if line < lines.start {
                break;
            }
            if lines.contains(&line) {
                let offset = line - lines.start;
                return Some(match is_made {
                    true => script.new.shown(edit.new.start + offset),
                    false => script.old.shown(edit.old.start + offset),
                });
            }
            (at, past) = (edit.old.end, lines.end);
        }
        let old = at + (line - past);
        (old < script.old.len()).then(|| script.old.shown(old))
    }
}

impl Complaint<'_> {
    /// What the names lead to: the word that is pointed at, else the rarest of those in the message,
    /// else of those in the line.
    fn first_of<T>(&self, layout: &Layout<'_>, lead: impl Fn(&str) -> Vec<T>) -> Vec<T> {
        if let Some(found) = self.pointed().map(&lead).filter(|found| !found.is_empty()) {
            return found;
        }
        let text = layout.text(self.line).unwrap_or_default();
        let of_line: BTreeSet<&str> = words(&text).collect();
        let said = self.said();
        let (of_message, _): (Vec<&str>, Vec<&str>) = said
            .into_iter()
            .partition(|name| !of_line.contains(name) || self.heads(name));
        for names in [of_message, of_line.into_iter().collect()] {
            let found = names.into_iter().map(&lead);
            let found = found.filter(|found| !found.is_empty());
            if let Some(found) = found.min_by_key(Vec::len) {
                return found;
            }
        }
        Vec::new()
    }

    /// Whether the message itself has the word, and not only what is quoted below it.
    fn heads(&self, name: &str) -> bool {
        let head = self.lines.first().copied().unwrap_or_default();
        words(head).any(|word| word == name)
    }

    /// The words of the message.
    fn said(&self) -> Vec<&str> {
        let all = self.lines.iter().flat_map(|line| words(line));
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The word above the sign that points into the line.
    fn pointed(&self) -> Option<&str> {
        let pairs = self.lines.windows(2);
        let mut pointed = pairs.filter_map(|pair| {
            let at = pair[1].find('^')?;
            let is_pointer = |c: char| c.is_whitespace() || "^~|0123456789".contains(c);
            pair[1].chars().all(is_pointer).then_some((pair[0], at))
        });
        let (line, at) = pointed.next()?;
        words(line).find(|word| {
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            start + word.len() > at
        })
    }
}

/// The complaints of a message. What only warns is passed over.
fn complaints(message: &str) -> Vec<Complaint<'_>> {
    let mut found: Vec<Complaint<'_>> = Vec::new();
    let mut is_passed_over = true;
    for line in message.lines() {
        match place(line) {
            Some((path, number, rest)) => {
                let lower = rest.to_ascii_lowercase();
                is_passed_over = ["warning", "note:", "info:"]
                    .iter()
                    .any(|word| lower.trim_start_matches([':', ' ']).starts_with(word));
                if !is_passed_over {
                    found.push(Complaint {
                        path,
                        line: number,
                        lines: vec![rest],
                    });
                }
            }
            None if is_passed_over => {}
            None => {
                if let Some(last) = found.last_mut() {
                    last.lines.push(line);
                }
            }
        }
    }
    found
}

/// The file and the line that a line of a message speaks of, and what is said: `a.c:3: ...`, `a.c:3:5: ...`,
/// `/a.java:[3,5] ...`, `a.cs(3,5): ...`, `--> a.rs:3:5`, `File "a.py", line 3`.
fn place(line: &str) -> Option<(&str, usize, &str)> {
    let quoted = line.trim_start().strip_prefix("File \"");
    if let Some((path, rest)) = quoted.and_then(|rest| rest.split_once("\", line ")) {
        let (number, rest) = number(rest)?;
        return Some((path, number, rest));
    }
    let marks = line.char_indices().filter(|(_, sign)| ":(".contains(*sign));
    for (at, _) in marks {
        let after = &line[at + 1..];
        let after = after.strip_prefix('[').unwrap_or(after);
        let Some((number, mut rest)) = number(after) else {
            continue;
        };
        let before = &line[..at];
        let start = before
            .rfind([' ', '\t', '"', '\'', '('])
            .map_or(0, |at| at + 1);
        let path = &before[start..];
        if path.is_empty() {
            continue;
        }
        // The column, if there is one.
        let signs: &[char] = &[':', ',', ']', ')', ' '];
        let column = rest.trim_start_matches([':', ',']);
        if let Some((_, after)) =
            self::number(column).filter(|(_, after)| after.is_empty() || after.starts_with(signs))
        {
            rest = after;
        }
        return Some((path, number, rest.trim_start_matches(signs)));
    }
    None
}

/// The number that a text begins with, and the rest.
fn number(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

#[cfg(test)]
mod tests {
    use super::super::difference::tests::tree;
    use super::*;

    #[track_caller]
    fn check(good: &str, bad: &str, made: &[u64], message: &str, expect: &[Lack]) {
        let difference =
            Difference::new(tree(&[("a/X.java", good)]), &tree(&[("a/X.java", bad)])).unwrap();
        let made: DeltaSet = made.iter().copied().collect();
        let broken = Broken {
            names: &EditNames::of(&difference),
            open: DeltaSet::all(difference.size()).minus(&made),
            all: made.clone(),
            made,
            difference: &difference,
        };
        let (named, near) = broken.lacks(message);
        assert_eq!([named, near].concat(), expect);
    }

    #[test]
    fn places_are_found_as_compilers_write_them() {
        for (line, expect) in [
            ("./a/X.java:3: error: no", ("./a/X.java", 3, "error: no")),
            ("x.c:3:15: error: no", ("x.c", 3, "error: no")),
            ("[ERROR] /w/X.java:[3,5] no", ("/w/X.java", 3, "no")),
            ("X.cs(3,5): error no", ("X.cs", 3, "error no")),
            ("  --> src/x.rs:3:5", ("src/x.rs", 3, "")),
            ("  File \"x.py\", line 3, in f", ("x.py", 3, ", in f")),
        ] {
            assert_eq!(place(line), Some(expect), "{line}");
        }
        assert_eq!(place("  symbol:   method foo(int)"), None);
        assert_eq!(place("1 error"), None);
    }

    const GOOD: &str = "start\nold();\nint kept;\nuse(kept);\nend\n";

    #[test]
    fn a_use_that_was_made_lacks_the_declaration_that_was_not() {
        let bad =
            "start\nold();\nint kept;\nint count;\nother(count);\nuse(kept);\nmore(count);\nend\n";
        let message = "./a/X.java:4: error: cannot find symbol\nother(count);\n      ^\n  symbol:   variable count\n";
        check(GOOD, bad, &[1], message, &[(1, 0)]);
    }

    #[test]
    fn a_declaration_that_is_gone_lacks_that_a_use_goes() {
        let good = "start\nint gone;\nmiddle\nuse(gone);\nend\n";
        let message = "a/X.java:3: error: cannot find symbol\nuse(gone);\n    ^\n";
        check(good, "start\nmiddle\nend\n", &[0], message, &[(0, 1)]);
    }

    #[test]
    fn a_file_may_be_named_by_the_end_of_its_path() {
        let good = "start\nint gone;\nmiddle\nuse(gone);\nend\n";
        for path in ["X.java", "./X.java", "/somewhere/else/a/X.java"] {
            let message = format!("{path}:3: error: cannot find symbol gone\n");
            check(good, "start\nmiddle\nend\n", &[0], &message, &[(0, 1)]);
        }
    }

    #[test]
    fn neighbours_belong_together_where_nothing_is_named() {
        let good = "start\nif (a)\nmiddle\nend\n";
        let bad = "start\nif (a) {\nmiddle\n}\nend\nother\n";
        let message = "a/X.java:4: error: reached end of file while parsing\nend\n   ^\n";
        check(good, bad, &[0], message, &[(0, 1), (1, 0)]);
    }

    #[test]
    fn what_warns_and_what_is_said_of_other_files_leads_nowhere() {
        let bad = "start\nold();\nint count;\nother(count);\nend\n";
        check(GOOD, bad, &[1], "a/X.java:4: warning: count\n", &[]);
        check(GOOD, bad, &[1], "b/Y.java:4: error: nothing here\n", &[]);
    }
}
