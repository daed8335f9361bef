//! One stack trace in lines of text: header, message, frames, causes.
//!
//! Two callers read with the same rules. In an *exact* text there is nothing but the trace, so a
//! line that is no part of a stack belongs to the message above it; otherwise it ends the trace.

use crate::frame::{Frame, is_class};
use crate::thrown::Thrown;

/// The maximal depth of causes and suppressed exceptions; deeper ones are ignored.
const DEPTH: usize = 64;
/// The maximal number of lines of a message above its stack.
pub(crate) const MESSAGE: usize = 100;

/// The layout of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// Frames start with `at`.
    Java,
    /// Frames are indented and nothing else: JUnit's console launcher.
    Bare,
}

/// Lines of a text, of which those with the prefix of the trace lose it.
pub(crate) struct TraceLines<'a, S> {
    all: &'a [S],
    prefix: &'a str,
    style: Style,
    /// Lines where something new begins, which end messages.
    barriers: &'a [bool],
}

impl<'a, S: AsRef<str>> TraceLines<'a, S> {
    pub(crate) fn plain(all: &'a [S]) -> Self {
        TraceLines::new(all, &[], "", Style::Java)
    }

    pub(crate) fn new(all: &'a [S], barriers: &'a [bool], prefix: &'a str, style: Style) -> Self {
        TraceLines {
            all,
            prefix,
            style,
            barriers,
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<&'a str> {
        let line = self.all.get(at)?.as_ref();
        Some(without_prefix(line, self.prefix))
    }

    fn kind(&self, at: usize) -> Option<TraceLine<'a>> {
        self.get(at).map(|line| classify(line, self.style))
    }
}

/// Removes a prefix that differs at most in its digits: a log writes its times in front of lines.
fn without_prefix<'a>(line: &'a str, prefix: &str) -> &'a str {
    let Some(head) = line.get(..prefix.len()) else {
        return line;
    };
    let pairs = head.bytes().zip(prefix.bytes());
    let mut same = pairs.map(|(a, b)| a == b || (a.is_ascii_digit() && b.is_ascii_digit()));
    if same.all(|it| it) {
        &line[prefix.len()..]
    } else {
        line
    }
}

/// The kinds of lines in a trace.
pub(crate) enum TraceLine<'a> {
    Frame(Frame),
    /// So many frames as in the enclosing trace.
    More(usize),
    /// Frames are left out.
    Elided,
    Caused {
        indent: usize,
        rest: &'a str,
    },
    Suppressed {
        indent: usize,
    },
    Circular,
    Text,
}

pub(crate) fn classify(line: &str, style: Style) -> TraceLine<'_> {
    let body = line.trim_start();
    let indent = line.len() - body.len();
    if let Some(frame) = frame(body, indent, style) {
        return TraceLine::Frame(frame);
    }
    if let Some(rest) = body.strip_prefix("... ") {
        return omitted(rest).unwrap_or(TraceLine::Text);
    }
    // Truth leaves out the frames of test frameworks: `at [[Testing framework: 27 frames collapsed (…)]].(:0)`.
    if body.trim_end() == "[...]" || body.starts_with("at [[") && body.contains(" collapsed") {
        return TraceLine::Elided;
    }
    if body.starts_with("[CIRCULAR REFERENCE:") {
        return TraceLine::Circular;
    }
    if let Some(rest) = body.strip_prefix("Caused by:") {
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        if rest.starts_with("[CIRCULAR REFERENCE:") {
            return TraceLine::Circular;
        }
        // Gradle writes the exception into the next line.
        if rest.is_empty() || header(rest).is_some() {
            return TraceLine::Caused { indent, rest };
        }
    }
    match body.strip_prefix("Suppressed: ") {
        Some(rest) if header(rest).is_some() => TraceLine::Suppressed { indent },
        Some(rest) if rest.starts_with("[CIRCULAR REFERENCE:") => TraceLine::Circular,
        _ => TraceLine::Text,
    }
}

fn frame(body: &str, indent: usize, style: Style) -> Option<Frame> {
    match style {
        Style::Java => Frame::parse(body.strip_prefix("at ")?),
        // Without `at`, prose such as `foo.bar(baz)` is kept out by what a location looks like.
        Style::Bare => Frame::parse(body).filter(|frame| {
            let located = frame.file.as_ref().is_none_or(|file| file.contains('.'));
            indent > 0 && located && !frame.method.contains(' ')
        }),
    }
}

