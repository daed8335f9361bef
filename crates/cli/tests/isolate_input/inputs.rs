//! What inputs may be, and which of them cannot be used.

use std::fs;

use crate::stage::{Stage, Told};

#[test]
fn bad_input_has_a_message_and_a_code() {
    let stage = Stage::new();
    stage.put("a.txt", "abc\n");
    stage.put("b.txt", "abd\n");
    stage.put("empty", "");
    fs::create_dir(stage.path().join("folder")).unwrap();
    let check = |words: &[&str], status: i32, message: &str| {
        let mut culprit = stage.culprit(&[words, &["-o", "results"]].concat());
        let told = Told::of(culprit.env("COLUMNS", "80").output().unwrap());
        assert_eq!(told.status, Some(status), "{words:?}: {}", told.err);
        let unwrapped = told.err.replace("\n  ", " ");
        assert!(unwrapped.contains(message), "{words:?}: {}", told.err);
        assert!(told.err.lines().count() >= 2, "no next step: {}", told.err);
        let is_ours = told.err.starts_with("culprit: ");
        let wide = |line: &str| is_ours && line.chars().count() > 80;
        assert!(!told.err.lines().any(wide), "{}", told.err);
        let _ = fs::remove_dir_all(stage.path().join("results"));
    };
    check(
        &["--test", "true", "a.txt"],
        1,
        "does not fail: it exits with status 0 on a.txt",
    );
    check(
        &["--test", "true", "a.txt"],
        1,
        "--repeat N runs the test N times",
    );
    check(
        &["--test", "false", "a.txt"],
        1,
        "fails on an empty input too",
    );
    check(
        &["--test", "false", "a.txt", "--resume"],
        2,
        "there is nothing to resume in results",
    );
    check(
        &["--test", "rm -rf results; ! grep -q abc {}", "a.txt"],
        2,
        "check that the folder (-o) still exists",
    );
    check(
        &["--test", "false", "a.txt", "--passing", "b.txt"],
        1,
        "fails on b.txt too",
    );
    check(
        &["--test", "no-such-program", "a.txt"],
        3,
        "cannot be run: it exits with status 127",
    );
    check(
        &["--interesting", "no-such-program", "a.txt"],
        3,
        "cannot be run: it exits with status 127",
    );
    check(
        &["--test", "./a.txt", "a.txt"],
        3,
        "cannot be run: it exits with status 126",
    );
    check(
        &["--test", "sleep 50; true", "--timeout", "300ms", "a.txt"],
        3,
        "does not end in time",
    );
    check(&["--test", "false", "empty"], 2, "empty is empty");
    check(&["--test", "false", "missing"], 2, "cannot use missing");
    check(
        &["--test", "false", "a.txt", "--passing", "a.txt"],
        2,
        "are the same",
    );
    check(
        &["--test", "false", "a.txt", "--passing", "folder"],
        2,
        "one side is a file",
    );
    let folder_on_stdin = ["--stdin", "--test", "false", "folder"];
    check(&folder_on_stdin, 2, "folder is a folder");
    check(
        &["--test", "test ! -s {} || exit 1; exit 125", "a.txt"],
        1,
        "neither passes nor fails",
    );
    check(&["a.txt"], 2, "--test");
    check(
        &["--test", "x", "--fail-if", "sometimes", "a.txt"],
        2,
        "write 'stderr contains",
    );
    check(
        &["--test", "x", "--language", "cobol", "a.txt"],
        2,
        "write none",
    );
}

