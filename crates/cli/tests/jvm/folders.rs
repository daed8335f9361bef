//! Programs that write files or use the network: a test must not rest on what the program, or another candidate,
//! left behind. `fixtures/debug/ledgers`.

use std::fs;

use crate::debug::{Program, says};
use crate::process::{self, Ended, command};
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
fn a_large_file_that_the_program_found_is_a_resource_of_a_test() {
    let program = Program::compile("ledgers", &[]);
    let long_name = "n".repeat(98);
    let amounts = format!("{}food=12O\n", format!("{long_name}=1\n").repeat(90));
    fs::write(program.path("amounts.txt"), &amounts).unwrap();
    let ended = program.debug(&["office.Reads"]);
    says(&ended, 0, "compiled and run: fails the same way");
    says(
        &ended,
        0,
        "it finds resources/amounts.txt on its class path",
    );
    assert_eq!(
        calls(&ended),
        [
            "Path path = Paths.get(ClassLoader.getSystemResource(\"amounts.txt\").toURI());",
            "Ledger ledger = new Ledger(\"books\");",
            "ledger.take(path.toString());",
            "ledger.total();"
        ]
    );
    assert_eq!(program.report()["folder"], "an empty folder");
    assert_eq!(program.report()["resources"][0], "resources/amounts.txt");
    let copy = program.path("out/resources/amounts.txt");
    assert_eq!(fs::read_to_string(copy).unwrap(), amounts);
    let run = program.path("out/check/LedgerTest/run.sh");
    let ended = process::run(command("sh", program.home.path()).arg(run));
    assert!(ended.err.contains("NumberFormatException"), "{}", ended.err);
}

#[test]
fn a_folder_that_the_program_found_is_a_resource_of_a_test() {
    let program = Program::compile("ledgers", &[]);
    fs::create_dir(program.path("year")).unwrap();
    fs::write(program.path("year/food"), "12O").unwrap();
    let ended = program.debug(&["office.Opens", "year"]);
    says(&ended, 0, "compiled and run: fails the same way");
    assert_eq!(
        calls(&ended),
        [
            "String folder = Paths.get(ClassLoader.getSystemResource(\"year\").toURI()).toString();",
            "Ledger ledger = new Ledger(folder);",
            "ledger.total();"
        ]
    );
    assert_eq!(program.report()["folder"], "an empty folder");
    assert!(program.path("out/resources/year/food").exists());
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
