//! What makes a failure of a test the one that was seen at first.

use std::collections::BTreeSet;
use std::fmt;

use culprit_signature::{Grade, Signature, Thrown, find_all};

use crate::backtrace::Backtrace;
use crate::ending::How;
use crate::{Ending, Like, Rule};

/// How much another failure must have in common with the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Likeness {
    /// Nothing: each failure counts.
    Any,
    /// It ends the same way, and its innermost frame and kind are the same.
    #[default]
    Place,
    /// So is what it says, but for what differs from run to run or is quoted.
    Message,
    /// It has the same frames, all of them.
    Trace,
}

/// Whether lines of the program count.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum LineComparison {
    #[default]
    Count,
    /// But for those of files with these names, which are what is changed: where the input is itself the
    /// program, each line that is left out moves all that follow.
    ///
    /// Functions in these files count. One that gets a shorter name is another one then, and keeps
    /// its own: that costs some letters of the result. Without them hardly more than the kind would be
    /// left of a failure in the input itself, and each name that is not defined would be like another.
    CountBut(BTreeSet<String>),
    /// The program was changed between the two.
    Ignored,
}

impl LineComparison {
    /// Whether those of a file count.
    pub(crate) fn count_in(&self, file: &str) -> bool {
        match self {
            LineComparison::Count => true,
            LineComparison::CountBut(files) => !files.contains(file),
            LineComparison::Ignored => false,
        }
    }
}

/// How a failing run failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFailure {
    how: How,
    /// Exceptions of a JVM.
    thrown: Vec<Thrown>,
    /// The one that ended the program, or the last one.
    main: Option<Signature>,
    /// Of another program. The first is what the failure is known by.
    traces: Vec<Backtrace>,
    /// What shows it, where its status says nothing to people.
    shown: Option<String>,
}

impl RunFailure {
    /// How a run failed.
    pub fn of(ending: &Ending) -> RunFailure {
        let mut found = find_all(&ending.err);
        found.extend(find_all(&ending.out));
        let owned = found.iter().find(|it| it.owner.is_some());
        let main = owned.or(found.last());
        let has_place = main.is_some_and(|it| it.thrown.chain().any(|it| !it.frames.is_empty()));
        let traces = match has_place {
            true => Vec::new(),
            false => Backtrace::find_all([&ending.err, &ending.out]),
        };
        // A class without a stack is less than what a runner of tests reports.
        let main = main.filter(|_| traces.is_empty());
        let main = main.map(|it| Signature::of(&it.thrown));
        RunFailure {
            how: ending.how,
            thrown: found.into_iter().map(|it| it.thrown).collect(),
            main,
            traces,
            shown: None,
        }
    }

    /// How a run failed by a rule, which may know better than its status what shows that.
    pub(crate) fn by(rule: &Rule, ending: &Ending) -> RunFailure {
        RunFailure {
            shown: rule.shown(ending),
            ..RunFailure::of(ending)
        }
    }

    /// Takes what is like something that is known for the failure, and whatever else was printed not.
    /// Whether there is such a thing.
    pub fn take(&mut self, like: &Like) -> bool {
        if let Some(thrown) = self.thrown.iter().find(|thrown| like.has(thrown)) {
            self.main = Some(Signature::of(thrown));
            return true;
        }
        let known = self.traces.iter().position(|trace| like.has_trace(trace));
        // What is known comes first.
        known.is_some_and(|at| {
            self.traces.swap(0, at);
            true
        })
    }

    /// The exception by which a JVM reports that the system refused something, if this is the failure.
    pub(crate) fn refusal(&self) -> Option<String> {
        let refusal = self.main.as_ref()?.thrown().refusal()?;
        let message = refusal.message.as_deref().unwrap_or_default();
        Some(format!("{}: {message}", refusal.class))
    }

    /// Takes what is the same as another failure, by its place, for the failure, and whatever else was
    /// printed not. Whether there is such a thing.
    pub(crate) fn take_same(&mut self, other: &RunFailure) -> bool {
        if let Some(main) = &other.main {
            let main = main.clone().ignoring_lines();
            let mut thrown = self.thrown.iter();
            let same = thrown.find(|thrown| main.grade(thrown) >= Some(Grade::L1));
            self.main = same.map(Signature::of);
            return self.main.is_some();
        }
        let same = other.traces.first().and_then(|first| {
            let mut traces = self.traces.iter();
            traces.position(|trace| first.is_same(trace, Likeness::Place, &LineComparison::Ignored))
        });
        match (same, other.traces.is_empty()) {
            (Some(at), _) => {
                self.traces.swap(0, at);
                true
            }
            (None, is_quiet) => {
                is_quiet && other.is_same(self, Likeness::Place, &LineComparison::Ignored)
            }
        }
    }

    /// Whether it tells of more than a status.
    pub fn has_trace(&self) -> bool {
        self.main.is_some() || !self.traces.is_empty()
    }

