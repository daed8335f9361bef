//! Two versions of a file side by side, as a table in HTML.

use std::fmt::Write;
use std::ops::Range;

use culprit_isolate::changes::Compared;
use culprit_isolate::input::{Half, Pair};
use culprit_model::clean;

use crate::markup::html::escape;

/// A file in the version that passes and in the version that fails.
pub(super) struct Comparison {
    pub(super) passing: Version,
    pub(super) failing: Version,
    /// Lines next to each other; `None` between parts of the file.
    pub(super) rows: Vec<Option<Row>>,
}

/// The words for the version that passes and for the one that fails.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    pub(super) passes: &'static str,
    pub(super) fails: &'static str,
}

impl Sides {
    pub(super) const VERDICTS: Sides = Sides {
        passes: "passes",
        fails: "fails",
    };
    /// Of a script that says what is interesting.
    pub(super) const INTEREST: Sides = Sides {
        passes: "not interesting",
        fails: "interesting",
    };
}

/// The file in one version.
pub(super) struct Version {
    /// Its path, free of harmful characters; where it does not exist, that of the other version.
    pub(super) path: String,
    pub(super) exists: bool,
    /// Its mode as Git writes it, where the modes differ.
    pub(super) mode: Option<String>,
}

/// A line of each version.
pub(super) struct Row {
    pub(super) passing: Option<Line>,
    pub(super) failing: Option<Line>,
    pub(super) is_changed: bool,
}

/// A line with its number, and the bytes of its text that the other version does not have.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: String,
    pub(super) differs: Range<usize>,
}

impl Comparison {
    /// Two inputs; `line` shortens a line of them.
    pub(super) fn of_inputs(pair: &Pair, line: impl Fn(&Half) -> Line) -> Comparison {
        let version = |exists: bool, mode: Option<String>| Version {
            path: clean::path(&pair.path),
            exists,
            mode,
        };
        let (passing, failing) = match pair.modes {
            Some((old, new)) => (Some(old.to_string()), Some(new.to_string())),
            None => (None, None),
        };
        let rows = pair.rows.iter().map(|row| {
            row.as_ref().map(|row| {
                let text = |half: &Option<Half>| half.as_ref().map(|half| half.text.clone());
                Row {
                    is_changed: text(&row.passing) != text(&row.failing),
                    passing: row.passing.as_ref().map(&line),
                    failing: row.failing.as_ref().map(&line),
                }
            })
        });
        Comparison {
            passing: version(pair.is_there.0, passing),
            failing: version(pair.is_there.1, failing),
            rows: rows.collect(),
        }
    }

    /// Two versions of a program, without the spaces that all lines begin with: they would make lines wrap.
    pub(super) fn of_changes(file: &Compared) -> Comparison {
        let version = |path: &Option<String>, other: &Option<String>, mode: Option<&str>| Version {
            path: clean::line(path.as_ref().or(other.as_ref()).map_or("", String::as_str)).into(),
            exists: path.is_some(),
            mode: mode.map(str::to_owned),
        };
        let indent = indent(file);
        let cut = |line: &str| line.get(indent..).unwrap_or_default().to_owned();
        let rows = file.rows.iter().map(|row| {
            row.as_ref().map(|row| {
                let [old, new] = [&row.old, &row.new].map(|side| side.as_ref());
                let [old, new] = [old, new].map(|side| side.map(|(at, text)| (*at, cut(text))));
                let (in_old, in_new) = match (&old, &new) {
                    (Some((_, old)), Some((_, new))) if row.is_changed => differing(old, new),
                    _ => (0..0, 0..0),
                };
                let line = |side: Option<(usize, String)>, differs: Range<usize>| {
                    side.map(|(number, text)| Line {
                        number,
                        text,
                        differs,
                    })
                };
                Row {
                    passing: line(old, in_old),
                    failing: line(new, in_new),
                    is_changed: row.is_changed,
                }
            })
        });
        let modes = file.modes;
        Comparison {
            passing: version(&file.old, &file.new, modes.map(|modes| modes.0)),
            failing: version(&file.new, &file.old, modes.map(|modes| modes.1)),
            rows: rows.collect(),
        }
    }

