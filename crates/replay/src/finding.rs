//! What stands in the way of a replay, as data: each finding has an exact cause, and the cause
//! decides how bad it is.

use std::fmt;

use culprit_model::count::counted;
use culprit_model::{EventIndex, ThreadId};

/// How bad a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The recording cannot be replayed.
    Refuse,
    /// A replay may go astray.
    Warn,
    /// Worth knowing, and no reason to doubt the replay.
    Note,
}

/// Values of some sort in a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// Those that observed code got from outside, and that a replay must give it.
    pub given: u64,
    /// Those that observed code brought itself, and that a replay can only compare.
    pub compared: u64,
    /// The first event that has one.
    pub first: EventIndex,
}

/// Something that a replay of a recording lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Finding {
    /// No class was observed.
    NothingObserved,
    /// Nothing happened.
    NoEvents,
    /// Code of this class, by its internal name, made events, and its class file is not there.
    ClassMissing { class: String },
    /// The class file is not the one whose hash was recorded.
    ClassChanged { class: String, loader: u32 },
    /// Events are missing within calls, which would need them to run again.
    GapsInCalls { gaps: u64, first: EventIndex },
    /// Observed code of a thread acts, and the call that made it run is not in the recording.
    NoBeginning { thread: ThreadId, first: EventIndex },
    /// Long strings or arrays that events refer to are not there.
    BlobsMissing(Count),
    /// The file ends within a block, or is damaged: what comes from this byte on is not read.
    Truncated { offset: u64, bytes_left: u64 },
    /// The JVM was killed, or it still runs; the last events of its threads may be missing.
    NoEnd,
    /// Capture stopped before the program did.
    Stopped { why: String },
    /// Events before the last ones were forgotten.
    Forgotten { events: u64 },
    /// One in so many outermost calls was recorded, and so many calls are left out.
    Sampled { one_in: u32, left_out: u64 },
    /// Events are missing between outermost calls.
    Gaps { events: u64 },
    /// Calls ended, and nobody saw how.
    UnseenEnds { calls: u64, first: EventIndex },
    /// Something else was lost.
    Lost { what: String, count: u64 },
    /// A class or method that ran without probes, so that events of it are missing.
    NotWoven { what: String, why: String },
    /// Strings were masked.
    Redacted(Count),
    /// Values and contents of arrays that were not recorded.
    Unknown(Count),
    /// The recording was made with another major version of Java than the replay has.
    OtherJava { recorded: u32, replay: u32 },
    /// Classes were woven ahead of time: the jar decided what is observed, not the options.
    WovenAhead { classes: u64 },
    /// Calls of a thread are open at the end.
    OpenCalls { thread: ThreadId, calls: u32 },
}

impl Finding {
    pub fn severity(&self) -> Severity {
        match self {
            Finding::NothingObserved
            | Finding::NoEvents
            | Finding::ClassMissing { .. }
            | Finding::ClassChanged { .. }
            | Finding::GapsInCalls { .. }
            | Finding::NoBeginning { .. } => Severity::Refuse,
            // What is compared can be left out of the comparison.
            Finding::BlobsMissing(Count { given, .. }) if *given > 0 => Severity::Refuse,
            Finding::Redacted(Count { given: 0, .. })
            | Finding::Unknown(Count { given: 0, .. }) => Severity::Note,
            Finding::BlobsMissing(_)
            | Finding::Redacted(_)
            | Finding::Unknown(_)
            | Finding::Truncated { .. }
            | Finding::NoEnd
            | Finding::Stopped { .. }
            | Finding::Forgotten { .. }
            | Finding::Sampled { .. }
            | Finding::Gaps { .. }
            | Finding::UnseenEnds { .. }
            | Finding::Lost { .. }
            | Finding::NotWoven { .. }
            | Finding::OtherJava { .. }
            | Finding::WovenAhead { .. } => Severity::Warn,
            Finding::OpenCalls { .. } => Severity::Note,
        }
    }
}

impl Finding {
    /// Whether there may have been events that the recording lacks for it, against the will of the
    /// user: a recording without any events may be of a program that had some.
    pub fn hides_events(&self) -> bool {
        matches!(
            self,
            Finding::Truncated { .. }
                | Finding::NoEnd
                | Finding::Stopped { .. }
                | Finding::Forgotten { .. }
                | Finding::Gaps { .. }
                | Finding::Lost { .. }
                | Finding::NotWoven { .. }
        )
    }

