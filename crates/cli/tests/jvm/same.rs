//! The same failure: messages that depend on how a program is run, and standard input for each run.

use std::fs;

use crate::debug::{Program, says};
use crate::library;
use crate::process::{self, command};
use crate::stage::skipped;

const ALIKE: &str = "fails the same way (same type, site, message and stack)";

#[test]
fn a_message_may_depend_on_how_the_program_is_run() {
    let program = Program::compile("messages", &[]);
    for mode in ["cast", "hash", "lambda", "time", "said", "half"] {
        let _ = fs::remove_dir_all(program.path("out"));
        let ended = program.debug(&["visit.Main", mode]);
        says(&ended, 0, ALIKE);
        let call = match mode {
            "cast" => "zoo.dog(",
            "said" => "zoo.open(",
            _ => "zoo.show(",
        };
        assert!(ended.out.contains(call), "{mode}: {}", ended.out);
    }
}

#[test]
fn a_driver_finds_classes_by_name_as_in_a_test() {
    let program = Program::compile("messages", &[]);
    for mode in ["name", "context", "bytes"] {
        let _ = fs::remove_dir_all(program.path("out"));
        let ended = program.debug(&["visit.Main", mode]);
        says(&ended, 0, ALIKE);
        assert!(ended.out.contains(".pet()"), "{mode}: {}", ended.out);
    }
}

/// `culprit debug` with a text to read.
fn debug_reading(
    program: &Program,
    options: &[&str],
    words: &[&str],
    input: &str,
) -> process::Ended {
    fs::write(program.path("in.txt"), input).unwrap();
    let mut shell = command("/bin/sh", program.home.path());
    let culprit = env!("CARGO_BIN_EXE_culprit");
    let debug = [
        "-c",
        "exec \"$@\" < in.txt",
        "sh",
        culprit,
        "debug",
        "-o",
        "out",
    ];
    shell.env("JAVA_HOME", &program.stage.jdk.home).args(debug);
    process::run(shell.args(options).arg("--").args(program.java(words)))
}

#[test]
fn each_run_reads_the_standard_input_and_so_does_the_test() {
    let program = Program::compile("reader", &[]);
    let ended = debug_reading(&program, &[], &["desk.Main"], "3\n5\n0\n8\n");
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
    let again = fs::read_to_string(program.path("out/repeat.sh")).unwrap();
    assert!(again.contains(" < "), "{again}");
}

#[test]
fn a_long_output_is_cut_and_a_status_is_proposed() {
    let program = Program::compile("reader", &[]);
    let ended = debug_reading(&program, &[], &["desk.Main", "x"], "1\n");
    says(&ended, 1, "\n  | line 399999\n");
    says(&ended, 1, "--fails-if 'exit 4'");
    let output = fs::read_to_string(program.path("out/witness/output.txt")).unwrap();
    assert!(output.len() < 3 << 20, "{} bytes", output.len());
    assert!(output.contains("bytes left out]\n") && output.ends_with("line 399999\n"));
}

/// The test of a failure that an empty ledger has, too.
fn reasons(mode: &str) -> (Program, process::Ended) {
    let program = Program::compile("reasons", &[]);
    let ended = program.debug(&["office.Main", mode]);
    says(&ended, 0, "compiled and run: fails the same way");
    (program, ended)
}

#[test]
fn a_key_that_was_removed_is_no_key_that_never_was() {
    let (program, ended) = reasons("removed");
    insta::assert_snapshot!(ended.out);
    says(
        &ended,
        0,
        "the failing call passes before Ledger.cancel and fails after it",
    );
    assert_eq!(program.report()["failsAfter"], "Ledger.cancel");
}

#[test]
fn a_list_that_was_cleared_is_no_new_list() {
    let (program, ended) = reasons("cleared");
    insta::assert_snapshot!(ended.out);
    assert_eq!(program.report()["failsAfter"], "Ledger.close");
}

