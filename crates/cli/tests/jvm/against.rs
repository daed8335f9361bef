//! Recordings of fixtures run again against other versions of their classes.

use std::path::{Path, PathBuf};

use culprit_report::document::conforming;
use culprit_report::replay::ReplayDocument;

use crate::fixture::Fixture;
use crate::process::{self, Ended};
use crate::replay::{STRICT, record, replayed};
use crate::stage::{Stage, folder, on_every_jdk, on_one_jdk};

/// Compiles another version of the observed class.
pub(crate) fn version(stage: &Stage, fixture: &Fixture, name: &str, to: &Path) -> PathBuf {
    let classes = to.join(name);
    let mut javac = stage.javac(to);
    javac
        .args(["-g", "-nowarn", "-cp"])
        .arg(&stage.classes)
        .arg("-d")
        .arg(&classes)
        .arg(fixture.folder.join(name).join("In.java"));
    let ended = process::run(&mut javac);
    assert_eq!(ended.status, 0, "{}", ended.err);
    classes
}

/// Replays a version, and gives what was said without what changes from run to run.
pub(crate) fn against(name: &str, args: &[&str], judge: impl FnMut(&Ended, &str)) {
    version_of("replay/versions", name, args, judge);
}

/// The same for a version of any fixture.
fn version_of(path: &str, name: &str, args: &[&str], mut judge: impl FnMut(&Ended, &str)) {
    let fixture = Fixture::named(path);
    on_every_jdk(&fixture, |stage| {
        let other = folder();
        let classes = version(stage, &fixture, name, other.path());
        let recorded = record(stage, path);
        let mut all = vec!["--against", classes.to_str().unwrap()];
        all.extend(args);
        let ended = replayed(stage, &recorded, &all);
        let said = ended.out.replace(classes.to_str().unwrap(), "CP");
        let lines = said.lines().filter(|line| !line.starts_with("  look at "));
        judge(&ended, &lines.collect::<Vec<_>>().join("\n"));
    });
}

#[track_caller]
fn check_against(name: &str, expect: &str) {
    against(name, &STRICT, |ended, said| {
        assert_eq!((ended.status, said), (1, expect), "{ended:?}");
        let long = ended.out.lines().filter(|line| line.chars().count() > 80);
        let long: Vec<_> = long.filter(|line| !line.contains("culprit show")).collect();
        assert!(
            long.iter().all(|line| line.starts_with("Against ")),
            "{long:?}"
        );
        assert!(ended.out.contains("--events --range "), "{}", ended.out);
    });
}

#[test]
fn another_result_is_a_difference() {
    check_against(
        "result",
        r#"Against CP: 1 of 1 class differs
Out of sync at event 6 of 9, in thread t1 "main"
  recorded    <= In.total = 600
              at In.java:7
  replayed    <= In.total = 601
              at In.java:7
  difference  the result differs: 601, not 600
  within      versions.In.total (In.java:7)
Changed classes:
  versions.In
    changed  total(String, int)"#,
    );
}

#[test]
fn a_method_that_is_gone_is_a_difference() {
    check_against(
        "removed",
        r#"Against CP: 1 of 1 class differs
Out of sync at event 7 of 9, in thread t1 "main"
  recorded    => versions.In.label("tea") on #1 In
              at In.java:12
  replayed    versions.In has no label(Ljava/lang/String;)Ljava/lang/String;
Changed classes:
  versions.In
    removed  label(String)"#,
    );
}

#[test]
fn a_call_that_was_not_made_is_a_difference() {
    check_against(
        "call",
        r#"Against CP: 1 of 1 class differs
Out of sync at event 6 of 9, in thread t1 "main"
  recorded    <= In.total = 600
              at In.java:7
  replayed    -> versions.Main.price("")
              at In.java:8
  difference  the recording has incoming-return, the replay outgoing-call
  within      versions.In.total (In.java:7)
Changed classes:
  versions.In
    changed  total(String, int)"#,
    );
}

/// The same with `--on-divergence skip`.
#[track_caller]
fn check_skipping(name: &str, status: i32, expect: &str) {
    let args: Vec<&str> = ["--on-divergence", "skip"]
        .into_iter()
        .chain(STRICT)
        .collect();
    against(name, &args, |ended, said| {
        let (_, said) = said.split_once("\nOut of sync: ").unwrap_or(("", said));
        let (said, _) = said.split_once("\nChanged classes:").unwrap_or((said, ""));
        assert_eq!((ended.status, said), (status, expect), "{ended:?}");
    });
}

#[test]
fn after_another_result_a_replay_can_go_on() {
    check_skipping(
        "result",
        1,
        r#"1 difference, replayed to the end

Out of sync at event 6 of 9, in thread t1 "main"
  recorded    <= In.total = 600
              at In.java:7
  replayed    <= In.total = 601
              at In.java:7
  difference  the result differs: 601, not 600
  within      versions.In.total (In.java:7)"#,
    );
}

