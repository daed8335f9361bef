//! `culprit isolate changes` from outside: what it finds, what it refuses, and that nothing of the
//! user's is touched.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with a repository, or without.
struct Place(TempDir);

#[expect(clippy::disallowed_methods, reason = "what a user does by hand")]
fn shell(folder: &Path, script: &str) -> Output {
    let output = Command::new("/bin/sh")
        .args(["-ec", script])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([
            ("GIT_AUTHOR_NAME", "Ann"),
            ("GIT_AUTHOR_EMAIL", "ann@example.org"),
        ])
        .envs([
            ("GIT_COMMITTER_NAME", "Ann"),
            ("GIT_COMMITTER_EMAIL", "ann@example.org"),
        ])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{script}: {}",
        text(&output.stderr)
    );
    output
}

#[expect(clippy::disallowed_methods, reason = "the command under test")]
fn culprit(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_culprit"));
    command
        .args(["isolate", "changes"])
        .args(words)
        .current_dir(folder)
        .env("NO_COLOR", "1");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Place {
    fn empty() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn repository(script: &str) -> Place {
        let place = Place::empty();
        let start = "git init -q -b main .; commit() { git add -A; git commit -qm \"$1\"; }\n";
        shell(place.path(), &format!("{start}{script}"));
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// All that is in the folder and in its repository: bytes, modes, times.
    fn state(&self) -> String {
        let script = "find . -type f -print0 | sort -z | xargs -0 -r sha256sum; \
                      find . | sort | xargs -d '\\n' stat -c '%n %Y %a %N'";
        text(&shell(self.path(), script).stdout)
    }

    /// The status, and the report or what was said instead of one. Nothing here changes by it.
    fn isolate(&self, words: &[&str]) -> (i32, Result<Value, String>) {
        let before = self.state();
        let found = self.isolate_unseen(words);
        assert_eq!(self.state(), before);
        found
    }

    fn isolate_unseen(&self, words: &[&str]) -> (i32, Result<Value, String>) {
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("out");
        let mut words = words.to_vec();
        let folder = folder.to_str().unwrap().to_owned();
        words.extend(["-o", &folder]);
        let output = culprit(self.path(), &words).output().unwrap();
        let report = fs::read_to_string(Path::new(&folder).join("report.json"));
        let found = match report {
            Ok(report) => Ok(serde_json::from_str(&report).unwrap()),
            Err(_) => Err(text(&output.stderr)),
        };
        (output.status.code().unwrap_or(-1), found)
    }

    fn found(&self, words: &[&str]) -> Value {
        let (code, found) = self.isolate(words);
        let found = found.unwrap_or_else(|said| panic!("{said}"));
        assert_eq!(code, 0, "{found:#}");
        found
    }

    #[track_caller]
    fn refused(&self, words: &[&str], expect_code: i32, expect: &str) {
        let (code, found) = self.isolate(words);
        let said = found.expect_err("no report");
        assert_eq!(code, expect_code, "{said}");
        // A line may end anywhere.
        assert!(said.replace("\n  ", " ").contains(expect), "{said}");
    }
}

/// The changes of a report as `file:-removed+added`.
fn changes(report: &Value) -> Vec<String> {
    let all = report["changes"].as_array().unwrap();
    let shown = all.iter().map(|change| {
        let lines = |key: &str, sign: &str| -> String {
            let lines = change[key].as_array().unwrap().iter();
            lines
                .map(|line| format!("{sign}{}", line.as_str().unwrap()))
                .collect()
        };
        let what = change["what"].as_str().unwrap_or_default();
        let file = change["file"].as_str().unwrap();
        format!(
            "{file}:{what}{}{}",
            lines("removed", "-"),
            lines("added", "+")
        )
    });
    shown.collect()
}

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
    let report: Value = serde_json::from_str(&report).unwrap();
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
fn changes_of_all_kinds_are_found() {
    let check = |old: &str, new: &str, test: &str, expect: &[&str]| {
        let place = Place::empty();
        shell(
            place.path(),
            &format!("mkdir old new; cd old; {old}; cd ../new; {new}"),
        );
        let report = place.found(&["--good", "old", "--bad", "new", "--test", test]);
        assert_eq!(changes(&report), expect);
    };
    let noise = "seq 40 >n";
    let other = "seq 40 | sed 's/^3$/x/; s/^30$/y/' >n";
    // Line ends, to the byte.
    check(
        &format!("{noise}; printf 'a\\r\\nb\\r\\n' >f"),
        &format!("{other}; printf 'a\\r\\nb\\n' >f"),
        "test $(grep -c $(printf '\\r') f) = 2",
        &["f:-b\\r+b"],
    );
    check(
        &format!("{noise}; printf 'a\\nb\\n' >f"),
        &format!("{other}; printf 'a\\nb' >f"),
        "test $(wc -l <f) = 2",
        &["f:-b+b (no line end)"],
    );
    // Bytes that are no text.
    check(
        &format!("{noise}; printf 'a\\0b' >f"),
        &format!("{other}; printf 'a\\0c' >f"),
        "grep -q b f",
        &["f:other bytes"],
    );
    // A mode.
    check(
        &format!("{noise}; echo 'exit 0' >f; chmod +x f"),
        &format!("{other}; echo 'exit 0' >f; chmod -x f"),
        "test -x f",
        &["f:mode 100755 became 100644"],
    );
    // A new name, with an edit that does not matter.
    check(
        &format!("{noise}; seq 9 >f"),
        &format!("{other}; seq 9 | sed s/7/x/ >g"),
        "test -e f",
        &["g:renamed from f"],
    );
    // A link that points elsewhere.
    check(
        &format!("{noise}; ln -s n l"),
        &format!("{other}; ln -s m l"),
        "test -e l",
        &["l:the link points elsewhere"],
    );
    // A link that became a file.
    check(
        &format!("{noise}; ln -s n l"),
        &format!("{other}; echo x >l"),
        "test -L l",
        &["l:the link became a file"],
    );
    // A mode and not the bytes that came with it, and the other way round.
    let with_mode = "printf '1\\n2\\n' >f; chmod +x f";
    check(
        "printf '1\\n3\\n' >f",
        with_mode,
        "! test -x f",
        &["f:mode 100644 became 100755"],
    );
    check(
        "printf '1\\n3\\n' >f",
        with_mode,
        "grep -q 3 f",
        &["f:-3+2"],
    );
    // A file that is gone, and one that came.
    check(
        &format!("{noise}; echo x >f"),
        &format!("{other}; echo different >g"),
        "test -e f",
        &["f:removed"],
    );
}

#[test]
fn modes_and_links_are_shown_and_git_applies_them() {
    let place = Place::repository(
        "seq 3 >f; seq 4 >g; commit one; sed -i s/2/two/ f; chmod +x f; ln -sf f g; commit two",
    );
    // All three go together: two changes of a mode, and none of them says how.
    let test = "test -L g || exit 0; test -x f || exit 0; ! grep -q two f";
    let words = [
        "--good",
        "HEAD~1",
        "--bad",
        "HEAD",
        "--simplify",
        "--test",
        test,
        "-o",
    ];
    let out = Place::empty();
    let output = culprit(place.path(), &words)
        .arg(out.path().join("out"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let (mode, link) = ("f: mode 100644 became 100755", "g: the file became a link");
    assert!(said.contains(mode) && said.contains(link), "{said}");
    let at = |name: &str| fs::read_to_string(out.path().join("out").join(name)).unwrap();
    for file in ["minimal.patch", "report.md"] {
        let shown = at(file);
        assert!(
            shown.contains("\nold mode 100644\nnew mode 100755\n"),
            "{shown}"
        );
        assert!(shown.contains("\nnew file mode 120000\n"), "{shown}");
    }
    let page = at("report.html");
    assert!(page.contains("<code>f</code>, mode 100755"), "{page}");
    assert!(page.contains("<code>g</code>, mode 120000"), "{page}");
    let report: Value = serde_json::from_str(&at("report.json")).unwrap();
    let modes = report["changes"].as_array().unwrap().iter();
    let modes: Vec<_> = modes.map(|change| &change["newMode"]).collect();
    assert_eq!(
        modes,
        [&Value::from("100755"), &Value::Null, &Value::from("120000")]
    );
    let apply = format!(
        "git checkout -q HEAD~1; git apply {}; git diff --exit-code main",
        out.path().join("out/minimal.patch").display()
    );
    shell(place.path(), &apply);
}

#[test]
fn what_failed_before_the_branches_parted_is_found_in_the_fix() {
    let place = Place::repository(
        "seq 9 | sed s/5/five/ >a; commit one; git checkout -qb fix; seq 9 >a; commit mended
         git checkout -q main; echo more >b; commit two",
    );
    let words = ["--good", "fix", "--bad", "main", "--test", "! grep five a"];
    assert_eq!(changes(&place.found(&words)), ["a:-5+five"]);
    // The same where nothing came after the fork, not even in the work tree.
    shell(place.path(), "git checkout -q main~1");
    let words = [
        "--good",
        "fix",
        "--bad",
        "WORKTREE",
        "--test",
        "! grep five a",
    ];
    assert_eq!(changes(&place.found(&words)), ["a:-5+five"]);
}

#[test]
fn submodules_count_with_their_files() {
    let inner = Place::repository("seq 9 >f; commit one; seq 9 | sed s/5/five/ >f; commit two");
    let place = Place::repository(&format!(
        "git -c protocol.file.allow=always submodule --quiet add {} sub; git -C sub checkout -q HEAD~1
         seq 9 >a; commit one; git -C sub checkout -q main; seq 8 >a; commit two",
        inner.path().display()
    ));
    let words = [
        "--good",
        "HEAD~1",
        "--bad",
        "HEAD",
        "--test",
        "! grep -q five sub/f",
    ];
    assert_eq!(changes(&place.found(&words)), ["sub/f:-5+five"]);
    shell(place.path(), "git submodule deinit -f sub");
    place.refused(&words, 2, "the submodule sub is not there");
    // One that stays at its commit is left out, as the user's own builds leave it out.
    shell(place.path(), "seq 7 >a; git commit -qm three a");
    let words = ["--good", "HEAD~1", "--bad", "HEAD", "--test", "grep 8 a"];
    assert_eq!(changes(&place.found(&words)), ["a:-8"]);
    let output = culprit(place.path(), &words).output().unwrap();
    let said = text(&output.stderr);
    assert!(said.contains("the submodule sub is left out"), "{said}");
}

#[test]
fn what_cannot_be_isolated_is_refused_with_a_next_step() {
    let place = Place::repository(
        "seq 9 >a; commit one; seq 8 >a; commit two; git clone -q --depth 1 file://$PWD ../shallow-$$; mv ../shallow-$$ shallow",
    );
    let sides = ["--good", "HEAD~1", "--bad", "HEAD", "--test"];
    let with = |test: &'static str| -> Vec<&str> { sides.into_iter().chain([test]).collect() };
    place.refused(&with("true"), 1, "the test does not fail");
    place.refused(&with("true"), 1, "--repeat N runs it N times");
    place.refused(&with("false"), 1, "the good version fails too");
    let not_run = "the test cannot be run: it ends with 127";
    place.refused(&with("./not-there"), 3, not_run);
    place.refused(
        &[&sides[..4], &["--interesting", "./not-there"]].concat(),
        3,
        not_run,
    );
    place.refused(
        &[&with("true")[..], &["--build", "./not-there"]].concat(),
        3,
        "the build cannot be run: it ends with 127",
    );
    // Here it is what the versions differ in.
    let report = place.found(&with("grep -q 9 a || exit 127"));
    assert_eq!(changes(&report), ["a:-9"]);
    place.refused(&with("exit 125"), 3, "has no answer");
    // The next try finds the folder as this one did.
    let out = Place::empty();
    let mut fails = culprit(place.path(), &with("false"));
    let told = fails.arg("-o").arg(out.path().join("out")).output();
    assert_eq!(told.unwrap().status.code(), Some(1));
    assert!(!out.path().join("out").exists());
    let mut hangs = with("grep -q 9 a || sleep 100");
    hangs.extend(["--timeout", "300ms"]);
    place.refused(&hangs, 3, "does not end in time");
    place.refused(&hangs, 3, "--fail-if timeout");
    let mut broken = with("true");
    broken.extend(["--build", "echo 'x.c:1: error: no' >&2; false"]);
    place.refused(&broken, 3, "x.c:1: error: no");
    place.refused(
        &["--good", "nothing", "--bad", "HEAD", "--test", "true"],
        2,
        "no revision nothing",
    );
    place.refused(
        &["--good", "HEAD", "--bad", "HEAD", "--test", "false"],
        2,
        "are the same",
    );
    let shallow = Place(tempfile::tempdir_in(place.path()).unwrap());
    shell(shallow.path(), "mv ../shallow/.git .; git checkout -q .");
    shallow.refused(
        &["--good", "HEAD~1", "--bad", "HEAD", "--test", "true"],
        2,
        "--unshallow",
    );
    let nowhere = Place::empty();
    nowhere.refused(
        &["--good", "a", "--bad", "b", "--test", "true"],
        2,
        "is in no Git repository",
    );
}

#[test]
fn a_test_that_hangs_can_be_the_failure() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 9 >old/a; seq 9 | sed 's/5/five/; s/8/x/' >new/a",
    );
    let report = place.found(&[
        "--good",
        "old",
        "--bad",
        "new",
        "--test",
        "! grep -q five a || sleep 1000",
        "--timeout",
        "500ms",
        "--fail-if",
        "timeout",
    ]);
    assert_eq!(changes(&report), ["a:-5+five"]);
}

#[test]
fn a_test_that_fails_now_and_then_is_repeated_and_its_rate_is_told() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 30 >old/a; seq 30 | sed 's/^5$/five/; s/^18$/x/; s/^25$/y/' >new/a",
    );
    // Fails every other time, by a count that all runs share.
    let elsewhere = Place::empty();
    let count = elsewhere.path().join("count");
    fs::write(&count, "").unwrap();
    let test = format!(
        "echo >>{0}; ! grep -q five a || test $(( $(wc -l <{0}) % 2 )) = 0",
        count.display()
    );
    let report = place.found(&[
        "--good", "old", "--bad", "new", "--test", &test, "--jobs", "1",
    ]);
    assert_eq!(changes(&report), ["a:-5+five"]);
    let (failed, of) = (&report["rate"]["failed"], &report["rate"]["of"]);
    assert!(failed.as_u64() < of.as_u64(), "{report:#}");
    assert!(report["runsOfEach"].as_u64() > Some(1));
}

