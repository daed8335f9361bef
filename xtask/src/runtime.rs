//! The Java classes that the agent injects, and those that run a test: compiled ahead, committed, and
//! checked against their source, so that building needs no JDK.
//!
//! `java/runtime/classes/stamp.txt`, and that of `java/tester`, holds the hash of the sources and the feature version of
//! the compiler. Compilers of other versions write other bytes for the same source, so bytes
//! are compared where the version is the same, and the hash everywhere.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use culprit_jvm::{Jdk, JdkLocations};
use sha2::{Digest, Sha256};

use crate::{process, tree};

const STAMP: &str = "stamp.txt";

/// Classes that are compiled together.
struct Set {
    sources: &'static str,
    classes: &'static str,
    options: &'static [&'static str],
}

const SETS: [Set; 3] = [
    Set {
        sources: "java/runtime/src",
        classes: "java/runtime/classes",
        options: &INJECTED,
    },
    Set {
        sources: "java/change/src",
        classes: "java/change/classes",
        options: &["--release", "11", "-g", "-d"],
    },
    Set {
        sources: "java/tester/src",
        classes: "java/tester/classes",
        options: &["--release", "11", "-g", "-d"],
    },
];

/// Compiles the injected classes: for the oldest Java that loads them, and, because they are
/// beside the JDK's own classes, with a view of some of its internals. `--release` would hide
/// these, and without it the compiler warns about the options themselves.
const INJECTED: [&str; 11] = [
    "-source",
    "11",
    "-target",
    "11",
    "--add-exports",
    "java.base/jdk.internal.misc=ALL-UNNAMED",
    "--add-exports",
    "java.base/jdk.internal.vm.annotation=ALL-UNNAMED",
    "-g",
    "-Xlint:-options",
    "-d",
];

/// Compiles the classes anew, in place of those committed.
pub(crate) fn refresh(root: &Path) -> anyhow::Result<()> {
    let jdk = jdk()?;
    for set in &SETS {
        let classes = root.join(set.classes);
        if classes.exists() {
            fs::remove_dir_all(&classes)?;
        }
        set.compile(root, &jdk, &classes)?;
        fs::write(classes.join(STAMP), set.stamp(root, &jdk)?)?;
    }
    Ok(())
}

/// Fails if the committed classes are not those of the committed sources.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    SETS.iter().try_for_each(|set| set.check(root))
}

impl Set {
    fn check(&self, root: &Path) -> anyhow::Result<()> {
        let Set {
            sources, classes, ..
        } = self;
        if !root.join(sources).exists() && !root.join(classes).exists() {
            return Ok(());
        }
        let advice = "run `cargo run -p xtask -- runtime` and commit the result";
        let jdk = jdk()?;
        let fresh = self.stamp(root, &jdk)?;
        let committed = fs::read_to_string(root.join(classes).join(STAMP))
            .with_context(|| format!("{classes} has no {STAMP}; {advice}"))?;
        let part = |text: &str, number| text.lines().nth(number).map(str::to_owned);
        ensure!(
            part(&fresh, 0) == part(&committed, 0),
            "{classes} is older than {sources}; {advice}"
        );
        if part(&fresh, 1) == part(&committed, 1) {
            let folder = tempfile::tempdir()?;
            self.compile(root, &jdk, folder.path())?;
            let fresh = contents(folder.path())?;
            let committed = contents(&root.join(classes))?;
            ensure!(
                fresh == committed,
                "{classes} does not hold what {sources} compiles to; {advice}"
            );
        }
        Ok(())
    }

    /// The command that compiles the classes.
    fn compile(&self, root: &Path, jdk: &Jdk, into: &Path) -> anyhow::Result<()> {
        let mut words: Vec<PathBuf> = self.options.iter().map(PathBuf::from).collect();
        words.push(into.to_path_buf());
        words.extend(self.sources(root)?);
        process::output(jdk.tool("javac"), words, root)?;
        Ok(())
    }

    /// The Java files, from the root.
    fn sources(&self, root: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let files = tree::files(&root.join(self.sources)).context(self.sources)?;
        Ok(files
            .into_iter()
            .filter(|file| tree::is(file, "java"))
            .map(|file| Path::new(self.sources).join(file))
            .collect())
    }

    fn stamp(&self, root: &Path, jdk: &Jdk) -> anyhow::Result<String> {
        let mut hash = Sha256::new();
        for file in self.sources(root)? {
            let bytes = fs::read(root.join(&file))?;
            hash.update(format!("{} {}\n", file.display(), bytes.len()));
            hash.update(&bytes);
        }
        let hash: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Ok(format!("sources {hash}\njavac {}\n", jdk.version.feature))
    }
}

fn jdk() -> anyhow::Result<Jdk> {
    Jdk::find(&JdkLocations::of_process())
        .map_err(|error| anyhow::anyhow!("{error}; {}", error.next_step()))
}

/// The classes in a folder, each with its bytes.
fn contents(folder: &Path) -> anyhow::Result<Vec<(PathBuf, Vec<u8>)>> {
    let files = tree::files(folder)?;
    let classes = files.into_iter().filter(|file| tree::is(file, "class"));
    classes
        .map(|file| Ok((file.clone(), fs::read(folder.join(&file))?)))
        .collect()
}
