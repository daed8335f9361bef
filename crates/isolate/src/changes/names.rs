//! Names in the changed lines: who uses what others bring, so that a use and its declaration
//! travel together; and which changes a message of a compiler speaks of.
//!
//! It knows no language. A line *declares* a name that follows a word or a type, as in most
//! languages; what it gets wrong makes groups larger than they need be, which the last pass of a search, without
//! groups, makes up for.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use culprit_reduce::DeltaSet;

use super::Error;
use super::difference::{Difference, FileChange, is_text};
use super::lines::{Edit, EditScript};

/// Declarations of one name, at most: more of them are no declarations.
const DECLARED: usize = 8;

/// Words that come before a name without declaring it.
const NO_TYPES: [&str; 29] = [
    "return",
    "new",
    "throw",
    "else",
    "case",
    "in",
    "instanceof",
    "import",
    "package",
    "goto",
    "delete",
    "await",
    "yield",
    "extends",
    "implements",
    "throws",
    "not",
    "and",
    "or",
    "is",
    "if",
    "while",
    "do",
    "from",
    "as",
    "use",
    "using",
    "include",
    "typeof",
];

/// Words whose next one is declared even if a third follows, as in `class A extends B` and `var a int`.
const KINDS: [&str; 15] = [
    "class",
    "interface",
    "enum",
    "record",
    "struct",
    "union",
    "trait",
    "object",
    "type",
    "var",
    "let",
    "val",
    "const",
    "def",
    "function",
];

/// Words with which a line brings a name from elsewhere.
const BRINGS: [&str; 4] = ["import ", "using ", "use ", "from "];

/// The names of each edit.
pub(crate) struct EditNames {
    /// Edits that a name is in, on either side.
    mentions: BTreeMap<String, Vec<u64>>,
    /// Edits that declare a name, on either side.
    declares: BTreeMap<String, Vec<u64>>,
    /// Names that the edit adds, those that it declares first.
    added: Vec<(u64, Spoken)>,
    removed: Vec<(u64, Spoken)>,
}

#[derive(Default)]
struct Spoken {
    declared: BTreeSet<String>,
    used: BTreeSet<String>,
}

impl EditNames {
    pub(crate) fn of(difference: &Difference) -> EditNames {
        let mut names = EditNames {
            mentions: BTreeMap::new(),
            declares: BTreeMap::new(),
            added: Vec::new(),
            removed: Vec::new(),
        };
        for file in &difference.files {
            // Programs name a file by its name without its ending.
            let moved = file.presence.or(file.path);
            let stem = file.shown_path().file_stem().and_then(|stem| stem.to_str());
            if let (Some(delta), Some(stem)) = (moved, stem) {
                names.mention(stem, delta);
            }
            for (delta, edit, script) in edits(file) {
                let gone = spoken(&script.old, edit.old.clone());
                let come = spoken(&script.new, edit.new.clone());
                for name in gone.all().chain(come.all()) {
                    names.mention(name, delta);
                }
                for name in gone.declared.union(&come.declared) {
                    names.declares.entry(name.clone()).or_default().push(delta);
                }
                names.removed.push((delta, gone.minus(&come)));
                names.added.push((delta, come.minus(&gone)));
            }
        }
        names
    }

    fn mention(&mut self, name: &str, delta: u64) {
        let found = self.mentions.entry(name.to_owned()).or_default();
        if found.last() != Some(&delta) {
            found.push(delta);
        }
    }

    /// Edits that declare a name.
    pub(crate) fn declaring(&self, name: &str) -> DeltaSet {
        let found = self.declares.get(name).into_iter().flatten();
        found.copied().collect()
    }

    /// Edits that a name is in.
    pub(crate) fn mentioning(&self, name: &str) -> DeltaSet {
        let found = self.mentions.get(name).into_iter().flatten();
        found.copied().collect()
    }

    /// What deltas need by their names: who uses a name that the good tree lacks needs its
    /// declaration, and who takes away the declaration of one that the bad tree lacks needs that
    /// its uses go.
    pub(crate) fn needs(&self, difference: &Difference) -> Result<Vec<(u64, u64)>, Error> {
        let unchanged = self.unchanged(difference)?;
        let side = |edits: &[(u64, Spoken)]| -> HashSet<String> {
            let all = edits.iter().flat_map(|(_, spoken)| spoken.all());
            all.map(str::to_owned).collect()
        };
        let (old, new) = (side(&self.removed), side(&self.added));
        let kept = kept_names(difference);
        let is_new =
            |name: &str| !unchanged.contains(name) && !kept.contains(name) && !old.contains(name);
        let is_gone =
            |name: &str| !unchanged.contains(name) && !kept.contains(name) && !new.contains(name);
        let mut needs = Vec::new();
        for (user, declaration) in uses(&self.added, is_new) {
            needs.push((user, declaration));
        }
        for (user, declaration) in uses(&self.removed, is_gone) {
            needs.push((declaration, user));
        }
        Ok(needs)
    }

