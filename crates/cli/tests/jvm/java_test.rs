//! `culprit isolate input --java-test`: a real library that cannot read some input, by tests of
//! JUnit 3, 4 and 5. SnakeYAML 1.17 takes no characters beyond 16 bits.

use std::fs;
use std::path::{Path, PathBuf};

use crate::library::jar;
use crate::process::{self, Ended, command};
use crate::stage::{Stage, folder, on_one_jdk, skipped, stages};

const RESOURCE: &str = "classes/data/settings.yml";

/// A project of which the tests are compiled.
struct Project {
    home: tempfile::TempDir,
    jdk: PathBuf,
    junit4: String,
    junit5: String,
    yaml: String,
}

impl Project {
    /// `None` where the libraries are not to be had.
    fn compile(stage: &Stage) -> Option<Project> {
        let junit = jar("junit", "junit", "4.13.2", None)?;
        let hamcrest = jar("org.hamcrest", "hamcrest-core", "1.3", None)?;
        let (platform, console) = ("org.junit.platform", "junit-platform-console-standalone");
        let junit5 = jar(platform, console, "1.10.2", None)?;
        let yaml = jar("org.yaml", "snakeyaml", "1.17", None)?;
        let text = |path: PathBuf| path.display().to_string();
        let project = Project {
            home: folder(),
            jdk: stage.jdk.home.clone(),
            junit4: format!("{}:{}", text(junit), text(hamcrest)),
            junit5: text(junit5),
            yaml: text(yaml),
        };
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/isolate/settings");
        let sources = fs::read_dir(sources).unwrap().map(|it| it.unwrap().path());
        let mut javac = stage.javac(project.home.path());
        let path = [&*project.junit4, &project.junit5, &project.yaml].join(":");
        javac
            .args(["-g", "-d", "classes", "-cp", &path])
            .args(sources);
        let ended = process::run(&mut javac);
        assert_eq!(ended.status, 0, "{}", ended.err);
        let text = settings();
        for place in [RESOURCE, "conf/settings.yml"] {
            let place = project.home.path().join(place);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, &text).unwrap();
        }
        Some(project)
    }

    fn isolate(&self, test: &str, path: &str, words: &[&str]) -> (Ended, serde_json::Value) {
        let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), self.home.path());
        culprit
            .env("JAVA_HOME", &self.jdk)
            .args(["isolate", "input", "--json", "--java-test"])
            .args([&format!("settings.{test}"), "-cp", path])
            .args(words);
        let out = self.home.path().join("culprit-isolate");
        let _ = fs::remove_dir_all(out);
        let ended = process::run(&mut culprit);
        let report = serde_json::from_str(&ended.out).unwrap_or_default();
        (ended, report)
    }

    fn with_junit4(&self) -> String {
        format!("classes:{}:{}", self.junit4, self.yaml)
    }

    /// The character that decides is what both sides differ in.
    #[track_caller]
    fn finds_it(&self, told: &(Ended, serde_json::Value)) {
        let (ended, report) = told;
        assert_eq!(ended.status, 0, "{}", ended.err);
        assert_eq!(report["bytes"]["difference"], 4, "{report}");
        let failure = report["failure"].as_str().unwrap();
        assert!(failure.starts_with("ReaderException"), "{failure}");
        let read = |name: &str| {
            let path = self.home.path().join("culprit-isolate").join(name);
            fs::read_to_string(path).unwrap()
        };
        let (failing, passing) = (read("failing.yml"), read("passing.yml"));
        assert!(failing.contains('\u{1f600}') && !passing.contains('\u{1f600}'));
        // The user's own is as it was.
        let own = fs::read_to_string(self.home.path().join(RESOURCE)).unwrap();
        assert_eq!(own, settings());
    }
}

fn settings() -> String {
    let lines = (0..12).map(|number| match number {
        0 => "first: 1\n".to_owned(),
        7 => "greeting: \"Hello \u{1f600} there\"\n".to_owned(),
        _ => format!("option{number}: [{number}, x]\n"),
    });
    lines.collect()
}

