//! Runs that end early, and those that go on with an earlier one.

use crate::stage::{Stage, Told};

#[test]
fn verdicts_are_not_those_of_another_pair_and_are_not_lost() {
    let stage = Stage::new();
    stage.put("a.txt", "1\nBUG\n3\n4\n");
    stage.put("b.txt", "1\n2\n3\n4\n");
    stage.put("c.txt", "0\n2\n3\n4\n");
    let with = |passing: &str, more: &[&str]| {
        let words = ["--test", "! grep -q BUG", "a.txt", "--passing", passing];
        stage.run(&[&words[..], more].concat())
    };
    assert_eq!(with("b.txt", &[]).status, Some(0));
    let pair = stage.text("culprit-isolate/difference.diff");
    // Verdicts of another pair, or of another wish, are not gone on with.
    for (told, part) in [
        (
            with("c.txt", &["--resume"]),
            "search: the passing input has changed",
        ),
        (
            with("b.txt", &["--resume", "--simplify"]),
            "search: --simplify was not set, and is set now",
        ),
        (
            with("b.txt", &["--resume", "--same", "any"]),
            "search: --same was place, and is any now",
        ),
        (
            with("b.txt", &["--resume", "--stdin", "--language", "none"]),
            "search: --language was not set, and is none now; --stdin was not set, and is set now",
        ),
    ] {
        assert_eq!(told.status, Some(2), "{}", told.err);
        let said: Vec<&str> = told.err.split_whitespace().collect();
        assert!(said.join(" ").contains(part), "{}", told.err);
    }
    assert_eq!(stage.text("culprit-isolate/difference.diff"), pair);
    // What cannot go on leaves what there was.
    let before = stage.text("culprit-isolate/candidates.jsonl");
    let told = stage.run(&["--test", "true", "a.txt", "--passing", "b.txt", "--resume"]);
    assert_eq!(told.status, Some(2), "{}", told.out);
    assert_eq!(stage.text("culprit-isolate/candidates.jsonl"), before);
    assert_eq!(with("b.txt", &["--resume"]).status, Some(0));
    // Git overlooks the folder.
    assert_eq!(stage.text("culprit-isolate/.gitignore"), "*\n");
}

#[test]
fn verdicts_of_another_version_are_not_used_and_not_lost() {
    let stage = Stage::new();
    stage.put("a.txt", "1\nBUG\n3\n4\n");
    let words = ["--simplify", "--test", "! grep -q BUG", "a.txt"];
    assert_eq!(stage.run(&words).status, Some(0));
    let name = "culprit-isolate/journal/001-sections";
    let journal = stage.text(name);
    let old = journal.replacen("journal 2 ", "journal 1 ", 1);
    assert_ne!(old, journal);
    stage.put(name, &old);
    let told = stage.run(&[&words[..], &["--resume"]].concat());
    assert_eq!(told.status, Some(2), "{}", told.err);
    let why = "is a journal of version 1, and this is version 2";
    // A line may end anywhere.
    let said: Vec<&str> = told.err.split_whitespace().collect();
    assert!(said.join(" ").contains(why), "{}", told.err);
    assert_eq!(stage.text(name), old);
}

#[test]
fn a_test_that_changed_is_noticed_when_it_is_gone_on_with() {
    let stage = Stage::new();
    let lines: Vec<String> = (100..200).map(|number| format!("{number}\n")).collect();
    stage.put("a.txt", lines.concat());
    stage.put("wanted", "177");
    let words = ["--simplify", "--test", "! grep -qf wanted {}", "a.txt"];
    assert_eq!(stage.run(&words).status, Some(0));
    stage.put("wanted", "155");
    let told = stage.run(&[&words[..], &["--resume"]].concat());
    assert_eq!(told.status, Some(1), "{}", told.out);
    assert!(told.err.contains("no longer hold"), "{}", told.err);
}

#[test]
fn time_that_is_up_is_told_as_that() {
    let stage = Stage::new();
    stage.put("a.txt", "one\nbad\n");
    for goal in [&["--simplify"][..], &[]] {
        let words = [
            "--max-time",
            "1ms",
            "--test",
            "! grep -q bad {}",
            "a.txt",
            "-o",
        ];
        let out = format!("out{}", goal.len());
        let told = stage.run(&[&words[..], &[&out], goal].concat());
        assert_eq!(told.status, Some(0), "{}", told.err);
        assert!(told.err.contains("--max-time was reached"), "{}", told.err);
    }
}