    /// Those of the names in files that did not change at all.
    fn unchanged(&self, difference: &Difference) -> Result<HashSet<String>, Error> {
        let changed: BTreeSet<_> = difference
            .files
            .iter()
            .filter_map(|file| Some(&file.old.as_ref()?.0))
            .collect();
        let mut found = HashSet::new();
        let rest = difference
            .base
            .0
            .iter()
            .filter(|(path, _)| !changed.contains(path));
        for (_, entry) in rest {
            // One that cannot be read now will be told of when it is written.
            let Ok(bytes) = entry.bytes() else { continue };
            if is_text(&bytes) {
                let text = String::from_utf8_lossy(&bytes);
                let names = words(&text).filter(|name| self.mentions.contains_key(*name));
                found.extend(names.map(str::to_owned));
            }
        }
        Ok(found)
    }

    /// Edits by the names that a message has, the rarest first. Names in one edit only tell nothing.
    pub(crate) fn named<'n>(
        &'n self,
        message: &'n str,
    ) -> impl Iterator<Item = (&'n str, DeltaSet)> + 'n {
        let mut found: Vec<(&str, &Vec<u64>)> = words(message)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .filter_map(|name| Some((name, self.mentions.get(name)?)))
            .filter(|(_, edits)| edits.len() > 1)
            .collect();
        found.sort_by_key(|(name, edits)| (edits.len(), *name));
        found
            .into_iter()
            .map(|(name, edits)| (name, edits.iter().copied().collect()))
    }

    /// The words of a message that are names here.
    pub(crate) fn known<'m>(&self, message: &'m str) -> BTreeSet<&'m str> {
        let known = words(message).filter(|name| self.mentions.contains_key(*name));
        known.collect()
    }
}

/// Who uses a name of a kind, and where it is declared.
fn uses(edits: &[(u64, Spoken)], is_meant: impl Fn(&str) -> bool) -> Vec<(u64, u64)> {
    let mut declared: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (delta, spoken) in edits {
        for name in spoken.declared.iter().filter(|name| is_meant(name)) {
            declared.entry(name).or_default().push(*delta);
        }
    }
    let mut found = Vec::new();
    for (delta, spoken) in edits {
        for name in spoken.all() {
            let places = declared.get(name).filter(|places| places.len() <= DECLARED);
            // Who declares a name too needs no other to do so.
            if let Some(places) = places.filter(|places| !places.contains(delta)) {
                found.extend(places.iter().map(|place| (*delta, *place)));
            }
        }
    }
    found
}

/// Names of lines that stay, in files that changed.
fn kept_names(difference: &Difference) -> HashSet<String> {
    let mut found = HashSet::new();
    for file in &difference.files {
        let Some(script) = &file.script else { continue };
        let mut at = 0;
        let last = (script.old.len(), script.old.len());
        let edits = script
            .edits
            .iter()
            .map(|edit| (edit.old.start, edit.old.end));
        for (start, end) in edits.chain([last]) {
            let text = String::from_utf8_lossy(script.old.lines(at..start.max(at)));
            found.extend(words(&text).map(str::to_owned));
            at = end;
        }
    }
    found
}

fn edits(file: &FileChange) -> impl Iterator<Item = (u64, &Edit, &EditScript)> {
    let script = file.script.iter();
    script.flat_map(move |script| {
        let edits = file.edits.clone().zip(&script.edits);
        edits.map(move |(delta, edit)| (delta, edit, script))
    })
}

impl Spoken {
    fn all(&self) -> impl Iterator<Item = &str> {
        self.declared.iter().chain(&self.used).map(String::as_str)
    }

    /// Without what the other speaks of too. A name that is declared on one side only stays.
    fn minus(&self, other: &Spoken) -> Spoken {
        let declared = self.declared.difference(&other.declared);
        let used = self
            .used
            .iter()
            .filter(|name| !other.used.contains(*name) && !other.declared.contains(*name));
        Spoken {
            declared: declared.cloned().collect(),
            used: used.cloned().collect(),
        }
    }
}

fn spoken(text: &super::lines::Text, lines: std::ops::Range<usize>) -> Spoken {
    let mut found = Spoken::default();
    for at in lines {
        let line = String::from_utf8_lossy(text.line(at)).into_owned();
        for (name, is_declared) in names_of_line(&line) {
            match is_declared {
                true => found.declared.insert(name.to_owned()),
                false => found.used.insert(name.to_owned()),
            };
        }
    }
    found
}

