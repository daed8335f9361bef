//! Exceptions that make a run fail are marked, with the event at which they left observed code.

use std::fs;
use std::path::PathBuf;

use culprit_model::{EventKind, Failure, FailureKind, Reference, Value};
use culprit_trace::Recording;

use crate::fixture::Fixture;
use crate::library;
use crate::process::run;
use crate::render::Renderer;
use crate::stage::{Recorded, Run, folder, on_every_jdk, on_one_jdk, skipped};

/// The last event that throws the failure's exception, or one of its causes, out of observed
/// code.
fn crossing(recording: &Recording, failure: &Failure) -> Option<String> {
    let events: Vec<_> = recording.events().map(|event| event.unwrap()).collect();
    let last = events.iter().rev().find(|event| {
        let thrown = match event.values.as_slice() {
            [Value::Reference(Reference::Object { id, .. })] => *id,
            _ => return false,
        };
        event.kind == EventKind::IncomingThrow && failure.exceptions.contains(&thrown)
    })?;
    Some(Renderer::new(recording).event(last))
}

#[track_caller]
fn only(recorded: &Recorded) -> (Recording, Failure) {
    let recording = recorded.complete();
    let [failure] = recording.failures() else {
        panic!("{:?}", recording.failures())
    };
    let failure = failure.clone();
    (recording, failure)
}

#[test]
fn exceptions_that_leave_threads() {
    let fixture = Fixture::named("capture/failing");
    // How, status, thread, class, message, the event of the crossing, a line of the stack.
    let ways = [
        (
            "main",
            1,
            "main",
            "java.lang.IllegalStateException",
            Some("from main"),
            Some("<=! In.fail #1 IllegalStateException"),
            "\tat failing.In.fail(In.java:5)",
        ),
        (
            "thread",
            0,
            "worker",
            "java.lang.IllegalStateException",
            Some("from a thread"),
            Some("<=! In.fail #1 IllegalStateException"),
            "\tat java.base/java.lang.Thread.run(Thread.java:",
        ),
        (
            "wrapped",
            1,
            "main",
            "java.lang.IllegalStateException",
            Some("wrapped"),
            Some("<=! In.wrapped #1 IllegalStateException"),
            "Caused by: java.lang.IllegalArgumentException: deep",
        ),
        (
            "rewrapped",
            1,
            "main",
            "java.lang.RuntimeException",
            Some("outside"),
            Some("<=! In.fail #1 IllegalStateException"),
            "Caused by: java.lang.IllegalStateException: inside",
        ),
        (
            "outside",
            1,
            "main",
            "java.lang.UnsupportedOperationException",
            Some("not ours"),
            None,
            "\tat failing.Main.main(Main.java:",
        ),
        (
            "handled",
            1,
            "main",
            "java.lang.IllegalStateException",
            Some("handled"),
            Some("<=! In.fail #1 IllegalStateException"),
            "\tat failing.In.fail(In.java:5)",
        ),
        (
            "rude",
            1,
            "main",
            "failing.Main$Rude",
            None,
            None,
            "failing.Main$Rude: Rude",
        ),
    ];
    for (how, status, thread, class, message, crosses, stack) in ways {
        on_every_jdk(&fixture, |stage| {
            let mut run = stage.run(&fixture).args(&[how]);
            run.status = status;
            let recorded = run.record_unnoticed();
            let (recording, failure) = only(&recorded);
            assert_eq!(failure.kind, FailureKind::Uncaught, "{how}");
            assert_eq!(failure.place, thread, "{how}");
            assert_eq!(failure.class, class, "{how}");
            assert_eq!(failure.message.as_deref(), message, "{how}");
            assert_eq!(crossing(&recording, &failure).as_deref(), crosses, "{how}");
            let found = failure.stack.lines().any(|line| line.starts_with(stack));
            assert!(found, "{how}: no {stack} in {}", failure.stack);
            // The launcher decides on the status, after the JVM has ended for us.
            assert_eq!(recording.end().unwrap().exit_status, None, "{how}");
        });
    }
}

