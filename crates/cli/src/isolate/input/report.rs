//! What was found, as text, Markdown, JSON and a page.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use culprit_isolate::Rate;
use culprit_isolate::input::{Half, Isolated, Material, Mode, Pair, PairRow, unified};
use culprit_model::{clean, secret};
use culprit_reduce::{End, Tested};
use serde_json::{Value, json};

use crate::console::Console;
use crate::isolate::results::Results;
use crate::isolate::say;
use culprit_report::figure::counted;
use culprit_report::markup::html::{escape, prose};
use culprit_report::markup::json as json_text;
use culprit_report::markup::markdown::{block, code, plain};
use culprit_report::page::{self, Point};

/// Rows that are printed to the console, at most.
const PRINTED: usize = 24;

/// Characters of a line of either side on the console; longer ones are cut around what differs.
const WIDTH: usize = 56;

/// The least that is of use.
const NARROW: usize = 16;

/// The number of a line and a blank, before it.
const MARGIN: usize = 7;

/// Characters of a line on the page.
const WIDE: usize = 2_000;

/// Rows that the page has, of all files; lines of the difference in Markdown.
pub(crate) const ROWS: usize = 2_000;

/// Files that are shown, at most.
const FILES: usize = 50;

/// The largest input that is shown whole.
const SHOWN: u64 = 4_000;

/// Bytes of an input that is written out as a literal, at most: with escapes it fits a line or two.
const WRITTEN_OUT: usize = 60;

/// Bytes of the ending of a name, at most.
const ENDING: usize = 40;

/// Files that the test changed which are named, at most.
const NAMED: usize = 5;

/// What a report is about.
pub(crate) struct Report<'r> {
    /// The command that found it, but for the folder.
    pub(crate) command: String,
    pub(crate) test: String,
    pub(crate) input: &'r Material,
    /// Whether the user gave an input that passes.
    pub(crate) has_other: bool,
    pub(crate) name: String,
    pub(crate) found: &'r Isolated,
    /// The files in which what passes and what fails differ.
    pub(crate) pairs: Vec<Pair>,
    /// Whether warm JVMs could not be relied upon.
    pub(crate) is_disturbed: bool,
    pub(crate) course: &'r [Tested],
    /// What the test changed where the user is.
    pub(crate) changed: Vec<String>,
}

