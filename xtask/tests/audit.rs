//! The decisions of `scripts/audit`, with a `cargo` in place of the real one that has neither a network nor
//! crates: what is skipped, what is noted, and what fails.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Accepts the options of cargo-deny that the script uses, and no others. `FETCH`, `BANS` and `ADVISORIES` are the
/// exit statuses of the steps.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
"fmt --version" | "clippy --version" | "deny --version") exit 0 ;;
"run --quiet --locked --package xtask -- supply") exit 0 ;;
"deny --locked check --hide-inclusion-graph bans licenses sources") exit "$BANS" ;;
"deny --locked fetch db" | "deny --locked fetch index") exit "$FETCH" ;;
"deny --locked --offline check advisories") echo "advisories checked"; exit "$ADVISORIES" ;;
*) echo "unexpected: cargo $*"; exit 99 ;;
esac
"#;

/// True if there is a copy of the database from an earlier run.
#[derive(Clone, Copy, PartialEq)]
enum Copy {
    Earlier,
    None,
}

/// The exit status of the script and its output.
#[expect(clippy::disallowed_methods, reason = "the script under test")]
fn audit(copy: Copy, statuses: [(&str, &str); 3]) -> (i32, String) {
    let home = tempfile::tempdir().unwrap();
    let cargo = home.path().join("cargo");
    fs::write(&cargo, CARGO).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let copies = home.path().join("advisory-dbs");
    fs::create_dir(&copies).unwrap();
    fs::write(copies.join("db.lock"), "").unwrap();
    if copy == Copy::Earlier {
        fs::create_dir_all(copies.join("advisory-db-1/crates")).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/audit");
    let path = std::env::var("PATH").unwrap();
    let ended = Command::new("/bin/sh")
        .arg(script)
        .env("PATH", format!("{}:{path}", home.path().display()))
        .env("CARGO_HOME", home.path())
        .envs(statuses)
        .output()
        .unwrap();
    let text = [ended.stdout, ended.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    (ended.status.code().unwrap(), text)
}

#[test]
fn advisories_are_skipped_only_where_there_is_no_copy_of_them() {
    let offline = [("FETCH", "1"), ("BANS", "0"), ("ADVISORIES", "0")];
    let (status, text) = audit(Copy::None, offline);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("SKIPPED: advisories"), "{text}");
    assert!(!text.contains("advisories checked"), "{text}");
    let (status, text) = audit(Copy::Earlier, offline);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("an earlier copy is used"), "{text}");
    assert!(text.contains("advisories checked"), "{text}");
}

#[test]
fn a_finding_fails_with_and_without_a_network() {
    for fetch in ["0", "1"] {
        let advisories = [("FETCH", fetch), ("BANS", "0"), ("ADVISORIES", "1")];
        let (status, text) = audit(Copy::Earlier, advisories);
        assert_eq!(status, 1, "{text}");
        let bans = [("FETCH", fetch), ("BANS", "4"), ("ADVISORIES", "0")];
        let (status, text) = audit(Copy::None, bans);
        assert_eq!(status, 4, "{text}");
    }
    let fine = [("FETCH", "0"), ("BANS", "0"), ("ADVISORIES", "0")];
    let (status, text) = audit(Copy::Earlier, fine);
    assert_eq!(status, 0, "{text}");
    assert!(
        !text.contains("NOTE") && !text.contains("SKIPPED"),
        "{text}"
    );
}