#[test]
fn what_a_loop_added_up_depends_on_its_end() {
    let (_, ended) = reasons("summed");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn a_call_that_changes_its_object_and_returns_a_status_is_a_command() {
    let (_, ended) = reasons("renamed");
    assert!(ended.out.contains(".rename("), "{}", ended.out);
}

#[test]
fn what_is_rejected_is_configured_as_it_was() {
    let (_, ended) = reasons("rejected");
    for call in [".named(", ".allowingDebts(", ".setLimit("] {
        assert!(ended.out.contains(call), "{call}: {}", ended.out);
    }
    assert!(!ended.out.contains(".post("), "{}", ended.out);
}

#[test]
fn an_account_that_the_failing_call_did_not_come_to_is_there() {
    let (_, ended) = reasons("moved");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn a_thread_that_begins_in_the_class_that_failed_has_no_driver() {
    let (_, ended) = reasons("audited");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn a_key_that_never_was_needs_nothing_else() {
    let (program, ended) = reasons("never");
    assert!(!ended.out.contains(".post("), "{}", ended.out);
    assert_eq!(program.report()["left"], 2);
    assert!(program.report()["failsAfter"].is_null());
}

#[test]
fn assertions_without_a_message_are_told_apart_by_their_lines() {
    let junit = library::jar("junit", "junit", "4.13.2", None);
    let hamcrest = library::jar("org.hamcrest", "hamcrest-core", "1.3", None);
    let (Some(junit), Some(hamcrest)) = (junit, hamcrest) else {
        return skipped("JUnit 4");
    };
    let program = Program::compile("lines", &[junit, hamcrest]);
    let ended = program.debug(&["org.junit.runner.JUnitCore", "office.OfficeTest"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}

/// A test says that something is wrong because of an exception, because of a setting, or
/// because of what the program called. On a version that is right, the small tests pass.
#[test]
fn what_is_wrong_depends_on_the_reason() {
    let junit = library::jar("junit", "junit", "4.13.2", None);
    let hamcrest = library::jar("org.hamcrest", "hamcrest-core", "1.3", None);
    let (Some(junit), Some(hamcrest)) = (junit, hamcrest) else {
        return skipped("JUnit 4");
    };
    let program = Program::compile("conditional", &[junit, hamcrest]);
    let ended = program.debug(&["org.junit.runner.JUnitCore", "desk.RatesTest"]);
    says(&ended, 0, "compiled and run: fails the same way");
    for part in [
        "if (refused != null) {",
        "setProperty(\"rates.currency\", \"EUR\")",
        ".tell(",
    ] {
        assert!(ended.out.contains(part), "{part}: {}", ended.out);
    }
}

#[test]
fn a_class_that_cannot_be_initialised_is_named() {
    let junit = library::jar("junit", "junit", "4.13.2", None);
    let Some(junit) = junit else {
        return skipped("JUnit 4");
    };
    let program = Program::compile("conditional", &[junit]);
    for mode in ["field", "new"] {
        let _ = fs::remove_dir_all(program.path("out"));
        let ended = program.debug(&["desk.Main", mode]);
        says(&ended, 0, "compiled and run: fails the same way");
        let call = "Class.forName(\"rates.Zones\")";
        assert!(ended.out.contains(call), "{mode}: {}", ended.out);
    }
}

/// A test that counts exceptions fails because a call throws none. A version that throws it passes the small tests.
#[test]
fn an_exception_that_a_test_counts_is_missing() {
    let junit = library::jar("junit", "junit", "4.13.2", None);
    let hamcrest = library::jar("org.hamcrest", "hamcrest-core", "1.3", None);
    let (Some(junit), Some(hamcrest)) = (junit, hamcrest) else {
        return skipped("JUnit 4");
    };
    let program = Program::compile("flags", &[junit, hamcrest]);
    let ended = program.debug(&["org.junit.runner.JUnitCore", "desk.AmountsTest"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}
