//! A kernel without Landlock, as some containers show it: nothing runs that would need the sandbox, unless the
//! user does without.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};

/// Has the calls of Landlock fail as on a kernel that has never heard of them.
fn without_landlock() -> BpfProgram {
    let calls = [
        libc::SYS_landlock_create_ruleset,
        libc::SYS_landlock_add_rule,
        libc::SYS_landlock_restrict_self,
    ];
    let rules: BTreeMap<i64, Vec<_>> = calls.map(|call| (call, Vec::new())).into();
    let absent = SeccompAction::Errno(libc::ENOSYS as u32);
    let arch = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, absent, arch).unwrap();
    filter.try_into().unwrap()
}

/// Runs `culprit` on such a kernel. A filter holds for the thread that sets it, and for all that it starts.
#[expect(clippy::disallowed_methods, reason = "the command under test")]
fn culprit(home: &Path, words: &[&str]) -> Output {
    let run = || {
        apply_filter(&without_landlock()).unwrap();
        Command::new(env!("CARGO_BIN_EXE_culprit"))
            .args(words)
            .current_dir(home)
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("NO_COLOR", "1")
            .output()
            .unwrap()
    };
    thread::scope(|scope| scope.spawn(run).join().unwrap())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A command with what it needs to come as far as the sandbox.
const COMMANDS: [&[&str]; 6] = [
    &["debug", "--", "touch", "ran"],
    &["minimize", "in.txt"],
    &["replay", "in.txt"],
    &["record", "--observe", "a.B", "--replay", "in.txt"],
    &[
        "isolate",
        "input",
        "--sandbox",
        "--test",
        "touch ran; false",
        "in.txt",
    ],
    &[
        "isolate",
        "changes",
        "--sandbox",
        "--good",
        ".",
        "--bad",
        ".",
        "--test",
        "touch ran",
    ],
];

#[test]
fn nothing_is_run_without_a_sandbox_and_the_user_is_told_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("in.txt"), "x\n").unwrap();
    let java = [
        "isolate",
        "input",
        "--java-test",
        "a.B#c",
        "-cp",
        ".",
        "in.txt",
    ];
    for words in COMMANDS.into_iter().chain([&java[..]]) {
        let output = culprit(home.path(), words);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {told}");
        assert!(
            told.contains("does not offer Landlock"),
            "{words:?}: {told}"
        );
        assert!(told.contains("--no-sandbox"), "{words:?}: {told}");
        assert!(!home.path().join("ran").exists(), "{words:?}");
    }
}

#[test]
fn whoever_does_without_is_not_refused() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("in.txt"), "x\n").unwrap();
    let debug = ["debug", "--no-sandbox", "--", "touch", "ran"];
    let told = said(&culprit(home.path(), &debug));
    assert!(told.contains("started no JVM"), "{told}");
    assert!(home.path().join("ran").exists());
    let isolate = ["isolate", "input", "--test", "false", "in.txt"];
    let told = said(&culprit(home.path(), &isolate));
    assert!(told.contains("fails on an empty input too"), "{told}");
}

#[test]
fn the_doctor_names_the_gap() {
    let home = tempfile::tempdir().unwrap();
    let output = culprit(home.path(), &["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    let landlock = findings.iter().find(|it| it["name"] == "Landlock").unwrap();
    assert_eq!(landlock["health"], "wrong", "{landlock}");
}
