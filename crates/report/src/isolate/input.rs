//! The report on an input: the difference, or the smallest input that fails.

mod console;
mod document;

use std::fmt::Write as _;
use std::path::Path;

use culprit_isolate::Rate;
use culprit_isolate::input::{Evidence, Isolated, Material, Pair, PairForm, PassAnswer};
use culprit_model::count::counted;
use culprit_model::{clean, secret};
use culprit_reduce::{SearchEnd, Tested};

use super::comparison::{Comparison, Line, Sides};
use super::search::Search;
use super::{early_end, seconds, within};
use crate::document::Document;
use crate::markup::html::escape;
use crate::markup::markdown::{block, code, plain};
use crate::page::{self, Point};
use console::window;
pub use document::{Bytes, InputCandidate, InputDocument, InputKind};

/// Characters of a line on the page.
const WIDE: usize = 2_000;

/// Rows of the HTML page, of all files together; lines of the difference in Markdown.
pub const ROWS: usize = 2_000;

/// Files that are shown, at most.
const FILES: usize = 50;

/// Bytes of an input that is written out as a literal, at most: with escapes it fits a line or two.
const WRITTEN_OUT: usize = 60;

/// Bytes of the ending of a name, at most.
const ENDING: usize = 40;

/// Files that the test changed which are named, at most.
const NAMED: usize = 5;

/// An isolation of an input, with all that its report needs.
pub struct InputReport<'r> {
    /// The command that found it, without the folder for results.
    pub command: String,
    /// The test, as it was typed.
    pub test: String,
    /// The input that fails.
    pub input: &'r Material,
    /// Whether the user gave an input that passes.
    pub has_other: bool,
    /// The path of the input, as it was typed.
    pub name: String,
    /// The result.
    pub found: &'r Isolated,
    /// The files in which the input that passes and the input that fails differ.
    pub pairs: Vec<Pair>,
    /// Whether warm JVMs could not be relied upon.
    pub is_disturbed: bool,
    /// The verdicts, in order.
    pub course: &'r [Tested],
    /// Files in the working folder that changed during the search.
    pub changed: Vec<String>,
    /// True if the test says what is interesting, and not what passes.
    pub is_interesting: bool,
    /// The command that continues the search.
    pub resume: String,
}

