//! Words of the command line.

use crate::stage::{HOSTILE, SEEN, Stage};

#[test]
fn an_unknown_word_is_quoted_without_harm() {
    let stage = Stage::new();
    let told = stage.culprit(&[HOSTILE]);
    assert_eq!(told.status, 2);
    let told = stage.culprit(&["show", "x", "--thread", "\u{9b}2J\u{202e}"]);
    assert_eq!(told.status, 2);
    assert!(told.err.contains("\\u009b2J\\u202e"), "{}", told.err);
}

#[test]
fn a_path_is_shown_on_one_line_whatever_is_in_it() {
    let stage = Stage::new();
    let told = stage.culprit(&["show", HOSTILE]);
    assert_eq!(told.status, 2, "{}", told.err);
    assert!(told.err.contains(SEEN), "{}", told.err);
    assert!(told.err.contains("\\nculprit: forged"), "{}", told.err);
}

#[test]
fn help_is_printed_to_stdout_and_its_status_is_0() {
    let stage = Stage::new();
    let told = stage.culprit(&["show", "--help"]);
    assert_eq!((told.status, told.err.as_str()), (0, ""));
    assert!(told.out.contains("Usage: culprit show"), "{}", told.out);
}
