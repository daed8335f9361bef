//! `culprit slice` on results of `debug` and `minimize`, and on recordings.

use std::fs;
use std::path::{Path, PathBuf};

use culprit_report::document::conforming;
use culprit_report::slice::SliceDocument;
use serde_json::Value;

use crate::debug::{Program, junit_5, says};
use crate::mock::launched;
use crate::process::{self, Ended};
use crate::stage::skipped;

/// A program with the sources where projects have them, debugged.
fn debugged(name: &str, main: &str) -> Program {
    let program = Program::compile(name, &[]);
    let ended = program.debug(&[main]);
    says(&ended, 0, "compiled and run: fails the same way");
    program
}

fn fixture(name: &str) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/debug");
    fixtures.join(name)
}

fn slice(program: &Program, words: &[&str]) -> Ended {
    program.culprit(["slice"].iter().chain(words))
}

/// The document of a slice.
#[track_caller]
fn document(program: &Program, words: &[&str]) -> Value {
    let ended = slice(program, &[words, &["--json"]].concat());
    assert_eq!(ended.status, 0, "{}", ended.err);
    conforming::<SliceDocument>(&ended.out).unwrap()
}

/// The lines of a document, with their files.
fn lines(document: &Value) -> Vec<(String, u64)> {
    let lines = document["lines"].as_array().unwrap().iter();
    let line = |it: &Value| {
        let file = it["file"].as_str().unwrap_or_default().to_owned();
        (file, it["line"].as_u64().unwrap_or_default())
    };
    lines.map(line).collect()
}

fn has(document: &Value, line: u64) -> bool {
    lines(document).contains(&("Belt.java".to_owned(), line))
}

