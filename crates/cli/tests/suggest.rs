//! `culprit record --suggest` on a small program in real JVMs: what it predicts for a border is
//! what recording that border gives.

use culprit_report::document::conforming;
use culprit_report::suggest::SuggestDocument;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use culprit_jvm::{Jdk, Surroundings};
use culprit_trace::{Coupling, Recording};
use serde_json::Value;

/// The program, compiled for a JDK.
struct Stage {
    jdk: Jdk,
    dir: tempfile::TempDir,
}

fn stages() -> Vec<Stage> {
    let mut features = Vec::new();
    let mut stages = Vec::new();
    for jdk in Jdk::all(&Surroundings::of_process()) {
        if !features.contains(&jdk.version.feature) && jdk.tool("javac").is_file() {
            features.push(jdk.version.feature);
            stages.push(Stage::new(jdk));
        }
    }
    assert!(!stages.is_empty(), "no JDK: install one, or set JAVA_HOME");
    stages
}

#[expect(clippy::disallowed_methods, reason = "the commands under test")]
fn run(program: impl AsRef<std::ffi::OsStr>, words: &[&str], folder: &Path) -> Output {
    Command::new(program)
        .args(words)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("NO_COLOR", "1")
        .env_remove("JAVA_TOOL_OPTIONS")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Stage {
    fn new(jdk: Jdk) -> Stage {
        let dir = tempfile::tempdir().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/suggest/shop");
        let mut words = vec!["-g".to_owned(), "-d".to_owned(), "classes".to_owned()];
        for entry in fs::read_dir(sources).unwrap() {
            words.push(entry.unwrap().path().display().to_string());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = run(jdk.tool("javac"), &words, dir.path());
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        Stage { jdk, dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// `culprit record OPTIONS -- java ...`, with every class verified.
    fn record(&self, options: &[&str]) -> Output {
        let java = self.jdk.tool("java").display().to_string();
        let words = [&["record"], options, &["--", &java]].concat();
        let jvm = ["-Xverify:all", "-Xcheck:jni", "-cp", "classes", "shop.Main"];
        run(
            env!("CARGO_BIN_EXE_culprit"),
            &[&words[..], &jvm].concat(),
            self.path(),
        )
    }

    fn coupling_file(&self, folder: &str) -> PathBuf {
        let files = fs::read_dir(self.path().join(folder)).unwrap();
        let mut files = files.map(|entry| entry.unwrap().path());
        files
            .find(|file| file.extension().is_some_and(|e| e == "coupling"))
            .unwrap()
    }
}

#[test]
fn a_border_records_as_many_events_as_was_predicted() {
    for stage in stages() {
        let ended = stage.record(&["--suggest", "--json", "-o", "counted"]);
        let (out, err) = (text(&ended.stdout), text(&ended.stderr));
        assert!(ended.status.success(), "{err}");
        assert!(out.starts_with("40 lines, "), "{out}");
        let found: Value = conforming::<SuggestDocument>(out.lines().last().unwrap()).unwrap();
        assert_eq!(found["version"], 1);
        let borders = found["borders"].as_array().unwrap();
        assert!(!borders.is_empty());
        for (border, number) in borders.iter().zip(1..) {
            let folder = format!("run-{number}");
            let mut options = vec!["-q", "-o", &folder];
            let patterns = border["observe"].as_array().unwrap();
            for pattern in patterns {
                options.extend(["--observe", pattern.as_str().unwrap()]);
            }
            let ended = stage.record(&options);
            assert!(ended.status.success(), "{}", text(&ended.stderr));
            let recording = Recording::open(&stage.path().join(&folder)).unwrap();
            let predicted = border["events"].as_u64().unwrap();
            assert_eq!(
                recording.event_count(),
                predicted,
                "{patterns:?} on JDK {}",
                stage.jdk.version.feature
            );
        }
    }
}

#[test]
fn the_table_fits_a_terminal_and_ends_with_what_to_run() {
    let stage = stages().remove(0);
    let ended = stage.record(&["--suggest", "-o", "counted"]);
    let err = text(&ended.stderr);
    assert!(ended.status.success(), "{err}");
    let table: Vec<&str> = err
        .lines()
        .filter(|l| !l.contains("culprit record"))
        .collect();
    let widest = table.iter().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{err}");
    assert!(
        err.contains("--observe shop.Ledger --observe 'shop.Ledger$*'"),
        "{err}"
    );
    let next = err.lines().last().unwrap();
    assert!(next.contains("culprit record --observe "), "{next}");
    assert!(next.ends_with("-cp classes shop.Main"), "{next}");
}

#[test]
fn the_counts_are_private_and_whole() {
    use std::os::unix::fs::PermissionsExt;
    let stage = stages().remove(0);
    stage.record(&["--suggest", "-o", "counted"]);
    let file = stage.coupling_file("counted");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let coupling: Coupling = fs::read_to_string(file).unwrap().parse().unwrap();
    let number = |name: &str| {
        let found = coupling.classes.iter().position(|class| class.name == name);
        found.unwrap() + 1
    };
    let (main, ledger) = (number("shop.Main"), number("shop.Ledger"));
    let edge = coupling
        .edges
        .iter()
        .find(|edge| (edge.from, edge.to) == (main, ledger))
        .unwrap();
    assert_eq!(
        (edge.calls, edge.constructions, edge.accesses),
        (43, 1, 201)
    );
}

#[test]
fn a_command_without_a_jvm_has_nothing_to_suggest() {
    let dir = tempfile::tempdir().unwrap();
    let words = ["record", "--suggest", "--", "true"];
    let ended = run(env!("CARGO_BIN_EXE_culprit"), &words, dir.path());
    assert_eq!(ended.status.code(), Some(3));
    assert!(text(&ended.stderr).contains("started no JVM"));
}
