//! Scenarios as text: for people who debug a replay, for tests that write one by hand, for
//! comparing two of them. `docs/scenario-text.md` is the specification.
//!
//! [`Printer`] and [`Parser`] take a scenario piece by piece: the tables come first, and then each
//! step is a line. Each file here owns one part of the form, in both directions.

pub(crate) mod cursor;
pub(crate) mod names;
pub(crate) mod step;
pub(crate) mod table;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod value;
pub(crate) mod word;

use std::fmt;
use std::str::FromStr;

use super::{Scenario, Step, Tables};
use crate::{BlobId, EventIndex};
use cursor::{Cursor, Wrong};
use names::ScenarioNames;
use step::{Account, Columns};

/// Version of the form, in its first line.
pub const VERSION: u32 = 1;

/// The name of the form, in its first line.
const FORM: &str = "scenario";

/// Prints a scenario, one line after the other; no line has its line feed.
#[derive(Debug)]
pub struct Printer {
    names: ScenarioNames,
    columns: Columns,
    account: Account,
}

impl Printer {
    /// A printer of steps that refer to these tables. The numbers of events get room up to `last`.
    pub fn new(tables: &Tables, last: Option<EventIndex>) -> Printer {
        let digits = |number: u64| number.max(1).ilog10() as usize + 1;
        let several = tables.threads.len() > 1;
        let widest = tables.threads.iter().map(|(id, _)| id.0).max();
        let thread = 1 + digits(widest.unwrap_or_default().into());
        Printer {
            names: ScenarioNames::of(tables),
            columns: Columns {
                origin: last.map_or(0, |last| digits(last.0)),
                thread: if several { thread } else { 0 },
            },
            account: Account::of(tables),
        }
    }

    /// The first line, and those of the tables with their blobs.
    pub fn head(tables: &Tables) -> impl Iterator<Item = String> {
        let first = std::iter::once(format!("{FORM} {VERSION}"));
        first
            .chain(tables.types.iter().map(table::class))
            .chain(
                tables
                    .threads
                    .iter()
                    .map(|(id, name)| table::thread(*id, name)),
            )
            .chain(tables.sites.iter().map(table::site))
            .chain(
                tables
                    .blobs
                    .iter()
                    .map(|(id, bytes)| table::blob(*id, bytes)),
            )
    }

    /// The line of a blob that is not in the tables, which comes after them.
    pub fn blob(id: BlobId, bytes: &[u8]) -> String {
        table::blob(id, bytes)
    }

    /// The line of the next step.
    pub fn step(&mut self, step: &Step) -> String {
        let mut line = String::new();
        self.names
            .write_step(step, self.columns, &mut self.account, &mut line);
        line
    }
}

/// A text is not a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    pub expected: String,
    /// What is there instead, cut; empty at the end of the line.
    pub found: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ParseError {
            line,
            column,
            expected,
            found,
        } = self;
        write!(
            f,
            "line {line}, column {column}: expected {expected}, found "
        )?;
        match found.as_str() {
            "" => write!(f, "the end of the line"),
            found => write!(f, "`{found}`"),
        }
    }
}

impl std::error::Error for ParseError {}

/// Reads a scenario, one line after the other.
#[derive(Debug, Default)]
pub struct Parser {
    tables: Tables,
    /// Lines read.
    lines: usize,
    begun: bool,
    /// What the steps refer to; once there is one, the tables are complete.
    steps: Option<(ScenarioNames, Account)>,
}

impl Parser {
    pub fn new() -> Parser {
        Parser::default()
    }

    /// Takes the next line, without its line feed; the step on it, if there is one.
    pub fn line(&mut self, line: &str) -> Result<Option<Step>, ParseError> {
        self.lines += 1;
        let Some(line) = content(line) else {
            return Ok(None);
        };
        let read = self.content(line);
        read.map_err(|wrong| error(self.lines, line, wrong))
    }