#[test]
fn a_link_that_is_a_folder_elsewhere_is_not_written_through() {
    let stage = Stage::new();
    for folder in ["theirs", "good", "bad/conf"] {
        fs::create_dir_all(stage.path().join(folder)).unwrap();
    }
    let theirs = stage.path().join("theirs").canonicalize().unwrap();
    std::os::unix::fs::symlink(&theirs, stage.path().join("good/conf")).unwrap();
    for (name, text) in [
        ("theirs/a", "theirs"),
        ("good/c", "1\n"),
        ("bad/c", "2\n"),
        ("bad/conf/a", "BUG\n"),
        ("bad/conf/b", "2\n"),
    ] {
        stage.put(name, text);
    }
    let test = "! grep -q BUG {}/conf/a";
    let told = stage.run(&["--test", test, "bad", "--passing", "good"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert_eq!(stage.text("theirs/a"), "theirs");
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 1);
    let failing = stage.text("culprit-isolate/failing/conf/a");
    assert!(failing.contains("BUG"), "{failing}");
}

#[test]
fn a_file_may_have_any_name() {
    let stage = Stage::new();
    let deep = ["a-long-name-of-a-folder"; 12].join("/");
    fs::create_dir_all(stage.path().join("folder").join(&deep)).unwrap();
    let ending = format!("x.{}", "y".repeat(248));
    let inside = format!("folder/{deep}/x.txt");
    for name in ["tmp", &ending, &inside] {
        stage.put(name, "1\nBUG\n3\n");
    }
    for (number, name) in ["tmp", &ending, "folder"].into_iter().enumerate() {
        let out = format!("out-{number}");
        let words = ["--simplify", "--test", "! grep -rq BUG {}", name];
        let told = stage.run(&[&words[..], &["-o", &out]].concat());
        assert_eq!(told.status, Some(0), "{}", told.err);
        assert!(told.out.starts_with("3 of 8 bytes fail"), "{}", told.out);
    }
}

#[test]
fn a_file_is_looked_at_again_when_another_changed() {
    let stage = Stage::new();
    fs::create_dir(stage.path().join("folder")).unwrap();
    stage.put("folder/a.txt", "coredef");
    stage.put("folder/b.txt", "keepu");
    // What is behind `core` can go when `u` is gone.
    let test = "grep -q core {}/a.txt && grep -q keep {}/b.txt || exit 0
                ! grep -q u {}/b.txt || test $(cat {}/a.txt) = coredef || exit 0; exit 1";
    let told = stage.run(&["--simplify", "--verbatim", "--test", test, "folder"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(told.out.starts_with("8 of 12 bytes fail"), "{}", told.out);
}

#[cfg(unix)]
#[test]
fn a_folder_has_links_modes_and_things_that_cannot_be_read() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let stage = Stage::new();
    let at = |name: &str| stage.path().join(name);
    fs::create_dir_all(at("in/sub")).unwrap();
    stage.put("shared.txt", "shared\n");
    stage.put("in/run.sh", "#!/bin/sh\n");
    stage.put("in/sub/data", "good\nbad\n");
    symlink("../shared.txt", at("in/link")).unwrap();
    fs::set_permissions(at("in/run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    let test = "cd {} || exit 125; test -x run.sh || exit 125; \
                ! (grep -q bad sub/data && grep -q shared link) 2>/dev/null";
    let told = stage.run(&["--simplify", "--verbatim", "--test", test, "in"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert_eq!(stage.text("culprit-isolate/failing/sub/data").trim(), "bad");
    assert!(at("culprit-isolate/failing/link").is_symlink());
    let mode = fs::metadata(at("culprit-isolate/failing/run.sh")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o100, 0o100);
    // Even root cannot read this one.
    #[cfg(target_os = "linux")]
    {
        let told = stage.run(&["--test", "false", "/proc/self/mem", "-o", "no"]);
        assert_eq!(told.status, Some(2), "{}", told.err);
        assert!(
            told.err.contains("cannot use /proc/self/mem"),
            "{}",
            told.err
        );
        assert!(!at("no").exists());
    }
}

#[cfg(unix)]
#[test]
fn a_program_stays_one() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    let at = |name: &str| stage.path().join(name);
    stage.put("run.sh", "#!/bin/sh\necho one\nexit 3\n");
    fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let told = stage.run(&["--test", "{}; test $? -ne 3", "run.sh"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    for name in ["culprit-isolate/failing.sh", "culprit-isolate/passing.sh"] {
        let mode = fs::metadata(at(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_mode_is_looked_at_by_itself() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    let at = |name: &str| stage.path().join(name);
    for (folder, text, mode) in [("good", "1\n2\n3\n", 0o644), ("bad", "1\n2\nx\n", 0o755)] {
        fs::create_dir(at(folder)).unwrap();
        stage.put(&format!("{folder}/run"), text);
        fs::set_permissions(at(folder).join("run"), fs::Permissions::from_mode(mode)).unwrap();
    }
    let words = ["bad", "--passing", "good", "--test"];
    let run = |test, out| stage.run(&[&words[..], &[test, "-o", out]].concat());
    let told = run("! test -x {}/run", "by-mode");
    assert_eq!(told.status, Some(0), "{}", told.err);
    let expect = "the kind of a file decides, not its content";
    assert!(told.out.starts_with(expect), "{}", told.out);
    assert!(
        told.out.contains("run: mode 100644 passes, 100755 fails"),
        "{}",
        told.out
    );
    let diff = stage.text("by-mode/difference.diff");
    assert_eq!(
        diff,
        "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
    );
    let told = run("! grep -q x {}/run", "by-bytes");
    assert!(told.out.starts_with("1 byte decides"), "{}", told.out);
    // Only both together are one of the two.
    let test =
        "cd {}; if test -x run; then m=x; else m=3; fi; grep -q $m run || exit 125; test $m = 3";
    let told = run(test, "both");
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(told.out.starts_with("1 byte decides"), "{}", told.out);
    assert!(
        told.out.contains("mode 100644 passes, 100755 fails"),
        "{}",
        told.out
    );
}

#[cfg(unix)]
#[test]
fn an_input_may_be_where_nobody_writes_and_results_go_elsewhere() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new();
    let at = |name: &str| stage.path().join(name);
    fs::create_dir(at("locked")).unwrap();
    stage.put("locked/a.txt", "one\nbad\n");
    fs::set_permissions(at("locked/a.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(at("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    let told = stage.run(&["--test", "! grep -q bad", "locked/a.txt"]);
    fs::set_permissions(at("locked"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert_eq!(fs::read_dir(at("locked")).unwrap().count(), 1);
    // The folder of results is there now.
    let told = stage.run(&["--test", "! grep -q bad", "locked/a.txt"]);
    assert_eq!(told.status, Some(2), "{}", told.err);
    assert!(
        told.err.contains("culprit-isolate is not empty"),
        "{}",
        told.err
    );
    assert!(told.err.contains("--resume"), "{}", told.err);
    // Nothing can be made there.
    let told = stage.run(&["--test", "false", "locked/a.txt", "-o", "/proc/results"]);
    assert_eq!(told.status, Some(2), "{}", told.err);
    assert!(
        told.err.contains("cannot write to /proc/results"),
        "{}",
        told.err
    );
}

#[test]
fn what_is_neither_file_nor_folder_is_refused() {
    let told = Stage::new().run(&["--test", "true", "/dev/null"]);
    assert_eq!(told.status, Some(2), "{}", told.out);
    assert!(
        told.err.contains("neither a file nor a folder"),
        "{}",
        told.err
    );
}
