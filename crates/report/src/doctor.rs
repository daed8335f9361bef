//! The result of `culprit doctor`: findings about the machine, as text and JSON.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::document::{Content, Document};
use crate::figure::{COLUMNS, wrap_words};
use crate::style::Styles;

/// Columns before a finding, for the word.
const INDENT: &str = "      ";

/// The findings about the machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoctorDocument {
    /// The version of Culprit.
    pub culprit: String,
    /// Whether nothing is missing.
    pub fine: bool,
    /// The findings.
    pub findings: Vec<Finding>,
}

/// A finding about the machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// The examined part of the machine.
    pub name: String,
    /// Its state.
    pub health: Health,
    /// A description.
    pub found: String,
    /// The remedy, if there is one.
    pub mend: Option<String>,
}

/// The state of a part of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Health {
    /// Fine.
    #[serde(rename = "ok")]
    Fine,
    /// Fine, but could be better.
    #[serde(rename = "note")]
    Note,
    /// Something is missing that limits Culprit.
    #[serde(rename = "wrong")]
    Problem,
}

impl Content for DoctorDocument {
    const NAME: &'static str = "doctor";
}

impl Finding {
    /// A part of the machine that is fine.
    pub fn fine(name: impl Into<String>, found: impl Into<String>) -> Finding {
        Finding {
            name: name.into(),
            health: Health::Fine,
            found: found.into(),
            mend: None,
        }
    }

    /// The same, but it could be better.
    pub fn note(self, mend: impl Into<String>) -> Finding {
        Finding {
            health: Health::Note,
            mend: Some(mend.into()),
            ..self
        }
    }

    /// The same, but something is missing.
    pub fn problem(self, mend: impl Into<String>) -> Finding {
        Finding {
            health: Health::Problem,
            mend: Some(mend.into()),
            ..self
        }
    }

    /// Whether something is missing.
    pub fn is_problem(&self) -> bool {
        self.health == Health::Problem
    }
}

impl Health {
    /// The word before a finding.
    fn word(self) -> &'static str {
        match self {
            Health::Fine => "ok",
            Health::Note => "note",
            Health::Problem => "wrong",
        }
    }
}

/// The document of `--json`.
pub fn document(findings: &[Finding]) -> Document<DoctorDocument> {
    Document::new(DoctorDocument {
        culprit: env!("CARGO_PKG_VERSION").to_owned(),
        fine: !findings.iter().any(Finding::is_problem),
        findings: findings.to_vec(),
    })
}

/// The findings for a terminal.
pub fn text(findings: &[Finding], styles: Styles) -> String {
    let mut out = String::new();
    for finding in findings {
        let style = match finding.health {
            Health::Fine => styles.dim,
            Health::Note => styles.warn,
            Health::Problem => styles.bad,
        };
        let word = finding.health.word();
        let text = format!("{}: {}", finding.name, finding.found);
        let width = COLUMNS - INDENT.len();
        let lines = wrap_words(&text, "  ", width).join(&format!("\n{INDENT}"));
        // Writing to a text cannot fail.
        let _ = writeln!(out, "{style}{word:<5}{style:#} {lines}");
        if let Some(mend) = &finding.mend {
            let lines = wrap_words(mend, "", width - 2).join(&format!("\n{INDENT}  "));
            let _ = writeln!(out, "{INDENT}  {lines}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::conforming;

    fn some() -> Vec<Finding> {
        let found = "a rather long text of what was found, which does not fit a line".repeat(2);
        let mend = "do this and that, and many other things besides, until it is fine".repeat(2);
        vec![
            Finding {
                name: "kernel".to_owned(),
                health: Health::Fine,
                found: "Linux 6.18.0".to_owned(),
                mend: None,
            },
            Finding {
                name: "sandbox".to_owned(),
                health: Health::Problem,
                found,
                mend: Some(mend),
            },
        ]
    }

    #[test]
    fn lines_fit_a_terminal() {
        let text = text(&some(), Styles::plain());
        assert!(text.lines().all(|line| line.len() <= COLUMNS), "{text}");
        let begin = "ok    kernel: Linux 6.18.0\nwrong sandbox: a";
        assert!(text.starts_with(begin), "{text}");
    }

    #[test]
    fn the_document_has_a_version_and_all_findings() {
        let document = conforming::<DoctorDocument>(&document(&some()).json()).unwrap();
        assert_eq!(document["version"], 1);
        assert_eq!(document["fine"], false);
        assert_eq!(document["findings"][0]["health"], "ok");
        assert_eq!(document["findings"][1]["name"], "sandbox");
    }
}
