//! Known cases with known numbers, and what happens when something is wrong.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use culprit_reduce::{
    Budget, Cancel, Clock, DeltaSet, Engine, Error, Journal, Judge, Needs, Oracle, Phase, Problem,
    Schedule, SearchEnd, Settings, Units, Verdict, VerdictKind, Wanted,
};

fn verdict(fails: bool) -> Verdict<()> {
    if fails {
        Verdict::Fail(())
    } else {
        Verdict::Pass
    }
}

fn classic() -> Settings {
    Settings {
        schedule: Schedule::Classic,
        ..Settings::default()
    }
}

const LINE: &str = r#"<SELECT NAME="priority" MULTIPLE SIZE=7>"#;

/// Zeller's browser: it crashes on a `<SELECT` tag, and the rest is unimportant.
fn browser(candidate: &DeltaSet) -> Verdict<()> {
    let text: String = candidate
        .iter()
        .map(|at| LINE.as_bytes()[at as usize] as char)
        .collect();
    let tag = text.find("<SELECT").map(|at| &text[at + "<SELECT".len()..]);
    verdict(tag.is_some_and(|rest| rest.contains('>')))
}

#[test]
fn the_select_tag_is_what_is_left_of_the_line() {
    let problem = Problem::new(LINE.len() as u64);
    let least = Engine::new(&problem, &Judge(browser)).ddmin().unwrap();
    assert_eq!(least.failing.to_string(), "0-6 39");
    let plain = Engine::new(&problem, &Judge(browser))
        .settings(classic())
        .ddmin()
        .unwrap();
    assert_eq!(plain.failing, least.failing);
    // The chapter has 48, with the order of its own implementation.
    assert!(least.counts.tests < 48, "{}", least.counts.tests);
    let pair = Engine::new(&problem, &Judge(browser)).dd().unwrap();
    assert_eq!(pair.difference().len(), 1);
    // The chapter has 5 or 6; the two ends are two more.
    assert!(pair.counts.tests <= 2 + 6, "{}", pair.counts.tests);
}

#[test]
fn one_string_among_8721_changes_is_found_by_halving() {
    let problem = Problem::new(8721);
    let oracle = Judge(|candidate: &DeltaSet| verdict(candidate.contains(6_543)));
    let pair = Engine::new(&problem, &oracle).dd().unwrap();
    assert_eq!(pair.difference().to_string(), "6543");
    assert!(pair.counts.tests <= 2 + 14, "{}", pair.counts.tests);
}

/// Builds break unless all changes of a file come together, and files need their predecessor.
#[test]
fn scopes_and_history_keep_builds_whole() {
    let files: Vec<DeltaSet> = (0..87)
        .map(|f| DeltaSet::from(f * 100..f * 100 + 100))
        .collect();
    let whole = |file: &DeltaSet, candidate: &DeltaSet| {
        file.is_subset(candidate) || !file.intersects(candidate)
    };
    let oracle = Judge(|candidate: &DeltaSet| {
        // In the guilty file, lines stand alone.
        let built = files
            .iter()
            .enumerate()
            .all(|(f, file)| f == 65 || whole(file, candidate));
        if built {
            verdict(candidate.contains(6_543))
        } else {
            Verdict::Unresolved(())
        }
    });
    let plain = Problem::new(8700);
    let scoped = plain.clone().levels([Units::groups(files.iter().cloned())]);
    let plain = Engine::new(&plain, &oracle).dd().unwrap();
    let scoped = Engine::new(&scoped, &oracle).dd().unwrap();
    assert_eq!(scoped.difference().to_string(), "6543");
    assert_eq!(scoped.counts.unresolved, 0);
    assert!(scoped.counts.tests <= 20, "{}", scoped.counts.tests);
    assert!(plain.counts.tests > scoped.counts.tests);
}