impl Report<'_> {
    /// Writes all files of the report.
    pub(crate) fn write(&self, results: &Results) -> anyhow::Result<()> {
        put(&self.found.failing, results, "failing")?;
        // Those of a pair that was found here before.
        for name in [&name_of(&self.found.failing, "passing"), "difference.diff"] {
            remove(&results.path(name))?;
        }
        if let Some(passing) = &self.found.passing {
            put(passing, results, "passing")?;
        }
        let passing = self.found.passing.as_ref();
        let diff = passing.map(|passing| unified(passing, &self.found.failing));
        if let Some(diff) = &diff {
            results.write("difference.diff", diff)?;
        }
        results.write("report.json", json_text(&self.json()))?;
        results.write("report.md", self.markdown(diff.as_deref()))?;
        results.write("report.html", self.html())?;
        Ok(())
    }

    pub(crate) fn print(&self, results: &Results, console: &mut Console) -> anyhow::Result<()> {
        let styles = console.styles();
        let title = styles.title;
        writeln!(console.out(), "{title}{}{title:#}", self.headline())?;
        match &self.found.passing {
            Some(_) => {
                let width = console.columns().map_or(WIDTH, width_within);
                for pair in self.pairs.iter().take(FILES) {
                    self.print_pair(pair, width, console)?;
                }
                if let Some(more) = more_files(self.pairs.len()) {
                    writeln!(console.out(), "{more}, in difference.diff")?;
                }
            }
            None if self.found.failing.len() <= SHOWN => {
                for item in &self.found.failing.items {
                    if self.found.failing.is_folder {
                        writeln!(console.out(), "{}", clean::path(&item.path))?;
                    }
                    // What is no text says nothing on a terminal.
                    let text = std::str::from_utf8(item.bytes()).unwrap_or_default();
                    for line in text.lines().filter(|_| !text.contains('\0')) {
                        writeln!(console.out(), "  {}", printable(line))?;
                    }
                }
            }
            None => {}
        }
        // On a terminal the notes come behind.
        console.flush()?;
        for note in self.notes() {
            say("  ", &note, console)?;
        }
        writeln!(
            console.err(),
            "  {}",
            clean::path(&results.path("report.html"))
        )?;
        Ok(())
    }

    fn print_pair(&self, pair: &Pair, width: usize, console: &mut Console) -> anyhow::Result<()> {
        let styles = console.styles();
        let (bad, value, dim) = (styles.bad, styles.value, styles.dim);
        let gap = " ".repeat(width.saturating_sub(6));
        writeln!(
            console.out(),
            "{dim}{}{}{dim:#}\n       {value}passes{value:#}{gap}        {bad}fails{bad:#}",
            clean::path(&pair.path),
            pair.modes.map_or(String::new(), |(old, new)| format!(
                ": mode {old} passes, {new} fails"
            )),
        )?;
        for row in pair.rows.iter().take(PRINTED) {
            let Some(row) = row else {
                writeln!(console.out(), "   ...")?;
                continue;
            };
            let (left, left_mark) = column(row.passing.as_ref(), width);
            let (right, right_mark) = column(row.failing.as_ref(), width);
            let pad = " ".repeat((width + MARGIN).saturating_sub(left.chars().count()));
            let line = format!("{left}{pad} {right}");
            writeln!(console.out(), "{}", line.trim_end())?;
            let pad = " ".repeat((width + MARGIN).saturating_sub(left_mark.chars().count()));
            let marks = format!("{value}{left_mark}{value:#}{pad} {bad}{right_mark}{bad:#}");
            if !left_mark.is_empty() || !right_mark.is_empty() {
                writeln!(console.out(), "{}", marks.trim_end())?;
            }
        }
        let more = pair.rows.len().saturating_sub(PRINTED) + pair.more;
        if more > 0 {
            writeln!(console.out(), "   {}", more_lines(more))?;
        }
        Ok(())
    }

    /// Whether all that was found was seen again. `None` if it was not run.
    fn is_confirmed(&self) -> Option<bool> {
        let again = self.found.again;
        let is_whole =
            again.failing.is_some() && (again.passing.is_some() || self.found.passing.is_none());
        match again.is_so() {
            true if !is_whole => None,
            is_so => Some(is_so),
        }
    }

    /// Whether nothing less is known to do.
    fn is_minimal(&self) -> bool {
        self.found.end == End::Minimal && !self.found.is_coarse
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
                    0 => "what a file is, and not its bytes, decides".to_owned(),
                    1 => "1 byte decides".to_owned(),
                    size => format!("{} decide", bytes(size)),
                };
                format!("{what}{early}: {}", clean::line(&found.failure))
            }
            None => format!(
                "{} of {} fail{early}: {}",
                found.failing.len(),
                bytes(self.input.len()),
                clean::line(&clean::line(&found.failure))
            ),
        }
    }

    /// What else there is to know.
    fn notes(&self) -> Vec<String> {
        let found = self.found;
        let tally = &found.tally;
        let mut notes = vec![format!(
            "{} in {:.1} s: {} passed, {} failed, {} without a verdict{}",
            counted(tally.tests, "test"),
            found.took.as_secs_f64(),
            tally.passed,
            tally.failed,
            tally.unresolved,
            match tally.ill_formed {
                0 => String::new(),
                count => format!("; {count} more not well-formed and not tested"),
            }
        )];
        if let Some(passing) = &found.passing {
            notes.push(format!(
                "of {}: {} bytes fail, {} pass",
                bytes(self.input.len()),
                found.failing.len(),
                passing.len()
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
                "not confirmed: when it was run again, {failing}{passing}; the test is not steady, \
                 and --repeat N runs each candidate N times"
            ));
        }
        if found.is_warm {
            notes.push("in warm JVMs; the result was seen in new ones".to_owned());
        }
        if self.is_disturbed {
            notes.push(
                "in new JVMs: in warm ones runs had an effect on each other (--fresh-jvm saves trying)"
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
        notes.push(match (found.end, &found.passing) {
            (End::Minimal, _) if found.is_coarse => {
                "may not be minimal: there are so many parts that some were only tried together"
                    .to_owned()
            }
            (End::Minimal, Some(_)) => {
                "minimal: no single part of the difference can be removed or added".to_owned()
            }
            (End::Minimal, None) if self.has_other => {
                "minimal: no single difference from --passing can be removed".to_owned()
            }
            (End::Minimal, None) => "minimal: no single part can be removed".to_owned(),
            (End::Tests, _) => "may not be minimal: --max-tests was reached".to_owned(),
            (End::Time, _) => "may not be minimal: --max-time was reached".to_owned(),
            (End::Cancelled, _) => "may not be minimal: interrupted (--resume goes on)".to_owned(),
        });
        notes
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

    /// What the result says, and what not.
    fn paragraph(&self) -> String {
        let found = self.found;
        let (test, failure) = (code(&secret::text(&self.test)), plain(&found.failure));
        match &found.passing {
            _ if !found.again.is_so() => format!(
                "{test} was seen to fail on this input ({}), but when it was run again it did \
                 otherwise: what makes the difference is not known.",
                failure
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

    pub(crate) fn json(&self) -> Value {
        let found = self.found;
        let tally = &found.tally;
        json!({
            "version": 1,
            "kind": "input",
            "command": self.command,
            "input": self.name,
            "failure": found.failure,
            "rate": { "failed": found.rate.failed, "of": found.rate.of },
            "runsOfEach": found.runs,
            "tests": tally.tests,
            "passed": tally.passed,
            "failed": tally.failed,
            "unresolved": tally.unresolved,
            "illFormed": tally.ill_formed,
            "replayed": tally.replayed,
            "runs": found.test_runs,
            "strays": found.strays,
            "seconds": (found.took.as_secs_f64() * 10.0).round() / 10.0,
            "warm": found.is_warm,
            "minimal": self.is_minimal(),
            "confirmed": self.is_confirmed(),
            "bytes": {
                "input": self.input.len(),
                "failing": found.failing.len(),
                "passing": found.passing.as_ref().map(Material::len),
                "difference": found.passing.as_ref().map(|_| self.difference()),
            },
            "failing": name_of(&found.failing, "failing"),
            "passing": found.passing.as_ref().map(|it| name_of(it, "passing")),
            "changedFolder": self.changed,
        })
    }

    /// With the difference of the pair, if there is one.
    fn markdown(&self, diff: Option<&[u8]>) -> String {
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
        let _ = write!(text, "{}\n\n## How it was found\n\n", self.paragraph());
        for note in self.notes() {
            let _ = writeln!(text, "- {}", plain(&note));
        }
        let _ = write!(text, "\n{}", block("sh", &self.command));
        text
    }

    fn html(&self) -> String {
        let found = self.found;
        let mut body = String::new();
        match &found.passing {
            Some(_) => {
                body.push_str("<h2>Passes and fails, side by side</h2>\n");
                for pair in self.pairs.iter().take(FILES) {
                    body.push_str(&pair_html(pair));
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
        let _ = write!(
            body,
            "<p>{}</p>\n<h2>How it was found</h2>\n<ul>\n",
            prose(&self.paragraph())
        );
        for note in self.notes() {
            let _ = writeln!(body, "<li>{}</li>", escape(&note));
        }
        let whole = self.input.len().max(1) as f64;
        let points: Vec<Point> = self
            .course
            .iter()
            .map(|tested| Point {
                left: self.left(tested, whole),
                kind: tested.kind,
                level: tested.search.clone(),
            })
            .collect();
        body.push_str(&page::ending(&points, &self.command));
        page::page(&self.headline(), &body)
    }

    /// What is left to decide after a test, as a share of the input.
    fn left(&self, tested: &Tested, whole: f64) -> f64 {
        match &self.found.passing {
            Some(_) => tested.open / whole,
            None => tested.best as f64 / whole,
        }
    }
}

/// Writes one side: a file with the ending of the input, or a folder.
fn put(material: &Material, results: &Results, name: &str) -> anyhow::Result<()> {
    let place = results.path(&name_of(material, name));
    remove(&place)?;
    match material.is_folder {
        true => {
            fs::create_dir_all(&place)?;
            for item in &material.items {
                item.write(&place)?;
            }
        }
        false => material.write_as(&place)?,
    }
    Ok(())
}

/// Removes what is at a place, if anything is.
fn remove(place: &Path) -> io::Result<()> {
    match fs::symlink_metadata(place) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(place),
        Ok(_) => fs::remove_file(place),
        Err(_) => Ok(()),
    }
}

fn name_of(material: &Material, name: &str) -> String {
    let item = material.items.first().filter(|_| !material.is_folder);
    let ending = item.and_then(|item| Path::new(&item.path).extension());
    let ending = ending.filter(|ending| ending.len() <= ENDING);
    match ending {
        Some(ending) => format!("{name}.{}", ending.to_string_lossy()),
        None => name.to_owned(),
    }
}

/// What is said of the lines that are not shown.
fn more_lines(more: usize) -> String {
    format!("and {more} lines more, in difference.diff")
}

/// What is said of so many files if they are not all shown.
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

/// What a line of either side may have on a terminal that is so wide.
fn width_within(columns: usize) -> usize {
    (columns.saturating_sub(2 * MARGIN + 1) / 2).clamp(NARROW, WIDTH)
}

/// A line on the console with its number, and what marks the part that differs.
fn column(half: Option<&Half>, width: usize) -> (String, String) {
    let Some(half) = half else {
        return (String::new(), String::new());
    };
    let (text, mark) = window(half, width);
    let start = text[..mark.start].chars().count();
    let count = text[mark.clone()].chars().count();
    let marks = match count {
        0 => String::new(),
        _ => format!("{}{}", " ".repeat(start + MARGIN), "^".repeat(count)),
    };
    (format!("{:>6} {text}", half.number), marks)
}

/// A line of at most so many characters, around what differs, and where that is in it.
fn window(half: &Half, width: usize) -> (String, std::ops::Range<usize>) {
    let clean = printable(&half.text);
    // Characters that cannot be shown are one character each, as they were.
    let place = |byte: usize| half.text[..byte].chars().count();
    let (first, last) = (place(half.differs.start), place(half.differs.end));
    let letters: Vec<char> = clean.chars().collect();
    let start = match letters.len() <= width {
        true => 0,
        false => first.saturating_sub(width / 4).min(letters.len() - width),
    };
    let end = letters.len().min(start + width);
    let text: String = letters[start..end].iter().collect();
    let byte = |letter: usize| -> usize {
        let letter = letter.clamp(start, end) - start;
        text.char_indices()
            .nth(letter)
            .map_or(text.len(), |(at, _)| at)
    };
    let mark = byte(first)..byte(last);
    (text, mark)
}

/// A line in which each character takes one place, so that parts of it can be marked.
fn printable(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\t' => ' ',
        letter if clean::is_harmful(letter) => '\u{fffd}',
        letter => letter,
    };
    text.chars().map(shown).collect()
}

fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn pair_html(pair: &Pair) -> String {
    let side = |is_there: bool, mode: Option<Mode>| match (is_there, mode) {
        (true, None) => String::new(),
        (true, Some(mode)) => format!(", mode {mode}"),
        (false, _) => " (no such file)".to_owned(),
    };
    let mut html = format!(
        "<table class=\"pair\"><tr><td class=\"n\"></td><th>passes: <code>{0}</code>{1}</th>\
         <td class=\"n\"></td><th>fails: <code>{0}</code>{2}</th></tr>\n",
        escape(&clean::path(&pair.path)),
        side(pair.is_there.0, pair.modes.map(|modes| modes.0)),
        side(pair.is_there.1, pair.modes.map(|modes| modes.1)),
    );
    for row in &pair.rows {
        html.push_str(&row_html(row.as_ref()));
    }
    html.push_str("</table>\n");
    if pair.more > 0 {
        let _ = writeln!(html, "<p>{}</p>", more_lines(pair.more));
    }
    html
}

fn row_html(row: Option<&PairRow>) -> String {
    let Some(row) = row else {
        return "<tr><td class=\"n\">⋯</td><td></td><td class=\"n\">⋯</td><td></td></tr>\n"
            .to_owned();
    };
    let text = |half: &Option<Half>| {
        row.passing.as_ref().map(|it| &it.text) == half.as_ref().map(|it| &it.text)
    };
    let is_changed = !text(&row.failing) || row.passing.is_none();
    let cell = |half: &Option<Half>, name: &str| match half {
        Some(half) => {
            let (text, mark) = window(half, WIDE);
            let inside = match mark.is_empty() {
                true => String::new(),
                false => format!("<mark>{}</mark>", escape(&text[mark.clone()])),
            };
            let class = if is_changed {
                format!("l {name}")
            } else {
                "l".to_owned()
            };
            format!(
                "<td class=\"n\">{}</td><td class=\"{class}\">{}{inside}{}</td>",
                half.number,
                escape(&text[..mark.start]),
                escape(&text[mark.end..])
            )
        }
        None => "<td class=\"n\"></td><td></td>".to_owned(),
    };
    format!(
        "<tr>{}{}</tr>\n",
        cell(&row.passing, "old"),
        cell(&row.failing, "new")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_what_differs() {
        let text = format!("{}<b>{}", "é".repeat(300), "y".repeat(300));
        let half = Half {
            number: 3,
            differs: 600..603,
            text,
        };
        assert_eq!([1, 80, 100, 200].map(width_within), [16, 32, 42, 56]);
        let (line, marks) = column(Some(&half), 32);
        assert_eq!(line.chars().count(), 32 + MARGIN);
        let at = marks.find('^').unwrap();
        let marked: String = line.chars().skip(at).take(3).collect();
        assert_eq!((marked.as_str(), marks.trim()), ("<b>", "^^^"));
    }

    #[test]
    fn harmful_characters_take_one_place_each() {
        assert_eq!(printable("a\tb\x1b[31m\u{202e}"), "a b\u{fffd}[31m\u{fffd}");
    }
}
