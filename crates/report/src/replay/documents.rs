//! The JSON document of replays.

use culprit_jvm::Unresolved;
use culprit_replay::Severity;

use super::comparison::Comparison;
use super::{self as document, Case, Outcome, ReplayDocument, Replayed, Verdict, coverage};
use crate::document::Document;

/// The document about these recordings.
pub fn document(cases: &[Case]) -> Document<ReplayDocument> {
    Document::new(ReplayDocument {
        recordings: cases.iter().map(replayed).collect(),
        coverage: coverage::total_coverage(cases)
            .as_ref()
            .map(coverage::document),
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
        against: case.against.as_ref().map(Comparison::document),
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
            difference: differences.first().map(|it| Box::new(it.clone())),
            differences: differences.clone(),
            went: *went,
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