#[test]
fn a_budget_ends_with_the_best_so_far() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; for i in 1 2 3 4 5 6 7 8; do seq 9 >old/$i; seq 9 | sed 's/5/five/; s/8/x/' >new/$i; done",
    );
    let words = [
        "--good",
        "old",
        "--bad",
        "new",
        "--test",
        "! grep -q five 3",
        "--max-tests",
        "4",
    ];
    let report = place.found(&words);
    assert_eq!(report["minimal"], false);
    assert_eq!(report["tests"], 4);
    let left = report["changes"].as_array().unwrap().len();
    assert!((2..16).contains(&left), "{left}");
}

#[test]
fn an_interrupt_leaves_the_best_so_far() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; for i in $(seq 64); do seq 9 >old/$i; seq 9 | sed 's/5/five/' >new/$i; done",
    );
    let words = [
        "--good",
        "old",
        "--bad",
        "new",
        "--test",
        // Once it has narrowed something down.
        &interrupting(&place.path().join("runs"), 6, "! grep -q five 3"),
        "--jobs",
        "1",
    ];
    let ended = culprit(place.path(), &words).output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let out = place.path().join("culprit-isolate");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["minimal"], false);
    let left = report["changes"].as_array().unwrap().len();
    assert!(left < 64, "{left}");
}

