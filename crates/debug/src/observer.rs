//! The observer of a session: hears about every stage, and receives the tests.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use culprit_minimize::MinimizedTest;
use culprit_pinpoint::Located;
use culprit_reduce::ReductionEvent;
use culprit_signature::Signature;

use crate::{Error, KeptScript, Rate};

/// A listener of a session. An error ends the session.
pub trait Observer {
    /// Something happened.
    fn notice(&mut self, event: SessionEvent<'_>) -> io::Result<()>;

    /// Something begins that takes a while. It is over when the returned value is dropped; until then nothing
    /// is noticed.
    fn begin(&mut self, activity: Activity) -> Box<dyn Ongoing>;
}

/// An activity that goes on. Candidates run in several threads.
pub trait Ongoing: Sync {
    /// The reduction came further.
    fn progress(&self, event: &ReductionEvent);
}

/// Something that takes a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Activity {
    /// The command runs with nothing woven.
    Witnessing,
    /// The command runs while its driver is interpreted.
    Following,
    /// The command runs and is recorded.
    Recording,
    /// A script is reduced and its test is verified.
    Minimising,
    /// A run is traced and repeated with other values.
    Locating,
}

/// An event of a session, in the order in which they happen.
#[derive(Debug)]
pub enum SessionEvent<'a> {
    /// The witness stage begins.
    Witnesses,
    /// Runs of the command fail in different ways. The failures that were not seen most often are left out.
    Flaky {
        left_out: &'a [(&'a Signature, Rate)],
    },
    /// A run of the command left these recordings.
    Ran { recordings: &'a [PathBuf] },
    /// The work on a failure, or on a condition of the user, begins.
    Failure {
        /// The failure, or the condition, in words.
        failure: String,
        rate: Option<Rate>,
    },
    /// The command is about to be run to follow a class.
    Follows { driver: String },
    /// The command is about to be run to record classes.
    Records { observed: Vec<String> },
    /// A test was made.
    Test(&'a FailureTest),
    /// The last test fails the same way, and this script is what it does.
    Sliceable(&'a KeptScript),
    /// The failure of the last test comes from there.
    Located(&'a Located),
    /// It is not known where the failure of the last test comes from, for this reason.
    NotLocated(String),
    /// These levels of the last failure have no tests.
    LeftOut(&'a [LeftOutLevel]),
    /// There is a test of the class that threw, and none of the calls around it.
    OnlyInside(MissedFailure),
    /// No test was made of a failure.
    Missed(MissedFailure),
    /// A failure was not worked on, since the session was interrupted before.
    Skipped(MissedFailure),
}

/// A test of a failure.
#[derive(Debug)]
pub struct FailureTest {
    pub signature: Signature,
    /// How often the failure appeared, if that is known.
    pub rate: Option<Rate>,
    pub level: CallLevel,
    pub found: MinimizedTest,
    /// The time from the beginning of the work on it.
    pub took: Duration,
}

/// A failure without a test.
#[derive(Debug)]
pub struct MissedFailure {
    pub signature: Signature,
    pub rate: Option<Rate>,
    pub error: Error,
}

/// The level of abstraction at which a test calls the failing code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CallLevel {
    /// The calls of the driver.
    Outermost,
    /// The same up to a call with a wrong result, without the assertion that found it wrong: that cannot be repeated.
    Result {
        /// The result in words: `Toll.charge returns 11`.
        told: String,
    },
    /// The calls of a class on the stack between the driver and the class that threw; so many are left.
    Between { class: String, calls: usize },
    /// The calls of the class that threw; so many are left.
    Innermost { class: String, calls: usize },
}

/// A level of abstraction without a test of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOutLevel {
    /// The class, or the method of the driver, whose calls would be the test.
    pub called: String,
    pub why: LevelReason,
}

/// The reason why a level has no test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LevelReason {
    /// The calls alone do not fail in the same way.
    NotAlike,
    /// The test is no smaller than the one from outside.
    NotSmaller,
    /// The test is that of another level.
    SameTest,
    /// The exception comes from the called method itself, and not from an instruction: it may be right to refuse what it was given.
    Refuses,
    /// The tests of other levels are enough.
    Enough,
    /// The test from outside has few calls.
    FewCalls,
    /// There was no time.
    NoTime,
}
