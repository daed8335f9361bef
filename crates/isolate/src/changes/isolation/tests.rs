//! Isolations of made-up histories.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use culprit_reduce::{Budget, Cancel, Clock, Tested, VerdictKind};

use super::super::blame::ChangeOrigin;
use super::super::git::Git;
use super::super::git::fixture::{ScriptedRepository, env, git};
use super::*;
use crate::Rule;

fn test(command: &str) -> TestCommand {
    TestCommand {
        command: command.into(),
        rule: Rule::default(),
        limit: Duration::from_secs(20),
        env: env(),
        sandbox: None,
        limits: culprit_jvm::Limits::NONE,
    }
}

fn unlimited(jobs: usize) -> Settings {
    Settings {
        jobs,
        ..Settings::default()
    }
}

fn isolate(
    made: &ScriptedRepository,
    (good, bad): (&str, &str),
    goal: Goal,
    build: Option<&str>,
    command: &str,
) -> Result<Isolation, Error> {
    isolate_within(
        made,
        (good, bad),
        (goal, unlimited(2)),
        build,
        command,
        &env(),
        &|_| {},
    )
}

fn isolate_within(
    made: &ScriptedRepository,
    (good, bad): (&str, &str),
    (goal, settings): (Goal, Settings),
    build: Option<&str>,
    command: &str,
    env: &[(OsString, OsString)],
    observer: &dyn Fn(&Tested),
) -> Result<Isolation, Error> {
    let mut repository = None;
    let folder = made.folder.path();
    let git = Git {
        env: env.to_vec(),
        ..git()
    };
    let find = |word: &str, known: &mut Option<Repository>| {
        VersionSource::find(word.as_ref(), folder, &git, known)
    };
    let good = find(good, &mut repository)?;
    let bad = find(bad, &mut repository)?;
    let work = tempfile::tempdir().unwrap();
    let journals = work.path().join("journals");
    std::fs::create_dir(&journals).unwrap();
    let request = Request {
        good,
        bad,
        repository: repository.as_ref(),
        test: test(command),
        build: build.map(test),
        likeness: Likeness::Message,
        runs: None,
        leftovers: Leftovers::Stay,
        goal,
        settings,
        results: work.path(),
        journals: &journals,
        work: work.path(),
    };
    request.run(&|event| {
        if let ReductionEvent::Tested(tested) = event {
            observer(tested);
        }
    })
}

/// The lines that decide, as `path: -old +new`.
fn lines(found: &Isolation) -> Vec<String> {
    let deltas = found.deltas();
    let described = deltas.iter().map(|delta| found.difference.describe(delta));
    described.collect()
}

#[test]
fn the_commit_and_in_it_the_line_that_decide_are_found() {
    let made = ScriptedRepository::by(
        "seq 30 >a; seq 30 >b; commit base; git tag good
         for i in 1 2 3 4 5 6; do sed -i \"s/^$i$/x$i/\" a; commit c$i; done
         sed -i 's/^7$/seven/; s/^9$/nine/; s/^20$/twenty/' a b; commit culprit
         for i in 11 12 13; do sed -i \"s/^$i$/x$i/\" b; commit d$i; done; git tag bad",
    );
    let found = isolate(
        &made,
        ("good", "bad"),
        Goal::Isolate,
        None,
        "! grep -q nine b",
    )
    .unwrap();
    assert_eq!(lines(&found), ["b: -9 +nine"]);
    let commits = found.commits.as_ref().unwrap();
    assert_eq!((commits.of, commits.left.len()), (10, 1));
    assert_eq!(commits.left[0].subject, "culprit");
    assert_eq!(found.end, SearchEnd::Minimal);
    let fails = Some(Verdict::Fail("exits with status 1".to_owned()));
    let expect = Checks {
        passing: Some(Verdict::Pass),
        failing: fails.clone(),
        alone: fails,
        without: Some(Verdict::Pass),
        reverted: Some(Verdict::Pass),
    };
    assert_eq!(found.checks, expect);
    assert!(found.tests < 15, "{}", found.tests);
}

/// The commit that fails is followed by one that may change how.
const CHANGED_LATER: &str =
    "seq 30 >a; commit base; git tag good; sed -i 's/^3$/three/' a; commit before
     sed -i 's/^7$/seven/; s/^9$/nine/; s/^20$/twenty/' a; commit culprit
     sed -i 's/^25$/later/' a; commit later; sed -i 's/^27$/x/' a; commit last";