    /// What the user can do about it.
    pub fn next_step(&self) -> &'static str {
        match self {
            Finding::NothingObserved => "record again, and name classes of the program (--observe)",
            Finding::NoEvents => "record a run in which the observed classes are used",
            Finding::ClassMissing { .. } => "record again; if it stays so, please report it",
            Finding::ClassChanged { .. } => "use the recording as it was written, or record again",
            Finding::GapsInCalls { .. } => "record again, with fewer classes or without limits",
            Finding::NoBeginning { .. } => "record again, from the start of the program",
            Finding::BlobsMissing(_) | Finding::Truncated { .. } => {
                "copy the recording again, or record again"
            }
            Finding::NoEnd => "let the program end by itself, and record again",
            Finding::Stopped { .. } => "record again with higher limits, or fewer classes",
            Finding::Forgotten { .. } => "record without --last",
            Finding::Sampled { .. } => "record without --sample",
            Finding::Gaps { .. } | Finding::Lost { .. } | Finding::UnseenEnds { .. } => {
                "record again, with fewer classes"
            }
            Finding::NotWoven { .. } => "leave that class out (--exclude)",
            Finding::Redacted(_) => "record without --redact what observed code depends on",
            Finding::Unknown(_) => "observe the code that makes these values too",
            Finding::OtherJava { .. } => "name a JDK of the recorded version (--java DIR)",
            Finding::WovenAhead { .. } => "record the jar as it was before culprit instrument",
            Finding::OpenCalls { .. } => "nothing: the program ended within them",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::NothingObserved => write!(f, "no class was observed"),
            Finding::NoEvents => write!(f, "there are no events"),
            Finding::ClassMissing { class } => write!(f, "the class file of {class} is missing"),
            Finding::ClassChanged { class, loader } => write!(
                f,
                "the class file of {class} (loader {loader}) is not the one that was recorded"
            ),
            Finding::GapsInCalls { gaps, first } => {
                let gaps = counted(*gaps, "gap");
                write!(
                    f,
                    "events are missing within calls: {gaps}, the first before {first}"
                )
            }
            Finding::NoBeginning { thread, first } => write!(
                f,
                "the call that made observed code of {thread} run at {first} is missing"
            ),
            Finding::BlobsMissing(count) => write!(f, "long values are missing: {count}"),
            Finding::Truncated { offset, bytes_left } => {
                let left = counted(*bytes_left, "byte");
                write!(
                    f,
                    "the file is cut off or damaged at byte {offset}, with {left} left"
                )
            }
            Finding::NoEnd => write!(f, "the JVM was killed, or still runs"),
            Finding::Stopped { why } => write!(f, "capture stopped: {why}"),
            Finding::Forgotten { events } => {
                let events = counted(*events, "event");
                write!(f, "forgotten before the last events (--last): {events}")
            }
            Finding::Sampled { one_in, left_out } => write!(
                f,
                "outermost calls and accesses left out (--sample 1/{one_in}): {left_out}"
            ),
            Finding::Gaps { events } => {
                write!(f, "missing between calls: {}", counted(*events, "event"))
            }
            Finding::UnseenEnds { calls, first } => {
                let calls = counted(*calls, "call");
                write!(f, "ended unseen: {calls}, the first before {first}")
            }
            Finding::Lost { what, count } => write!(f, "lost: {count} {what}"),
            Finding::NotWoven { what, why } => write!(f, "{what} ran without probes: {why}"),
            Finding::Redacted(count) => write!(f, "strings are masked: {count}"),
            Finding::Unknown(count) => write!(f, "values are not known: {count}"),
            Finding::OtherJava { recorded, replay } => {
                write!(
                    f,
                    "recorded with Java {recorded}, to be replayed with Java {replay}"
                )
            }
            Finding::WovenAhead { classes } => {
                write!(
                    f,
                    "woven ahead of time: {}",
                    counted(*classes, "observed class")
                )
            }
            Finding::OpenCalls { thread, calls } => {
                let calls = counted((*calls).into(), "call");
                write!(f, "open at the end of {thread}: {calls}")
            }
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Count {
            given,
            compared,
            first,
        } = self;
        write!(
            f,
            "{given} to be given, {compared} to be compared, the first at {first}"
        )
    }
}
