//! What is found, and how it is told.

use culprit_report::document::conforming;
use culprit_report::isolate::changes::ChangesDocument;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::place::{Place, changes, culprit, shell, text};

#[test]
fn the_line_its_commit_and_its_author_are_found_and_nothing_is_touched() {
    let place = Place::repository(
        "seq 30 >a; seq 30 >b; commit base; git tag good
         for i in 1 2 3 4; do sed -i \"s/^$i\\$/x$i/\" a; commit c$i; done
         sed -i 's/^9$/nine/; s/^20$/twenty/' a b; commit culprit
         for i in 11 12; do sed -i \"s/^$i\\$/x$i/\" b; commit d$i; done
         echo dirty >>a; echo new >untracked",
    );
    let report = place.found(&[
        "--good",
        "good",
        "--bad",
        "HEAD",
        "--test",
        "! grep -q nine b",
    ]);
    assert_eq!(changes(&report), ["b:-9+nine"]);
    assert_eq!(report["commits"]["left"][0]["subject"], "culprit");
    assert_eq!(report["changes"][0]["commit"]["author"], "Ann");
    assert_eq!(report["minimal"], true);
    let before = text(&shell(place.path(), "git rev-parse --short=12 HEAD~3").stdout);
    assert_eq!(report["begin"], format!("commit {}", before.trim()));
    assert_eq!(report["checks"]["alone"], "fails");
    assert_eq!(report["checks"]["reverted"], "passes");
}

#[test]
fn versions_are_told_by_what_was_run() {
    let place = Place::repository(
        "seq 9 >a; seq 9 >b; commit c1; git tag good; sed -i s/5/x/ a; commit c2; sed -i s/5/x/ b; commit c3
         sed -i s/9/9x/ b; commit c4; echo more >>b",
    );
    let (out, test) = (Place::empty(), "! grep -q '^x' a b");
    let words = ["--good", "good", "--bad", "WORKTREE", "--test", test, "-o"];
    let output = culprit(place.path(), &words)
        .arg(out.path().join("out"))
        .output()
        .unwrap();
    let said = text(&output.stderr) + &text(&output.stdout);
    let named = text(&shell(place.path(), "git rev-parse --short=12 HEAD~2").stdout);
    assert!(said.contains("of 3 commits and the work tree"), "{said}");
    // Each of two lines makes it fail: taking the first back is not enough.
    assert!(
        said.contains("the bad version without them: fails"),
        "{said}"
    );
    let report = fs::read_to_string(out.path().join("out/report.json")).unwrap();
    let report: Value = conforming::<ChangesDocument>(&report).unwrap();
    let without = format!("commit {} without them: passes", named.trim());
    assert!(said.contains(&without), "{said}");
    let applies = "minimal.patch applies to the good version";
    assert!(said.contains(applies), "{said}");
    assert_eq!(report["checks"]["without"], "passes");
    assert_eq!(report["checks"]["reverted"], "fails");
    let told = report["bugReport"].as_str().unwrap();
    assert!(told.contains("in the bad version is not enough"), "{told}");
}

#[test]
fn what_cannot_be_taken_back_in_the_bad_version_has_no_verdict_there() {
    let place = Place::repository(
        "seq 9 >a; commit c1; git tag good; sed -i s/5/x/ a; commit c2; sed -i s/x/xx/ a; commit c3",
    );
    let report = place.found(&["--good", "good", "--bad", "HEAD", "--test", "! grep -q x a"]);
    assert_eq!(report["commits"]["left"][0]["subject"], "c2");
    assert_eq!(report["checks"]["without"], "passes");
    assert_eq!(report["checks"]["reverted"], "has no verdict");
}

