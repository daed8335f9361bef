//! A case of `corpus/`: two versions of a library, a driver that fails on one, and where the fix was made.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::maven::Coordinates;

/// The parts of a case's `bug.toml` that are needed here.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub folder: PathBuf,
    /// `main`, `junit4` or `junit5`.
    pub run: String,
    pub buggy: Coordinates,
    pub fixed: Coordinates,
    pub with: Vec<Coordinates>,
    /// `class#method`.
    pub fix: Vec<String>,
    /// The output of the failing run.
    pub failure: String,
}

impl Case {
    /// Reads a case below `corpus`.
    pub fn read(corpus: &Path, name: &str) -> anyhow::Result<Case> {
        let folder = corpus.join(name);
        let folder = folder
            .canonicalize()
            .with_context(|| format!("no case at {}", folder.display()))?;
        let file = folder.join("bug.toml");
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let values = |key: &str| strings(&text, key);
        let one = |key: &str| {
            let found = values(key).into_iter().next();
            found.with_context(|| format!("{} has no `{key}`", file.display()))
        };
        let with: anyhow::Result<Vec<Coordinates>> =
            values("with").iter().map(|it| it.parse()).collect();
        Ok(Case {
            run: one("run")?,
            buggy: one("buggy")?.parse()?,
            fixed: one("fixed")?.parse()?,
            with: with.with_context(|| format!("`with` of {}", file.display()))?,
            fix: values("fix"),
            failure: one("failure")?,
            name: name.to_owned(),
            folder,
        })
    }

    /// The arguments that run the driver, after the class path.
    pub fn main(&self) -> &'static str {
        match self.run.as_str() {
            "junit4" => "org.junit.runner.JUnitCore bug.Driver",
            "junit5" => {
                "org.junit.platform.console.ConsoleLauncher execute --select-class bug.Driver \
                 --details=none --disable-banner --disable-ansi-colors"
            }
            _ => "bug.Driver",
        }
    }

    /// The test framework.
    pub fn framework(&self) -> anyhow::Result<Option<Coordinates>> {
        let wanted = match self.run.as_str() {
            "junit4" => "junit:junit:4.13.2",
            "junit5" => "org.junit.platform:junit-platform-console-standalone:1.10.2",
            _ => return Ok(None),
        };
        Ok(Some(wanted.parse()?))
    }
}

/// The texts of a key: one, or a list of them on a line.
fn strings(text: &str, key: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then_some(value)
    });
    let quoted = line.unwrap_or_default().split('"').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_one_text_or_several() {
        let text = "run = \"main\"\nfix = [\"a.B#c\", \"a.B#d\"]\nwith = []\n";
        assert_eq!(strings(text, "run"), ["main"]);
        assert_eq!(strings(text, "fix"), ["a.B#c", "a.B#d"]);
        assert!(strings(text, "with").is_empty() && strings(text, "other").is_empty());
    }

    #[test]
    fn cases_of_the_corpus_are_read() {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
        let case = Case::read(&corpus, "codec-184").unwrap();
        assert_eq!(case.buggy.version, "1.9");
        assert_eq!(case.failure, "java.lang.NullPointerException");
        assert!(Case::read(&corpus, "nothing").is_err());
    }
}
