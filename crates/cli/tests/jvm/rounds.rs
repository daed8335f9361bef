//! Long loops of the driver: a few runs have to do where each statement cannot be tried. `fixtures/debug/rounds`.

use crate::debug::{Program, says};

#[test]
fn a_long_loop_is_reduced_to_the_calls_that_lead_to_the_failing_round() {
    let program = Program::compile("rounds", &[]);
    let ended = program.debug(&["mill.Main"]);
    says(&ended, 0, "compiled and run: fails the same way");
    says(&ended, 0, "of long loops, only some rounds were tried");
    for line in ["i < 1200", "sacks.next();", "scale.add(", ".weight());"] {
        assert!(ended.out.contains(line), "{line}: {}", ended.out);
    }
    assert_eq!(ended.out.matches("scale.add(").count(), 1, "{}", ended.out);
    let report = program.report();
    assert!(report["runs"].as_u64().unwrap() < 1000, "{report}");
    assert_eq!(report["minimal"], false);
}
