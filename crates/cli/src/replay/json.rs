//! The document of `culprit replay --json`: made of the results.

use culprit_jvm::Unresolved;
use culprit_replay::Severity;
use culprit_report::Document;
use culprit_report::replay::{self as document, Outcome, ReplayDocument, Replayed};

use super::case::{Case, Verdict, Went};
use super::coverage;
use super::explain::Difference;
use super::versions::Versions;

/// The document about these recordings.
pub(crate) fn document(cases: &[Case]) -> Document<ReplayDocument> {
    Document::new(ReplayDocument {
        recordings: cases.iter().map(replayed).collect(),
        coverage: coverage::of_all(cases).as_ref().map(coverage::document),
    })
}

fn replayed(case: &Case) -> Replayed {
    let findings = case
        .findings
        .iter()
        .map(|(severity, text)| document::Finding {
            severity: match severity {
                Severity::Refuse => document::Severity::Refuse,
                Severity::Warn => document::Severity::Warn,
                Severity::Note => document::Severity::Note,
            },
            text: text.clone(),
        });
    Replayed {
        path: case.path.display().to_string(),
        outcome: outcome(&case.verdict),
        events: case.facts.events,
        classes: case.facts.classes,
        threads: case.facts.threads,
        recorded_ms: case.facts.recorded_ms,
        replayed_ms: case.took_ms(),
        findings: findings.collect(),
        against: case.against.as_ref().map(Versions::document),
        coverage: case.coverage.as_ref().map(coverage::document),
        crash_report: case.crash.as_ref().map(|path| path.display().to_string()),
        next: case.verdict.next_step(),
    }
}

fn outcome(verdict: &Verdict) -> Outcome {
    match verdict {
        Verdict::InSync { steps, open_calls } => Outcome::InSync {
            steps: *steps,
            open_calls: *open_calls,
        },
        Verdict::OutOfSync { differences, went } => Outcome::OutOfSync {
            // The first one has a field of its own: most replays have no other.
            difference: differences.first().map(|it| Box::new(it.document())),
            differences: differences.iter().map(Difference::document).collect(),
            went: match went {
                Went::First => document::Went::ToFirst,
                Went::End => document::Went::ToEnd,
                Went::Last => document::Went::ToLast,
            },
        },
        Verdict::Unsupported(why) => Outcome::Unsupported { why: why.clone() },
        Verdict::Lost(unresolved) => {
            let lost = document::Lost {
                why: unresolved.to_string(),
                output: unresolved.output().map(str::to_owned),
            };
            match unresolved {
                Unresolved::TimeLimit(_) => Outcome::TimeLimit(lost),
                Unresolved::OutOfMemory { .. } => Outcome::OutOfMemory(lost),
                Unresolved::Exceeded(_) => Outcome::LimitExceeded(lost),
                _ => Outcome::JvmDied(lost),
            }
        }
        Verdict::Nothing => Outcome::NothingObserved {},
        Verdict::Refused { why, .. } => Outcome::Refused {
            why: why.join("; "),
        },
        Verdict::Unreadable { why, .. } => Outcome::Unreadable { why: why.clone() },
        Verdict::NotStarted { why, .. } => Outcome::NoJvm { why: why.clone() },
        Verdict::BadClasses { why, .. } => Outcome::BadClasses { why: why.clone() },
        Verdict::Fault(why) => Outcome::Defect { why: why.clone() },
    }
}
