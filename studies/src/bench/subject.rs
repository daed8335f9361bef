//! The subjects: libraries, the work done on them, and the classes observed one at a time.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use crate::maven::Coordinates;

/// The list of the chosen classes, from the root of the project.
pub const CLASSES: &str = "studies/java/bench/classes.txt";

/// A workload on a library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subject {
    /// The name that `bench.Main` knows it by.
    pub name: &'static str,
    pub library: &'static str,
    /// The package that holds all of the library.
    pub package: &'static str,
    /// So many that a run without an agent takes two to five seconds.
    pub iterations: u32,
}

/// Every subject.
pub const SUBJECTS: [Subject; 5] = [
    Subject {
        name: "parse",
        library: "org.jsoup:jsoup:1.17.2",
        package: "org.jsoup",
        iterations: 250,
    },
    Subject {
        name: "compute",
        library: "org.apache.commons:commons-math3:3.6.1",
        package: "org.apache.commons.math3",
        iterations: 1000,
    },
    Subject {
        name: "compress",
        library: "org.apache.commons:commons-compress:1.21",
        package: "org.apache.commons.compress",
        iterations: 45,
    },
    Subject {
        name: "template",
        library: "org.freemarker:freemarker:2.3.32",
        package: "freemarker",
        iterations: 4000,
    },
    Subject {
        name: "graph",
        library: "org.jgrapht:jgrapht-core:1.5.2",
        package: "org.jgrapht",
        iterations: 1200,
    },
];

impl Subject {
    pub fn coordinates(&self) -> anyhow::Result<Coordinates> {
        self.library.parse()
    }

    /// Artifact and version.
    pub fn short_library(&self) -> String {
        let mut parts = self.library.split(':').skip(1);
        let mut next = || parts.next().unwrap_or_default();
        format!("{} {}", next(), next())
    }
}

/// The observed classes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Set {
    Whole,
    Class(String),
}

impl Set {
    /// As Culprit's `--observe` takes it.
    pub fn pattern(&self, subject: &Subject) -> String {
        match self {
            Set::Whole => format!("{}.**", subject.package),
            Set::Class(name) => name.clone(),
        }
    }

    /// As JaCoCo's `includes` takes it.
    pub fn jacoco(&self, subject: &Subject) -> String {
        match self {
            Set::Whole => format!("{}.*", subject.package),
            Set::Class(name) => name.clone(),
        }
    }

    /// As a type pattern of AspectJ, where nested classes follow a dot.
    pub fn aspectj(&self, subject: &Subject) -> String {
        match self {
            Set::Whole => format!("{}..*", subject.package),
            Set::Class(name) => name.replace('$', "."),
        }
    }

    /// As the table names it.
    pub fn label(&self) -> &str {
        match self {
            Set::Whole => "whole library",
            Set::Class(name) => name.rsplit('.').next().unwrap_or(name),
        }
    }
}

/// The classes listed for a subject, most incoming calls first.
pub fn classes(root: &Path, subject: &Subject) -> anyhow::Result<Vec<String>> {
    let file = root.join(CLASSES);
    let text =
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let classes = listed(&text, subject.name);
    ensure!(
        !classes.is_empty(),
        "{CLASSES} lists no class for {}; `bench --choose` writes it",
        subject.name
    );
    Ok(classes)
}

fn listed(text: &str, subject: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    words
        .filter(|words| words.first() == Some(&subject))
        .filter_map(|words| Some((*words.get(1)?).to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_in_the_language_of_each_tool() {
        let subject = &SUBJECTS[0];
        let nested = Set::Class("org.jsoup.parser.Token$Tag".to_owned());
        assert_eq!(Set::Whole.pattern(subject), "org.jsoup.**");
        assert_eq!(Set::Whole.jacoco(subject), "org.jsoup.*");
        assert_eq!(Set::Whole.aspectj(subject), "org.jsoup..*");
        assert_eq!(nested.aspectj(subject), "org.jsoup.parser.Token.Tag");
        assert_eq!(nested.label(), "Token$Tag");
        assert_eq!(subject.short_library(), "jsoup 1.17.2");
    }

    #[test]
    fn lists_hold_the_classes_of_all_subjects() {
        let text =
            "# parse org.jsoup.No 1\nparse org.jsoup.A 20\ngraph org.B 7\nparse org.jsoup.C 3\n";
        assert_eq!(listed(text, "parse"), ["org.jsoup.A", "org.jsoup.C"]);
    }
}
