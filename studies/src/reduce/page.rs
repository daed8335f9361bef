//! The results as the document has them.

use std::fmt::Write;
use std::time::Duration;

use culprit_reduce::Schedule;

use super::overhead::DELTAS;
use super::{Reduced, Reducer};
use crate::markdown::{grouped, table};

/// The results of one sequence.
#[derive(Debug)]
pub struct Row {
    pub name: String,
    pub calls: u32,
    pub reduced: Vec<Reduced>,
}

/// The cost of the engine: schedule, relevant deltas, time of a candidate.
pub type Cost = (Schedule, u32, Duration);

/// The tables.
pub fn text(rows: &[Row], costs: &[Cost], conditions: &str) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    writeln!(out, "{conditions}\n")?;
    writeln!(out, "Tests, and calls that are left:\n")?;
    let reducers: Vec<Reducer> = rows.first().map_or_else(Vec::new, |row| {
        row.reduced.iter().map(|it| it.reducer).collect()
    });
    let mut head = vec!["sequence".to_owned(), "calls".to_owned()];
    head.extend(reducers.iter().map(|it| it.label().to_owned()));
    let mut cells = vec![head];
    for row in rows {
        let mut line = vec![row.name.clone(), row.calls.to_string()];
        let each = row.reduced.iter();
        line.extend(each.map(|it| format!("{}, {}", grouped(it.tests), it.left.len())));
        cells.push(line);
    }
    table(&mut out, &cells, 1)?;
    writeln!(out, "\nAll sequences together:\n")?;
    table(&mut out, &sums(rows, &reducers), 1)?;
    writeln!(
        out,
        "\nProcessor time of the engine alone, a candidate, with {} deltas:\n",
        grouped(u64::from(DELTAS))
    )?;
    let mut cells = vec![["schedule", "relevant", "µs"].map(str::to_owned).to_vec()];
    for (schedule, relevant, time) in costs {
        let micros = format!("{:.1}", time.as_secs_f64() * 1e6);
        let label = Reducer::Engine(*schedule).label();
        cells.push(vec![label.to_owned(), relevant.to_string(), micros]);
    }
    table(&mut out, &cells, 1)?;
    Ok(out)
}

fn sums(rows: &[Row], reducers: &[Reducer]) -> Vec<Vec<String>> {
    let head = [
        "",
        "tests",
        "run by a JVM",
        "fewest tests",
        "calls left",
        "fewest left",
        "seconds",
        "own ms",
    ];
    let mut cells = vec![head.map(str::to_owned).to_vec()];
    for (at, reducer) in reducers.iter().enumerate() {
        let own = || rows.iter().map(|row| &row.reduced[at]);
        let best = |of: &dyn Fn(&Reduced) -> u64| {
            let wins = |row: &&Row| {
                let least = row.reduced.iter().map(of).min();
                least == Some(of(&row.reduced[at]))
            };
            rows.iter().filter(wins).count().to_string()
        };
        let sum = |of: &dyn Fn(&Reduced) -> Duration| own().map(of).sum::<Duration>();
        cells.push(vec![
            reducer.label().to_owned(),
            grouped(own().map(|it| it.tests).sum()),
            grouped(own().map(|it| it.runs).sum()),
            best(&|it| it.tests),
            grouped(own().map(|it| it.left.len() as u64).sum()),
            best(&|it| it.left.len() as u64),
            format!("{:.1}", sum(&|it| it.time).as_secs_f64()),
            format!("{:.0}", sum(&|it| it.own).as_secs_f64() * 1e3),
        ]);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::meter::Closing;

    #[test]
    fn tests_and_what_is_left_stand_beside_each_other() {
        let reduced = |reducer, tests, left: &[u32]| Reduced {
            reducer,
            tests,
            runs: tests,
            left: left.to_vec(),
            time: Duration::from_millis(1500),
            own: Duration::from_millis(2),
        };
        let row = Row {
            name: "bst-1".to_owned(),
            calls: 14,
            reduced: vec![
                reduced(Reducer::EACH[0], 9, &[1, 2]),
                reduced(Reducer::Plain(Closing::Refuse), 1200, &[1, 2, 3]),
            ],
        };
        let costs = [(Schedule::Splitting, 3, Duration::from_nanos(2500))];
        let text = text(&[row], &costs, "Here.").unwrap();
        assert!(
            text.contains("| bst-1    |    14 |      9, 2 | 1,200, 3 |"),
            "{text}"
        );
        assert!(text.contains("| splitting |        3 | 2.5 |"), "{text}");
        assert!(text.contains("| ddmin     | 1,200 |"), "{text}");
    }
}
