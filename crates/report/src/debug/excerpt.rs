//! Excerpts of the source: the lines that the failure depended on, where they are.

use std::fmt::Write;

use culprit_model::clean;
use culprit_pinpoint::{Excerpt, ExcerptLine, LineMark};
use serde::{Deserialize, Serialize};

use super::ids::Ids;
use super::origin::in_words;
use crate::figure::clipped;
use crate::markup::html::escape;
use crate::markup::markdown::{block, code};
use crate::markup::source::source_lines;

/// The most methods and lines of each that the text has.
const MOST_METHODS: usize = 3;
const MOST_LINES: usize = 12;

/// The most characters of a name.
const NAME: usize = 200;

/// Lines of the source of a method.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExcerptEntry {
    /// Its class.
    pub class: String,
    /// Its name.
    pub method: String,
    /// Its descriptor in the class file.
    pub descriptor: String,
    /// The name of the source file; null if the class does not have it.
    pub file: Option<String>,
    /// Lines in ascending order; those between may be missing.
    pub lines: Vec<ExcerptLineEntry>,
}

/// A line of a source file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExcerptLineEntry {
    /// Its number.
    pub line: u16,
    /// Its text; null if the source file was not found.
    pub code: Option<String>,
    /// Its part in the run.
    pub mark: ExcerptMark,
    /// The change of a value on the line with which nothing fails, in words; null if none was found.
    pub experiment: Option<String>,
}

/// The part of a line in the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ExcerptMark {
    /// With another value here, nothing failed.
    Confirmed,
    /// The failure depended on it.
    Related,
    /// It ran.
    Ran,
    /// It did not run; it is there to be read with those around it.
    Around,
}

impl ExcerptMark {
    /// The class of the style sheet, a sign, and words for those who do not see it.
    fn shown(self) -> (&'static str, &'static str, &'static str) {
        match self {
            ExcerptMark::Confirmed => ("confirmed", "✓", "confirmed"),
            ExcerptMark::Related => ("related", "•", "related"),
            ExcerptMark::Ran => ("ran", "", ""),
            ExcerptMark::Around => ("around", "", ""),
        }
    }
}

impl ExcerptEntry {
    pub(super) fn of(excerpt: &Excerpt) -> ExcerptEntry {
        ExcerptEntry {
            class: excerpt.class.replace('/', "."),
            method: excerpt.method.clone(),
            descriptor: excerpt.descriptor.clone(),
            file: excerpt.source.clone(),
            lines: excerpt.lines.iter().map(ExcerptLineEntry::of).collect(),
        }
    }

    fn has_text(&self) -> bool {
        self.lines.iter().any(|line| line.code.is_some())
    }

    /// Lines next to each other.
    fn blocks(&self) -> impl Iterator<Item = &[ExcerptLineEntry]> {
        let is_next = |one: &ExcerptLineEntry, other: &ExcerptLineEntry| {
            other.line.checked_sub(1) == Some(one.line)
        };
        self.lines.chunk_by(is_next)
    }

    /// The lines with their numbers and marks; the excerpt is the one with this number.
    pub(super) fn html(&self, ids: &Ids, at: usize) -> String {
        let name = format!("{}.{}", self.class, self.method);
        let mut html = format!(
            "<h4 id=\"{}\" tabindex=\"-1\"><code>{}</code>{}</h4>\n",
            ids.excerpt(at),
            escape(&clipped(&name, NAME)),
            match &self.file {
                Some(file) => format!(" in {}", escape(&clipped(file, NAME))),
                None => String::new(),
            }
        );
        if self.lines.is_empty() {
            html.push_str("<p>Its class was compiled without line numbers.</p>\n");
            return html;
        }
        let has_text = self.has_text();
        if !has_text {
            html.push_str("<p>The source file was not found. These lines ran:</p>\n");
        }
        // Writing to a text cannot fail.
        let class = if has_text { "code" } else { "code bare" };
        let _ = writeln!(html, "<div class=\"{class}\">");
        for (number, block) in self.blocks().enumerate() {
            if number > 0 && has_text {
                html.push_str("<div class=\"gap\" aria-label=\"lines left out\">⋯</div>\n");
            }
            let texts = block
                .iter()
                .map(|it| it.code.as_deref().unwrap_or_default());
            let texts: Vec<&str> = texts.collect();
            for (line, text) in block.iter().zip(source_lines(&texts)) {
                line.write_html(&mut html, &ids.line(at, line.line), &text);
            }
        }
        html.push_str("</div>\n");
        html
    }

