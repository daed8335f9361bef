//! How runs of a test are judged.

use std::fs;

use crate::stage::{Stage, Told};

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
fn another_message_than_at_first_is_told_with_both() {
    let stage = Stage::new();
    stage.put("a.txt", "one\nbad\nthree\n");
    let test = "grep -q bad {} || exit 0; n=$(wc -c <{}); \
        printf 'Exception in thread \"main\" java.lang.IllegalStateException: length %s\\n\\tat a.B.c(B.java:3)\\n' $n >&2; \
        exit 1";
    let told = stage.run(&["--simplify", "--test", test, "a.txt"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let said = told.err.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = "the failure differs from that of the whole input, which is: IllegalStateException \
                \"length 14\" at B.c (B.java:3); --same message";
    assert!(said.contains(note), "{}", told.err);
    let report: serde_json::Value =
        serde_json::from_str(&stage.text("culprit-isolate/report.json")).unwrap();
    let [now, first] = ["failure", "originalFailure"].map(|name| report[name].as_str().unwrap());
    assert!(
        now.contains("length 3") && first.contains("length 14"),
        "{report}"
    );
    let page = stage.text("culprit-isolate/report.md");
    assert!(page.contains("fails with another message"), "{page}");
    // Where the message is the same, nothing is said.
    let test = test.replace("$(wc -c <{})", "9");
    let told = stage.run(&["--simplify", "--test", &test, "a.txt", "-o", "same"]);
    assert!(!told.err.contains("differs from"), "{}", told.err);
}

#[test]
fn swapped_inputs_and_a_command_that_cannot_work_are_told_as_that() {
    let stage = Stage::new();
    stage.put("good.txt", "one\n");
    stage.put("bad.txt", "bad\n");
    let said = |words: &[&str]| {
        let told = stage.run(words);
        (
            told.status,
            told.err.split_whitespace().collect::<Vec<_>>().join(" "),
        )
    };
    let test = "! grep -q bad {}";
    let (status, err) = said(&["--test", test, "good.txt", "--passing", "bad.txt"]);
    assert_eq!(status, Some(1), "{err}");
    assert!(
        err.contains("passes on good.txt and fails on bad.txt: exits with status 1 are the two"),
        "{err}"
    );
    let (status, err) = said(&["--test", "echo no main class Foo; exit 1 #", "bad.txt"]);
    assert_eq!(status, Some(1), "{err}");
    assert!(
        err.contains("check the command it printed: no main class Foo"),
        "{err}"
    );
}
