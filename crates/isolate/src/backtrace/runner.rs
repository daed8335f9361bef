//! What runners of tests report: which tests failed, and what each of them said. It is no backtrace, but
//! it tells failures apart where there is none: a test that fails, and one that could not be started.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex_lite::Regex;

use super::{Backtrace, Frame, Parts, parts, pattern};

/// Where a runner says what a test said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    /// On the line that names the test, or nowhere.
    There,
    /// On the first line below it that is not empty.
    Below,
}

/// A line that only this runner prints, how it names a test that failed, and where it says why.
type Row = (&'static str, &'static str, Said);

const RUNNERS: [Row; 11] = [
    // pytest
    (
        r"^=+ short test summary info =+$",
        r"^(?:FAILED|ERROR) (?P<function>.+?)(?: - (?P<what>.*))?$",
        Said::There,
    ),
    // go test
    (
        r"^FAIL\b",
        r"^\s*--- FAIL: (?P<function>\S+) \(",
        Said::Below,
    ),
    // GoogleTest
    (
        r"^\[==========\] ",
        r"^\[  FAILED  \] (?P<function>[^\s,]+\.[^\s,]+)(?:,| \(|$)",
        Said::There,
    ),
    // Whatever speaks TAP
    (
        r"^(?:TAP version \d|1\.\.\d+)",
        r"^not ok \d+ - (?P<function>[^#]+)$",
        Said::There,
    ),
    // Jest
    (r"^Test Suites: ", r"^  ● (?P<function>.+)$", Said::Below),
    // Vitest
    (
        r"^ Test Files ",
        r"^ FAIL  (?P<function>.+ > .+)$",
        Said::Below,
    ),
    // RSpec
    (
        r"^Failed examples:$",
        r"^rspec \S+ # (?P<function>.+)$",
        Said::There,
    ),
    // minitest
    (
        r"^# Running:$",
        r"^(?P<function>\S+#\S+) \[.*\]:$",
        Said::Below,
    ),
    // PHPUnit
    (
        r"^PHPUnit \d",
        r"^\d+\) (?P<function>\S+::\S.*)$",
        Said::Below,
    ),
    // CTest
    (
        r"^The following tests FAILED:$",
        r"^\s*\d+ - (?P<function>\S+) \((?P<what>.*)\)",
        Said::There,
    ),
    // Gradle
    (
        r"^> Task ",
        r"^(?P<function>\S.* > .*) FAILED$",
        Said::Below,
    ),
];

/// The tests that failed, each as a backtrace that has nothing but its name.
pub(super) fn failed(lines: &[&str]) -> Vec<Backtrace> {
    static PATTERNS: LazyLock<Vec<(Regex, Regex, Said)>> = LazyLock::new(|| {
        let all = RUNNERS.iter();
        all.map(|(sign, named, said)| (pattern(sign), pattern(named), *said))
            .collect()
    });
    let runs = |(sign, named, _): &&(Regex, Regex, Said)| {
        lines.iter().any(|line| sign.is_match(line))
            && lines.iter().any(|line| named.is_match(line))
    };
    let Some((_, named, said)) = PATTERNS.iter().find(runs) else {
        return Vec::new();
    };
    let mut names = HashSet::new();
    let tests = lines.iter().enumerate().filter_map(|(at, line)| {
        let told = parts(named, line).filter(|told| names.insert(told.function))?;
        let what = named.captures(line)?.name("what").map(|it| it.as_str());
        let below = || lines[at + 1..].iter().find(|it| !it.trim().is_empty());
        let message = match said {
            Said::There => what,
            Said::Below => below().map(|it| without_place(it.trim())),
        };
        Some(Backtrace {
            kind: "FAILED".to_owned(),
            message: message.unwrap_or_default().to_owned(),
            // Where it is seen from does not count.
            frames: vec![Frame::of(Parts {
                function: told.function.trim_start_matches("../"),
                ..Parts::default()
            })],
        })
    });
    tests.collect()
}

/// `a_test.go:12: got 3` without its place: lines move.
fn without_place(line: &str) -> &str {
    static PLACE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\S+:\d+:(?:\d+:)? "));
    PLACE.find(line).map_or(line, |place| &line[place.end()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[(&str, &str)]) {
        let lines: Vec<&str> = text.lines().collect();
        let found = failed(&lines);
        let told: Vec<(String, &str)> = found
            .iter()
            .map(|it| (it.frames[0].to_string(), it.message.as_str()))
            .collect();
        let told: Vec<(&str, &str)> = told.iter().map(|(name, it)| (name.as_str(), *it)).collect();
        assert_eq!(told, expect);
    }

    #[test]
    fn python_and_go() {
        check(
            "=== FAILURES ===\nE   assert 1 == 2\n\
             =========================== short test summary info ============================\n\
             FAILED tests/test_a.py::test_sum[1 2] - assert 1 == 2\nERROR ../tests/test_b.py - SyntaxError: no\n\
             FAILED tests/test_a.py::test_plain\n== 2 failed in 0.03s ==\n",
            &[
                ("tests/test_a.py::test_sum[1 2]", "assert 1 == 2"),
                ("tests/test_b.py", "SyntaxError: no"),
                ("tests/test_a.py::test_plain", ""),
            ],
        );
        check(
            "--- FAIL: TestSum (0.00s)\n    --- FAIL: TestSum/one (0.00s)\n        sum_test.go:12: got 3\n\
             FAIL\nexit status 1\nFAIL\texample.com/sum\t0.002s\n",
            &[
                ("TestSum", "--- FAIL: TestSum/one (0.00s)"),
                ("TestSum/one", "got 3"),
            ],
        );
        check("FAIL\texample.com/sum [build failed]\n", &[]);
    }

    #[test]
    fn others() {
        check(
            "[==========] Running 2 tests from 1 test suite.\n[ RUN      ] Sum.One\na.cc:3: Failure\n\
             [  FAILED  ] Sum.One (0 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Sum.One\n\n 1 FAILED TEST\n",
            &[("Sum.One", "")],
        );
        check(
            "1..3\nok 1 - a\nnot ok 2 - sums up\n#   Failed test 'sums up'\nnot ok 3 - later # TODO\n",
            &[("sums up", "")],
        );
        check(
            "FAIL ./a.test.js\n  ● sum › adds\n\n    expect(received).toBe(expected)\n\nTest Suites: 1 failed\n",
            &[("sum › adds", "expect(received).toBe(expected)")],
        );
        check(
            "Failed examples:\n\nrspec ./spec/a_spec.rb:3 # Sum adds\n",
            &[("Sum adds", "")],
        );
        check(
            "# Running:\n\nF\n\n  1) Failure:\nTestSum#test_add [a.rb:5]:\nExpected: 4\n  Actual: 3\n",
            &[("TestSum#test_add", "Expected: 4")],
        );
        check(
            "PHPUnit 11.0 by S\n\n1) Tests\\SumTest::testAdd\nFailed asserting that 3 matches expected 4.\n",
            &[(
                "Tests\\SumTest::testAdd",
                "Failed asserting that 3 matches expected 4.",
            )],
        );
        check(
            "The following tests FAILED:\n\t  3 - sum (Failed)\nErrors while running CTest\n",
            &[("sum", "Failed")],
        );
        check(
            "> Task :test FAILED\n\nSumTest > adds() FAILED\n    org.opentest4j.AssertionFailedError at SumTest.java:9\n",
            &[(
                "SumTest > adds()",
                "org.opentest4j.AssertionFailedError at SumTest.java:9",
            )],
        );
        check("FAILED to say\nnot ok 3 - x\n  ● point\n", &[]);
    }
}
