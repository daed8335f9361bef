//! The choice of a failure among exceptions that were caught, for programs in which none left a thread or a test.
//!
//! A program that ends with a status other than 0 has failed, and the last stack trace that it printed or logged tells
//! why; failing that, the last message in its output that is the message of an exception, the last exception that
//! arrived at the main class, or the last one that the program's code threw and code around it caught. In all other cases
//! the user names the class of the exception.

use std::path::Path;

use culprit_jvm::untrusted;
use culprit_model::{Catcher, Caught, Evidence};
use culprit_program::main_class;
use culprit_signature::{Frame, FrameOrigin, Signature, Thrown};
use culprit_trace::{Recording, RunFolder};

use crate::Error;

/// The most bytes that are read of what a command printed.
const LONGEST_OUTPUT: u64 = 64 << 20;

/// Shorter messages may be in any output.
const SHORTEST_MESSAGE: usize = 4;

/// The exceptions of one run that were caught, those of all its JVMs.
pub(crate) struct CaughtInRun {
    all: Vec<Caught>,
    /// The main classes of its JVMs, as Java writes them.
    mains: Vec<String>,
}

impl CaughtInRun {
    pub(crate) fn read(folder: &Path) -> Result<CaughtInRun, Error> {
        let (mut all, mut mains) = (Vec::new(), Vec::new());
        for path in RunFolder::open(folder)?.recordings {
            let recording = Recording::open(&path)?;
            all.extend(recording.caught().iter().cloned());
            mains.extend(main_class(recording.start()));
        }
        Ok(CaughtInRun { all, mains })
    }

    /// Whether there is nothing to choose from: what tests caught they may have expected.
    pub(crate) fn is_expected(&self) -> bool {
        self.all
            .iter()
            .all(|caught| caught.catcher == Catcher::Test && caught.printed == 0)
    }

    /// The exception for which a run that failed printed a stack trace, or at least the message; or which its main
    /// class caught, or else code around the program.
    pub(crate) fn reported(&self, output: &Path) -> Result<Option<&Caught>, Error> {
        if let Some(printed) = last_printed(&self.all) {
            return Ok(Some(printed));
        }
        let output = untrusted::read(output, LONGEST_OUTPUT)?;
        let mentioned = last_mentioned(&self.all, &String::from_utf8_lossy(&output));
        let by_main = || last_caught_by(&self.all, &self.mains);
        Ok(mentioned
            .or_else(by_main)
            .or_else(|| last_caught_outside(&self.all)))
    }

    /// The exception of a class that is most likely a failure; of those that are equally likely, the last.
    pub(crate) fn of_class(&self, class: &str) -> Option<&Caught> {
        best(&self.all, class)
    }

    /// The exceptions, the likeliest failures first.
    pub(crate) fn by_evidence(mut self) -> Vec<Caught> {
        self.all
            .sort_by_key(|caught| std::cmp::Reverse((caught.evidence(), caught.printed)));
        self.all
    }
}

/// The exception whose stack trace was printed last.
pub(crate) fn last_printed(all: &[Caught]) -> Option<&Caught> {
    let printed = all.iter().filter(|caught| caught.printed > 0);
    printed.max_by_key(|caught| caught.printed)
}

/// The exception of a class that is most likely a failure; of those that are equally likely, the last.
pub(crate) fn best<'a>(all: &'a [Caught], class: &str) -> Option<&'a Caught> {
    let wanted = all.iter().filter(|caught| caught.failure.is_of(class));
    wanted.max_by_key(|caught| (caught.evidence(), caught.printed, caught.number))
}

/// The exception whose message was printed last.
fn last_mentioned<'a>(all: &'a [Caught], output: &str) -> Option<&'a Caught> {
    let mentioned = all.iter().filter_map(|caught| {
        let message = caught.failure.message.as_deref()?.trim();
        let message = message
            .lines()
            .next()
            .filter(|it| it.len() >= SHORTEST_MESSAGE)?;
        Some((output.rfind(message)?, caught))
    });
    let last = mentioned.max_by_key(|(at, caught)| (*at, caught.evidence() > Evidence::None));
    last.map(|(_, caught)| caught)
}

/// The exception that a method of these classes caught last.
fn last_caught_by<'a>(all: &'a [Caught], classes: &[String]) -> Option<&'a Caught> {
    let is_one = |caught: &&Caught| {
        let class = caught
            .failure
            .place
            .rsplit_once('.')
            .map(|(class, _)| class);
        let class = class.unwrap_or_default();
        let is_of = |main: &String| {
            let rest = class.strip_prefix(main.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
        };
        classes.iter().any(is_of)
    };
    all.iter().filter(is_one).max_by_key(|caught| caught.number)
}