/// `12 more`; of loggers `12 common frames omitted` and `3 frames truncated`.
fn omitted(rest: &str) -> Option<TraceLine<'static>> {
    let (number, what) = rest.trim_end().split_once(' ')?;
    let number = number.parse().ok()?;
    match what {
        "more" | "common frames omitted" => Some(TraceLine::More(number)),
        "frames truncated" | "frames excluded" | "frames trimmed" => Some(TraceLine::Elided),
        _ => None,
    }
}

/// The first line of an exception: its class and the first line of its message.
pub(crate) struct Header<'a> {
    pub(crate) class: &'a str,
    pub(crate) message: Option<&'a str>,
    /// Gradle's short form, `Class at File.java:12`, which tells neither message nor stack.
    pub(crate) short: bool,
}

pub(crate) fn header(line: &str) -> Option<Header<'_>> {
    let end = line.find([':', ';', ' ']).unwrap_or(line.len());
    let (class, rest) = line.split_at(end);
    if !is_class(class) {
        return None;
    }
    let mut short = false;
    let message = match rest {
        "" => None,
        _ => match rest.strip_prefix(": ").or(rest.strip_prefix("; ")) {
            Some(message) => Some(message),
            // Blanks at ends of lines get lost.
            None if rest == ":" => Some(""),
            None => {
                let (file, line) = rest.strip_prefix(" at ")?.rsplit_once(':')?;
                short = !file.contains(' ') && line.parse::<u32>().is_ok();
                short.then_some(())?;
                None
            }
        },
    };
    Some(Header {
        class,
        message,
        short,
    })
}

/// Reads a text that is one trace and nothing else.
pub(crate) fn exact<S: AsRef<str>>(lines: &TraceLines<'_, S>) -> Option<Thrown> {
    let first = lines.get(0)?;
    let reader = Reader { lines, exact: true };
    let start = Start {
        header: first,
        at: 0,
        indent: 0,
    };
    let (thrown, _) = reader.throwable(&start, None, 0)?;
    let told = !thrown.class.is_empty() || !thrown.frames.is_empty();
    told.then_some(thrown)
}

/// Reads the trace whose header is in line `at`; the header may start anywhere in it. Gives the
/// line after the trace.
pub(crate) fn within<S: AsRef<str>>(
    lines: &TraceLines<'_, S>,
    start: &Start<'_>,
) -> Option<(Thrown, usize)> {
    let reader = Reader {
        lines,
        exact: false,
    };
    reader.throwable(start, None, 0)
}

/// The first line of an exception.
pub(crate) struct Start<'a> {
    pub(crate) header: &'a str,
    /// Its line.
    pub(crate) at: usize,
    /// The indentation of the line; a less indented line belongs to an enclosing exception.
    pub(crate) indent: usize,
}

struct Reader<'r, 'a, S> {
    lines: &'r TraceLines<'a, S>,
    exact: bool,
}

impl<S: AsRef<str>> Reader<'_, '_, S> {
    fn throwable(
        &self,
        start: &Start<'_>,
        enclosing: Option<&[Frame]>,
        depth: usize,
    ) -> Option<(Thrown, usize)> {
        let mut stack = self.message_end(start.at + 1, start.at + 1);
        let mut first = None;
        loop {
            let mut thrown = self.headed(start, stack)?;
            match self.stack(&mut thrown, stack, start.indent, enclosing, depth) {
                Ok(end) => {
                    let stackless = thrown.frames.is_empty();
                    return first.filter(|_| stackless).or(Some((thrown, end)));
                }
                // Text below what looked like frames: those were part of the message, if others
                // follow and if there is a message.
                Err(text) => {
                    let silent = thrown.message.is_none();
                    first = first.or(Some((thrown, text)));
                    if silent {
                        return first;
                    }
                    stack = self.message_end(start.at + 1, text);
                }
            }
        }
    }

    /// The first line from `from` on that cannot belong to a message that starts before `first`.
    fn message_end(&self, first: usize, from: usize) -> usize {
        let mut at = from;
        while let Some(TraceLine::Text) = self.lines.kind(at) {
            if self.lines.barriers.get(at) == Some(&true) {
                return first;
            }
            at += 1;
            if !self.exact && at - first > MESSAGE {
                return first;
            }
        }
        let ended = self.lines.get(at).is_none();
        if ended && !self.exact { first } else { at }
    }

