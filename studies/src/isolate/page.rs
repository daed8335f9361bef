//! The tables of the study.

use super::case::Case;
use super::reducer::{Reduced, Reducer};
use crate::markdown::{grouped, table};

/// One input with what each reducer made of it.
pub struct Row {
    pub case: Case,
    pub bytes: u64,
    /// In the order of [`Reducer::ALL`]; `None` where a reducer does not know the language.
    pub reduced: Vec<Option<Reduced>>,
}

impl Row {
    fn ours(&self) -> Option<&Reduced> {
        self.reduced.first()?.as_ref()
    }

    fn peers(&self) -> impl Iterator<Item = &Reduced> {
        self.reduced.iter().skip(1).flatten()
    }

    /// The peer with the smallest result; of several the one with the fewest tests.
    fn best(&self) -> Option<&Reduced> {
        self.peers().min_by_key(|it| (it.bytes, it.tests))
    }
}

/// The table cell of a result.
type Cell = fn(&Reduced) -> String;

/// All tables, and what the aims come to.
pub fn tables(rows: &[Row]) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    let inputs = rows.iter().map(|row| {
        vec![
            format!("`{}`", row.case.name),
            row.case.language.clone(),
            row.case.fault.clone(),
            grouped(row.bytes),
        ]
    });
    let head = ["case", "language", "fault", "bytes"].map(str::to_owned);
    let all: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(inputs).collect();
    table(&mut out, &all, 3)?;
    let cells: [(&str, Cell); 3] = [
        ("bytes left", |it| {
            format!("{}{}", grouped(it.bytes), if it.is_cut { "*" } else { "" })
        }),
        ("tests", |it| grouped(it.tests)),
        ("seconds", |it| format!("{:.1}", it.time.as_secs_f64())),
    ];
    for (what, cell) in cells {
        out.push('\n');
        let mut head = vec![what.to_owned()];
        head.extend(Reducer::ALL.map(|it| it.name().to_owned()));
        let mut all = vec![head];
        for row in rows {
            let mut line = vec![format!("`{}`", row.case.name)];
            line.extend(
                row.reduced
                    .iter()
                    .map(|it| it.as_ref().map_or(String::new(), cell)),
            );
            all.push(line);
        }
        table(&mut out, &all, 1)?;
    }
    out.push('\n');
    out.push_str(&aims(rows));
    Ok(out)
}

/// The evaluation of the aims.
fn aims(rows: &[Row]) -> String {
    let pairs: Vec<(&Reduced, &Reduced)> = rows
        .iter()
        .filter_map(|row| Some((row.ours()?, row.best()?)))
        .collect();
    let won = pairs
        .iter()
        .filter(|(ours, best)| ours.bytes <= best.bytes)
        .count();
    let mut lines = vec![
        format!(
            "- No larger than the best peer's on {won} of {} inputs.",
            pairs.len()
        ),
        format!(
            "- Against the best peer, in the median: {}.",
            ratios(&pairs)
        ),
    ];
    for (index, peer) in Reducer::ALL.iter().enumerate().skip(1) {
        let pairs: Vec<(&Reduced, &Reduced)> = rows
            .iter()
            .filter_map(|row| Some((row.ours()?, row.reduced.get(index)?.as_ref()?)))
            .collect();
        if !pairs.is_empty() {
            let count = pairs.len();
            let told = ratios(&pairs);
            lines.push(format!(
                "- Against {}, on {count} inputs: {told}.",
                peer.name()
            ));
        }
    }
    lines.join("\n")
}

/// Ours over theirs.
fn ratios(pairs: &[(&Reduced, &Reduced)]) -> String {
    let of = |value: fn(&Reduced) -> f64| {
        median(
            pairs
                .iter()
                .map(|(ours, theirs)| value(ours) / value(theirs).max(1e-3)),
        )
    };
    format!(
        "{:.2} of the bytes, {:.2} of the tests, {:.2} of the time",
        of(|it| it.bytes as f64),
        of(|it| it.tests as f64),
        of(|it| it.time.as_secs_f64())
    )
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => values[count / 2],
        count => f64::midpoint(values[count / 2 - 1], values[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_best_peer_is_the_one_with_the_smallest_result() {
        let reduced = |bytes, tests| {
            Some(Reduced {
                bytes,
                tests,
                time: Duration::from_secs(tests),
                is_cut: tests == 9,
            })
        };
        let row = Row {
            case: Case {
                name: "x".to_owned(),
                script: "x.sh".into(),
                input: "x".to_owned(),
                language: "text".to_owned(),
                fault: "none".to_owned(),
            },
            bytes: 1000,
            reduced: vec![
                reduced(5, 10),
                reduced(6, 100),
                reduced(5, 9),
                reduced(5, 20),
                None,
            ],
        };
        let text = tables(&[row]).unwrap();
        assert!(
            text.contains("| `x`        |       5 |      6 |        5* |     5 |            |")
        );
        assert!(text.contains("on 1 of 1 inputs"), "{text}");
        assert!(
            text.contains("1.00 of the bytes, 1.11 of the tests"),
            "{text}"
        );
        assert_eq!(median([1.0, 4.0, 2.0, 3.0].into_iter()), 2.5);
    }
}
