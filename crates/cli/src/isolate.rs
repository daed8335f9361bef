//! `culprit isolate`: the difference between what passes and what fails that decides.

mod changes;
mod input;
mod options;
mod page;
mod results;

use clap::Subcommand;

use crate::console::Console;
use crate::exit::ExitCode;

/// Options of `culprit isolate`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Find what of an input makes a test fail
    Input(input::Args),
    /// Find which changes between two versions of a program make a test fail
    Changes(changes::Args),
}

pub(crate) fn run(args: &Args, console: &mut Console) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::Input(args) => input::run(args, console),
        What::Changes(args) => changes::run(args, console),
    }
}
