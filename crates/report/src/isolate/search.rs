//! The last part of a report on an isolation: its meaning, the notes on the search, the picture of its course,
//! and the command that repeats it.

use std::fmt::Write;

use crate::markup::html::{escape, prose};
use crate::markup::markdown::{block, plain};
use crate::page::{Point, course};

/// The account of a search.
pub(super) struct Search<'r> {
    /// The meaning of the result, in Markdown.
    pub(super) paragraph: String,
    /// Figures and reservations, each a sentence.
    pub(super) notes: Vec<String>,
    pub(super) course: Vec<Point>,
    /// The command that found it.
    pub(super) command: &'r str,
    /// The command that continues it, if it ended early.
    pub(super) resume: Option<&'r str>,
}

impl Search<'_> {
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("{}\n\n## How it was found\n\n", self.paragraph);
        for note in &self.notes {
            // Writing to a text cannot fail.
            let _ = writeln!(text, "- {}", plain(note));
        }
        let _ = write!(text, "\n{}", block("sh", self.command));
        if let Some(resume) = self.resume {
            let _ = write!(text, "\nTo continue:\n\n{}", block("sh", resume));
        }
        text
    }

    pub(super) fn html(&self) -> String {
        let paragraph = prose(&self.paragraph);
        let mut body = format!("<p>{paragraph}</p>\n<h2>How it was found</h2>\n<ul>\n");
        for note in &self.notes {
            let _ = writeln!(body, "<li>{}</li>", escape(note));
        }
        let (picture, command) = (course(&self.course), escape(self.command));
        let _ = write!(body, "</ul>\n{picture}\n<pre>{command}</pre>\n");
        if let Some(resume) = self.resume {
            let _ = write!(body, "<p>To continue:</p>\n<pre>{}</pre>\n", escape(resume));
        }
        body
    }
}