#[test]
fn calls_that_are_not_made_any_more_are_skipped() {
    check_skipping(
        "fewer",
        1,
        r#"1 difference, replayed to the end

Out of sync at event 4 of 9, in thread t1 "main"
  recorded    -> versions.Main.price("tea")
              at In.java:8
  replayed    <= In.total = 600
              at In.java:7
  difference  the recording has outgoing-call, the replay incoming-return; 2 of
              the recording's events are skipped
  within      versions.In.total (In.java:7)"#,
    );
}

#[test]
fn nothing_answers_a_call_that_was_never_made() {
    let args = ["--on-divergence", "skip"];
    against("call", &args, |ended, said| {
        assert_eq!(ended.status, 1, "{ended:?}");
        assert!(said.contains("Out of sync at event 6 of 9"), "{said}");
    });
    against("both", &args, |ended, said| {
        assert_eq!(ended.status, 1, "{ended:?}");
        let expect = "Out of sync: 2 differences, no recorded event matches the last one\n";
        assert!(said.contains(expect), "{said}");
    });
}

#[test]
fn differences_are_shown_one_by_one_to_who_asks() {
    let args = ["--on-divergence", "ask"];
    against("both", &args, |ended, said| {
        assert_eq!(ended.status, 1, "{ended:?}");
        // The input has ended, which is a no.
        assert_eq!(said.matches("Out of sync at").count(), 1, "{said}");
        assert_eq!(ended.err, "Go on after it (1 more)? [Y/n] \n");
    });
}

#[test]
fn moved_lines_and_further_classes_are_no_difference() {
    for (name, differ, changes) in [
        ("moved", "none of 1 class differs", ""),
        (
            "larger",
            "1 of 1 class differs",
            "\nChanged classes:\n  versions.In\n    removed  asked\n    added    counter\n    changed  In()\n    \
             changed  total(String, int)\n    changed  label(String)\n\
             1 class that the recording never used is not compared",
        ),
    ] {
        against(name, &STRICT, |ended, said| {
            assert_eq!(ended.status, 0, "{ended:?}");
            let start = format!("Against CP: {differ}\nIn sync: ");
            assert!(said.starts_with(&start), "{said}");
            assert!(said.ends_with(changes), "{said}");
        });
    }
}

#[test]
fn a_class_path_without_any_of_the_classes_is_refused() {
    let stage = on_one_jdk();
    let empty = folder();
    let recorded = record(stage, "replay/versions");
    let ended = replayed(
        stage,
        &recorded,
        &["--against", empty.path().to_str().unwrap()],
    );
    assert_eq!(ended.status, 4, "{ended:?}");
    let said = ended.err.replace('\n', " ");
    let expect = "has none of its 1 observed class, such as versions.In";
    assert!(said.contains(expect), "{said}");
    let ended = replayed(stage, &recorded, &["--against", "nowhere.jar"]);
    assert_eq!(ended.status, 2, "{ended:?}");
}

#[test]
fn a_class_that_the_other_version_lacks_is_replayed_as_recorded() {
    version_of("replay/releases", "partial", &STRICT, |ended, said| {
        assert_eq!(ended.status, 1, "{ended:?}");
        let start = "Against CP: 1 of 2 classes differs\n  1 recorded class is not there: \
                     releases.InLine; it is replayed as recorded\nOut of sync at ";
        assert!(said.starts_with(start), "{said}");
        let end = "\nChanged classes:\n  releases.In\n    changed  pay(int)";
        assert!(said.ends_with(end), "{said}");
    });
}

#[test]
fn a_static_initialiser_that_the_other_version_lacks_is_skipped() {
    version_of("replay/releases", "plain", &STRICT, |ended, said| {
        assert_eq!(ended.status, 0, "{ended:?}");
        assert!(said.contains("\nIn sync: "), "{said}");
        assert!(said.contains("\n    removed  static initialiser"), "{said}");
    });
}

#[test]
fn of_long_texts_the_first_difference_is_shown() {
    version_of("replay/releases", "report", &STRICT, |ended, said| {
        assert_eq!(ended.status, 1, "{ended:?}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let expect = "difference the result differs: from character 684 on, ...\" fine; the total \
                      is 820 EUR\", not ...\" fine; the total is 780 EUR\"";
        assert!(said.contains(expect), "{said}");
    });
    let args: Vec<&str> = STRICT.into_iter().chain(["--json"]).collect();
    version_of("replay/releases", "report", &args, |ended, _| {
        let document = conforming::<ReplayDocument>(&ended.out).unwrap();
        let difference = &document["recordings"][0]["difference"];
        for (side, total) in [("recorded", "780"), ("replayed", "820")] {
            let value = difference[side]["values"][0].as_str().unwrap();
            let end = format!("the total is {total} EUR\"");
            assert!(value.starts_with("\"line 0 is fine; "), "{value}");
            assert!(value.ends_with(&end), "{value}");
        }
    });
}