    /// The comparison as a table.
    pub(super) fn html(&self, sides: Sides) -> String {
        let mut html = format!(
            "<table class=\"pair\"><tr><td class=\"n\"></td><th>{}: {}</th>\
             <td class=\"n\"></td><th>{}: {}</th></tr>\n",
            sides.passes,
            self.passing.html(),
            sides.fails,
            self.failing.html(),
        );
        for row in &self.rows {
            // Writing to a text cannot fail.
            let _ = match row {
                Some(row) => writeln!(
                    html,
                    "<tr>{}{}</tr>",
                    row.cell(row.passing.as_ref(), "old"),
                    row.cell(row.failing.as_ref(), "new")
                ),
                None => writeln!(
                    html,
                    "<tr><td class=\"n\">⋯</td><td></td><td class=\"n\">⋯</td><td></td></tr>"
                ),
            };
        }
        html.push_str("</table>\n");
        html
    }
}

impl Version {
    fn html(&self) -> String {
        let note = match (self.exists, &self.mode) {
            (true, None) => String::new(),
            (true, Some(mode)) => format!(", mode {}", escape(mode)),
            (false, _) => " (no such file)".to_owned(),
        };
        format!("<code>{}</code>{note}", escape(&self.path))
    }
}

impl Row {
    fn cell(&self, line: Option<&Line>, side: &str) -> String {
        let Some(line) = line else {
            return "<td class=\"n\"></td><td></td>".to_owned();
        };
        let class = match self.is_changed {
            true => format!("l {side}"),
            false => "l".to_owned(),
        };
        format!(
            "<td class=\"n\">{}</td><td class=\"{class}\">{}</td>",
            line.number,
            line.html()
        )
    }
}

impl Line {
    /// The text with the part that differs marked.
    fn html(&self) -> String {
        let (start, end) = (self.differs.start, self.differs.end);
        let middle = match self.differs.is_empty() {
            true => String::new(),
            false => format!("<mark>{}</mark>", escape(&self.text[start..end])),
        };
        let (before, after) = (&self.text[..start], &self.text[end..]);
        format!("{}{middle}{}", escape(before), escape(after))
    }
}

/// The spaces that all lines of a file begin with.
fn indent(file: &Compared) -> usize {
    let rows = file.rows.iter().flatten();
    let sides = rows.flat_map(|row| [&row.old, &row.new]).flatten();
    let lines = sides.map(|(_, line)| line.as_str());
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0)
}

/// The bytes of two lines that are not a beginning or an end of both.
fn differing(old: &str, new: &str) -> (Range<usize>, Range<usize>) {
    let start = old
        .char_indices()
        .zip(new.chars())
        .find(|((_, a), b)| a != b)
        .map_or(old.len().min(new.len()), |((at, _), _)| at);
    let same_end: usize = old[start..]
        .chars()
        .rev()
        .zip(new[start..].chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(letter, _)| letter.len_utf8())
        .sum();
    (start..old.len() - same_end, start..new.len() - same_end)
}

#[cfg(test)]
mod tests {
    use culprit_isolate::changes;

    use super::*;

    fn marked(old: &str, new: &str) -> (String, String) {
        let (in_old, in_new) = differing(old, new);
        let html = |text: &str, differs| {
            let text = text.to_owned();
            let number = 1;
            Line {
                number,
                text,
                differs,
            }
            .html()
        };
        (html(old, in_old), html(new, in_new))
    }

    #[test]
    fn only_the_difference_of_two_lines_is_marked() {
        let (old, new) = marked("say(\"arguments\");", "say(\"argument list\");");
        assert_eq!(old, "say(&quot;argument<mark>s</mark>&quot;);");
        assert_eq!(new, "say(&quot;argument<mark> list</mark>&quot;);");
        assert_eq!(marked("aa", "a").0, "a<mark>a</mark>");
        assert_eq!(marked("é<", "è<").1, "<mark>è</mark>&lt;");
        assert_eq!(marked("same", "same").0, "same");
    }

    #[test]
    fn versions_are_named_and_the_common_indent_is_removed() {
        let row = changes::Row {
            old: Some((3, "    a".to_owned())),
            new: Some((3, "      b<".to_owned())),
            is_changed: true,
        };
        let file = Compared {
            old: None,
            new: Some("x\u{1b}.c".to_owned()),
            modes: Some(("100644", "100755")),
            rows: vec![None, Some(row)],
        };
        let html = Comparison::of_changes(&file).html(Sides::VERDICTS);
        assert!(
            html.contains("passes: <code>x\\u001b.c</code> (no such file)"),
            "{html}"
        );
        assert!(
            html.contains("fails: <code>x\\u001b.c</code>, mode 100755"),
            "{html}"
        );
        let cells = "<td class=\"l old\"><mark>a</mark></td><td class=\"n\">3</td>\
                     <td class=\"l new\"><mark>  b&lt;</mark></td>";
        assert!(html.contains(cells), "{html}");
    }
}