#[test]
fn what_only_a_merge_makes_fail_is_since_no_commit() {
    let place = Place::repository(
        "seq 20 >f; commit base; git tag good
         git checkout -qb side; sed -i s/^3$/XX/ f; commit x1
         git checkout -q main; sed -i s/^15$/YY/ f; commit y1; git merge -q --no-edit side",
    );
    let test = "! { grep -q XX f && grep -q YY f; }";
    // Git gives a tree that it has already a new time when it merges.
    let words = ["--good", "good", "--bad", "HEAD", "--test", test];
    let report = place.isolate_unseen(&words).1.unwrap();
    let told = report["bugReport"].as_str().unwrap();
    assert!(
        told.starts_with("Where commit") && told.contains(" meets commit"),
        "{told}"
    );
    let subject = |key: &str| {
        report["commits"][key][0]["subject"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let mut both = [subject("left"), subject("with")];
    both.sort();
    assert_eq!(both, ["x1", "y1"]);
    assert!(both.iter().all(|name| told.contains(name)), "{told}");
}

#[test]
fn the_result_folder_has_all_that_the_result_is_made_of() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 9 >old/a; sed s/5/five/ old/a >new/a; echo x >new/b",
    );
    let words = [
        "--good",
        "old",
        "--bad",
        "new",
        "--test",
        "! grep -q five a",
        "--keep-variants",
    ];
    let output = culprit(place.path(), &words).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let out = place.path().join("culprit-isolate");
    for name in [
        "minimal.patch",
        "report.json",
        "report.md",
        "report.html",
        "repeat.sh",
        "candidates.jsonl",
    ] {
        assert!(out.join(name).is_file(), "{name}");
    }
    // The patch makes the passing version the failing one.
    shell(
        &out,
        "cd variants; patch -s -p1 -d passing <../minimal.patch; diff -r passing failing",
    );
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("<svg") && !page.contains("http"), "{page}");
    // A second run into the same folder must be asked for.
    let again = culprit(place.path(), &words).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
    let resumed = culprit(place.path(), &words)
        .arg("--resume")
        .output()
        .unwrap();
    assert_eq!(resumed.status.code(), Some(0), "{}", text(&resumed.stderr));
    let candidates = fs::read_to_string(out.join("candidates.jsonl")).unwrap();
    assert!(
        candidates
            .lines()
            .all(|line| line.contains("\"fromJournal\":true")),
        "{candidates}"
    );
    let other = [
        "--good",
        "old",
        "--bad",
        "new",
        "--test",
        "! grep -q five a #",
        "--resume",
    ];
    let other = culprit(place.path(), &other).output().unwrap();
    assert_eq!(other.status.code(), Some(2), "{}", text(&other.stderr));
    let said: Vec<String> = text(&other.stderr)
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let told = "the test command was ! grep -q five a, and is ! grep -q five a # now";
    assert!(said.join(" ").contains(told), "{}", text(&other.stderr));
    let limited = culprit(place.path(), &words)
        .args(["--resume", "--max-time", "60s", "--jobs", "1"])
        .output()
        .unwrap();
    assert_eq!(limited.status.code(), Some(0), "{}", text(&limited.stderr));
}

#[test]
fn the_script_means_the_same_commits_when_names_have_moved() {
    let place = Place::repository(
        "seq 9 >a; commit one; git tag good; sed -i s/5/five/ a; commit two; seq 3 >b; commit three",
    );
    let out = Place::empty();
    let words = [
        "--good",
        "good",
        "--bad",
        "HEAD",
        "--test",
        "! grep -q five a",
        "-o",
    ];
    let first = culprit(place.path(), &words)
        .arg(out.path().join("first"))
        .output();
    assert_eq!(first.unwrap().status.code(), Some(0));
    shell(
        place.path(),
        "git tag -f good; git rm -q a; git commit -qm four",
    );
    let binaries = Path::new(env!("CARGO_BIN_EXE_culprit")).parent().unwrap();
    let again = format!("PATH={}:$PATH; first/repeat.sh second", binaries.display());
    shell(out.path(), &again);
    shell(out.path(), "cmp first/minimal.patch second/minimal.patch");
    let script = fs::read_to_string(out.path().join("first/repeat.sh")).unwrap();
    assert!(
        script.contains("\n# --bad HEAD was this commit\n"),
        "{script}"
    );
}