/// The exception that left the program's code last and was caught by a framework, a library or the JDK. An exception
/// that the JDK threw may be the way in which it answers.
fn last_caught_outside(all: &[Caught]) -> Option<&Caught> {
    let is_candidate = |caught: &&Caught| {
        let thrower = caught.failure.throw_site().and_then(Frame::parse);
        let is_thrown = thrower.is_some_and(|frame| frame.origin() == FrameOrigin::Program);
        caught.evidence() == Evidence::CaughtOutside && is_thrown
    };
    let candidates = all.iter().filter(is_candidate);
    candidates.max_by_key(|caught| caught.number)
}

/// The signature of an exception that was caught.
pub(crate) fn signature(caught: &Caught) -> Option<Signature> {
    Thrown::parse(&caught.failure.stack).map(|thrown| Signature::of(&thrown))
}

#[cfg(test)]
mod tests {
    use culprit_model::{Failure, FailureKind, ThreadId};

    use super::*;

    fn caught(number: u32, class: &str, message: &str, catcher: Catcher, printed: u64) -> Caught {
        Caught {
            number,
            failure: Failure {
                kind: FailureKind::Caught,
                thread: ThreadId(1),
                place: String::new(),
                class: class.to_owned(),
                message: Some(message.to_owned()),
                stack: format!("{class}: {message}\n\tat a.B.c(B.java:1)\n"),
                exceptions: Vec::new(),
            },
            catcher,
            printed,
            count: 1,
            ordinal: 0,
        }
    }

    fn in_run(all: Vec<Caught>) -> CaughtInRun {
        let mains = Vec::new();
        CaughtInRun { all, mains }
    }

    #[test]
    fn the_last_exception_that_the_main_class_caught_is_found() {
        let at = |number: u32, place: &str| {
            let mut caught = caught(number, "a.Bad", "no", Catcher::Outside, 0);
            caught.failure.place = place.to_owned();
            caught
        };
        let all = [
            at(1, "clojure.main$main.invokeStatic"),
            at(2, "clojure.main.main"),
            at(3, "clojure.mainly.run"),
        ];
        let found = |main: &str| last_caught_by(&all, &[main.to_owned()]).map(|it| it.number);
        assert_eq!(found("clojure.main"), Some(2));
        assert_eq!(found("a.Main"), None);
    }

    #[test]
    fn the_last_exception_that_the_program_threw_and_others_caught_is_found() {
        let mut all = [
            caught(1, "a.Bad", "one", Catcher::Outside, 0),
            caught(2, "a.Bad", "two", Catcher::Outside, 0),
            caught(3, "a.Bad", "three", Catcher::Program, 0),
            caught(4, "a.Bad", "four", Catcher::Outside, 0),
        ];
        all[3].failure.stack =
            "a.Bad: four\n\tat java.lang.Class.forName(Class.java:1)\n".to_owned();
        assert_eq!(last_caught_outside(&all).map(|it| it.number), Some(2));
        assert_eq!(last_caught_outside(&all[2..]), None);
    }

    #[test]
    fn the_last_stack_trace_that_was_printed_tells_why_a_program_failed() {
        let all = [
            caught(1, "a.Bad", "one", Catcher::Program, 2),
            caught(2, "a.Bad", "two", Catcher::Program, 1),
            caught(3, "a.Bad", "three", Catcher::Outside, 0),
        ];
        assert_eq!(last_printed(&all).map(|caught| caught.number), Some(1));
        assert_eq!(last_printed(&all[2..]), None);
    }

    #[test]
    fn the_last_message_in_the_output_is_that_of_the_failure() {
        let all = [
            caught(1, "a.Bad", "no such file", Catcher::Program, 0),
            caught(2, "a.Bad", "wrong size", Catcher::Program, 0),
            caught(3, "a.Bad", "x", Catcher::Program, 0),
        ];
        let number = |output: &str| last_mentioned(&all, output).map(|caught| caught.number);
        assert_eq!(number("error: no such file\n"), Some(1));
        assert_eq!(number("wrong size\nno such file\n"), Some(1));
        assert_eq!(number("no such file\nwrong size\n"), Some(2));
        assert_eq!(number("x\n"), None);
    }

    #[test]
    fn what_tests_catch_is_expected() {
        let expected = |catcher| in_run(vec![caught(1, "a.Bad", "", catcher, 0)]).is_expected();
        assert!(expected(Catcher::Test));
        assert!(!expected(Catcher::Program));
        assert!(in_run(Vec::new()).is_expected());
    }

    #[test]
    fn of_one_class_the_likeliest_failure_is_taken() {
        let all = [
            caught(1, "a.Bad", "one", Catcher::Outside, 0),
            caught(2, "a.Bad", "two", Catcher::Program, 0),
            caught(3, "a.Worse", "three", Catcher::Program, 1),
        ];
        let number = |class: &str| best(&all, class).map(|caught| caught.number);
        assert_eq!(number("Bad"), Some(1));
        assert_eq!(number("a.Worse"), Some(3));
        assert_eq!(number("Good"), None);
    }
}
