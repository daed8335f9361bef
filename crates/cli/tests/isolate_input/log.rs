//! The log of a run: its content, its bounds, and the ways to select it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::stage::Stage;

const TEST: &str = "true --password=hush; ! grep -q bad {}";

fn stage() -> Stage {
    let stage = Stage::new();
    stage.put("in.txt", "one\nbad\ntwo\n");
    stage
}

#[test]
fn the_log_has_the_version_the_processes_and_the_verdicts() {
    let stage = stage();
    let told = stage.run(&["in.txt", "--test", TEST, "-o", "out"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let log = stage.text("out/culprit.log");
    for expect in [
        concat!("version=\"", env!("CARGO_PKG_VERSION"), "\""),
        "command=\"isolate\"",
        "process started",
        "process ended",
        "candidate judged",
        "verdict=Some(Fail)",
        "ends status=0",
    ] {
        assert!(log.contains(expect), "{expect}: {log}");
    }
    assert!(
        log.contains("--password=***") && !log.contains("hush"),
        "{log}"
    );
    let data = fs::metadata(stage.path().join("out/culprit.log")).unwrap();
    assert_eq!(data.permissions().mode() & 0o777, 0o600);
    assert!(!told.err.contains("process started"), "{}", told.err);
}

#[test]
fn events_are_printed_as_they_happen_and_no_file_is_written_where_none_is_wanted() {
    let stage = stage();
    let mut culprit = stage.culprit(&["in.txt", "--test", TEST, "-o", "out", "-vv"]);
    let output = culprit.env("CULPRIT_LOG", "off").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(
        err.contains("candidate judged") && !err.contains("hush"),
        "{err}"
    );
    assert!(!stage.path().join("out/culprit.log").exists());
}

#[test]
fn a_selection_that_is_none_is_refused() {
    let stage = stage();
    let mut culprit = stage.culprit(&["in.txt", "--test", TEST, "-o", "out"]);
    let output = culprit.env("CULPRIT_LOG", "a=b=c").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(
        err.contains("CULPRIT_LOG is not a selection of events: a=b=c"),
        "{err}"
    );
    assert!(!stage.path().join("out").exists());
}