#[test]
fn the_number_of_jobs_changes_nothing_of_the_answer() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; for i in 1 2 3 4 5 6; do seq 30 >old/$i; seq 30 | sed 's/^5$/five/; s/^9$/x/; s/^20$/y/' >new/$i; done",
    );
    let words = ["--good", "old", "--bad", "new", "--test"];
    let test = "grep -q x 2 && ! grep -q five 4 && exit 125; ! { grep -q five 3 && grep -q y 5; }";
    let by = |jobs: &'static str| {
        let words: Vec<&str> = words.into_iter().chain([test, "--jobs", jobs]).collect();
        let report = place.found(&words);
        (changes(&report), report["tests"].clone())
    };
    let one = by("1");
    assert_eq!(one, by("2"));
    assert_eq!(one, by("4"));
}

#[test]
fn a_name_with_a_line_end_stays_on_its_line() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 9 >old/a; cp old/a new/a; echo x >\"new/b$(printf '\\nc')\"",
    );
    let words = ["--good", "old", "--bad", "new", "--test", "! grep -q x b*"];
    let output = culprit(place.path(), &words).output().unwrap();
    let said = text(&output.stdout);
    assert!(said.contains("  b\\nc:1\n"), "{said}");
}

#[test]
fn what_is_printed_has_an_end_and_a_next_step() {
    let place = Place::repository(
        "seq 90 >a; commit base; git tag good
         for i in $(seq 45); do sed -i \"s/^$i\\$/x$i/\" a; commit c$i; done",
    );
    let printed = |test: &str, more: [&str; 2]| {
        let out = Place::empty();
        let folder = out.path().join("out");
        let words = ["--good", "good", "--bad", "HEAD", "--test", test, "-o"];
        let words = [&words, &[folder.to_str().unwrap()][..], &more].concat();
        let output = culprit(place.path(), &words).output().unwrap();
        text(&output.stdout) + &text(&output.stderr)
    };
    let said = printed("! grep -q x3 a", ["--max-tests", "2"]);
    assert!(
        said.contains("  and 5 more commits, in report.md\n"),
        "{said}"
    );
    // What is seen in the new folders of the end is not what was seen before.
    let unsteady = "case $PWD in */checks/*) exit 0; esac; ! grep -q x3 a";
    let hint = "--jobs 1 (tests may share a port or a file)";
    let said = printed(unsteady, ["--jobs", "2"]);
    assert!(said.contains(hint), "{said}");
    let said = printed(unsteady, ["--jobs", "1"]);
    assert!(
        said.contains("not confirmed") && !said.contains(hint),
        "{said}"
    );
}

#[test]
fn what_a_compiler_says_brings_what_a_candidate_lacks() {
    let place = Place::empty();
    // Thirty names, each declared in one file and used in another, under one that both sides know; the
    // tests are few only if messages are heard.
    shell(
        place.path(),
        "mkdir old new; for i in $(seq 30); do
           echo \"use shared_$i\"; echo \"stays $i\"; done >old/uses
         for i in $(seq 30); do echo \"name shared_$i\"; echo \"stays $i\"; done >old/names
         sed 's/^use \\(.*\\)/use \\1 more_\\1/' old/uses >new/uses
         sed 's/^name \\(.*\\)/name \\1 more_\\1/' old/names >new/names",
    );
    // Each use must have its name, and no name may be without a use.
    let build = "n=0; bad=0; while read -r word first second; do n=$((n + 1))
          case $word in use) for name in $first $second; do
            grep -q \"^name.* $name\\$\\|^name $name \" names || { echo \"uses:$n: error: no $name\" >&2; bad=1; }
          done;; esac; done <uses
        n=0; while read -r word first second; do n=$((n + 1))
          case $word in name) for name in $second; do
            grep -q \" $name\\$\" uses || { echo \"names:$n: error: idle $name\" >&2; bad=1; }
          done;; esac; done <names; exit $bad";
    let report = place.found(&[
        "--good",
        "old",
        "--bad",
        "new",
        "--build",
        build,
        "--test",
        "! grep -q more_shared_17 uses",
    ]);
    let mut found = changes(&report);
    found.sort();
    assert_eq!(
        found,
        [
            "names:-name shared_17+name shared_17 more_shared_17",
            "uses:-use shared_17+use shared_17 more_shared_17"
        ]
    );
    assert!(report["tests"].as_u64() < Some(30), "{}", report["tests"]);
}