#[test]
fn what_a_failure_says_at_the_commit_that_brought_it_tells_it_from_others() {
    let made = ScriptedRepository::by(CHANGED_LATER);
    // Half of the culprit fails at the same place for another reason, and the reason has another
    // number since.
    let command = "say() {
             echo 'Traceback (most recent call last):'; echo '  File \"t.py\", line 1, in f'
             echo AssertionError: $1; exit 1
         } >&2
         grep -q nine a && { grep -q later a && say 3; say 2; }; ! grep -q seven a || say 1";
    let found = isolate(&made, ("good", "HEAD"), Goal::Isolate, None, command).unwrap();
    assert_eq!(found.commits.as_ref().unwrap().left[0].subject, "culprit");
    assert_eq!(lines(&found), ["a: -9 +nine"]);
}

#[test]
fn of_several_failures_of_a_commit_that_of_the_bad_version_counts() {
    let made = ScriptedRepository::by(CHANGED_LATER);
    // A later commit has mended the first of the two tests that the culprit broke.
    let command = "exec >out; echo '=== short test summary info ==='
         grep -q later a || { grep -q nine a && echo 'FAILED t.py::one'; }
         grep -q twenty a && echo 'FAILED t.py::two'
         cat out >&2; ! grep -q FAILED out";
    let found = isolate(&made, ("good", "HEAD"), Goal::Isolate, None, command).unwrap();
    assert_eq!(lines(&found), ["a: -20 +twenty"]);
}

#[test]
fn what_is_not_well_formed_is_neither_run_nor_counted() {
    let unresolved = |name: &str| {
        let made = ScriptedRepository::by(&format!(
            "for i in 1 2 3 4 5 6 7; do echo f$i'()'; done >{name}; commit base; git tag good
             sed -i 's/^f\\(.*\\)()/x = \"\"\"\\nt\\1\\n\"\"\"/' {name}; commit culprit",
        ));
        // As an interpreter would see it.
        let command = format!(
            "awk '/\"\"\"/ {{ open = !open; next }} /t/ && !open || /f/ && open {{ bad = 1 }}
                  END {{ exit bad || open }}' {name} || exit 125
             ! grep -q t5 {name}"
        );
        let count = Cell::new(0);
        let found = isolate_within(
            &made,
            ("good", "HEAD"),
            (Goal::Isolate, unlimited(1)),
            None,
            &command,
            &env(),
            &|tested| count.set(count.get() + u64::from(tested.kind == VerdictKind::Unresolved)),
        );
        let failing = found.unwrap().checks.failing;
        assert_eq!(failing.map(|it| it.kind()), Some(VerdictKind::Fail));
        count.get()
    };
    assert!(unresolved("a.py") < unresolved("a.txt"));
}

/// A clock that goes when it is told to.
#[derive(Default)]
struct Hand(AtomicU64);

impl Clock for Hand {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

#[test]
fn what_is_used_up_between_two_searches_leaves_what_the_first_found() {
    let made = ScriptedRepository::by(
        "seq 30 >a; commit base; git tag good
         for i in 1 2 3; do sed -i \"s/^$i$/x$i/\" a; commit c$i; done
         sed -i 's/^7$/seven/; s/^9$/nine/; s/^20$/twenty/' a; commit culprit",
    );
    let ended = |tests: Option<u64>, late: bool| {
        let clock = Arc::new(Hand::default());
        let settings = Settings {
            budget: Budget {
                tests,
                time: Some(Duration::from_secs(5)),
            },
            clock: clock.clone(),
            ..Settings::default()
        };
        let seen = Cell::new(0);
        let found = isolate_within(
            &made,
            ("good", "HEAD"),
            (Goal::Isolate, settings),
            None,
            "! grep -q nine a",
            &env(),
            &|tested| {
                seen.set(tested.number);
                // The last of the first search.
                if late && tested.left == 1 {
                    clock.0.store(9, Ordering::Relaxed);
                }
            },
        );
        let found = found.unwrap();
        assert_eq!(found.commits.as_ref().unwrap().left[0].subject, "culprit");
        (found.end, lines(&found).len(), seen.get())
    };
    let (end, left, tests) = ended(None, true);
    assert_eq!((end, left), (SearchEnd::Time, 3));
    assert_eq!(ended(Some(tests), false), (SearchEnd::Tests, 3, tests));
    let (end, left, _) = ended(None, false);
    assert_eq!((end, left), (SearchEnd::Minimal, 1));
}

#[test]
fn lines_of_branches_that_no_commit_merges_are_of_no_commit() {
    let made = ScriptedRepository::by(
        "seq 20 >a; commit base; git tag good
         git checkout -qb side; { echo one; echo two; seq 20; } >a; commit side
         git checkout -q main; sed -i s/^15$/fifteen/ a; commit main
         git merge -q --no-edit side; echo b >b; commit last",
    );
    let command = "grep -q fifteen a && main=1; grep -q two a && side=1
         case $main$side in 11) exit 1;; 1) exit 125; esac";
    let found = isolate(&made, ("good", "HEAD"), Goal::Isolate, None, command).unwrap();
    let commits = found.commits.as_ref().unwrap();
    assert_eq!((commits.left.len(), commits.failing.len()), (2, 2));
    let is_unknown = |change: &Change| change.origin == ChangeOrigin::Unknown;
    assert!(found.changes.iter().all(is_unknown), "{:?}", found.changes);
}

