//! `culprit debug` and `culprit minimize` on programs that fail: the tests that they write, and what
//! they say where there is none.
//!
//! The programs are in `fixtures/debug`, each with a library and what uses it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::fixture::Fixture;
use crate::library;
use crate::process::{self, Ended, command};
use crate::stage::{Stage, folder, on_one_jdk, skipped};

/// A program that was compiled, in a folder of its own.
struct Program {
    stage: &'static Stage,
    home: tempfile::TempDir,
    class_path: String,
}

impl Program {
    /// Compiles a fixture, the library apart from what uses it.
    fn compile(name: &str, jars: &[PathBuf]) -> Program {
        let (stage, home) = (on_one_jdk(), folder());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/debug");
        let mut class_path: Vec<String> = Vec::new();
        class_path.extend(jars.iter().map(|jar| jar.display().to_string()));
        for part in ["lib", "app"] {
            let mut javac = command(stage.jdk.tool("javac"), home.path());
            javac.args(["-g", "-proc:none", "-d", part, "-cp"]);
            javac.arg(class_path.join(":"));
            let ended = process::run(javac.args(sources(&root.join(name).join(part))));
            assert_eq!(ended.status, 0, "{}", ended.err);
            class_path.push(part.to_owned());
        }
        Program {
            stage,
            home,
            class_path: class_path.join(":"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn java(&self, words: &[&str]) -> Vec<String> {
        let java = self.stage.jdk.tool("java").display().to_string();
        let first = [java, "-cp".to_owned(), self.class_path.clone()];
        let rest = words.iter().map(|&word| word.to_owned());
        first.into_iter().chain(rest).collect()
    }

    /// Runs `culprit` where the program is.
    fn culprit<I: AsRef<std::ffi::OsStr>>(&self, words: impl IntoIterator<Item = I>) -> Ended {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), self.home.path());
        culprit.env("JAVA_HOME", &self.stage.jdk.home).args(words);
        process::run(&mut culprit)
    }

    /// `culprit debug -o out -- java ...`
    fn debug(&self, program: &[&str]) -> Ended {
        let debug = ["debug", "-o", "out", "--"].map(str::to_owned);
        self.culprit(debug.into_iter().chain(self.java(program)))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let packages = fs::read_dir(folder).unwrap();
    let files = packages.flat_map(|package| fs::read_dir(package.unwrap().path()).unwrap());
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[track_caller]
fn says(ended: &Ended, status: i32, message: &str) {
    assert_eq!(ended.status, status, "{}", ended.err);
    assert!(ended.err.contains(message), "{}", ended.err);
}

#[test]
fn a_crash_becomes_the_calls_that_it_needs() {
    let program = Program::compile("crash", &[]);
    let ended = program.debug(&["depot.Main"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
    assert_eq!(program.read("out/tests/belts/BeltTest.java"), ended.out);
    let report: serde_json::Value = serde_json::from_str(&program.read("out/report.json")).unwrap();
    let test = &report["tests"][0];
    assert_eq!(test["test"], "tests/belts/BeltTest.java", "{report}");
    assert_eq!(test["verified"], true, "{report}");
    assert!(program.read("out/report.md").contains(&ended.out));
    assert!(
        program
            .read("out/repeat.sh")
            .contains("culprit debug --jobs 2 -o ")
    );
    let printed = program.read("out/witness/output.txt");
    assert!(printed.contains("weighed 0"), "{printed}");
    assert!(!ended.out.contains("weighed"), "{}", ended.out);
}

#[test]
fn a_recording_of_the_crash_becomes_the_same_test() {
    let program = Program::compile("crash", &[]);
    let record = ["record", "--quiet", "--contents", "--observe", "belts.**"];
    let record = record.into_iter().chain(["-o", "run", "--"]);
    let record = record.map(str::to_owned);
    let ended = program.culprit(record.chain(program.java(&["depot.Main"])));
    assert_eq!(ended.status, 1, "{}", ended.err);
    let ended = program.culprit(["minimize", "run", "-o", "out"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!("a_crash_becomes_the_calls_that_it_needs", ended.out);
}

#[test]
fn of_a_long_text_the_character_is_left_that_makes_it_crash() {
    let program = Program::compile("inputs", &[]);
    let ended = program.debug(&["desk.Main"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn a_failing_assertion_becomes_the_calls_behind_what_it_looks_at() {
    let console = library::jar(
        "org.junit.platform",
        "junit-platform-console-standalone",
        "1.10.2",
        None,
    );
    let Some(console) = console else {
        return skipped("JUnit 5");
    };
    let program = Program::compile("assertion", &[console]);
    let ended = program.debug(&[
        "org.junit.platform.console.ConsoleLauncher",
        "execute",
        "--disable-banner",
        "--details=none",
        "--select-class=postage.TariffTest",
    ]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn a_command_that_does_not_fail_is_no_case() {
    let program = Program::compile("crash", &[]);
    let ended = program.debug(&["depot.Main", "well"]);
    let message = "the command does not fail: it ended with 0 and threw nothing";
    says(&ended, 1, message);
    assert_eq!(ended.out, "");
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let program = Program::compile("crash", &[]);
    fs::create_dir(program.path("out")).unwrap();
    fs::write(program.path("out/mine"), "").unwrap();
    let ended = program.debug(&["depot.Main"]);
    says(&ended, 2, "out is not empty");
    assert_eq!(fs::read_dir(program.path("out")).unwrap().count(), 1);
}

#[test]
fn a_program_that_is_not_there_cannot_be_run() {
    let program = Program::compile("crash", &[]);
    let ended = program.culprit(["debug", "-o", "out", "--", "no-such-program"]);
    says(&ended, 3, "no-such-program");
}

#[test]
fn a_recording_without_a_failure_has_no_test() {
    let stage = on_one_jdk();
    let fixture = Fixture::named("capture/failing");
    let recorded = stage.run(&fixture).args(&["well"]).record();
    let home = folder();
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
    let ended = process::run(culprit.arg("minimize").arg(&recorded.run));
    says(&ended, 4, "the recorded program did not fail");
    assert!(!home.path().join("culprit-minimize").exists());
}

#[test]
fn what_is_no_recording_cannot_be_read() {
    let home = folder();
    fs::write(home.path().join("jvm-1.culprit"), "nothing of the kind").unwrap();
    for (path, status) in [("jvm-1.culprit", 4), ("nowhere", 2)] {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
        let ended = process::run(culprit.args(["minimize", path]));
        says(&ended, status, path);
        assert!(!home.path().join("culprit-minimize").exists());
    }
}
