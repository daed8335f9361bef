//! Replays as one JSON document.

use std::io::{self, Write};

use culprit_jvm::Unresolved;
use culprit_replay::Severity;
use serde_json::{Value as Json, json};

use super::case::{Case, Verdict, Went};
use super::coverage;
use super::explain::Difference;
use super::versions::Versions;

/// Rises when a field changes its meaning or goes away.
const VERSION: u32 = 1;

pub(crate) fn print(cases: &[Case], out: &mut dyn Write) -> io::Result<()> {
    let document = json!({
        "document": "replay",
        "version": VERSION,
        "recordings": cases.iter().map(case).collect::<Vec<_>>(),
        "coverage": coverage::of_all(cases).as_ref().map(coverage::json),
    });
    writeln!(out, "{document:#}")
}

fn case(case: &Case) -> Json {
    let mut object = json!({
        "path": case.path.display().to_string(),
        "result": case.verdict.name().replace(' ', "-").to_lowercase(),
        "events": case.facts.events,
        "classes": case.facts.classes,
        "threads": case.facts.threads,
        "recorded_ms": case.facts.recorded_ms,
        "replayed_ms": case.took_ms(),
        "findings": case.findings.iter().map(|(severity, text)| json!({
            "severity": match severity {
                Severity::Refuse => "refuse",
                Severity::Warn => "warn",
                Severity::Note => "note",
            },
            "text": text,
        })).collect::<Vec<_>>(),
        "against": case.against.as_ref().map(Versions::json),
        "coverage": case.coverage.as_ref().map(coverage::json),
        "crash_report": case.crash.as_ref().map(|path| path.display().to_string()),
        "next": case.verdict.next_step(),
    });
    match &case.verdict {
        Verdict::InSync { steps, open_calls } => {
            object["steps"] = json!(steps);
            object["open_calls"] = json!(open_calls);
        }
        Verdict::OutOfSync { differences, went } => {
            // The first one has a name of its own: most have no other.
            object["difference"] = differences.first().map_or(Json::Null, Difference::json);
            object["differences"] = differences.iter().map(Difference::json).collect();
            object["went"] = json!(match went {
                Went::First => "to-first",
                Went::End => "to-end",
                Went::Last => "to-last",
            });
        }
        Verdict::Unsupported(why) | Verdict::Fault(why) => object["why"] = json!(why),
        Verdict::Lost(unresolved) => {
            object["why"] = json!(unresolved.to_string());
            object["output"] = json!(output(unresolved));
        }
        Verdict::Refused { why, .. } => object["why"] = json!(why.join("; ")),
        Verdict::Unreadable { why, .. }
        | Verdict::NotStarted { why, .. }
        | Verdict::BadClasses { why, .. } => object["why"] = json!(why),
        Verdict::Nothing => {}
    }
    object
}

fn output(unresolved: &Unresolved) -> Option<&str> {
    unresolved.output()
}
