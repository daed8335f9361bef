//! Properties of results: minimal, the same for any number of jobs and interruptions, closed, and
//! found within the published numbers of tests.

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use culprit_reduce::{
    Budget, Cancel, Counts, DeltaSet, Engine, Inference, Journal, Judge, Needs, Problem, Reduction,
    Schedule, SearchEnd, Settings, Units, Verdict, VerdictKind, VerdictOrigin,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use support::Subject;

const SIZE: u32 = 24;
const SCHEDULES: [Schedule; 3] = [
    Schedule::Splitting,
    Schedule::Classic,
    Schedule::Probabilistic,
];

/// The same cases in every run.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(20),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A subject, and verdicts that make no sense: of a hundred candidates so many are unresolved, and so
/// many pass or fail by chance.
#[derive(Clone, Debug)]
struct Noisy {
    subject: Subject,
    unresolved: u64,
    erratic: u64,
    seed: u64,
}

impl Noisy {
    fn judge(&self, candidate: &DeltaSet) -> Verdict<()> {
        let unmet = unmet(&self.subject.needs, candidate);
        assert!(!unmet, "{candidate} is not closed");
        // The ends are what they should be.
        if candidate.len() == u64::from(self.subject.size) {
            return Verdict::Fail(());
        }
        if candidate.is_empty() {
            return Verdict::Pass;
        }
        let print: String = candidate.digest().to_string();
        let hash = u64::from_str_radix(&print[..15], 16).unwrap() ^ self.seed;
        let chance = support::Chance(hash).of(100);
        if chance < self.unresolved {
            Verdict::Unresolved(())
        } else if chance < self.unresolved + self.erratic {
            if hash & 1 == 0 {
                Verdict::Pass
            } else {
                Verdict::Fail(())
            }
        } else {
            self.subject.judge(candidate)
        }
    }
}

fn unmet(needs: &[(u32, u32)], set: &DeltaSet) -> bool {
    let has = |delta: u32| set.contains(u64::from(delta));
    needs.iter().any(|(a, b)| has(*a) && !has(*b))
}

fn pairs(most: usize) -> impl Strategy<Value = Vec<(u32, u32)>> {
    prop::collection::vec((0..SIZE, 0..SIZE), 0..=most)
}

/// Needs mostly point back, as in calls; some do not, and make circles.
fn noisy() -> impl Strategy<Value = Noisy> {
    let relevant = prop::collection::btree_set(0..SIZE, 1..6);
    let noise = (
        prop_oneof![Just(0u64), 0..95u64],
        prop_oneof![Just(0u64), 0..6u64],
    );
    (pairs(16), pairs(6), pairs(4), relevant, noise, any::<u64>()).prop_map(
        |(needs, hidden, masks, relevant, (unresolved, erratic), seed)| Noisy {
            subject: Subject {
                size: SIZE,
                needs: needs
                    .into_iter()
                    .enumerate()
                    .map(|(i, (a, b))| {
                        if i % 8 == 0 {
                            (a, b)
                        } else {
                            (a.max(b), a.min(b))
                        }
                    })
                    .collect(),
                hidden,
                masks,
                relevant: relevant.into_iter().collect(),
                haze: 0,
            },
            unresolved,
            erratic,
            seed,
        },
    )
}

fn schedule() -> impl Strategy<Value = Schedule> {
    prop::sample::select(&SCHEDULES[..])
}

/// The set without a delta and what needs it.
fn without(needs: &[(u32, u32)], set: &DeltaSet, delta: u64) -> DeltaSet {
    let mut left: BTreeSet<u64> = set.iter().filter(|d| *d != delta).collect();
    loop {
        let orphan = needs.iter().map(|&(a, b)| (u64::from(a), u64::from(b)));
        let orphan = orphan.filter(|(a, b)| left.contains(a) && !left.contains(b));
        let orphans: Vec<u64> = orphan.map(|(a, _)| a).collect();
        if orphans.is_empty() {
            return left.into_iter().collect();
        }
        orphans.iter().for_each(|orphan| {
            left.remove(orphan);
        });
    }
}

/// The set with a delta and what it needs.
fn with(needs: &[(u32, u32)], set: &DeltaSet, delta: u64) -> DeltaSet {
    let mut all: BTreeSet<u64> = set.iter().chain([delta]).collect();
    loop {
        let before = all.len();
        for (a, b) in needs {
            if all.contains(&u64::from(*a)) {
                all.insert(u64::from(*b));
            }
        }
        if all.len() == before {
            return all.into_iter().collect();
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Ddmin,
    Dd,
}

type Steps = Vec<(DeltaSet, VerdictKind)>;

/// A reduction and every verdict it needed, in order.
fn reduce(noisy: &Noisy, mode: Mode, settings: Settings) -> (Reduction<()>, Steps) {
    let problem = noisy.subject.problem();
    let oracle = Judge(|candidate: &DeltaSet| noisy.judge(candidate));
    let mut steps = Vec::new();
    let engine = Engine::new(&problem, &oracle)
        .settings(settings)
        .watch(|step| steps.push((step.candidate.clone(), step.verdict.kind())));
    let result = match mode {
        Mode::Ddmin => engine.ddmin(),
        Mode::Dd => engine.dd(),
    };
    (result.expect("a result"), steps)
}

fn settings(schedule: Schedule) -> Settings {
    Settings {
        schedule,
        ..Settings::default()
    }
}

/// What does not depend on jobs and interruptions.
fn lasting(counts: Counts) -> Counts {
    Counts {
        replayed: 0,
        asked: 0,
        ..counts
    }
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(&[Mode::Ddmin, Mode::Dd][..])
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn nothing_can_be_taken_from_what_ddmin_leaves(noisy in noisy(), schedule in schedule()) {
        let (result, _) = reduce(&noisy, Mode::Ddmin, settings(schedule));
        prop_assert_eq!(result.end, SearchEnd::Minimal);
        prop_assert_eq!(noisy.judge(&result.failing).kind(), VerdictKind::Fail);
        for delta in result.failing.iter() {
            let less = without(&noisy.subject.needs, &result.failing, delta);
            prop_assert_ne!(noisy.judge(&less).kind(), VerdictKind::Fail, "{} without {}", &result.failing, delta);
        }
    }

    #[test]
    fn the_pair_of_dd_has_a_minimal_difference(noisy in noisy()) {
        let (result, _) = reduce(&noisy, Mode::Dd, Settings::default());
        let (passing, failing) = (&result.passing, &result.failing);
        prop_assert_eq!(noisy.judge(passing).kind(), VerdictKind::Pass);
        prop_assert_eq!(noisy.judge(failing).kind(), VerdictKind::Fail);
        prop_assert!(passing.is_subset(failing) && passing.len() < failing.len());
        for delta in result.difference().iter() {
            let less = without(&noisy.subject.needs, failing, delta);
            let more = with(&noisy.subject.needs, passing, delta);
            for inner in [less, more] {
                if inner != *passing && inner != *failing {
                    prop_assert_eq!(noisy.judge(&inner).kind(), VerdictKind::Unresolved, "{}", inner);
                }
            }
        }
    }

    /// Zeller and Hildebrandt: |c|² + 3|c| for ddmin, |c|² + 7|c| for dd. One more each: we judge
    /// the whole and the empty set too.
    #[test]
    fn there_are_no_more_tests_than_published(noisy in noisy(), schedule in schedule()) {
        let size = u64::from(SIZE);
        let (ddmin, _) = reduce(&noisy, Mode::Ddmin, settings(schedule));
        prop_assert!(ddmin.counts.tests <= size * size + 3 * size + 2);
        let (dd, _) = reduce(&noisy, Mode::Dd, Settings::default());
        prop_assert!(dd.counts.tests <= size * size + 7 * size + 2);
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn the_number_of_jobs_changes_nothing(noisy in noisy(), schedule in schedule(), mode in mode()) {
        let (one, steps) = reduce(&noisy, mode, settings(schedule));
        for jobs in [2, 8] {
            let (many, others) = reduce(&noisy, mode, Settings { jobs, ..settings(schedule) });
            prop_assert_eq!(&one.failing, &many.failing);
            prop_assert_eq!(&one.passing, &many.passing);
            prop_assert_eq!(lasting(one.counts), lasting(many.counts));
            prop_assert!(many.counts.asked >= many.counts.tests);
            prop_assert_eq!(&steps, &others);
        }
    }

    #[test]
    fn a_resumed_reduction_is_an_uninterrupted_one(
        noisy in noisy(), schedule in schedule(), mode in mode(), first in 1..60u64, jobs in 1..4usize,
    ) {
        let (whole, steps) = reduce(&noisy, mode, settings(schedule));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let problem = noisy.subject.problem();
        let asked = AtomicU64::new(0);
        let cancel = Cancel::new();
        // The reduction is cancelled in the middle of a test.
        let oracle = Judge(|candidate: &DeltaSet| {
            if asked.fetch_add(1, Ordering::Relaxed) == first {
                cancel.cancel();
            }
            noisy.judge(candidate)
        });
        let run = |settings: Settings, steps: &mut Steps| {
            let mut journal = Journal::open(&path, &problem).unwrap();
            let engine = Engine::new(&problem, &oracle)
                .settings(settings)
                .journal(&mut journal)
                .watch(|step| steps.push((step.candidate.clone(), step.verdict.kind())));
            match mode {
                Mode::Ddmin => engine.ddmin(),
                Mode::Dd => engine.dd(),
            }
        };
        let broken = run(Settings { jobs, cancel: cancel.clone(), ..settings(schedule) }, &mut Vec::new());
        if let Ok(broken) = &broken {
            prop_assert_eq!(noisy.judge(&broken.failing).kind(), VerdictKind::Fail);
            prop_assert_eq!(broken.end == SearchEnd::Minimal, broken.failing == whole.failing && broken.end != SearchEnd::Cancelled);
        }
        let mut others = Vec::new();
        let resumed = run(Settings { jobs, ..settings(schedule) }, &mut others).unwrap();
        prop_assert_eq!(resumed.failing, whole.failing);
        prop_assert_eq!(resumed.passing, whole.passing);
        prop_assert_eq!(steps, others);
        prop_assert_eq!(lasting(resumed.counts), lasting(whole.counts));
        if let Ok(broken) = broken {
            prop_assert!(resumed.counts.replayed + 1 >= broken.counts.tests.min(whole.counts.tests));
        }
    }

    #[test]
    fn a_budget_of_tests_is_kept_and_leaves_a_failing_set(
        noisy in noisy(), schedule in schedule(), tests in 1..40u64, jobs in 1..4usize,
    ) {
        let budget = Budget { tests: Some(tests), time: None };
        let (result, steps) = reduce(&noisy, Mode::Ddmin, Settings { budget, jobs, ..settings(schedule) });
        prop_assert!(result.counts.tests <= tests);
        prop_assert_eq!(noisy.judge(&result.failing).kind(), VerdictKind::Fail);
        let (whole, all) = reduce(&noisy, Mode::Ddmin, settings(schedule));
        prop_assert_eq!(&steps[..], &all[..steps.len()]);
        prop_assert_eq!(result.end == SearchEnd::Minimal, whole.counts.tests <= tests);
    }

    #[test]
    fn monotone_verdicts_may_be_inferred(
        relevant in prop::collection::btree_set(0..SIZE, 1..6), needs in pairs(16), schedule in schedule(),
    ) {
        let subject = Subject { size: SIZE, needs, relevant: relevant.into_iter().collect(), ..Subject::default() };
        let noisy = Noisy { subject, unresolved: 0, erratic: 0, seed: 0 };
        let (exact, _) = reduce(&noisy, Mode::Ddmin, settings(schedule));
        let inferred = Settings { inference: Inference::Monotone, ..settings(schedule) };
        let (monotone, _) = reduce(&noisy, Mode::Ddmin, inferred);
        prop_assert_eq!(exact.failing, monotone.failing);
        prop_assert!(monotone.counts.tests <= exact.counts.tests);
    }

    /// Groups as atoms: no group can go. Levels on the way change nothing about that.
    #[test]
    fn groups_are_minimal_too(
        noisy in noisy(), cuts in prop::collection::btree_set(1..u64::from(SIZE), 0..10), schedule in schedule(),
    ) {
        let cuts: Vec<u64> = [0].into_iter().chain(cuts).chain([u64::from(SIZE)]).collect();
        let groups: Vec<DeltaSet> = cuts.windows(2).map(|w| DeltaSet::from(w[0]..w[1])).collect();
        let coarse = groups.chunks(3).map(|chunk| {
            chunk.iter().flat_map(|group| group.iter()).collect::<DeltaSet>()
        });
        let problem = noisy.subject.problem()
            .levels([Units::groups(coarse)])
            .atoms(Units::groups(groups.iter().cloned()));
        let oracle = Judge(|candidate: &DeltaSet| noisy.judge(candidate));
        let result = Engine::new(&problem, &oracle).settings(settings(schedule)).ddmin().unwrap();
        prop_assert_eq!(noisy.judge(&result.failing).kind(), VerdictKind::Fail);
        for group in groups.iter().filter(|group| group.intersects(&result.failing)) {
            let mut less = result.failing.minus(group);
            for delta in group.iter() {
                less = without(&noisy.subject.needs, &less, delta);
            }
            prop_assert_ne!(noisy.judge(&less).kind(), VerdictKind::Fail, "{} without {}", &result.failing, group);
        }
        let pair = Engine::new(&problem, &oracle).dd().unwrap();
        prop_assert_eq!(noisy.judge(&pair.passing).kind(), VerdictKind::Pass);
        prop_assert_eq!(noisy.judge(&pair.failing).kind(), VerdictKind::Fail);
    }

    /// In a tree every node that is left matters, with all below it.
    #[test]
    fn trees_are_minimal_in_their_nodes(
        parents in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
        relevant in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        schedule in schedule(),
    ) {
        let parents: Vec<Option<u32>> = parents.iter().enumerate()
            .map(|(node, parent)| (node > 0).then(|| parent.index(node) as u32)).collect();
        let relevant: DeltaSet = relevant.iter().map(|i| i.index(parents.len()) as u64).collect();
        let problem = Problem::tree(&parents);
        let oracle = Judge(|candidate: &DeltaSet| match relevant.is_subset(candidate) {
            true => Verdict::Fail(()),
            false => Verdict::Pass,
        });
        let result = Engine::new(&problem, &oracle).settings(settings(schedule)).ddmin().unwrap();
        // The relevant nodes and those above them.
        let mut expect: BTreeSet<u64> = relevant.iter().collect();
        for node in relevant.iter() {
            let mut node = node as usize;
            while let Some(parent) = parents[node] {
                expect.insert(u64::from(parent));
                node = parent as usize;
            }
        }
        prop_assert_eq!(result.failing.iter().collect::<BTreeSet<_>>(), expect);
    }

    /// Between two given ends, and with chains: one position decides.
    #[test]
    fn one_cause_among_billions_takes_a_test_for_each_halving(
        cause in 0..3_842_577_240u64, chained in any::<bool>(),
    ) {
        let size = 3_842_577_240;
        let needs = if chained { Needs::chains([0..size / 3, size / 3..size]) } else { Needs::nothing() };
        let problem = Problem::new(size).needs(needs);
        let oracle = Judge(|candidate: &DeltaSet| match candidate.contains(cause) {
            true => Verdict::Fail(()),
            false => Verdict::Pass,
        });
        let pair = Engine::new(&problem, &oracle).dd().unwrap();
        prop_assert_eq!(pair.difference(), DeltaSet::from(cause..cause + 1));
        // Published: 2 log2 |c|. With every verdict resolved it is one for each halving.
        prop_assert!(pair.counts.tests <= 2 + 32 + u64::from(chained), "{}", pair.counts.tests);
        if !chained {
            let least = Engine::new(&problem, &oracle).ddmin().unwrap();
            prop_assert_eq!(least.failing, DeltaSet::from(cause..cause + 1));
            prop_assert!(least.counts.tests <= 2 * 32 + 4, "{}", least.counts.tests);
        }
    }
}

#[test]
fn verdicts_of_a_journal_are_not_asked_for_again() {
    let subject = Subject {
        size: SIZE,
        relevant: vec![3, 17],
        ..Subject::default()
    };
    let problem = subject.problem();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let oracle = Judge(|candidate: &DeltaSet| subject.judge(candidate));
    let mut journal = Journal::open(&path, &problem).unwrap();
    let first = Engine::new(&problem, &oracle)
        .journal(&mut journal)
        .ddmin()
        .unwrap();
    assert_eq!(first.counts.asked, first.counts.tests);
    let mut journal = Journal::open(&path, &problem).unwrap();
    assert_eq!(journal.verdicts() as u64, first.counts.tests);
    let mut origins = Vec::new();
    let again = Engine::new(&problem, &oracle)
        .journal(&mut journal)
        .watch(|step| origins.push(step.origin))
        .ddmin()
        .unwrap();
    assert_eq!(
        (again.counts.asked, again.counts.replayed),
        (0, first.counts.tests)
    );
    assert!(!origins.contains(&VerdictOrigin::Oracle));
    assert_eq!(again.failing, first.failing);
}