/// Schedules: 33 switches, each moved by one position at a time; the failure needs one of them in
/// one place or beyond.
#[test]
fn billions_of_moves_are_isolated_to_one() {
    let each = 116_441_734;
    let switches = 33;
    let problem = Problem::new(each * switches).needs(Needs::chains(
        (0..switches).map(|s| s * each..(s + 1) * each),
    ));
    let place = 20 * each + 59_772_126;
    let oracle = Judge(|candidate: &DeltaSet| verdict(candidate.contains(place)));
    let pair = Engine::new(&problem, &oracle).dd().unwrap();
    assert_eq!(pair.difference(), DeltaSet::from(place..place + 1));
    assert!(pair.counts.tests <= 50, "{}", pair.counts.tests);
    // The rest of the budget would go into trying each of the sixty million moves that are left.
    let settings = Settings {
        budget: Budget {
            tests: Some(100),
            time: None,
        },
        ..Settings::default()
    };
    let engine = Engine::new(&problem, &oracle).settings(settings);
    let least = engine.ddmin().unwrap();
    assert_eq!(least.failing, DeltaSet::from(20 * each..place + 1));
    assert_eq!(least.end, SearchEnd::Tests);
}

/// Exercise 13.2: with every pass but the first taken for unresolved, dd simplifies.
#[test]
fn dd_with_passes_hidden_is_ddmin() {
    let needed: DeltaSet = [3, 17, 31].into_iter().collect();
    let problem = Problem::new(40);
    let oracle = Judge(|candidate: &DeltaSet| match needed.is_subset(candidate) {
        true => Verdict::Fail(()),
        false if candidate.is_empty() => Verdict::Pass,
        false => Verdict::Unresolved(()),
    });
    let pair = Engine::new(&problem, &oracle).dd().unwrap();
    assert_eq!((pair.failing, pair.passing), (needed, DeltaSet::empty()));
}

#[test]
fn deltas_of_the_passing_end_are_never_taken_out() {
    let kept: DeltaSet = [2, 9].into_iter().collect();
    let problem = Problem::new(30).passing(kept.clone());
    let oracle = Judge(|candidate: &DeltaSet| {
        assert!(kept.is_subset(candidate));
        verdict(candidate.contains(20))
    });
    for schedule in [
        Schedule::Splitting,
        Schedule::Classic,
        Schedule::Probabilistic,
    ] {
        let settings = Settings {
            schedule,
            ..Settings::default()
        };
        let result = Engine::new(&problem, &oracle)
            .settings(settings)
            .ddmin()
            .unwrap();
        assert_eq!(result.failing.to_string(), "2 9 20");
    }
}

#[test]
fn what_fails_without_any_delta_is_reduced_to_nothing() {
    let problem = Problem::new(10);
    let oracle = Judge(|_: &DeltaSet| Verdict::Fail("always".to_owned()));
    let result = Engine::new(&problem, &oracle).ddmin().unwrap();
    assert_eq!(
        (result.failing, result.counts.tests),
        (DeltaSet::empty(), 2)
    );
    assert_eq!(result.detail, "always");
    let error = Engine::new(&problem, &oracle).dd().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the passing end does not pass: the verdict is fail"
    );
}

#[test]
fn a_failure_that_does_not_show_is_an_error() {
    let problem = Problem::new(10);
    let check = |verdict: Verdict<()>, expect: &str| {
        let oracle = Judge(|_: &DeltaSet| verdict.clone());
        let error = Engine::new(&problem, &oracle).ddmin().unwrap_err();
        assert_eq!(error.to_string(), expect);
    };
    check(
        Verdict::Pass,
        "the failure does not occur with all deltas: the verdict is pass",
    );
    check(
        Verdict::Unresolved(()),
        "the failure does not occur with all deltas: the verdict is unresolved",
    );
    let empty = Problem::new(0);
    let oracle = Judge(|_: &DeltaSet| Verdict::Fail(()));
    assert!(
        Engine::new(&empty, &oracle)
            .ddmin()
            .unwrap()
            .failing
            .is_empty()
    );
}

/// Cannot judge what lacks a delta.
struct Broken(u64);

impl Oracle for Broken {
    type Detail = ();
    type Error = std::io::Error;

    fn judge(&self, candidate: &DeltaSet, _: &Wanted<'_>) -> Result<Verdict<()>, std::io::Error> {
        if candidate.contains(self.0) || candidate.is_empty() {
            Ok(verdict(!candidate.is_empty()))
        } else {
            Err(std::io::Error::other("no such worker"))
        }
    }
}

