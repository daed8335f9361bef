//! What the compiler does not check: every Rust file says what it is for, documents name paths
//! that exist, no file names the machine it was written on, and the committed classes are
//! those of their sources.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::{runtime, tree};

/// Files whose text is checked for the names of machines' folders.
const TEXT: [&str; 10] = [
    "rs", "md", "toml", "java", "sh", "lock", "snap", "txt", "csv", "yml",
];

/// Top-level folders of the project: a word of a document that starts with one is a path.
const FOLDERS: [&str; 8] = [
    "crates/",
    "docs/",
    "fixtures/",
    "golden/",
    "java/runtime/",
    "scripts/",
    "xtask/",
    ".ci/",
];

/// Fails with everything that is untidy.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let mut complaints = Vec::new();
    let machine = machine_folders(root);
    for file in tree::files(root)? {
        let known = TEXT.iter().any(|extension| tree::is(&file, extension));
        if !known && file.extension().is_some() {
            continue;
        }
        // Files without extension are scripts, or binary and then of no concern here.
        let Ok(text) = fs::read_to_string(root.join(&file)) else {
            continue;
        };
        let mut found = Vec::new();
        if tree::is(&file, "rs") && !text.starts_with("//!") {
            found.push("does not open with `//!`".to_owned());
        }
        if tree::is(&file, "md") {
            let dead = paths_in(&text).filter(|path| !exists(root, &file, path));
            found.extend(dead.map(|path| format!("names {path}, which does not exist")));
        }
        let named = machine.iter().filter(|folder| names_folder(&text, folder));
        found.extend(named.map(|folder| format!("names {folder}, a folder of this machine")));
        complaints.extend(found.iter().map(|it| format!("{}: {it}", file.display())));
    }
    complaints.extend(runtime::check(root).err().map(|error| format!("{error:#}")));
    if !complaints.is_empty() {
        bail!("untidy:\n  {}", complaints.join("\n  "));
    }
    Ok(())
}

/// The folder of this checkout and the home of whoever runs this.
fn machine_folders(root: &Path) -> Vec<String> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    [Some(root.to_path_buf()), home]
        .into_iter()
        .flatten()
        .filter(|folder| folder.is_absolute() && folder.components().count() > 1)
        .map(|folder| folder.display().to_string())
        .collect()
}

/// Whether the text names the folder or something in it, and not only a longer word.
fn names_folder(text: &str, folder: &str) -> bool {
    text.match_indices(folder).any(|(at, _)| {
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let before = text[..at].chars().next_back();
        let after = text[at + folder.len()..].chars().next();
        !before.is_some_and(|c| word(c) || c == '/') && !after.is_some_and(word)
    })
}

/// Paths that a document names: code words that start like a folder of the project, and the
/// targets of links. Words with wildcards or placeholders are not paths.
fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split('`').skip(1).step_by(2);
    let words = code
        .flat_map(str::split_whitespace)
        .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)));
    let links = text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?;
        let target = target.split('#').next()?;
        (!target.is_empty() && !target.contains("://")).then_some(target)
    });
    words
        .chain(links)
        .map(|path| path.trim_end_matches(['.', ',', ':', ';']))
        .filter(|path| !path.contains(['*', '{', '<', '…', '|', '$']))
}

/// Code words are paths from the root, links are relative to the document.
fn exists(root: &Path, document: &Path, path: &str) -> bool {
    let beside = document.parent().unwrap_or(Path::new(""));
    root.join(path).exists() || root.join(beside).join(path).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_name_paths_in_code_words_and_links() {
        let text = "See `crates/model/src`, run `cat docs/a.md`, not `crates/*` or docs/x; \
                    [there](other.md#part), [away](https://example.org), [here](#here).";
        let found: Vec<&str> = paths_in(text).collect();
        assert_eq!(found, ["crates/model/src", "docs/a.md", "other.md"]);
    }

    #[test]
    fn a_folder_is_found_as_a_whole_path_only() {
        for (text, expect) in [
            ("in /srv/code/x", true),
            ("\"/srv/code\"", true),
            ("/srv/coder", false),
            ("/mnt/srv/code", false),
        ] {
            assert_eq!(names_folder(text, "/srv/code"), expect, "{text}");
        }
    }

    #[test]
    fn everything_untidy_is_named_with_its_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.rs"), "fn main() {}\n").unwrap();
        fs::write(dir.path().join("b.md"), "`docs/none.md`\n").unwrap();
        let place = dir.path().display();
        fs::write(dir.path().join("c.txt"), format!("{place}/x\n")).unwrap();
        let error = check(dir.path()).unwrap_err().to_string();
        for expect in [
            "a.rs: does not open",
            "b.md: names docs/none.md",
            "c.txt: names /",
        ] {
            assert!(error.contains(expect), "{error}");
        }
    }
}