    /// The exception with class and message, which ends before line `stack`.
    fn headed(&self, start: &Start<'_>, stack: usize) -> Option<Thrown> {
        let mut thrown = Thrown::default();
        let more = stack > start.at + 1;
        let mut message = match header(start.header).filter(|it| !self.exact || !it.short) {
            // Without a message there is nothing that could go on in the next line.
            Some(header) if header.message.is_some() || !more => {
                thrown.class = header.class.to_owned();
                thrown.truncated = header.short;
                header.message.map(str::to_owned)
            }
            _ if self.exact => Some(start.header.to_owned()),
            _ => return None,
        };
        if let Some(message) = &mut message {
            for at in start.at + 1..stack {
                let line = self.lines.get(at).unwrap_or_default();
                message.push('\n');
                message.push_str(match self.lines.style {
                    // Gradle indents messages with the rest.
                    Style::Java => without_indent(line, start.indent),
                    Style::Bare => line,
                });
            }
        }
        thrown.message = message;
        Some(thrown)
    }

    /// Reads frames and causes from line `at` on. An error is a line that ends neither.
    fn stack(
        &self,
        thrown: &mut Thrown,
        mut at: usize,
        indent: usize,
        enclosing: Option<&[Frame]>,
        depth: usize,
    ) -> Result<usize, usize> {
        while let Some(line) = self.lines.kind(at) {
            match line {
                TraceLine::Frame(frame) => thrown.frames.push(frame),
                TraceLine::More(count) => {
                    let outer = enclosing.unwrap_or_default();
                    let known = count.min(outer.len());
                    let common = &outer[outer.len() - known..];
                    thrown.frames.extend_from_slice(common);
                    thrown.truncated |= known < count;
                }
                TraceLine::Elided => thrown.truncated = true,
                TraceLine::Circular => return Ok(self.circular_end(at)),
                TraceLine::Suppressed { indent } => {
                    let Some((failure, next)) = self.nested("", at, indent, thrown, depth) else {
                        at += 1;
                        continue;
                    };
                    // Of several assertions that failed, the first one stands for all.
                    if thrown.is_of_several() && thrown.cause.is_none() {
                        thrown.cause = Some(Box::new(failure));
                    }
                    at = next;
                    continue;
                }
                TraceLine::Caused {
                    indent: caused,
                    rest,
                } => {
                    if caused < indent {
                        return Ok(at);
                    }
                    let Some((cause, next)) = self.nested(rest, at, caused, thrown, depth) else {
                        return Ok(at);
                    };
                    thrown.cause = Some(Box::new(cause));
                    return Ok(next);
                }
                // Gradle leaves a line free above causes.
                TraceLine::Text if self.lines.get(at).is_some_and(is_blank) => {
                    match self.lines.kind(at + 1) {
                        Some(TraceLine::Caused { rest: "", .. }) => {}
                        Some(_) if self.exact && !self.blank_from(at) => return Err(at),
                        _ => return Ok(at),
                    }
                }
                TraceLine::Text if self.exact => return Err(at),
                TraceLine::Text => return Ok(at),
            }
            at += 1;
        }
        Ok(at)
    }

    fn nested(
        &self,
        rest: &str,
        at: usize,
        indent: usize,
        thrown: &Thrown,
        depth: usize,
    ) -> Option<(Thrown, usize)> {
        if depth >= DEPTH {
            return None;
        }
        let line = self.lines.get(at)?.trim_start();
        let start = match line.strip_prefix("Suppressed: ") {
            Some(header) => Start { header, at, indent },
            None if rest.is_empty() => Start {
                header: self.lines.get(at + 1)?.trim_start(),
                at: at + 1,
                indent,
            },
            None => Start {
                header: rest,
                at,
                indent,
            },
        };
        self.throwable(&start, Some(&thrown.frames), depth + 1)
    }

    fn blank_from(&self, at: usize) -> bool {
        (at..).map_while(|it| self.lines.get(it)).all(is_blank)
    }

    /// The exception that is referred to may have a message of several lines.
    fn circular_end(&self, at: usize) -> usize {
        let closed = (at..at + MESSAGE)
            .map_while(|it| Some((it, self.lines.get(it)?)))
            .find(|(_, line)| line.trim_end().ends_with(']'));
        closed.map_or(at, |(it, _)| it) + 1
    }
}

fn without_indent(line: &str, indent: usize) -> &str {
    match line.get(..indent) {
        Some(head) if is_blank(head) => &line[indent..],
        _ => line,
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}
