//! The place at which an exception was thrown, as far as it identifies a failure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use culprit_model::owner::tells_assertion;

use crate::frame::{Frame, split_hidden};
use crate::mask::mask;
use crate::origin::{FrameOrigin, simple};
use crate::thrown::Thrown;

/// A method, without the numbers that the JVM or a compiler put into its name.
#[derive(Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Call {
    /// Class as Java prints it.
    pub class: String,
    /// Method.
    pub method: String,
}

/// The place at which an exception was thrown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ThrowSite {
    /// A place in the program: the innermost frame that belongs neither to the JDK nor to a
    /// harness; if there is none, the innermost frame.
    Place {
        /// The frame.
        frame: Frame,
        /// The frames above it, innermost first: what the program called there.
        above: Vec<Frame>,
    },
    /// An assertion failed. The call is the outermost frame of the assertion library above the
    /// test; unknown if the library hides its frames, as AssertJ does. Where the test calls it
    /// does not count: a reduced test calls it from elsewhere.
    Assertion(Option<Call>),
    /// The methods that recur in a stack that overflowed, without those of the JDK if there are
    /// others: which of them was on top is chance.
    Recursion(BTreeSet<Call>),
    /// Memory ran out: that can hit any place.
    Anywhere,
    /// The text left the frame out, or had none.
    Unknown,
}

impl ThrowSite {
    /// The site of an exception itself, not of its causes.
    pub fn of(thrown: &Thrown) -> ThrowSite {
        match thrown.class.as_str() {
            "java.lang.StackOverflowError" => return recursion(&thrown.frames),
            "java.lang.OutOfMemoryError" => return ThrowSite::Anywhere,
            _ => {}
        }
        if let Some(call) = assertion(thrown) {
            return ThrowSite::Assertion(call);
        }
        let program = |frame: &Frame| frame.origin() == FrameOrigin::Program;
        let at = match thrown.frames.iter().position(program) {
            // The frame may be among those that the text left out.
            None if thrown.truncated => return ThrowSite::Unknown,
            at => at.unwrap_or(0),
        };
        match thrown.frames.get(at) {
            Some(frame) => ThrowSite::Place {
                frame: frame.clone(),
                above: thrown.frames[..at].to_vec(),
            },
            None => ThrowSite::Unknown,
        }
    }

    /// True if another exception has the same site. What this site does not know does not count;
    /// what the other one does not know does.
    pub(crate) fn admits(&self, other: &ThrowSite, lines: LineMatching) -> bool {
        match (self, other) {
            (ThrowSite::Place { frame, .. }, ThrowSite::Place { frame: other, .. }) => {
                lines.same(frame.line, other.line) && Call::of(frame) == Call::of(other)
            }
            (ThrowSite::Assertion(None), ThrowSite::Assertion(_)) => true,
            (ThrowSite::Assertion(Some(call)), ThrowSite::Assertion(other)) => {
                let other = other.as_ref();
                other == Some(call) || other.is_some_and(|other| call.may_be_said(other))
            }
            (ThrowSite::Recursion(calls), ThrowSite::Recursion(others)) => {
                calls.is_empty() || calls == others
            }
            (ThrowSite::Unknown | ThrowSite::Anywhere, _) => true,
            _ => false,
        }
    }
}

/// True if lines tell frames of one method apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LineMatching {
    /// They do, where both frames have one.
    Count,
    Ignored,
}

impl LineMatching {
    /// True if two lines of one method do not tell frames apart.
    pub(crate) fn same(self, line: Option<u32>, other: Option<u32>) -> bool {
        self == LineMatching::Ignored || line.is_none() || other.is_none() || line == other
    }
}

impl Call {
    /// True if an assertion of another shape says the same with the same message: a test that is written
    /// anew fails by itself where `assertThrows` saw nothing thrown.
    fn may_be_said(&self, other: &Call) -> bool {
        let expects = ["assertThrows", "assertThrowsExactly", "expectThrows"];
        let misses = expects.contains(&self.method.as_str());
        misses && other.method == "fail" && self.class == other.class
    }

    /// The method of a frame.
    pub fn of(frame: &Frame) -> Call {
        let (class, number) = split_hidden(&frame.class);
        let class = match class.split_once("$$Lambda") {
            Some((outer, _)) => format!("{outer}$$Lambda"),
            None if number.is_empty() => mask(class),
            None => class.to_owned(),
        };
        Call {
            class,
            method: settled(&frame.method).to_owned(),
        }
    }
}

