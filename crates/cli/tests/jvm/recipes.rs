//! Objects of the library that a program gives to observed code are made anew by calls that a test
//! could have, and are what they were.
//!
//! The observed code of `minimize/recipes` takes one object of every kind and looks whether it is
//! what its text says; then it fails with the names of those it took. So where one is missing, or is
//! made differently, the failure is another one, and the message says which.

use crate::fixture::Fixture;
use crate::process::{self, command};
use crate::stage::{folder, on_every_jdk};

#[track_caller]
fn check(group: &str) {
    let fixture = Fixture::named("minimize/recipes");
    on_every_jdk(&fixture, |stage| {
        let recorded = stage.run(&fixture).args(&[group]).record();
        let place = format!("{group} on JDK {}", stage.feature());
        assert_eq!(recorded.ended.status, 1, "{place}: {:?}", recorded.ended);
        let failed = "Exception in thread \"main\" java.lang.IllegalStateException: ";
        let all = recorded.ended.err.lines();
        let names = all.filter_map(|line| line.strip_prefix(failed)).next();
        let names = names.unwrap_or_else(|| panic!("{place}: {}", recorded.ended.err));
        recorded.complete();
        let home = folder();
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
        culprit
            .env("JAVA_HOME", &stage.jdk.home)
            .env("TMPDIR", home.path())
            .args(["minimize", "--trust"])
            .arg(&recorded.run);
        let ended = process::run(&mut culprit);
        assert_eq!(ended.status, 0, "{place}: {}", ended.err);
        let same = ended.err.contains("compiled and run: fails the same way");
        assert!(same, "{place}: {}\n{}", ended.err, ended.out);
        for name in names.split(", ") {
            // Alone, or in a row of a loop.
            let is_taken = ended.out.contains(&format!("\"{name}\""));
            assert!(is_taken, "{place}: {name} is not in\n{}", ended.out);
        }
    });
}

#[test]
fn lists_and_sets() {
    check("lists");
}

#[test]
fn maps() {
    check("maps");
}

#[test]
fn values() {
    check("values");
}

#[test]
fn streams() {
    check("streams");
}

#[test]
fn times() {
    check("times");
}
