//! Where failures come from, as `culprit debug` and `culprit minimize` tell it after each test.

use std::fs;
use std::path::Path;

use crate::debug::{Program, junit_5, says};
use crate::mock::launched;
use crate::stage::skipped;

/// The methods of the first test's origin, the likeliest first.
fn methods(program: &Program) -> Vec<String> {
    let report = program.report();
    let methods = report["origin"]["methods"].as_array().unwrap().iter();
    let name = |it: &serde_json::Value| it["method"].as_str().unwrap().to_owned();
    methods.map(name).collect()
}

#[test]
fn a_chain_leads_from_the_failure_to_the_call_that_caused_it() {
    let program = Program::compile("crash", &[]);
    let ended = program.debug(&["depot.Main"]);
    says(
        &ended,
        0,
        "where it comes from, the failure first: Belt.java:29 Belt.java:28 confirmed: if this goes the other way, \
         nothing fails",
    );
    // The exception; the condition; the element that is null; the index; the array that grew wrongly.
    let chain: Vec<_> = program.report()["origin"]["chain"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| link["line"].as_u64().unwrap())
        .collect();
    for line in [29, 28, 27, 41] {
        assert!(chain.contains(&line), "{chain:?}");
    }
    assert!(methods(&program).contains(&"grow".to_owned()));
}

#[test]
fn the_report_shows_what_decides_and_the_lines_in_their_source() {
    let program = Program::compile("crash", &[]);
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/debug/crash/lib");
    let sources = program.path("src/main/java/belts");
    fs::create_dir_all(&sources).unwrap();
    fs::copy(fixture.join("belts/Belt.java"), sources.join("Belt.java")).unwrap();
    let ended = program.debug(&["depot.Main"]);
    says(&ended, 0, "Belt.java:28  if (parcel == null) { confirmed");
    let origin = program.report()["origin"].clone();
    let headline = origin["headline"].as_str().unwrap();
    assert!(headline.contains(" is decided at Belt.java:"), "{headline}");
    let link = |line| {
        let mut links = origin["chain"].as_array().unwrap().iter();
        links.find(|link| link["line"] == line).unwrap()
    };
    let dependence = |line| link(line)["dependence"].clone();
    assert_eq!(dependence(28)["kind"], "branch", "{origin}");
    let variable = serde_json::json!({ "kind": "variable", "name": "parcel" });
    assert_eq!(dependence(27), variable, "{origin}");
    assert_eq!(dependence(41)["kind"], "field", "{origin}");
    let mut excerpts = origin["excerpts"].as_array().unwrap().iter();
    let take = excerpts.find(|it| it["method"] == "take").unwrap();
    let mut lines = take["lines"].as_array().unwrap().iter();
    let line = lines.find(|it| it["line"] == 28).unwrap();
    assert_eq!(line["code"], "        if (parcel == null) {");
    assert_eq!(line["mark"], "confirmed");
    let page = fs::read_to_string(program.path("out/report.html")).unwrap();
    assert!(page.contains(&format!("<h1>{}", &headline[..22])), "{page}");
    assert!(page.contains("<svg class=\"chain\""));
    assert!(page.contains(">field first</text>"), "{page}");
    let text = fs::read_to_string(program.path("out/report.md")).unwrap();
    assert!(
        text.contains("\n!    28  if (parcel == null) {\n"),
        "{text}"
    );
}

#[test]
fn a_wrong_result_leads_to_the_comparison_that_decides_it() {
    let Some(console) = junit_5() else {
        return skipped("JUnit 5");
    };
    let program = Program::compile("assertion", &[console]);
    let ended = program.debug(&launched("postage.TariffTest"));
    says(
        &ended,
        0,
        "Tariff.java:24 confirmed: if this goes the other way, nothing fails",
    );
    let chain = program.report()["origin"]["chain"].clone();
    let mut links = chain.as_array().unwrap().iter();
    let decides = links.find(|link| link["line"] == 24).unwrap();
    assert_eq!(decides["evidence"], "confirmed", "{chain}");
    assert_eq!(methods(&program).first().unwrap(), "price");
}

/// A wrong text passes through streams of the JDK, a wrong status only through conditions of the script.
#[test]
fn a_wrong_output_or_status_leads_to_the_sum_that_is_wrong() {
    for (condition, word) in [("output contains -4 to pay", "print"), ("exit 3", "exit")] {
        let program = Program::compile("wrong", &[]);
        let ended = program.debug_with(&["--fails-if", condition], &["market.Main", word]);
        says(&ended, 0, "where it comes from, the failure first:");
        assert_eq!(methods(&program).first().unwrap(), "total", "{condition}");
        let chain = program.report()["origin"]["chain"].clone();
        let mut links = chain.as_array().unwrap().iter();
        assert!(links.any(|link| link["method"] == "total"), "{chain}");
    }
}

#[test]
fn no_experiment_is_made_beyond_the_limits() {
    let program = Program::compile("crash", &[]);
    program.record(&["--contents", "--observe", "belts.**"], &["depot.Main"]);
    let ended = program.culprit(["minimize", "run", "-o", "out", "--max-tests", "40"]);
    says(&ended, 0, "may not be minimal: --max-tests was reached");
    let experiments = &program.report()["origin"]["experiments"];
    assert!(experiments.is_null() || experiments == 0, "{experiments}");
}

/// The test passes with two pieces, or without the removal; the value there confirms the link.
#[test]
fn values_of_runs_that_pass_confirm_links() {
    let program = Program::compile("neighbour", &[]);
    let ended = program.debug(&["quay.Main", "stock"]);
    says(
        &ended,
        0,
        "Stock.java:20 confirmed: with 1 instead of 0 here, as when Stock.add gets 2 instead of 1, nothing fails",
    );
    let origin = program.report()["origin"].clone();
    assert_eq!(
        origin["neighbours"],
        serde_json::json!(["when Stock.add gets 2 instead of 1", "without Stock.remove"])
    );
    let mut links = origin["chain"].as_array().unwrap().iter();
    let link = links.find(|link| link["line"] == 20).unwrap();
    assert_eq!(
        (&link["value"], &link["passing"]["value"]),
        (&"0".into(), &"1".into())
    );
}

/// No value leads from the branch to the failure: the assignment behind it did not run.
#[test]
fn a_branch_decides_by_code_that_did_not_run() {
    let program = Program::compile("neighbour", &[]);
    let ended = program.debug(&["quay.Main", "gate"]);
    says(
        &ended,
        0,
        "nothing fails either if this goes the other way: Gate.java:8",
    );
    let omissions = program.report()["origin"]["omissions"].clone();
    assert_eq!(omissions[0]["line"], 8, "{omissions}");
}

#[test]
fn an_exception_comes_from_where_it_was_thrown_first() {
    let program = Program::compile("finally", &[]);
    let ended = program.debug(&["quarry.Main"]);
    // Not from the end of `finally`; and messages of woven code name another expression that is null.
    says(
        &ended,
        0,
        "where it comes from, the failure first: Crane.java:16 confirmed: with \"steel\" instead of null here",
    );
    says(
        &ended,
        0,
        "Crane.java:9 confirmed: if this goes the other way, nothing fails",
    );
}
