//! `culprit isolate input` on a program in a real JVM: exceptions are compared by where they are thrown.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::process::{self, Ended, command};
use crate::stage::{folder, on_one_jdk};

#[test]
fn an_exception_from_elsewhere_has_no_verdict() {
    let (stage, home) = (on_one_jdk(), folder());
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/isolate/ledger/Main.java");
    let mut javac = stage.javac(home.path());
    let ended = process::run(javac.args(["-g", "-d", "classes"]).arg(source));
    assert_eq!(ended.status, 0, "{}", ended.err);
    let mut lines = String::new();
    for number in 0..40 {
        writeln!(lines, "account{number} {}", number + 100).unwrap();
    }
    lines.push_str("account7 -200\nlast 1\n");
    fs::write(home.path().join("day.txt"), &lines).unwrap();
    let java = stage.jdk.tool("java").display().to_string();
    let test = format!("{java} -Xshare:auto -XX:TieredStopAtLevel=1 -cp classes ledger.Main {{}}");
    let isolate = |options: &[&str]| -> (Ended, serde_json::Value) {
        let words = [
            "isolate", "input", "--test", &test, "day.txt", "-o", "out", "--json",
        ];
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
        let ended = process::run(culprit.args(words).args(options));
        let report = serde_json::from_str(&ended.out).unwrap_or_default();
        (ended, report)
    };
    let (ended, report) = isolate(&[]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let failure = report["failure"].as_str().unwrap();
    assert!(
        failure.contains("IllegalStateException") && failure.contains("Main.book"),
        "{failure}"
    );
    assert!(
        report["bytes"]["difference"].as_u64().unwrap() <= 3,
        "{report}"
    );
    fs::remove_dir_all(home.path().join("out")).unwrap();
    let (ended, report) = isolate(&["--simplify", "--verbatim"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let failing = fs::read_to_string(home.path().join("out/failing.txt")).unwrap();
    // Another account, and one that goes below zero; numbers that cannot be read are no way out.
    assert!(failing.len() <= 12, "{failing:?}");
    let ended = process::run(command(&java, home.path()).args([
        "-cp",
        "classes",
        "ledger.Main",
        "out/failing.txt",
    ]));
    assert!(ended.err.contains("is overdrawn by"), "{}", ended.err);
    assert!(report["unresolved"].as_u64().unwrap() > 0, "{report}");
}
