//! Tests that hang, come and go, or leave something behind.

use std::fs;

use crate::place::{Place, changes, culprit, shell, text};

#[test]
fn a_test_that_hangs_can_be_the_failure() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 9 >old/a; seq 9 | sed 's/5/five/; s/8/x/' >new/a",
    );
    let report = place.found(&[
        "--good",
        "old",
        "--bad",
        "new",
        "--test",
        "! grep -q five a || sleep 1000",
        "--timeout",
        "500ms",
        "--fail-if",
        "timeout",
    ]);
    assert_eq!(changes(&report), ["a:-5+five"]);
}

#[test]
fn a_test_that_fails_now_and_then_is_repeated_and_its_rate_is_told() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 30 >old/a; seq 30 | sed 's/^5$/five/; s/^18$/x/; s/^25$/y/' >new/a",
    );
    // Fails every other time, by a count that all runs share.
    let elsewhere = Place::empty();
    let count = elsewhere.path().join("count");
    fs::write(&count, "").unwrap();
    let test = format!(
        "echo >>{0}; ! grep -q five a || test $(( $(wc -l <{0}) % 2 )) = 0",
        count.display()
    );
    let report = place.found(&[
        "--good", "old", "--bad", "new", "--test", &test, "--jobs", "1",
    ]);
    assert_eq!(changes(&report), ["a:-5+five"]);
    let (failed, of) = (&report["rate"]["failed"], &report["rate"]["of"]);
    assert!(failed.as_u64() < of.as_u64(), "{report:#}");
    assert!(report["runsOfEach"].as_u64() > Some(1));
}

#[test]
fn processes_that_a_test_leaves_behind_are_ended_and_told_of() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 9 >old/a; sed s/5/five/ old/a >new/a",
    );
    let pids = Place::empty();
    let list = pids.path().join("pids");
    let test = format!(
        "setsid sh -c 'echo $$ >>{}; exec sleep 600' >/dev/null 2>&1 & sleep 0.2; ! grep -q five a",
        list.display()
    );
    let words = ["--good", "old", "--bad", "new", "--test", &test];
    let out = Place::empty();
    let output = culprit(place.path(), &words)
        .arg("-o")
        .arg(out.path().join("out"))
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("behind, which were ended"), "{said}");
    let pids = fs::read_to_string(list).unwrap();
    assert!(!pids.is_empty());
    for pid in pids.lines() {
        let state = fs::read_to_string(format!("/proc/{pid}/stat"));
        assert!(state.is_err() || state.is_ok_and(|it| it.contains(") Z ")));
    }
}

#[test]
fn what_only_other_candidates_leave_behind_is_told_of_too() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 9 >old/a; sed 's/5/five/; s/8/x/' old/a >new/a",
    );
    // What passes leaves a process behind, and waits until it has begun.
    let test = "! grep -q five a || exit 1; rm -f $TMPDIR/p; mkfifo $TMPDIR/p
        setsid sh -c 'echo >$TMPDIR/p; exec sleep 600' >/dev/null 2>&1 & read begun <$TMPDIR/p";
    let report = place.found(&["--good", "old", "--bad", "new", "--test", test]);
    assert_eq!(changes(&report), ["a:-5+five"]);
    assert!(report["strays"].as_u64() >= Some(2), "{report:#}");
}

#[test]
fn a_failure_that_was_missed_by_chance_is_not_confirmed() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 30 >old/a; seq 30 | sed 's/^5$/x/; s/^18$/five/' >new/a",
    );
    let elsewhere = Place::empty();
    let count = elsewhere.path().join("count");
    fs::write(&count, "").unwrap();
    // The failing version is seen to fail twice, the good one to pass; the next candidate that should fail does not.
    let test = format!(
        "echo >>{0}; grep -q five a || exit 0; n=$(wc -l <{0}); test $n -gt 3 && test $n -lt 7",
        count.display()
    );
    let (code, report) = place.isolate(&[
        "--good", "old", "--bad", "new", "--test", &test, "--jobs", "1",
    ]);
    let report = report.unwrap();
    assert_eq!(report["confirmed"], false, "{report:#}");
    assert_eq!(code, 1);
}
