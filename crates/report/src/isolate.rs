//! The results of `culprit isolate`, and the parts that the reports on inputs and on changes share.

pub mod changes;
mod comparison;
pub mod input;
mod search;

use std::time::Duration;

use culprit_reduce::{SearchEnd, VerdictKind};
use serde::{Deserialize, Serialize};

use crate::figure;

/// The verdict on a candidate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Verdict {
    /// The failure does not occur.
    #[serde(rename = "passes")]
    Passes,
    /// The failure occurs.
    #[serde(rename = "fails")]
    Fails,
    /// The test did neither: it failed in another way, or did not run.
    #[serde(rename = "has no verdict")]
    Unresolved,
}

impl From<VerdictKind> for Verdict {
    fn from(kind: VerdictKind) -> Verdict {
        match kind {
            VerdictKind::Pass => Verdict::Passes,
            VerdictKind::Fail => Verdict::Fails,
            VerdictKind::Unresolved => Verdict::Unresolved,
        }
    }
}

impl Verdict {
    /// The verdict as the end of a sentence.
    fn words(self) -> &'static str {
        match self {
            Verdict::Passes => "passes",
            Verdict::Fails => "fails",
            Verdict::Unresolved => "has no verdict",
        }
    }
}

/// The share of runs that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Rate {
    /// Runs that failed.
    pub failed: u32,
    /// All runs.
    pub of: u32,
}

impl From<culprit_isolate::Rate> for Rate {
    fn from(rate: culprit_isolate::Rate) -> Rate {
        Rate {
            failed: rate.failed,
            of: rate.of,
        }
    }
}

/// A text in lines that fit a terminal of so many columns; one line if that is not known.
fn within(text: &str, indent: &str, columns: Option<usize>) -> String {
    let text = format!("{indent}{text}");
    match columns {
        Some(columns) => figure::wrap_words(&text, &format!("{indent}  "), columns).join("\n"),
        None => text,
    }
}

/// Why a result may not be minimal, and how to go on; `None` if the search ran to its end.
fn early_end(end: SearchEnd) -> Option<&'static str> {
    Some(match end {
        SearchEnd::Minimal => return None,
        SearchEnd::Tests => "may not be minimal: --max-tests was reached",
        SearchEnd::Time => "may not be minimal: --max-time was reached",
        SearchEnd::Cancelled => "may not be minimal: interrupted",
    })
}

/// A duration in seconds, with so many digits behind the point.
fn seconds(time: Duration, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (time.as_secs_f64() * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_fits_the_terminal_and_is_one_line_elsewhere() {
        let text = "word ".repeat(30);
        let text = text.trim_end();
        assert_eq!(within(text, "", None), text);
        let wrapped = within(text, "  ", Some(80));
        assert!(wrapped.lines().all(|line| line.len() <= 80), "{wrapped}");
        assert!(
            wrapped.starts_with("  word") && wrapped.contains("\n    word"),
            "{wrapped}"
        );
    }
}
