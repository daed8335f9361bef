//! Checks that the compiler does not make: every Rust file states its purpose, documents name paths
//! that exist, no file names the machine it was written on, nothing but the console writes to the
//! terminal, no documentation test is left out, and the committed classes are those of their sources.

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

/// The sources of the product, whose output the console cleans.
const CLEANED: &str = "crates/";

/// Files that may name the streams of the process, and why.
const STREAMS: [(&str, &str); 2] = [
    (
        "crates/cli/src/console",
        "writes to them, and cleans what it writes",
    ),
    (
        "crates/jvm/src/worker.rs",
        "hands the descriptor to a child process",
    ),
];

/// Ways around the console.
const BYPASSES: [&str; 7] = [
    "stdout()",
    "stderr()",
    "/dev/tty",
    "/dev/std",
    ".exit()",
    "Parser::parse",
    "Cli::parse",
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
        if tree::is(&file, "rs") && has_documentation_test(&text) {
            found.push("has a documentation test, which `make test` does not run".to_owned());
        }
        let bypasses = bypasses(&file, &text);
        found.extend(bypasses.map(|way| format!("writes past the console by {way}")));
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

/// The ways in which a source file of the product writes to the terminal without the console.
fn bypasses<'t>(file: &Path, text: &'t str) -> impl Iterator<Item = &'t str> {
    let is_source = tree::is(file, "rs")
        && file.starts_with(CLEANED)
        && file.components().any(|part| part.as_os_str() == "src");
    let path = file.to_string_lossy().into_owned();
    let is_checked = is_source && !STREAMS.iter().any(|(known, _)| path.starts_with(known));
    let found = BYPASSES.iter().filter(move |_| is_checked);
    found.filter_map(move |way| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut places = text.match_indices(way);
        places.find_map(|(at, way)| {
            (!way.starts_with(is_word) || !text[..at].ends_with(is_word)).then_some(way)
        })
    })
}

/// Whether a comment contains a code block that rustdoc would run: one without a language.
fn has_documentation_test(text: &str) -> bool {
    let lines = text.lines().map(str::trim_start);
    let comments = lines.filter_map(|it| it.strip_prefix("///").or(it.strip_prefix("//!")));
    let fences = comments.filter_map(|it| it.trim_start().strip_prefix("```"));
    let mut opening = fences.step_by(2);
    opening.any(|language| matches!(language, "" | "rust" | "no_run" | "should_panic"))
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

/// True if the text names the folder or something in it, and not only a longer word.
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
    fn documentation_tests_are_found_and_other_blocks_are_not() {
        assert!(has_documentation_test(
            "/// A\n    /// ```\n    /// f();\n    /// ```\n"
        ));
        assert!(has_documentation_test(
            "//! ```text\n//! ```\n//! ```rust\n//! ```\n"
        ));
        assert!(!has_documentation_test("//! ```text\n//! a\n//! ```\n"));
        assert!(!has_documentation_test("let fence = \"```\";\n"));
    }

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
    fn only_the_console_writes_to_the_terminal() {
        let found = |file: &str, text: &'static str| -> Vec<&str> {
            bypasses(Path::new(file), text).collect()
        };
        let text = "let _ = writeln!(io::stderr(), \"{name}\");";
        assert_eq!(found("crates/cli/src/show.rs", text), ["stderr()"]);
        assert_eq!(
            found("crates/isolate/src/x/y.rs", "error.exit()"),
            [".exit()"]
        );
        assert!(found("crates/cli/src/main.rs", "error.use_stderr()").is_empty());
        assert!(found("crates/cli/src/console/status.rs", text).is_empty());
        assert!(found("crates/cli/tests/record.rs", text).is_empty());
        assert!(found("studies/src/bin/bench.rs", text).is_empty());
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
