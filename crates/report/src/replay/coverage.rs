//! The lines that replays ran, as text and as a part of the document.

use std::io::{self, Write};

use culprit_model::clean;
use culprit_replay::Coverage;

use super::{self as document, Case};
use crate::figure::{COLUMNS, clipped, grouped, wrap};
use crate::place::dotted;
use crate::style::Styles;

/// Columns of the figures, and of the margin before the names.
const FIGURES: usize = 14 + 6;
const MARGIN: usize = 2;
/// Columns before the lines that were not run.
const INDENT: usize = 4;
const NOT_RUN: &str = "not run: ";

/// The lines that all replays together ran, or `None` if they were not counted.
pub fn total_coverage(cases: &[Case]) -> Option<Coverage> {
    let mut counted = cases.iter().filter_map(|case| case.coverage.as_ref());
    let mut all = counted.next()?.clone();
    counted.for_each(|other| all.add(other));
    Some(all)
}

/// Prints the lines of each class that were run, and those that were not.
pub fn print_coverage(coverage: &Coverage, styles: Styles, out: &mut dyn Write) -> io::Result<()> {
    let width = width(coverage);
    let (dim, strong) = (styles.dim, styles.strong);
    writeln!(out)?;
    writeln!(
        out,
        "{strong}Lines run: {} of {}{strong:#}, {}",
        grouped(coverage.run() as u64),
        grouped(coverage.total() as u64),
        percent(coverage.run(), coverage.total())
    )?;
    let head = format!("{:MARGIN$}{:<width$}{:>14}{:>6}", "", "class", "lines", "");
    writeln!(out, "{dim}{}{dim:#}", head.trim_end())?;
    for (class, lines) in coverage.classes() {
        let name = clipped(&clean::line(&dotted(class)), width);
        let figures = format!("{}/{}", lines.run(), lines.total());
        let share = percent(lines.run(), lines.total());
        writeln!(out, "{:MARGIN$}{name:<width$}{figures:>14}{share:>6}", "")?;
        let mut label = NOT_RUN;
        for line in stretches(&lines.not_run()) {
            let indent = NOT_RUN.len();
            writeln!(out, "{:INDENT$}{dim}{label:<indent$}{line}{dim:#}", "")?;
            label = "";
        }
    }
    Ok(())
}

/// The lines for programs.
pub(super) fn document(coverage: &Coverage) -> document::Coverage {
    let classes = coverage
        .classes()
        .map(|(class, lines)| document::ClassCoverage {
            class: dotted(class),
            run: lines.run(),
            total: lines.total(),
            not_run: lines.not_run(),
            counts: lines
                .counts
                .iter()
                .map(|(line, count)| (*line, *count))
                .collect(),
        });
    document::Coverage {
        run: coverage.run(),
        total: coverage.total(),
        classes: classes.collect(),
    }
}

fn width(coverage: &Coverage) -> usize {
    let names = coverage.classes().map(|(class, _)| class.chars().count());
    names
        .max()
        .unwrap_or_default()
        .clamp(5, COLUMNS - FIGURES - MARGIN)
}

/// The share of lines that were run, rounded down, so that 100% means all of them.
fn percent(run: usize, total: usize) -> String {
    match total {
        // A class that was compiled without line numbers, or has no code.
        0 => "-".to_owned(),
        _ => format!("{}%", run * 100 / total),
    }
}

/// `3-5, 9`, in as many lines as that takes.
fn stretches(not_run: &[(u16, u16)]) -> Vec<String> {
    let texts: Vec<String> = not_run
        .iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    match texts.is_empty() {
        true => Vec::new(),
        false => wrap(&texts.join(", "), COLUMNS - INDENT - NOT_RUN.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_only_what_is_all() {
        for (run, total, expect) in [
            (0, 0, "-"),
            (0, 3, "0%"),
            (999, 1000, "99%"),
            (2, 2, "100%"),
        ] {
            assert_eq!(percent(run, total), expect);
        }
    }

    #[test]
    fn stretches_fit_on_the_screen() {
        assert!(stretches(&[]).is_empty());
        assert_eq!(stretches(&[(3, 5), (9, 9)]), ["3-5, 9"]);
        let many: Vec<(u16, u16)> = (0..60).map(|n| (n * 1000, n * 1000 + 4)).collect();
        let lines = stretches(&many);
        assert!(lines.len() > 5);
        assert!(lines.iter().all(|line| line.len() <= 67), "{lines:?}");
    }
}
