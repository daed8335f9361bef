//! Several searches under one driver: budget, memo, gate, journals and progress.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use culprit_reduce::{
    Artefact, ArtefactOracle, Budget, Cancel, Clock, DeltaSet, Digest, Driver, Error, GRACE, Goal,
    Journals, Problem, ReductionEvent, Scale, Schedule, Search, SearchEnd, Settings, Tested,
    Verdict, Wanted,
};

/// Texts out of which characters are left out. A text fails if it contains all of `wanted`.
struct Letters<'l> {
    text: &'l str,
    wanted: &'l str,
    /// A text with this character has a flaw.
    flawed: Option<char>,
    runs: AtomicU64,
    /// Advances by a second with each run.
    clock: Arc<Seconds>,
}

#[derive(Default)]
struct Seconds(AtomicU64);

impl Clock for Seconds {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

impl<'l> Letters<'l> {
    fn new(text: &'l str, wanted: &'l str) -> Letters<'l> {
        Letters {
            text,
            wanted,
            flawed: None,
            runs: AtomicU64::new(0),
            clock: Arc::default(),
        }
    }

    fn kept(&self, candidate: &DeltaSet) -> String {
        let numbered = (0..).zip(self.text.chars());
        let kept = numbered.filter(|(number, _)| candidate.contains(*number));
        kept.map(|(_, letter)| letter).collect()
    }

    fn artefact(&self, text: String) -> Artefact<String> {
        let is_flawed = self.flawed.is_some_and(|flawed| text.contains(flawed));
        Artefact {
            digest: Digest::of(text.as_bytes()),
            size: text.len() as u64,
            content: match is_flawed {
                true => Err("is flawed".to_owned()),
                false => Ok(text),
            },
        }
    }

    fn verdict(&self, text: &str) -> Verdict<String> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.clock.0.fetch_add(1, Ordering::Relaxed);
        match self.wanted.chars().all(|letter| text.contains(letter)) {
            true => Verdict::Fail("fails".to_owned()),
            false => Verdict::Pass,
        }
    }

    fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    fn search(&self, name: &'static str) -> Search<'static> {
        let size = self.text.len() as u64;
        Search {
            name,
            problem: Problem::new(size).key(self.text),
            goal: Goal::Simplify,
            schedule: Schedule::default(),
            scale: Scale {
                whole: size,
                best: size,
                extent: 1.0,
            },
            is_sequential: false,
            learn: None,
        }
    }

    fn settings(&self, budget: Budget) -> Settings {
        Settings {
            budget,
            clock: self.clock.clone(),
            ..Settings::default()
        }
    }
}

impl ArtefactOracle for Letters<'_> {
    type Content = String;
    type Error = Infallible;

    fn make(&self, candidate: &DeltaSet) -> Result<Artefact<String>, Infallible> {
        Ok(self.artefact(self.kept(candidate)))
    }

    fn judge(&self, text: &String, _: &Wanted<'_>) -> Result<Verdict<String>, Infallible> {
        Ok(self.verdict(text))
    }
}

fn tests(tests: u64) -> Budget {
    Budget {
        tests: Some(tests),
        time: None,
    }
}

const TEXT: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

#[test]
fn searches_share_the_budget_of_tests() {
    for most in 2..30 {
        let letters = Letters::new(TEXT, "bYz");
        let driver = Driver::new(letters.settings(tests(most)), &|_| {});
        let found = driver.search(letters.search("first"), &letters).unwrap();
        let other = Letters {
            wanted: "q",
            ..Letters::new("qrst", "q")
        };
        let second = driver.search(other.search("second"), &other);
        assert!(letters.runs() + other.runs() <= most);
        assert_eq!(driver.tally().tests, letters.runs() + other.runs());
        match found.end {
            SearchEnd::Minimal => assert_eq!(letters.kept(&found.failing), "bzY"),
            end => {
                assert_eq!((end, driver.end()), (SearchEnd::Tests, SearchEnd::Tests));
                assert!(matches!(second, Err(Error::Nothing)));
            }
        }
    }
}