#[test]
fn the_slice_of_a_test_has_the_lines_of_the_failure_with_their_source() {
    let program = debugged("crash", "depot.Main");
    let sources = fixture("crash").join("lib/belts");
    fs::create_dir_all(program.path("src/belts")).unwrap();
    for file in ["Belt.java", "Parcel.java", "Scale.java"] {
        fs::copy(sources.join(file), program.path("src/belts").join(file)).unwrap();
    }
    let ended = slice(&program, &["out"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    insta::assert_snapshot!(ended.out);
    assert!(ended.out.lines().all(|line| line.chars().count() <= 80));
    let all = document(&program, &["out"]);
    // The throw; its condition; the element that is null; the array that grew wrongly.
    for line in [29, 28, 27, 41] {
        assert!(has(&all, line), "{line}: {all}");
    }
    let throws = all["lines"].as_array().unwrap().iter();
    let throws = throws.filter(|it| it["isCriterion"] == true);
    assert_eq!(throws.map(|it| &it["line"]).collect::<Vec<_>>(), [29]);
    assert_eq!(all["partial"], Value::Null);
    // The test itself is as good as its folder.
    assert_eq!(document(&program, &["out/tests/belts/BeltTest.java"]), all);
    let graph = slice(&program, &["out", "--dot"]);
    assert!(graph.out.starts_with("digraph slice {\n"), "{}", graph.out);
    assert!(graph.out.contains("Belt.java:29"), "{}", graph.out);
}

#[test]
fn a_slice_starts_from_a_line_or_a_variable_and_goes_either_way() {
    let program = debugged("crash", "depot.Main");
    let back = document(&program, &["out", "--from", "belts.Belt:28"]);
    assert!(has(&back, 27) && !has(&back, 29), "{back}");
    let forward = document(&program, &["out", "--from", "Belt:27", "--forward"]);
    assert!(has(&forward, 28) && has(&forward, 29), "{forward}");
    assert!(!has(&forward, 41), "{forward}");
    let named = back["lines"].as_array().unwrap().iter();
    let named: Vec<&Value> = named
        .flat_map(|line| line["dependences"].as_array().unwrap())
        .filter(|it| it["kind"] == "variable")
        .collect();
    let name = named.first().and_then(|it| it["name"].as_str()).unwrap();
    let on = named[0]["on"].as_u64().unwrap();
    let mut all = back["lines"].as_array().unwrap().iter();
    let assigned = all.find(|it| it["id"] == on).unwrap();
    let from = format!("Belt.java:{}:{name}", assigned["line"]);
    let of_variable = document(&program, &["out", "--from", &from]);
    assert_eq!(of_variable["from"], from);
    for (from, message) in [
        (
            "Belt:1",
            "nothing was computed at Belt:1\n  lines of it that computed something: ",
        ),
        ("Belt:27:nix", "Belt:27 assigns no nix\n"),
        ("depot.Nix:3", "no code of depot.Nix ran\n"),
        (
            "result",
            "the last call threw an exception, and has no result\n",
        ),
    ] {
        says(&slice(&program, &["out", "--from", from]), 1, message);
    }
    let ended = slice(&program, &["out", "--from", "Belt"]);
    says(&ended, 2, "write failure, result, CLASS:LINE");
}

#[test]
fn a_recording_is_sliced_as_a_whole() {
    let program = Program::compile("crash", &[]);
    program.record(&["--contents", "--observe", "belts.**"], &["depot.Main"]);
    let whole = document(&program, &["run"]);
    assert!(has(&whole, 29) && has(&whole, 41), "{whole}");
    let ended = program.culprit(["minimize", "run", "-o", "out"]);
    says(&ended, 0, "compiled and run: fails the same way");
    let minimal = document(&program, &["out"]);
    assert!(has(&minimal, 29) && has(&minimal, 41), "{minimal}");
    let calls = |it: &Value| it["calls"].as_array().unwrap().len();
    assert!(calls(&minimal) <= calls(&whole), "{minimal} {whole}");
}

#[test]
fn a_failed_assertion_leads_to_the_actual_value() {
    let Some(console) = junit_5() else {
        return skipped("JUnit 5");
    };
    let program = Program::compile("assertion", &[console]);
    let ended = program.debug(&launched("postage.TariffTest"));
    says(&ended, 0, "compiled and run: fails the same way");
    let all = document(&program, &["out"]);
    let decides = ("Tariff.java".to_owned(), 24);
    assert!(lines(&all).contains(&decides), "{all}");
    assert!(
        lines(&all).iter().all(|(file, _)| file == "Tariff.java"),
        "{all}"
    );
}

#[test]
fn a_trace_that_is_too_long_gives_a_partial_slice() {
    let program = debugged("long", "count.Main");
    assert_eq!(lines(&document(&program, &["out"])).len(), 5);
    let limit = ["out", "--max-trace", "200K"];
    let message = "the trace ends before the exception was thrown: the run has more than 200 KB of events\n  \
                   trace more with --max-trace";
    says(&slice(&program, &limit), 1, message);
    let ended = slice(&program, &[&limit[..], &["--from", "Tally:14"]].concat());
    says(
        &ended,
        0,
        "the trace ends before the run does: the slice is partial\n  trace more",
    );
    assert!(
        ended.out.contains("partial: the run has more than"),
        "{}",
        ended.out
    );
    assert!(ended.out.contains("field step from 9"), "{}", ended.out);
}

#[test]
fn a_run_that_initialises_much_is_traced_without_that() {
    let program = debugged("registry", "desk.Main");
    let ended = slice(&program, &["out", "--max-trace", "1M"]);
    let warning = "static initialisers are not traced: the slice is partial\n  trace more";
    says(&ended, 0, warning);
    for text in [
        "partial: static initialisers are left out: with them, the run has more than 1 MB",
        "Towns.named\n",
        ">     21\n",
    ] {
        assert!(ended.out.contains(text), "{}", ended.out);
    }
}

#[test]
fn classes_without_line_numbers_are_sliced_by_method() {
    let program = Program::compile("crash", &[]);
    let files = fs::read_dir(fixture("crash").join("lib/belts")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut javac = program.stage.javac(program.home.path());
    javac.args(["-g:none", "-d", "lib"]).args(files);
    assert_eq!(process::run(&mut javac).status, 0);
    let ended = program.debug(&["depot.Main"]);
    says(&ended, 0, "compiled and run: fails the same way");
    let ended = slice(&program, &["out"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    let words: Vec<&str> = ended.out.split_whitespace().collect();
    let text = words.join(" ");
    assert!(text.contains("belts.Belt has no line numbers"), "{text}");
    assert!(text.contains("compile with -g to see lines"), "{text}");
    let of_line = slice(&program, &["out", "--from", "Belt:27"]);
    says(
        &of_line,
        1,
        "Belt has no line numbers\n  compile it with line numbers (javac -g)",
    );
}

#[test]
fn an_exception_of_native_code_depends_on_what_it_was_given() {
    let program = debugged("natively", "desk.Main");
    let all = document(&program, &["out"]);
    let numbers: Vec<u64> = lines(&all).into_iter().map(|(_, line)| line).collect();
    // The field, its change, the array that is too short, and the call.
    assert_eq!(numbers, [5, 8, 12, 13], "{all}");
}

#[test]
fn several_tests_are_named_one_by_one() {
    let program = debugged("crash", "depot.Main");
    let script = program.path("out/scripts/tests/belts/BeltTest.script");
    fs::copy(&script, script.with_file_name("OtherTest.script")).unwrap();
    let ended = slice(&program, &["out"]);
    says(&ended, 2, "out has 2 tests\n  name one of them:\n");
    assert!(
        ended
            .err
            .contains("culprit slice out/tests/belts/BeltTest.java")
    );
}

#[test]
fn a_path_without_a_failure_has_a_next_step() {
    let program = debugged("crash", "depot.Main");
    says(&slice(&program, &["nix"]), 2, "nix: no such file or folder");
    says(&slice(&program, &["app"]), 4, "app contains no recording");
    fs::write(program.path("Nix.java"), "").unwrap();
    let message = "Nix.java is no test that can be sliced\n  name a test in the result folder";
    says(&slice(&program, &["Nix.java"]), 2, message);
    // The witness has no calls, and the scripts are of other tests.
    fs::remove_dir_all(program.path("out/scripts")).unwrap();
    says(
        &slice(&program, &["out"]),
        1,
        "out has no test that can be sliced\n",
    );
    fs::create_dir_all(program.path("out/scripts/tests")).unwrap();
    fs::write(program.path("out/scripts/tests/A.script"), "script 1\n").unwrap();
    says(
        &slice(&program, &["out"]),
        4,
        "cannot be read: it does not begin with",
    );
}

#[test]
fn a_script_that_was_changed_runs_only_where_it_is_trusted() {
    let program = debugged("crash", "depot.Main");
    let script = program.path("out/scripts/tests/belts/BeltTest.script");
    let text = fs::read_to_string(&script).unwrap();
    fs::write(&script, format!("{text}\n// changed\n")).unwrap();
    let ended = slice(&program, &["out"]);
    says(
        &ended,
        2,
        "was not made here, and names code of this machine to run",
    );
    assert!(has(&document(&program, &["out", "--trust"]), 29));
    let class_path = ["out", "--class-path", "lib:app"];
    assert!(has(&document(&program, &class_path), 29));
    fs::remove_dir_all(program.path("lib")).unwrap();
    let ended = slice(&program, &["out", "--trust"]);
    says(
        &ended,
        3,
        "the program has no class belts.Belt any more\n  build it again",
    );
}
