//! `make study-changes`: see `docs/studies/changes.md`.

use std::path::PathBuf;

use clap::Parser;

/// Isolates changes of made-up and of real programs
#[derive(Parser, Debug)]
struct Args {
    /// The executable to isolate with
    #[arg(long, value_name = "FILE")]
    culprit: PathBuf,
    /// Where to work and to leave the results
    #[arg(long, value_name = "DIR")]
    place: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    studies::changes::made::write(&args.place.join("old"), &args.place.join("new"), 66)?;
    Ok(())
}
