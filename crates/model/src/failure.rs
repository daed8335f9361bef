//! What went wrong in the subject (failures) and in the recording of it (losses).

use crate::{ObjectId, ThreadId};

/// How a failure showed itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum FailureKind {
    /// An exception left a thread.
    Uncaught = 1,
    /// An exception failed a JUnit test.
    Test = 2,
    /// An exception was thrown through the program's code and caught.
    Caught = 3,
}

/// An exception that made the run fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub thread: ThreadId,
    /// Name of the thread, the display name of the test, or the method that caught it (`class.method`, empty if
    /// that was not seen).
    pub place: String,
    /// Class name of the exception as Java prints it.
    pub class: String,
    pub message: Option<String>,
    /// The full stack with causes, as `printStackTrace` prints it.
    pub stack: String,
    /// Ids of the exception and of its causes, outermost first, for those that crossed the
    /// border: the last throw event with one of these ids is where the failure left observed code.
    pub exceptions: Vec<ObjectId>,
}

/// An exception that was thrown through the program's code and caught by that code or by code around it: a
/// server, a pool of threads, `main`. One entry counts all exceptions that were thrown and caught at the same places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caught {
    /// The number of the entry. A later entry of the same number replaces this one.
    pub number: u32,
    /// The first of the exceptions, with the method that caught it as its place.
    pub failure: Failure,
    pub catcher: Catcher,
    /// Its place among the exceptions whose stack trace was printed or logged, from 1; 0 if nobody did.
    pub printed: u64,
    /// The number of such exceptions.
    pub count: u64,
    /// The events that the thread of the first one had recorded when it was thrown.
    pub ordinal: u64,
}

/// The code that caught an exception.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum Catcher {
    /// The program itself.
    Program = 1,
    /// A framework or library, or the JDK, around the program.
    Outside = 2,
    /// A test, its framework or its assertions, which may have expected it.
    Test = 3,
    /// It is not known: the exception was printed, but not seen when it was thrown.
    Unknown = 4,
}

/// The evidence that an exception which was caught is a failure, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Evidence {
    /// None: the program handled it.
    None,
    /// Code around the program caught it.
    CaughtOutside,
    /// Its stack trace was printed or logged.
    Printed,
}

impl Caught {
    pub fn evidence(&self) -> Evidence {
        match self.catcher {
            _ if self.printed > 0 => Evidence::Printed,
            Catcher::Outside => Evidence::CaughtOutside,
            Catcher::Program | Catcher::Test | Catcher::Unknown => Evidence::None,
        }
    }
}

impl Failure {
    /// Whether the exception is of a class, given by its full name or by the last part of it.
    pub fn is_of(&self, class: &str) -> bool {
        let tail = self.class.strip_suffix(class);
        tail.is_some_and(|before| before.is_empty() || before.ends_with(['.', '$']))
    }

    /// The first line of its stack trace below the message: `Order.pay(Order.java:12)`, if it has one.
    pub fn throw_site(&self) -> Option<&str> {
        let frames = self.stack.lines().map(str::trim_start);
        let frames = frames.take_while(|line| !line.starts_with("Caused by: "));
        let mut frames = frames.filter_map(|line| line.strip_prefix("at "));
        frames.next()
    }
}

/// What a recording lacks. Everything zero means that it is complete.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Losses {
    /// Named counters, in the order in which they were first counted.
    pub counts: Vec<(String, u64)>,
    /// Classes or methods that run unmodified, each with the reason.
    pub not_woven: Vec<(String, String)>,
    /// Why capture stopped before the program did.
    pub stopped: Option<String>,
}

impl Losses {
    /// Counts what `--last` forgot.
    pub const FORGOTTEN: &str = "events before the last ones (--last)";
    /// Counts what `--sample` left out.
    pub const LEFT_OUT: &str = "outermost calls and accesses left out (--sample)";

    /// How often something was lost.
    pub fn count(&self, name: &str) -> u64 {
        let counts = self.counts.iter();
        let same = counts.filter(|(other, _)| other == name);
        same.map(|(_, count)| count).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.not_woven.is_empty() && self.stopped.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(class: &str, stack: &str) -> Failure {
        Failure {
            kind: FailureKind::Caught,
            thread: ThreadId(1),
            place: String::new(),
            class: class.to_owned(),
            message: None,
            stack: stack.to_owned(),
            exceptions: Vec::new(),
        }
    }

    #[test]
    fn a_class_is_named_in_full_or_by_its_last_part() {
        let failure = failure("shop.Cart$Empty", "");
        assert!(failure.is_of("shop.Cart$Empty"));
        assert!(failure.is_of("Cart$Empty"));
        assert!(failure.is_of("Empty"));
        assert!(!failure.is_of("pty"));
        assert!(!failure.is_of("shop.Cart"));
        assert!(!failure.is_of("a.shop.Cart$Empty"));
    }

    #[test]
    fn the_throw_site_is_the_first_frame() {
        let stack = "a.Bad: at b\n\tat a.B.c(B.java:3)\n\tat a.Main.main(Main.java:1)\n";
        assert_eq!(
            failure("a.Bad", stack).throw_site(),
            Some("a.B.c(B.java:3)")
        );
        assert_eq!(failure("a.Bad", "a.Bad\n").throw_site(), None);
        let caused = "a.Bad\nCaused by: a.Worse\n\tat a.B.c(B.java:3)\n";
        assert_eq!(failure("a.Bad", caused).throw_site(), None);
    }

    #[test]
    fn a_printed_trace_is_stronger_evidence_than_a_framework_that_caught() {
        let of = |catcher, printed| {
            let caught = Caught {
                number: 1,
                failure: failure("a.Bad", ""),
                catcher,
                printed,
                count: 1,
                ordinal: 0,
            };
            caught.evidence()
        };
        assert_eq!(of(Catcher::Outside, 1), Evidence::Printed);
        assert_eq!(of(Catcher::Program, 2), Evidence::Printed);
        assert_eq!(of(Catcher::Outside, 0), Evidence::CaughtOutside);
        assert_eq!(of(Catcher::Program, 0), Evidence::None);
        assert_eq!(of(Catcher::Test, 0), Evidence::None);
        assert!(Evidence::Printed > Evidence::CaughtOutside);
    }
}
