//! Replays as JUnit XML: each recording is a test.

use culprit_model::clean;

use super::{Case, Verdict};
use crate::junit::{self, Test, TestResult, Trouble};

/// The results of replays as JUnit XML.
pub fn junit_xml(cases: &[Case]) -> String {
    let tests: Vec<Test> = cases.iter().map(test).collect();
    junit::xml("culprit replay", "culprit.replay", &tests)
}

fn test(case: &Case) -> Test {
    let trouble = || Trouble {
        kind: case.verdict.name().to_owned(),
        lines: case.lines(),
    };
    Test {
        name: clean::path(&case.path),
        time: case.took,
        result: match case.verdict {
            Verdict::InSync { .. } => TestResult::Passed,
            Verdict::Nothing => TestResult::Skipped(case.verdict.name().to_owned()),
            Verdict::OutOfSync { .. } | Verdict::Unsupported(_) => TestResult::Failure(trouble()),
            Verdict::Lost(_)
            | Verdict::NotStarted { .. }
            | Verdict::BadClasses { .. }
            | Verdict::Refused { .. }
            | Verdict::Unreadable { .. }
            | Verdict::Fault(_) => TestResult::Error(trouble()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use culprit_jvm::{Status, Unresolved};

    use super::*;
    use crate::replay::Facts;

    #[test]
    fn a_no_is_a_failure_and_no_answer_is_an_error() {
        let result = |verdict| test(&Case::new(Path::new("a"), Facts::default(), verdict)).result;
        let in_sync = Verdict::InSync {
            steps: 3,
            open_calls: 0,
        };
        assert_eq!(result(in_sync), TestResult::Passed);
        let skipped = TestResult::Skipped("nothing observed".to_owned());
        assert_eq!(result(Verdict::Nothing), skipped);
        let TestResult::Failure(no) = result(Verdict::Unsupported("a native".to_owned())) else {
            panic!("a failure");
        };
        assert_eq!(no.kind, "unsupported");
        assert_eq!(no.lines[0], "Not supported yet: a native");
        let died = Verdict::Lost(Unresolved::Died {
            status: Status::Exited(1),
            output: "words".to_owned(),
        });
        let TestResult::Error(none) = result(died) else {
            panic!("an error");
        };
        assert_eq!(
            (none.kind.as_str(), none.lines[1].as_str()),
            ("JVM died", "  words")
        );
    }
}
