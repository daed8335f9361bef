//! Java programs that describe themselves.
//!
//! A fixture is a folder of `.java` files whose package is the folder's name. Unless its
//! `Main.java` says otherwise, classes named `In...` are observed. Lines of `Main.java` that
//! steer the test:
//!
//! ```text
//! // record: --observe deep.Stack        options of `culprit record`
//! // java: -Xss512k                      options of the JVM
//! // needs: 21                           the oldest JDK that can compile it
//! // status: 1                           how the program ends; 0 unless said
//! ```
//!
//! `events.txt` beside it holds the events, as `render` writes them. Lines that start with `//`
//! are comments. With `CULPRIT_BLESS=1` in the environment the file is written anew: read it
//! before you believe it.
//!
//! `today.txt`, where there is one, is what is wrongly recorded today; its first line says what
//! is wrong. It goes as soon as `events.txt` is met.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of `fixtures` with programs that are compiled together, so no two have the same name.
const GROUPS: [&str; 6] = [
    "capture", "follow", "minimize", "replay", "suggest", "survive",
];

/// One program.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) record: Vec<String>,
    pub(crate) java: Vec<String>,
    pub(crate) needs: u32,
    pub(crate) status: i32,
}

impl Fixture {
    /// The fixture of a name: `capture/fields`.
    #[track_caller]
    pub(crate) fn named(path: &str) -> Fixture {
        Fixture::at(&root().join(path))
    }

    /// Every fixture.
    pub(crate) fn all() -> Vec<Fixture> {
        let mut folders: Vec<PathBuf> = GROUPS
            .iter()
            .flat_map(|group| fs::read_dir(root().join(group)).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.join("Main.java").is_file())
            .collect();
        folders.sort();
        folders.iter().map(|folder| Fixture::at(folder)).collect()
    }

    #[track_caller]
    fn at(folder: &Path) -> Fixture {
        let main = folder.join("Main.java");
        let text =
            fs::read_to_string(&main).unwrap_or_else(|error| panic!("{}: {error}", main.display()));
        let said = |key: &str| {
            let start = format!("// {key}: ");
            let line = text.lines().find_map(|line| line.strip_prefix(&start));
            line.map(|rest| {
                rest.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            })
        };
        let number = |key: &str| said(key).map(|words| words[0].parse::<u32>().unwrap());
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        Fixture {
            record: said("record")
                .unwrap_or_else(|| vec!["--observe".to_owned(), format!("{name}.In*")]),
            java: said("java").unwrap_or_default(),
            needs: number("needs").unwrap_or(11),
            status: number("status").unwrap_or(0) as i32,
            folder: folder.to_owned(),
            name,
        }
    }

    /// The main class.
    pub(crate) fn main(&self) -> String {
        format!("{}.Main", self.name)
    }

    /// Its sources.
    pub(crate) fn sources(&self) -> Vec<PathBuf> {
        let mut sources: Vec<PathBuf> = fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "java"))
            .collect();
        sources.sort();
        sources
    }

    /// Compares lines with those of `events.txt`, or of `today.txt`.
    #[track_caller]
    pub(crate) fn expects(&self, lines: &[String], place: &str) {
        let today = self.folder.join("today.txt");
        let right = self.folder.join("events.txt");
        if !today.is_file() {
            return self.compare(&right, lines, place);
        }
        let fixed = without_comments(&fs::read_to_string(&right).unwrap_or_default()) == lines;
        assert!(!fixed, "{} is fixed: remove its today.txt", self.name);
        self.compare(&today, lines, place);
    }

    #[track_caller]
    fn compare(&self, file: &Path, lines: &[String], place: &str) {
        let stored = fs::read_to_string(file).unwrap_or_default();
        let expected = without_comments(&stored);
        if expected == lines {
            return;
        }
        if std::env::var_os("CULPRIT_BLESS").is_some() {
            let comments = stored.lines().take_while(|line| line.starts_with("//"));
            let text: String = comments
                .chain(lines.iter().map(String::as_str))
                .flat_map(|line| [line, "\n"])
                .collect();
            fs::write(file, text).unwrap();
            return;
        }
        let shared = expected.iter().zip(lines).take_while(|(e, l)| e == l);
        let shared = shared.count();
        panic!(
            "{} on {place}: line {} differs\nexpected: {:?}\nrecorded: {:?}\nall:\n{}",
            self.name,
            shared + 1,
            expected.get(shared),
            lines.get(shared),
            lines.join("\n")
        );
    }
}

fn without_comments(text: &str) -> Vec<&str> {
    let lines = text.lines();
    lines.filter(|line| !line.starts_with("//")).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}
