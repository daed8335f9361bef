//! `culprit doctor`: what this machine offers to Culprit, and how to mend what is missing.
//!
//! `facts` looks at the machine, `findings` judges what it saw: the judgement is tested without a machine.

mod facts;
mod findings;

use culprit_report::doctor::{self, Finding};

use crate::console::Console;
use crate::exit::ExitCode;
use facts::Facts;
use findings::findings;

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

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let found = findings(&Facts::of_this_machine());
    match args.json {
        true => write!(console.out(), "{}", doctor::document(&found).json())?,
        false => {
            let text = doctor::text(&found, console.styles());
            write!(console.out(), "{text}")?;
        }
    }
    Ok(match found.iter().any(Finding::is_problem) {
        true => ExitCode::No,
        false => ExitCode::Answered,
    })
}