impl InputReport<'_> {
    /// Whether the result was confirmed when it was run again; `None` if it was not run.
    fn is_confirmed(&self) -> Option<bool> {
        let again = self.found.again;
        let is_whole =
            again.failing.is_some() && (again.passing.is_some() || self.found.passing.is_none());
        match again.is_so() {
            true if !is_whole => None,
            is_so => Some(is_so),
        }
    }

    /// Whether the result is 1-minimal.
    fn is_minimal(&self) -> bool {
        self.found.end == SearchEnd::Minimal && !self.found.is_coarse
    }

    /// Whether the failure of the result is described otherwise than that of the whole input.
    fn is_another_message(&self) -> bool {
        self.found.failure != self.found.original_failure
    }

    /// Bytes that only one side of the pair has.
    fn difference(&self) -> u64 {
        self.pairs.iter().map(|pair| pair.bytes).sum()
    }

    fn headline(&self) -> String {
        let found = self.found;
        let early = match found.end {
            _ if !found.again.is_so() => ", which is not confirmed",
            _ if self.is_minimal() => "",
            _ => " (less may)",
        };
        match &found.passing {
            Some(_) => {
                let what = match self.difference() {
                    0 => "the kind of a file decides, not its content".to_owned(),
                    1 => "1 byte decides".to_owned(),
                    size => format!("{} decide", bytes(size)),
                };
                format!("{what}{early}: {}", clean::line(&found.failure))
            }
            None => format!(
                "{} of {} {}{early}: {}",
                found.failing.len(),
                bytes(self.input.len()),
                match self.is_interesting {
                    true => "are enough",
                    false => "fail",
                },
                clean::line(&clean::line(&found.failure))
            ),
        }
    }

    /// The words for both sides.
    fn sides(&self) -> Sides {
        match self.is_interesting {
            true => Sides::INTEREST,
            false => Sides::VERDICTS,
        }
    }

    /// The questions that the pair leaves open, each a sentence.
    fn reservations(&self) -> Vec<String> {
        let Some(Evidence { answer, form }) = self.found.evidence else {
            return Vec::new();
        };
        let mut told = Vec::new();
        match answer {
            PassAnswer::NotInteresting => told.push(
                "the script says only yes or no: the input that it does not find interesting may fail \
                 in another way; if it exits with 125 for such inputs, they are avoided"
                    .to_owned(),
            ),
            PassAnswer::NoSign(how) if answer.is_doubtful() => told.push(match how {
                Some(how) => format!(
                    "the input that passes {how}: it may fail in another way, since only --fail-if counts"
                ),
                None => "the input that passes may fail in another way, since only --fail-if counts"
                    .to_owned(),
            }),
            PassAnswer::NoSign(_) | PassAnswer::Passes => {}
        }
        match form {
            PairForm::Broken(language) => told.push(format!(
                "the input that {} is not well-formed ({}), which may be the only reason",
                match self.is_interesting {
                    true => "is not interesting",
                    false => "passes",
                },
                language.name()
            )),
            PairForm::Unknown if answer.is_doubtful() => told.push(
                "candidates were not kept well-formed: the syntax of the input is not known, or has errors \
                 (--language names it)"
                    .to_owned(),
            ),
            PairForm::Unknown | PairForm::WellFormed(_) => {}
        }
        told
    }

    /// Figures and reservations, each a sentence.
    pub fn notes(&self) -> Vec<String> {
        let found = self.found;
        let tally = &found.tally;
        let (passed, failed) = match self.is_interesting {
            true => ("not interesting", "interesting"),
            false => ("passed", "failed"),
        };
        let mut notes = self.reservations();
        notes.push(format!(
            "{} in {:.1} s: {} {passed}, {} {failed}, {} without a verdict{}",
            counted(tally.tests, "test"),
            found.took.as_secs_f64(),
            tally.passed,
            tally.failed,
            tally.unresolved,
            match tally.ill_formed {
                0 => String::new(),
                count => format!("; {count} more not well-formed and not tested"),
            }
        ));
        if let Some(passing) = &found.passing {
            let (fail, pass) = match self.is_interesting {
                true => ("are interesting", "are not"),
                false => ("fail", "pass"),
            };
            notes.push(format!(
                "of {}: {} bytes {fail}, {} {pass}",
                bytes(self.input.len()),
                found.failing.len(),
                passing.len()
            ));
            if let Some(PairForm::WellFormed(language)) = found.evidence.map(|it| it.form) {
                notes.push(format!("both inputs are well-formed ({})", language.name()));
            }
        }
        if self.is_another_message() {
            notes.push(format!(
                "the failure differs from that of the whole input, which is: {}; --same message \
                 compares messages without their numbers, --fail-if 'stderr contains TEXT' any text",
                clean::line(&found.original_failure),
            ));
        }
        if let Some(text) = self.hidden() {
            notes.push(format!("its bytes: {text}"));
        }
        if !found.rate.is_always() {
            notes.push(format!(
                "the input {}; each candidate was run up to {} times",
                found.rate, found.runs
            ));
        }
        if !found.again.is_so() {
            let told = |side: &str, rate: Option<Rate>| match rate {
                Some(rate) => format!("{side} {} of {} times", rate.failed, rate.of),
                None => String::new(),
            };
            let failing = told("what fails did so", found.again.failing);
            let passing = match &found.passing {
                Some(_) => told(", what passes did not pass", found.again.passing),
                None => String::new(),
            };
            notes.push(format!(
                "not confirmed: when it was run again, {failing}{passing}; the test is flaky, \
                 and --repeat N runs each candidate N times"
            ));
        }
        if found.is_warm {
            notes.push("in reused JVMs; the result was confirmed in new ones".to_owned());
        }
        if self.is_disturbed {
            notes.push(
                "in new JVMs: in reused ones, runs affected each other (--fresh-jvm skips the attempt)"
                    .to_owned(),
            );
        }
        if found.strays > 0 {
            notes.push(format!(
                "the test left processes behind ({}), which were ended",
                found.strays
            ));
        }
        if !self.changed.is_empty() {
            let some: Vec<&str> = self
                .changed
                .iter()
                .take(NAMED)
                .map(String::as_str)
                .collect();
            let more = match self.changed.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            notes.push(format!(
                "files here changed meanwhile ({}{more}); --in-scratch runs the test in a new folder each time",
                some.join(", ")
            ));
        }
        let minimal = match &found.passing {
            _ if found.is_coarse => {
                "may not be minimal: there are so many parts that some were only tried together"
            }
            Some(_) => "minimal: no single part of the difference can be removed or added",
            None if self.has_other => "minimal: no single difference from --passing can be removed",
            None => "minimal: no single part can be removed",
        };
        notes.push(early_end(found.end).unwrap_or(minimal).to_owned());
        if found.passing.is_none() && !self.has_other {
            let small = file_name(&found.failing, "failing");
            let other = match self.is_interesting {
                true => "is not interesting",
                false => "passes",
            };
            notes.push(format!(
                "the same command without --simplify, on {small}, finds a similar input that {other}"
            ));
        }
        notes
    }

    /// The command that continues a search which ended early.
    pub fn resume(&self) -> Option<&str> {
        early_end(self.found.end).map(|_| self.resume.as_str())
    }

    /// The smallest input as a literal, where some of it does not show.
    fn hidden(&self) -> Option<String> {
        let [item] = self.found.failing.items.as_slice() else {
            return None;
        };
        let (bytes, text) = (item.bytes(), String::from_utf8_lossy(item.bytes()));
        let odd =
            |letter: char| letter != '\n' && clean::is_harmful(letter) || letter == '\u{fffd}';
        let is_hidden = text.contains(odd) || text.lines().any(|line| line.trim_end() != line);
        let is_short = self.found.passing.is_none() && bytes.len() <= WRITTEN_OUT;
        (is_hidden && is_short).then(|| format!("\"{}\"", bytes.escape_ascii()))
    }

    /// The meaning of the result, in Markdown.
    fn paragraph(&self) -> String {
        let meaning = self.meaning();
        match self.is_another_message() {
            true => format!(
                "{meaning} The whole input fails with another message ({}): check that it is the same \
                 defect.",
                plain(&self.found.original_failure)
            ),
            false => meaning,
        }
    }

    fn meaning(&self) -> String {
        let found = self.found;
        let (test, failure) = (code(&secret::text(&self.test)), plain(&found.failure));
        match &found.passing {
            _ if !found.again.is_so() => format!(
                "{test} was seen to fail on this input ({}), but when it was run again it did \
                 otherwise: what makes the difference is not known.",
                failure
            ),
            Some(_) if found.evidence.is_some_and(|it| it.answer.is_doubtful()) => format!(
                "{test} shows the failure on one of two inputs and not on the other ({failure}). The \
                 difference decides that, but the other input may fail in another way: look at how it ends \
                 before you take the difference for the cause. `--simplify` finds the smallest input that \
                 fails, and does not depend on this."
            ),
            Some(_) => format!(
                "{test} passes on one of two inputs and fails on the other ({}). The difference \
                 is an actual cause of the failure: taking it out is a workaround. It need not be the only \
                 one, and the defect lies in the program. What both inputs share may have a part in it; \
                 `--simplify` finds the smallest input that fails.",
                failure
            ),
            None => {
                let rest = match found.end {
                    _ if !self.is_minimal() => "; less of it may do",
                    _ if self.has_other => {
                        ", and no single part of what differs from the other input can be left out such \
                         that it still does"
                    }
                    _ => ", and no single part can be left out of it such that it still does",
                };
                format!(
                    "{test} fails on this input ({}){rest}. It is a reproducer; the defect lies \
                     in the program.",
                    failure
                )
            }
        }
    }

    /// `report.json`.
    pub fn document(&self) -> Document<InputDocument> {
        let (found, tally) = (self.found, &self.found.tally);
        let passing = found.passing.as_ref();
        Document::new(InputDocument {
            kind: InputKind::Input,
            command: self.command.clone(),
            input: self.name.clone(),
            failure: found.failure.clone(),
            original_failure: found.original_failure.clone(),
            rate: found.rate.into(),
            runs_of_each: found.runs,
            tests: tally.tests,
            passed: tally.passed,
            failed: tally.failed,
            unresolved: tally.unresolved,
            ill_formed: tally.ill_formed,
            replayed: tally.replayed,
            runs: found.test_runs,
            strays: found.strays,
            seconds: seconds(found.took, 1),
            warm: found.is_warm,
            minimal: self.is_minimal(),
            confirmed: self.is_confirmed(),
            bytes: Bytes {
                input: self.input.len(),
                failing: found.failing.len(),
                passing: passing.map(Material::len),
                difference: passing.map(|_| self.difference()),
            },
            failing: file_name(&found.failing, "failing"),
            passing: passing.map(|it| file_name(it, "passing")),
            changed_folder: self.changed.clone(),
            reservations: self.reservations(),
        })
    }

    fn search(&self) -> Search<'_> {
        let whole = self.input.len().max(1) as f64;
        let point = |tested: &Tested| Point {
            left: self.left(tested, whole),
            kind: tested.kind,
            level: tested.search.clone(),
        };
        Search {
            paragraph: self.paragraph(),
            notes: self.notes(),
            course: self.course.iter().map(point).collect(),
            command: &self.command,
            resume: self.resume(),
        }
    }

    /// `report.md`, with the unified diff of the pair, if there is one.
    pub fn markdown(&self, diff: Option<&[u8]>) -> String {
        let found = self.found;
        let mut text = format!("# {}\n\n", plain(&self.headline()));
        match diff {
            Some(diff) => {
                let mut lines = diff.split_inclusive(|byte| *byte == b'\n');
                let first = lines.by_ref().take(ROWS);
                let first = first.map(|line| clip(String::from_utf8_lossy(line).trim_end(), WIDE));
                let first: Vec<String> = first.collect();
                let _ = writeln!(text, "{}", block("diff", &first.join("\n")));
                match lines.count() {
                    0 => {}
                    more => {
                        let _ = writeln!(text, "{}\n", more_lines(more));
                    }
                }
            }
            None => {
                for item in found.failing.items.iter().take(FILES) {
                    let bytes = String::from_utf8_lossy(item.bytes());
                    let path = code(&clean::path(&item.path));
                    let shown = block("", &clip(&bytes, WIDE));
                    let _ = writeln!(text, "{path}:\n\n{shown}");
                }
                if let Some(more) = more_files(found.failing.items.len()) {
                    let _ = writeln!(text, "{more}\n");
                }
            }
        }
        text.push_str(&self.search().markdown());
        text
    }

    /// `report.html`.
    pub fn html(&self) -> String {
        let found = self.found;
        let mut body = String::new();
        match &found.passing {
            Some(_) => {
                body.push_str("<h2>Both inputs, side by side</h2>\n");
                for pair in self.pairs.iter().take(FILES) {
                    let comparison = Comparison::of_inputs(pair, |half| {
                        let (text, differs) = window(half, WIDE);
                        let number = half.number;
                        Line {
                            number,
                            text,
                            differs,
                        }
                    });
                    body.push_str(&comparison.html(self.sides()));
                    if pair.more > 0 {
                        let _ = writeln!(body, "<p>{}</p>", more_lines(pair.more));
                    }
                }
                if let Some(more) = more_files(self.pairs.len()) {
                    let _ = writeln!(body, "<p>{more}, in difference.diff</p>");
                }
            }
            None => {
                body.push_str("<h2>The smallest input that fails</h2>\n");
                for item in found.failing.items.iter().take(FILES) {
                    let text = String::from_utf8_lossy(item.bytes());
                    let _ = writeln!(
                        body,
                        "<p><code>{}</code></p><pre>{}</pre>",
                        escape(&clean::path(&item.path)),
                        escape(&clip(&text, 50 * WIDE))
                    );
                }
                if let Some(more) = more_files(found.failing.items.len()) {
                    let _ = writeln!(body, "<p>{more}</p>");
                }
            }
        }
        body.push_str(&self.search().html());
        page::page(&self.headline(), &body)
    }

    /// The part of the input that is left to decide after a test, as a share of it.
    fn left(&self, tested: &Tested, whole: f64) -> f64 {
        match &self.found.passing {
            Some(_) => tested.open / whole,
            None => tested.best as f64 / whole,
        }
    }
}

/// The name in the result folder for a side: the given one, with the extension of the input.
pub fn file_name(material: &Material, name: &str) -> String {
    let item = material.items.first().filter(|_| !material.is_folder);
    let ending = item.and_then(|item| Path::new(&item.path).extension());
    let ending = ending.filter(|ending| ending.len() <= ENDING);
    match ending {
        Some(ending) => format!("{name}.{}", ending.to_string_lossy()),
        None => name.to_owned(),
    }
}

/// A note on the lines that are not shown.
fn more_lines(more: usize) -> String {
    format!("and {more} lines more, in difference.diff")
}

/// A note on the files that are not shown, if there are any.
fn more_files(count: usize) -> Option<String> {
    let more = count.checked_sub(FILES).filter(|more| *more > 0)?;
    Some(format!("and {} more", counted(more as u64, "file")))
}

fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        _ => format!("{count} bytes"),
    }
}

fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
