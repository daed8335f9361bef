//! The signature of a failure, and how other failures compare with it.

use std::fmt;

use culprit_model::clean;

use crate::frame::Frame;
use crate::grade::Grade;
use crate::message::{Agreement, MessageRule};
use crate::origin::{FrameOrigin, simple};
use crate::site::{Call, LineMatching, ThrowSite};
use crate::thrown::Thrown;

/// Exceptions that only carry another one out of code that the JDK or a harness called.
const WRAPPERS: &[&str] = &[
    "java.lang.reflect.InvocationTargetException",
    "java.lang.reflect.UndeclaredThrowableException",
    "java.security.PrivilegedActionException",
    "java.util.concurrent.CompletionException",
    "java.util.concurrent.ExecutionException",
    // Tells the arguments of a theory.
    "org.junit.experimental.theories.internal.ParameterizedAssertionError",
];

/// The beginnings of messages of exceptions that wrap one which was thrown where a test expected another, or
/// none: of JUnit 4's rule for `expected`, of `assertThrows`, and of `assertDoesNotThrow`.
const UNEXPECTED: &[&str] = &[
    "Unexpected exception, expected<",
    "Unexpected exception type thrown",
    "unexpected exception type thrown",
    "Unexpected exception thrown: ",
];

/// The maximal number of characters of a message in a printed line.
const SHOWN: usize = 120;

/// The identity of a failure.
///
/// It is made of the exception that left the program, with its causes. Exceptions around it that
/// only carry it through the JDK or a harness, with no frame of the program, do not belong to it, nor
/// do those that say it was not expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    thrown: Thrown,
    /// Of the exception and of each cause.
    sites: Vec<ThrowSite>,
    lines: LineMatching,
    /// Of the exception and of each cause.
    messages: Vec<MessageRule>,
    /// It was the cause of exceptions that do not belong to it.
    was_wrapped: bool,
    /// The driver of the program, whose code a test has as its own.
    driver: Option<String>,
    /// The code of the program is woven, so messages may name other expressions.
    is_woven: bool,
}

impl Signature {
    /// The signature of a failure.
    pub fn of(thrown: &Thrown) -> Signature {
        let thrown = unwrapped(thrown);
        let sites: Vec<ThrowSite> = thrown.chain().map(ThrowSite::of).collect();
        Signature {
            messages: vec![MessageRule::default(); sites.len()],
            sites,
            thrown: thrown.clone(),
            lines: LineMatching::Count,
            was_wrapped: false,
            driver: None,
            is_woven: false,
        }
    }

    /// The signature of a failure without the exceptions that libraries threw around it: a container, an
    /// executor, a proxy. `is_own` recognises frames of the program's own code.
    ///
    /// An exception is such a wrapper if it was not thrown by code of the program, and one of its causes came out of
    /// code of the program that was called further in.
    pub fn innermost(thrown: &Thrown, is_own: impl Fn(&Frame) -> bool) -> Signature {
        let mut inner = unwrapped(thrown);
        let mut was_wrapped = false;
        while let Some(cause) = inner.cause.as_deref() {
            let is_thrown_by_program = inner.frames.first().is_none_or(&is_own);
            let is_inside = |cause: &Thrown| cause.further_in(inner).iter().any(&is_own);
            if is_thrown_by_program || !cause.chain().any(is_inside) {
                break;
            }
            inner = cause;
            was_wrapped = true;
        }
        Signature {
            was_wrapped,
            ..Signature::of(inner)
        }
    }

    /// The same, but lines do not count: for code that was changed or compiled anew.
    #[must_use]
    pub fn ignoring_lines(mut self) -> Signature {
        self.lines = LineMatching::Ignored;
        self
    }

    /// The same for tests whose own code does what this class did, by its Java name. What the class itself threw, they
    /// throw themselves.
    #[must_use]
    pub fn inlining(mut self, driver: &str) -> Signature {
        self.driver = Some(driver.to_owned());
        self
    }