    /// The tables, which are complete once there was a step.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The tables, after the last line.
    pub fn finish(mut self) -> Result<Tables, ParseError> {
        if self.begun {
            return Ok(self.tables);
        }
        self.lines += 1;
        let expected = first_line(FORM, VERSION);
        Err(error(self.lines, "", Wrong { at: 0, expected }))
    }

    fn content(&mut self, line: &str) -> Result<Option<Step>, Wrong> {
        let mut cursor = Cursor::new(line);
        if !self.begun {
            read_first_line(&mut cursor, FORM, VERSION)?;
            self.begun = true;
            return Ok(None);
        }
        if let Some(name) = ["type", "thread", "site", "blob"]
            .into_iter()
            .find(|name| cursor.eat_word(name))
        {
            if self.steps.is_some() {
                return cursor.wrong_at(0, "a step: the tables come before the first one");
            }
            return self.tables.read_entry(name, &mut cursor).map(|()| None);
        }
        let tables = &self.tables;
        let (names, account) = self
            .steps
            .get_or_insert_with(|| (ScenarioNames::of(tables), Account::of(tables)));
        names.read_step(&mut cursor, account).map(Some)
    }
}

/// A line without the room at its end; `None` if it is empty or a comment.
pub(crate) fn content(line: &str) -> Option<&str> {
    let start = line.trim();
    let is_content = !start.is_empty() && !start.starts_with("//");
    is_content.then(|| line.trim_end())
}

/// The first line of a text: the name of its form, and the version.
pub(crate) fn first_line(form: &str, version: u32) -> String {
    format!("`{form} {version}`")
}

/// Reads the first line of a text.
pub(crate) fn read_first_line(
    cursor: &mut Cursor<'_>,
    form: &str,
    version: u32,
) -> Result<(), Wrong> {
    if !cursor.eat_word(form) {
        return cursor.wrong(first_line(form, version));
    }
    let start = cursor.at;
    let found: u32 = cursor.number("the version of the form")?;
    if found != version {
        let expected = format!("version {version}, the one that is known here");
        return cursor.wrong_at(start, expected);
    }
    cursor.expect_end("the end of the line")
}

impl Tables {
    /// Reads an entry of the table with this name; the name has been read.
    pub(crate) fn read_entry(&mut self, name: &str, cursor: &mut Cursor<'_>) -> Result<(), Wrong> {
        match name {
            "type" => self.types.insert(table::read_class(cursor)?),
            "thread" => self.threads.push(table::read_thread(cursor)?),
            "site" => self.sites.insert(table::read_site(cursor)?),
            _ => {
                let start = cursor.at;
                let (id, bytes) = table::read_blob(cursor)?;
                if self.blobs.insert(id, bytes).is_some() {
                    return cursor.wrong_at(start, "a blob with a number of its own");
                }
            }
        }
        Ok(())
    }
}

/// The error of a line.
pub(crate) fn error(number: usize, line: &str, wrong: Wrong) -> ParseError {
    let (before, rest) = line.split_at(wrong.at);
    ParseError {
        line: number,
        column: before.chars().count() + 1,
        expected: wrong.expected,
        found: rest.chars().take(20).map(visible).collect(),
    }
}

/// A character that cannot steer a terminal.
fn visible(c: char) -> char {
    if c.is_control() { '\u{fffd}' } else { c }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in Printer::head(&self.tables) {
            writeln!(f, "{line}")?;
        }
        if !self.steps.is_empty() {
            writeln!(f)?;
        }
        let last = self.steps.iter().filter_map(|step| step.origin).max();
        let mut printer = Printer::new(&self.tables, last);
        self.steps
            .iter()
            .try_for_each(|step| writeln!(f, "{}", printer.step(step)))
    }
}

impl FromStr for Scenario {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Scenario, ParseError> {
        let mut parser = Parser::new();
        let mut steps = Vec::new();
        for line in text.lines() {
            steps.extend(parser.line(line)?);
        }
        let tables = parser.finish()?;
        Ok(Scenario { tables, steps })
    }
}
