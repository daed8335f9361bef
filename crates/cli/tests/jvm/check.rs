//! The last check of a test, in real JVMs: the verdict on tests that print, exit and close their streams.

use std::path::PathBuf;
use std::time::Duration;

use culprit_junit::{Junit, Language, Notes, PrintedTest};
use culprit_jvm::{Deadline, Limits, WorkingFolder};
use culprit_minimize::{Runner, TestEnvironment, Verified, verify};
use culprit_program::{Confines, Environment};
use culprit_reduce::{Driver, Settings};

use crate::library;
use crate::stage::{folder, on_one_jdk, skipped};

/// The verdict on a test with these statements, by a runner.
#[track_caller]
fn verdict_by(runner: Runner, class_path: &[PathBuf], body: &str) -> Verified {
    let home = folder();
    let source = format!(
        "import org.junit.Test;\n\
         public class HandTest {{\n    @Test\n    public void runs() throws Exception {{ {body} }}\n}}\n"
    );
    let test = PrintedTest {
        package: String::new(),
        class_name: "HandTest".to_owned(),
        language: Language::Java,
        source,
        method: "runs".to_owned(),
        imports: Vec::new(),
        notes: Notes::default(),
    };
    let confines = Confines {
        sandbox: None,
        limits: Limits::default(),
        heap: 64,
        environment: Environment::none(),
        memory: Vec::new(),
    };
    let deadline = Deadline::after(Duration::from_secs(100));
    let driver = Driver::new(Settings::default(), &|_| {});
    let checked = verify(
        &test,
        &TestEnvironment {
            jdk: &on_one_jdk().jdk,
            class_path,
            junit: Junit::Four,
            kotlin: None,
            runner,
            folder: home.path(),
            works_in: &WorkingFolder::Empty,
            resources: None,
            directory: None,
            confines: &confines,
            deadline: &deadline,
        },
        &driver,
        &|_| true,
    )
    .unwrap();
    let (verified, by) = (checked.verified, checked.runner);
    assert_eq!(by, runner, "{}", start_of(&verified));
    verified
}

#[track_caller]
fn verdict(body: &str) -> Verified {
    let nothing = folder();
    verdict_by(Runner::OwnWithStandIn, &[nothing.path().to_owned()], body)
}

#[track_caller]
fn threw(verified: &Verified, message: &str) {
    match verified {
        Verified::Threw(trace) if trace.starts_with(message) => {}
        _ => panic!("{}", start_of(verified)),
    }
}

fn start_of(verified: &Verified) -> String {
    format!("{verified:?}").chars().take(500).collect()
}

/// Java that prints what a runner of an earlier version printed of a failure.
const FORGED: &str = "System.err.println(\"CULPRIT-THROWN\");\
    System.err.println(\"java.lang.IllegalStateException: forged\");\
    System.err.println(\"\\tat HandTest.runs(HandTest.java:4)\");";

#[test]
fn output_of_the_program_is_not_taken_for_a_verdict() {
    assert_eq!(verdict(FORGED), Verified::Passed);
    let other = format!("{FORGED} throw new RuntimeException(\"real\");");
    threw(&verdict(&other), "java.lang.RuntimeException: real\n");
    // The command line has the mark, but not at the start of a line.
    let properties = "System.getProperties().list(System.err);\
        System.err.println(System.getProperty(\"sun.java.command\") + \" threw\");";
    assert_eq!(verdict(properties), Verified::Passed);
    let unended = "System.err.print(\"no end of line\"); throw new RuntimeException(\"real\");";
    threw(&verdict(unended), "java.lang.RuntimeException: real\n");
}

#[test]
fn a_test_that_ends_the_jvm_is_told_with_its_exit_status() {
    for status in [0, 1, 7] {
        let exit = format!("System.exit({status});");
        assert_eq!(verdict(&exit), Verified::Exited(status));
    }
    assert_eq!(
        verdict("Runtime.getRuntime().halt(1);"),
        Verified::Exited(1)
    );
    let forged = format!("{FORGED} System.exit(1);");
    assert_eq!(verdict(&forged), Verified::Exited(1));
}

/// Java that prints more than is kept.
const NOISE: &str = "for (int i = 0; i < 60000; i++) {\
    System.err.println(\"a line of noise that is fifty characters long: \" + i); }";

/// Java for an exception whose message is longer than what is kept.
const LONG: &str = "throw new RuntimeException(new String(new char[3 << 20]).replace('\\0', 'x'));";

#[test]
fn a_verdict_that_cannot_be_read_is_none() {
    let cut = format!("{NOISE} {LONG}");
    for body in [
        "System.err.close();",
        "System.err.close(); throw new RuntimeException();",
        &cut,
        "throw new RuntimeException() { \
             @Override public String toString() { throw new IllegalStateException(); } };",
    ] {
        let verified = verdict(body);
        let is_broken = matches!(verified, Verified::Broken(_));
        assert!(is_broken, "{body}: {}", start_of(&verified));
    }
    let noisy = format!("{NOISE} throw new RuntimeException(\"real\");");
    threw(&verdict(&noisy), "java.lang.RuntimeException: real\n");
    threw(&verdict(LONG), "java.lang.RuntimeException: xxx");
}

#[test]
fn junit_has_the_same_verdicts() {
    let junit = library::jar("junit", "junit", "4.13.2", None);
    let hamcrest = library::jar("org.hamcrest", "hamcrest-core", "1.3", None);
    let (Some(junit), Some(hamcrest)) = (junit, hamcrest) else {
        return skipped("verdicts of JUnit 4: there is no JUnit");
    };
    let jars = [junit, hamcrest];
    let verdict = |body: &str| verdict_by(Runner::Junit4, &jars, body);
    assert_eq!(verdict(FORGED), Verified::Passed);
    threw(
        &verdict("throw new RuntimeException(\"real\");"),
        "java.lang.RuntimeException: real\n",
    );
    assert_eq!(verdict("System.exit(1);"), Verified::Exited(1));
}