    /// The same for a program whose instructions are woven: a message may name another expression that was null.
    #[must_use]
    pub fn of_woven(mut self) -> Signature {
        self.is_woven = true;
        self
    }

    /// True if the driver itself threw it, or a method of the JDK that the driver called.
    fn is_of_driver(&self, site: &ThrowSite) -> bool {
        match (site, &self.driver) {
            (ThrowSite::Place { frame, .. }, Some(driver)) => frame.class == *driver,
            _ => false,
        }
    }

    /// Has seen the same failure in another run of the command. Numbers in which their messages differ do not
    /// count from now on; if the messages differ in words, only their kinds count, and no grade is above [`Grade::L2`].
    pub fn allow(&mut self, other: &Thrown) {
        let pairs = self.thrown.chain().zip(self.within(other).chain());
        for (rule, (own, other)) in self.messages.iter_mut().zip(pairs) {
            *rule = rule.allowing(own.message.as_deref(), other.message.as_deref());
        }
    }

    /// True if another failure has the same types, the same whole stacks, and messages that differ in numbers at
    /// most: in two runs of one command, it is the same.
    pub fn differs_in_numbers(&self, other: &Thrown) -> bool {
        let other = self.within(other);
        let is_near = |(rule, (own, other)): (&MessageRule, (&Thrown, &Thrown))| {
            let (stack, its) = (program_part(&own.frames), program_part(&other.frames));
            let is_same_stack = stack.len() == its.len()
                && stack.iter().zip(&its).all(|(a, b)| self.is_same_call(a, b));
            let rule = rule.allowing(own.message.as_deref(), other.message.as_deref());
            own.class == other.class && is_same_stack && rule != MessageRule::Kind
        };
        let pairs = self.thrown.chain().zip(other.chain());
        other.chain().count() == self.sites.len() && self.messages.iter().zip(pairs).all(is_near)
    }

