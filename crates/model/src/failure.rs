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
}

/// An exception that made the run fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    pub kind: FailureKind,
    pub thread: ThreadId,
    /// Name of the thread, or the display name of the test.
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
