//! `culprit debug` on programs that load classes by loaders of their own: the classes that failed are those of the test.

use crate::debug::{Program, says};

#[test]
fn of_several_classes_of_one_name_the_one_that_failed_is_tested() {
    let program = Program::compile("reloaded", &[]);
    for order in ["old", "new"] {
        let words = ["debug", "-o", order, "--"].map(str::to_owned);
        let java = program.java(&["host.Main", order]);
        let ended = program.culprit(words.into_iter().chain(java));
        says(&ended, 0, "compiled and run: fails the same way");
        assert!(ended.out.contains(".percent(0)"), "{}", ended.out);
    }
}