/// Compilers number the bodies of lambdas: `lambda$main$0`.
fn settled(method: &str) -> &str {
    let stem = method.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.starts_with("lambda$") && stem.ends_with('$') {
        stem
    } else {
        method
    }
}

/// The call of the assertion that failed, if one did.
fn assertion(thrown: &Thrown) -> Option<Option<Call>> {
    let inner = |frame: &&Frame| {
        let origin = frame.origin();
        matches!(
            origin,
            FrameOrigin::Assertion | FrameOrigin::Jdk | FrameOrigin::Reflection
        )
    };
    let above = thrown.frames.iter().take_while(inner).count();
    let mut calls = thrown.frames[..above].iter().rev();
    let call = calls.find(|it| it.origin() == FrameOrigin::Assertion);
    let error = simple(&thrown.class).ends_with("AssertionError");
    let told = tells_assertion(&thrown.class) || error && is_of_harness(thrown);
    let matched = thrown.class == "java.lang.AssertionError"
        && thrown.message.as_deref().is_some_and(is_of_matcher);
    if told || matched || (error && call.is_some()) {
        // Where the text left out what is below, the call may be there.
        let whole = !thrown.truncated || above < thrown.frames.len();
        Some(call.filter(|_| whole).map(Call::of))
    } else {
        None
    }
}

/// True if what runs tests has thrown it, outside of them: something that was expected did not come. A program
/// may have started it all.
fn is_of_harness(thrown: &Thrown) -> bool {
    let is = |origin: FrameOrigin| move |frame: &Frame| frame.origin() == origin;
    let runs = thrown.frames.iter().rposition(is(FrameOrigin::Harness));
    let within = &thrown.frames[..runs.unwrap_or_default()];
    let first = thrown.frames.first().map(Frame::origin);
    first == Some(FrameOrigin::Harness) && !within.iter().any(is(FrameOrigin::Program))
}

/// True if a message is that of AssertJ, which leaves none of its frames, or of Hamcrest.
/// `assert` and other code throw the same class with the messages of their authors.
fn is_of_matcher(message: &str) -> bool {
    let assertj = ["\nExpecting", "\nExpected", "\nActual", "\nexpected:"];
    let hamcrest = message.contains("Expected: ") && message.contains("\n     but: ");
    hamcrest || assertj.iter().any(|it| message.contains(it))
}

/// Methods that occur at least half as often as the most frequent one, and more than once.
fn recursion(frames: &[Frame]) -> ThrowSite {
    let mut counts: BTreeMap<Call, (usize, bool)> = BTreeMap::new();
    for frame in frames {
        let own = frame.origin() == FrameOrigin::Program;
        counts.entry(Call::of(frame)).or_insert((0, own)).0 += 1;
    }
    let most = |own: bool| {
        let counts = counts.values().filter(|it| it.1 || !own);
        counts.map(|it| it.0).max().unwrap_or(0)
    };
    // Calls of libraries that recur in the program's recursion are the library's business.
    let own = most(true) > 1;
    let least = most(own).div_ceil(4).max(2);
    let recurring = counts
        .iter()
        .filter(|(_, (count, program))| *count >= least && (*program || !own));
    ThrowSite::Recursion(recurring.map(|(call, _)| call.clone()).collect())
}

/// As part of a sentence: `at Cart.add (Cart.java:7)`. Empty where nothing is known.
impl fmt::Display for ThrowSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThrowSite::Place { frame, .. } => {
                write!(f, "at {}.{}", simple(&frame.class), frame.method)?;
                match (&frame.file, frame.line) {
                    (Some(file), Some(line)) => write!(f, " ({file}:{line})"),
                    (Some(file), None) => write!(f, " ({file})"),
                    (None, _) if frame.native => f.write_str(" (native)"),
                    (None, _) => Ok(()),
                }
            }
            ThrowSite::Assertion(Some(call)) => write!(f, "from {call}"),
            ThrowSite::Recursion(calls) if !calls.is_empty() => {
                f.write_str("in the recursion of ")?;
                for (index, call) in calls.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    write!(f, "{separator}{call}")?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", simple(&self.class), self.method)
    }
}