#[test]
fn an_oracle_that_cannot_judge_ends_the_reduction_with_the_best_so_far() {
    let problem = Problem::new(100);
    let mut found = Vec::new();
    for jobs in [1, 2, 8] {
        let settings = Settings {
            jobs,
            ..Settings::default()
        };
        let error = Engine::new(&problem, &Broken(60))
            .settings(settings)
            .ddmin()
            .unwrap_err();
        let Error::Oracle {
            candidate, failing, ..
        } = error
        else {
            panic!("{error}");
        };
        found.push((candidate, failing.expect("something failed before")));
    }
    assert!(found[0].1.contains(60) && !found[0].0.contains(60));
    assert!(found.iter().all(|one| *one == found[0]));
}

#[test]
fn a_panic_of_the_oracle_comes_out_of_the_engine() {
    let problem = Problem::new(100);
    for jobs in [1, 4] {
        let outcome = std::panic::catch_unwind(|| {
            let oracle = Judge(|candidate: &DeltaSet| {
                assert!(candidate.contains(60) || candidate.is_empty(), "a mistake");
                verdict(!candidate.is_empty())
            });
            let settings = Settings {
                jobs,
                ..Settings::default()
            };
            let _ = Engine::new(&problem, &oracle).settings(settings).ddmin();
        });
        assert!(outcome.is_err());
    }
}

#[test]
fn ends_are_judged_with_nothing_else_running() {
    let problem = Problem::new(100);
    let judged = AtomicU64::new(0);
    let oracle = Judge(|candidate: &DeltaSet| {
        judged.fetch_add(1, Ordering::Relaxed);
        // Room for others to begin.
        for _ in 0..1000 {
            std::thread::yield_now();
        }
        match candidate.is_empty() {
            true => Verdict::Unresolved(()),
            false => verdict(true),
        }
    });
    let settings = Settings {
        jobs: 4,
        ..Settings::default()
    };
    let outcome = Engine::new(&problem, &oracle).settings(settings).dd();
    assert!(matches!(outcome, Err(Error::NotPassing { .. })));
    assert_eq!(judged.load(Ordering::Relaxed), 2);
}

/// Time that passes by being judged.
struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

#[test]
fn a_budget_of_time_ends_with_the_best_so_far() {
    let clock = Arc::new(Ticks(AtomicU64::new(0)));
    let problem = Problem::new(1000);
    let ticks = clock.clone();
    let oracle = Judge(move |candidate: &DeltaSet| {
        ticks.0.fetch_add(1, Ordering::Relaxed);
        verdict(candidate.contains(7) && candidate.contains(700))
    });
    let run = |seconds| {
        let settings = Settings {
            clock: clock.clone(),
            budget: Budget {
                tests: None,
                time: Some(Duration::from_secs(seconds)),
            },
            ..Settings::default()
        };
        Engine::new(&problem, &oracle).settings(settings).ddmin()
    };
    let result = run(10).unwrap();
    assert_eq!(result.end, SearchEnd::Time);
    assert!(result.failing.contains(7) && result.failing.len() < 1000);
    // The verdict that came too late is not counted.
    assert_eq!(result.counts.tests, 9);
    assert!(matches!(run(0), Err(Error::Nothing)));
}

/// Waits for a verdict that never comes, until nobody wants it.
struct Patient {
    cancel: Cancel,
    judged: AtomicU64,
}

impl Oracle for Patient {
    type Detail = ();
    type Error = std::convert::Infallible;

    fn judge(&self, candidate: &DeltaSet, wanted: &Wanted<'_>) -> Result<Verdict<()>, Self::Error> {
        if self.judged.fetch_add(1, Ordering::Relaxed) == 12 {
            self.cancel.cancel();
            while wanted.still() {
                std::thread::yield_now();
            }
        }
        Ok(verdict(candidate.contains(7) && candidate.contains(700)))
    }
}

#[test]
fn a_cancelled_reduction_does_not_wait_and_has_what_failed() {
    for jobs in [1, 3] {
        let cancel = Cancel::new();
        let oracle = Patient {
            cancel: cancel.clone(),
            judged: AtomicU64::new(0),
        };
        let settings = Settings {
            jobs,
            cancel,
            ..Settings::default()
        };
        let problem = Problem::new(1000);
        let result = Engine::new(&problem, &oracle)
            .settings(settings)
            .ddmin()
            .unwrap();
        assert_eq!(result.end, SearchEnd::Cancelled);
        assert!(result.failing.contains(7) && result.failing.contains(700));
    }
}

