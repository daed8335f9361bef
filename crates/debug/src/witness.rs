//! The failures of a command in several runs with nothing woven: those that appear in every run, and those
//! that appear only sometimes.

use std::cell::LazyCell;
use std::fmt;
use std::path::{Path, PathBuf};

use culprit_model::{Failure, FailureKind};
use culprit_program::Program;
use culprit_scripts::{Failed, OwnCode};
use culprit_signature::{Grade, Signature, Thrown};
use culprit_trace::{Recording, RunFolder};

use crate::Error;

/// The number of runs in which a failure appeared, out of all runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    pub times: usize,
    pub of: usize,
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fails {} of {} times", self.times, self.of)
    }
}

impl Rate {
    pub fn is_always(self) -> bool {
        self.times == self.of
    }
}

/// A failure that was seen in one or more runs.
#[derive(Clone)]
pub(crate) struct Seen {
    pub(crate) signature: Signature,
    /// The class of the test that failed, if the test runner reports it.
    pub(crate) test: Option<String>,
    /// The first recording that has it.
    pub(crate) recording: PathBuf,
    times: usize,
}

/// A failure of one run.
struct Witness {
    thrown: Thrown,
    signature: Signature,
    test: Option<String>,
    recording: PathBuf,
}

/// The exceptions of a run that count as its failures.
pub(crate) enum Wanted {
    /// Those that left a thread or failed a test; of one class, where that is named.
    Left { class: Option<String> },
    /// Those that are like one that was caught.
    Caught(Signature),
}

impl Wanted {
    fn has(&self, failure: &Failure, thrown: &Thrown) -> bool {
        let is_caught = failure.kind == FailureKind::Caught;
        match self {
            Wanted::Left { class } => {
                !is_caught && class.as_ref().is_none_or(|class| failure.is_of(class))
            }
            Wanted::Caught(signature) => signature.is_same(thrown),
        }
    }
}

/// Opens the program of a recording, where that is possible.
pub(crate) type OpenProgram<'a> = &'a dyn Fn(&Path) -> Option<Program>;

/// The class in the name of a failed test, `class#method`.
pub(crate) fn test_class(place: &str) -> Option<String> {
    let (class, _) = place.split_once('#')?;
    let is_name = |part: &str| {
        let mut letters = part.chars();
        letters.next().is_some_and(char::is_alphabetic)
            && letters.all(|c| c.is_alphanumeric() || c == '_' || c == '$')
    };
    class.split('.').all(is_name).then(|| class.to_owned())
}

/// Whether a failure may be another one by its line: assertions without a message of their own differ in nothing else.
fn is_of_line(signature: &Signature, thrown: &Thrown) -> bool {
    !signature.is_assertion() || signature.is_in_line_of(thrown)
}

/// The failures of some runs.
#[derive(Clone, Default)]
pub(crate) struct Witnesses {
    runs: usize,
    seen: Vec<Seen>,
}

impl Seen {
    pub(crate) fn failed<'a>(&'a self, witness: &'a Recording) -> Failed<'a> {
        Failed {
            signature: &self.signature,
            test: self.test.as_deref(),
            start: witness.start(),
        }
    }
}

impl Witnesses {
    /// Adds the failures of all JVMs of a run.
    pub(crate) fn add(
        &mut self,
        folder: &Path,
        wanted: &Wanted,
        program: OpenProgram<'_>,
    ) -> Result<(), Error> {
        let mut all = Vec::new();
        for path in RunFolder::open(folder)?.recordings {
            let recording = Recording::open(&path)?;
            let program = LazyCell::new(|| program(&path));
            all.extend(recording.exceptions().filter_map(|failure| {
                let thrown = Thrown::parse(&failure.stack)?;
                let test = test_class(&failure.place);
                if !wanted.has(failure, &thrown) {
                    return None;
                }
                let program = thrown.cause.as_ref().and_then(|_| program.as_ref());
                let signature = match program {
                    None => Signature::of(&thrown),
                    Some(program) => {
                        let own = OwnCode::of(program, recording.start(), test.as_deref());
                        Signature::innermost(&thrown, |frame| own.has_frame(frame))
                    }
                };
                Some(Witness {
                    thrown,
                    signature,
                    test,
                    recording: path.clone(),
                })
            }));
        }
        self.add_run(all);
        Ok(())
    }