#[test]
fn searches_share_the_budget_of_time() {
    let letters = Letters::new(TEXT, "bYz");
    let budget = Budget {
        tests: None,
        time: Some(Duration::from_secs(5)),
    };
    let driver = Driver::new(letters.settings(budget), &|_| {});
    let found = driver.search(letters.search("first"), &letters).unwrap();
    assert_eq!((found.end, letters.runs()), (SearchEnd::Time, 5));
    let again = driver.search(letters.search("second"), &letters);
    assert!(matches!(again, Err(Error::Nothing)));
    assert_eq!((driver.end(), letters.runs()), (SearchEnd::Time, 5));
    // What was found may be checked all the same, for a while.
    assert_eq!(driver.close(), SearchEnd::Time);
    assert!(driver.is_wanted() && !driver.is_over());
    letters
        .clock
        .0
        .fetch_add(GRACE.as_secs(), Ordering::Relaxed);
    // But not for another while.
    driver.close();
    assert!(!driver.is_wanted() && driver.is_over());
}

#[test]
fn a_part_has_a_budget_of_its_own_and_that_of_the_whole() {
    let letters = Letters::new(TEXT, "bYz");
    let driver = Driver::new(letters.settings(tests(10)), &|_| {});
    let part = |most| driver.within(tests(most), || driver.search(letters.search("x"), &letters));
    assert_eq!(part(4).unwrap().end, SearchEnd::Tests);
    assert_eq!((letters.runs(), driver.end()), (4, SearchEnd::Minimal));
    // The first four are known: the second part runs six more and no seventh.
    assert_eq!(part(100).unwrap().end, SearchEnd::Tests);
    assert_eq!(letters.runs(), 10);
    assert!(driver.is_over());
}

#[test]
fn an_artefact_is_tested_once_in_a_session() {
    let letters = Letters::new("aabbaabb", "ab");
    let driver = Driver::new(letters.settings(Budget::default()), &|_| {});
    let found = driver.search(letters.search("first"), &letters).unwrap();
    assert_eq!(found.failing.len(), 2);
    let runs = letters.runs();
    assert_eq!(driver.tally().tests, runs);
    driver.search(letters.search("again"), &letters).unwrap();
    let known = letters.artefact(letters.kept(&found.failing));
    let scale = letters.search("x").scale;
    let verdict = driver.test("known", &known, scale, |_, _| -> Result<_, Infallible> {
        unreachable!("it was tested before")
    });
    assert_eq!(verdict, Ok(Some(Verdict::Fail("fails".to_owned()))));
    assert_eq!((letters.runs(), driver.tally().tests), (runs, runs));
}

#[test]
fn a_flaw_costs_no_test() {
    let letters = Letters {
        flawed: Some('x'),
        ..Letters::new("abxcxd", "bc")
    };
    let driver = Driver::new(letters.settings(Budget::default()), &|_| {});
    // With all deltas there is a flaw: such a search cannot begin.
    let refused = driver.search(letters.search("all"), &letters);
    assert!(matches!(refused, Err(Error::NotFailing { .. })));
    assert_eq!((letters.runs(), driver.tally().ill_formed), (0, 1));
    // Unless the verdict is known from elsewhere.
    let fails = Verdict::Fail("fails".to_owned());
    driver.memo().learn(Digest::of(b"abxcxd"), fails);
    driver.search(letters.search("all"), &letters).unwrap();
    assert!(driver.tally().ill_formed > 1);
    assert_eq!(driver.tally().tests, letters.runs() + 1);
}

#[test]
fn events_and_counts_do_not_depend_on_the_number_of_jobs() {
    let run = |jobs| {
        let letters = Letters::new(TEXT, "bYz");
        let events = RefCell::new(Vec::new());
        let observer = |event: &ReductionEvent| {
            if let ReductionEvent::Tested(tested) = event {
                let elapsed = Duration::ZERO;
                events.borrow_mut().push(Tested {
                    elapsed,
                    ..tested.clone()
                });
            }
        };
        let settings = Settings {
            jobs,
            ..letters.settings(tests(40))
        };
        let driver = Driver::new(settings, &observer);
        let found = driver.search(letters.search("x"), &letters).unwrap();
        (events.take(), driver.tally(), found.failing.to_string())
    };
    let one = run(1);
    assert_eq!(one.0.len() as u64, one.1.tests);
    assert_eq!(one.0.last().map(|it| it.best), Some(3));
    assert_eq!(one, run(4));
}

