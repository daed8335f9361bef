//! The tables of the study, as they are printed and as they stand in its document.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use culprit_jvm::Jdk;

use super::case::Verdict;
use super::program::Program;
use super::results::Row;
use super::set::Kind;
use crate::markdown::{grouped, table};

/// Columns with names, which come first.
const NAMES: usize = 2;

/// Causes that are listed.
const CAUSES: usize = 40;

/// The results on one JDK.
pub struct Section<'r> {
    pub jdk: &'r Jdk,
    pub results: Vec<(&'r Program, &'r [Row])>,
}

/// All results, as Markdown that is readable as text too.
pub fn render(sections: &[Section<'_>]) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    for section in sections {
        writeln!(out, "### JDK {}\n", section.jdk.version)?;
        let all = || section.results.iter().flat_map(|(_, rows)| *rows);
        let others: Vec<Verdict> = Verdict::EACH
            .into_iter()
            .filter(|verdict| *verdict > Verdict::Nothing)
            .filter(|verdict| all().any(|row| row.verdict == *verdict))
            .collect();
        let mut lines = vec![head(&others)];
        for (program, rows) in &section.results {
            for kind in Kind::EACH {
                let of_kind: Vec<&Row> = rows.iter().filter(|row| row.kind == kind).collect();
                let name = format!("{} {}", program.name, program.version);
                lines.push(line(name, kind.to_string(), &of_kind, &others));
            }
        }
        let rows: Vec<&Row> = all().collect();
        lines.push(line("all".to_owned(), String::new(), &rows, &others));
        table(&mut out, &lines, NAMES)?;
        writeln!(out)?;
        for (program, rows) in &section.results {
            causes(&mut out, program, rows)?;
        }
    }
    Ok(out)
}

fn head(others: &[Verdict]) -> Vec<String> {
    let first = ["library", "observed", "tests", "recordings", "events"];
    let last = ["record ms", "replay ms"];
    let verdicts = [Verdict::Nothing, Verdict::InSync];
    let verdicts = verdicts.iter().chain(others).map(Verdict::to_string);
    let names = first.map(str::to_owned).into_iter();
    names
        .chain(verdicts)
        .chain(last.map(str::to_owned))
        .collect()
}

fn line(name: String, kind: String, rows: &[&Row], others: &[Verdict]) -> Vec<String> {
    let mut tests: Vec<&str> = rows.iter().map(|row| row.test.as_str()).collect();
    tests.sort_unstable();
    tests.dedup();
    let count = |verdict: Verdict| rows.iter().filter(|row| row.verdict == verdict).count() as u64;
    let numbers = [
        tests.len() as u64,
        rows.len() as u64,
        rows.iter().map(|row| row.events).sum(),
        count(Verdict::Nothing),
        count(Verdict::InSync),
    ];
    let others = others.iter().map(|verdict| count(*verdict));
    let mut line = vec![name, kind];
    line.extend(numbers.into_iter().chain(others).map(grouped));
    // Not every recording is replayed.
    let replayed: Vec<Duration> = rows
        .iter()
        .map(|row| row.replay)
        .filter(|it| !it.is_zero())
        .collect();
    line.push(mean(rows.iter().map(|row| row.record), rows.len()));
    line.push(mean(replayed.iter().copied(), replayed.len()));
    line
}

fn mean(times: impl Iterator<Item = Duration>, count: usize) -> String {
    let sum: Duration = times.sum();
    grouped(sum.as_millis() as u64 / count.max(1) as u64)
}

/// The problems, by cause.
fn causes(out: &mut String, program: &Program, rows: &[Row]) -> std::fmt::Result {
    let mut counts: BTreeMap<(Verdict, &str), (u64, &Row)> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.verdict.is_good()) {
        let entry = counts.entry((row.verdict, &row.cause));
        entry.or_insert((0, row)).0 += 1;
    }
    if counts.is_empty() {
        return Ok(());
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    writeln!(out, "{}:\n", program.name)?;
    for ((verdict, cause), (count, row)) in counts.iter().take(CAUSES) {
        writeln!(
            out,
            "- {}: {verdict}: {cause}; `{}` with `{}`",
            grouped(*count),
            row.test,
            row.set
        )?;
    }
    let rest = counts.iter().skip(CAUSES);
    let (more, cases) = rest.fold((0, 0), |(n, sum), (_, (count, _))| (n + 1, sum + count));
    if more > 0 {
        writeln!(out, "- {}: {more} other causes", grouped(cases))?;
    }
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::PROGRAMS;
    use culprit_jvm::JavaVersion;

    fn row(set: &str, kind: Kind, verdict: Verdict, cause: &str) -> Row {
        Row {
            test: "T.t".to_owned(),
            set: set.to_owned(),
            kind,
            verdict,
            events: 1000,
            bytes: 10,
            record: Duration::from_millis(100),
            replay: Duration::from_millis(50),
            cause: cause.to_owned(),
            told: String::new(),
        }
    }

    #[test]
    fn there_is_a_line_for_each_kind_of_set_and_each_cause() {
        let jdk = Jdk {
            home: "/jdk".into(),
            version: JavaVersion::parse("17.0.1").unwrap(),
        };
        let rows = [
            row("A", Kind::One, Verdict::InSync, ""),
            row("B", Kind::One, Verdict::Nothing, ""),
            row("A+B", Kind::Some, Verdict::OutOfSync, "shape"),
            row("A+C", Kind::Some, Verdict::OutOfSync, "shape"),
            row("*", Kind::All, Verdict::InSync, ""),
        ];
        let section = Section {
            jdk: &jdk,
            results: vec![(&PROGRAMS[0], &rows)],
        };
        let text = render(&[section]).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let cells = |at: usize| {
            let cells = lines[at].trim_matches('|').split('|').map(str::trim);
            cells.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            cells(2),
            "library observed tests recordings events no events in sync out of sync record ms \
             replay ms"
        );
        assert_eq!(cells(4), "nanoxml 2.2.3 one class 1 2 2,000 1 1 0 100 50");
        assert_eq!(
            cells(5),
            "nanoxml 2.2.3 2 to 5 classes 1 2 2,000 0 0 2 100 50"
        );
        assert_eq!(cells(7), "all  1 5 5,000 1 2 2 100 50");
        assert!(
            text.contains("- 2: out of sync: shape; `T.t` with `A+B`"),
            "{text}"
        );
    }
}