#[test]
fn commits_of_lines_are_looked_up_where_lines_are_few_and_somebody_waits() {
    let made = ScriptedRepository::by(
        "seq 10 >a; seq 250 >b; commit base; git tag good; sed -i s/^/x/ a; commit few
         git tag few; echo c >c; commit between; sed -i s/^/x/ b; commit many",
    );
    let origins = |bad: &str, tests: u64, last: u64| {
        let is_over = Arc::new(AtomicBool::new(false));
        let wish = Arc::clone(&is_over);
        let settings = Settings {
            budget: Budget {
                tests: Some(tests),
                time: None,
            },
            cancel: Cancel::when(move || wish.load(Ordering::Relaxed)),
            ..Settings::default()
        };
        let found = isolate_within(
            &made,
            ("good", bad),
            (Goal::Simplify, settings),
            None,
            "test $(cat a b | grep -c x) -lt 10",
            &env(),
            &|tested| is_over.store(tested.number == last, Ordering::Relaxed),
        );
        let changes = found.unwrap().changes;
        let mut found: Vec<String> = changes
            .iter()
            .map(|it| match &it.origin {
                ChangeOrigin::Commit(commit) => commit.subject.clone(),
                origin => format!("{origin:?}"),
            })
            .collect();
        found.dedup();
        found
    };
    assert_eq!(origins("few", 3, 0), ["few"]);
    assert_eq!(origins("few", 9, 3), ["NotLookedUp"]);
    assert_eq!(origins("HEAD", 2, 0), ["NotLookedUp"]);
}

#[test]
fn git_that_cannot_merge_takes_nothing_away() {
    // As Git before 2.38 is.
    let made = ScriptedRepository::by(
        "seq 30 >a; commit base; git tag good; git checkout -qb side; echo s >s; commit side; git checkout -q main
         sed -i 's/^7$/seven/; s/^9$/nine/' a; commit culprit; git merge -q --no-edit side; echo t >t; commit last
         mkdir .git/old; real=$(command -v git)
         printf '#!/bin/sh\ncase $1 in merge-tree) echo usage: >&2; exit 129; esac\nexec %s \"$@\"\n' $real >.git/old/git
         chmod +x .git/old/git",
    );
    let mut env = env();
    let old = made.folder.path().join(".git/old");
    let path = env.iter_mut().find(|(name, _)| name == "PATH").unwrap();
    path.1 = format!("{}:{}", old.display(), path.1.display()).into();
    let found = isolate_within(
        &made,
        ("good", "HEAD"),
        (Goal::Isolate, unlimited(1)),
        None,
        "! grep -q nine a",
        &env,
        &|_| {},
    );
    let found = found.unwrap();
    assert_eq!(lines(&found), ["a: -9 +nine"]);
    assert_eq!(found.checks.reverted, None);
    let failing = found.checks.failing.as_ref();
    assert_eq!(failing.map(Verdict::kind), Some(VerdictKind::Fail));
}

