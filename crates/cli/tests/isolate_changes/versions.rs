//! What versions are made of, and which of them cannot be used.

use culprit_report::document::conforming;
use culprit_report::isolate::changes::ChangesDocument;
use std::fs;

use serde_json::Value;

use crate::place::{Place, changes, culprit, shell, text};

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
    let report: Value = conforming::<ChangesDocument>(&at("report.json")).unwrap();
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
    place.refused(&words, 2, "the submodule sub is missing");
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
    place.refused(&with("true"), 1, "--repeat N runs the test N times");
    place.refused(&with("false"), 1, "the good version fails too");
    let not_run = "the test cannot be run: it exits with status 127";
    place.refused(&with("./not-there"), 3, not_run);
    place.refused(
        &[&sides[..4], &["--interesting", "./not-there"]].concat(),
        3,
        not_run,
    );
    place.refused(
        &[&with("true")[..], &["--build", "./not-there"]].concat(),
        3,
        "the build cannot be run: it exits with status 127",
    );
    // Here it is what the versions differ in.
    let report = place.found(&with("grep -q 9 a || exit 127"));
    assert_eq!(changes(&report), ["a:-9"]);
    place.refused(&with("exit 125"), 3, "gives no verdict");
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
        let report: Value = conforming::<ChangesDocument>(&report).unwrap();
        assert_eq!(report["difference"]["files"], 1, "{report:#}");
    }
}
