//! `culprit debug` on what programs do every day: caches, futures, injected fields, lines of a log, tests of TestNG.

use crate::debug::{Program, says};
use crate::library;
use crate::stage::skipped;

const FAILS: &str = "compiled and run: fails the same way";

/// Without the question, the cache of a fixed version evicts the same entry.
#[test]
fn a_question_that_changes_what_a_cache_evicts_is_kept() {
    let program = Program::compile("evicting", &[]);
    let ended = program.debug(&["desk.Main"]);
    says(&ended, 0, FAILS);
    assert!(ended.out.contains("cache.get(\"a\");"), "{}", ended.out);
}

/// A shorter line would fail for its date on a version that expects no number.
#[test]
fn what_is_left_of_a_text_passes_without_the_word_that_matters() {
    let program = Program::compile("shortened", &[]);
    let ended = program.debug(&["ops.Main"]);
    says(&ended, 0, FAILS);
    assert!(ended.out.contains("2024-01-02 10:05 ["), "{}", ended.out);
    assert!(ended.out.contains("took"), "{}", ended.out);
    assert!(!ended.out.contains("for another"), "{}", ended.out);
}

#[test]
fn an_object_that_the_program_puts_into_a_field_of_the_driver_is_read_from_there() {
    let program = Program::compile("injected", &[]);
    let ended = program.debug(&["hall.Main"]);
    says(&ended, 0, FAILS);
    assert!(ended.out.contains(".greet(\"Plato\");"), "{}", ended.out);
    assert!(ended.out.contains(".fill("), "{}", ended.out);
}

#[test]
fn an_exception_that_a_future_carries_to_the_driver_is_followed() {
    let program = Program::compile("carried", &[]);
    let ended = program.debug(&["market.Main"]);
    says(&ended, 0, FAILS);
    assert!(
        ended.out.contains(".lowest(\"LONG\").join();"),
        "{}",
        ended.out
    );
}

#[test]
fn a_test_that_testng_runs_by_itself_is_seen_to_fail() {
    let testng = library::jar("org.testng", "testng", "7.9.0", None);
    let arguments = library::jar("com.beust", "jcommander", "1.82", None);
    let log = library::jar("org.slf4j", "slf4j-api", "1.7.36", None);
    let (Some(testng), Some(arguments), Some(log)) = (testng, arguments, log) else {
        return skipped("TestNG");
    };
    let program = Program::compile("groups", &[testng, arguments, log]);
    let ended = program.debug(&[
        "org.testng.TestNG",
        "-usedefaultlisteners",
        "false",
        "-groups",
        "fast",
        "-testclass",
        "depot.ShelfTest",
    ]);
    says(&ended, 0, FAILS);
    assert!(
        ended.out.contains("shelf.between(\"cup\", \"jug\")"),
        "{}",
        ended.out
    );
    // The other test throws what it expects.
    assert!(!ended.err.contains("IllegalArgument"), "{}", ended.err);
}
