//! Environment variables of the command: for candidates and tests of the user's own program, not for the code of
//! strangers.

use culprit_report::debug::TestsDocument;
use culprit_report::document::conforming;
use std::fs;

use crate::debug::{Program, says};
use crate::process::{self, Ended, command};

/// The program under test fails with these variables alone.
const VARIABLES: [(&str, &str); 3] = [
    ("APP_MODE", "strict"),
    ("APP_LIMIT", "100"),
    ("APP_TOKEN", "hunter2"),
];

/// Runs `culprit` with a folder for what it keeps and with variables for the program.
fn culprit(program: &Program, cache: &str, words: &[&str]) -> Ended {
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), program.home.path());
    culprit
        .env("JAVA_HOME", &program.stage.jdk.home)
        .env("XDG_CACHE_HOME", program.path(cache))
        .envs(VARIABLES);
    process::run(culprit.args(words))
}

fn debug(program: &Program, arguments: &[&str]) -> Ended {
    let java = program.java(&[&["shop.Main"], arguments].concat());
    let java: Vec<&str> = java.iter().map(String::as_str).collect();
    culprit(
        program,
        "cache",
        &[&["debug", "-o", "out", "--"], &java[..]].concat(),
    )
}

fn report(program: &Program) -> serde_json::Value {
    let text = fs::read_to_string(program.path("out/report.json")).unwrap();
    let report: serde_json::Value = conforming::<TestsDocument>(&text).unwrap();
    report["tests"][0].clone()
}

#[test]
fn a_failure_that_needs_a_variable_is_found_and_the_variable_is_named() {
    let program = Program::compile("variables", &[]);
    let ended = debug(&program, &[]);
    says(&ended, 0, "compiled and run: fails the same way");
    says(&ended, 0, "; needs the environment variable APP_MODE\n");
    let comment = ended.out.replace("\n * ", " ");
    assert!(
        comment.contains("It needs the environment variable APP_MODE."),
        "{}",
        ended.out
    );
    let test = report(&program);
    let names = serde_json::json!(["APP_MODE"]);
    assert_eq!(test["environment"], names, "{test}");
    let read = |name: &str| fs::read_to_string(program.path(name)).unwrap();
    assert!(read("out/report.md").contains("needs the environment variable APP"));
    for file in ["out/report.md", "out/report.json", "out/repeat.sh"] {
        assert!(!read(file).contains("hunter2"), "{file}");
    }
}

#[test]
fn all_variables_that_a_failure_needs_are_named() {
    let program = Program::compile("variables", &[]);
    let ended = debug(&program, &["much"]);
    let named = "; needs the environment variables APP_LIMIT, APP_MODE\n";
    says(&ended, 0, named);
}

#[test]
fn a_failure_that_needs_no_variable_names_none() {
    let program = Program::compile("crash", &[]);
    let java = program.java(&["depot.Main"]);
    let java: Vec<&str> = java.iter().map(String::as_str).collect();
    let words = [&["debug", "-o", "out", "--"], &java[..]].concat();
    let ended = culprit(&program, "cache", &words);
    says(&ended, 0, "compiled and run: fails the same way");
    assert!(!ended.err.contains("environment"), "{}", ended.err);
    assert!(!ended.out.contains("environment"), "{}", ended.out);
    assert!(report(&program)["environment"].is_null());
}

#[test]
fn a_recording_of_this_user_gets_the_variables_and_one_from_elsewhere_does_not() {
    let program = Program::compile("variables", &[]);
    let java = program.java(&["shop.Main"]);
    let java: Vec<&str> = java.iter().map(String::as_str).collect();
    let record = ["record", "--quiet", "--contents", "--observe", "till.*"];
    let ended = culprit(
        &program,
        "cache",
        &[&record[..], &["-o", "run", "--"], &java].concat(),
    );
    assert_eq!(ended.status, 1, "{}", ended.err);
    let ended = culprit(&program, "cache", &["minimize", "run", "-o", "ours"]);
    says(&ended, 0, "; needs the environment variable APP_MODE\n");
    for more in [&["--trust"][..], &["--class-path", "lib:app"]] {
        let words = [&["minimize", "run", "-o", "theirs"], more].concat();
        let ended = culprit(&program, "elsewhere", &words);
        says(&ended, 1, "do not fail the same way: nothing is thrown");
        let _ = fs::remove_dir_all(program.path("theirs"));
    }
}
