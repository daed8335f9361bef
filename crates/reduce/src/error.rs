//! Why there is no result.

use std::io;
use std::path::PathBuf;

use crate::oracle::VerdictKind;
use crate::set::DeltaSet;

/// A reduction ended without its answer.
#[derive(Debug, thiserror::Error)]
pub enum Error<E> {
    /// The problem makes no sense.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// What should fail does not.
    #[error("the failure does not occur with all deltas: the verdict is {}", word(*.verdict))]
    NotFailing {
        /// What it does instead.
        verdict: VerdictKind,
    },
    /// What `dd` starts from should pass and does not.
    #[error("the passing end does not pass: the verdict is {}", word(*.verdict))]
    NotPassing {
        /// What it does instead.
        verdict: VerdictKind,
    },
    /// The end came before the failure was seen once.
    #[error("ended before the failure was seen")]
    Nothing,
    /// The journal of the search cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The oracle could not judge.
    #[error("cannot judge a candidate of {} deltas: {source}", candidate.len())]
    Oracle {
        /// What was to be judged.
        candidate: DeltaSet,
        /// The smallest set that failed before, if any.
        failing: Option<DeltaSet>,
        /// Why not.
        source: E,
    },
}

fn word(kind: VerdictKind) -> &'static str {
    match kind {
        VerdictKind::Pass => "pass",
        VerdictKind::Fail => "fail",
        VerdictKind::Unresolved => "unresolved",
    }
}

/// A problem that makes no sense.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProblemError {
    /// The passing set has deltas that the failing one lacks.
    #[error("the passing set is not a part of the failing one")]
    EndsCross,
    /// An end lacks something it needs.
    #[error("delta {delta} needs delta {needed}, which is not in the same end of the problem")]
    NotClosed {
        /// Who needs.
        delta: u64,
        /// What is not there.
        needed: u64,
    },
    /// Units of one level share a delta.
    #[error("delta {delta} is in two units of one level")]
    InTwoUnits {
        /// The delta.
        delta: u64,
    },
}

/// A journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file could not be read or written.
    #[error("cannot use the journal {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a journal of a reduction", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// The journal is of a version that this one does not know.
    #[error(
        "{} is a journal of version {found}, and this is version {known}: its verdicts cannot be used",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The only one that is known.
        known: u32,
    },
    /// The journal's verdicts are about something else.
    #[error("{} is the journal of another problem", path.display())]
    OtherProblem {
        /// The file.
        path: PathBuf,
    },
}
