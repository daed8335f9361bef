//! Budgets and interrupts.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::place::{Place, culprit, shell, text};

#[test]
fn a_budget_ends_with_the_best_so_far() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; for i in 1 2 3 4 5 6 7 8; do seq 9 >old/$i; seq 9 | sed 's/5/five/; s/8/x/' >new/$i; done",
    );
    let words = [
        "--good",
        "old",
        "--bad",
        "new",
        "--test",
        "! grep -q five 3",
        "--max-tests",
        "4",
    ];
    let report = place.found(&words);
    assert_eq!(report["minimal"], false);
    assert_eq!(report["tests"], 4);
    let left = report["changes"].as_array().unwrap().len();
    assert!((2..16).contains(&left), "{left}");
}

#[test]
fn max_tests_bounds_the_runs_of_all_levels_together() {
    for most in ["2", "5", "20"] {
        let place = Place::empty();
        shell(
            place.path(),
            "mkdir old new; for i in $(seq 9); do seq 9 >old/$i; seq 9 | sed 's/5/five/; s/8/x/' >new/$i; done",
        );
        let elsewhere = Place::empty();
        let runs = elsewhere.path().join("runs");
        let test = format!("echo >>{}; ! grep -q five 3", runs.display());
        let words = [
            "--good",
            "old",
            "--bad",
            "new",
            "--test",
            &test,
            "--jobs",
            "1",
            "--max-tests",
            most,
        ];
        place.found(&words);
        // The bad version is run twice before. At last both versions, and the changes made and taken back
        // alone, are run up to three times each.
        let runs = fs::read_to_string(runs).unwrap().lines().count();
        assert!(
            runs <= 2 + most.parse::<usize>().unwrap() + 12,
            "{most}: {runs}"
        );
    }
}

#[test]
fn max_time_bounds_the_runs_of_the_check_at_the_end() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; echo a >old/f; echo five >new/f",
    );
    let elsewhere = Place::empty();
    let runs = elsewhere.path().join("runs");
    let at = runs.display();
    // The bad version is run twice and the good one once. Each later run hangs until it is ended.
    let test =
        format!("echo >>{at}; test $(wc -l <{at}) -le 3 || exec sleep 1000; ! grep -q five f");
    let words = [
        "--good",
        "old",
        "--bad",
        "new",
        "--test",
        &test,
        "--jobs",
        "1",
        "--max-time",
        "5s",
    ];
    let report = place.found(&words);
    assert_eq!(report["changes"].as_array().unwrap().len(), 1, "{report}");
    // Ended after ten seconds, and after what is left of fifteen; without a bound there are 6 more.
    let runs = fs::read_to_string(&runs).unwrap().lines().count();
    assert!((4..=5).contains(&runs), "{runs}");
}

#[test]
fn an_interrupt_leaves_the_best_so_far() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; for i in $(seq 64); do seq 9 >old/$i; seq 9 | sed 's/5/five/' >new/$i; done",
    );
    let words = [
        "--good",
        "old",
        "--bad",
        "new",
        "--test",
        // Once it has narrowed something down.
        &interrupting(&place.path().join("runs"), 6, "! grep -q five 3"),
        "--jobs",
        "1",
    ];
    let ended = culprit(place.path(), &words).output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let out = place.path().join("culprit-isolate");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["minimal"], false);
    let left = report["changes"].as_array().unwrap().len();
    assert!(left < 64, "{left}");
}

#[test]
fn where_the_good_version_was_not_seen_to_pass_there_is_no_result() {
    let place = Place::repository(
        "seq 30 >a; commit base; git tag good
         for i in 1 2 3; do sed -i \"s/^$i\\$/x$i/\" a; commit c$i; done",
    );
    let elsewhere = Place::empty();
    // The bad version is run twice; the third run is that of the good one.
    let test = interrupting(&elsewhere.path().join("runs"), 3, "! grep -q x3 a");
    let test = format!("{test} || exit 1; exec sleep 1000");
    for good in ["good", "HEAD~1"] {
        fs::write(elsewhere.path().join("runs"), "").unwrap();
        let words = [
            "--good", good, "--bad", "HEAD", "--test", &test, "--jobs", "1",
        ];
        place.refused(&words, 130, "interrupted before the good version");
    }
    let with = |test, more: &[&'static str]| {
        [
            &["--good", "good", "--bad", "HEAD", "--test", test][..],
            more,
        ]
        .concat()
    };
    let spent = with("! grep -q x3 a", &["--max-tests", "1"]);
    place.refused(
        &spent,
        1,
        "was reached before the good version was seen to pass",
    );
    // Nor where the good version fails, whatever is looked for.
    let fails = with("false", &["--simplify"]);
    place.refused(&fails, 1, "the good version fails too");
    let own = "case $(grep -c x a) in 0) exit 4;; *) exit 3;; esac";
    let own = ["--good", "good", "--bad", "HEAD", "--test", own];
    place.refused(&own, 1, "the good version fails too: exits with status 4");
}

/// A test that interrupts who runs it when it is run for the Nth time.
fn interrupting(runs: &Path, number: u32, test: &str) -> String {
    let runs = runs.display();
    format!("echo >>{runs}; test $(wc -l <{runs}) -ne {number} || kill -INT $PPID; {test}")
}

#[test]
fn an_interrupt_leaves_nothing_behind_in_a_repository() {
    let place = Place::repository(
        "seq 90 >a; commit base; git tag good
         for i in $(seq 12); do sed -i \"s/^$i\\$/x$i/\" a; commit c$i; done",
    );
    let temporary = Place::empty();
    let out = Place::empty();
    let before = place.state();
    let words = [
        "--good",
        "good",
        "--bad",
        "HEAD",
        "--test",
        &interrupting(&out.path().join("runs"), 6, "! grep -q x5 a"),
    ];
    let ended = culprit(place.path(), &words)
        .args(["--jobs", "1", "-o"])
        .arg(out.path().join("out"))
        .env("TMPDIR", temporary.path())
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let verdicts = fs::read_to_string(out.path().join("out/candidates.jsonl")).unwrap();
    assert!(!verdicts.is_empty());
    assert_eq!(place.state(), before);
    let trees = text(&shell(place.path(), "git worktree list").stdout);
    assert_eq!(trees.lines().count(), 1, "{trees}");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}
