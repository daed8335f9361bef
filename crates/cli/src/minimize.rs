//! `culprit minimize`: from a recording of a failure to the few calls that make it fail.

use std::path::PathBuf;

use culprit_minimize::extract;
use culprit_trace::Recording;

use crate::console::Console;
use crate::exit::{ExitCode, Expected};

/// Options of `culprit minimize`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A recording
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    let recording = Recording::open(&args.path)?;
    let failure = recording
        .failures()
        .last()
        .ok_or_else(|| Expected::new(ExitCode::Recording, "the recorded program did not fail"))?;
    let script = extract(&recording, failure)?;
    writeln!(console.out(), "{}", script.scenario())?;
    Ok(ExitCode::Answered)
}
