//! The stack traces in the output of a command.
//!
//! Known are what `java` prints for uncaught exceptions, Maven Surefire, Gradle, JUnit's console
//! launcher and text runner, and logs, with or without a prefix in front of every line. A trace
//! has frames; without frames an exception counts only where one of these announces it.

use crate::block::{self, Header, MESSAGE, Start, Style, TraceLines, header};
use crate::{Frame, Thrown};

/// A stack trace in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundTrace {
    /// The exception.
    pub thrown: Thrown,
    /// Whose failure it is, where the text tells it.
    pub owner: Option<Owner>,
    /// Number of its first line, from 1.
    pub line: usize,
}

/// Whose failure a stack trace tells of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Owner {
    /// A thread that an exception left, by its name.
    Thread(String),
    /// A test: `class.method` where the text tells it so, otherwise as it is printed.
    Test(String),
}

/// All stack traces of a text, in its order.
pub fn find_all(text: &str) -> Vec<FoundTrace> {
    let lines: Vec<String> = text.lines().map(without_colour).collect();
    let announced: Vec<Option<Announced<'_>>> = lines.iter().map(|line| announce(line)).collect();
    let barriers: Vec<bool> = lines
        .iter()
        .zip(&announced)
        .map(|(line, announced)| {
            announced.is_some() || header(line).is_some_and(|it| is_named(&it))
        })
        .collect();
    let finder = Finder {
        prefixes: lines.iter().map(|line| frame_prefix(line)).collect(),
        lines: &lines,
        announced,
        barriers,
    };
    finder.all()
}

struct Finder<'a> {
    lines: &'a [String],
    announced: Vec<Option<Announced<'a>>>,
    barriers: Vec<bool>,
    /// The text before the indentation, for lines with a frame.
    prefixes: Vec<Option<&'a str>>,
}

/// The information of a line about the trace in it or below it.
enum Announced<'a> {
    /// The trace of a test starts in the next line.
    Test {
        name: String,
        runner: Runner,
    },
    /// The console launcher names a test, and says below what is known of it.
    Named(&'a str),
    Source(String),
    /// The header is in this line.
    Here {
        header: &'a str,
        thread: Option<&'a str>,
    },
    /// The same of the console launcher.
    Bare(&'a str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Runner {
    Surefire,
    Other,
}

impl Finder<'_> {
    fn all(&self) -> Vec<FoundTrace> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.lines.len() {
            match self.at(at) {
                Some((one, next)) => {
                    found.push(one);
                    at = next.max(at + 1);
                }
                None => at += 1,
            }
        }
        found
    }

    fn at(&self, at: usize) -> Option<(FoundTrace, usize)> {
        let line = self.lines[at].as_str();
        let prefix = self.prefix_below(at);
        let java = TraceLines::new(self.lines, &self.barriers, prefix, Style::Java);
        let found = |thrown, owner, next| {
            let line = at + 1;
            Some((
                FoundTrace {
                    thrown,
                    owner,
                    line,
                },
                next,
            ))
        };
        match &self.announced[at] {
            Some(Announced::Here { header, thread }) => {
                let start = Start {
                    header,
                    at,
                    indent: 0,
                };
                let (mut thrown, next) = block::within(&java, &start)?;
                thrown.truncated |= thrown.frames.is_empty();
                let owner = thread.map(|name| Owner::Thread(name.to_owned()));
                found(thrown, owner, next)
            }
            Some(Announced::Bare(header)) => {
                let lines = TraceLines::new(self.lines, &self.barriers, "", Style::Bare);
                let start = Start {
                    header,
                    at,
                    indent: 0,
                };
                let (mut thrown, next) = block::within(&lines, &start)?;
                thrown.truncated |= thrown.frames.is_empty();
                found(thrown, self.console_test(at), next)
            }
            Some(_) => None,
            None => {
                let own = java.get(at).unwrap_or(line);
                let test = match at.checked_sub(1).map(|above| &self.announced[above]) {
                    Some(Some(Announced::Test { name, runner })) => Some((name, *runner)),
                    _ => None,
                };
                let (header, indent) = self.header_in(own, at, test.is_some())?;
                let start = Start { header, at, indent };
                let (mut thrown, next) = block::within(&java, &start)?;
                if thrown.frames.is_empty() && test.is_none() {
                    return None;
                }
                thrown.truncated |= thrown.frames.is_empty();
                if test.is_some_and(|(_, runner)| runner == Runner::Surefire) {
                    start_message_in_its_line(&mut thrown);
                }
                let owner = test.map(|(name, _)| Owner::Test(name.clone()));
                found(thrown, owner, next)
            }
        }
    }

    /// The header of an exception that nobody announced, and how far it is indented.
    fn header_in<'l>(&self, line: &'l str, at: usize, sure: bool) -> Option<(&'l str, usize)> {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        // What caused nothing that can be read here: its cause is all that is known.
        let body = body.strip_prefix("Caused by: ").unwrap_or(body);
        if let Some(header) = header(body) {
            let above_frame = self.prefixes.get(at + 1).is_some_and(Option::is_some);
            if sure || is_named(&header) || (above_frame && is_likely(&header)) {
                return Some((body, indent));
            }
        }
        let words = body.match_indices(' ').map(|(blank, _)| &body[blank + 1..]);
        let mut headers =
            words.filter(|rest| header(rest).is_some_and(|it| is_named(&it) && !it.short));
        headers.next().map(|rest| (rest, indent))
    }

    /// The prefix of the first frame below a line, where logs put something before each line.
    fn prefix_below(&self, at: usize) -> &str {
        let end = self.lines.len().min(at + 2 + MESSAGE);
        let below = self.prefixes[at + 1..end.max(at + 1)].iter();
        below.flatten().next().unwrap_or(&"")
    }

    /// The test that the console launcher names in the lines above a trace.
    fn console_test(&self, at: usize) -> Option<Owner> {
        let above = |count: usize| self.announced[at.checked_sub(count)?].as_ref();
        let name = match above(1)? {
            Announced::Source(name) => name.clone(),
            Announced::Named(name) => (*name).to_owned(),
            _ => match above(2)? {
                Announced::Named(name) => (*name).to_owned(),
                _ => return None,
            },
        };
        Some(Owner::Test(name))
    }
}

