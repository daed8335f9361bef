//! Exceptions that `main`, a pool, a server or an event loop catches: `debug`, `record`, `show` and `minimize` know
//! them as failures. The program is `fixtures/debug/reported`.

use culprit_model::{Catcher, Caught};
use culprit_trace::{Recording, RunFolder};

use crate::debug::{Program, says};
use crate::process::Ended;

fn program() -> Program {
    Program::compile("reported", &[])
}

/// `culprit debug` with options on a main class of the program.
fn debug(program: &Program, options: &[&str], main: &[&str]) -> Ended {
    let words = ["debug", "-o", "out"].iter().chain(options).chain(&["--"]);
    let words = words.map(|&word| word.to_owned());
    program.culprit(words.chain(program.java(main)))
}

/// Checks that a failure became a test with the one call that throws.
#[track_caller]
fn is_test_of(ended: &Ended, call: &str) {
    says(ended, 0, "compiled and run: fails the same way");
    assert!(ended.out.contains(call), "{}", ended.out);
    assert!(!ended.out.contains("main("), "{}", ended.out);
    assert!(!ended.out.contains("catch"), "{}", ended.out);
}

/// The exceptions that were caught in a run of the program that was recorded.
fn recorded(program: &Program, options: &[&str], main: &str) -> (Ended, Vec<Caught>) {
    let words = ["record", "-o", "run"].iter().chain(options).chain(&["--"]);
    let words = words.map(|&word| word.to_owned());
    let ended = program.culprit(words.chain(program.java(&[main])));
    let run = RunFolder::open(&program.path("run")).unwrap();
    let recording = Recording::open(&run.recordings[0]).unwrap();
    assert_eq!(recording.failures(), []);
    (ended, recording.caught().to_vec())
}