fn project() -> Option<Project> {
    let project = Project::compile(on_one_jdk());
    if project.is_none() {
        skipped("tests of JUnit as oracles");
    }
    project
}

#[test]
fn a_resource_is_found_and_isolated_in_warm_jvms_on_every_jdk() {
    for stage in stages() {
        let Some(project) = Project::compile(stage) else {
            return skipped("tests of JUnit as oracles");
        };
        let path = project.with_junit4();
        let told = project.isolate("SettingsTest#readsTheResource", &path, &[RESOURCE]);
        project.finds_it(&told);
        let said = &told.0.err;
        assert!(said.contains("the resource data/settings.yml of"), "{said}");
        assert_eq!(told.1["warm"], true, "{}", told.1);
    }
}

#[test]
fn verdicts_are_gone_on_with_in_another_scratch_folder() {
    let Some(project) = project() else { return };
    let path = project.with_junit4();
    let run = |words: &[&str]| {
        let words = [&[RESOURCE, "-o", "kept"], words].concat();
        project.isolate("SettingsTest#readsTheResource", &path, &words)
    };
    let (ended, report) = run(&["--max-tests", "4"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!(report["minimal"], false, "{report}");
    let (ended, report) = run(&["--resume"]);
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert_eq!(report["bytes"]["difference"], 4, "{report}");
    assert!(report["replayed"].as_u64() >= Some(3), "{report}");
}

#[test]
fn each_junit_runs_its_tests() {
    let Some(project) = project() else { return };
    let (junit4, junit5, yaml) = (&project.junit4, &project.junit5, &project.yaml);
    for (test, path) in [
        ("OldTest#testReads", project.with_junit4()),
        (
            "JupiterTest#readsTheResource",
            format!("classes:{junit5}:{yaml}"),
        ),
        // Both are there: each test is run by its own.
        (
            "SettingsTest#readsTheResource",
            format!("classes:{junit5}:{junit4}:{yaml}"),
        ),
    ] {
        let told = project.isolate(
            test,
            &path,
            &["conf/settings.yml", "--resource", "data/settings.yml"],
        );
        project.finds_it(&told);
    }
}

#[test]
fn a_file_is_read_from_a_folder_that_looks_like_that_of_the_user() {
    let Some(project) = project() else { return };
    fs::remove_file(project.home.path().join(RESOURCE)).unwrap();
    let path = project.with_junit4();
    let told = project.isolate("SettingsTest#readsTheFile", &path, &["conf/settings.yml"]);
    fs::write(project.home.path().join(RESOURCE), settings()).unwrap();
    project.finds_it(&told);
    let said = &told.0.err;
    assert!(said.contains("as the file conf/settings.yml"), "{said}");
    assert!(!project.home.path().join("left-over").exists());
}

#[test]
fn a_test_that_ends_its_jvm_has_no_verdict_and_the_next_one_has_another_jvm() {
    let Some(project) = project() else { return };
    let path = project.with_junit4();
    let told = project.isolate("SettingsTest#exitsOrReads", &path, &[RESOURCE]);
    let (ended, report) = &told;
    assert_eq!(ended.status, 0, "{}", ended.err);
    assert!(report["unresolved"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(report["warm"], true, "{report}");
    // A part of the character is another one to this test.
    assert!(
        report["bytes"]["difference"].as_u64().unwrap() <= 4,
        "{report}"
    );
}

#[test]
fn a_new_jvm_has_the_last_word() {
    let Some(project) = project() else { return };
    let path = project.with_junit4();
    for test in ["leavesATrace", "wearsOut"] {
        let test = format!("SettingsTest#{test}");
        let told = project.isolate(&test, &path, &[RESOURCE, "--jobs", "1"]);
        project.finds_it(&told);
        assert_eq!(told.1["warm"], false, "{test}: {}", told.1);
        let report = project.home.path().join("culprit-isolate/report.md");
        let report = fs::read_to_string(report).unwrap();
        assert!(report.contains("runs affected each other"), "{report}");
    }
    let words = [RESOURCE, "--fresh-jvm"];
    let told = project.isolate("SettingsTest#leavesATrace", &path, &words);
    project.finds_it(&told);
    assert_eq!(told.1["warm"], false, "{}", told.1);
}

#[test]
fn what_is_no_such_test_is_told() {
    let Some(project) = project() else { return };
    let path = project.with_junit4();
    let check = |test: &str, path: &str, status: i32, message: &str| {
        let (ended, _) = project.isolate(test, path, &[RESOURCE]);
        assert_eq!(ended.status, status, "{test}: {}", ended.err);
        // A line may end anywhere.
        let said = ended.err.replace("\n  ", " ");
        assert!(said.contains(message), "{test}: {said}");
        // The next try finds the folder as this one did.
        assert!(
            !project.home.path().join("culprit-isolate").exists(),
            "{test}"
        );
    };
    check(
        "NoTest#reads",
        &path,
        3,
        "the class path has no class settings.NoTest",
    );
    check("SettingsTest#nope", &path, 3, "has no method nope");
    check(
        "SettingsTest#skipsItself",
        &path,
        3,
        "the test skips itself",
    );
    check("SettingsTest#isIgnored", &path, 3, "it may be ignored");
    check("SettingsTest#exits", &path, 3, "ends its JVM");
    check(
        "SettingsTest#readsNothing",
        &path,
        1,
        "fails on an empty input too",
    );
    let no_test = "is no test of a JUnit on the class path";
    check("SettingsTest#setUp", &path, 3, no_test);
    let without = format!("classes:{}", project.yaml);
    check("JupiterTest#readsTheResource", &without, 3, no_test);
}

#[test]
fn the_failure_may_be_that_of_a_log_or_a_recording() {
    let Some(project) = project() else { return };
    let path = project.with_junit4();
    let log = "12:00 started\n12:01 cannot handle it\nweb.Failure: nested\n\
               \tat web.Front.handle(Front.java:10)\n\
               Caused by: org.yaml.snakeyaml.reader.ReaderException: special characters\n\
               \tat org.yaml.snakeyaml.reader.StreamReader.checkPrintable(StreamReader.java:1)\n\
               \tat web.Front.handle(Front.java:8)\n";
    fs::write(project.home.path().join("app.log"), log).unwrap();
    let words = [RESOURCE, "--like", "app.log"];
    let told = project.isolate("SettingsTest#readsTheResource", &path, &words);
    project.finds_it(&told);
    let other = log.replace("checkPrintable", "peek");
    fs::write(project.home.path().join("app.log"), other).unwrap();
    let (ended, _) = project.isolate("SettingsTest#readsTheResource", &path, &words);
    assert_eq!(ended.status, 1, "{}", ended.err);
    assert!(
        ended.err.contains("fails in another way: ReaderException"),
        "{}",
        ended.err
    );
    assert!(
        ended.err.contains("--like asks for: ") && ended.err.contains("peek"),
        "{}",
        ended.err
    );
    // What `culprit record` saw of the same test.
    let mut culprit = command(env!("CARGO_BIN_EXE_culprit"), project.home.path());
    let record = ["record", "-o", "run", "--observe", "settings.*", "--"];
    let java = project.jdk.join("bin/java").display().to_string();
    let junit = ["org.junit.runner.JUnitCore", "settings.OldTest"];
    culprit.args(record).args([&java, "-cp", &path]).args(junit);
    let recorded = process::run(&mut culprit);
    let words = [RESOURCE, "--like", "run"];
    let told = project.isolate("SettingsTest#readsTheResource", &path, &words);
    assert_eq!(told.0.status, 0, "{}\n{}", told.0.err, recorded.err);
    project.finds_it(&told);
}