    /// True if another failure comes from the same line of the program, as far as that is known. The lines of failed
    /// assertions tell failures of one program apart, though a test made of one has lines of its own.
    pub fn is_in_line_of(&self, other: &Thrown) -> bool {
        let line = |thrown: &Thrown| {
            let mut frames = thrown.frames.iter();
            let frame = frames.find(|frame| frame.origin() == FrameOrigin::Program)?;
            Some((Call::of(frame), frame.line))
        };
        match (line(&self.thrown), line(self.within(other))) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        }
    }

    /// The failure itself.
    pub fn thrown(&self) -> &Thrown {
        &self.thrown
    }

    /// The place at which it was thrown.
    pub fn site(&self) -> &ThrowSite {
        self.sites.first().unwrap_or(&ThrowSite::Unknown)
    }

    /// The places at which it and its causes were thrown, outermost exception first.
    pub fn sites(&self) -> &[ThrowSite] {
        &self.sites
    }

    /// True if an assertion failed.
    pub fn is_assertion(&self) -> bool {
        matches!(self.site(), ThrowSite::Assertion(_))
    }

    /// The grade from which on another failure counts as the same, unless somebody asks for more.
    ///
    /// Failures must have the same kind of message. In messages of assertions this leaves little
    /// freedom: see [`Grade::L2`].
    pub const ENOUGH: Grade = Grade::L2;

    /// True if another failure is the same, by [`Signature::ENOUGH`].
    pub fn is_same(&self, other: &Thrown) -> bool {
        self.grade(other) >= Some(Self::ENOUGH)
    }

    /// The grade of agreement with another failure; `None` if it is a different failure.
    ///
    /// Exceptions and their causes are compared pairwise, and the poorest grade counts. Types,
    /// and the numbers of causes, must be equal; but a failure that was wrapped may be wrapped in anything, or in
    /// nothing. Sites are the same by these rules:
    /// - Places: same class and method, and same line if both are known. Files do not count.
    /// - What the signature does not know (no frames, an assertion library that hides) any
    ///   failure may have; what the other failure does not know counts as different.
    /// - A signature without a place ([`ThrowSite::Anywhere`]) has its type and message only.
    ///
    /// For [`Grade::L4`] stacks are compared from the top to the last frame that both have,
    /// without the frames of reflection, and without all frames below the last one of the
    /// program (which start it). That is: let `i` and `j` be the last places in either stack
    /// whose frame occurs in the other; the stacks up to `i` and up to `j` must be equal. So a
    /// candidate that calls the library directly, with a stack that is shorter and ends in other
    /// frames, can reach it; one that came to the site by another way cannot. Two stacks with no
    /// frame in common are the same only if both are empty. Stacks that overflowed
    /// have their recursion only, which was compared as their site.
    pub fn grade(&self, other: &Thrown) -> Option<Grade> {
        let other = self.within(other);
        if other.chain().count() != self.sites.len() {
            return None;
        }
        let own = self.thrown.chain().zip(&self.sites).zip(&self.messages);
        let grades = own
            .zip(other.chain())
            .map(|(((thrown, site), rule), other)| {
                let own = OwnException { thrown, site, rule };
                self.pair(&own, other)
            });
        // The poorest of all; nothing is poorer than any grade.
        grades.min().flatten()
    }

    /// True if exceptions of other classes carry the failure: it was the cause of one that a library threw.
    pub fn was_wrapped(&self) -> bool {
        self.was_wrapped
    }

    /// True if exceptions of a class, by its Java name, only carry others.
    pub fn is_carrier(class: &str) -> bool {
        WRAPPERS.contains(&class)
    }

    /// The part of another failure to compare: without wrappers, if this one was wrapped.
    fn within<'t>(&self, other: &'t Thrown) -> &'t Thrown {
        let other = unwrapped(other);
        let around = other.chain().count().saturating_sub(self.sites.len());
        let mut inner = other.chain().skip(around).filter(|_| self.was_wrapped);
        inner.next().unwrap_or(other)
    }

    /// The grade of one exception, without causes.
    fn pair(&self, own: &OwnException<'_>, other: &Thrown) -> Option<Grade> {
        let OwnException {
            thrown: own,
            site,
            rule,
        } = own;
        let is_of_driver = self.is_of_driver(site);
        let is_same_site = match is_of_driver {
            true => is_of_test(other) && calls_on_top(own).eq(calls_on_top(other)),
            false => site.admits(&ThrowSite::of(other), self.lines),
        };
        if own.class != other.class || !is_same_site {
            return None;
        }
        let is_assertion = matches!(site, ThrowSite::Assertion(_));
        let messages = match is_of_driver || self.is_woven {
            true => (without_expression(own), without_expression(other)),
            false => (own.message.as_deref(), other.message.as_deref()),
        };
        match rule.compare(messages.0, messages.1, is_assertion) {
            Agreement::None => return Some(Grade::L1),
            Agreement::Kind => return Some(Grade::L2),
            Agreement::Whole => {}
        }
        let overflow = matches!(site, ThrowSite::Recursion(calls) if !calls.is_empty());
        if overflow || self.same_stack(&own.frames, &other.frames) {
            return Some(Grade::L4);
        }
        Some(Grade::L3)
    }

    fn same_stack(&self, own: &[Frame], other: &[Frame]) -> bool {
        let (own, other) = (program_part(own), program_part(other));
        let same = |a: &Activation, b: &Activation| self.is_same_call(a, b);
        let last = |here: &[Activation], there: &[Activation]| {
            here.iter().rposition(|a| there.iter().any(|b| same(a, b)))
        };
        match (last(&own, &other), last(&other, &own)) {
            (Some(i), Some(j)) => {
                i == j && own[..=i].iter().zip(&other[..=j]).all(|(a, b)| same(a, b))
            }
            _ => own.is_empty() && other.is_empty(),
        }
    }

    fn is_same_call(&self, one: &Activation, other: &Activation) -> bool {
        one.call == other.call && self.lines.same(one.line, other.line)
    }
}

