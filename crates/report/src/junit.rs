//! Results as JUnit XML, which build servers show.

use std::time::Duration;

use culprit_model::clean;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// A test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its duration.
    pub time: Duration,
    /// Its result.
    pub result: TestResult,
}

/// The result of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TestResult {
    /// The test passed.
    Passed,
    /// The test was not run, for this reason.
    Skipped(String),
    /// The answer is no.
    Failure(Trouble),
    /// There is no answer.
    Error(Trouble),
}

/// The account of a test that did not pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// The kind of trouble, in a word or two.
    pub kind: String,
    /// The account, the first line of which says it in short.
    pub lines: Vec<String>,
}

/// The tests of a suite as JUnit XML. Harmful characters are escapes.
pub fn xml(suite: &str, class: &str, tests: &[Test]) -> String {
    let mut all = TestSuite::new(harmless(suite));
    all.set_time(tests.iter().map(|test| test.time).sum());
    for test in tests {
        let mut case = TestCase::new(harmless(&test.name), status(&test.result));
        case.set_classname(harmless(class)).set_time(test.time);
        all.add_test_case(case);
    }
    let mut report = Report::new(harmless(suite));
    report.add_test_suite(all);
    let text = report.to_string();
    text.expect("XML without harmful characters can be written")
}

fn status(result: &TestResult) -> TestCaseStatus {
    let trouble = |kind: NonSuccessKind, trouble: &Trouble| {
        let mut status = TestCaseStatus::non_success(kind);
        let first = trouble.lines.first().map_or("", String::as_str);
        status.set_type(harmless(&trouble.kind));
        status.set_message(harmless(first));
        status.set_description(harmless(&trouble.lines.join("\n")));
        status
    };
    match result {
        TestResult::Passed => TestCaseStatus::success(),
        TestResult::Skipped(why) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(harmless(why));
            status
        }
        TestResult::Failure(it) => trouble(NonSuccessKind::Failure, it),
        TestResult::Error(it) => trouble(NonSuccessKind::Error, it),
    }
}

/// Text with its harmful characters as escapes. The last two characters of the plane are not allowed in XML
/// either, not even by number.
fn harmless(text: &str) -> String {
    clean::block(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn test(name: &str, result: TestResult) -> Test {
        Test {
            name: name.to_owned(),
            time: Duration::from_millis(1500),
            result,
        }
    }

    fn trouble(kind: &str, lines: &[&str]) -> Trouble {
        Trouble {
            kind: kind.to_owned(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    #[test]
    fn results_are_counted_and_their_text_is_escaped() {
        let tests = [
            test("run/a.culprit", TestResult::Passed),
            test("b", TestResult::Skipped("nothing observed".to_owned())),
            test(
                "c",
                TestResult::Failure(trouble("unsupported", &["a <clinit> & more", "  next: x"])),
            ),
            test(
                "d",
                TestResult::Error(trouble("JVM died", &["ended", "  \u{1b}[31m\"x\""])),
            ),
        ];
        insta::assert_snapshot!(xml("culprit replay", "culprit.replay", &tests), @r##"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="culprit replay" tests="4" skipped="1" failures="1" errors="1">
            <testsuite name="culprit replay" tests="4" skipped="1" errors="1" failures="1" time="6.000">
                <testcase name="run/a.culprit" classname="culprit.replay" time="1.500"/>
                <testcase name="b" classname="culprit.replay" time="1.500">
                    <skipped message="nothing observed"/>
                </testcase>
                <testcase name="c" classname="culprit.replay" time="1.500">
                    <failure message="a &lt;clinit&gt; &amp; more" type="unsupported">a &lt;clinit&gt; &amp; more
          next: x</failure>
                </testcase>
                <testcase name="d" classname="culprit.replay" time="1.500">
                    <error message="ended" type="JVM died">ended
          \u001b[31m&quot;x&quot;</error>
                </testcase>
            </testsuite>
        </testsuites>
        "##);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_document_that_can_be_read(text in any::<String>()) {
            let tests = [
                test(&text, TestResult::Passed),
                test("a", TestResult::Skipped(text.clone())),
                test("b", TestResult::Failure(trouble(&text, &[&text]))),
            ];
            let xml = xml(&text, &text, &tests);
            let is_bad = |c| c != '\n' && c != '\t' && clean::is_harmful(c);
            prop_assert!(!xml.contains(is_bad));
            let read = Report::deserialize_from_str(&xml).unwrap();
            prop_assert_eq!((read.tests, read.failures, read.skipped), (3, 1, 1));
            let cases = &read.test_suites[0].test_cases;
            prop_assert_eq!(cases[0].name.as_str(), harmless(&text));
        }
    }
}
