//! A JDK with a folder to work in: its classes are taken out, linked, and run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use culprit_jvm::{Jdk, JdkLocations};

use crate::class::{MODULES, read_all};
use crate::{Class, Outcomes, Patch};

/// The programs that run on the JDKs.
const SOURCES: [&str; 3] = ["Extract", "Link", "Work"];

/// A JDK with a folder to work in.
#[derive(Debug)]
pub struct Bench {
    jdk: Jdk,
    place: PathBuf,
}

/// Runs a check on the JDK that the user means, or on every one there is. Without any it is
/// skipped, except in CI.
#[expect(
    clippy::print_stderr,
    reason = "a skip must be loud for whoever runs the test"
)]
pub fn on_each_jdk(mut check: impl FnMut(&Bench)) {
    let mut jdks = Jdk::all(&JdkLocations::of_process());
    jdks.retain(|jdk| jdk.tool("javac").exists());
    if std::env::var_os("CULPRIT_TEST_ALL_JDKS").is_none() {
        jdks.truncate(1);
    }
    if jdks.is_empty() {
        let in_ci = std::env::var_os("CI").is_some();
        assert!(!in_ci, "no JDK found, and CI must have one");
        eprintln!("SKIPPED: no JDK found (JAVA_HOME, PATH)");
    }
    for jdk in jdks {
        let mut place = tempfile::tempdir().unwrap();
        place.disable_cleanup(std::env::var_os("CULPRIT_TEST_KEEP").is_some());
        let bench = Bench {
            jdk,
            place: place.path().to_owned(),
        };
        let sources = bench.sources();
        let mut args = vec!["-d".to_owned(), bench.path("tools")];
        args.extend(sources);
        bench.run("javac", &args);
        check(&bench);
    }
}

impl Bench {
    /// The JDK's version, as it writes it.
    pub fn version(&self) -> String {
        self.jdk.version.to_string()
    }

    /// The folder for files of the test; classes in it are on the class path.
    pub fn tools(&self) -> PathBuf {
        self.place.join("tools")
    }

    /// Every class of the modules under test.
    pub fn classes(&self) -> Vec<Class> {
        let corpus = self.path("corpus");
        let mut args = vec!["-cp", "", "Extract", &corpus];
        let tools = self.path("tools");
        args[1] = &tools;
        args.extend(MODULES);
        self.run("java", &args);
        let classes = read_all(&fs::read(&corpus).unwrap());
        fs::remove_file(&corpus).unwrap();
        classes
    }

    /// An empty set of replacements. There is one at a time of each label.
    pub fn patch(&self, label: &str) -> Patch {
        Patch::new(self.place.join(label))
    }

    /// Loads and links classes in a JVM in which some are replaced.
    pub fn link<'a>(&self, patch: &Patch, classes: impl Iterator<Item = &'a Class>) -> Outcomes {
        let names: Vec<String> = classes.map(|c| c.name().replace('/', ".")).collect();
        let (list, outcomes) = (self.path("names"), self.path("outcomes"));
        fs::write(&list, names.join("\n")).unwrap();
        let mut args = patch.options();
        args.extend(["--add-modules".to_owned(), MODULES.join(",")]);
        args.extend(["-cp".to_owned(), self.path("tools")]);
        args.extend(["Link".to_owned(), list, outcomes.clone()]);
        self.run("java", &args);
        let outcomes = Outcomes::read(&fs::read_to_string(&outcomes).unwrap());
        assert_eq!(outcomes.len(), names.len());
        outcomes
    }

    /// Has the compiler, on the runtime, both with classes replaced, compile this crate's
    /// programs; the classes must come out as from the originals.
    pub fn compile(&self, patch: &Patch) {
        let again = self.path("again");
        let mut args = patch.options();
        let compiler = "jdk.compiler/com.sun.tools.javac.Main";
        args.extend(["-m", compiler, "-d", &again].map(String::from));
        args.extend(self.sources());
        self.run("java", &args);
        for source in SOURCES {
            let read = |folder: &str| {
                fs::read(self.place.join(folder).join(source).with_extension("class")).unwrap()
            };
            let same = read("tools") == read("again");
            assert!(same, "the edited compiler wrote another {source}.class");
        }
    }

    /// Runs a program that uses much of the modules; what it prints must not depend on the patch.
    pub fn work(&self, patch: &Patch) -> String {
        let mut args = patch.options();
        args.push("-Djava.awt.headless=true".to_owned());
        args.extend(["-cp".to_owned(), self.path("tools"), "Work".to_owned()]);
        let output = self.run("java", &args);
        String::from_utf8(output.stdout).unwrap()
    }

    /// The output of a tool of the JDK, whatever it is.
    #[expect(
        clippy::disallowed_methods,
        reason = "what crates/jvm starts are targets, with their signals and terminal"
    )]
    pub fn output(&self, tool: &str, args: &[impl AsRef<str>]) -> Output {
        let mut command = Command::new(self.jdk.tool(tool));
        command
            .args(args.iter().map(AsRef::as_ref))
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS");
        // The crash of a JVM leaves its report in the current folder.
        command.current_dir(&self.place).output().unwrap()
    }

    fn run(&self, tool: &str, args: &[impl AsRef<str>]) -> Output {
        let output = self.output(tool, args);
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().take(40).collect::<Vec<_>>().join("\n")
        };
        let args: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
        assert!(
            output.status.success(),
            "{tool} {args:?}: {}\n{}\n{}",
            output.status,
            text(&output.stdout),
            text(&output.stderr)
        );
        output
    }

    fn path(&self, name: &str) -> String {
        self.place.join(name).to_str().unwrap().to_owned()
    }

    fn sources(&self) -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("java");
        SOURCES
            .map(|name| folder.join(name).with_extension("java"))
            .map(|path| path.to_str().unwrap().to_owned())
            .to_vec()
    }
}
