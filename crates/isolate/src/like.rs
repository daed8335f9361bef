//! A failure that somebody else saw: what a log, a report or a recording has of it.

use std::fmt;

use culprit_signature::{Grade, Signature, Thrown, find_all};

use crate::backtrace::Backtrace;
use crate::{Likeness, LineComparison};

/// Failures of which a test is to show one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Like {
    /// Exceptions of a JVM.
    thrown: Vec<Thrown>,
    /// Of another program.
    traces: Vec<Backtrace>,
}

impl Like {
    /// All that a text has. `None` if it has no stack trace at all.
    pub fn find(text: &str) -> Option<Like> {
        let mut thrown: Vec<Thrown> = Vec::new();
        for found in find_all(text) {
            if !thrown.contains(&found.thrown) {
                thrown.push(found.thrown);
            }
        }
        let traces = match thrown.is_empty() {
            true => Backtrace::find_all([text]),
            false => Vec::new(),
        };
        let is_known = !thrown.is_empty() || !traces.is_empty();
        is_known.then_some(Like { thrown, traces })
    }

    /// Those of stack traces that stand by themselves. `None` if there is none.
    pub fn of_stacks<'s>(stacks: impl IntoIterator<Item = &'s str>) -> Option<Like> {
        let mut thrown: Vec<Thrown> = stacks.into_iter().filter_map(Thrown::parse).collect();
        thrown.dedup();
        let traces = Vec::new();
        (!thrown.is_empty()).then_some(Like { thrown, traces })
    }

    /// Whether an exception is one of these. What carries it here or there does not count, and lines
    /// need not be the same: what was seen may be of another release.
    pub(crate) fn has(&self, thrown: &Thrown) -> bool {
        let same = |own: &Thrown, other: &Thrown| {
            let mut own = own.clone();
            if own.class.is_empty() {
                // It printed itself without its class: the place has to do.
                own.class.clone_from(&other.class);
            }
            let signature = Signature::of(&own).ignoring_lines();
            signature.grade(other) >= Some(Grade::L1)
        };
        let causes = || self.thrown.iter().flat_map(Thrown::chain);
        thrown
            .chain()
            .any(|other| causes().any(|own| same(own, other)))
    }

    /// The same of another program.
    pub(crate) fn has_trace(&self, trace: &Backtrace) -> bool {
        let same = |own: &Backtrace| own.is_same(trace, Likeness::Place, &LineComparison::Ignored);
        self.traces.iter().any(same)
    }
}

/// Those that come first.
impl fmt::Display for Like {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(trace) = self.traces.first() {
            f.write_str(&trace.kind)?;
            return match trace.top() {
                Some(top) => write!(f, " in {top}"),
                None => Ok(()),
            };
        }
        let shown: Vec<String> = self
            .thrown
            .iter()
            .take(3)
            .map(|it| Signature::of(it).to_string())
            .collect();
        f.write_str(&shown.join("; "))?;
        match self.thrown.len() {
            0..=3 => Ok(()),
            more => write!(f, "; and {} more", more - 3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
12:01 INFO starting
12:02 ERROR request failed
javax.servlet.ServletException: nested
\tat web.Front.handle(Front.java:10)
Caused by: com.acme.ParseException: bad token <x> at 17
\tat com.acme.Parser.next(Parser.java:40)
\tat web.Front.handle(Front.java:8)
12:03 WARN other
java.lang.IllegalStateException: closed
\tat com.acme.Pool.take(Pool.java:3)
";

    fn thrown(text: &str) -> Thrown {
        Thrown::parse(text).unwrap()
    }

    #[test]
    fn an_exception_is_known_from_a_log_whatever_carries_it() {
        let like = Like::find(LOG).unwrap();
        let check =
            |text: &str, expect: bool| assert_eq!(like.has(&thrown(text)), expect, "{text}");
        // By itself, of another release, with another message.
        let frame = "\tat com.acme.Parser.next(Parser.java:44)\n\tat T.reads(T.java:1)\n";
        check(
            &format!("com.acme.ParseException: bad token <y>\n{frame}"),
            true,
        );
        check(
            &format!(
                "java.lang.RuntimeException: why\n\tat T.reads(T.java:1)\nCaused by: com.acme.ParseException: z\n{frame}"
            ),
            true,
        );
        check(
            &format!("com.acme.OtherException: bad token <y>\n{frame}"),
            false,
        );
        check(
            "com.acme.ParseException: a\n\tat com.acme.Parser.peek(Parser.java:44)\n",
            false,
        );
        check(
            "java.lang.IllegalStateException\n\tat com.acme.Pool.take(Pool.java:3)\n",
            true,
        );
        let told = like.to_string();
        assert!(
            told.contains("ParseException") && told.contains("IllegalState"),
            "{told}"
        );
    }

    #[test]
    fn an_exception_that_hides_its_class_is_known_by_its_place() {
        let stack = "no such character\n\tat com.acme.Parser.next(Parser.java:40)\n";
        let like = Like::of_stacks([stack]).unwrap();
        let at = |place: &str| thrown(&format!("com.acme.ReadException: no\n\tat {place}\n"));
        assert!(like.has(&at("com.acme.Parser.next(Parser.java:41)")));
        assert!(!like.has(&at("com.acme.Parser.peek(Parser.java:41)")));
        assert_eq!(Like::of_stacks([]), None);
    }

    #[test]
    fn other_programs_have_backtraces_too() {
        let text = "Traceback (most recent call last):\n  File \"/a/x.py\", line 9, in go\n    f()\nValueError: 1\n";
        let like = Like::find(text).unwrap();
        let again = text.replace("line 9", "line 12");
        assert!(like.has_trace(&Backtrace::find_all([&again])[0]));
        let other = text.replace("ValueError", "KeyError");
        assert!(!like.has_trace(&Backtrace::find_all([&other])[0]));
        assert_eq!(Like::find("nothing here\n"), None);
        // A report of a test that failed may have what it failed for.
        let summary = "=== short test summary info ===\nFAILED a.py::f - ValueError: 1\n";
        let like = Like::find(&format!("{text}{summary}")).unwrap();
        assert!(like.has_trace(&Backtrace::find_all([&again])[0]));
    }
}