#[test]
fn main_that_prints_a_trace_and_ends_with_a_status_has_failed() {
    let program = program();
    let ended = debug(&program, &[], &["office.Printing"]);
    is_test_of(&ended, "orders.ship(1)");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn main_that_prints_a_message_and_ends_with_a_status_has_failed() {
    let ended = debug(&program(), &[], &["office.Telling"]);
    is_test_of(&ended, ".ship(");
    let message = "no item 3 on the shelf";
    assert!(ended.err.contains(message), "{}", ended.err);
}

#[test]
fn a_program_that_a_container_unpacked_and_whose_exception_it_caught_has_failed() {
    let ended = debug(&program(), &[], &["office.Container"]);
    is_test_of(&ended, "desk.run()");
}

#[test]
fn a_class_that_catches_its_own_exception_has_failed() {
    let ended = debug(&program(), &[], &["office.Desk"]);
    is_test_of(&ended, "Desk.amount(\"n=\")");
}

#[test]
fn main_that_logs_and_ends_with_a_status_has_failed() {
    let ended = debug(&program(), &[], &["office.Logging"]);
    is_test_of(&ended, ".ship(");
}

#[test]
fn a_task_whose_exception_nobody_asks_for_is_listed_and_can_be_chosen() {
    let program = program();
    let ended = debug(&program, &[], &["office.Pool"]);
    says(&ended, 1, "--exception TYPE");
    let listed = "IllegalStateException \"no item 5 on the shelf\" at Orders.ship (Orders.java:20); \
                  caught by java.util.concurrent.FutureTask.run, once";
    assert!(ended.err.contains(listed), "{}", ended.err);
    std::fs::remove_dir_all(program.path("out")).unwrap();
    let chosen = ["--exception", "IllegalStateException"];
    let ended = debug(&program, &chosen, &["office.Pool"]);
    is_test_of(&ended, ".ship(");
}

#[test]
fn an_exception_that_nobody_threw_cannot_be_chosen() {
    let chosen = ["--exception", "ClassCastException"];
    let ended = debug(&program(), &chosen, &["office.Loop"]);
    says(&ended, 1, "threw no ClassCastException");
    assert!(
        ended.err.contains("caught by office.Loop.main"),
        "{}",
        ended.err
    );
}

#[test]
fn a_handler_that_throws_has_failed_though_its_server_swallows_it() {
    let chosen = ["--exception", "orders.IllegalStateException"];
    let program = program();
    let ended = debug(&program, &chosen, &["office.Web"]);
    says(&ended, 1, "threw no orders.IllegalStateException");
    std::fs::remove_dir_all(program.path("out")).unwrap();
    let chosen = ["--exception", "IllegalStateException"];
    let ended = debug(&program, &chosen, &["office.Web"]);
    is_test_of(&ended, ".ship(");
}

#[test]
fn a_server_is_ended_after_its_failure() {
    let program = program();
    let options = ["--exception", "IllegalStateException", "--stop-after", "1"];
    let ended = debug(&program, &options, &["office.Web", "on"]);
    is_test_of(&ended, ".ship(");
}

#[test]
fn an_event_loop_that_handles_an_exception_has_it_in_its_recording() {
    let program = program();
    let (ended, caught) = recorded(&program, &["--contents"], "office.Loop");
    let [caught] = &caught[..] else {
        panic!("{caught:?}")
    };
    assert_eq!(caught.catcher, Catcher::Program);
    assert_eq!(caught.failure.place, "office.Loop.main");
    assert_eq!((caught.count, caught.printed), (1, 0));
    // The program handled it: no reason to speak of it.
    assert!(!ended.err.contains("IllegalState"), "{}", ended.err);
    let minimized = program.culprit(["minimize", "run", "--failure", "1"]);
    says(&minimized, 1, "office.Loop.main caught the exception");
}

#[test]
fn a_recording_lists_exceptions_that_code_around_the_program_caught() {
    let program = program();
    let options = ["--contents", "--observe", "orders.**"];
    let (ended, caught) = recorded(&program, &options, "office.Pool");
    assert_eq!(caught[0].catcher, Catcher::Outside);
    let listed =
        "1  IllegalStateException \"no item 5 on the shelf\" at Orders.ship (Orders.java:20)";
    says(&ended, 0, listed);
    let shown = program.culprit(["show", "run"]);
    assert!(
        shown.out.contains("at orders.Orders.ship(Orders.java:20)"),
        "{}",
        shown.out
    );
    let events = program.culprit(["show", "run", "--events"]);
    let line = events
        .out
        .lines()
        .find(|line| line.contains("<=!"))
        .unwrap();
    let expect = "IllegalStateException \"no item 5 on the shelf\"   Orders.java:20";
    assert!(
        line.contains("<=! Orders.ship threw #") && line.ends_with(expect),
        "{line}"
    );
    let number = line.split_whitespace().next().unwrap();
    let choices: [&[&str]; 3] = [
        &["--exception", "IllegalStateException"],
        &["--failure", "1"],
        &["--event", number],
    ];
    for (count, choice) in choices.into_iter().enumerate() {
        let out = format!("small-{count}");
        let words = ["minimize", "run", "-o", &out];
        let ended = program.culprit(words.iter().chain(choice));
        is_test_of(&ended, ".ship(");
    }
    let wrong = program.culprit(["minimize", "run", "-o", "none", "--event", "0"]);
    says(&wrong, 4, "event 0 is no exception");
    let none = program.culprit(["minimize", "run", "-o", "none"]);
    says(&none, 4, "no exception left a thread or a test");
}

#[test]
fn a_recording_of_a_program_that_printed_why_it_failed_is_minimized_without_a_choice() {
    let program = program();
    let options = ["--contents", "--observe", "orders.**"];
    let (ended, caught) = recorded(&program, &options, "office.Printing");
    assert_eq!(ended.status, 2, "{}", ended.err);
    assert_eq!(caught[0].printed, 1);
    is_test_of(&program.culprit(["minimize", "run"]), "orders.ship(1)");
}
