//! The verdict of a check: read from the exit status of the runner and from the lines that it prints.
//!
//! The runner prints each line with a mark that is random per check, so that no output of the program is taken
//! for one of them by accident. The program runs in the same JVM and can find the mark in the command line;
//! it could also throw any exception in the first place.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

use culprit_jvm::Status;

use super::Verified;

/// Exit statuses of a runner that was given a mark. `runner.rs` has the same numbers.
const PASSED: u8 = 90;
const THREW: u8 = 91;

/// The lines of a runner, behind the mark. The stack trace of the exception stands between `TRACE` and
/// `END_OF_TRACE`.
const BEGAN: &str = "began";
const END: &str = "passed";
const TRACE: &str = "threw";
const END_OF_TRACE: &str = "printed";

/// The random word that begins each line of the runner.
pub(super) struct RunnerMark(String);

impl RunnerMark {
    /// A mark that no earlier check had.
    pub(super) fn new() -> RunnerMark {
        let random = || RandomState::new().build_hasher().finish();
        RunnerMark(format!("culprit-{:016x}{:016x}", random(), random()))
    }

    /// The argument for the runner.
    pub(super) fn word(&self) -> &str {
        &self.0
    }

    /// The rest of a line that begins with the mark.
    fn said<'a>(&self, line: &'a str) -> Option<&'a str> {
        line.strip_prefix(&self.0)?.strip_prefix(' ')
    }

    /// The lines of an output that the runner did not print.
    fn others(&self, err: &str) -> String {
        let lines = err.lines().filter(|line| self.said(line).is_none());
        lines.fold(String::new(), |text, line| text + line + "\n")
    }

    /// The last stack trace that is there from its first to its last line.
    fn trace(&self, err: &str) -> Option<String> {
        let lines: Vec<&str> = err.lines().collect();
        let at = |word: &str| lines.iter().rposition(|line| self.said(line) == Some(word));
        // The lines of the runner have an empty one before them.
        let trace = lines.get(at(TRACE)? + 1..at(END_OF_TRACE)?.saturating_sub(1))?;
        let trace = trace.iter();
        Some(trace.fold(String::new(), |text, line| text + line + "\n"))
    }

    /// The verdict on a test whose JVM ended with a status and printed a text to its standard error output;
    /// without a status, the JVM took too long.
    pub(super) fn verdict(&self, status: Option<Status>, err: &str, took: Duration) -> Verified {
        let Some(status) = status else {
            return Verified::Late(Duration::from_secs(took.as_secs()));
        };
        let last = err.lines().rev().find_map(|line| self.said(line));
        match (status, last) {
            (Status::Exited(PASSED), Some(END)) => Verified::Passed,
            (Status::Exited(THREW), Some(END_OF_TRACE)) => match self.trace(err) {
                Some(trace) => Verified::Threw(trace),
                None => Verified::Broken("the stack trace is too long to be kept".to_owned()),
            },
            (Status::Exited(PASSED | THREW), Some(BEGAN)) => {
                let why = "the standard error output was closed, or its end is missing";
                Verified::Broken(why.to_owned())
            }
            (Status::Exited(status), Some(BEGAN)) => Verified::Exited(status),
            _ => Verified::Broken(self.others(err)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOK: Duration = Duration::from_secs(60);
    const STACK: &str = "java.lang.IllegalStateException: why\n\tat T.t(T.java:1)\n";

    /// Checks the verdict on an exit status and an output, in which `M` stands for the mark.
    #[track_caller]
    fn check(status: u8, err: &str, expect: Verified) {
        let mark = RunnerMark::new();
        let err = err.replace('M', mark.word());
        let verdict = mark.verdict(Some(Status::Exited(status)), &err, TOOK);
        assert_eq!(verdict, expect, "{err}");
    }

    fn broken(why: &str) -> Verified {
        Verified::Broken(why.to_owned())
    }

    #[test]
    fn an_end_counts_where_status_and_last_line_of_the_runner_agree() {
        let threw = format!("\nM began\nnoise\nM threw\n{STACK}\nM printed\n");
        check(THREW, &threw, Verified::Threw(STACK.to_owned()));
        check(PASSED, "\nM began\nnoise\nM passed\n", Verified::Passed);
        let noise = format!("\nnoise\n{STACK}\n");
        for status in [0, 1, PASSED] {
            check(status, &threw, broken(&noise));
        }
        check(0, "\nM began\nM passed\n", broken("\n"));
        check(THREW, "\nM began\nM passed\n", broken("\n"));
        check(1, "no such class\n", broken("no such class\n"));
        check(0, "", broken(""));
    }

    #[test]
    fn a_mark_counts_at_the_start_of_a_line_and_the_last_one_counts() {
        let old = format!("\nM began\nCULPRIT-THROWN\n{STACK}M passed\n");
        check(PASSED, &old, Verified::Passed);
        let within =
            format!("\nM began\nsun.java.command=CulpritRunner T t M threw\n{STACK}\nM passed\n");
        check(PASSED, &within, Verified::Passed);
        let twice =
            format!("\nM began\nM threw\nforged\n\nM printed\n\nM threw\n{STACK}\nM printed\n");
        check(THREW, &twice, Verified::Threw(STACK.to_owned()));
    }

    #[test]
    fn a_test_that_ends_the_jvm_neither_passes_nor_fails() {
        for status in [0, 1, 3] {
            check(status, "\nM began\nnoise\n", Verified::Exited(status));
        }
        let mark = RunnerMark::new();
        let began = format!("\n{} began\n", mark.word());
        let killed = mark.verdict(Some(Status::Killed(9)), &began, TOOK);
        assert_eq!(killed, broken("\n"));
        assert_eq!(mark.verdict(None, &began, TOOK), Verified::Late(TOOK));
    }

    #[test]
    fn an_output_without_its_end_is_no_verdict() {
        let closed = "the standard error output was closed, or its end is missing";
        check(THREW, "\nM began\n", broken(closed));
        check(PASSED, "\nM began\n", broken(closed));
        let cut = "\nM began\n\n[9 bytes left out]\n\tat T.t(T.java:1)\nM printed\n";
        check(THREW, cut, broken("the stack trace is too long to be kept"));
    }

    #[test]
    fn marks_differ() {
        assert_ne!(RunnerMark::new().word(), RunnerMark::new().word());
    }
}
