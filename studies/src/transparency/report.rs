//! The tables of the study, as they are printed and as they stand in its document.

use std::fmt::Write;

use culprit_jvm::Jdk;

use super::library::Library;
use super::result::Found;
use crate::markdown::{grouped, table};

/// Columns with names, which come first.
const NAMES: usize = 2;

const HEAD: [&str; 12] = [
    "library",
    "version",
    "tests",
    "passing",
    "same",
    "different",
    "excluded",
    "plain s",
    "recorded s",
    "ratio",
    "events",
    "not woven",
];

/// The results on one JDK.
pub struct Section<'r> {
    pub jdk: &'r Jdk,
    pub results: Vec<(&'r Library, Found)>,
}

/// All results, as Markdown that is readable as text too.
pub fn render(sections: &[Section<'_>]) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    for section in sections {
        writeln!(out, "### JDK {}\n", section.jdk.version)?;
        let mut rows: Vec<Vec<String>> = vec![HEAD.map(str::to_owned).to_vec()];
        rows.extend(
            section
                .results
                .iter()
                .map(|(library, found)| row(library, found)),
        );
        rows.push(total(&section.results));
        table(&mut out, &rows, NAMES)?;
        writeln!(out)?;
        for (library, found) in &section.results {
            remarks(&mut out, library, found)?;
        }
    }
    Ok(out)
}

fn row(library: &Library, found: &Found) -> Vec<String> {
    let (plain, recorded) = (found.plain.as_secs_f64(), found.recorded.as_secs_f64());
    let mut row = vec![library.artifact.to_owned(), library.version.to_owned()];
    row.extend(counts([found]));
    row.extend([
        format!("{plain:.1}"),
        format!("{recorded:.1}"),
        format!("{:.2}", recorded / plain),
        grouped(found.events),
        found.not_woven.len().to_string(),
    ]);
    row
}

fn total(results: &[(&Library, Found)]) -> Vec<String> {
    let all = || results.iter().map(|(_, found)| found);
    let plain: f64 = all().map(|it| it.plain.as_secs_f64()).sum();
    let recorded: f64 = all().map(|it| it.recorded.as_secs_f64()).sum();
    let mut row = vec!["all".to_owned(), String::new()];
    row.extend(counts(all()));
    row.extend([
        format!("{plain:.1}"),
        format!("{recorded:.1}"),
        format!("{:.2}", recorded / plain),
        grouped(all().map(|it| it.events).sum()),
        all()
            .map(|it| it.not_woven.len())
            .sum::<usize>()
            .to_string(),
    ]);
    row
}

fn counts<'r>(results: impl IntoIterator<Item = &'r Found>) -> Vec<String> {
    let mut sums = [0; 5];
    for found in results {
        let (different, excluded) = (found.differences.len() as u64, found.excluded.len() as u64);
        let numbers = [found.tests, found.passed, found.same, different, excluded];
        for (sum, number) in sums.iter_mut().zip(numbers) {
            *sum += number;
        }
    }
    sums.map(grouped).to_vec()
}

fn remarks(out: &mut String, library: &Library, found: &Found) -> std::fmt::Result {
    let mut lines = Vec::new();
    for it in &found.differences {
        let why = it.why.as_deref().unwrap_or("no reason given");
        lines.push(format!(
            "different: `{}`: {}, recorded {}: {why}",
            it.id, it.plain, it.recorded
        ));
    }
    lines.extend(found.trouble.iter().map(|text| format!("trouble: {text}")));
    lines.extend(found.losses.iter().map(|text| format!("lost: {text}")));
    lines.extend(
        found
            .excluded
            .iter()
            .map(|(id, why)| format!("excluded: `{id}`: {why}")),
    );
    lines.extend(
        found
            .not_woven
            .iter()
            .map(|(name, why)| format!("not woven: `{name}`: {why}")),
    );
    if !lines.is_empty() {
        writeln!(out, "{}:\n", library.artifact)?;
        for line in lines {
            writeln!(out, "- {line}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transparency::library::LIBRARIES;
    use culprit_jvm::JavaVersion;
    use std::time::Duration;

    #[test]
    fn the_table_has_a_row_for_each_library_and_one_for_all() {
        let jdk = Jdk {
            home: "/jdk".into(),
            version: JavaVersion::parse("17.0.1").unwrap(),
        };
        let found = Found {
            tests: 1234,
            passed: 1230,
            same: 1233,
            plain: Duration::from_secs(2),
            recorded: Duration::from_secs(3),
            events: 5_000_000,
            excluded: vec![("t".to_owned(), "failed or successful".to_owned())],
            ..Found::default()
        };
        let section = Section {
            jdk: &jdk,
            results: vec![(&LIBRARIES[0], found.clone()), (&LIBRARIES[1], found)],
        };
        let text = render(&[section]).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "### JDK 17.0.1");
        assert!(lines[4].contains("| 1,234 "), "{text}");
        assert!(lines[6].starts_with("| all "), "{text}");
        assert!(lines[6].contains("| 2,468 "), "{text}");
        assert!(lines[6].contains("|  1.50 "), "{text}");
        assert!(text.contains("- excluded: `t`: failed or successful"));
    }
}
