//! `culprit record --suggest`: proposed borders as a table or as JSON.
//!
//! The agents count calls between classes and leave them in the folder of the run, as
//! `jvm-PID.coupling`. `culprit_suggest` computes the borders from the counts, `culprit_report` renders
//! them; this module reads the files and prints the result: as a table on stderr, like all messages of
//! `culprit record`, or as one line of JSON on stdout.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use culprit_model::Selection;
use culprit_report::suggest::SuggestionReport;
use culprit_suggest::Suggestions;
use culprit_trace::{COUPLING_EXTENSION, Coupling};

use super::aftermath;
use crate::console::Console;

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Table,
    Json,
}

/// Reads the counts in the folder of a run and computes the proposals.
pub(crate) fn find<'a>(
    folder: &Path,
    selection: &'a Selection,
    command: &'a [OsString],
    console: &mut Console,
) -> io::Result<SuggestionReport<'a>> {
    let mut couplings: Vec<Coupling> = Vec::new();
    for file in aftermath::files_with(folder, COUPLING_EXTENSION)? {
        match fs::read_to_string(&file)?.parse() {
            Ok(coupling) => couplings.push(coupling),
            Err(error) => {
                aftermath::warn(console, &format!("{}: {error}", file.display()))?;
            }
        }
    }
    Ok(SuggestionReport {
        found: Suggestions::of(&couplings, selection),
        selection,
        command,
    })
}

/// Prints the proposals, or nothing if no JVM was counted.
pub(crate) fn print(
    report: &SuggestionReport<'_>,
    format: Format,
    console: &mut Console,
) -> io::Result<()> {
    if report.found.jvms == 0 {
        return Ok(());
    }
    match format {
        Format::Json => writeln!(console.out(), "{}", report.document().json_line()),
        Format::Table if report.found.is_empty() => {
            aftermath::warn(console, "no class of the program's own was loaded")?;
            let next = "  name the code of interest, such as --observe 'com.acme.**'";
            writeln!(console.err(), "{next}")
        }
        Format::Table => report.print(console.err_styles(), console.err()),
    }
}
