//! A slice for a terminal: lines by file and method, with what each depended on.

use std::io::{self, Write};

use culprit_model::clean;
use culprit_model::count::{counted, grouped};

use super::{CallEntry, DependenceEntry, DirectionEntry, LineEntry, SliceDocument};
use crate::figure::{cut, wrap_words};
use crate::style::Styles;

/// The columns before a dependence.
const INDENT: &str = "          ";

impl SliceDocument {
    /// Prints the slice in lines of so many columns.
    pub fn print(&self, out: &mut dyn Write, styles: Styles, width: usize) -> io::Result<()> {
        let (t, s, d, w) = (styles.title, styles.strong, styles.dim, styles.warn);
        let put = |out: &mut dyn Write, text: &str, indent: &str| -> io::Result<()> {
            for line in wrap_words(&clean::line(text), indent, width) {
                writeln!(out, "{line}")?;
            }
            Ok(())
        };
        put(out, &self.headline(), "  ")?;
        if let Some(why) = &self.partial {
            let text = format!("partial: {why}");
            for line in wrap_words(&clean::line(&text), "  ", width) {
                writeln!(out, "{w}{line}{w:#}")?;
            }
        }
        if !self.calls.is_empty() {
            writeln!(out, "\n{t}calls of the test{t:#}")?;
        }
        for call in &self.calls {
            let text = cut(&clean::line(&call.call), width.saturating_sub(8));
            writeln!(out, "{s}{:>6}{s:#}  {text}", call.number)?;
            self.print_dependences(out, &call.dependences, Group::Calls, styles, width)?;
        }
        let mut group: Option<(&str, &str, String)> = None;
        for line in &self.lines {
            let package = line
                .class
                .rsplit_once('.')
                .map_or("", |(package, _)| package);
            let next = (package, line.file(), line.method());
            let is_other_file = group
                .as_ref()
                .is_none_or(|it| (it.0, it.1) != (next.0, next.1));
            if is_other_file {
                let path = match package {
                    "" => line.file().to_owned(),
                    _ if line.file.is_none() => line.file().to_owned(),
                    package => format!("{}/{}", package.replace('.', "/"), line.file()),
                };
                writeln!(out, "\n{t}{}{t:#}", clean::line(&path))?;
            }
            if group.as_ref() != Some(&next) {
                writeln!(
                    out,
                    "  {}",
                    cut(&clean::line(&next.2), width.saturating_sub(2))
                )?;
            }
            let number = line.line.map_or("?".to_owned(), |it| it.to_string());
            let mark = if line.is_criterion { ">" } else { " " };
            let code = match (&line.code, line.line) {
                (Some(code), _) => code.as_str(),
                (None, Some(_)) => "",
                (None, None) => "somewhere in it",
            };
            let code = cut(&clean::line(code), width.saturating_sub(10));
            let start = format!("{mark}{number:>7}");
            let gap = if code.is_empty() { "" } else { "  " };
            writeln!(out, "{s}{start}{s:#}{gap}{code}")?;
            self.print_dependences(out, &line.dependences, Group::File(line), styles, width)?;
            group = Some(next);
        }
        let without = self.without_lines();
        if let Some(first) = without.first() {
            let others = without.len() - 1;
            let names = match others {
                0 => String::new(),
                more => format!(" and {}", counted(more as u64, "other class")),
            };
            let has = if others == 0 { "has" } else { "have" };
            let text = format!(
                "{first}{names} {has} no line numbers, so that methods are listed: compile with -g to see lines"
            );
            writeln!(out)?;
            put(out, &text, "  ")?;
        }
        if !self.not_traced.is_empty() {
            let count = counted(self.not_traced.len() as u64, "method");
            let text = format!(
                "{count} could not be traced: {}",
                self.not_traced.join(", ")
            );
            writeln!(out)?;
            put(out, &cut(&text, 400), "  ")?;
        }
        if self.lines.iter().any(|it| it.is_criterion) {
            writeln!(out, "\n{d}> is where the slice starts.{d:#}")?;
        }
        Ok(())
    }

    /// The sentence before the lines.
    fn headline(&self) -> String {
        let numbered = self.lines.len() as u64;
        let run = counted(self.lines_run as u64, "line");
        let what = match (self.from.as_str(), &self.failure) {
            ("failure", Some(failure)) => failure.clone(),
            ("failure" | "result", _) => "the result of the last call".to_owned(),
            (from, _) => from.to_owned(),
        };
        match self.direction {
            DirectionEntry::Backward => {
                format!("{what} depends on {} of {run} that ran", grouped(numbered))
            }
            DirectionEntry::Forward => {
                format!("{} of {run} that ran depend on {what}", grouped(numbered))
            }
        }
    }

    fn print_dependences(
        &self,
        out: &mut dyn Write,
        dependences: &[DependenceEntry],
        group: Group<'_>,
        styles: Styles,
        width: usize,
    ) -> io::Result<()> {
        let d = styles.dim;
        let mut words: Vec<(String, Vec<String>)> = Vec::new();
        for dependence in dependences {
            let (words_of, place) = match (self.line(dependence.on), self.call(dependence.on)) {
                (Some(line), _) => (dependence.words(), group.place(line)),
                (None, Some(call)) => call_words(dependence, call, &group),
                (None, None) => continue,
            };
            match words.iter_mut().find(|(known, _)| *known == words_of) {
                Some((_, places)) if places.contains(&place) => {}
                Some((_, places)) => places.push(place),
                None => words.push((words_of, vec![place])),
            }
        }
        let parts: Vec<String> = words
            .into_iter()
            .map(|(words, places)| format!("{words} {}", places.join(", ")))
            .collect();
        if parts.is_empty() {
            return Ok(());
        }
        let text = clean::line(&parts.join("; ")).into_owned();
        for line in wrap_words(&format!("{INDENT}{text}"), INDENT, width) {
            writeln!(out, "{d}{line}{d:#}")?;
        }
        Ok(())
    }
}

/// The lines among which a line is printed.
enum Group<'l> {
    Calls,
    File(&'l LineEntry),
}

impl Group<'_> {
    /// A line as others of the group name it.
    fn place(&self, line: &LineEntry) -> String {
        match (self, line.line) {
            (Group::File(own), Some(number)) if own.file() == line.file() => number.to_string(),
            _ => line.place(),
        }
    }
}

/// A dependence on a call of the test in words.
fn call_words(
    dependence: &DependenceEntry,
    call: &CallEntry,
    group: &Group<'_>,
) -> (String, String) {
    let place = match group {
        Group::Calls => call.number.to_string(),
        Group::File(_) => format!("call {}", call.number),
    };
    let words = match dependence.kind {
        super::DependenceKind::Call => "called by".to_owned(),
        _ => "given by".to_owned(),
    };
    (words, place)
}
