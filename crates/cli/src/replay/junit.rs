//! The file of `--junit`.

use std::fs;
use std::io;
use std::path::Path;

use culprit_report::replay::{Case, junit_xml};

/// Writes the file.
pub(crate) fn write(file: &Path, cases: &[Case]) -> io::Result<()> {
    fs::write(file, junit_xml(cases))
}

/// Fails if the file cannot be written, before anything takes long. An existing file is not changed.
pub(crate) fn try_out(file: &Path) -> io::Result<()> {
    let is_new = !file.exists();
    fs::File::options().create(true).append(true).open(file)?;
    match is_new {
        true => fs::remove_file(file),
        false => Ok(()),
    }
}