#[test]
fn where_the_good_version_was_not_seen_to_pass_there_is_no_result() {
    let place = Place::repository(
        "seq 30 >a; commit base; git tag good
         for i in 1 2 3; do sed -i \"s/^$i\\$/x$i/\" a; commit c$i; done",
    );
    let elsewhere = Place::empty();
    // The bad version is run twice; the third run is that of the good one.
    let test = interrupting(&elsewhere.path().join("runs"), 3, "! grep -q x3 a");
    let test = format!("{test} || exit 1; exec sleep 1000");
    for good in ["good", "HEAD~1"] {
        fs::write(elsewhere.path().join("runs"), "").unwrap();
        let words = [
            "--good", good, "--bad", "HEAD", "--test", &test, "--jobs", "1",
        ];
        place.refused(&words, 130, "interrupted before the good version");
    }
    let with = |test, more: &[&'static str]| {
        [
            &["--good", "good", "--bad", "HEAD", "--test", test][..],
            more,
        ]
        .concat()
    };
    let spent = with("! grep -q x3 a", &["--max-tests", "1"]);
    place.refused(&spent, 1, "ended before the good version was seen to pass");
    // Nor where the good version fails, whatever is looked for.
    let fails = with("false", &["--simplify"]);
    place.refused(&fails, 1, "the good version fails too");
    let own = "case $(grep -c x a) in 0) exit 4;; *) exit 3;; esac";
    let own = ["--good", "good", "--bad", "HEAD", "--test", own];
    place.refused(&own, 1, "the good version fails too: ends with 4");
}

