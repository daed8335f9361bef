//! Several replays as a table: a row for each as soon as it is known, then the number of each verdict.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use culprit_model::{clean, shell};

use super::{Case, Verdict};
use crate::figure::{COLUMNS, clipped, counted, cut, duration, grouped};
use crate::style::Styles;

/// The widest name of a file.
const WIDEST: usize = 40;

/// Prints the rows of a table with aligned columns.
pub struct ReplayTable {
    width: usize,
    styles: Styles,
}

impl ReplayTable {
    /// A table that has room for the names of these recordings.
    pub fn new(paths: &[PathBuf], styles: Styles) -> ReplayTable {
        let widest = paths.iter().map(|path| shown(path).chars().count()).max();
        ReplayTable {
            width: widest.unwrap_or_default().clamp(4, WIDEST),
            styles,
        }
    }

    /// Prints the names of the columns.
    pub fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        let (dim, width) = (self.styles.dim, self.width);
        writeln!(
            out,
            "  {dim}{:<width$}{:>13}{:>10}  result{dim:#}",
            "file", "events", "time"
        )?;
        out.flush()
    }

    /// Prints the row of a recording.
    pub fn row(&self, case: &Case, out: &mut dyn Write) -> io::Result<()> {
        let (styles, width) = (self.styles, self.width);
        let style = match case.verdict {
            Verdict::InSync { .. } => styles.value,
            Verdict::Nothing => styles.dim,
            _ => styles.bad,
        };
        let took = match case.took_ms() {
            0 => "-".to_owned(),
            ms => duration(ms),
        };
        let room = COLUMNS - 2 - width - 13 - 10 - 2;
        writeln!(
            out,
            "  {:<width$}{:>13}{took:>10}  {style}{}{style:#}",
            clipped(&shown(&case.path), width),
            grouped(case.facts.events),
            cut(&result(&case.verdict), room.max(20)),
        )?;
        out.flush()
    }

    /// Prints the changed classes, the number of each verdict, and the command that explains the first recording
    /// that is not in sync.
    pub fn summary(&self, cases: &[Case], out: &mut dyn Write) -> io::Result<()> {
        let strong = self.styles.strong;
        let mut versions = cases.iter().filter_map(|case| case.against.clone());
        if let Some(mut all) = versions.next() {
            versions.for_each(|other| all.add(&other));
            for line in all.summary().into_iter().chain(all.details()) {
                writeln!(out, "{line}")?;
            }
        }
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for case in cases {
            *counts.entry(case.verdict.name()).or_default() += 1;
        }
        let parts: Vec<String> = counts
            .iter()
            .map(|(name, count)| format!("{} {name}", grouped(*count)))
            .collect();
        let all = counted(cases.len() as u64, "recording");
        writeln!(out, "{all}: {}", parts.join(", "))?;
        let first = cases
            .iter()
            .find(|case| case.is_of_interest() && !matches!(case.verdict, Verdict::InSync { .. }));
        if let Some(case) = first {
            let words = ["culprit".as_ref(), "replay".as_ref(), case.path.as_os_str()];
            let command = shell::line(words);
            writeln!(out, "Explain one: {strong}{command}{strong:#}")?;
        }
        Ok(())
    }
}

/// A verdict, with the details that fit beside it.
fn result(verdict: &Verdict) -> String {
    match verdict {
        Verdict::OutOfSync { differences, .. } => {
            let first = differences.first().map_or(0, |first| first.event);
            format!("out of sync at event {}", grouped(first))
        }
        Verdict::Refused { why, .. } => format!("refused: {}", clean::line(&why.join("; "))),
        other => other.name().to_owned(),
    }
}

/// The end of a path, which distinguishes recordings.
fn shown(path: &Path) -> String {
    let parent = path.parent().and_then(Path::file_name);
    let name = path.file_name().unwrap_or_default();
    let short = parent.map_or_else(
        || PathBuf::from(name),
        |parent| Path::new(parent).join(name),
    );
    clean::path(&short)
}
