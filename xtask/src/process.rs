//! Running the tools that chores need.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

/// Runs a tool in `folder` and returns what it printed; its complaints are the error.
#[expect(
    clippy::disallowed_methods,
    reason = "a chore runs build tools, not targets"
)]
pub(crate) fn output<W: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    words: impl IntoIterator<Item = W>,
    folder: &Path,
) -> anyhow::Result<String> {
    let name = program.as_ref().to_string_lossy().into_owned();
    let output = Command::new(program)
        .args(words)
        .current_dir(folder)
        .output()
        .with_context(|| format!("cannot start {name}"))?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name}: {complaints}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
