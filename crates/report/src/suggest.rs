//! The result of `culprit record --suggest`: proposed borders as a table and as JSON.

use std::ffi::OsString;
use std::io::{self, Write};

use culprit_model::{Pattern, Selection, clean, shell};
use culprit_suggest::{Border, Suggestions};
use serde::{Deserialize, Serialize};

use crate::document::{Content, Document};
use crate::figure;
use crate::style::Styles;

/// Proposals for `--observe`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SuggestDocument {
    /// The running time of the JVMs with classes to choose from, in milliseconds.
    pub time_ms: u64,
    /// All calls of methods and constructors of the classes to choose from.
    pub calls: u64,
    /// The measure of all classes to choose from.
    pub all: Measure,
    /// Borders around a part of them, best first.
    pub borders: Vec<Proposal>,
}

/// The figures for a set of observed classes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measure {
    /// The number of classes.
    pub classes: usize,
    /// Calls between these classes.
    pub inside_calls: u64,
    /// Events that a recording of these classes would have.
    pub events: u64,
    /// Events in a second.
    pub events_per_second: u64,
    /// Bytes that a recording would grow by in a second.
    pub bytes_per_second: u64,
    /// From 0 to 1: a high score means few events and many calls inside.
    pub score: f64,
}

/// A proposed set of classes to observe.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Proposal {
    /// Its figures.
    #[serde(flatten)]
    pub measure: Measure,
    /// The patterns for `--observe`.
    pub observe: Vec<String>,
    /// The command that records these classes.
    pub command: String,
}

impl Content for SuggestDocument {
    const NAME: &'static str = "suggest";
}

/// The proposals for a run, with the options that the printed commands repeat.
pub struct SuggestionReport<'a> {
    /// The proposals.
    pub found: Suggestions,
    /// The classes to choose from.
    pub selection: &'a Selection,
    /// The command of the run.
    pub command: &'a [OsString],
}

impl SuggestionReport<'_> {
    /// The options that select everything, as `--observe` would have them without `--suggest`.
    fn whole(&self) -> Vec<String> {
        let mut words: Vec<String> = self.selection.observe.iter().map(observe).collect();
        if self.selection.app || words.is_empty() {
            words.push("--observe app".to_owned());
        }
        words
    }

    /// Prints the proposals as a table.
    pub fn print(&self, styles: Styles, out: &mut dyn Write) -> io::Result<()> {
        let found = &self.found;
        let seconds = found.time_ms as f64 / 1000.0;
        let rate = short(found.per_second(found.calls));
        let (t, s, d) = (styles.title, styles.strong, styles.dim);
        writeln!(
            out,
            "culprit: {} calls in {seconds:.1} s of the code to choose from, {rate} a second",
            short(found.calls)
        )?;
        writeln!(out)?;
        writeln!(
            out,
            "{t}     classes   inside calls/s   events/s   recorded/s   share of calls   score{t:#}"
        )?;
        self.row(out, " *", &found.whole, &self.whole())?;
        for (border, number) in found.borders.iter().zip(1..) {
            let words: Vec<String> = border.patterns.iter().map(observe).collect();
            self.row(out, &format!("{number:>2}"), border, &words)?;
        }
        if !found.pairs.is_empty() {
            writeln!(out, "\n{t}Most calls between classes, a second{t:#}")?;
        }
        for pair in &found.pairs {
            let rate = short(found.per_second(pair.calls));
            let [first, second] = &pair.classes;
            writeln!(out, "{rate:>9}  {}", clean::line(first))?;
            writeln!(out, "           {}", clean::line(second))?;
        }
        writeln!(
            out,
            "\n{d}* is all of it. A score near 1: few events, much inside.{d:#}"
        )?;
        let whole_is_best = found.is_whole_best();
        if whole_is_best {
            writeln!(out, "No part of it has fewer events than all of it.")?;
            let all = self.command(&self.selection.observe);
            writeln!(out, "  next: {s}{all}{s:#}")?;
        }
        if let Some(best) = found.borders.first() {
            let lead = if whole_is_best { "or" } else { "next" };
            let part = self.command(&best.patterns);
            writeln!(out, "  {lead}: {s}{part}{s:#}")?;
        }
        Ok(())
    }

    fn row(
        &self,
        out: &mut dyn Write,
        mark: &str,
        border: &Border,
        words: &[String],
    ) -> io::Result<()> {
        let measure = &border.measure;
        writeln!(
            out,
            "{mark}{:>10}{:>17}{:>11}{:>13}{:>15.0} %{:>8.2}",
            measure.classes,
            short(self.found.per_second(measure.inside)),
            short(self.found.per_second(measure.events)),
            bytes(self.found.bytes_per_second(measure)),
            100.0 * self.found.share(measure),
            border.score,
        )?;
        for line in figure::fill(words, 74) {
            writeln!(out, "     {line}")?;
        }
        Ok(())
    }

    /// The command that records what these patterns name.
    fn command(&self, patterns: &[Pattern]) -> String {
        let mut words: Vec<OsString> = vec!["culprit".into(), "record".into()];
        for pattern in patterns {
            words.extend(["--observe".into(), pattern.to_string().into()]);
        }
        for pattern in &self.selection.exclude {
            words.extend(["--exclude".into(), pattern.to_string().into()]);
        }
        words.push("--".into());
        words.extend(self.command.iter().cloned());
        shell::line(words)
    }

    /// The proposals for programs.
    pub fn document(&self) -> Document<SuggestDocument> {
        let found = &self.found;
        let measured = |border: &Border| Measure {
            classes: border.measure.classes,
            inside_calls: border.measure.inside,
            events: border.measure.events,
            events_per_second: found.per_second(border.measure.events),
            bytes_per_second: found.bytes_per_second(&border.measure),
            score: border.score,
        };
        let proposals = found.borders.iter().map(|border| Proposal {
            measure: measured(border),
            observe: border.patterns.iter().map(Pattern::to_string).collect(),
            command: self.command(&border.patterns),
        });
        Document::new(SuggestDocument {
            time_ms: found.time_ms,
            calls: found.calls,
            all: measured(&found.whole),
            borders: proposals.collect(),
        })
    }
}

fn observe(pattern: &Pattern) -> String {
    format!("--observe {}", shell::line([pattern.to_string()]))
}

/// A number in five characters or less: `12`, `1.2k`, `340k`, `1.2M`.
fn short(number: u64) -> String {
    scaled(number as f64, 1000.0, &["", "k", "M", "G", "T"])
}

fn bytes(number: u64) -> String {
    scaled(number as f64, 1024.0, &[" B", " KB", " MB", " GB", " TB"])
}

fn scaled(mut number: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while number >= step && unit + 1 < units.len() {
        number /= step;
        unit += 1;
    }
    match unit {
        0 => format!("{number:.0}{}", units[0]),
        _ if number < 10.0 => format!("{number:.1}{}", units[unit]),
        _ => format!("{number:.0}{}", units[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, expect) in [
            (0, "0"),
            (999, "999"),
            (1_234, "1.2k"),
            (340_000, "340k"),
            (1_234_567, "1.2M"),
        ] {
            assert_eq!(short(number), expect);
        }
        assert_eq!(bytes(1_500_000), "1.4 MB");
    }
}
