//! A sample of the study of attacks, as part of `cargo test`: all attempts that one JVM can make, on one JDK, as whoever
//! runs the tests.
#![cfg(target_os = "linux")]

use culprit_jvm::{Jdk, JdkLocations, Sandbox};
use studies::attacks::attempt::judge;
use studies::attacks::stage::{Confines, Stage};
use studies::attacks::{Attempt, Verdict, Way, attempts};

/// True if this kernel has a sandbox to attack. Where it has gaps the test is skipped, except in CI.
#[expect(clippy::print_stderr, reason = "whoever runs the tests must see it")]
fn can_confine() -> bool {
    let Some(gap) = Sandbox::probe().gap() else {
        return true;
    };
    assert!(std::env::var_os("CI").is_none(), "{gap}");
    eprintln!("SKIPPED: {gap}");
    false
}

#[test]
fn no_attempt_to_get_out_of_the_sandbox_succeeds_and_most_do_without_one() {
    if !can_confine() {
        return;
    }
    let jdks = Jdk::all(&JdkLocations::of_process());
    let jdk = jdks
        .iter()
        .filter(|jdk| jdk.tool("javac").is_file())
        .max_by_key(|jdk| jdk.version.feature)
        .expect("no JDK: install one, or set JAVA_HOME");
    let place = tempfile::tempdir().unwrap();
    let stage = Stage::new(jdk, place.path()).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let chosen: Vec<&'static Attempt> = attempts()
        .filter(|it| !it.is_alone() && (is_root || !it.root_only))
        .collect();
    let free = stage.observe_all(&chosen, Confines::None).unwrap();
    let confined = stage.observe_all(&chosen, Confines::Sandbox).unwrap();
    let mut refused = 0;
    for (key, seen) in &confined {
        let (by, name) = key.split_once(' ').unwrap();
        let is_java = by == "java";
        let found = chosen
            .iter()
            .find(|it| it.name == name && (it.way == Way::Java) == is_java);
        let verdict = judge(found.unwrap(), &free[key], seen, false);
        assert!(!verdict.has_succeeded(), "{key}: {verdict:?}");
        refused += usize::from(matches!(verdict, Verdict::Refused(_)));
    }
    assert!(refused > 100, "only {refused} attempts prove anything");
}
