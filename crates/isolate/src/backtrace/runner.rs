//! What runners of tests report: which tests failed, and what each of them said. It is no backtrace, but
//! it tells failures apart where there is none: a test that fails, and one that could not be started.

use std::collections::HashSet;
use std::sync::LazyLock;

use culprit_signature::mask;
use regex_lite::Regex;

use super::{Backtrace, BacktraceFrame, BacktraceLine, pattern};

/// Lines of what a test said that are kept, at most.
const KEPT: usize = 4;

/// What stands for a test that could not be told from others.
const NAMELESS: [&str; 2] = ["Console", "Test suite failed to run"];

/// The position at which a runner names a failed test.
#[derive(Clone, Copy)]
enum NamePosition {
    /// Anywhere, if it prints such a line somewhere.
    With(&'static str),
    /// From such a line on, up to one of the other kind.
    From(&'static str, &'static str),
}

/// The position of the message of a failed test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessagePosition {
    /// On the line that names the test, or nowhere.
    There,
    /// In the first lines below it.
    Below,
    /// The same, if they are indented.
    Indented,
}

/// The position of the name of a test, its prefix, and the position of the message.
type RunnerRow = (NamePosition, &'static str, MessagePosition);

const RUNNERS: [RunnerRow; 11] = [
    // pytest
    (
        NamePosition::From(r"^=+ short test summary info =+$", r"^=+ .* in .*s.* =+$"),
        r"^(?:FAILED|ERROR) (?P<name>\S.*?)(?: - (?P<what>.*))?$",
        MessagePosition::There,
    ),
    // go test
    (
        NamePosition::With(r"^FAIL\b"),
        r"^\s*--- FAIL: (?P<name>\S+) \(",
        MessagePosition::Indented,
    ),
    // GoogleTest
    (
        NamePosition::With(r"^\[==========\] "),
        r"^\[  FAILED  \] (?P<name>[^\s,]+\.[^\s,]+)(?:,| \(|$)",
        MessagePosition::There,
    ),
    // Whatever speaks TAP
    (
        NamePosition::With(r"^(?:TAP version \d|1\.\.\d+)"),
        r"^not ok\b(?: \d+)?(?: -)? (?P<name>.+?)(?: # (?P<directive>.*))?$",
        MessagePosition::There,
    ),
    // Jest
    (
        NamePosition::With(r"^Test Suites: "),
        r"^  ● (?P<name>.+)$",
        MessagePosition::Indented,
    ),
    // Vitest
    (
        NamePosition::With(r"^ Test Files "),
        r"^ FAIL  (?P<name>.+ > .+)$",
        MessagePosition::Below,
    ),
    // RSpec
    (
        NamePosition::From(r"^Failed examples:$", r"^Randomized "),
        r"^rspec \S+ # (?P<name>.+)$",
        MessagePosition::There,
    ),
    // minitest
    (
        NamePosition::With(r"^# Running:$"),
        r"^(?P<name>\S+#.+?)(?: \[.*\])?:$",
        MessagePosition::Below,
    ),
    // PHPUnit
    (
        NamePosition::From(
            r"^There (?:was|were) \d+ (?:error|failure)s?:$",
            r"^There (?:was|were) \d+ ",
        ),
        r"^\d+\) (?P<name>\S+::\S.*)$",
        MessagePosition::Below,
    ),
    // CTest
    (
        NamePosition::From(r"^The following tests FAILED:$", r"^Errors while "),
        r"^\s*\d+ - (?P<name>\S+) \((?P<what>.*)\)",
        MessagePosition::There,
    ),
    // Gradle
    (
        NamePosition::With(r"^> Task "),
        r"^(?P<name>\S.* > .*) FAILED$",
        MessagePosition::Indented,
    ),
];

/// The tests that failed, each as a backtrace that has nothing but its name, by all that was printed.
pub(super) fn failed(texts: &[Vec<&str>]) -> Vec<Backtrace> {
    static NAMES: LazyLock<Vec<Regex>> =
        LazyLock::new(|| RUNNERS.iter().map(|row| pattern(row.1)).collect());
    let rows = RUNNERS.iter().zip(NAMES.iter());
    let found = rows.map(|((place, _, said), name)| named(texts, (*place, name, *said)));
    let mut found = found.filter(|tests| !tests.is_empty());
    found.next().unwrap_or_default()
}

fn named(
    texts: &[Vec<&str>],
    (place, name, said): (NamePosition, &Regex, MessagePosition),
) -> Vec<Backtrace> {
    let lines = || texts.iter().flatten();
    // Looking for names takes less than to make a pattern.
    if !lines().any(|line| name.is_match(line)) {
        return Vec::new();
    }
    let mut tests: Vec<(String, Backtrace)> = Vec::new();
    let mut known = HashSet::new();
    let (begin, end) = match place {
        NamePosition::With(sign) => (pattern(sign), None),
        NamePosition::From(begin, end) => (pattern(begin), Some(pattern(end))),
    };
    if !lines().any(|line| begin.is_match(line)) {
        return Vec::new();
    }
    for text in texts {
        let mut is_inside = end.is_none();
        for (at, line) in text.iter().enumerate() {
            if let Some(end) = &end {
                is_inside = begin.is_match(line) || (is_inside && !end.is_match(line));
            }
            let Some(found) = name.captures(line).filter(|_| is_inside) else {
                continue;
            };
            let part = |name: &str| found.name(name).map_or("", |it| it.as_str());
            let directive = part("directive").to_ascii_lowercase();
            let is_expected = ["todo", "skip"].iter().any(|it| directive.starts_with(it));
            let test = shown(part("name"));
            if is_expected || NAMELESS.contains(&test.as_str()) || !known.insert(test.clone()) {
                continue;
            }
            let message = match said {
                MessagePosition::There => part("what").to_owned(),
                MessagePosition::Below | MessagePosition::Indented => {
                    below(&text[at..], name, said)
                }
            };
            let trace = Backtrace {
                kind: kind_in(&message),
                message,
                frames: vec![BacktraceFrame::of(BacktraceLine {
                    function: &test,
                    ..BacktraceLine::default()
                })],
            };
            tests.push((test, trace));
        }
    }
    // What has parts that failed fails for them.
    let has_parts = |test: &str| {
        let part = format!("{test}/");
        known.iter().any(|other| other.starts_with(&part))
    };
    let single = tests.into_iter().filter(|(test, _)| !has_parts(test));
    single.map(|(_, trace)| trace).collect()
}

/// The name of a test. Where it is, and from where it is seen, does not count.
fn shown(name: &str) -> String {
    let name = name.trim().trim_start_matches("../");
    match name.strip_prefix('/') {
        Some(path) => path.rsplit('/').next().unwrap_or_default().to_owned(),
        None => mask(name),
    }
}

/// The exception that a message begins with, if it does.
fn kind_in(message: &str) -> String {
    static KIND: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^([\w.$\\]*(?:Error|Exception|Failure))(?::|$)"));
    let kind = KIND.captures(message);
    kind.map_or("FAILED".to_owned(), |it| it[1].to_owned())
}

/// What is said below the line that names a test, without places: lines move.
fn below(lines: &[&str], name: &Regex, said: MessagePosition) -> String {
    static PLACES: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^\S+:\d+:(?:\d+:)?\s*|(?:^|\s+(?:at )?)\S+\.\w+:\d+(?::\d+)?\)?$")
    });
    let is_empty = |line: &&&str| line.trim().is_empty();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let least = match (said, lines) {
        (MessagePosition::Indented, [named, ..]) => indent(named) + 1,
        _ => 0,
    };
    let said = lines.iter().skip(1).skip_while(is_empty);
    let said = said.take_while(|line| !is_empty(line) && !name.is_match(line));
    let said = said.take_while(|line| indent(line) >= least).take(KEPT);
    let said = said.map(|line| PLACES.replace_all(line.trim(), "").trim().to_owned());
    let said: Vec<String> = said.filter(|line| !line.is_empty()).collect();
    said.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_all(texts: &[&str], expect: &[(&str, &str)]) {
        let texts: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
        let told: Vec<(String, String)> = failed(&texts)
            .into_iter()
            .map(|it| (format!("{} in {}", it.kind, it.frames[0]), it.message))
            .collect();
        let told: Vec<(&str, &str)> = told
            .iter()
            .map(|(name, said)| (name.as_str(), said.as_str()))
            .collect();
        assert_eq!(told, expect);
    }

    #[track_caller]
    fn check(text: &str, expect: &[(&str, &str)]) {
        check_all(&[text], expect);
    }

    #[test]
    fn pytest() {
        check(
            "--- Captured log call ---\nERROR    root:test_a.py:3 boom\n\
             =========================== short test summary info ============================\n\
             FAILED tests/test_a.py::test_sum[1 2] - assert 1 == 2\nERROR ../tests/test_b.py - SyntaxError: no\n\
             FAILED tests/test_a.py::test_plain\n========= 2 failed, 1 passed in 0.03s =========\nERROR later\n",
            &[
                ("FAILED in tests/test_a.py::test_sum[1 2]", "assert 1 == 2"),
                ("SyntaxError in tests/test_b.py", "SyntaxError: no"),
                ("FAILED in tests/test_a.py::test_plain", ""),
            ],
        );
    }

    #[test]
    fn go() {
        check(
            "--- FAIL: TestSum (0.00s)\n    --- FAIL: TestSum/one (0.00s)\n        sum_test.go:12: got 3\n\
             --- FAIL: TestLong (0.00s)\n    x_test.go:7: \n        \tError Trace:\t/x/x_test.go:7\n        \tError:\tNot equal\n\
             FAIL\nexit status 1\nFAIL\texample.com/sum\t0.002s\n",
            &[
                ("FAILED in TestSum/one", "got 3"),
                ("FAILED in TestLong", "Error Trace: Error:\tNot equal"),
            ],
        );
        let loud = "=== RUN   TestA\n    a_test.go:3: got 3\n--- FAIL: TestA (0.00s)\n=== RUN   TestZ\nFAIL\n";
        check(loud, &[("FAILED in TestA", "")]);
        check("FAIL\texample.com/sum [build failed]\n", &[]);
    }

    #[test]
    fn javascript() {
        check(
            "FAIL ./a.test.js\n  ● Console\n\n    console.log\n\n  ● sum › adds\n\n    TypeError: no\n\n      at f (a.js:1:2)\n\
             \n  ● Test suite failed to run\n\n    Cannot find x\n\nTest Suites: 1 failed\n",
            &[("TypeError in sum › adds", "TypeError: no")],
        );
        check_all(
            &[
                " FAIL  a.test.ts > sum > adds\nAssertionError: expected 3 to be 4\n ❯ a.test.ts:5:13\n",
                " Test Files  1 failed (1)\n",
            ],
            &[(
                "AssertionError in a.test.ts > sum > adds",
                "AssertionError: expected 3 to be 4 ❯",
            )],
        );
        check(
            "TAP version 13\nnot ok 1 - /tmp/x/benches/0/b.test.js\n  ---\n  type: 'test'\n1..1\n",
            &[("FAILED in b.test.js", "")],
        );
    }

    #[test]
    fn others() {
        check(
            "[==========] Running 2 tests from 1 test suite.\n[ RUN      ] Sum.One\na.cc:3: Failure\n\
             [  FAILED  ] Sum.One (0 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Sum.One\n\n 1 FAILED TEST\n",
            &[("FAILED in Sum.One", "")],
        );
        check(
            "1..4\nok 1 - a\nnot ok 2 - sums up # time=3ms\n#   Failed test 'sums up'\nnot ok 3 - later # TODO soon\n\
             not ok 4 without a dash\n",
            &[("FAILED in sums up", ""), ("FAILED in without a dash", "")],
        );
        check(
            "Failed examples:\n\nrspec ./spec/a_spec.rb:3 # Sum adds\n\nRandomized with seed 1\n",
            &[("FAILED in Sum adds", "")],
        );
        check(
            "# Running:\n\nF\n\n  1) Failure:\nTestSum#test_add [a.rb:5]:\nExpected: 4\n  Actual: 3\n\n  2) Error:\n\
             Sum#test_0001_divides well:\nZeroDivisionError: divided by 0\n    a.rb:9:in 'Integer#/'\n",
            &[
                ("FAILED in TestSum#test_add", "Expected: 4 Actual: 3"),
                (
                    "ZeroDivisionError in Sum#test_0001_divides well",
                    "ZeroDivisionError: divided by 0 in 'Integer#/'",
                ),
            ],
        );
        check(
            "PHPUnit 9.6 by S\n\nThere was 1 warning:\n\n1) OldTest::testOld\nold\n\n--\n\nThere was 1 failure:\n\n\
             1) Tests\\SumTest::testAdd\nFailed asserting that 3 matches expected 4.\n\n/x/SumTest.php:9\n\n\
             There was 1 risky test:\n\n1) Tests\\SumTest::testRisky\nrisky\n",
            &[(
                "FAILED in Tests\\SumTest::testAdd",
                "Failed asserting that 3 matches expected 4.",
            )],
        );
        check(
            "The following tests FAILED:\n\t  3 - sum (Failed)\nErrors while running CTest\n",
            &[("FAILED in sum", "Failed")],
        );
        check(
            "> Task :test FAILED\n\nSumTest > adds() FAILED\n    org.opentest4j.AssertionFailedError at SumTest.java:9\n\n1 test\n",
            &[(
                "org.opentest4j.AssertionFailedError in SumTest > adds()",
                "org.opentest4j.AssertionFailedError",
            )],
        );
        check("FAILED to say\nnot ok 3 - x\n  ● point\n", &[]);
    }
}