    /// Whether another failure is this one.
    pub fn is_same(&self, other: &RunFailure, likeness: Likeness, lines: &LineComparison) -> bool {
        if likeness == Likeness::Any {
            return true;
        }
        // Statuses are for programs to choose; a signal, or none, is not.
        let late = |failure: &RunFailure| failure.how == How::Late;
        if self.how.signal() != other.how.signal() || late(self) != late(other) {
            return false;
        }
        if let Some(main) = &self.main {
            let main = match lines {
                LineComparison::Count => main.clone(),
                LineComparison::CountBut(_) => Signature::of(&without_lines(main.thrown(), lines)),
                LineComparison::Ignored => main.clone().ignoring_lines(),
            };
            let enough = match likeness {
                Likeness::Trace => Grade::L4,
                Likeness::Message => Grade::L2,
                Likeness::Any | Likeness::Place => Grade::L1,
            };
            return other
                .thrown
                .iter()
                .any(|thrown| main.grade(thrown) >= Some(enough));
        }
        match self.traces.first() {
            Some(own) => {
                let mut others = other.traces.iter();
                others.any(|other| own.is_same(other, likeness, lines))
            }
            // What is thrown where nothing was is something else, unless the system ended both.
            None => {
                let is_quiet = other.traces.is_empty() && other.thrown.is_empty();
                is_quiet || self.how.signal().is_some() || late(self)
            }
        }
    }
}

/// An exception without the lines that do not count.
fn without_lines(thrown: &Thrown, lines: &LineComparison) -> Thrown {
    let mut thrown = thrown.clone();
    let mut next = Some(&mut thrown);
    while let Some(it) = next {
        for frame in &mut it.frames {
            let file = frame.file.as_deref();
            frame.line = frame
                .line
                .filter(|_| file.is_none_or(|it| lines.count_in(it)));
        }
        next = it.cause.as_deref_mut();
    }
    thrown
}

