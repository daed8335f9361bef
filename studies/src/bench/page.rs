//! The results as text and as JSON, and the place of the last table in the document.

use std::fmt::Write;

use anyhow::Context;
use serde_json::{Value, json};

use super::figures::{Aim, Row, median};
use super::results::Starts;
use super::subject::SUBJECTS;

/// A part of the document that the benchmark writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    Recording,
    Replay,
    Trace,
}

impl Section {
    /// The text before and after it.
    fn marks(self) -> [&'static str; 2] {
        match self {
            Section::Recording => ["<!-- results: begin -->", "<!-- results: end -->"],
            Section::Replay => ["<!-- replay: begin -->", "<!-- replay: end -->"],
            Section::Trace => ["<!-- trace: begin -->", "<!-- trace: end -->"],
        }
    }
}

/// Notes for the reader.
#[derive(Clone, PartialEq, Debug)]
pub struct Conditions {
    pub java: String,
    pub system: String,
    pub processors: usize,
    pub rounds: usize,
    pub minutes: f64,
}

/// The tables, as Markdown that is readable as it is.
pub fn text(
    rows: &[Row],
    aims: &[Aim],
    starts: &Starts,
    around: &Conditions,
) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    writeln!(
        out,
        "JDK {}, {}, {} processors; median of {} rounds; {:.0} minutes.\n",
        around.java, around.system, around.processors, around.rounds, around.minutes
    )?;
    let mut table = vec![
        [
            "subject", "tool", "observed", "wall", "cpu", "thread", "steady", "events", "ns/event",
            "B/event", "size",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    table.extend(rows.iter().map(cells));
    write(&mut out, &table)?;
    for row in rows {
        if let Some(trouble) = &row.trouble {
            let set = row.set.as_ref().map_or("", |set| set.label());
            writeln!(out, "\n{} {} {set}: {trouble}", row.subject, row.tool)?;
        }
    }
    writeln!(
        out,
        "\nStart-up: bare JVM {:.0} ms, with Culprit {:.0} ms (median of {}).\n",
        median(starts.plain.clone()) * 1e3,
        median(starts.culprit.clone()) * 1e3,
        starts.plain.len()
    )?;
    let mut table = vec![
        ["aim", "at most", "measured", "by thread", "", "SCARPE"]
            .map(str::to_owned)
            .to_vec(),
    ];
    table.extend(aims.iter().map(|aim| {
        let value =
            |it: Option<f64>| it.map_or(String::new(), |it| format!("{it:.1} {}", aim.unit));
        vec![
            aim.what.to_owned(),
            format!("{} {}", aim.most, aim.unit),
            value(aim.got),
            value(aim.by_thread),
            if aim.is_met() { "hit" } else { "MISS" }.to_owned(),
            aim.scarpe.to_owned(),
        ]
    }));
    write(&mut out, &table)?;
    Ok(out)
}

fn cells(row: &Row) -> Vec<String> {
    let ratio = |it: f64| format!("{it:.2}");
    let number = |it: Option<f64>| it.map_or(String::new(), |it| format!("{it:.1}"));
    let recorded = row.events > 0;
    let library = SUBJECTS
        .iter()
        .find(|subject| subject.name == row.subject)
        .map(|subject| subject.short_library());
    let observed = match &row.set {
        None => library.unwrap_or_default(),
        Some(set) => set.label().to_owned(),
    };
    let mut cells = vec![row.subject.to_owned(), row.tool.to_owned(), observed];
    if row.set.is_none() {
        cells.push(format!("{:.2} s", row.wall));
        cells.extend(["".to_owned(), format!("{:.2} s", row.thread)]);
        cells.resize(11, String::new());
    } else if row.runs == 0 {
        cells.push("failed".to_owned());
        cells.resize(11, String::new());
    } else {
        cells.extend(
            [
                row.wall_ratio,
                row.cpu_ratio,
                row.thread_ratio,
                row.steady_ratio,
            ]
            .map(ratio),
        );
        cells.push(if recorded {
            thousands(row.events)
        } else {
            String::new()
        });
        cells.extend([number(row.ns_per_event()), number(row.bytes_per_event())]);
        cells.push(if recorded {
            size(row.bytes)
        } else {
            String::new()
        });
    }
    cells
}

pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// A table whose columns line up; the first line holds the heads. Columns of numbers are right
/// aligned, those of words are not.
pub(super) fn write(out: &mut String, table: &[Vec<String>]) -> std::fmt::Result {
    let Some(heads) = table.first() else {
        return Ok(());
    };
    let width = |column: usize| {
        let cells = table.iter().filter_map(|line| line.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
            .max(3)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let numeric = |column: usize| {
        let mut cells = table[1..].iter().filter_map(|line| line.get(column));
        cells.all(|cell| {
            cell.is_empty() || cell.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        })
    };
    let right: Vec<bool> = (0..heads.len()).map(numeric).collect();
    for (number, line) in table.iter().enumerate() {
        for ((cell, width), right) in line.iter().zip(&widths).zip(&right) {
            match right {
                true => write!(out, "| {cell:>width$} ")?,
                false => write!(out, "| {cell:<width$} ")?,
            }
        }
        out.push_str("|\n");
        if number == 0 {
            for (width, right) in widths.iter().zip(&right) {
                let end = if *right { ":" } else { "-" };
                write!(out, "|{}{end}", "-".repeat(width + 1))?;
            }
            out.push_str("|\n");
        }
    }
    Ok(())
}

/// The document with what stands between the marks of a section replaced.
pub fn placed(document: &str, section: Section, results: &str) -> anyhow::Result<String> {
    let [begin, end] = section.marks();
    let (before, rest) = document
        .split_once(begin)
        .with_context(|| format!("the document has no {begin}"))?;
    let (_, after) = rest
        .split_once(end)
        .with_context(|| format!("the document has no {end}"))?;
    Ok(format!("{before}{begin}\n{results}{end}{after}"))
}

/// Everything for programs to read.
pub fn json(rows: &[Row], aims: &[Aim], starts: &Starts, around: &Conditions) -> Value {
    json!({
        "version": 1,
        "java": around.java,
        "system": around.system,
        "processors": around.processors,
        "rounds": around.rounds,
        "rows": rows.iter().map(|row| json!({
            "subject": row.subject,
            "tool": row.tool,
            "observed": row.set.as_ref().map(|set| set.label()),
            "runs": row.runs,
            "trouble": row.trouble,
            "wall_s": row.wall,
            "thread_s": row.thread,
            "wall_ratio": row.wall_ratio,
            "cpu_ratio": row.cpu_ratio,
            "thread_ratio": row.thread_ratio,
            "steady_ratio": row.steady_ratio,
            "events": row.events,
            "bytes": row.bytes,
            "ns_per_event": row.ns_per_event(),
            "bytes_per_event": row.bytes_per_event(),
        })).collect::<Vec<_>>(),
        "aims": aims.iter().map(|aim| json!({
            "what": aim.what,
            "at_most": aim.most,
            "unit": aim.unit,
            "measured": aim.got,
            "by_thread": aim.by_thread,
            "met": aim.is_met(),
        })).collect::<Vec<_>>(),
        "start_up_s": { "plain": starts.plain, "culprit": starts.culprit },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_replace_what_stands_between_the_marks_of_their_section() {
        let section = |section: Section, text: &str| {
            let [begin, end] = section.marks();
            format!("head\n{begin}\n{text}\n{end}\ntail\n")
        };
        let first = section(Section::Recording, "old");
        let document = format!("{first}{}", section(Section::Replay, "old"));
        let new = placed(&document, Section::Replay, "new\n").unwrap();
        assert_eq!(new, format!("{first}{}", section(Section::Replay, "new")));
        assert_eq!(placed(&new, Section::Replay, "new\n").unwrap(), new);
        assert!(placed("no marks", Section::Replay, "new").is_err());
        assert!(placed(&first, Section::Replay, "new").is_err());
    }

    #[test]
    fn columns_line_up_and_numbers_stand_right() {
        let cells = |line: &[&str]| line.iter().map(|it| (*it).to_owned()).collect();
        let table: Vec<Vec<String>> = vec![cells(&["name", "n"]), cells(&["a", "12,345"])];
        let mut out = String::new();
        write(&mut out, &table).unwrap();
        assert_eq!(
            out,
            "| name |      n |\n|------|-------:|\n| a    | 12,345 |\n"
        );
    }

    #[test]
    fn numbers_are_grouped_and_sizes_short() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
        assert_eq!(size(9_999), "9999 B");
        assert_eq!(size(12_345_678), "12 MB");
    }
}
