//! The way of a failure in `report.html`: the picture of the chain, its links as a list, the lines in their source, and
//! the methods.

use std::fmt::Write;

use super::ids::Ids;
use super::origin::{OMITTED, sentence};
use super::{LinkEntry, LinkEvidence, MethodEntry, OriginEntry, PassingEntry};
use crate::figure::{clipped, counted};
use crate::markup::html::escape;
use crate::markup::source::source;

/// The most lines of a method that are listed, and the most characters of a name.
const MOST_LINES: usize = 40;
const NAME: usize = 200;

impl OriginEntry {
    /// The whole way; the failure is the one that the chain starts from.
    pub(super) fn html(&self, failure: &str, ids: &Ids) -> String {
        let mut html = format!(
            "<h3>Where it comes from</h3>\n<div class=\"way\">\n{}<div>\n\
             <h4>Line by line, the failure first</h4>\n<ol class=\"chain\">\n",
            self.picture(failure, ids)
        );
        for (at, link) in self.chain.iter().enumerate() {
            html.push_str(&link.html(at, &ids.link(at), &ids.source(self, at)));
        }
        let _ = writeln!(
            html,
            "</ol>\n{}</div>\n</div>\n<p>{}.</p>",
            self.omitted(),
            escape(&sentence(&self.figures()))
        );
        if !self.excerpts.is_empty() {
            html.push_str(
                "<h3>Suspicious lines in their source</h3>\n\
                 <p>✓ marks confirmed lines, • others that the failure depended on.</p>\n",
            );
        }
        for (at, excerpt) in self.excerpts.iter().enumerate() {
            html.push_str(&excerpt.html(ids, at));
        }
        html.push_str(&self.table());
        html
    }

    /// The branches that decide by code which did not run.
    fn omitted(&self) -> String {
        let item = |link: &LinkEntry| {
            let code = link.code.as_ref();
            let code = code.map(|code| format!("<pre class=\"source\">{}</pre>", source(code)));
            let place = escape(&clipped(&link.place(), NAME));
            let code = code.unwrap_or_default();
            format!("<li><code>{place}</code>{code}</li>\n")
        };
        let items: String = self.omissions.iter().map(item).collect();
        match items.is_empty() {
            true => items,
            false => format!("<p>{}:</p>\n<ul>\n{items}</ul>\n", sentence(OMITTED)),
        }
    }

    /// The methods as a table.
    fn table(&self) -> String {
        let mut html = "<details>\n<summary>Methods that the failure depended on, the likeliest first</summary>\n\
             <table class=\"facts\">\n<tr><th scope=\"col\">method</th><th scope=\"col\">lines</th>\
             <th scope=\"col\">evidence</th></tr>\n"
            .to_owned();
        self.methods
            .iter()
            .for_each(|method| html.push_str(&method.row()));
        html.push_str("</table>\n</details>\n");
        html
    }
}

impl LinkEntry {
    /// The link as an item of the list, with the place of its source.
    fn html(&self, at: usize, id: &str, source_id: &str) -> String {
        let class = match self.evidence {
            LinkEvidence::Confirmed => "sure",
            LinkEvidence::Related => "related",
        };
        let code = self.code.as_ref();
        let code = code.map(|code| format!("<pre class=\"source\">{}</pre>", source(code)));
        let value = self.value.as_ref();
        let value = value.map(|it| format!(" <span class=\"c\">value: {}</span>", escape(it)));
        let evidence = match (&self.experiment, &self.passing) {
            (Some(experiment), _) => format!("✓ Confirmed: {}.", escape(experiment)),
            (None, Some(passing)) => {
                let PassingEntry { value, difference } = passing;
                let passing = clipped(&format!("it is {value} {difference}"), NAME);
                format!("Related: {}, and nothing fails then.", escape(&passing))
            }
            (None, None) => "Related: the failure depended on it.".to_owned(),
        };
        let dependent = if at == 0 {
            "The failure"
        } else {
            "The line before"
        };
        let dependence = self.dependence.as_ref().map(|it| {
            format!(
                " <span class=\"c\">{dependent} depends on it: {}.</span>",
                escape(&clipped(&it.words(), NAME))
            )
        });
        format!(
            "<li class=\"{class}\" id=\"{id}\"><a href=\"#{source_id}\"><code>{}</code></a> in <code>{}</code>{}{}\
             <p>{evidence}{}</p></li>\n",
            escape(&clipped(&self.place(), NAME)),
            escape(&clipped(&self.method, NAME)),
            value.unwrap_or_default(),
            code.unwrap_or_default(),
            dependence.unwrap_or_default(),
        )
    }
}

impl MethodEntry {
    fn row(&self) -> String {
        let mut lines: Vec<u16> = self.lines.iter().take(MOST_LINES).copied().collect();
        lines.sort_unstable();
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let others = match self.lines.len().saturating_sub(MOST_LINES) {
            0 => String::new(),
            more => format!(" and {}", counted(more as u64, "other")),
        };
        let evidence = match self.evidence {
            LinkEvidence::Confirmed => "confirmed",
            LinkEvidence::Related => "related",
        };
        format!(
            "<tr><td><code>{}</code></td><td>{}{others}</td><td>{evidence}</td></tr>\n",
            escape(&clipped(&self.name(), NAME)),
            lines.join(", ")
        )
    }
}