#[test]
fn what_decides_only_with_other_changes_is_told_as_that() {
    let place = Place::repository(
        "seq 9 >a; commit one; git tag good; sed -i 's/^1$/one/; s/^9$/nine/' a; commit two; git tag bad
         echo later >b; commit three",
    );
    // The ninth line alone has no verdict, the first alone passes.
    let test =
        "grep -q nine a || exit 0; grep -q one a || { echo lacks one >&2; exit 125; }; exit 1";
    let words = ["--good", "good", "--bad", "HEAD", "--test", test];
    let output = culprit(place.path(), &words).output().unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{err}");
    let headline = "1 line decides, given the changes in context.patch: exits with status 1\n";
    assert!(out.starts_with(headline), "{out}");
    let said = err.split_whitespace().collect::<Vec<_>>().join(" ");
    for note in [
        "apply context.patch to the good version first, then minimal.patch",
        "the good version with these changes alone: has no verdict: it exits with status 125",
        "the bad version without them: passes",
        "--simplify finds all lines",
    ] {
        assert!(said.contains(note), "{note}: {err}");
    }
    let folder = place.path().join("culprit-isolate");
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    let seen = "In the good version with the other changes in context.patch, the test fails with it \
                and passes without it; taking it back in the bad version makes the test pass, which is \
                a workaround; the good version with it alone has no verdict (exits with status 125).";
    assert!(report.contains(seen), "{report}");
    let json: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("report.json")).unwrap()).unwrap();
    assert_eq!(
        json["checks"]["noVerdict"]["alone"],
        "exits with status 125"
    );
    // All lines that are needed, with their commit.
    let words = [&words[..], &["--simplify", "-o", "all"]].concat();
    let output = culprit(place.path(), &words).output().unwrap();
    let out = text(&output.stdout);
    assert!(
        out.starts_with("2 lines decide together: exits with status 1\n"),
        "{out}"
    );
    assert_eq!(out.matches("commit ").count(), 1, "{out}");
}

#[test]
fn swapped_versions_and_a_command_that_cannot_work_are_told_as_that() {
    let place = Place::repository("seq 9 >a; commit one; git tag good; echo ten >>a; commit two");
    let said = |good: &str, bad: &str, test: &str| {
        let words = ["--good", good, "--bad", bad, "--test", test];
        let output = culprit(place.path(), &words).output().unwrap();
        let err = text(&output.stderr);
        let err = err.split_whitespace().collect::<Vec<_>>().join(" ");
        (output.status.code(), err)
    };
    let (code, err) = said("HEAD", "good", "! grep ten a");
    assert_eq!(code, Some(1), "{err}");
    let told = "the test passes on the bad version and fails on the good one: exits with status 1 \
                are --good and --bad swapped?";
    assert!(err.contains(told), "{err}");
    let (code, err) = said("good", "HEAD", "echo no main class Foo; exit 1");
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("it printed: no main class Foo"), "{err}");
    let (code, err) = said("good", "HEAD", "no-such-program-here");
    assert_eq!(code, Some(3), "{err}");
    assert!(
        err.contains("it printed: ") && err.matches("no-such-program-here").count() == 1,
        "{err}"
    );
}
