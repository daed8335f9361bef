//! `culprit record --suggest`: propose borders from the coupling of classes.
//!
//! The agents count calls between classes and leave them in the folder of the run, as
//! `jvm-PID.coupling`. Here the counts are read, the borders found and printed: as a table on
//! stderr, like all that `culprit record` has to say, or as one line of JSON on stdout.

mod border;
mod program;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use culprit_model::{Pattern, Selection, clean};
use culprit_trace::{COUPLING_EXTENSION, Coupling};
use serde_json::{Value, json};

use super::{aftermath, quote};
use crate::console::Console;
use crate::show::figure;
use border::Border;
use program::{BYTES_PER_EVENT, Measure, Program};

/// Borders in the table.
const PROPOSALS: usize = 8;
/// Pairs of classes in the list of the closest.
const PAIRS: usize = 5;
/// Version of the JSON document.
const JSON_VERSION: u32 = 1;

/// How to print what was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Table,
    Json,
}

/// What to propose from the counts in a folder.
pub(crate) struct Suggestions<'a> {
    program: Program,
    jvms: usize,
    selection: &'a Selection,
    command: &'a [OsString],
}

impl<'a> Suggestions<'a> {
    /// Reads what the agents left in the folder of a run.
    pub(crate) fn find(
        folder: &Path,
        selection: &'a Selection,
        command: &'a [OsString],
        console: &mut Console,
    ) -> io::Result<Suggestions<'a>> {
        let mut couplings: Vec<Coupling> = Vec::new();
        for file in aftermath::files_with(folder, COUPLING_EXTENSION)? {
            match fs::read_to_string(&file)?.parse() {
                Ok(coupling) => couplings.push(coupling),
                Err(error) => {
                    aftermath::warn(console, &format!("{}: {error}", file.display()))?;
                }
            }
        }
        Ok(Suggestions {
            program: Program::join(&couplings, selection),
            jvms: couplings.len(),
            selection,
            command,
        })
    }

    /// Whether no JVM was counted at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.jvms == 0
    }

    /// Prints the proposals.
    pub(crate) fn report(&self, format: Format, console: &mut Console) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        let borders = border::propose(&self.program, PROPOSALS);
        match format {
            Format::Json => writeln!(console.out(), "{}", self.json(&borders)),
            Format::Table if self.program.is_empty() => {
                aftermath::warn(console, "no class of the program's own was loaded")?;
                let next = "  name the code of interest, such as --observe 'com.acme.**'";
                writeln!(console.err(), "{next}")
            }
            Format::Table => self.table(&borders, console),
        }
    }

    /// The whole choice, as `--observe` would have it without `--suggest`.
    fn whole(&self) -> (Vec<String>, Measure) {
        let mut words: Vec<String> = self.selection.observe.iter().map(observe).collect();
        if self.selection.app || words.is_empty() {
            words.push("--observe app".to_owned());
        }
        (words, self.program.measure(&self.program.whole()))
    }

    fn table(&self, borders: &[Border], console: &mut Console) -> io::Result<()> {
        let style = console.err_styles();
        let seconds = self.program.time_ms as f64 / 1000.0;
        let calls = self.program.calls();
        let rate = short(self.program.per_second(calls));
        let (t, s, d) = (style.title, style.strong, style.dim);
        let err = console.err();
        writeln!(
            err,
            "culprit: {} calls in {seconds:.1} s of the code to choose from, {rate} a second",
            short(calls)
        )?;
        writeln!(err)?;
        writeln!(
            err,
            "{t}     classes   inside calls/s   events/s   recorded/s   share of calls   score{t:#}"
        )?;
        let (words, measure) = self.whole();
        let mark = |number: usize| format!("{number:>2}");
        self.row(err, " *", &measure, &words, calls)?;
        for (border, number) in borders.iter().zip(1..) {
            let words: Vec<String> = border.patterns.iter().map(observe).collect();
            self.row(err, &mark(number), &border.measure, &words, calls)?;
        }
        let pairs = border::closest_pairs(&self.program, PAIRS);
        if !pairs.is_empty() {
            writeln!(err, "\n{t}Most calls between classes, a second{t:#}")?;
        }
        for (a, b, count) in pairs {
            let name = |class: usize| &self.program.classes[class].name;
            let rate = short(self.program.per_second(count));
            writeln!(err, "{rate:>9}  {}", clean::line(name(a)))?;
            writeln!(err, "           {}", clean::line(name(b)))?;
        }
        writeln!(
            err,
            "\n{d}* is all of it. A score near 1: few events, much inside.{d:#}"
        )?;
        let best = borders.first();
        let whole_is_best = best.is_none_or(|best| {
            measure.events <= best.measure.events && measure.inside >= best.measure.inside
        });
        if whole_is_best {
            writeln!(err, "No part of it has fewer events than all of it.")?;
            let all = self.command(&self.selection.observe);
            writeln!(err, "  next: {s}{all}{s:#}")?;
        }
        if let Some(best) = best {
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
        measure: &Measure,
        words: &[String],
        calls: u64,
    ) -> io::Result<()> {
        let rate = |count: u64| short(self.program.per_second(count));
        let size = self.program.per_second(measure.events * BYTES_PER_EVENT);
        let share = 100.0 * measure.inside as f64 / calls.max(1) as f64;
        writeln!(
            err,
            "{mark}{:>10}{:>17}{:>11}{:>13}{:>15.0} %{:>8.2}",
            measure.classes,
            rate(measure.inside),
            rate(measure.events),
            bytes(size),
            share,
            border::score(measure, calls),
        )?;
        for line in figure::joined(words.iter().map(String::as_str), "", 74) {
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
        quote::line(words)
    }

    fn json(&self, borders: &[Border]) -> Value {
        let calls = self.program.calls();
        let measured = |measure: &Measure| {
            json!({
                "classes": measure.classes,
                "inside_calls": measure.inside,
                "events": measure.events,
                "events_per_second": self.program.per_second(measure.events),
                "bytes_per_second": self.program.per_second(measure.events * BYTES_PER_EVENT),
                "score": border::score(measure, calls),
            })
        };
        let proposals = borders.iter().map(|border| {
            let patterns: Vec<String> = border.patterns.iter().map(Pattern::to_string).collect();
            let mut value = measured(&border.measure);
            value["observe"] = patterns.into();
            value["command"] = self.command(&border.patterns).into();
            value
        });
        json!({
            "version": JSON_VERSION,
            "time_ms": self.program.time_ms,
            "calls": calls,
            "all": measured(&self.whole().1),
            "borders": proposals.collect::<Vec<_>>(),
        })
    }
}

fn observe(pattern: &Pattern) -> String {
    format!("--observe {}", quote::line([pattern.to_string()]))
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