    /// Adds the failures of a run, each with its recording. A failure counts once in a run.
    fn add_run(&mut self, all: Vec<Witness>) {
        self.runs += 1;
        let exact: Vec<bool> = all
            .iter()
            .map(|one| {
                let mut known = self.seen.iter();
                known.any(|known| known.signature.grade(&one.thrown) >= Some(Grade::L3))
            })
            .collect();
        for known in &mut self.seen {
            let own = all
                .iter()
                .filter(|one| is_of_line(&known.signature, &one.thrown));
            let graded = own.map(|one| (known.signature.grade(&one.thrown), one));
            let best = graded.max_by_key(|(grade, _)| *grade);
            let best = best.filter(|(grade, _)| *grade >= Some(Signature::ENOUGH));
            let near = all.iter().zip(&exact).find(|(one, is_exact)| {
                !**is_exact && known.signature.differs_in_numbers(&one.thrown)
            });
            let same = best.map(|(_, one)| one).or(near.map(|(one, _)| one));
            if let Some(same) = same {
                known.times += 1;
                known.signature.allow(&same.thrown);
            }
        }
        for Witness {
            thrown,
            signature,
            test,
            recording,
        } in all
        {
            let is_known = |known: &Seen| {
                known.signature.is_same(&thrown) && is_of_line(&known.signature, &thrown)
            };
            if !self.seen.iter().any(is_known) {
                self.seen.push(Seen {
                    signature,
                    test,
                    recording,
                    times: 1,
                });
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Whether all runs failed in the same ways.
    pub(crate) fn agree(&self) -> bool {
        self.seen.iter().all(|seen| seen.times == self.runs)
    }

    /// Whether no two runs failed in the same way.
    pub(crate) fn have_nothing_in_common(&self) -> bool {
        self.runs > 1 && self.seen.len() > 1 && self.seen.iter().all(|seen| seen.times == 1)
    }

    pub(crate) fn rate(&self, seen: &Seen) -> Rate {
        Rate {
            times: seen.times,
            of: self.runs,
        }
    }

    /// The failures that appeared most often, in the order in which they were seen.
    pub(crate) fn most_frequent(&self) -> impl Iterator<Item = &Seen> {
        let most = self.seen.iter().map(|seen| seen.times).max();
        self.seen
            .iter()
            .filter(move |seen| Some(seen.times) == most)
    }

    /// The number of a failure among those of its class that differ from it in their lines alone, in the order in which
    /// they were seen. `None` if there are no others.
    pub(crate) fn place_among_alike(&self, seen: &Seen) -> Option<usize> {
        let is_alike = |other: &&Seen| {
            other.test == seen.test && seen.signature.is_same(other.signature.thrown())
        };
        let alike: Vec<&Seen> = self.seen.iter().filter(is_alike).collect();
        let place = alike.iter().position(|other| std::ptr::eq(*other, seen));
        place.filter(|_| alike.len() > 1)
    }

    /// All others.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Seen> {
        let most = self.seen.iter().map(|seen| seen.times).max();
        self.seen.iter().filter(move |seen| Some(seen.times) < most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn witness(stack: &str) -> Witness {
        let thrown = Thrown::parse(stack).unwrap();
        Witness {
            signature: Signature::of(&thrown),
            thrown,
            test: None,
            recording: PathBuf::new(),
        }
    }

    /// Witnesses of runs, each with failures by message and line.
    fn witnesses(runs: &[&[(&str, u32)]]) -> Witnesses {
        let mut witnesses = Witnesses::default();
        for run in runs {
            let thrown = run.iter().map(|(message, line)| {
                let stack = format!("a.Bad: {message}\n\tat a.B.c(B.java:{line})\n");
                witness(&stack)
            });
            witnesses.add_run(thrown.collect());
        }
        witnesses
    }

    fn rates(witnesses: &Witnesses) -> Vec<String> {
        let seen = witnesses.most_frequent();
        seen.map(|seen| format!("{} {}", seen.signature, witnesses.rate(seen)))
            .collect()
    }

    #[test]
    fn a_failed_test_names_its_class() {
        let class = |place| test_class(place);
        assert_eq!(
            class("shop.CartTest#adds"),
            Some("shop.CartTest".to_owned())
        );
        assert_eq!(class("a.B$C#adds[1: #2]"), Some("a.B$C".to_owned()));
        assert_eq!(class("adds()"), None);
        assert_eq!(class("main"), None);
        assert_eq!(class("two words#adds"), None);
    }

    #[test]
    fn runs_that_fail_alike_agree() {
        let run: &[(&str, u32)] = &[("x", 1), ("y", 2)];
        let witnesses = witnesses(&[run, run]);
        assert!(witnesses.agree());
        assert_eq!(
            rates(&witnesses),
            [
                "Bad \"x\" at B.c (B.java:1) fails 2 of 2 times",
                "Bad \"y\" at B.c (B.java:2) fails 2 of 2 times"
            ]
        );
        assert_eq!(witnesses.others().count(), 0);
    }

    #[test]
    fn what_appears_most_often_is_taken() {
        let witnesses = witnesses(&[&[("x", 1)], &[("y", 2)], &[("y", 2)]]);
        assert!(!witnesses.agree());
        assert!(!witnesses.have_nothing_in_common());
        let taken = ["Bad \"y\" at B.c (B.java:2) fails 2 of 3 times"];
        assert_eq!(rates(&witnesses), taken);
        assert_eq!(witnesses.others().count(), 1);
    }

    #[test]
    fn runs_may_have_nothing_in_common() {
        assert!(witnesses(&[&[("x", 1)], &[("y", 2)]]).have_nothing_in_common());
        assert!(!witnesses(&[&[("x", 1)], &[], &[]]).have_nothing_in_common());
        assert!(!witnesses(&[&[("x", 1), ("y", 2)]]).have_nothing_in_common());
    }

    /// The grade of a failure with a message, after runs.
    #[track_caller]
    fn check(runs: &[&[(&str, u32)]], message: &str, expect: Grade) {
        let thrown = format!("a.Bad: {message}\n\tat a.B.c(B.java:1)\n");
        let witnesses = witnesses(runs);
        let seen = witnesses.most_frequent().next().unwrap();
        let grade = seen.signature.grade(&Thrown::parse(&thrown).unwrap());
        assert_eq!(grade, Some(expect), "{runs:?}");
    }

    #[test]
    fn numbers_that_differ_between_runs_do_not_count() {
        check(&[&[("at 7", 1)], &[("at 7", 1)]], "at 9", Grade::L2);
        check(&[&[("at 7", 1)], &[("at 8", 1)]], "at 9", Grade::L4);
        check(
            &[&[("a 7 b 3", 1)], &[("a 8 b 3", 1)]],
            "a 9 b 4",
            Grade::L2,
        );
        // Two failures of one run differ in their messages, each of which is the same next time.
        let both: &[(&str, u32)] = &[("at 7", 1), ("at 8", 1)];
        check(&[both, both], "at 7", Grade::L4);
        check(&[both, both], "at 9", Grade::L2);
    }

    #[test]
    fn a_message_that_differs_in_words_is_known_by_its_kind() {
        let runs: [&[(&str, u32)]; 2] = [&[("at 'x'", 1)], &[("at 'y'", 1)]];
        check(&runs, "at 'x'", Grade::L2);
    }

    #[test]
    fn assertions_in_other_lines_are_other_failures() {
        let mut witnesses = Witnesses::default();
        for _ in 0..2 {
            witnesses.add_run(vec![failed("no", 7), failed("no", 9), failed("no", 7)]);
        }
        let seen: Vec<&Seen> = witnesses.most_frequent().collect();
        assert_eq!(seen.len(), 2);
        assert!(witnesses.agree());
        assert_eq!(witnesses.place_among_alike(seen[0]), Some(0));
        assert_eq!(witnesses.place_among_alike(seen[1]), Some(1));
    }

    /// A failed assertion of JUnit in a line of its test.
    fn failed(message: &str, line: u32) -> Witness {
        let stack = format!(
            "org.opentest4j.AssertionFailedError: {message}\n\
             \tat org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:1)\n\
             \tat a.BTest.c(BTest.java:{line})\n"
        );
        witness(&stack)
    }

    #[test]
    fn an_assertion_may_fail_with_other_numbers_in_the_same_line() {
        let rates = |other: Witness| {
            let mut witnesses = Witnesses::default();
            witnesses.add_run(vec![failed("expected: <3> but was: <2>", 7)]);
            witnesses.add_run(vec![other]);
            let seen = witnesses.seen.iter();
            seen.map(|seen| seen.times).collect::<Vec<_>>()
        };
        assert_eq!(rates(failed("expected: <3> but was: <4>", 7)), [2]);
        assert_eq!(rates(failed("expected: <3> but was: <4>", 8)), [1, 1]);
        assert_eq!(rates(failed("expected: <3> but was: <x>", 7)), [1, 1]);
    }
}