#[test]
fn a_search_that_reached_a_limit_continues_under_another_one() {
    let stage = Stage::new();
    let lines: Vec<String> = (100..200).map(|number| format!("{number}\n")).collect();
    stage.put("a.txt", lines.concat());
    let words = ["--simplify", "--test", "! grep -q 177 {}", "a.txt"];
    let with = |more: &[&str]| stage.run(&[&words[..], more].concat());
    let told = with(&["--max-tests", "3"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    let resume =
        "culprit isolate input a.txt --simplify --test '! grep -q 177 {}' --timeout 5m --resume";
    let continued = format!("  to continue:\n    {resume} --jobs 2 -o culprit-isolate\n");
    assert!(told.err.contains(&continued), "{}", told.err);
    let told = with(&["--resume", "--max-time", "1ms", "--jobs", "1"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    // What is printed continues it.
    let continued = format!("{resume} --jobs 1 --max-time 1ms -o culprit-isolate");
    assert!(told.err.contains(&continued), "{}", told.err);
    assert!(stage.text("culprit-isolate/report.md").contains(&continued));
    let told = with(&["--resume"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(!told.err.contains("to continue"), "{}", told.err);
    assert_eq!(stage.text("culprit-isolate/failing.txt"), "177");
    let report: serde_json::Value =
        serde_json::from_str(&stage.text("culprit-isolate/report.json")).unwrap();
    assert!(report["replayed"].as_u64().unwrap() >= 3, "{report}");
}

#[test]
fn max_tests_bounds_the_runs_of_all_passes_together() {
    let words: Vec<String> = (0..40).map(|number| format!("word{number} x\n")).collect();
    for goal in [&["--simplify"][..], &[]] {
        for most in ["1", "5", "20"] {
            let stage = Stage::new();
            stage.put("a.txt", words.concat());
            let test = "echo >>runs; ! (grep -q word17 {} && grep -q word3 {})";
            let options = ["--jobs", "1", "--max-tests", most, "--test", test, "a.txt"];
            let told = stage.run(&[&options[..], goal].concat());
            assert_eq!(told.status, Some(0), "{}", told.err);
            // Both sides are run twice before, and at last the failing one once and the other three times.
            let runs = stage.text("runs").lines().count();
            assert!(
                runs <= 4 + most.parse::<usize>().unwrap() + 4,
                "{goal:?} {most}: {runs}"
            );
        }
    }
}

#[test]
fn max_time_bounds_the_runs_of_the_check_at_the_end() {
    let stage = Stage::new();
    stage.put("a.txt", "one\nbad\n");
    // Both sides are run twice. Each later run hangs until it is ended.
    let test = "echo >>runs; test $(wc -l <runs) -le 4 || exec sleep 1000; ! grep -q bad {}";
    let told = stage.run(&["--max-time", "1ms", "--test", test, "a.txt"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    // Each is ended after two seconds, and the last one after fifteen; without a bound there are 18 runs.
    let runs = stage.text("runs").lines().count();
    assert!(runs <= 4 + 8, "{runs}");
}

#[test]
fn an_interrupted_run_leaves_its_best_and_goes_on_later() {
    let stage = Stage::new();
    let words: Vec<String> = (0..300).map(|number| format!("word{number}\n")).collect();
    stage.put("a.txt", words.concat());
    // It interrupts who runs it, once some verdicts are there.
    let test = "echo >>runs; test $(wc -l <runs) -ne 16 || kill -INT $PPID; \
                ! (grep -q word17 {} && grep -q word250 {})";
    let words = ["--jobs", "1", "--simplify", "--test", test, "a.txt"];
    let Told { status, err, .. } = stage.run(&words);
    assert_eq!(status, Some(130), "{err}");
    assert!(err.contains("may not be minimal: interrupted"), "{err}");
    let best = stage.text("culprit-isolate/failing.txt");
    assert!(best.contains("word17") && best.contains("word250") && best.len() < 2_000);
    let runs = stage.text("runs").lines().count();
    let told = stage.run(&[&words[..], &["--resume"]].concat());
    assert_eq!(told.status, Some(0), "{}", told.err);
    let report: serde_json::Value =
        serde_json::from_str(&stage.text("culprit-isolate/report.json")).unwrap();
    assert!(report["replayed"].as_u64().unwrap() >= 8, "{report}");
    let more = stage.text("runs").lines().count() - runs;
    assert_eq!(report["runs"].as_u64().unwrap(), more as u64, "{report}");
    assert_eq!(
        stage.text("culprit-isolate/failing.txt").len(),
        "word17word250".len()
    );
}
