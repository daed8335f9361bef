//! Chores of the project: `cargo run -p xtask -- CHORE`.
#![forbid(unsafe_code)]

mod direction;
mod process;
mod runtime;
mod supply;
mod tidy;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo run -p xtask -- CHORE
  direction  check that dependencies point the right way
  supply     check where the crates of others come from, and under which licences
  tidy       check what the compiler cannot: file heads, paths in documents, classes
  runtime    compile the injected Java classes anew";

#[expect(clippy::print_stderr, reason = "a chore speaks to a terminal only")]
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let root = root();
    let done = match words.as_slice() {
        ["direction"] => direction::check(&root),
        ["supply"] => supply::check(&root),
        ["tidy"] => tidy::check(&root),
        ["runtime"] => runtime::refresh(&root),
        _ => Err(anyhow::anyhow!("{USAGE}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