/// One exception of a signature: the failure, or a cause of it.
struct OwnException<'a> {
    thrown: &'a Thrown,
    site: &'a ThrowSite,
    rule: &'a MessageRule,
}

/// True if no code of the program is on the stack but that of one test, by its name.
fn is_of_test(thrown: &Thrown) -> bool {
    let frames = thrown.frames.iter();
    let mut program = frames.filter(|frame| frame.origin() == FrameOrigin::Program);
    let first = program.next();
    first.is_none_or(|first| {
        first.class.ends_with("Test") && program.all(|frame| frame.class == first.class)
    })
}

/// The message of an exception without the expression that was null: a test has another one for the same value.
fn without_expression(thrown: &Thrown) -> Option<&str> {
    let message = thrown.message.as_deref()?;
    let is_null = thrown.class == "java.lang.NullPointerException";
    let told = message.split_once(" because ").filter(|_| is_null);
    Some(told.map_or(message, |(told, _)| told))
}

/// The calls above the innermost frame of the program.
fn calls_on_top(thrown: &Thrown) -> impl Iterator<Item = Call> {
    let frames = thrown.frames.iter();
    let above = frames.take_while(|frame| frame.origin() != FrameOrigin::Program);
    let of_jdk = above.filter(|frame| frame.origin() == FrameOrigin::Jdk);
    of_jdk.map(Call::of)
}

/// A frame as stacks are compared by.
struct Activation {
    call: Call,
    line: Option<u32>,
}

/// The frames down to the last one of the program, without those of reflection. All without those
/// of reflection if the program has none.
fn program_part(frames: &[Frame]) -> Vec<Activation> {
    let program = |frame: &Frame| frame.origin() == FrameOrigin::Program;
    let end = frames
        .iter()
        .rposition(program)
        .map_or(frames.len(), |at| at + 1);
    let fixed = frames[..end]
        .iter()
        .filter(|it| it.origin() != FrameOrigin::Reflection);
    let activation = |frame: &Frame| Activation {
        call: Call::of(frame),
        line: frame.line,
    };
    fixed.map(activation).collect()
}

/// The exception inside those that only carry it.
fn unwrapped(thrown: &Thrown) -> &Thrown {
    let mut thrown = thrown;
    while let Some(cause) = thrown.cause.as_deref() {
        let mut frames = thrown.frames.iter();
        let carries = WRAPPERS.contains(&thrown.class.as_str())
            && !thrown.frames.is_empty()
            && frames.all(|frame| frame.origin() != FrameOrigin::Program);
        if !carries && !tells_unexpected(thrown) && !thrown.is_of_several() {
            break;
        }
        thrown = cause;
    }
    thrown
}

/// True if a harness says that what it carries is not what a test expected.
fn tells_unexpected(thrown: &Thrown) -> bool {
    let message = thrown.message.as_deref().unwrap_or_default();
    let first = thrown.frames.first().map(Frame::origin);
    // A message of one's own may stand in front, with an arrow behind it.
    let said = message.rsplit("==> ").next().unwrap_or_default();
    matches!(first, Some(FrameOrigin::Harness | FrameOrigin::Assertion))
        && UNEXPECTED.iter().any(|start| said.starts_with(start))
}

/// One line for people: type, message, site, and the same of causes.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (thrown, site)) in self.thrown.chain().zip(&self.sites).enumerate() {
            if index > 0 {
                f.write_str(", caused by ")?;
            }
            let mut words = Vec::new();
            if !thrown.class.is_empty() {
                words.push(simple(&thrown.class).to_owned());
            }
            if let Some(message) = thrown.message.as_deref().map(in_one_line) {
                words.push(format!("\"{message}\""));
            }
            words.push(site.to_string());
            words.retain(|word| !word.is_empty());
            f.write_str(&clean::line(&words.join(" ")))?;
        }
        Ok(())
    }
}

fn in_one_line(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
