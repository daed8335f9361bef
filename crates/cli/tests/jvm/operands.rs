//! Failures of the driver's own instructions, whose operands the program returned.

use crate::debug::{Program, says};

/// Debugs one mode of the fixture; the test must have these lines.
#[track_caller]
fn check(mode: &str, lines: &[&str]) {
    let program = Program::compile("operands", &[]);
    let ended = program.debug(&["till.Main", mode]);
    says(&ended, 0, "compiled and run: fails the same way");
    for line in lines {
        assert!(ended.out.contains(line), "{line}: {}", ended.out);
    }
    assert!(!ended.out.contains("Main.main("), "{}", ended.out);
}

#[test]
fn a_division_by_a_result_is_in_the_test() {
    check("divided", &["shelf.repack(", " / shelf.perBox();"]);
}

#[test]
fn an_index_out_of_an_array_that_was_returned_is_in_the_test() {
    check("indexed", &["= shelf.lengths()[2];"]);
}

#[test]
fn a_cast_of_a_result_is_in_the_test() {
    check("cast", &["shelf.put(7);", "(String) object;"]);
}

#[test]
fn an_element_that_an_array_does_not_take_is_in_the_test() {
    check("stored", &["shelf.labels()[", "] = 7;"]);
}
