//! Programs that do harm as soon as a call is left out, a value is changed, a class is initialised, or a
//! compiler runs: `fixtures/confined`. In the sandbox they do none; outside each of them does.

use culprit_report::debug::TestsDocument;
use culprit_report::document::conforming;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::process::{self, Ended, command};
use crate::stage::{Stage, folder, scratch, stages};

const THESIS: &str = "precious/thesis.doc";

/// A folder with the compiled programs, and with a file that none of them may delete.
struct Office {
    stage: &'static Stage,
    home: tempfile::TempDir,
}

impl Office {
    fn new(stage: &'static Stage) -> Office {
        let office = Office {
            stage,
            home: folder(),
        };
        let mut copy = command("/bin/cp", compiled(stage));
        let ended = process::run(copy.args(["-R", "."]).arg(office.home.path()));
        assert_eq!(ended.status, 0, "{}", ended.err);
        for folder in ["precious", "work", "test"] {
            fs::create_dir_all(office.path(folder)).unwrap();
        }
        fs::write(office.path(THESIS), "300 pages").unwrap();
        office
    }

    /// One that has a compiler plugin and an annotation processor on its class path.
    fn with_plugin(stage: &'static Stage) -> Office {
        let office = Office::new(stage);
        let services = office.path("compiler/META-INF/services");
        fs::create_dir_all(&services).unwrap();
        for service in [
            "com.sun.source.util.Plugin",
            "javax.annotation.processing.Processor",
        ] {
            fs::write(services.join(service), "evil.Evil\n").unwrap();
        }
        office
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn culprit(&self, words: &[&str]) -> Ended {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), self.home.path());
        culprit.env("JAVA_HOME", &self.stage.jdk.home).args(words);
        process::run(&mut culprit)
    }

    /// `culprit debug -o out OPTIONS -- java -cp PATH office.MAIN`
    fn debug(&self, options: &[&str], path: &str, main: &str) -> Ended {
        let java = self.java();
        let main = format!("office.{main}");
        let words = [
            &["debug", "-o", "out"],
            options,
            &["--", &java, "-cp", path, &main],
        ];
        self.culprit(&words.concat())
    }

    /// `culprit record` and `culprit minimize -o out OPTIONS`.
    fn minimize(&self, options: &[&str], path: &str, main: &str) -> Ended {
        let java = self.java();
        let main = format!("office.{main}");
        let record = [
            "record",
            "--quiet",
            "--contents",
            "--observe",
            "tidy.*",
            "-o",
            "run",
        ];
        let ended = self.culprit(&[&record, &["--", &*java, "-cp", path, &main][..]].concat());
        assert_eq!(ended.status, 1, "{}", ended.err);
        self.culprit(&[&["minimize", "-o", "out"], options, &["run"]].concat())
    }

    fn java(&self) -> String {
        self.stage.jdk.tool("java").display().to_string()
    }

    fn has_thesis(&self) -> bool {
        self.path(THESIS).exists()
    }

    fn report(&self) -> serde_json::Value {
        let text = fs::read_to_string(self.path("out/report.json")).unwrap();
        let report: serde_json::Value = conforming::<TestsDocument>(&text).unwrap();
        report["tests"][0].clone()
    }
}

/// A folder with the programs compiled for a JDK, once.
fn compiled(stage: &Stage) -> &'static Path {
    static COMPILED: Mutex<BTreeMap<u32, &'static Path>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    compiled.entry(stage.feature()).or_insert_with(|| {
        let folder = scratch().join(format!("confined-{}", stage.feature()));
        fs::create_dir_all(&folder).unwrap();
        for (part, path) in [("lib", ""), ("app", "lib"), ("test", ""), ("compiler", "")] {
            let mut javac = stage.javac(&folder);
            javac.args(["-g", "-proc:none", "-d", part, "-cp", path]);
            let ended = process::run(javac.args(sources(part)));
            assert_eq!(ended.status, 0, "{}", ended.err);
        }
        Box::leak(folder.into_boxed_path())
    })
}

fn sources(part: &str) -> Vec<PathBuf> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => below(&path, found),
                false => found.push(path),
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/confined");
    let mut found = Vec::new();
    below(&root.join(part), &mut found);
    found
}

const PATH: &str = "lib:app";

/// A program does no harm in the sandbox, where its failure is found all the same, and does it outside.
#[track_caller]
fn check(main: &str, stages: &'static [Stage], run: fn(&Office, &[&str], &str, &str) -> Ended) {
    for stage in stages {
        let place = format!("{main} on JDK {}", stage.feature());
        let office = Office::new(stage);
        let ended = run(&office, &[], PATH, main);
        assert!(office.has_thesis(), "{place}: {}", ended.err);
        assert_eq!(ended.status, 0, "{place}: {}", ended.err);
        assert!(ended.err.contains("fails the same way"), "{}", ended.err);
        let office = Office::new(stage);
        let ended = run(&office, &["--no-sandbox"], PATH, main);
        assert!(
            !office.has_thesis(),
            "{place}: no harm at all: {}",
            ended.err
        );
    }
}

#[test]
fn a_guard_that_is_left_out_deletes_nothing() {
    check("Guarded", stages(), Office::debug);
    check("Guarded", &stages()[..1], Office::minimize);
}

#[test]
fn a_shortened_path_deletes_nothing() {
    check("Shorter", stages(), Office::debug);
    check("Shorter", &stages()[..1], Office::minimize);
}

#[test]
fn an_initializer_that_knows_the_last_check_deletes_nothing() {
    check("Initialised", stages(), Office::debug);
    check("Initialised", &stages()[..1], Office::minimize);
}