/// The names in a line, and whether the line declares them.
fn names_of_line(line: &str) -> Vec<(&str, bool)> {
    if is_comment(line) {
        return Vec::new();
    }
    let code = line.split("//").next().unwrap_or(line);
    if code.trim_start().starts_with(['*', '#']) && !code.trim_start().starts_with("#define") {
        return words(code).map(|name| (name, false)).collect();
    }
    // What is brought from elsewhere is declared here, under its last name.
    let brought = BRINGS
        .iter()
        .any(|word| code.trim_start().starts_with(word))
        .then(|| words(code).last());
    let mut found = Vec::new();
    for name in words(code) {
        if brought == Some(Some(name)) {
            found.push((name, true));
            continue;
        }
        let at = name.as_ptr() as usize - code.as_ptr() as usize;
        let before = code[..at].trim_end();
        let after = code[at + name.len()..].trim_start();
        let has_room = before.len() < at || before.ends_with(['*', '&']);
        let last = words(before).last().filter(|word| before.ends_with(word));
        let follows_type = match last {
            Some(word) => !NO_TYPES.contains(&word),
            None => before.ends_with(['>', ']', '*', '&']),
        };
        let goes_on = after.is_empty()
            || before == "#define"
            || after.starts_with(['(', '=', ';', ',', ')', '{', ':', '<', '['])
            || last.is_some_and(|word| KINDS.contains(&word));
        found.push((name, has_room && follows_type && goes_on));
    }
    found
}

/// Whether a line is of a comment only, as most languages write them.
fn is_comment(line: &str) -> bool {
    let text = line.trim();
    text == "*"
        || ["* ", "*/", "/*", "//"]
            .iter()
            .any(|sign| text.starts_with(sign))
}

/// Words that may be names.
pub(crate) fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
    text.split(move |letter| !is_part(letter))
        .filter(|word| word.len() > 1 && !word.starts_with(|letter: char| letter.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::difference::tests::tree;
    use super::*;

    fn difference(good: &str, bad: &str) -> Difference {
        Difference::new(tree(&[("a", good)]), &tree(&[("a", bad)])).unwrap()
    }

    fn check(good: &str, bad: &str, expect: &[(u64, u64)]) {
        let difference = difference(good, bad);
        let mut found = EditNames::of(&difference).needs(&difference).unwrap();
        found.sort_unstable();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_use_needs_the_declaration_that_came_with_it() {
        check(
            "start\nmiddle\nend\n",
            "start\nint count = 0;\nmiddle\nprint(count);\nend\n",
            &[(1, 0)],
        );
        // The other way round: the declaration goes after its uses.
        check(
            "start\nint count = 0;\nmiddle\nprint(count);\nend\n",
            "start\nmiddle\nend\n",
            &[(0, 1)],
        );
        // A name that was there before is no news.
        check(
            "start count\nmiddle\nend\n",
            "start count\nint count = 0;\nmiddle\nprint(count);\nend\n",
            &[],
        );
    }

    #[test]
    fn declarations_are_told_from_uses() {
        let declared = |line: &'static str| -> Vec<&str> {
            let names = names_of_line(line).into_iter();
            names.filter(|(_, is)| *is).map(|(name, _)| name).collect()
        };
        assert_eq!(declared("  private static int limit = other;"), ["limit"]);
        assert_eq!(declared("public Mode getMode() throws Odd {"), ["getMode"]);
        assert_eq!(declared("final class Fast extends Slow {"), ["Fast"]);
        assert_eq!(declared("return value;"), [""; 0]);
        assert_eq!(
            declared("List<String> names(int size) {"),
            ["names", "size"]
        );
        assert_eq!(declared("x = call(value, other);"), [""; 0]);
        assert_eq!(declared("#define LIMIT 5"), ["LIMIT"]);
        assert_eq!(declared("char *name;"), ["name"]);
        assert_eq!(declared("// int fine = 1;"), [""; 0]);
    }

    #[test]
    fn a_message_names_the_edits_it_speaks_of() {
        let found = difference(
            "a\nb\nc\nd\n",
            "a\nint fresh;\nb\nuse(fresh);\nc\nother();\nd\n",
        );
        let names = EditNames::of(&found);
        let message = "x.c:3: error: 'fresh' undeclared (first use in this function)";
        let named: Vec<_> = names
            .named(message)
            .map(|(name, set)| (name, set.to_string()))
            .collect();
        assert_eq!(named, [("fresh", "0-1".to_owned())]);
    }
}
