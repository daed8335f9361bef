//! `culprit record --suggest`: proposed borders as a table or as JSON.
//!
//! The agents count calls between classes and leave them in the folder of the run, as
//! `jvm-PID.coupling`. `culprit_suggest` computes the borders from the counts; this module reads the
//! files and prints the result: as a table on stderr, like all messages of `culprit record`, or as
//! one line of JSON on stdout.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use culprit_model::{Pattern, Selection, clean, shell};
use culprit_report::Document;
use culprit_report::suggest::{Measure, Proposal, SuggestDocument};
use culprit_suggest::{Border, Suggestions};
use culprit_trace::{COUPLING_EXTENSION, Coupling};

use super::aftermath;
use crate::console::Console;
use culprit_report::figure;

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Table,
    Json,
}

/// The proposals for a run, with the options that the printed commands repeat.
pub(crate) struct SuggestionReport<'a> {
    found: Suggestions,
    selection: &'a Selection,
    command: &'a [OsString],
}

impl<'a> SuggestionReport<'a> {
    /// Reads the counts in the folder of a run and computes the proposals.
    pub(crate) fn find(
        folder: &Path,
        selection: &'a Selection,
        command: &'a [OsString],
        console: &mut Console,
    ) -> io::Result<SuggestionReport<'a>> {
        let mut couplings: Vec<Coupling> = Vec::new();
        for file in aftermath::files_with(folder, COUPLING_EXTENSION)? {
            match fs::read_to_string(&file)?.parse() {
                Ok(coupling) => couplings.push(coupling),
                Err(error) => {
                    aftermath::warn(console, &format!("{}: {error}", file.display()))?;
                }
            }
        }
        Ok(SuggestionReport {
            found: Suggestions::of(&couplings, selection),
            selection,
            command,
        })
    }

    /// Prints the proposals, or nothing if no JVM was counted.
    pub(crate) fn print(&self, format: Format, console: &mut Console) -> io::Result<()> {
        if self.found.jvms == 0 {
            return Ok(());
        }
        match format {
            Format::Json => writeln!(console.out(), "{}", self.document().json_line()),
            Format::Table if self.found.is_empty() => {
                aftermath::warn(console, "no class of the program's own was loaded")?;
                let next = "  name the code of interest, such as --observe 'com.acme.**'";
                writeln!(console.err(), "{next}")
            }
            Format::Table => self.table(console),
        }
    }

    /// The options that select everything, as `--observe` would have them without `--suggest`.
    fn whole(&self) -> Vec<String> {
        let mut words: Vec<String> = self.selection.observe.iter().map(observe).collect();
        if self.selection.app || words.is_empty() {
            words.push("--observe app".to_owned());
        }
        words
    }

    fn table(&self, console: &mut Console) -> io::Result<()> {
        let found = &self.found;
        let style = console.err_styles();
        let seconds = found.time_ms as f64 / 1000.0;
        let rate = short(found.per_second(found.calls));
        let (t, s, d) = (style.title, style.strong, style.dim);
        let err = console.err();
        writeln!(
            err,
            "culprit: {} calls in {seconds:.1} s of the code to choose from, {rate} a second",
            short(found.calls)
        )?;
        writeln!(err)?;
        writeln!(
            err,
            "{t}     classes   inside calls/s   events/s   recorded/s   share of calls   score{t:#}"
        )?;
        self.row(err, " *", &found.whole, &self.whole())?;
        for (border, number) in found.borders.iter().zip(1..) {
            let words: Vec<String> = border.patterns.iter().map(observe).collect();
            self.row(err, &format!("{number:>2}"), border, &words)?;
        }
        if !found.pairs.is_empty() {
            writeln!(err, "\n{t}Most calls between classes, a second{t:#}")?;
        }
        for pair in &found.pairs {
            let rate = short(found.per_second(pair.calls));
            let [first, second] = &pair.classes;
            writeln!(err, "{rate:>9}  {}", clean::line(first))?;
            writeln!(err, "           {}", clean::line(second))?;
        }
        writeln!(
            err,
            "\n{d}* is all of it. A score near 1: few events, much inside.{d:#}"
        )?;
        let whole_is_best = found.is_whole_best();
        if whole_is_best {
            writeln!(err, "No part of it has fewer events than all of it.")?;
            let all = self.command(&self.selection.observe);
            writeln!(err, "  next: {s}{all}{s:#}")?;
        }
        if let Some(best) = found.borders.first() {
            let lead = if whole_is_best { "or" } else { "next" };
            let part = self.command(&best.patterns);
            writeln!(err, "  {lead}: {s}{part}{s:#}")?;
        }
        Ok(())
    }

    fn row(
        &self,
        err: &mut dyn io::Write,
        mark: &str,
        border: &Border,
        words: &[String],
    ) -> io::Result<()> {
        let measure = &border.measure;
        writeln!(
            err,
            "{mark}{:>10}{:>17}{:>11}{:>13}{:>15.0} %{:>8.2}",
            measure.classes,
            short(self.found.per_second(measure.inside)),
            short(self.found.per_second(measure.events)),
            bytes(self.found.bytes_per_second(measure)),
            100.0 * self.found.share(measure),
            border.score,
        )?;
        for line in figure::fill(words, 74) {
            writeln!(err, "     {line}")?;
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

    fn document(&self) -> Document<SuggestDocument> {
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