#[test]
fn plugins_and_processors_of_the_class_path_do_not_run_in_the_compiler() {
    let path = "lib:app:compiler";
    for stage in stages() {
        let office = Office::with_plugin(stage);
        let mut javac = stage.javac(office.home.path());
        fs::write(office.path("A.java"), "class A {}").unwrap();
        process::run(javac.args(["-proc:none", "-cp", path, "A.java"]));
        assert!(!office.has_thesis(), "the plugin does nothing");
        for run in [Office::debug, Office::minimize] {
            for options in [&[][..], &["--no-sandbox"]] {
                let office = Office::with_plugin(stage);
                let ended = run(&office, options, path, "Harmless");
                assert_eq!(ended.status, 0, "{}", ended.err);
                assert!(ended.err.contains("fails the same way"), "{}", ended.err);
                assert!(office.has_thesis(), "{}", ended.err);
            }
        }
    }
}

#[test]
fn what_needs_to_write_elsewhere_is_told_to_be_refused() {
    let office = Office::new(&stages()[0]);
    let ended = office.minimize(&[], PATH, "Logged");
    assert_eq!(ended.status, 1, "{}", ended.err);
    assert!(
        ended.err.contains("java.nio.file.AccessDeniedException"),
        "{}",
        ended.err
    );
    assert!(
        ended.err.contains("the sandbox refuses that"),
        "{}",
        ended.err
    );
    assert!(ended.err.contains("--no-sandbox"), "{}", ended.err);
    let office = Office::new(&stages()[0]);
    let ended = office.minimize(&["--no-sandbox"], PATH, "Logged");
    assert_eq!(ended.status, 0, "{}", ended.err);
}

#[test]
fn a_failure_that_the_sandbox_causes_too_is_not_reduced_in_it() {
    let office = Office::new(&stages()[0]);
    for run in [Office::debug, Office::minimize] {
        let _ = fs::remove_dir_all(office.path("out"));
        let ended = run(&office, &[], PATH, "Refused");
        assert_eq!(ended.status, 1, "{}", ended.err);
        assert!(ended.err.contains("the system denied"), "{}", ended.err);
    }
}

#[test]
fn a_test_that_passes_in_the_sandbox_comes_with_the_command_to_run_it_outside() {
    let office = Office::new(&stages()[0]);
    let ended = office.minimize(&[], PATH, "Shy");
    assert_eq!(ended.status, 1, "{}", ended.err);
    assert!(
        ended.err.contains("compiled and run: passes"),
        "{}",
        ended.err
    );
    let test = office.report();
    assert_eq!(test["verified"], false, "{test}");
    let by_hand = test["byHand"].as_str().unwrap();
    assert!(ended.err.contains(by_hand), "{}", ended.err);
    let outside = process::run(command("/bin/sh", office.home.path()).args(["-c", by_hand]));
    assert_eq!(outside.status, 1, "{}", outside.err);
    let thrown = "java.lang.ArithmeticException: / by zero\n\tat tidy.Timid.share";
    assert!(outside.err.contains(thrown), "{}", outside.err);
}

#[test]
fn a_test_of_junit_that_deletes_files_does_so_only_outside_of_the_sandbox() {
    for stage in stages() {
        for more in [&[][..], &["--fresh-jvm"], &["--in-scratch"]] {
            let isolate = |sandbox: &[&str], test: &str| {
                let office = Office::new(stage);
                fs::write(office.path("test/in.txt"), "one\ntwo!\nthree\n").unwrap();
                let test = format!("office.ReadsTest#{test}");
                let words = ["isolate", "input", "--java-test", &test, "-cp", "test"];
                let ended = office.culprit(&[&words, sandbox, more, &["test/in.txt"]].concat());
                (office, ended)
            };
            let (office, ended) = isolate(&[], "reads");
            assert_eq!(ended.status, 0, "{}", ended.err);
            assert!(office.has_thesis(), "{}", ended.err);
            let (office, ended) = isolate(&["--no-sandbox"], "reads");
            assert_eq!(ended.status, 0, "{}", ended.err);
            // In an empty folder there is nothing to delete.
            assert_eq!(
                office.has_thesis(),
                more == ["--in-scratch"],
                "{}",
                ended.err
            );
            if more.is_empty() {
                let (_, ended) = isolate(&[], "writes");
                assert_eq!(ended.status, 3, "{}", ended.err);
                assert!(ended.err.contains("the sandbox refuses"), "{}", ended.err);
                assert!(ended.err.contains("--no-sandbox"), "{}", ended.err);
                let (_, ended) = isolate(&["--no-sandbox"], "writes");
                assert_eq!(ended.status, 0, "{}", ended.err);
            }
        }
    }
}

#[test]
fn a_command_is_confined_on_request() {
    let office = Office::new(&stages()[0]);
    fs::write(office.path("in.txt"), "one\ntwo!\nthree\n").unwrap();
    let test = "rm -f precious/thesis.doc; cp {} $TMPDIR/copy && ! grep -q ! $TMPDIR/copy";
    let isolate = |options: &[&str]| {
        let words = ["isolate", "input", "--test", test];
        let _ = fs::remove_dir_all(office.path("culprit-isolate"));
        let ended = office.culprit(&[&words, options, &["in.txt"]].concat());
        assert_eq!(ended.status, 0, "{}", ended.err);
    };
    isolate(&["--sandbox"]);
    assert!(office.has_thesis());
    isolate(&[]);
    assert!(!office.has_thesis());
}