/// A test that interrupts who runs it when it is run for the Nth time.
fn interrupting(runs: &Path, number: u32, test: &str) -> String {
    let runs = runs.display();
    format!("echo >>{runs}; test $(wc -l <{runs}) -ne {number} || kill -INT $PPID; {test}")
}

#[test]
fn an_interrupt_leaves_nothing_behind_in_a_repository() {
    let place = Place::repository(
        "seq 90 >a; commit base; git tag good
         for i in $(seq 12); do sed -i \"s/^$i\\$/x$i/\" a; commit c$i; done",
    );
    let temporary = Place::empty();
    let out = Place::empty();
    let before = place.state();
    let words = [
        "--good",
        "good",
        "--bad",
        "HEAD",
        "--test",
        &interrupting(&out.path().join("runs"), 6, "! grep -q x5 a"),
    ];
    let ended = culprit(place.path(), &words)
        .args(["--jobs", "1", "-o"])
        .arg(out.path().join("out"))
        .env("TMPDIR", temporary.path())
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let verdicts = fs::read_to_string(out.path().join("out/candidates.jsonl")).unwrap();
    assert!(!verdicts.is_empty());
    assert_eq!(place.state(), before);
    let trees = text(&shell(place.path(), "git worktree list").stdout);
    assert_eq!(trees.lines().count(), 1, "{trees}");
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
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
fn new_files_of_the_work_tree_count_and_ignored_ones_do_not() {
    let place = Place::repository(
        "seq 9 >a; echo '*.log' >.gitignore; commit base; echo x >new; echo y >noise.log; echo z >>a",
    );
    let words = ["--good", "HEAD", "--bad", "WORKTREE", "--test"];
    let with = |test: &'static str| -> Vec<&str> { words.into_iter().chain([test]).collect() };
    let report = place.found(&with("! test -e new"));
    assert_eq!(changes(&report), ["new:new file"]);
    assert_eq!(report["changes"][0]["commit"], "uncommitted");
    place.refused(&with("! test -e noise.log"), 1, "the test does not fail");
}

#[test]
fn a_folder_within_the_work_tree_stands_for_all_of_it() {
    let place = Place::repository("mkdir p; seq 9 >p/f; seq 9 >top; commit base");
    let below = place.path().join("p");
    let run = |bad: &str, test: &str| {
        let out = tempfile::tempdir().unwrap();
        let words = [
            "--good", "HEAD", "--bad", bad, "--test", test, "--json", "-o",
        ];
        let mut command = culprit(&below, &words);
        command.arg(out.path().join("out")).output().unwrap()
    };
    // Nothing is changed yet, and nothing is said to be left out.
    let said = text(&run("HEAD", "false").stderr);
    assert!(
        said.contains("are the same") && !said.contains("left out"),
        "{said}"
    );
    shell(place.path(), "sed -i s/5/five/ p/f");
    let said = text(&run("HEAD", "false").stderr);
    assert!(said.contains("left out"), "{said}");
    let said = text(&run("WORKTREE", "test -e top").stderr);
    assert!(said.contains("the test does not fail"), "{said}");
    let found = run("WORKTREE", "! grep -q five p/f");
    let report = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(changes(&report), ["p/f:-5+five"]);
}

#[test]
fn a_repository_that_git_refuses_is_told_as_such() {
    let place = Place::repository("seq 9 >a; commit one; seq 8 >a; commit two");
    let words = ["--good", "HEAD~1", "--bad", "HEAD", "--test", "true"];
    let output = culprit(place.path(), &words)
        .env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr).replace("\n  ", " ");
    assert!(said.contains("it belongs to somebody else"), "{said}");
    assert!(
        said.contains("git config --global --add safe.directory /"),
        "{said}"
    );
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
fn results_within_a_version_are_no_part_of_it() {
    for out in ["old/results", "new/below/results"] {
        let place = Place::empty();
        let script = "mkdir -p old new/below; seq 9 >old/a; sed s/5/five/ old/a >new/a";
        shell(place.path(), script);
        let words = [
            "--good",
            "old",
            "--bad",
            "new",
            "--test",
            "! grep -q five a",
            "-o",
            out,
        ];
        let told = culprit(place.path(), &words).output().unwrap();
        assert_eq!(told.status.code(), Some(0), "{}", text(&told.stderr));
        let report = fs::read_to_string(place.path().join(out).join("report.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["difference"]["files"], 1, "{report:#}");
    }
}

#[test]
fn processes_that_a_test_leaves_behind_are_ended_and_told_of() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 9 >old/a; sed s/5/five/ old/a >new/a",
    );
    let pids = Place::empty();
    let list = pids.path().join("pids");
    let test = format!(
        "setsid sh -c 'echo $$ >>{}; exec sleep 600' >/dev/null 2>&1 & sleep 0.2; ! grep -q five a",
        list.display()
    );
    let words = ["--good", "old", "--bad", "new", "--test", &test];
    let out = Place::empty();
    let output = culprit(place.path(), &words)
        .arg("-o")
        .arg(out.path().join("out"))
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("behind, which were ended"), "{said}");
    let pids = fs::read_to_string(list).unwrap();
    assert!(!pids.is_empty());
    for pid in pids.lines() {
        let state = fs::read_to_string(format!("/proc/{pid}/stat"));
        assert!(state.is_err() || state.is_ok_and(|it| it.contains(") Z ")));
    }
}

#[test]
fn what_only_other_candidates_leave_behind_is_told_of_too() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 9 >old/a; sed 's/5/five/; s/8/x/' old/a >new/a",
    );
    // What passes leaves a process behind, and waits until it has begun.
    let test = "! grep -q five a || exit 1; rm -f $TMPDIR/p; mkfifo $TMPDIR/p
        setsid sh -c 'echo >$TMPDIR/p; exec sleep 600' >/dev/null 2>&1 & read begun <$TMPDIR/p";
    let report = place.found(&["--good", "old", "--bad", "new", "--test", test]);
    assert_eq!(changes(&report), ["a:-5+five"]);
    assert!(report["strays"].as_u64() >= Some(2), "{report:#}");
}

#[test]
fn a_failure_that_was_missed_by_chance_is_not_confirmed() {
    let place = Place::empty();
    shell(
        place.path(),
        "mkdir old new; seq 30 >old/a; seq 30 | sed 's/^5$/x/; s/^18$/five/' >new/a",
    );
    let elsewhere = Place::empty();
    let count = elsewhere.path().join("count");
    fs::write(&count, "").unwrap();
    // The failing version is seen to fail twice, the good one to pass; the next candidate that should fail does not.
    let test = format!(
        "echo >>{0}; grep -q five a || exit 0; n=$(wc -l <{0}); test $n -gt 3 && test $n -lt 7",
        count.display()
    );
    let (code, report) = place.isolate(&[
        "--good", "old", "--bad", "new", "--test", &test, "--jobs", "1",
    ]);
    let report = report.unwrap();
    assert_eq!(report["confirmed"], false, "{report:#}");
    assert_eq!(code, 1);
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
