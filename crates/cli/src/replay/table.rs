//! Several replays: a row for each as soon as it is known, then how many came out how.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use culprit_model::{clean, shell};

use super::case::{Case, Verdict};
use super::explain::Difference;
use crate::console::Console;
use culprit_report::figure::{clipped, counted, cut, duration, grouped};

/// The widest name of a file.
const WIDEST: usize = 40;

/// Prints rows that line up.
pub(crate) struct Table {
    width: usize,
}

impl Table {
    pub(crate) fn new(paths: &[PathBuf]) -> Table {
        let widest = paths.iter().map(|path| shown(path).chars().count()).max();
        Table {
            width: widest.unwrap_or_default().clamp(4, WIDEST),
        }
    }

    pub(crate) fn head(&self, console: &mut Console) -> io::Result<()> {
        let (dim, width) = (console.styles().dim, self.width);
        writeln!(
            console.out(),
            "  {dim}{:<width$}{:>13}{:>10}  result{dim:#}",
            "file",
            "events",
            "time"
        )?;
        console.out().flush()
    }

    pub(crate) fn row(&self, case: &Case, console: &mut Console) -> io::Result<()> {
        let (styles, width) = (console.styles(), self.width);
        let style = match case.verdict {
            Verdict::InSync { .. } => styles.value,
            Verdict::Nothing => styles.dim,
            _ => styles.bad,
        };
        let took = match case.took_ms() {
            0 => "-".to_owned(),
            ms => duration(ms),
        };
        let room = 80 - 2 - width - 13 - 10 - 2;
        writeln!(
            console.out(),
            "  {:<width$}{:>13}{took:>10}  {style}{}{style:#}",
            clipped(&shown(&case.path), width),
            grouped(case.facts.events),
            cut(&result(&case.verdict), room.max(20)),
        )?;
        console.out().flush()
    }

    pub(crate) fn summary(&self, cases: &[Case], console: &mut Console) -> io::Result<()> {
        let strong = console.styles().strong;
        let mut versions = cases.iter().filter_map(|case| case.against.clone());
        if let Some(mut all) = versions.next() {
            versions.for_each(|other| all.add(&other));
            for line in all.lines() {
                writeln!(console.out(), "{line}")?;
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
        writeln!(console.out(), "{all}: {}", parts.join(", "))?;
        let first = cases
            .iter()
            .find(|case| case.is_of_interest() && !matches!(case.verdict, Verdict::InSync { .. }));
        if let Some(case) = first {
            let words = ["culprit".as_ref(), "replay".as_ref(), case.path.as_os_str()];
            let command = shell::line(words);
            writeln!(console.out(), "Explain one: {strong}{command}{strong:#}")?;
        }
        Ok(())
    }
}

/// A verdict with the little that fits beside it.
fn result(verdict: &Verdict) -> String {
    match verdict {
        Verdict::OutOfSync { differences, .. } => {
            let first = differences.first().map_or(0, Difference::at);
            format!("out of sync at event {}", grouped(first))
        }
        Verdict::Refused { why, .. } => format!("refused: {}", clean::line(&why.join("; "))),
        other => other.name().to_owned(),
    }
}

/// The end of a path, which tells recordings apart.
fn shown(path: &Path) -> String {
    let parent = path.parent().and_then(Path::file_name);
    let name = path.file_name().unwrap_or_default();
    let short = parent.map_or_else(
        || PathBuf::from(name),
        |parent| Path::new(parent).join(name),
    );
    clean::path(&short)
}
