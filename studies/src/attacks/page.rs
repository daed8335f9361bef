//! The tables of the study.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::attempt::{Aim, Verdict};
use crate::markdown::table;

/// The attacker: a user and a JDK.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Attacker {
    pub user: String,
    pub jdk: String,
}

/// A line of a table: an attempt with its outcome for each attacker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    pub aim: Aim,
    pub what: String,
    pub way: String,
    pub witness: String,
    pub verdicts: BTreeMap<Attacker, Verdict>,
}

/// A table for each aim, and one of sums.
pub fn render(rows: &[Row], attackers: &[Attacker]) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    sums(&mut out, rows, attackers)?;
    let mut aims: Vec<Aim> = rows.iter().map(|row| row.aim).collect();
    aims.sort();
    aims.dedup();
    for aim in aims {
        writeln!(out, "\n### {aim}\n")?;
        let mut head = ["attempt", "by", "witness"].map(str::to_owned).to_vec();
        head.extend(attackers.iter().map(|it| format!("{} {}", it.user, it.jdk)));
        let mut lines = vec![head];
        for row in rows.iter().filter(|row| row.aim == aim) {
            let mut line = vec![row.what.clone(), row.way.clone(), row.witness.clone()];
            line.extend(attackers.iter().map(|it| cell(row.verdicts.get(it))));
            lines.push(line);
        }
        table(&mut out, &lines, usize::MAX)?;
    }
    Ok(out)
}

fn cell(verdict: Option<&Verdict>) -> String {
    match verdict {
        None => String::new(),
        Some(Verdict::Impossible(why)) => format!("– ({})", short(why)),
        Some(Verdict::Refused(why)) => short(why),
        Some(verdict) => format!("{verdict}: {}", short(verdict.reason())),
    }
}

/// A cell is not the place for a long story.
fn short(text: &str) -> String {
    let clean: String = (text.chars())
        .map(|it| {
            if it.is_control() || it == '|' {
                ' '
            } else {
                it
            }
        })
        .collect();
    match clean.char_indices().nth(70) {
        Some((end, _)) => format!("{}…", &clean[..end]),
        None => clean,
    }
}

fn sums(out: &mut String, rows: &[Row], attackers: &[Attacker]) -> std::fmt::Result {
    let mut lines = vec![
        [
            "attacker",
            "attempts",
            "refused",
            "harmless",
            "not possible",
            "succeeded",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for attacker in attackers {
        let verdicts: Vec<&Verdict> = (rows.iter())
            .filter_map(|row| row.verdicts.get(attacker))
            .collect();
        let count = |kind: fn(&Verdict) -> bool| verdicts.iter().filter(|it| kind(it)).count();
        let numbers = [
            verdicts.len(),
            count(|it| matches!(it, Verdict::Refused(_))),
            count(|it| matches!(it, Verdict::Harmless(_))),
            count(|it| matches!(it, Verdict::Impossible(_))),
            count(Verdict::has_succeeded),
        ];
        let mut line = vec![format!("{}, JDK {}", attacker.user, attacker.jdk)];
        line.extend(numbers.map(|it| it.to_string()));
        lines.push(line);
    }
    writeln!(out, "{} attempts.\n", rows.len())?;
    table(out, &lines, 1)
}
