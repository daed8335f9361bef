//! `culprit doctor`: what this machine offers to Culprit, and how to mend what is missing.
//!
//! `facts` looks at the machine, `findings` judges what it saw: the judgement is tested without a machine.

mod facts;
mod findings;

use std::io;

use serde_json::json;

use crate::console::Console;
use crate::exit::{COLUMNS, ExitCode};
use culprit_report::figure;
use facts::Facts;
use findings::{Finding, Health, findings};

/// Options of `culprit doctor`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the findings as one JSON document
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  culprit doctor
  culprit doctor --json
Each JDK is started for a moment with the agent, in the sandbox. Nothing is
changed, except that the agent is unpacked into the cache folder.

Exit codes:
  0    everything is fine (lines with `note` say what could be better)
  1    something is missing (lines with `wrong` say how to fix it)";

/// Columns of the words in front of a finding.
const INDENT: &str = "      ";

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let found = findings(&Facts::of_this_machine());
    match args.json {
        true => writeln!(console.out(), "{:#}", as_json(&found))?,
        false => print(&found, console)?,
    }
    Ok(match found.iter().any(Finding::is_problem) {
        true => ExitCode::No,
        false => ExitCode::Answered,
    })
}

fn as_json(found: &[Finding]) -> serde_json::Value {
    let findings = found.iter().map(|finding| {
        json!({
            "name": finding.name,
            "health": finding.health.word(),
            "found": finding.found,
            "mend": finding.mend,
        })
    });
    json!({
        "version": 1,
        "culprit": env!("CARGO_PKG_VERSION"),
        "fine": !found.iter().any(Finding::is_problem),
        "findings": findings.collect::<Vec<_>>(),
    })
}

fn print(found: &[Finding], console: &mut Console) -> io::Result<()> {
    let styles = console.styles();
    for finding in found {
        let style = match finding.health {
            Health::Fine => styles.dim,
            Health::Note => styles.warn,
            Health::Problem => styles.bad,
        };
        let word = finding.health.word();
        let text = format!("{}: {}", finding.name, finding.found);
        let width = COLUMNS - INDENT.len();
        let lines = figure::wrap_words(&text, "  ", width).join(&format!("\n{INDENT}"));
        writeln!(console.out(), "{style}{word:<5}{style:#} {lines}")?;
        if let Some(mend) = &finding.mend {
            let lines = figure::wrap_words(mend, "", width - 2);
            let lines = lines.join(&format!("\n{INDENT}  "));
            writeln!(console.out(), "{INDENT}  {lines}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Vec<Finding> {
        vec![
            Finding::fine("kernel", "Linux 6.18.0"),
            Finding {
                name: "sandbox".to_owned(),
                health: Health::Problem,
                found: "a rather long text of what was found, which does not fit a line".repeat(2),
                mend: Some(
                    "do this and that, and many other things besides, until it is fine".repeat(2),
                ),
            },
        ]
    }

    #[test]
    fn lines_fit_a_terminal() {
        let mut console = Console::kept();
        print(&some(), &mut console).unwrap();
        let text = console.kept_text().0;
        assert!(text.lines().all(|line| line.len() <= COLUMNS), "{text}");
        assert!(
            text.starts_with("ok    kernel: Linux 6.18.0\nwrong sandbox: a"),
            "{text}"
        );
    }

    #[test]
    fn the_document_has_a_version_and_all_findings() {
        let document = as_json(&some());
        assert_eq!(document["version"], 1);
        assert_eq!(document["fine"], false);
        assert_eq!(document["findings"][0]["health"], "ok");
        assert_eq!(document["findings"][1]["name"], "sandbox");
    }
}
