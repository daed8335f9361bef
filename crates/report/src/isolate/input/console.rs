//! The report on an input for a terminal: both sides in columns, each line cut around the difference.

use std::fmt::Write as _;
use std::ops::Range;

use culprit_isolate::input::{Half, Pair};
use culprit_model::clean;

use super::{FILES, InputReport, Sides, more_files, more_lines, within};
use crate::style::Styles;

/// Rows of a file that are printed, at most.
const PRINTED: usize = 24;

/// Characters of a line of either side; longer lines are cut around the difference.
const WIDTH: usize = 56;

/// The least useful number of characters of a line.
const NARROW: usize = 16;

/// The number of a line and a blank, before it.
const MARGIN: usize = 7;

/// The largest input that is printed whole.
const SHOWN: u64 = 4_000;

impl InputReport<'_> {
    /// The result for a terminal of so many columns, if that is known.
    pub fn text(&self, columns: Option<usize>, styles: Styles) -> String {
        let title = styles.title;
        let headline = within(&self.headline(), "", columns);
        let mut out = format!("{title}{headline}{title:#}\n");
        // Writing to a text cannot fail.
        match &self.found.passing {
            Some(_) => {
                let width = columns.map_or(WIDTH, width_within);
                for pair in self.pairs.iter().take(FILES) {
                    out.push_str(&pair_text(pair, self.sides(), width, styles));
                }
                if let Some(more) = more_files(self.pairs.len()) {
                    let _ = writeln!(out, "{more}, in difference.diff");
                }
            }
            None if self.found.failing.len() <= SHOWN => {
                for item in &self.found.failing.items {
                    if self.found.failing.is_folder {
                        let _ = writeln!(out, "{}", clean::path(&item.path));
                    }
                    // Binary content tells nothing on a terminal.
                    let text = std::str::from_utf8(item.bytes()).unwrap_or_default();
                    for line in text.lines().filter(|_| !text.contains('\0')) {
                        let _ = writeln!(out, "  {}", printable(line));
                    }
                }
            }
            None => {}
        }
        out
    }
}

/// A file of both inputs, lines side by side.
fn pair_text(pair: &Pair, sides: Sides, width: usize, styles: Styles) -> String {
    let mut out = String::new();
    let (bad, value, dim) = (styles.bad, styles.value, styles.dim);
    let Sides { passes, fails } = sides;
    let gap = " ".repeat(width.saturating_sub(passes.len()));
    let _ = writeln!(
        out,
        "{dim}{}{}{dim:#}\n       {value}{passes}{value:#}{gap}        {bad}{fails}{bad:#}",
        clean::path(&pair.path),
        pair.modes.map_or(String::new(), |(old, new)| format!(
            ": mode {old} {passes}, {new} {fails}"
        )),
    );
    for row in pair.rows.iter().take(PRINTED) {
        let Some(row) = row else {
            let _ = writeln!(out, "   ...");
            continue;
        };
        let (left, left_mark) = column(row.passing.as_ref(), width);
        let (right, right_mark) = column(row.failing.as_ref(), width);
        let pad = " ".repeat((width + MARGIN).saturating_sub(left.chars().count()));
        let line = format!("{left}{pad} {right}");
        let _ = writeln!(out, "{}", line.trim_end());
        let pad = " ".repeat((width + MARGIN).saturating_sub(left_mark.chars().count()));
        let marks = format!("{value}{left_mark}{value:#}{pad} {bad}{right_mark}{bad:#}");
        if !left_mark.is_empty() || !right_mark.is_empty() {
            let _ = writeln!(out, "{}", marks.trim_end());
        }
    }
    let more = pair.rows.len().saturating_sub(PRINTED) + pair.more;
    if more > 0 {
        let _ = writeln!(out, "   {}", more_lines(more));
    }
    out
}

/// The characters for a line of either side on a terminal of so many columns.
fn width_within(columns: usize) -> usize {
    (columns.saturating_sub(2 * MARGIN + 1) / 2).clamp(NARROW, WIDTH)
}

/// A line with its number, and the marks below the part that differs.
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

/// A line of at most so many characters around the part that differs, with an ellipsis on each side that is
/// cut, and the bytes of that part in it.
pub(super) fn window(half: &Half, width: usize) -> (String, Range<usize>) {
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
    let cut = |at: usize| (at == start && start > 0) || (at + 1 == end && end < letters.len());
    let shown = (start..end).map(|at| if cut(at) { '…' } else { letters[at] });
    let text: String = shown.collect();
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
        assert!(
            line.starts_with("     3 …é") && line.ends_with("y…"),
            "{line}"
        );
        let at = marks.find('^').unwrap();
        let marked: String = line.chars().skip(at).take(3).collect();
        assert_eq!((marked.as_str(), marks.trim()), ("<b>", "^^^"));
    }

    #[test]
    fn harmful_characters_take_one_place_each() {
        assert_eq!(printable("a\tb\x1b[31m\u{202e}"), "a b\u{fffd}[31m\u{fffd}");
    }
}