#[test]
fn a_session_that_goes_on_runs_nothing_twice() {
    let dir = tempfile::tempdir().unwrap();
    for journals in [
        Journals::InOrder(dir.path().join("a")),
        Journals::ByProblem(dir.path().join("b")),
    ] {
        let run = |budget| {
            let letters = Letters::new(TEXT, "bYz");
            let driver = Driver::new(letters.settings(budget), &|_| {});
            let driver = driver.journals(Some(journals.clone()));
            let found = driver.search(letters.search("one two"), &letters).unwrap();
            let tally = driver.tally();
            assert_eq!(tally.run(), letters.runs());
            (letters.kept(&found.failing), tally.tests, letters.runs())
        };
        let (_, _, first) = run(tests(7));
        let (kept, all, second) = run(Budget::default());
        assert_eq!((kept.as_str(), first, second), ("bzY", 7, all - 7));
        assert_eq!(run(Budget::default()), ("bzY".to_owned(), all, 0));
    }
}

#[test]
fn a_search_that_learns_ends_and_the_session_does_not() {
    struct Unresolved;
    impl ArtefactOracle for Unresolved {
        type Content = ();
        type Error = Infallible;

        fn make(&self, candidate: &DeltaSet) -> Result<Artefact<()>, Infallible> {
            Ok(Artefact {
                digest: candidate.digest(),
                size: candidate.len(),
                content: match candidate.len() {
                    0 | 8 => Ok(()),
                    len => Err(format!("has {len}")),
                },
            })
        }

        fn judge(&self, (): &(), _: &Wanted<'_>) -> Result<Verdict<String>, Infallible> {
            unreachable!("both ends are known")
        }
    }
    let driver = Driver::new(Settings::default(), &|_| {});
    let (all, none) = (DeltaSet::all(8), DeltaSet::empty());
    driver.memo().learn(none.digest(), Verdict::Pass);
    let fails = Verdict::Fail(String::new());
    driver.memo().learn(all.digest(), fails);
    let heard = Cell::new(0);
    let mut learn = |detail: &str| {
        assert!(detail.starts_with("has "));
        heard.set(heard.get() + 1);
        heard.get() == 3
    };
    let found = driver.search(
        Search {
            name: "x",
            problem: Problem::new(8),
            goal: Goal::Isolate,
            schedule: Schedule::default(),
            scale: Scale {
                whole: 8,
                best: 8,
                extent: 1.0,
            },
            is_sequential: true,
            learn: Some(&mut learn),
        },
        &Unresolved,
    );
    let found = found.unwrap();
    assert!(found.has_learned);
    assert_eq!((heard.get(), driver.is_over()), (3, false));
}

#[test]
fn a_wish_to_end_is_heard_and_can_be_withdrawn_for_the_check() {
    let wish = Arc::new(AtomicU64::new(0));
    let letters = Letters::new(TEXT, "bYz");
    let is_wanted = {
        let (wish, clock) = (wish.clone(), letters.clock.clone());
        move || wish.load(Ordering::Relaxed) == 0 && clock.now() >= Duration::from_secs(4)
    };
    let settings = Settings {
        cancel: Cancel::when(is_wanted),
        ..letters.settings(Budget::default())
    };
    let driver = Driver::new(settings, &|_| {});
    let found = driver.search(letters.search("x"), &letters).unwrap();
    assert_eq!(found.end, SearchEnd::Cancelled);
    assert!(letters.runs() <= 4 && !driver.is_wanted());
    wish.store(1, Ordering::Relaxed);
    assert!(!driver.is_wanted());
    assert_eq!(driver.close(), SearchEnd::Cancelled);
    assert!(driver.is_wanted());
}