#[test]
fn what_is_known_already_is_not_needed_once_it_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let problem = Problem::new(1000);
    let oracle =
        Judge(|candidate: &DeltaSet| verdict(candidate.contains(7) && candidate.contains(700)));
    let run = |most: u64| {
        let mut journal = Journal::open(&path, &problem).unwrap();
        let settings = Settings::default();
        let cancel = settings.cancel.clone();
        let engine = Engine::new(&problem, &oracle).settings(settings);
        let engine = engine.journal(&mut journal).watch(|step| {
            if step.counts.tests == most {
                cancel.cancel();
            }
        });
        let result = engine.ddmin().unwrap();
        (result.end, result.counts.tests)
    };
    let (end, tests) = run(u64::MAX);
    assert!(end == SearchEnd::Minimal && tests > 20, "{end:?} {tests}");
    assert_eq!(run(10), (SearchEnd::Cancelled, 10));
}

#[test]
fn progress_tells_phase_sizes_and_counts() {
    let parents: Vec<Option<u32>> = (0..31u32).map(|n| (n > 0).then(|| (n - 1) / 2)).collect();
    let problem = Problem::tree(&parents);
    let oracle = Judge(|candidate: &DeltaSet| verdict(candidate.contains(20)));
    let mut phases = Vec::new();
    let mut sizes = Vec::new();
    let result = Engine::new(&problem, &oracle)
        .watch(|step| {
            phases.push(step.standing.phase);
            sizes.push(step.standing.failing);
            assert_eq!(step.counts.tests + step.counts.cached, phases.len() as u64);
        })
        .ddmin()
        .unwrap();
    assert_eq!(result.failing.to_string(), "0-1 4 9 20");
    phases.dedup();
    assert_eq!(phases.first(), Some(&Phase::Check));
    assert!(
        phases.contains(&Phase::Level(2)) && phases.contains(&Phase::Last),
        "{phases:?}"
    );
    assert!(sizes.is_sorted_by(|a, b| a >= b));
    assert_eq!(
        result.counts.failed + result.counts.passed,
        result.counts.tests
    );
    assert_eq!(Verdict::<()>::Pass.kind(), VerdictKind::Pass);
}

/// A subtree goes whole, long before its leaves are tried.
#[test]
fn trees_are_reduced_from_the_root() {
    let size = (1 << 13) - 1;
    let parents: Vec<Option<u32>> = (0..size).map(|n| (n > 0).then(|| (n - 1) / 2)).collect();
    let oracle = Judge(|candidate: &DeltaSet| verdict(candidate.contains(5000)));
    let by_level = Engine::new(&Problem::tree(&parents), &oracle)
        .ddmin()
        .unwrap();
    assert_eq!(by_level.failing.len(), 13);
    // Two nodes a level, and at the end each of the thirteen.
    assert!(
        by_level.counts.tests <= 2 * 13 + 13 + 2,
        "{}",
        by_level.counts.tests
    );
    let pair = Engine::new(&Problem::tree(&parents), &oracle).dd().unwrap();
    assert_eq!(pair.difference().to_string(), "5000");
}

/// Four of five verdicts are unresolved: the search ends and says so.
#[test]
fn mostly_unresolved_verdicts_do_not_stop_dd() {
    let shape = support::Shape {
        size: 200,
        relevant: 3,
        clustered: false,
        hidden: 0,
        masks: 0,
        haze: 82,
    };
    for seed in 0..20 {
        let subject = support::Subject::generate(shape, seed);
        let problem = subject.problem();
        let oracle = Judge(|candidate: &DeltaSet| subject.judge(candidate));
        let pair = Engine::new(&problem, &oracle).dd().unwrap();
        assert_eq!(pair.end, SearchEnd::Minimal);
        assert_eq!(subject.judge(&pair.failing).kind(), VerdictKind::Fail);
        assert_eq!(subject.judge(&pair.passing).kind(), VerdictKind::Pass);
    }
}
