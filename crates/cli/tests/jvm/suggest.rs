//! `culprit record --suggest` on a small program in real JVMs: what it predicts for a border is
//! what recording that border gives.

use culprit_report::document::conforming;
use culprit_report::suggest::SuggestDocument;
use std::fs;
use std::path::{Path, PathBuf};

use culprit_trace::{Coupling, Recording};
use serde_json::Value;

use crate::process::{self, Ended, command};
use crate::stage::{Stage, folder, on_one_jdk, stages};

/// A folder in which the program of `fixtures/suggest/shop` is recorded.
struct Shop {
    stage: &'static Stage,
    dir: tempfile::TempDir,
}

impl Shop {
    fn new(stage: &'static Stage) -> Shop {
        let dir = folder();
        Shop { stage, dir }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    /// `culprit record OPTIONS -- java ...`, with every class verified.
    fn record(&self, options: &[&str]) -> Ended {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), self.path());
        culprit.arg("record").args(options).arg("--");
        culprit.arg(self.stage.jdk.tool("java"));
        culprit.args(["-Xverify:all", "-Xcheck:jni", "-cp"]);
        process::run(culprit.arg(&self.stage.classes).arg("shop.Main"))
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
        let shop = Shop::new(stage);
        let ended = shop.record(&["--suggest", "--json", "-o", "counted"]);
        let (out, err) = (ended.out, ended.err);
        assert_eq!(ended.status, 0, "{err}");
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
            let ended = shop.record(&options);
            assert_eq!(ended.status, 0, "{}", ended.err);
            let recording = Recording::open(&shop.path().join(&folder)).unwrap();
            let predicted = border["events"].as_u64().unwrap();
            assert_eq!(
                recording.event_count(),
                predicted,
                "{patterns:?} on JDK {}",
                stage.feature()
            );
        }
    }
}

#[test]
fn the_table_fits_a_terminal_and_ends_with_what_to_run() {
    let shop = Shop::new(on_one_jdk());
    let ended = shop.record(&["--suggest", "-o", "counted"]);
    let err = ended.err;
    assert_eq!(ended.status, 0, "{err}");
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
    let program = format!("-cp {} shop.Main", shop.stage.classes.display());
    assert!(next.ends_with(&program), "{next}");
}

#[test]
fn the_counts_are_private_and_whole() {
    use std::os::unix::fs::PermissionsExt;
    let shop = Shop::new(on_one_jdk());
    shop.record(&["--suggest", "-o", "counted"]);
    let file = shop.coupling_file("counted");
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
    let dir = folder();
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), dir.path());
    let ended = process::run(culprit.args(["record", "--suggest", "--", "true"]));
    assert_eq!(ended.status, 3);
    assert!(ended.err.contains("started no JVM"));
}
