//! Scripts with Java's operators, in a worker.

use std::time::Duration;

use culprit_jvm::{Deadline, Output, WorkingFolder};
use culprit_minimize::Stage;
use culprit_model::Script;
use culprit_program::{Environment, PlainWorkers, WorkerJvm};
use culprit_scripts::ScriptRun;
use culprit_wire::FreshState;

use crate::candidates::agent;
use crate::replay::{record, replayed_in};
use crate::stage::{folder, on_one_jdk};

const LIMIT: Duration = Duration::from_secs(60);

const TABLES: &str = "\
script 1
type 1 int
type 2 boolean
type 3 java/lang/String
type 4 java/io/IOException
type 5 java/lang/NumberFormatException
type 6 int[]
type 7 java/lang/Object[]
type 8 java/lang/Object
site 1 entry java/io/IOException.<init>(Ljava/lang/String;)V
site 9 entry static java/lang/Integer.parseInt(Ljava/lang/String;)I
";

/// Makes the exception of a text and throws it.
fn raise(text: &str) -> String {
    format!("=> @1({text})\n<= @1 = #90:@4\ndo raise object (#90:@4) ! #90:@4\n")
}

/// How scripts end that one worker runs, one after the other: `done`, or what is thrown.
fn ends(scripts: &[String]) -> Vec<String> {
    let stage = on_one_jdk();
    let home = folder();
    let recorded = record(stage, "replay/outset");
    replayed_in(stage, home.path(), &recorded);
    let workers = PlainWorkers {
        jvm: WorkerJvm {
            jdk: stage.jdk.clone(),
            agent: agent(home.path()),
            scratch: home.path().to_owned(),
            heap: 64,
            sandbox: None,
            output: Output::Kept,
            interrupt: None,
        },
        environment: Environment::none(),
        memory: Vec::new(),
    };
    let path = vec![stage.classes.display().to_string()];
    let pool = workers
        .pool(&recorded.recording(), path, WorkingFolder::Empty, 1)
        .unwrap();
    let workers = Stage::new(pool, LIMIT, Deadline::never());
    let end = |script: &String| {
        let script: Script = format!("{TABLES}{script}").parse().unwrap();
        let ended = workers.run(&script.tables, &script.statements, FreshState::Reset);
        match ended.unwrap() {
            ScriptRun::Done => "done".to_owned(),
            ScriptRun::Threw { trace, .. } => trace.lines().next().unwrap().to_owned(),
            run => panic!("{script}{run}"),
        }
    };
    scripts.iter().map(end).collect()
}

#[test]
fn a_script_goes_on_only_while_its_conditions_hold() {
    let on = |condition: &str| format!("guard ({condition})\n{}", raise("\"after\""));
    assert_eq!(
        ends(&[on("false"), on("true"), on("false")]),
        ["done", "java.io.IOException: after", "done"]
    );
}

#[test]
fn what_is_to_be_caught_is_null_where_it_is_not_thrown() {
    let parse = |text: &str| {
        let call = format!("=> @9({text})\n<=! @9 = #1:@5\n");
        let unless = "do isNull object (#1:@5) = #2:@2\nguard (#2:@2)\n";
        format!("{call}{unless}{}", raise("\"a number\""))
    };
    assert_eq!(
        ends(&[parse("\"x\""), parse("\"5\"")]),
        ["done", "java.io.IOException: a number"]
    );
}

#[test]
fn variables_are_elements_of_arrays() {
    let number = "=> @9(\"7\")\n<= @9 = #1:@1\n";
    let scalars = "do array object (#2:@6{1, #1:@1}) = #3:@6\n\
        do element int (#3:@6, 1) = #4:@1\ndo concat object (\"is \", #4:@1) = #5:@3\n";
    let objects = "do array object (#2:@7{#3:@6{#1:@1}, #1:@1, null}) = #4:@7\n\
        do store object (#4:@7, 2, \"last\")\n\
        do element object (#4:@7, 2) = #5:@8\ndo length object (#4:@7) = #6:@1\n\
        do concat object (#5:@8, #6:@1) = #5:@3\n\
        do element object (#4:@7, 1) = #7:@8\ndo concat object (#5:@3, #7:@8) = #5:@3\n";
    assert_eq!(
        ends(&[
            format!("{number}{scalars}{}", raise("#5:@3")),
            format!("{number}{objects}{}", raise("#5:@3")),
        ]),
        ["java.io.IOException: is 7", "java.io.IOException: last37"]
    );
}

#[test]
fn operators_fail_as_in_java() {
    let divide = "do divide int (1, 0) ! #1:@8\n".to_owned();
    let element = "do element int (#2:@6{1, 2}, 5) ! #1:@8\n".to_owned();
    let cast = "do cast object (\"seven\", @4.class) ! #1:@8\n".to_owned();
    assert_eq!(
        ends(&[divide, element, cast]),
        [
            "java.lang.ArithmeticException: / by zero",
            "java.lang.ArrayIndexOutOfBoundsException: Index 5 out of bounds for length 2",
            "java.lang.ClassCastException: class java.lang.String cannot be cast to class \
             java.io.IOException (java.lang.String and java.io.IOException are in unnamed module of \
             loader 'app')",
        ]
    );
}
