//! `culprit debug` and `culprit minimize` on programs that fail: the tests that they write, and what
//! they say where there is none.
//!
//! The programs are in `fixtures/debug`, each with a library and what uses it.

use culprit_report::debug::TestsDocument;
use culprit_report::document::conforming;
use std::fs;
use std::path::{Path, PathBuf};

use crate::fixture::Fixture;
use crate::library;
use crate::process::{self, Ended, command};
use crate::stage::{Stage, folder, on_one_jdk, skipped};

/// A program that was compiled, in a folder of its own.
pub(crate) struct Program {
    pub(crate) stage: &'static Stage,
    pub(crate) home: tempfile::TempDir,
    class_path: String,
}

impl Program {
    /// Compiles a fixture, the library apart from what uses it.
    pub(crate) fn compile(name: &str, jars: &[PathBuf]) -> Program {
        let (stage, home) = (on_one_jdk(), folder());
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/debug");
        let mut class_path: Vec<String> = Vec::new();
        class_path.extend(jars.iter().map(|jar| jar.display().to_string()));
        for part in ["lib", "app"] {
            let mut javac = stage.javac(home.path());
            javac.args(["-g", "-proc:none", "-d", part, "-cp"]);
            javac.arg(class_path.join(":"));
            let ended = process::run(javac.args(sources(&root.join(name).join(part))));
            assert_eq!(ended.status, 0, "{}", ended.err);
            class_path.push(part.to_owned());
        }
        Program {
            stage,
            home,
            class_path: class_path.join(":"),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn java(&self, words: &[&str]) -> Vec<String> {
        let java = self.stage.jdk.tool("java").display().to_string();
        let first = [java, "-cp".to_owned(), self.class_path.clone()];
        let rest = words.iter().map(|&word| word.to_owned());
        first.into_iter().chain(rest).collect()
    }

    /// Runs `culprit` where the program is.
    pub(crate) fn culprit<I: AsRef<std::ffi::OsStr>>(
        &self,
        words: impl IntoIterator<Item = I>,
    ) -> Ended {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), self.home.path());
        culprit.env("JAVA_HOME", &self.stage.jdk.home).args(words);
        process::run(&mut culprit)
    }