/// Compiles a test class of `fixtures/capture/junit` and records its run.
fn record_tests(file: &str, jars: &[PathBuf], program: &[&str]) -> Recorded {
    let stage = on_one_jdk();
    let classes = folder();
    let source = Fixture::named("capture/failing")
        .folder
        .with_file_name("junit")
        .join(file);
    let jars: Vec<String> = jars.iter().map(|jar| jar.display().to_string()).collect();
    let mut javac = stage.javac(classes.path());
    javac.args(["-g", "-proc:none", "-cp", &jars.join(":"), "-d", "."]);
    let ended = run(javac.arg(source));
    assert_eq!(ended.status, 0, "{ended:?}");
    let path = format!("{}:{}", classes.path().display(), jars.join(":"));
    let run = Run {
        stage,
        record: vec!["--observe".into(), "junit*.In*".into()],
        java: vec!["-Xverify:all".into()],
        class_path: path,
        program: program.iter().map(|&p| p.to_owned()).collect(),
        before: Vec::new(),
        status: 1,
    };
    run.record()
}

#[track_caller]
fn check_tests(recorded: &Recorded, status: i32, class: &str, assertion: &str) {
    assert_eq!(recorded.ended.status, status, "{:?}", recorded.ended);
    let recording = recorded.complete();
    let mut failures = recording.failures().to_vec();
    failures.sort_by(|a, b| a.place.cmp(&b.place));
    let [first, second] = failures.as_slice() else {
        panic!("{failures:?}")
    };
    assert_eq!(first.kind, FailureKind::Test);
    assert_eq!(first.place, format!("{class}#assertion"));
    assert_eq!(first.class, assertion);
    assert!(first.message.as_deref().unwrap().starts_with("wrong sum"));
    assert_eq!(crossing(&recording, first), None);
    assert_eq!(second.kind, FailureKind::Test);
    assert_eq!(second.place, format!("{class}#exception"));
    assert_eq!(second.class, "java.lang.IllegalStateException");
    let crossing = crossing(&recording, second);
    assert_eq!(
        crossing.as_deref(),
        Some("<=! InCode.fail #1 IllegalStateException")
    );
}

#[test]
fn failing_tests_of_junit_5() {
    let Some(console) = library::jar(
        "org.junit.platform",
        "junit-platform-console-standalone",
        "1.10.2",
        None,
    ) else {
        return skipped("JUnit 5");
    };
    let program = [
        "org.junit.platform.console.ConsoleLauncher",
        "execute",
        "--disable-banner",
        "--details=none",
        "--select-class=junit5.JupiterTest",
    ];
    let recorded = record_tests("JupiterTest.java", &[console], &program);
    check_tests(
        &recorded,
        1,
        "junit5.JupiterTest",
        "org.opentest4j.AssertionFailedError",
    );
}

#[test]
fn failing_tests_of_junit_4() {
    let jars = [
        library::jar("junit", "junit", "4.13.2", None),
        library::jar("org.hamcrest", "hamcrest-core", "1.3", None),
    ];
    let Some(jars) = jars.into_iter().collect::<Option<Vec<_>>>() else {
        return skipped("JUnit 4");
    };
    let program = ["org.junit.runner.JUnitCore", "junit4.VintageTest"];
    let recorded = record_tests("VintageTest.java", &jars, &program);
    check_tests(
        &recorded,
        1,
        "junit4.VintageTest",
        "java.lang.AssertionError",
    );
}

#[test]
fn only_failing_runs_are_kept_where_asked() {
    let fixture = Fixture::named("capture/failing");
    for (how, status, kept) in [
        ("well", 0, false),
        ("exit", 5, true),
        ("main", 1, true),
        ("thread", 0, true),
    ] {
        let mut run = on_one_jdk()
            .run(&fixture)
            .recording(&["--keep", "failing"])
            .args(&[how]);
        run.status = status;
        let recorded = run.record_unnoticed();
        let files = fs::read_dir(&recorded.run).unwrap();
        let recordings = files
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "culprit"));
        assert_eq!(recordings.count(), usize::from(kept), "{how}");
    }
}
