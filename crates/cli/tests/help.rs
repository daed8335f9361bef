//! Snapshots of the help texts; `INSTA_UPDATE=always cargo test --test help` accepts new ones.
//! Each help text fits 80 columns and gives at least two examples.

use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "the command under test")]
fn help(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_culprit"))
        .args(words)
        .arg("--help")
        .env("NO_COLOR", "1")
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "over 80 columns: {line}");
    }
    let (_, after) = text.split_once("Examples:\n").expect("there are examples");
    let examples = after
        .lines()
        .take_while(|line| line.starts_with("  "))
        .filter(|line| line.starts_with("  culprit "));
    assert!(examples.count() >= 2, "fewer than two examples: {after}");
    text
}

#[test]
fn the_overview() {
    insta::assert_snapshot!(help(&[]));
}

#[test]
fn record() {
    insta::assert_snapshot!(help(&["record"]));
}

#[test]
fn show() {
    insta::assert_snapshot!(help(&["show"]));
}

#[test]
fn replay() {
    insta::assert_snapshot!(help(&["replay"]));
}

#[test]
fn debug() {
    insta::assert_snapshot!(help(&["debug"]));
}

#[test]
fn slice() {
    insta::assert_snapshot!(help(&["slice"]));
}

#[test]
fn minimize() {
    insta::assert_snapshot!(help(&["minimize"]));
}

#[test]
fn isolate() {
    insta::assert_snapshot!(help(&["isolate"]));
}

#[test]
fn isolate_input() {
    insta::assert_snapshot!(help(&["isolate", "input"]));
}

#[test]
fn isolate_changes() {
    insta::assert_snapshot!(help(&["isolate", "changes"]));
}

#[test]
fn instrument() {
    insta::assert_snapshot!(help(&["instrument"]));
}

#[test]
fn doctor() {
    insta::assert_snapshot!(help(&["doctor"]));
}