    /// The lines that the failure depended on, as a block of code; nothing if the source file was not found.
    fn markdown(&self) -> Option<String> {
        let is_marked = |line: &&ExcerptLineEntry| {
            line.code.is_some()
                && matches!(line.mark, ExcerptMark::Confirmed | ExcerptMark::Related)
        };
        let marked = self.lines.iter().filter(is_marked).take(MOST_LINES);
        let indents = marked.clone().filter_map(|line| line.code.as_deref());
        let indents = indents.map(|code| code.len() - code.trim_start_matches(' ').len());
        let indent = indents.min().unwrap_or(0);
        let lines = marked.map(|line| {
            let sign = match &line.mark {
                ExcerptMark::Confirmed => '!',
                _ => ' ',
            };
            let text = line.code.as_deref().unwrap_or_default();
            let text = clean::line(text.get(indent..).unwrap_or(text).trim_end()).into_owned();
            format!("{sign} {:>5}  {text}", line.line)
        });
        let lines: Vec<String> = lines.collect();
        let language = match self.file.as_deref().and_then(|file| file.rsplit_once('.')) {
            Some((_, "java")) => "java",
            Some((_, "kt" | "kts")) => "kotlin",
            _ => "",
        };
        let name = clipped(&format!("{}.{}", self.class, self.method), NAME);
        let text = format!(
            "{}:\n\n{}\n",
            code(&name),
            block(language, &lines.join("\n"))
        );
        (!lines.is_empty()).then_some(text)
    }
}

impl ExcerptLineEntry {
    fn of(line: &ExcerptLine) -> ExcerptLineEntry {
        let (mark, experiment) = match &line.mark {
            LineMark::Confirmed(change) => {
                (ExcerptMark::Confirmed, Some(in_words(change, None, None)))
            }
            LineMark::Related => (ExcerptMark::Related, None),
            LineMark::Ran => (ExcerptMark::Ran, None),
            LineMark::Around => (ExcerptMark::Around, None),
        };
        ExcerptLineEntry {
            line: line.number,
            code: line.text.clone(),
            mark,
            experiment,
        }
    }

    fn write_html(&self, html: &mut String, id: &str, text: &str) {
        let (class, sign, words) = self.mark.shown();
        let mark = match sign {
            "" => String::new(),
            sign => format!(
                "<span aria-hidden=\"true\">{sign}</span><span class=\"hidden\">{words}</span>"
            ),
        };
        let _ = writeln!(
            html,
            "<div class=\"{class}\" id=\"{id}\" tabindex=\"-1\"><span class=\"m\">{mark}</span>\
             <span class=\"no\">{}</span><span class=\"l\">{text}</span></div>",
            self.line
        );
        if let Some(experiment) = &self.experiment {
            let _ = writeln!(
                html,
                "<div class=\"why\">Confirmed: {}.</div>",
                escape(experiment)
            );
        }
    }
}

/// The lines of the likeliest methods as Markdown, with a sentence on the marks.
pub(super) fn markdown(excerpts: &[ExcerptEntry]) -> String {
    let shown = excerpts.iter().filter_map(ExcerptEntry::markdown);
    let shown: String = shown.take(MOST_METHODS).collect();
    match shown.is_empty() {
        true => shown,
        false => format!(
            "Lines that the failure depended on; those with an exclamation mark are confirmed:\n\n{shown}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::origin;
    use super::*;

    fn hostile() -> ExcerptEntry {
        let line = |line, code: &str, mark| ExcerptLineEntry {
            line,
            code: Some(code.to_owned()),
            mark,
            experiment: None,
        };
        ExcerptEntry {
            class: "<script>".to_owned(),
            method: "```".to_owned(),
            descriptor: "()V".to_owned(),
            file: Some("\"><b>.java\u{202e}".to_owned()),
            lines: vec![
                line(1, "/* <script> \u{1b}", ExcerptMark::Related),
                line(2, "</script> ``` */", ExcerptMark::Related),
            ],
        }
    }

    #[test]
    fn lines_are_marked_by_signs_and_words() {
        let html = origin().excerpts[0].html(&Ids::of(0, 0), 0);
        assert!(
            html.contains("<div class=\"confirmed\" id=\"f0-t0-m0-l7\""),
            "{html}"
        );
        assert!(html.contains("<span class=\"hidden\">confirmed</span>"));
        assert!(html.contains("<div class=\"why\">Confirmed: with 0 here, nothing fails.</div>"));
        assert_eq!(html.matches("class=\"gap\"").count(), 1);
        assert!(html.contains("<span class=\"k\">if</span> (a &lt; b) {"));
    }

    #[test]
    fn without_a_source_file_there_are_the_numbers() {
        let mut excerpt = origin().excerpts.remove(0);
        excerpt.lines.iter_mut().for_each(|line| line.code = None);
        let html = excerpt.html(&Ids::of(0, 0), 0);
        assert!(html.contains("The source file was not found."));
        assert!(html.contains("<span class=\"no\">7</span>") && !html.contains("class=\"gap\""));
        assert_eq!(markdown(&[excerpt.clone()]), "");
        excerpt.lines.clear();
        let html = excerpt.html(&Ids::of(0, 0), 0);
        assert!(html.contains("compiled without line numbers"));
    }

    #[test]
    fn nothing_in_a_source_file_is_markup() {
        let html = hostile().html(&Ids::of(0, 0), 0);
        assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
        assert!(!html.contains(['\u{1b}', '\u{202e}']), "{html}");
        let text = markdown(&[hostile()]);
        assert!(text.contains("\n````\n"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
}