fn announce(line: &str) -> Option<Announced<'_>> {
    let body = line.trim_start();
    let indent = line.len() - body.len();
    if let Some(at) = line.find("Exception in thread \"") {
        let rest = &line[at + "Exception in thread \"".len()..];
        let mut ends = rest.match_indices("\" ");
        return ends.find_map(|(end, quote)| {
            let text = &rest[end + quote.len()..];
            header(text).map(|_| Announced::Here {
                header: text,
                thread: Some(&rest[..end]),
            })
        });
    }
    if let Some(rest) = body.strip_prefix("Exception: ") {
        let (class, name) =
            rest.split_once(" thrown from the UncaughtExceptionHandler in thread ")?;
        return Some(Announced::Here {
            header: class,
            thread: Some(name.trim_matches('"')),
        });
    }
    if let Some(rest) = body
        .strip_prefix("=> ")
        .filter(|rest| header(rest).is_some())
    {
        return Some(Announced::Bare(rest));
    }
    if body.starts_with("MethodSource [") {
        let quoted = |key: &str| {
            let start = body.find(key)? + key.len();
            body[start..].split('\'').nth(1)
        };
        let (class, method) = (quoted("className =")?, quoted("methodName =")?);
        return Some(Announced::Source(format!("{class}.{method}")));
    }
    let test = |name: String, runner| Some(Announced::Test { name, runner });
    if let Some(rest) = body
        .strip_suffix("<<< FAILURE!")
        .or(body.strip_suffix("<<< ERROR!"))
    {
        let rest = rest.strip_prefix("[ERROR] ").unwrap_or(rest);
        let end = rest
            .find(" -- Time elapsed")
            .or(rest.find("Time elapsed"))?;
        return test(test_name(rest[..end].trim()), Runner::Surefire);
    }
    if let Some(name) = body.strip_suffix(" FAILED").filter(|it| it.contains(" > ")) {
        return test(name.to_owned(), Runner::Other);
    }
    if let Some((number, name)) = line.split_once(") ") {
        let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if numbered && name.ends_with(')') {
            return test(test_name(name), Runner::Other);
        }
    }
    let named = indent == 2 && body.starts_with("JUnit ") && body.contains(':');
    named.then(|| {
        let (_engine, name) = body.split_once(':').unwrap_or(("", body));
        Announced::Named(name)
    })
}

/// `method(class)`, as JUnit 4 has it, becomes `class.method`.
fn test_name(text: &str) -> String {
    let parts = text.strip_suffix(')').and_then(|it| it.rsplit_once('('));
    match parts {
        Some((method, class)) if class.contains('.') && !method.contains(['(', '.']) => {
            format!("{class}.{method}")
        }
        _ => text.to_owned(),
    }
}

/// Surefire starts a message of several lines in a line of its own.
fn start_message_in_its_line(thrown: &mut Thrown) {
    let moved = thrown.message.as_ref().and_then(|it| it.strip_prefix('\n'));
    if let Some(message) = moved.map(str::to_owned) {
        thrown.message = Some(message);
    }
}

/// True if a name says by itself that this is an exception.
fn is_named(header: &Header<'_>) -> bool {
    let ends = ["Exception", "Error", "Throwable", "Failure", "Fault"];
    let (class, _) = crate::frame::split_hidden(header.class);
    class.contains(['.', '$']) && ends.iter().any(|end| class.ends_with(end))
}

/// True if a name can be that of an exception, since a frame is below it. Thread dumps and levels
/// of logs look the same.
fn is_likely(header: &Header<'_>) -> bool {
    let simple = header.class.rsplit(['.', '$']).next().unwrap_or_default();
    header.class != "java.lang.Thread.State"
        && simple.starts_with(char::is_uppercase)
        && simple.contains(char::is_lowercase)
        && !matches!(simple, "Warning" | "Info" | "Severe" | "Debug")
}

/// The text before the indentation of a frame, if the line ends with one.
fn frame_prefix(line: &str) -> Option<&str> {
    let mut starts = line.match_indices("at ");
    starts.find_map(|(at, word)| {
        let before = &line[..at];
        let indented = before.is_empty() || before.ends_with([' ', '\t']);
        let frame = indented.then(|| Frame::parse(&line[at + word.len()..]))?;
        frame
            .map(|_| before.trim_end_matches('\t'))
            .map(prefix_before)
    })
}

/// Blanks before the first word are indentation, those behind a prefix belong to it if there are
/// tabs to indent with; otherwise one of them does.
fn prefix_before(before: &str) -> &str {
    let word = before.trim_end();
    match before.len() - word.len() {
        0 => word,
        _ if word.is_empty() => word,
        _ => &before[..word.len() + 1],
    }
}

/// Removes the sequences that colour terminals.
fn without_colour(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("\u{1b}[") {
        text.push_str(&rest[..at]);
        let tail = &rest[at + 2..];
        let end = tail.find(|c: char| !c.is_ascii_digit() && c != ';');
        rest = match end {
            Some(end) => {
                let last = tail[end..].chars().next().map_or(0, char::len_utf8);
                &tail[end + last..]
            }
            None => "",
        };
    }
    text.push_str(rest);
    text
}