#[test]
fn changes_of_the_work_tree_count() {
    let made = ScriptedRepository::by(
        "seq 9 >a; commit one; echo b >b; commit two; sed -i s/5/five/ a; echo new >c",
    );
    let found = isolate(
        &made,
        ("HEAD~1", "WORKTREE"),
        Goal::Isolate,
        None,
        "! grep -q five a",
    )
    .unwrap();
    assert_eq!(lines(&found), ["a: -5 +five"]);
    let commits = found.commits.as_ref().unwrap();
    assert!(commits.has_work_tree && commits.left.is_empty());
}

#[test]
fn two_changes_that_only_fail_together_are_both_there() {
    let made = ScriptedRepository::by(
        "mkdir old new; seq 40 >old/a; sed 's/^3$/three/; s/^20$/twenty/; s/^33$/x/; s/^36$/y/' old/a >new/a",
    );
    let command = "! { grep -q three a && grep -q x a; }";
    let found = isolate(&made, ("old", "new"), Goal::Simplify, None, command).unwrap();
    assert_eq!(lines(&found), ["a: -3 +three", "a: -33 +x"]);
    assert!(found.passing.is_empty());
    let pair = isolate(&made, ("old", "new"), Goal::Isolate, None, command).unwrap();
    assert_eq!(lines(&pair).len(), 1);
}

#[test]
fn candidates_that_do_not_build_have_no_verdict_and_teach_what_belongs_together() {
    // Every new function is called by new lines elsewhere; one constant decides.
    let made = ScriptedRepository::by(
        r#"mkdir old; cd old
         echo 'int limit(void);' >limit.h
         printf '#include "limit.h"\nint limit(void) {\n  return 5;\n}\n' >limit.c
         printf '#include "limit.h"\nint main(void) {\n  int sum = 0;\n  sum += 1;\n  return limit() > 7;\n}\n' >main.c
         cd ..; cp -r old new; cd new
         for i in 1 2 3 4 5 6 7 8; do
           echo "int extra$i(int value$i);" >>limit.h
           printf "int extra$i(int value$i) {\n  return value$i;\n}\n" >>limit.c
           sed -i "s/^  sum += 1;/  sum += extra$i(sum);\n&/" main.c
         done
         sed -i 's/return 5/return 9/' limit.c"#,
    );
    let build = "cc -Werror -o program main.c limit.c";
    let found = isolate(
        &made,
        ("old", "new"),
        Goal::Isolate,
        Some(build),
        "./program",
    )
    .unwrap();
    assert_eq!(lines(&found), ["limit.c: -  return 5; +  return 9;"]);
    assert!(found.tests < 12, "{}", found.tests);
}

#[test]
fn comments_are_whole_where_there_are_some_and_nowhere_else() {
    let made = ScriptedRepository::by(
        "mkdir old new; printf 'a\\nb\\n' >old/run.sh; printf 'f();\\ng();\\n' >old/f.c
         printf 'a\\ncp src/* out\\nx\\nfor d in */; do\\nb\\n' >new/run.sh
         printf 'f();\\n/* one\\n  two */\\ng();\\n' >new/f.c",
    );
    let found = |command: &str| {
        let found = isolate(&made, ("old", "new"), Goal::Isolate, None, command).unwrap();
        lines(&found)
    };
    assert_eq!(
        found("! grep -q 'in \\*/' run.sh"),
        ["run.sh: +for d in */; do"]
    );
    assert_eq!(
        found("! grep -q one f.c"),
        ["f.c: +/* one", "f.c: +  two */"]
    );
}

#[test]
fn versions_that_do_not_fit_are_refused() {
    let made =
        ScriptedRepository::by("mkdir old new same; seq 9 >old/a; seq 8 >new/a; seq 9 >same/a");
    let refused = |sides, command| {
        isolate(&made, sides, Goal::Isolate, None, command)
            .err()
            .unwrap()
    };
    let same = refused(("old", "same"), "false");
    assert!(matches!(same, Error::NoDifference), "{same}");
    let passes = refused(("old", "new"), "true");
    assert!(
        matches!(passes, Error::Bad(crate::Unfit::Passes(_))),
        "{passes}"
    );
    let fails = refused(("old", "new"), "false");
    assert_eq!(
        fails.to_string(),
        "the good version fails too: exits with status 1"
    );
    let odd = refused(("old", "new"), "grep -q 9 a && exit 125; false");
    assert_eq!(
        odd.to_string(),
        "the good version has no verdict: it exits with status 125"
    );
    assert!(Path::new(made.folder.path()).exists());
}
