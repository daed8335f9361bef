//! Which deltas go together: files, blocks of code, hunks, lines; from coarse to fine.

use std::collections::BTreeMap;

use culprit_reduce::DeltaSet;

use super::blocks::{Blocks, DEPTHS};
use super::difference::{Difference, FileChange};

/// A way to group the deltas.
pub(crate) struct DeltaLevel {
    /// What its groups are, in the plural.
    pub(crate) name: &'static str,
    pub(crate) groups: Vec<DeltaSet>,
}

/// From files to lines. A level that parts nothing further is left out.
pub(crate) fn levels(difference: &Difference) -> Vec<DeltaLevel> {
    let mut levels = vec![DeltaLevel {
        name: "files",
        groups: files(difference),
    }];
    let blocks = ["classes", "methods", "blocks"];
    let mut keyed: Vec<(&'static str, Vec<Vec<Key>>)> = Vec::new();
    for (depth, name) in (0..DEPTHS).zip(blocks) {
        keyed.push((name, vec![Vec::new(); difference.files.len()]));
        debug_assert_eq!(keyed.len(), depth + 1);
    }
    keyed.push(("hunks", vec![Vec::new(); difference.files.len()]));
    for (at, file) in difference.files.iter().enumerate() {
        for (level, keys) in keys(file).into_iter().enumerate() {
            keyed[level].1[at] = keys;
        }
    }
    for (name, files) in keyed {
        let groups = difference.files.iter().zip(files);
        let groups: Vec<DeltaSet> = groups
            .flat_map(|(file, keys)| grouped(file, keys))
            .collect();
        if levels
            .last()
            .is_none_or(|last| last.groups.len() < groups.len())
        {
            levels.push(DeltaLevel { name, groups });
        }
    }
    if levels
        .last()
        .is_none_or(|last| (last.groups.len() as u64) < difference.size())
    {
        levels.push(DeltaLevel {
            name: "lines",
            groups: singles(difference),
        });
    }
    levels
}

fn files(difference: &Difference) -> Vec<DeltaSet> {
    let all = difference.files.iter();
    all.map(|file| DeltaSet::from(file.deltas.clone()))
        .collect()
}

/// Every delta on its own.
fn singles(difference: &Difference) -> Vec<DeltaSet> {
    (0..difference.size())
        .map(|delta| DeltaSet::from(delta..delta + 1))
        .collect()
}

/// What tells the group of an edit from others of its file: first lines of the blocks around it, and its
/// hunk where it is in none.
type Key = (Vec<String>, Option<usize>);

/// The keys of each edit of a file, for each depth of blocks and for hunks.
fn keys(file: &FileChange) -> Vec<Vec<Key>> {
    let mut found: Vec<Vec<Key>> = vec![Vec::new(); DEPTHS + 1];
    let Some(script) = &file.script else {
        return found;
    };
    let (old, new) = (Blocks::of(&script.old), Blocks::of(&script.new));
    for edit in &script.edits {
        let (text, around) = match edit.new.is_empty() {
            false => (&script.new, new.around(edit.new.start)),
            true => (&script.old, old.around(edit.old.start)),
        };
        let headers = around.map(|start| start.map(|start| text.shown(start).trim().to_owned()));
        for depth in 0..DEPTHS {
            let path = headers[..=depth].iter().flatten().cloned().collect();
            let hunk = headers[depth].is_none().then_some(edit.hunk);
            found[depth].push((path, hunk));
        }
        found[DEPTHS].push((Vec::new(), Some(edit.hunk)));
    }
    found
}

/// The groups of a file's deltas; what is no edit is on its own.
fn grouped(file: &FileChange, keys: Vec<Key>) -> Vec<DeltaSet> {
    let alone = (file.deltas.start..file.edits.start).map(|delta| DeltaSet::from(delta..delta + 1));
    let mut groups: BTreeMap<Key, Vec<u64>> = BTreeMap::new();
    for (delta, key) in file.edits.clone().zip(keys) {
        groups.entry(key).or_default().push(delta);
    }
    let mut groups: Vec<DeltaSet> = groups
        .into_values()
        .map(|deltas| deltas.into_iter().collect())
        .collect();
    groups.sort_by_key(DeltaSet::first);
    alone.chain(groups).collect()
}

#[cfg(test)]
mod tests {
    use super::super::difference::tests::tree;
    use super::*;

    #[test]
    fn levels_go_from_files_over_methods_to_lines() {
        let good = "class A {\n  int f() {\n    a();\n    b();\n    c();\n  }\n  int g() {\n    d();\n  }\n}\n";
        let bad = good
            .replace("a()", "a(1)")
            .replace("c()", "c(1);\n    e()")
            .replace("d()", "d(1)");
        let good = tree(&[("A.java", good), ("b", "1\n"), ("c", "\0")]);
        let bad = tree(&[("A.java", &bad), ("b", "2\n"), ("c", "\0\0")]);
        let difference = Difference::new(good, &bad).unwrap();
        let found: Vec<_> = levels(&difference)
            .into_iter()
            .map(|level| (level.name, level.groups.len()))
            .collect();
        assert_eq!(
            found,
            [("files", 3), ("methods", 4), ("blocks", 5), ("lines", 6)]
        );
    }
}