/// One line for people.
impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(main) = &self.main {
            return write!(f, "{main}");
        }
        match &self.shown {
            Some(shown) => f.write_str(shown)?,
            None => write!(f, "{}", self.how)?,
        }
        if let Some(trace) = self.traces.first() {
            if !trace.kind.is_empty() {
                write!(f, ", {}", trace.kind)?;
            }
            if let Some(top) = trace.top() {
                write!(f, " in {top}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::tests::{setup, shell};

    fn failure(script: &str) -> RunFailure {
        let folder = tempfile::tempdir().unwrap();
        RunFailure::of(&shell(script).run(&setup(folder.path()), &|| true).unwrap())
    }

    fn java(class: &str, message: &str, frames: &[&str]) -> RunFailure {
        let mut text = format!("Exception in thread \"main\" java.lang.{class}: {message}\n");
        for frame in frames {
            text.push_str(&format!("\tat com.acme.{frame}\n"));
        }
        failure(&format!("cat >&2 <<'END'\n{text}END\nexit 1"))
    }

    #[track_caller]
    fn check(a: &RunFailure, b: &RunFailure, expect: [bool; 4]) {
        let likenesses = [
            Likeness::Any,
            Likeness::Place,
            Likeness::Message,
            Likeness::Trace,
        ];
        let told = likenesses.map(|likeness| a.is_same(b, likeness, &LineComparison::Count));
        assert_eq!(told, expect, "{a} / {b}");
    }

    #[test]
    fn exceptions_of_a_jvm_are_compared_by_their_place_or_their_stack() {
        let frames = ["Parser.value(Parser.java:10)", "Main.main(Main.java:3)"];
        let first = java("IllegalStateException", "bad 'x' at 17", &frames);
        check(
            &first,
            &java("IllegalStateException", "odd", &frames),
            [true, true, false, false],
        );
        check(
            &first,
            &java("IllegalStateException", "bad 'x' at 17", &frames),
            [true; 4],
        );
        check(
            &first,
            &java("RuntimeException", "bad 'x' at 17", &frames),
            [true, false, false, false],
        );
        let elsewhere = ["Parser.name(Parser.java:20)", "Main.main(Main.java:3)"];
        let other = java("IllegalStateException", "bad 'x' at 17", &elsewhere);
        check(&first, &other, [true, false, false, false]);
        check(&first, &failure("exit 1"), [true, false, false, false]);
        assert!(
            first.to_string().starts_with("IllegalStateException"),
            "{first}"
        );
    }

    #[test]
    fn messages_count_if_asked_for_but_not_what_they_quote() {
        let python = |told: &str| {
            let at = "Traceback (most recent call last):\n  File \"a.py\", line 9, in f";
            failure(&format!("cat >&2 <<'END'\n{at}\n{told}\nEND\nexit 1"))
        };
        let values = python("KeyError: 'x'");
        check(&values, &python("KeyError: 'y'"), [true; 4]);
        check(
            &values,
            &python("KeyError: no such key"),
            [true, true, false, true],
        );
        // Values are what an assertion tells.
        check(
            &python("AssertionError: 2"),
            &python("AssertionError: 1"),
            [true, true, false, true],
        );
        let frames = ["P.f(P.java:1)"];
        let quoting = |value: &str| {
            let message = format!("bad \"{value}\"");
            java("IllegalStateException", &message, &frames)
        };
        check(&quoting("x"), &quoting("y"), [true, true, true, false]);
    }

    #[test]
    fn a_test_that_failed_among_others_is_found() {
        let report = |tests: &[&str]| {
            let failed: String = tests.iter().map(|it| format!("FAILED {it}\n")).collect();
            let summary = "=== short test summary info ===";
            failure(&format!("cat <<'END'\n{summary}\n{failed}END\nexit 1"))
        };
        let both = report(&["a.py::f - assert 1 == 2", "a.py::g"]);
        check(&both, &report(&["a.py::f - assert 1 == 2"]), [true; 4]);
        let other = report(&["a.py::g", "a.py::f - assert 1 == 3"]);
        check(&both, &other, [true, true, false, true]);
        check(&both, &report(&["a.py::g"]), [true, false, false, false]);
        check(&both, &report(&["a.py"]), [true, false, false, false]);
        assert_eq!(both.to_string(), "exits with status 1, FAILED in a.py::f");
        let mut taken = other.clone();
        assert!(taken.take_same(&both));
        assert_eq!(taken.to_string(), both.to_string());
        assert!(!report(&["a.py::g"]).take_same(&both));
    }

    #[test]
    fn a_report_tells_more_than_a_class_without_a_stack() {
        let report = |test: &str| {
            let class = "    org.opentest4j.AssertionFailedError at ATest.java:9";
            let text = format!("> Task :test FAILED\n\nATest > {test} FAILED\n{class}\n");
            failure(&format!("cat <<'END'\n{text}END\nexit 1"))
        };
        check(&report("f()"), &report("f()"), [true; 4]);
        check(&report("f()"), &report("g()"), [true, false, false, false]);
    }

    #[test]
    fn signals_and_backtraces_of_others_are_compared() {
        let crash = failure("echo '#0 0x1 in parse a.c:3' >&2; kill -SEGV $$");
        check(
            &crash,
            &failure("echo '#0 0x9 in parse a.c:3' >&2; kill -SEGV $$"),
            [true; 4],
        );
        check(
            &crash,
            &failure("echo '#0 0x1 in print a.c:7' >&2; kill -SEGV $$"),
            [true, false, false, false],
        );
        check(
            &crash,
            &failure("echo '#0 0x1 in parse a.c:3' >&2; exit 1"),
            [true, false, false, false],
        );
        let plain = failure("kill -SEGV $$");
        check(
            &plain,
            &failure("sh -c 'kill -SEGV $$'; exit $?"),
            [true; 4],
        );
        check(
            &plain,
            &failure("kill -ABRT $$"),
            [true, false, false, false],
        );
        // Programs choose their statuses, and a failure that tells nothing is like any other.
        check(&failure("exit 1"), &failure("exit 2"), [true; 4]);
    }

    #[test]
    fn lines_of_a_changed_program_do_not_count() {
        let at = |line: u32| {
            java(
                "IllegalStateException",
                "x",
                &[&format!("P.f(P.java:{line})")],
            )
        };
        assert!(!at(1).is_same(&at(2), Likeness::Place, &LineComparison::Count));
        assert!(at(1).is_same(&at(2), Likeness::Place, &LineComparison::Ignored));
    }

    #[test]
    fn lines_of_the_input_do_not_count_but_its_functions_do() {
        let lines =
            LineComparison::CountBut(BTreeSet::from(["x.py".to_owned(), "P.java".to_owned()]));
        let check = |a: &RunFailure, b: &RunFailure, expect: bool| {
            for likeness in [Likeness::Place, Likeness::Trace] {
                assert_eq!(a.is_same(b, likeness, &lines), expect, "{a} / {b}");
            }
        };
        let thrown = |place: &str| java("IllegalStateException", "x", &[place, "Q.g(P.java:7)"]);
        let first = thrown("P.f(P.java:1)");
        check(&first, &thrown("P.f(P.java:2)"), true);
        check(&first, &thrown("P.h(P.java:1)"), false);
        check(&thrown("L.f(L.java:1)"), &thrown("L.f(L.java:2)"), false);
        let python = |file: &str, line: u32, function: &str| {
            let at = format!("File \"/tmp/{line}/{file}\", line {line}, in {function}");
            let text = format!("Traceback (most recent call last):\n  {at}\nKeyError: {line}\n");
            failure(&format!("cat >&2 <<'END'\n{text}END\nexit 1"))
        };
        let first = python("x.py", 9, "f");
        check(&first, &python("x.py", 3, "f"), true);
        check(&first, &python("x.py", 9, "g"), false);
        check(&python("lib.py", 9, "f"), &python("lib.py", 3, "f"), false);
    }
}
