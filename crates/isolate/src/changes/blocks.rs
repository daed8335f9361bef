//! A light look at the structure of a source text: which brackets belong together, and which lines
//! make a block, such as a class, a method or a function.
//!
//! It knows no language. Brackets in comments and quotes are passed over as most languages write
//! them; a text without braces has its blocks by indentation. What it gets wrong costs tests and
//! nothing else: groups are only where a search begins.

use std::ops::Range;

use super::lines::Text;

/// How deep blocks are told apart: a namespace, a class, a method.
pub(crate) const DEPTHS: usize = 3;

/// The structure of a text.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// Lines of blocks with their depth from 0, outer ones first.
    blocks: Vec<(usize, Range<usize>)>,
    /// The lines of a bracket that is opened on one line and closed on another.
    pub(crate) brackets: Vec<(usize, usize)>,
    /// The first and the last line of comments that have several.
    pub(crate) comments: Vec<(usize, usize)>,
}

impl Blocks {
    pub(crate) fn of(text: &Text) -> Blocks {
        let mut blocks = scan(text);
        if !blocks.blocks.iter().any(|(depth, _)| *depth == 0) {
            blocks.blocks = indented(text);
        }
        blocks
            .blocks
            .sort_by_key(|(depth, lines)| (*depth, lines.start));
        blocks
    }

    /// The first line of the block that a line is in, at each depth.
    pub(crate) fn around(&self, line: usize) -> [Option<usize>; DEPTHS] {
        let mut found = [None; DEPTHS];
        for (depth, lines) in &self.blocks {
            if lines.contains(&line) {
                found[*depth] = Some(lines.start);
            }
        }
        found
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Code,
    /// With the line that it begins on.
    Comment(usize),
    Quote(u8),
}

struct OpenBlock {
    bracket: u8,
    line: usize,
    /// Where the statement begins that the bracket is in.
    statement: usize,
}

fn scan(text: &Text) -> Blocks {
    let mut found = Blocks::default();
    let mut open: Vec<OpenBlock> = Vec::new();
    let mut inside = Inside::Code;
    // Where the statement at hand begins; `None` until there is something of it.
    let mut statement = None;
    for at in 0..text.len() {
        let line = text.line(at);
        // A quote that is not closed on its line was none, such as the ' of a word.
        if matches!(inside, Inside::Quote(_)) {
            inside = Inside::Code;
        }
        let mut rest = line.iter().copied().enumerate();
        while let Some((place, byte)) = rest.next() {
            let next = line.get(place + 1).copied();
            match (inside, byte) {
                (Inside::Comment(start), b'*') if next == Some(b'/') => {
                    if start < at {
                        found.comments.push((start, at));
                    }
                    inside = Inside::Code;
                    rest.next();
                }
                (Inside::Comment(_), _) => {}
                (Inside::Quote(_), b'\\') => {
                    rest.next();
                }
                (Inside::Quote(quote), _) if byte == quote => inside = Inside::Code,
                (Inside::Quote(_), _) => {}
                (Inside::Code, b'/') if next == Some(b'*') => {
                    statement.get_or_insert(at);
                    inside = Inside::Comment(at);
                    rest.next();
                }
                (Inside::Code, b'/') if next == Some(b'/') => break,
                (Inside::Code, b'"' | b'\'') => {
                    inside = Inside::Quote(byte);
                }
                (Inside::Code, b'{' | b'(' | b'[') => {
                    open.push(OpenBlock {
                        bracket: byte,
                        line: at,
                        statement: *statement.get_or_insert(at),
                    });
                    if byte == b'{' {
                        statement = None;
                    }
                }
                (Inside::Code, b'}' | b')' | b']') => {
                    close(byte, at, &mut open, &mut found);
                    if byte == b'}' {
                        statement = None;
                    }
                }
                (Inside::Code, b';') => statement = None,
                (Inside::Code, byte) if byte.is_ascii_whitespace() => {}
                (Inside::Code, _) => {
                    statement.get_or_insert(at);
                }
            }
        }
    }
    found
}

fn close(byte: u8, at: usize, open: &mut Vec<OpenBlock>, found: &mut Blocks) {
    let opening = match byte {
        b'}' => b'{',
        b')' => b'(',
        _ => b'[',
    };
    // One that nothing opened is passed over; what was not closed before it never will be.
    let Some(place) = open.iter().rposition(|open| open.bracket == opening) else {
        return;
    };
    open.truncate(place + 1);
    let Some(opened) = open.pop() else {
        return;
    };
    if opened.line < at {
        found.brackets.push((opened.line, at));
    }
    let depth = open.iter().filter(|open| open.bracket == b'{').count();
    if byte == b'}' && depth < DEPTHS && opened.statement < at {
        found.blocks.push((depth, opened.statement..at + 1));
    }
}

/// Blocks of a text without braces: a line and what is indented below it.
fn indented(text: &Text) -> Vec<(usize, Range<usize>)> {
    let indent = |at: usize| {
        let line = text.line(at);
        let width = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
        let width = width.count();
        line[width..]
            .iter()
            .any(|byte| !byte.is_ascii_whitespace())
            .then_some(width)
    };
    let mut found = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut last = 0;
    for (at, width) in (0..text.len()).filter_map(|at| Some((at, indent(at)?))) {
        while open.last().is_some_and(|(of, _)| *of >= width) {
            let (_, start) = open.pop().unwrap_or_default();
            if open.len() < DEPTHS && start < last {
                found.push((open.len(), start..last + 1));
            }
        }
        open.push((width, at));
        last = at;
    }
    while let Some((_, start)) = open.pop() {
        if open.len() < DEPTHS && start < last {
            found.push((open.len(), start..last + 1));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &str) -> Blocks {
        Blocks::of(&Text::new(text.into()))
    }

    #[test]
    fn classes_and_methods_begin_with_what_is_said_of_them() {
        let found = blocks(
            "package p;\n\n/** A. } */\n@Deprecated\nclass A {\n  int x = 1;\n  String m() {\n    return \"{\";\n  }\n  char c() {\n    return '}';\n  }\n}\n",
        );
        assert_eq!(found.around(5), [Some(2), None, None]);
        assert_eq!(found.around(7), [Some(2), Some(6), None]);
        assert_eq!(found.around(10), [Some(2), Some(9), None]);
        assert_eq!(found.around(0), [None; 3]);
        assert_eq!(found.brackets, [(6, 8), (9, 11), (4, 12)]);
    }

    #[test]
    fn without_braces_blocks_are_what_is_indented() {
        let found = blocks(
            "import x\n\nclass A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n",
        );
        assert_eq!(found.around(4), [Some(2), Some(3), None]);
        assert_eq!(found.around(7), [Some(2), Some(6), None]);
        assert_eq!(found.around(0), [None; 3]);
    }
}
