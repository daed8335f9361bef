//! What is found, and how it is told.

use culprit_report::document::conforming;
use culprit_report::isolate::input::InputDocument;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::stage::{SELECT, Stage, Told};

#[test]
fn a_pair_is_shown_side_by_side_and_left_in_a_folder() {
    let stage = Stage::new();
    stage.put("print.txt", format!("one\n{SELECT}\nthree\n"));
    let told = stage.run(&["--test", "! grep -q '<SELECT'", "print.txt"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(
        told.out
            .starts_with("1 byte decides: exits with status 1\n"),
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
    let report: serde_json::Value = conforming::<InputDocument>(&at("report.json")).unwrap();
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
    let report: serde_json::Value = conforming::<InputDocument>(&told.out).unwrap();
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
    let report: serde_json::Value = conforming::<InputDocument>(&told.out).unwrap();
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

/// A script says yes or no, so an input that is merely broken would do for the other side.
#[test]
fn a_pair_by_a_script_is_well_formed_declares_its_names_and_says_what_it_cannot_tell() {
    let stage = Stage::new();
    let program = "import datetime\n\n\ndef day(number):\n    return datetime.date(2024, 1, number)\n\n\n\
                   days = [1, 2, 99, 3]\nfor number in days:\n    print(day(number))\n";
    stage.put("dates.py", program);
    let script = "python3 {} 2>&1 | grep -q ValueError";
    let told = stage.run(&["--interesting", script, "dates.py"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let headline = told.out.lines().next().unwrap();
    let expect = "bytes decide: the script finds it interesting";
    assert!(headline.ends_with(expect), "{}", told.out);
    assert!(told.out.contains("not interesting"), "{}", told.out);
    assert!(!told.out.contains("passes"), "{}", told.out);
    let side = |name: &str| stage.text(&format!("culprit-isolate/{name}.py"));
    assert_ne!(side("failing"), side("passing"));
    #[expect(clippy::disallowed_methods, reason = "what the user would run")]
    let ends = |name: &str| {
        let mut python = Command::new("python3");
        let path = stage.path().join(format!("culprit-isolate/{name}.py"));
        python.arg(path).output().unwrap().status.success()
    };
    assert_eq!(
        (ends("failing"), ends("passing")),
        (false, true),
        "{}",
        side("passing")
    );
    let said: Vec<&str> = told.err.split_whitespace().collect();
    let said = said.join(" ");
    assert!(said.contains("may fail in another way"), "{said}");
    assert!(
        said.contains("both inputs are well-formed (python)"),
        "{said}"
    );
    let report = stage.text("culprit-isolate/report.json");
    let report: serde_json::Value = conforming::<InputDocument>(&report).unwrap();
    assert_eq!(report["reservations"].as_array().unwrap().len(), 1);
    // A language that is not known is said to be so.
    stage.put("notes.txt", "one\nbad\n");
    let told = stage.run(&["--interesting", "grep -q bad {}", "notes.txt", "-o", "text"]);
    assert!(told.err.contains("not kept well-formed"), "{}", told.err);
}

#[test]
fn a_pair_by_a_sign_says_how_the_other_side_ends() {
    let stage = Stage::new();
    stage.put("notes.txt", "one\nbad\n");
    let test = "grep bad {} >&2; exit 3";
    let words = [
        "--fail-if",
        "stderr contains bad",
        "--test",
        test,
        "notes.txt",
    ];
    let told = stage.run(&words);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let headline = "1 byte decides: stderr contains bad\n";
    assert!(told.out.starts_with(headline), "{}", told.out);
    let ends = "the input that passes exits with status 3: it may fail in another way";
    assert!(told.err.contains(ends), "{}", told.err);
    let test = "grep bad {} >&2; exit 0";
    let words = [
        "--fail-if",
        "stderr contains bad",
        "--test",
        test,
        "notes.txt",
        "-o",
        "zero",
    ];
    let told = stage.run(&words);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(!told.err.contains("another way"), "{}", told.err);
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
