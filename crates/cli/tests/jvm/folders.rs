//! Programs that write files or use the network: a test must not rest on what the program, or another candidate,
//! left behind. `fixtures/debug/ledgers`.

use std::fs;

use crate::debug::{Program, says};
use crate::process::Ended;
use crate::stage::not_here;

/// Lines of the body of a test that call something.
fn calls(ended: &Ended) -> Vec<&str> {
    let lines = ended.out.lines().map(str::trim);
    lines
        .filter(|line| line.ends_with(';') && line.contains('('))
        .collect()
}

#[test]
fn files_that_the_program_left_are_no_part_of_a_test() {
    let program = Program::compile("ledgers", &[]);
    let ended = program.debug(&["office.Writes"]);
    says(&ended, 0, "compiled and run: fails the same way");
    // The command left its files, with which the first call and the last one would do.
    assert!(program.path("books/food").exists());
    assert_eq!(
        calls(&ended),
        [
            "Ledger ledger = new Ledger(\"books\");",
            "ledger.book(\"food\", \"12O\");",
            "ledger.total();"
        ]
    );
    assert_eq!(program.report()["folder"], "an empty folder");
}

#[test]
fn a_file_that_the_program_found_is_written_by_a_test() {
    let program = Program::compile("ledgers", &[]);
    fs::write(program.path("amounts.txt"), "food=12O\n").unwrap();
    let ended = program.debug(&["office.Reads"]);
    says(&ended, 0, "compiled and run: fails the same way");
    assert_eq!(
        calls(&ended),
        [
            "Path path = Files.createTempDirectory(\"test\").resolve(\"amounts.txt\");",
            "Files.write(path, \"food=12O\\n\".getBytes());",
            "Ledger ledger = new Ledger(\"books\");",
            "ledger.take(path.toString());",
            "ledger.total();"
        ]
    );
    assert_eq!(program.report()["folder"], "an empty folder");
}

#[test]
fn what_other_candidates_left_in_the_jdk_is_no_part_of_a_test() {
    let program = Program::compile("ledgers", &[]);
    let ended = program.debug(&["-Djava.util.prefs.userRoot=prefs", "office.Resizes"]);
    says(&ended, 0, "compiled and run: fails the same way");
    let calls = calls(&ended);
    assert!(calls.contains(&"window.resize(100, 0);"), "{calls:?}");
}

#[test]
fn a_server_and_its_clients_work_in_the_sandbox() {
    if !culprit_jvm::Sandbox::probe().loopback {
        not_here("no network namespaces");
        return;
    }
    let program = Program::compile("ledgers", &[]);
    let ended = program.debug(&["office.Sends"]);
    says(&ended, 0, "compiled and run: fails the same way");
    let calls = calls(&ended);
    let sent: Vec<_> = calls.iter().filter(|call| call.contains("send(")).collect();
    assert_eq!(sent.len(), 1, "{calls:?}");
    assert!(sent[0].ends_with("\"12O\");"), "{calls:?}");
}
