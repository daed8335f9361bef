//! `culprit show`: not written yet.

use std::path::PathBuf;

use crate::console::Console;
use crate::exit::{ExitCode, Expected};

/// Options of `culprit show`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A run folder or a recording
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

pub(crate) fn run(args: &Args, _console: &mut Console) -> anyhow::Result<ExitCode> {
    let message = format!("cannot show {} yet", args.path.display());
    Err(Expected::new(ExitCode::Usage, message).into())
}