    /// `culprit debug` on a main class, interrupted as soon as a condition holds.
    #[track_caller]
    fn interrupt_debug(&self, main: &str, is_time: impl Fn() -> bool) -> Ended {
        let debug = ["debug", "-o", "out", "--"].map(str::to_owned);
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), self.home.path());
        culprit
            .env("JAVA_HOME", &self.stage.jdk.home)
            .args(debug.into_iter().chain(self.java(&[main])));
        let running = process::Running::start(&mut culprit);
        let has_come = (0..6_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            is_time()
        });
        assert!(has_come, "not in time");
        rustix::process::kill_process(running.leader(), rustix::process::Signal::INT).unwrap();
        running.end()
    }

    /// `culprit debug -o out -- java ...`
    pub(crate) fn debug(&self, program: &[&str]) -> Ended {
        self.debug_with(&[], program)
    }

    /// The same with options.
    pub(crate) fn debug_with(&self, options: &[&str], program: &[&str]) -> Ended {
        let debug = ["debug", "-o", "out"].iter().chain(options).chain(&["--"]);
        let debug = debug.map(|&word| word.to_owned());
        self.culprit(debug.chain(self.java(program)))
    }

    /// The report on the first failure.
    pub(crate) fn report(&self) -> serde_json::Value {
        self.tests()[0].clone()
    }

    /// The levels of the tests, in their order.
    fn levels(&self) -> Vec<String> {
        let level = |test: &serde_json::Value| test["level"].as_str().unwrap().to_owned();
        self.tests().iter().map(level).collect()
    }

    fn tests(&self) -> Vec<serde_json::Value> {
        let report: serde_json::Value =
            conforming::<TestsDocument>(&self.read("out/report.json")).unwrap();
        report["tests"].as_array().unwrap().clone()
    }

    /// `culprit record ... -o run -- java ...`
    pub(crate) fn record(&self, options: &[&str], program: &[&str]) {
        let record = ["record", "--quiet", "-o", "run"].iter().chain(options);
        let record = record.chain(&["--"]).map(|&word| word.to_owned());
        let ended = self.culprit(record.chain(self.java(program)));
        assert_eq!(ended.status, 1, "{}", ended.err);
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let packages = fs::read_dir(folder).unwrap();
    let files = packages.flat_map(|package| fs::read_dir(package.unwrap().path()).unwrap());
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[track_caller]
pub(crate) fn says(ended: &Ended, status: i32, message: &str) {
    assert_eq!(ended.status, status, "{}", ended.err);
    // Long lines go on behind an indent.
    let told = ended.err.replace("\n      ", " ").replace("\n    ", " ");
    assert!(told.contains(message), "{}", ended.err);
}

#[test]
fn a_crash_becomes_the_calls_that_it_needs() {
    let program = Program::compile("crash", &[]);
    let ended = program.debug(&["depot.Main"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
    assert_eq!(program.read("out/tests/belts/BeltTest.java"), ended.out);
    let test = program.report();
    assert_eq!(test["test"], "tests/belts/BeltTest.java", "{test}");
    assert_eq!(test["verified"], true, "{test}");
    assert_eq!(test["minimal"], true, "{test}");
    assert_eq!(test["runBy"], "plain main", "{test}");
    let always = serde_json::json!({ "times": 2, "of": 2 });
    assert_eq!(test["fails"], always, "{test}");
    says(&ended, 0, "\n  fails 2 of 2 times\n");
    assert!(program.read("out/report.md").contains(&ended.out));
    assert!(
        program
            .read("out/repeat.sh")
            .contains("culprit debug --jobs 2 --max-time 2m -o ")
    );
    let printed = program.read("out/witness/output.txt");
    assert!(printed.contains("weighed 0"), "{printed}");
    assert!(!ended.out.contains("weighed"), "{}", ended.out);
    let script = program.path("out/check/BeltTest/run.sh");
    says(
        &ended,
        0,
        &format!("\n  to run it: sh {}\n", script.display()),
    );
    let again = process::run(command("sh", program.home.path()).arg(&script));
    assert_ne!(again.status, 0, "{again:?}");
    assert!(again.err.contains("BeltTest"), "{again:?}");
}

#[test]
fn the_report_is_opened_and_its_places_are_in_the_sources() {
    let program = Program::compile("crash", &[]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/debug/crash/lib/belts");
    let sources = program.path("core/src/main/java/belts");
    fs::create_dir_all(&sources).unwrap();
    fs::copy(root.join("Belt.java"), sources.join("Belt.java")).unwrap();
    let browser = program.path("browser");
    fs::write(&browser, "printf '%s\\n' \"$@\" >got\n").unwrap();
    let open = |words: &[&str], browser: &str| {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), program.home.path());
        culprit.env("JAVA_HOME", &program.stage.jdk.home);
        process::run(culprit.env("BROWSER", browser).args(words))
    };
    let java = program.java(&["depot.Main"]);
    let words = ["debug", "--open", "-o", "out", "--"].into_iter();
    let words: Vec<&str> = words.chain(java.iter().map(String::as_str)).collect();
    let ended = open(&words, &format!("sh {} %s", browser.display()));
    says(&ended, 0, "compiled and run: fails the same way");
    assert!(!ended.err.contains("warning"), "{}", ended.err);
    let page = program.path("out/report.html").canonicalize().unwrap();
    assert_eq!(program.read("got"), format!("{}\n", page.display()));
    assert!(!program.read("out/repeat.sh").contains("--open"));

    let sarif: serde_json::Value = serde_json::from_str(&program.read("out/report.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 1, "{sarif}");
    let place = &results[0]["locations"][0]["physicalLocation"];
    let uri = "core/src/main/java/belts/Belt.java";
    assert_eq!(place["artifactLocation"]["uri"], uri, "{sarif}");
    assert_eq!(place["region"]["startLine"], 29, "{sarif}");
    let steps = &results[0]["codeFlows"][0]["threadFlows"][0]["locations"];
    assert!(!steps.as_array().unwrap().is_empty(), "{sarif}");

    let observe = ["--contents", "--observe", "belts.**"];
    program.record(&observe, &["depot.Main"]);
    let ended = open(
        &["minimize", "--open", "-o", "small", "run"],
        "no-such-browser",
    );
    let page = program.path("small/report.html").canonicalize().unwrap();
    let warning = format!(
        "culprit: warning: cannot open {}: no program",
        page.display()
    );
    says(&ended, 0, &warning);
    let again: serde_json::Value =
        serde_json::from_str(&program.read("small/report.sarif")).unwrap();
    let fingerprints = &again["runs"][0]["results"][0]["partialFingerprints"];
    assert_eq!(*fingerprints, results[0]["partialFingerprints"], "{again}");
}

#[test]
fn in_a_project_of_maven_or_gradle_the_command_of_the_tool_runs_the_test() {
    let program = Program::compile("crash", &[]);
    for (file, command) in [
        ("build.gradle", "gradle test --tests belts.BeltTest"),
        ("pom.xml", "mvn test -Dtest=BeltTest"),
        ("mvnw", "./mvnw test -Dtest=BeltTest"),
    ] {
        fs::write(program.path(file), "").unwrap();
        let _ = fs::remove_dir_all(program.path("out"));
        let ended = program.debug(&["depot.Main"]);
        let expect = format!("\n  to run it: copy it to src/test/java/belts, then {command}\n");
        says(&ended, 0, &expect);
        let report = program.read("out/report.md");
        assert!(report.contains(&format!("then `{command}`\n")), "{report}");
    }
}

#[test]
fn a_program_that_cannot_start_is_quoted_and_has_no_status_to_debug() {
    let program = Program::compile("crash", &[]);
    let ended = program.debug(&["depot.Mian"]);
    let message = "the command ended with 1, but no exception left a thread or a test\n  \
                   | Error: Could not find or load main class depot.Mian\n  \
                   | Caused by: java.lang.ClassNotFoundException: depot.Mian\n  its output is in ";
    says(&ended, 1, message);
    assert!(!ended.err.contains("--fails-if"), "{}", ended.err);
}

#[test]
fn a_hostile_message_is_text_wherever_it_is_printed() {
    let program = Program::compile("hostile", &[]);
    let ended = program.debug(&["-Ddb.password=hunter2", "gate.Main", "--token", "hunter2"]);
    says(&ended, 0, "compiled and run: fails the same way");
    let escaped = "\\u001b]0;OWNED\\u0007\\u009b2J\\u202e";
    assert!(ended.err.contains(escaped), "{}", ended.err);
    let test = program.report()["test"].as_str().unwrap().to_owned();
    let files = [
        &format!("out/{test}"),
        "out/report.md",
        "out/report.json",
        "out/repeat.sh",
        "out/report.sarif",
    ];
    let texts = files.map(|name| program.read(name));
    for text in texts.iter().chain([&ended.out, &ended.err]) {
        let is_bad = |c| c != '\n' && c != '\t' && culprit_model::clean::is_harmful(c);
        assert!(!text.contains(is_bad), "{text:?}");
        assert!(!text.contains("hunter2"), "{text}");
        assert!(
            !text.lines().any(|line| line.starts_with("# forged")),
            "{text}"
        );
    }
    let report: serde_json::Value = conforming::<TestsDocument>(&texts[2]).unwrap();
    let stack = report["tests"][0]["stack"].as_str().unwrap();
    assert!(stack.contains("\u{1b}]0;OWNED\u{7}"), "{stack:?}");
    let sarif: serde_json::Value = serde_json::from_str(&texts[4]).unwrap();
    let message = &sarif["runs"][0]["results"][0]["message"]["text"];
    let message = message.as_str().unwrap();
    assert!(message.contains(escaped), "{message:?}");
    assert!(texts[3].contains("'-Ddb.password=***' "), "{}", texts[3]);
    let recordings = culprit_trace::RunFolder::open(&program.path("out/witness")).unwrap();
    for path in recordings.recordings {
        let bytes = fs::read(path).unwrap();
        let recording = culprit_trace::Recording::open(&program.path("out/witness")).unwrap();
        let start = format!("{:?}", recording.start());
        assert!(start.contains("-Ddb.password=***"), "{start}");
        assert!(!start.contains("hunter2") && !bytes.windows(7).any(|it| it == b"hunter2"));
    }
}

#[test]
fn a_crash_is_shown_from_where_it_happened_too() {
    let program = Program::compile("levels", &[]);
    let ended = program.debug(&["road.Main"]);
    says(&ended, 0, "the innermost level: calls to tolls.Fee\n");
    insta::assert_snapshot!(ended.out);
    let inner = program.read("out/innermost/tolls/FeeTest.java");
    assert!(ended.out.ends_with(&inner), "{inner}");
}

#[test]
fn a_crash_is_shown_from_levels_in_between_too() {
    let program = Program::compile("between", &[]);
    let ended = program.debug(&["yard.Main"]);
    says(&ended, 0, "the innermost level: calls to haul.Share\n");
    says(&ended, 0, "a level in between: calls to haul.Route\n");
    insta::assert_snapshot!(ended.out);
    let between = program.read("out/between/haul/RouteTest.java");
    assert!(ended.out.ends_with(&between), "{between}");
    assert_eq!(program.levels(), ["outermost", "innermost", "between"]);
}

/// The method that throws does so for the one that calls it, which may be right to refuse what it is given.
#[test]
fn no_level_begins_at_a_method_that_refuses_what_it_is_given() {
    let program = Program::compile("between", &[]);
    let ended = program.debug(&["yard.Main", "spare"]);
    says(
        &ended,
        0,
        "IllegalArgumentException \"0 is too small\" at Checks.tooSmall",
    );
    assert_eq!(program.levels(), ["outermost"], "{}", ended.out);
    let left_out = program.report()["leftOut"].clone();
    for (at, class) in ["haul.Checks", "haul.Route"].into_iter().enumerate() {
        assert_eq!(left_out[at]["called"], class, "{left_out}");
        let why = left_out[at]["why"].as_str().unwrap();
        assert!(why.contains("may be right to refuse"), "{why}");
    }
}

#[test]
fn a_recording_of_the_crash_becomes_the_same_test() {
    let program = Program::compile("crash", &[]);
    program.record(&["--contents", "--observe", "belts.**"], &["depot.Main"]);
    let ended = program.culprit(["minimize", "run", "-o", "out"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!("a_crash_becomes_the_calls_that_it_needs", ended.out);
}

#[test]
fn a_reduction_that_ended_early_goes_on_where_it_was() {
    let program = Program::compile("crash", &[]);
    program.record(&["--contents", "--observe", "belts.**"], &["depot.Main"]);
    let minimize = ["minimize", "run", "-o", "out", "--jobs", "1"];
    let ended = program.culprit(minimize.into_iter().chain(["--max-tests", "40"]));
    says(&ended, 0, "may not be minimal: --max-tests was reached");
    let early = program.report();
    assert!(early["runs"].as_u64() <= Some(41), "{early}");
    let ended = program.culprit(minimize.into_iter().chain(["--resume"]));
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!("a_crash_becomes_the_calls_that_it_needs", ended.out);
    let resumed = program.report();
    fs::remove_dir_all(program.path("out")).unwrap();
    let ended = program.culprit(minimize);
    says(&ended, 0, "compiled and run: fails the same way");
    let whole = program.report();
    let runs = |test: &serde_json::Value| test["runs"].as_u64().unwrap();
    let saved = runs(&whole) - runs(&resumed);
    // Besides candidates each of them runs a few scripts that are no part of the search.
    assert!(
        (30..=runs(&early)).contains(&saved),
        "{early} {resumed} {whole}"
    );
}

#[test]
fn only_the_folder_of_a_reduction_can_be_gone_on_with() {
    let program = Program::compile("crash", &[]);
    program.record(&["--contents", "--observe", "belts.**"], &["depot.Main"]);
    for folder in ["run", "nowhere"] {
        let ended = program.culprit(["minimize", "run", "--resume", "-o", folder]);
        says(
            &ended,
            2,
            &format!("{folder} has no journal to resume from"),
        );
    }
}

#[test]
fn an_interrupt_ends_the_search_with_the_smallest_test_so_far() {
    let program = Program::compile("slow", &[]);
    // The first line names the problem, the second has a verdict.
    let has_verdict = || lines(&program.path("out/journal")) >= 2;
    let ended = program.interrupt_debug("shop.Main", has_verdict);
    says(&ended, 130, "may not be minimal: interrupted");
    says(&ended, 130, "compiled and run: fails the same way");
    assert_eq!(program.report()["minimal"], false);
    assert!(ended.out.contains("till.close()"), "{}", ended.out);
}

#[test]
fn an_interrupt_lets_the_check_of_the_test_end() {
    let program = Program::compile("merged", &[]);
    let compiles = || {
        let log = fs::read_to_string(program.path("out/culprit.log"));
        log.is_ok_and(|log| log.contains("bin/javac"))
    };
    let ended = program.interrupt_debug("desk.Main", compiles);
    says(&ended, 130, "compiled and run: fails the same way");
    assert!(ended.out.contains("room.free("), "{}", ended.out);
}

#[test]
fn calls_go_that_a_merged_object_makes_needless() {
    let program = Program::compile("merged", &[]);
    let ended = program.debug(&["desk.Main"]);
    says(&ended, 0, "compiled and run: fails the same way");
    // With the whole day every booking is needed, with the last hour only its own.
    let test = fs::read_to_string(program.path("out/tests/rooms/RoomTest.java")).unwrap();
    assert_eq!(test.matches("new Span(").count(), 1, "{test}");
    assert_eq!(test.matches("room.book(").count(), 1, "{test}");
}

/// The lines of all files of a folder.
fn lines(folder: &Path) -> usize {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let texts = files.map(|file| fs::read_to_string(file.path()).unwrap());
    texts.map(|text| text.lines().count()).sum()
}

#[test]
fn of_a_long_text_the_character_is_left_that_makes_it_crash() {
    let program = Program::compile("inputs", &[]);
    let ended = program.debug(&["desk.Main"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}

pub(crate) fn junit_5() -> Option<PathBuf> {
    let name = "junit-platform-console-standalone";
    library::jar("org.junit.platform", name, "1.10.2", None)
}

/// The tests run in a JVM that another one starts.
#[test]
fn assertions_that_are_made_step_by_step_are_such_too() {
    let assertj = library::jar("org.assertj", "assertj-core", "3.22.0", None);
    let (Some(console), Some(assertj)) = (junit_5(), assertj) else {
        return skipped("JUnit 5 and AssertJ");
    };
    let program = Program::compile("fluent", &[console, assertj]);
    let ended = program.debug(&["store.Forks"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}

/// A test that is fixed must not fail for the exception that it expects.
#[test]
fn code_that_assertj_runs_stays_in_its_lambda() {
    let assertj = library::jar("org.assertj", "assertj-core", "3.22.0", None);
    let (Some(console), Some(assertj)) = (junit_5(), assertj) else {
        return skipped("JUnit 5 and AssertJ");
    };
    let jars = [console, assertj];
    for (method, expect) in [
        ("aCatches", "catchThrowable(() -> stock.last())"),
        ("bIsThrown", ".isThrownBy(() -> stock.last())"),
    ] {
        let program = Program::compile("caught", &jars);
        let ended = program.debug(&[
            "org.junit.platform.console.ConsoleLauncher",
            "execute",
            "--disable-banner",
            "--details=none",
            &format!("--select-method=shop.CaughtTest#{method}"),
        ]);
        says(&ended, 0, "compiled and run: fails the same way");
        assert!(ended.out.contains(expect), "{}", ended.out);
    }
}

#[test]
fn a_failing_assertion_becomes_the_calls_behind_what_it_looks_at() {
    let Some(console) = junit_5() else {
        return skipped("JUnit 5");
    };
    let program = Program::compile("assertion", &[console]);
    let ended = program.debug(&[
        "org.junit.platform.console.ConsoleLauncher",
        "execute",
        "--disable-banner",
        "--details=none",
        "--select-class=postage.TariffTest",
    ]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
    assert_eq!(program.report()["runBy"], "JUnit platform");
}

/// The class path has both, and what a test of JUnit 4 expects is not said as JUnit 5 says it.
#[test]
fn a_failing_test_of_junit_4_that_junit_5_runs_becomes_one_of_junit_4() {
    let junit = library::jar("junit", "junit", "4.13.2", None);
    let hamcrest = library::jar("org.hamcrest", "hamcrest-core", "1.3", None);
    let (Some(console), Some(junit), Some(hamcrest)) = (junit_5(), junit, hamcrest) else {
        return skipped("JUnit 4 and 5");
    };
    let program = Program::compile("vintage", &[console, junit, hamcrest]);
    let ended = program.debug(&[
        "org.junit.platform.console.ConsoleLauncher",
        "execute",
        "--disable-banner",
        "--details=none",
        "--select-class=crowd.CrowdTest",
    ]);
    says(&ended, 0, "compiled and run: fails the same way");
    let expected = "@Test(expected = UnsupportedOperationException.class)";
    assert!(ended.out.contains(expected), "{}", ended.out);
    assert_eq!(program.report()["runBy"], "JUnitCore");
}

#[test]
fn a_test_is_run_by_junit_where_the_class_path_has_all_of_it() {
    let junit = library::jar("junit", "junit", "4.13.2", None);
    let hamcrest = library::jar("org.hamcrest", "hamcrest-core", "1.3", None);
    let (Some(junit), Some(hamcrest)) = (junit, hamcrest) else {
        return skipped("JUnit 4");
    };
    // Without Hamcrest JUnit 4 runs nothing.
    for (jars, run_by) in [
        (vec![junit.clone(), hamcrest], "JUnitCore"),
        (vec![junit], "plain main"),
    ] {
        let program = Program::compile("crash", &jars);
        let ended = program.debug(&["depot.Main"]);
        says(
            &ended,
            0,
            "compiled and run: fails the same way (same type, site, message and stack)",
        );
        assert!(
            ended.out.contains("import org.junit.Test;"),
            "{}",
            ended.out
        );
        let test = program.report();
        assert_eq!(test["runBy"], run_by, "{test}");
    }
}

/// What is expected and does not come, and what comes in its place. On a version that throws what is
/// expected, the tests pass.
#[test]
fn what_a_test_expects_to_be_thrown_the_small_one_expects_too() {
    let junit = library::jar("junit", "junit", "4.13.2", None);
    let hamcrest = library::jar("org.hamcrest", "hamcrest-core", "1.3", None);
    let (Some(junit), Some(hamcrest)) = (junit, hamcrest) else {
        return skipped("JUnit 4");
    };
    let program = Program::compile("expected", &[junit, hamcrest]);
    let ended = program.debug(&["org.junit.runner.JUnitCore", "shelf.ShelfExpectsTest"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
    // An exception that is missing comes from the branch that did not lead to it.
    says(
        &ended,
        0,
        "where it comes from, the failure first: Shelf.java:16 confirmed: if this goes the other way, nothing fails",
    );
    let origin = program.report()["origin"].clone();
    assert_eq!(origin["methods"][0]["method"], "put", "{origin}");
    // Also in a method that checks what another one was given, and with code behind it.
    says(
        &ended,
        0,
        "where it comes from, the failure first: Shelf.java:38 confirmed: if this goes the other way, nothing fails",
    );
}

/// `culprit debug --fails-if` on a program that throws nothing.
fn wrong(condition: &str, word: &str) -> (Program, Ended) {
    let program = Program::compile("wrong", &[]);
    let ended = program.debug_with(&["--fails-if", condition], &["market.Main", word]);
    (program, ended)
}

#[test]
fn what_a_program_prints_may_be_its_failure() {
    let (program, ended) = wrong("output contains -4 to pay", "print");
    says(&ended, 0, "compiled and run: fails the same way");
    says(
        &ended,
        0,
        "output contains -4 to pay\n  fails 2 of 2 times\n",
    );
    insta::assert_snapshot!(ended.out);
    assert!(
        program
            .read("out/repeat.sh")
            .contains("culprit debug --fails-if 'output contains -4 to pay' --jobs 2")
    );
}

#[test]
fn what_the_program_itself_prints_to_either_stream_may_be_matched() {
    let (_, ended) = wrong("output matches (?m)^cart is [a-z]+ zero$", "complain");
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn a_status_may_be_the_failure() {
    let (_, ended) = wrong("exit 3", "exit");
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn a_result_may_be_the_failure() {
    let (program, ended) = wrong("Cart.total returns -4", "go on");
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
    assert_eq!(program.report()["fails"], serde_json::Value::Null);
}

#[test]
fn an_expression_on_an_object_may_be_the_failure() {
    let (_, ended) = wrong("Cart c -> c.total() < 0", "nothing");
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn an_expression_must_compile_and_hold_for_an_object() {
    let (_, ended) = wrong("Cart c -> c.sum() < 0", "nothing");
    says(
        &ended,
        2,
        "the condition cannot be compiled: cannot find symbol",
    );
    let (_, ended) = wrong("Cart c -> c.total() > 1000", "nothing");
    says(
        &ended,
        1,
        "'Cart c -> c.total() > 1000' holds for no object",
    );
    let (_, ended) = wrong("Basket c -> c.total() < 0", "nothing");
    says(&ended, 1, "the driver has no object of a class Basket");
}

#[test]
fn what_the_driver_counts_depends_on_the_answers_of_the_program() {
    let ended = Program::compile("wrong", &[]).debug(&["market.Count"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!(ended.out);
}

#[test]
fn a_condition_that_does_not_hold_is_no_case() {
    let program = Program::compile("wrong", &[]);
    for (condition, message) in [
        (
            "output contains thunder",
            "the command's output does not contain thunder",
        ),
        (
            "output matches thun+der",
            "the command's output does not match thun+der",
        ),
        (
            "exit 4",
            "the command ended with 3, so 'exit 4' does not hold",
        ),
        (
            "Cart.weight returns 3",
            "the driver makes no call for which 'Cart.weight returns 3' holds",
        ),
        (
            "Cart.total returns 77",
            "the driver makes no call for which 'Cart.total returns 77' holds",
        ),
    ] {
        let ended = program.debug_with(&["--fails-if", condition], &["market.Main", "exit"]);
        says(&ended, 1, message);
        assert_eq!(ended.out, "");
        fs::remove_dir_all(program.path("out")).unwrap();
    }
    let ended = program.debug_with(&["--fails-if", "exit 0"], &["market.Main", "exit"]);
    says(&ended, 2, "a command that ends with 0 has not failed");
}

#[test]
fn a_budget_ends_the_search_with_the_smallest_test_so_far() {
    for (option, value) in [("--max-tests", "20"), ("--max-time", "1ms")] {
        let program = Program::compile("crash", &[]);
        let ended = program.debug_with(&[option, value], &["depot.Main"]);
        says(&ended, 0, "compiled and run: fails the same way");
        says(
            &ended,
            0,
            &format!("may not be minimal: {option} was reached"),
        );
        let test = program.report();
        assert_eq!(test["minimal"], false, "{test}");
        assert_eq!(test["verified"], true, "{test}");
        assert!(test["left"].as_u64() > Some(9), "{test}");
        // What is left is run once more before it is printed.
        assert!(test["runs"].as_u64() <= Some(21), "{test}");
        let reader = program.read("out/report.md");
        assert!(reader.contains("may not be minimal"), "{reader}");
    }
}

#[test]
fn numbers_of_a_message_that_differ_each_time_do_not_count() {
    let program = Program::compile("moody", &[]);
    let ended = program.debug(&["days.Main", "message"]);
    says(&ended, 0, "\n  fails 2 of 2 times\n");
    says(
        &ended,
        0,
        "fails the same way (same type, site, message and stack)",
    );
}

#[test]
fn a_failure_that_comes_only_sometimes_is_recorded_until_it_comes() {
    let program = Program::compile("moody", &[]);
    let ended = program.debug(&["days.Main", "sometimes"]);
    says(&ended, 0, "The runs end differently");
    says(&ended, 0, "\n  fails 2 of 3 times\n");
    let report = program.read("out/report.md");
    assert!(
        report.contains("The command fails 2 of 3 times."),
        "{report}"
    );
}

#[test]
fn of_several_failures_the_most_frequent_is_taken() {
    let program = Program::compile("moody", &[]);
    let ended = program.debug(&["days.Main", "mostly"]);
    says(&ended, 0, "left out: IllegalArgumentException \"bored\"");
    says(
        &ended,
        0,
        "at Mood.show (Mood.java:19)\n  fails 2 of 3 times\n",
    );
    assert_eq!(program.report()["fails"]["times"], 2);
}

#[test]
fn a_command_that_never_fails_the_same_way_is_no_case() {
    let program = Program::compile("moody", &[]);
    let ended = program.debug(&["days.Main", "never"]);
    says(&ended, 1, "the command fails differently on each run: ");
    says(&ended, 1, "\n  take out what differs");
    assert_eq!(ended.out, "");
}

#[test]
fn a_short_file_that_the_program_reads_is_written_by_the_test() {
    let program = Program::compile("files", &[]);
    fs::write(program.path("prices.txt"), "tea=3\nmilk\n").unwrap();
    let ended = program.debug(&["shop.Main", "read"]);
    says(
        &ended,
        0,
        "compiled and run: fails the same way (same type, site, message and stack)",
    );
    assert_eq!(program.report()["folder"], "an empty folder");
    assert!(
        ended.out.contains("Files.write(path, \"m\".getBytes());"),
        "{}",
        ended.out
    );
}

#[test]
fn files_that_the_program_finds_by_itself_are_named() {
    let program = Program::compile("limits", &[]);
    fs::create_dir(program.path("conf")).unwrap();
    fs::write(program.path("conf/trees.properties"), "most=0\n").unwrap();
    fs::write(program.path("notes.txt"), "none\n").unwrap();
    let ended = program.debug(&["office.Main", "file"]);
    says(&ended, 0, "it needs conf/trees.properties of ");
    assert_eq!(program.report()["files"][0], "conf/trees.properties");
    let comment = "It reads conf/trees.properties in its working folder.";
    let out = ended.out.replace("\n * ", " ");
    assert!(out.contains(comment), "{}", ended.out);
}

#[test]
fn limits_of_the_jvm_that_the_failure_needs_are_named_and_given() {
    let program = Program::compile("limits", &[]);
    let ended = program.debug(&["-Xss180k", "-Xmx300m", "office.Main", "stack"]);
    says(&ended, 0, "fails the same way");
    let options = &program.report()["jvmOptions"];
    assert_eq!(*options, serde_json::json!(["-Xss180k"]));
    let script = program.read("out/check/DepthTest/run.sh");
    assert!(script.contains(" -Xss180k "), "{script}");
}

#[test]
fn a_test_that_needs_assertions_says_so() {
    let program = Program::compile("limits", &[]);
    let ended = program.debug(&["-ea", "office.Main", "assert"]);
    says(&ended, 0, "fails the same way");
    assert!(
        ended.out.contains("It needs the JVM option -ea."),
        "{}",
        ended.out
    );
}

#[test]
fn files_that_must_be_written_are_written_elsewhere() {
    let program = Program::compile("files", &[]);
    let ended = program.debug(&["shop.Main", "write"]);
    says(
        &ended,
        0,
        "compiled and run: fails the same way (same type, site, message and stack)",
    );
    assert!(ended.out.contains("list.count(\""), "{}", ended.out);
}

#[test]
fn a_class_path_may_be_in_a_manifest_alone_whose_jar_is_gone() {
    let mut program = Program::compile("crash", &[]);
    let mut jar = zip::ZipWriter::new(fs::File::create(program.path("path.jar")).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    jar.start_file("META-INF/MANIFEST.MF", options).unwrap();
    let manifest = "Manifest-Version: 1.0\nClass-Path: lib/ app/\n";
    std::io::Write::write_all(&mut jar, manifest.as_bytes()).unwrap();
    jar.finish().unwrap();
    program.class_path = "path.jar".to_owned();
    let ended = program.debug(&["depot.Main"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!("a_crash_becomes_the_calls_that_it_needs", ended.out);
    let record = ["record", "--quiet", "--contents", "--observe", "belts.**"];
    let record = record.into_iter().chain(["-o", "run", "--"]);
    let record = record.map(str::to_owned);
    program.culprit(record.chain(program.java(&["depot.Main"])));
    fs::remove_file(program.path("path.jar")).unwrap();
    let ended = program.culprit(["minimize", "run", "-o", "again"]);
    says(&ended, 0, "compiled and run: fails the same way");
    insta::assert_snapshot!("a_crash_becomes_the_calls_that_it_needs", ended.out);
}

#[test]
fn a_command_that_does_not_fail_is_no_case() {
    let program = Program::compile("crash", &[]);
    let ended = program.debug(&["depot.Main", "well"]);
    let message = "the command does not fail: it ended with 0 and threw nothing";
    says(&ended, 1, message);
    assert_eq!(ended.out, "");
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let program = Program::compile("crash", &[]);
    fs::create_dir(program.path("out")).unwrap();
    fs::write(program.path("out/mine"), "").unwrap();
    let ended = program.debug(&["depot.Main"]);
    says(&ended, 2, "out is not empty");
    assert_eq!(fs::read_dir(program.path("out")).unwrap().count(), 1);
}

/// `culprit debug -o out -- sh -c ...`, and that nothing came of it.
#[track_caller]
fn refuses(script: &str, status: i32, message: &str) {
    let home = folder();
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
    let ended = process::run(culprit.args(["debug", "-o", "out", "--", "sh", "-c", script]));
    says(&ended, status, message);
    assert_eq!(ended.out, "");
}

#[test]
fn a_program_that_is_not_there_cannot_be_run() {
    let home = folder();
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
    let ended = process::run(culprit.args(["debug", "-o", "out", "--", "no-such-program"]));
    says(&ended, 3, "no program `no-such-program` on PATH");
    assert!(!home.path().join("out").exists());
}

#[test]
fn a_command_without_a_jvm_is_no_case() {
    let message = "the command started no JVM that could be recorded\n  its output is in ";
    refuses("exit 1", 3, message);
    let message = "could be recorded\n  | sh: no such luck\n  its output is in ";
    refuses("echo sh: no such luck; exit 1", 3, message);
    refuses("exit 1", 3, "\n  it may hand its work to a daemon");
}

#[test]
fn a_jvm_that_is_too_old_cannot_be_recorded() {
    // What an agent in a JVM of a build tool does.
    let script = "out=${JAVA_TOOL_OPTIONS#*out=}; \
        echo 'Java 8 is too old; 11 is the oldest that works' >\"${out%%,*}/jvm-1.log\"; exit 1";
    let message = "no JVM of the command can be recorded: Java 8 is too old; \
        11 is the oldest that works\n  run the command with a JDK 11 or newer";
    refuses(script, 3, message);
    // A `java` of a JDK that says so itself.
    let home = folder();
    fs::create_dir(home.path().join("bin")).unwrap();
    fs::copy("/bin/true", home.path().join("bin/java")).unwrap();
    fs::write(home.path().join("release"), "JAVA_VERSION=\"1.8.0_1\"\n").unwrap();
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
    let ended = process::run(culprit.args(["debug", "-o", "out", "--", "bin/java", "Main"]));
    says(&ended, 3, "is too old; 11 is the oldest that works");
    assert!(!home.path().join("out").exists());
}

#[test]
fn a_program_that_is_gone_is_asked_for() {
    let program = Program::compile("crash", &[]);
    program.record(&["--contents", "--observe", "belts.**"], &["depot.Main"]);
    fs::remove_dir_all(program.path("lib")).unwrap();
    let ended = program.culprit(["minimize", "run", "-o", "out"]);
    says(&ended, 3, "is not there any more: ");
    says(&ended, 3, "/lib is gone\n  build the program again");
    assert!(!program.path("out").exists());
}

#[test]
fn a_recording_without_contents_may_not_tell_enough() {
    let program = Program::compile("lists", &[]);
    program.record(&["--observe", "sums.**"], &["shop.Main"]);
    let ended = program.culprit(["minimize", "run", "-o", "out"]);
    says(&ended, 1, "record with --contents");
    assert_eq!(ended.out, "");
    fs::remove_dir_all(program.path("run")).unwrap();
    program.record(&["--contents", "--observe", "sums.**"], &["shop.Main"]);
    let ended = program.culprit(["minimize", "run", "-o", "again"]);
    says(&ended, 0, "compiled and run: fails the same way");
}

#[test]
fn a_recording_without_a_failure_has_no_test() {
    let stage = on_one_jdk();
    let fixture = Fixture::named("capture/failing");
    let recorded = stage.run(&fixture).args(&["well"]).record();
    let home = folder();
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
    let ended = process::run(culprit.arg("minimize").arg(&recorded.run));
    says(&ended, 4, "the recorded program did not fail");
    assert!(!home.path().join("culprit-minimize").exists());
}

#[test]
fn what_is_no_recording_cannot_be_read() {
    let home = folder();
    fs::write(home.path().join("jvm-1.culprit"), "nothing of the kind").unwrap();
    fs::create_dir(home.path().join("empty")).unwrap();
    for (path, status) in [("jvm-1.culprit", 4), ("nowhere", 2), ("empty", 4)] {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), home.path());
        let ended = process::run(culprit.args(["minimize", path]));
        says(&ended, status, path);
        assert!(!home.path().join("culprit-minimize").exists());
    }
}

#[test]
fn where_the_main_class_is_the_program_its_own_calls_are_the_test() {
    let program = Program::compile("single", &[]);
    let ended = program.debug(&["till.Till"]);
    says(&ended, 0, "compiled and run: fails the same way");
    assert!(ended.out.contains("Till.total(\""), "{}", ended.out);
    assert!(!ended.out.contains("main("), "{}", ended.out);
    assert_eq!(program.report()["left"], 1, "{}", ended.out);
}

/// There is nothing that a test could call; the commands of the message show what the failure depended on.
#[test]
fn a_program_that_is_only_main_is_sliced() {
    let program = Program::compile("single", &[]);
    let ended = program.debug(&["cellar.Cellar"]);
    says(&ended, 1, "which is the program again");
    says(
        &ended,
        1,
        "culprit record -o run --contents --observe cellar.Cellar -- ..., then culprit slice run",
    );
    program.record(
        &["--contents", "--observe", "cellar.Cellar"],
        &["cellar.Cellar"],
    );
    let ended = program.culprit(["slice", "run"]);
    says(&ended, 0, "");
    assert!(ended.out.contains("depends on 4\n"), "{}", ended.out);
    assert!(ended.out.contains("branch at 8"), "{}", ended.out);
}

#[test]
fn a_method_that_main_calls_on_null_fails_in_the_test_as_well() {
    let program = Program::compile("absent", &[]);
    let ended = program.debug(&["desk.Desk"]);
    says(&ended, 0, "compiled and run: fails the same way");
    let call = "new Desk().keyOf(\"";
    assert!(ended.out.contains(call), "{}", ended.out);
    assert!(ended.out.contains("\").room();"), "{}", ended.out);
}

#[test]
fn a_failure_in_a_pool_of_threads_is_its_cause() {
    let program = Program::compile("pooled", &[]);
    let ended = program.debug(&["yard.Main"]);
    says(&ended, 0, "\nIllegalStateException \"");
    says(&ended, 0, "compiled and run: fails the same way");
    assert!(
        ended.out.contains("shelf.take(\"screws\", "),
        "{}",
        ended.out
    );
    assert!(!ended.out.contains("Executor"), "{}", ended.out);
    // A recording of the same run has the same failure.
    program.record(&["--contents", "--observe", "stock.*"], &["yard.Main"]);
    let ended = program.culprit(["minimize", "run", "-o", "again"]);
    says(&ended, 0, "compiled and run: fails the same way");
}
