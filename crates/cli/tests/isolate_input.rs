//! `culprit isolate input` as a user runs it, on commands that need no JVM.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

struct Stage(tempfile::TempDir);

struct Told {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Stage {
    fn new() -> Stage {
        Stage(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    #[expect(clippy::disallowed_methods, reason = "the command under test")]
    fn culprit(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_culprit"));
        command
            .args(["isolate", "input"])
            .args(words)
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> Told {
        Told::of(self.culprit(words).output().unwrap())
    }
}

impl Told {
    fn of(output: Output) -> Told {
        Told {
            status: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

const SELECT: &str = "<SELECT NAME=\"priority\" MULTIPLE SIZE=7>";

#[test]
fn a_pair_is_shown_side_by_side_and_left_in_a_folder() {
    let stage = Stage::new();
    stage.put("print.txt", format!("one\n{SELECT}\nthree\n"));
    let told = stage.run(&["--test", "! grep -q '<SELECT'", "print.txt"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(
        told.out.starts_with("1 byte decides: ends with 1\n"),
        "{}",
        told.out
    );
    assert!(
        told.out.contains('^') && told.out.contains("passes"),
        "{}",
        told.out
    );
    let at = |name: &str| stage.text(&format!("culprit-isolate/{name}"));
    let (passing, failing) = (at("passing.txt"), at("failing.txt"));
    assert!(failing.contains("<SELECT") && !passing.contains("<SELECT"));
    assert_eq!(failing.len(), passing.len() + 1);
    assert!(at("difference.diff").starts_with("--- a/print.txt\n+++ b/print.txt\n@@ "));
    assert!(at("report.md").contains("```diff"));
    let page = at("report.html");
    assert!(page.contains("<svg") && page.contains("<mark>") && !page.contains("http"));
    let lines = at("candidates.jsonl").lines().count();
    let report: serde_json::Value = serde_json::from_str(&at("report.json")).unwrap();
    assert_eq!(report["tests"], lines);
    assert_eq!(report["bytes"]["difference"], 1);
    assert_eq!(report["minimal"], true);
    // Nothing of the user's is changed.
    assert_eq!(stage.text("print.txt"), format!("one\n{SELECT}\nthree\n"));
    assert_eq!(fs::read_dir(stage.path()).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn the_script_repeats_it_elsewhere_whatever_the_name() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let binaries = Path::new(env!("CARGO_BIN_EXE_culprit")).parent().unwrap();
    let names = [
        &b"it's.txt"[..],
        b"-dash.txt",
        b"two\nlines.txt",
        b"\xff.txt",
    ];
    for name in names.map(OsStr::from_bytes) {
        let stage = Stage::new();
        fs::write(stage.path().join(name), "a\nbad\nc\n").unwrap();
        let mut culprit = stage.culprit(&["--test", "! grep -q bad {}", "-o", "first", "--"]);
        let told = Told::of(culprit.arg(name).output().unwrap());
        assert_eq!(told.status, Some(0), "{}", told.err);
        #[expect(clippy::disallowed_methods, reason = "what the user would run")]
        let again = Command::new("/bin/sh")
            .args(["first/repeat.sh", "second"])
            .current_dir(stage.path())
            .env("PATH", format!("{}:/usr/bin:/bin", binaries.display()))
            .output()
            .unwrap();
        assert_eq!(again.status.code(), Some(0), "{}", Told::of(again).err);
        for file in ["failing.txt", "difference.diff"] {
            let at = |folder: &str| fs::read(stage.path().join(folder).join(file)).unwrap();
            assert_eq!(at("first"), at("second"), "{name:?}");
        }
    }
}

#[test]
fn simplifying_gives_the_smallest_and_json_is_one_document() {
    let stage = Stage::new();
    stage.put("print.html", SELECT);
    let words = [
        "--simplify",
        "--json",
        "--interesting",
        "grep -q '<SELECT.*>'",
        "print.html",
    ];
    let told = stage.run(&words);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let report: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(report["bytes"]["failing"], 8);
    assert_eq!(stage.text("culprit-isolate/failing.html"), "<SELECT>");
    assert!(!stage.path().join("culprit-isolate/passing.html").exists());
}

/// An empty text is no JSON, so the other side is the document without what need not be there.
#[test]
fn where_nothing_has_no_verdict_the_least_of_the_language_is_the_other_side() {
    let stage = Stage::new();
    stage.put(
        "in.json",
        "{\"a\": [1, 2], \"b\": {\"c\": 666}, \"d\": 4}\n",
    );
    let test = "test -s {} || exit 125; ! grep -q 666 {}";
    let told = stage.run(&["--test", test, "in.json"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let passing = stage.text("culprit-isolate/passing.json");
    assert!(
        passing.starts_with('{') && !passing.contains("666"),
        "{passing}"
    );
    let told = stage.run(&[
        "--test",
        test,
        "--language",
        "none",
        "in.json",
        "-o",
        "as-text",
    ]);
    assert_eq!(told.status, Some(1), "{}", told.out);
    assert!(
        told.err.contains("neither passes nor fails"),
        "{}",
        told.err
    );
}

#[test]
fn bad_input_has_a_message_and_a_code() {
    let stage = Stage::new();
    stage.put("a.txt", "abc\n");
    stage.put("b.txt", "abd\n");
    stage.put("empty", "");
    fs::create_dir(stage.path().join("folder")).unwrap();
    let check = |words: &[&str], status: i32, message: &str| {
        let told = stage.run(&[words, &["-o", "results"]].concat());
        assert_eq!(told.status, Some(status), "{words:?}: {}", told.err);
        assert!(told.err.contains(message), "{words:?}: {}", told.err);
        assert!(told.err.lines().count() >= 2, "no next step: {}", told.err);
        let is_ours = told.err.starts_with("culprit: ");
        let wide = |line: &str| is_ours && line.chars().count() > 80;
        assert!(!told.err.lines().any(wide), "{}", told.err);
        let _ = fs::remove_dir_all(stage.path().join("results"));
    };
    check(
        &["--test", "true", "a.txt"],
        1,
        "does not fail: it ends with 0 on a.txt",
    );
    check(
        &["--test", "true", "a.txt"],
        1,
        "--repeat N runs it N times",
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
        "see whether the folder (-o) is still there",
    );
    check(
        &["--test", "false", "a.txt", "--passing", "b.txt"],
        1,
        "fails on b.txt too",
    );
    check(
        &["--test", "no-such-program", "a.txt"],
        3,
        "cannot be run: it ends with 127",
    );
    check(
        &["--interesting", "no-such-program", "a.txt"],
        3,
        "cannot be run: it ends with 127",
    );
    check(
        &["--test", "./a.txt", "a.txt"],
        3,
        "cannot be run: it ends with 126",
    );
    check(
        &["--test", "sleep 50; true", "--timeout", "300ms", "a.txt"],
        3,
        "does not end in time",
    );
    check(&["--test", "false", "empty"], 2, "nothing in empty");
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
fn lines_do_not_count_where_the_input_is_the_program() {
    // As an interpreter tells of it.
    let fails = "n=$(grep -n missing {} | cut -d: -f1); test -z \"$n\" && exit 0; \
        echo 'Traceback (most recent call last):' >&2; \
        echo \"  File \\\"FILE\\\", line $n, in check\" >&2; echo KeyError: 1 >&2; exit 1";
    let run = |words: &[&str], test: String| {
        let stage = Stage::new();
        stage.put("crash.txt", "one\ntwo\n\nthree\nfind missing here\nfour\n");
        let told = stage.run(&[words, &["--simplify", "--test", &test, "crash.txt"]].concat());
        assert_eq!(told.status, Some(0), "{}", told.err);
        stage.text("culprit-isolate/failing.txt")
    };
    assert_eq!(run(&[], fails.replace("FILE", "{}")), "missing");
    let stdin = fails.replace("{}", "-").replace("FILE", "<stdin>");
    assert_eq!(run(&["--stdin"], stdin), "missing");
    // The line of another file is the place of a failure.
    let other = run(&[], fails.replace("FILE", "lib.py"));
    assert_eq!(other.matches('\n').count(), 4, "{other}");
}

#[test]
fn a_flaky_test_is_repeated_and_its_rate_is_told() {
    let stage = Stage::new();
    stage.put("a.txt", "one\nbad\nthree\n");
    // Every other run on something bad fails.
    let test = "grep -q bad {} || exit 0; echo >>count; exit $(($(wc -l <count) % 2))";
    let told = stage.run(&["--jobs", "1", "--test", test, "a.txt"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(
        told.err
            .contains("fails 5 of 10 times; each candidate was run up to 6 times"),
        "{}",
        told.err
    );
    assert!(
        told.err
            .contains("files here changed meanwhile (count); --in-scratch"),
        "{}",
        told.err
    );
    let told = stage.run(&[
        "--in-scratch",
        "--test",
        "! grep -q bad {}; r=$?; echo >x; exit $r",
        "a.txt",
        "-o",
        "b",
    ]);
    assert!(!told.err.contains("changed meanwhile"), "{}", told.err);
}

#[test]
fn a_pair_that_is_not_seen_again_is_told_as_that() {
    let stage = Stage::new();
    stage.put("a.txt", "1\n2\nBUG\n4\n5\n");
    // What has no BUG passes once, and nothing but the empty file passes again.
    let test =
        "! grep -q BUG {} || exit 1; test -s {} || exit 0; mkdir seen-$(cksum <{} | tr -d ' ')";
    let told = stage.run(&["--test", test, "a.txt", "-o", "out"]);
    assert_eq!(told.status, Some(1), "{}", told.err);
    assert!(
        told.out.contains(" decides, which is not confirmed: "),
        "{}",
        told.out
    );
    let report = stage.text("out/report.md");
    assert!(!report.contains("actual cause"), "{report}");
    assert!(
        stage
            .text("out/report.json")
            .contains("\"confirmed\": false"),
        "{report}"
    );
}

#[test]
fn what_fails_and_is_not_seen_to_again_is_told_as_that() {
    let stage = Stage::new();
    stage.put("a.txt", "1\n2\nBUG\n4\n5\n");
    // The whole fails always, less of it once.
    let test = "grep -q BUG {} || exit 0; test $(wc -l <{}) = 5 && exit 1
                ! mkdir seen-$(cksum <{} | tr -d ' ')";
    let told = stage.run(&["--simplify", "--test", test, "a.txt", "-o", "out"]);
    assert_eq!(told.status, Some(1), "{}", told.err);
    let confirmed = told.err.replace("\n  ", " ");
    assert!(
        confirmed.contains("run again, what fails did so 0 of 11 times"),
        "{}",
        told.err
    );
    assert!(
        stage
            .text("out/report.json")
            .contains("\"confirmed\": false")
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

#[test]
fn what_a_test_writes_below_the_folder_is_told_and_what_it_reads_stays() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path().join("build/cache")).unwrap();
    stage.put("build/cache/old", "1");
    stage.put("a.txt", "one\nbad\n");
    let told = stage.run(&[
        "--test",
        "echo >>build/cache/old; ! grep -q bad {}",
        "a.txt",
    ]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let expect = "files here changed meanwhile (build/cache/old)";
    assert!(told.err.contains(expect), "{}", told.err);
    let test = "touch 1 2 3 4 5 6 7 8 9; ! grep -q bad {}";
    let told = stage.run(&["--test", test, "a.txt", "-o", "many"]);
    let expect = "changed meanwhile (1, 2, 3, 4, 5 and 4 more)";
    assert!(told.err.contains(expect), "{}", told.err);
    assert_eq!(stage.text("a.txt"), "one\nbad\n");
}

#[test]
fn two_files_are_compared_whatever_their_names() {
    let stage = Stage::new();
    stage.put("good.json", "{\"a\": [1, 2], \"b\": 1, \"c\": \"x\"}\n");
    stage.put(
        "bad.json",
        "{\"a\": [1, 3, 2], \"b\": 7, \"d\": {\"x\": null}}\n",
    );
    // What cannot be read has no verdict, and there is no need for such candidates.
    let test = "case $(basename {}) in bad.json) ;; *) exit 125;; esac; \
                python3 -c 'import json, sys; json.load(open(sys.argv[1]))' {} 2>/dev/null || exit 125; \
                ! grep -q 7 {}";
    let words = [
        "--json",
        "--test",
        test,
        "bad.json",
        "--passing",
        "good.json",
    ];
    let told = stage.run(&words);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let report: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(report["bytes"]["difference"], 1, "{report}");
    assert_eq!(report["unresolved"], 0, "{report}");
    let (failing, passing) = (
        "culprit-isolate/failing.json",
        "culprit-isolate/passing.json",
    );
    let changed = stage.text(failing).replace("\"b\": 7", "\"b\": 1");
    assert_eq!(changed, stage.text(passing));
    stage.put("same.json", stage.text("bad.json"));
    let told = stage.run(&[
        "--test",
        test,
        "bad.json",
        "--passing",
        "same.json",
        "-o",
        "x",
    ]);
    assert_eq!(told.status, Some(2), "{}", told.err);
    assert!(told.err.contains("are the same"), "{}", told.err);
}

#[test]
fn characters_are_not_cut() {
    let stage = Stage::new();
    stage.put("a.txt", "one \u{1f600} two\n");
    // Any part of the character would do.
    let told = stage.run(&[
        "--test",
        "LC_ALL=C; ! grep -q \"$(printf '\\360')\"",
        "a.txt",
    ]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(told.out.starts_with("4 bytes decide"), "{}", told.out);
    let passing = stage.text("culprit-isolate/passing.txt");
    assert!(!passing.contains('\u{1f600}'), "{passing}");
}

#[test]
fn line_ends_of_two_bytes_stay() {
    let stage = Stage::new();
    stage.put("a.txt", "one\r\ntwo\r\nbad\r\nfour\r\n");
    // A line that ends otherwise is none of the program's.
    let test = "grep -q 'bad' {} || exit 0; grep -qv '\r$' {} && exit 125; exit 1";
    let told = stage.run(&["--simplify", "--test", test, "a.txt"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert_eq!(stage.text("culprit-isolate/failing.txt"), "bad\r\n");
    let told = stage.run(&["--test", test, "a.txt", "-o", "pair"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let failing = stage.text("pair/failing.txt");
    assert!(failing.contains("bad\r\n"), "{failing:?}");
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
    let expect = "what a file is, and not its bytes, decides";
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
fn the_pair_fits_the_terminal() {
    let stage = Stage::new();
    let line = "x".repeat(90);
    stage.put("a.txt", format!("{line}\n{line}bad{line}\n{line}\n"));
    let mut culprit = stage.culprit(&["--test", "! grep -q bad", "a.txt"]);
    let told = Told::of(culprit.env("COLUMNS", "80").output().unwrap());
    assert_eq!(told.status, Some(0), "{}", told.err);
    let widest = told
        .out
        .lines()
        .skip(1)
        .map(|line| line.chars().count())
        .max();
    assert!(widest <= Some(80), "{}", told.out);
    assert!(told.out.contains('^'), "{}", told.out);
}

#[test]
fn the_failure_may_be_one_that_a_log_has() {
    let stage = Stage::new();
    stage.put("a.txt", "one\ntwo\nbad\n");
    let trace = |name: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"x.py\", line 3, in {name}\n    f()\nKeyError: 1\n"
        )
    };
    stage.put("parse.txt", trace("parse"));
    stage.put("print.txt", trace("print"));
    let test = "grep -q bad {} || exit 0; cat parse.txt >&2; exit 1";
    let told = stage.run(&["--test", test, "a.txt", "--like", "parse.txt"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(told.out.contains("KeyError in parse"), "{}", told.out);
    let told = stage.run(&["--test", test, "a.txt", "--like", "print.txt", "-o", "x"]);
    assert_eq!(told.status, Some(1), "{}", told.err);
    assert!(told.err.contains("fails in another way"), "{}", told.err);
    assert!(
        told.err.contains("--like asks for: KeyError in print"),
        "{}",
        told.err
    );
    let told = stage.run(&["--test", test, "a.txt", "--like", "a.txt", "-o", "x"]);
    assert_eq!(told.status, Some(2), "{}", told.err);
    assert!(told.err.contains("it has no stack trace"), "{}", told.err);
}

#[cfg(target_os = "linux")]
#[test]
fn processes_that_are_left_behind_are_ended_and_told_of() {
    let stage = Stage::new();
    stage.put("a.txt", "one\nbad\nthree\n");
    let test = "setsid sleep 7654 & ! grep -q bad {}";
    let told = stage.run(&["--test", test, "a.txt"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(told.err.contains("left processes behind"), "{}", told.err);
    let is_left = fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        words == b"sleep\x007654\0"
    });
    assert!(!is_left);
}

#[test]
fn another_failure_has_no_verdict() {
    let stage = Stage::new();
    stage.put("a.txt", "one\ntwo\nbad\nfour\nfive\n");
    // Without `two` it fails elsewhere.
    let test = "grep -q bad {} || exit 0; \
                if grep -q two {}; then f=parse; else f=print; fi; \
                echo \"#0 0x1 in $f a.c:1\" >&2; exit 1";
    let told = stage.run(&["--simplify", "--verbatim", "--test", test, "a.txt"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(told.out.contains("in parse (a.c:1)"), "{}", told.out);
    let failing = stage.text("culprit-isolate/failing.txt");
    assert!(
        failing.contains("two") && failing.contains("bad"),
        "{failing}"
    );
    let told = stage.run(&[
        "--simplify",
        "--same",
        "any",
        "--test",
        test,
        "a.txt",
        "-o",
        "any",
    ]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert_eq!(stage.text("any/failing.txt"), "bad");
}

#[cfg(unix)]
/// A wrong answer and a crash both end with 1.
#[test]
fn a_crash_is_not_the_failure_of_a_test_that_did_not_crash() {
    let stage = Stage::new();
    stage.put("a.txt", "one\nBUG\n");
    let trace = "Traceback (most recent call last):\\n  File \"p.py\", line 3, in parse\\nValueError: no\\n";
    let test = format!("test -s {{}} || {{ printf '{trace}' >&2; exit 1; }}; ! grep -q BUG {{}}");
    let told = stage.run(&["--test", &test, "a.txt"]);
    assert_eq!(told.status, Some(1), "{}", told.out);
    assert!(
        told.err.contains("neither passes nor fails"),
        "{}",
        told.err
    );
}

#[test]
fn what_git_was_told_of_the_users_repository_tests_do_not_hear() {
    let stage = Stage::new();
    stage.put("a.txt", "one\nBUG\n");
    let test = "test -z \"$GIT_DIR$GIT_INDEX_FILE\" || exit 125; ! grep -q BUG {}";
    let mut culprit = stage.culprit(&["--test", test, "a.txt"]);
    culprit
        .env("GIT_DIR", stage.path())
        .env("GIT_INDEX_FILE", "index");
    let told = Told::of(culprit.output().unwrap());
    assert_eq!(told.status, Some(0), "{}", told.err);
}

#[test]
fn verdicts_are_not_those_of_another_pair_and_are_not_lost() {
    let stage = Stage::new();
    stage.put("a.txt", "1\nBUG\n3\n4\n");
    stage.put("b.txt", "1\n2\n3\n4\n");
    stage.put("c.txt", "0\n2\n3\n4\n");
    let with = |passing: &str, more: &[&str]| {
        let words = ["--test", "! grep -q BUG", "a.txt", "--passing", passing];
        stage.run(&[&words[..], more].concat())
    };
    assert_eq!(with("b.txt", &[]).status, Some(0));
    let pair = stage.text("culprit-isolate/difference.diff");
    // Verdicts of another pair, or of another wish, are not gone on with.
    for told in [
        with("c.txt", &["--resume"]),
        with("b.txt", &["--resume", "--simplify"]),
    ] {
        assert_eq!(told.status, Some(2), "{}", told.err);
        assert!(
            told.err.contains("are of another input, test or wish"),
            "{}",
            told.err
        );
    }
    assert_eq!(stage.text("culprit-isolate/difference.diff"), pair);
    // What cannot go on leaves what there was.
    let before = stage.text("culprit-isolate/candidates.jsonl");
    let told = stage.run(&["--test", "true", "a.txt", "--passing", "b.txt", "--resume"]);
    assert_eq!(told.status, Some(2), "{}", told.out);
    assert_eq!(stage.text("culprit-isolate/candidates.jsonl"), before);
    assert_eq!(with("b.txt", &["--resume"]).status, Some(0));
    // Git overlooks the folder.
    assert_eq!(stage.text("culprit-isolate/.gitignore"), "*\n");
}

#[test]
fn a_test_that_changed_is_noticed_when_it_is_gone_on_with() {
    let stage = Stage::new();
    let lines: Vec<String> = (100..200).map(|number| format!("{number}\n")).collect();
    stage.put("a.txt", lines.concat());
    stage.put("wanted", "177");
    let words = ["--simplify", "--test", "! grep -qf wanted {}", "a.txt"];
    assert_eq!(stage.run(&words).status, Some(0));
    stage.put("wanted", "155");
    let told = stage.run(&[&words[..], &["--resume"]].concat());
    assert_eq!(told.status, Some(1), "{}", told.out);
    assert!(told.err.contains("are not so any more"), "{}", told.err);
}

#[test]
fn time_that_is_up_is_told_as_that() {
    let stage = Stage::new();
    stage.put("a.txt", "one\nbad\n");
    for goal in [&["--simplify"][..], &[]] {
        let words = [
            "--max-time",
            "1ms",
            "--test",
            "! grep -q bad {}",
            "a.txt",
            "-o",
        ];
        let out = format!("out{}", goal.len());
        let told = stage.run(&[&words[..], &[&out], goal].concat());
        assert_eq!(told.status, Some(0), "{}", told.err);
        assert!(told.err.contains("--max-time was reached"), "{}", told.err);
    }
}

#[test]
fn two_versions_of_a_program_stay_programs() {
    let stage = Stage::new();
    stage.put(
        "old.java",
        "class A {\n  static class Term {\n    int a(Ref t) { return 1; }\n  }\n}\n",
    );
    stage.put(
        "new.java",
        "class A {\n  record Term(Ref t, float b) {\n    int a(Ref s) { return 2; }\n  }\n}\n",
    );
    let test = "! grep -q 'Term(.*) {'";
    let told = stage.run(&["--test", test, "new.java", "--passing", "old.java"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let failing = stage.text("culprit-isolate/failing.java");
    assert!(failing.contains("record"), "{failing}");
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

#[test]
fn an_interrupted_run_leaves_its_best_and_goes_on_later() {
    let stage = Stage::new();
    let words: Vec<String> = (0..300).map(|number| format!("word{number}\n")).collect();
    stage.put("a.txt", words.concat());
    // It interrupts who runs it, once some verdicts are there.
    let test = "echo >>runs; test $(wc -l <runs) -ne 16 || kill -INT $PPID; \
                ! (grep -q word17 {} && grep -q word250 {})";
    let words = ["--jobs", "1", "--simplify", "--test", test, "a.txt"];
    let Told { status, err, .. } = stage.run(&words);
    assert_eq!(status, Some(130), "{err}");
    assert!(err.contains("may not be minimal: interrupted"), "{err}");
    let best = stage.text("culprit-isolate/failing.txt");
    assert!(best.contains("word17") && best.contains("word250") && best.len() < 2_000);
    let runs = stage.text("runs").lines().count();
    let told = stage.run(&[&words[..], &["--resume"]].concat());
    assert_eq!(told.status, Some(0), "{}", told.err);
    let report: serde_json::Value =
        serde_json::from_str(&stage.text("culprit-isolate/report.json")).unwrap();
    assert!(report["replayed"].as_u64().unwrap() >= 8, "{report}");
    let more = stage.text("runs").lines().count() - runs;
    assert_eq!(report["runs"].as_u64().unwrap(), more as u64, "{report}");
    assert_eq!(
        stage.text("culprit-isolate/failing.txt").len(),
        "word17word250".len()
    );
}
