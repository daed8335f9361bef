//! `report.html`: the failures with their tests, as a page to read.

use std::fmt::Write;

use super::{Level, OUTSIDE, ReportedFailure, TestEntry, TestText, TestsReport};
use crate::figure::{counted, grouped};
use crate::markup::html::escape;
use crate::markup::source::source;
use crate::page;

impl TestsReport {
    /// `report.html`.
    pub fn html(&self, command: &str) -> String {
        let failures: Vec<&[ReportedFailure]> = self.failures.chunk_by(is_same).collect();
        let title = match failures.as_slice() {
            [one] => one[0].entry.failure.clone(),
            several => counted(several.len() as u64, "failure"),
        };
        let mut body = String::new();
        // Writing to a text cannot fail.
        if failures.len() > 1 {
            body.push_str("<nav aria-label=\"failures\"><ol>\n");
            for (number, failure) in failures.iter().enumerate() {
                let name = escape(&failure[0].entry.failure);
                let _ = writeln!(body, "<li><a href=\"#f{number}\">{name}</a></li>");
            }
            body.push_str("</ol></nav>\n");
        }
        for (number, failure) in failures.iter().enumerate() {
            let _ = writeln!(body, "<section id=\"f{number}\">");
            if failures.len() > 1 {
                let _ = writeln!(body, "<h2>{}</h2>", escape(&failure[0].entry.failure));
            }
            body.push_str(&levels(failure));
            body.push_str("</section>\n");
        }
        let _ = writeln!(
            body,
            "<h2>How to repeat it</h2>\n<pre>{}</pre>\n<p><code>repeat.sh</code> in the folder of this page does so.</p>",
            escape(command)
        );
        page::page(&title, &body)
    }
}

/// Whether two entries are tests of one failure.
pub(super) fn is_same(one: &ReportedFailure, other: &ReportedFailure) -> bool {
    (&one.entry.failure, &one.entry.stack) == (&other.entry.failure, &other.entry.stack)
}

/// The tests of a failure, and its stack trace.
fn levels(failure: &[ReportedFailure]) -> String {
    let mut html = String::new();
    if let Some(rate) = failure[0].rate {
        let _ = writeln!(html, "<p>The command {}.</p>", escape(&rate.to_string()));
    }
    for reported in failure {
        let verdict = escape(&reported.entry.verdict);
        match (&reported.entry.test, &reported.text) {
            (Some(test), Some(text)) => html.push_str(&level(reported, test, text)),
            _ => {
                let _ = writeln!(html, "<p class=\"doubt\">No test: {verdict}.</p>");
            }
        }
    }
    let _ = writeln!(
        html,
        "<details{}>\n<summary>Stack trace of the program</summary>\n<pre>{}</pre>\n</details>",
        match failure[0].entry.test {
            Some(_) => "",
            None => " open",
        },
        escape(&failure[0].entry.stack)
    );
    html
}

/// A test: its source code, the verdict on it, and the way to it.
fn level(reported: &ReportedFailure, test: &TestEntry, text: &TestText) -> String {
    let heading = match (test.level, &text.thrower) {
        (Level::Innermost, Some(class)) => format!("The test from inside: calls of {class}"),
        _ => "The test".to_owned(),
    };
    let sureness = match reported.entry.verified {
        true => "sure",
        false => "doubt",
    };
    let mut html = format!(
        "<h3>{}</h3>\n<pre class=\"source\">{}</pre>\n<p class=\"{sureness}\">{}</p>\n",
        escape(&heading),
        source(&text.source),
        escape(&reported.entry.verdict)
    );
    let notes: Vec<String> = text
        .reservation(test)
        .into_iter()
        .chain(text.notes())
        .collect();
    if !notes.is_empty() {
        html.push_str("<ul>\n");
        for note in notes {
            let _ = writeln!(html, "<li>{}</li>", escape(&note));
        }
        html.push_str("</ul>\n");
    }
    let _ = writeln!(html, "<p>File: <code>{}</code></p>", escape(&test.test));
    if let Some(run) = &text.run {
        let code = |text: &str| format!("<code>{}</code>", escape(text));
        let _ = writeln!(html, "<p>To run it: {}</p>", run.written(&code));
    }
    if let Some(command) = &test.by_hand {
        let _ = writeln!(html, "<p>{OUTSIDE}:</p>\n<pre>{}</pre>", escape(command));
    }
    html.push_str(&funnel(test, text));
    if let Some(origin) = test.origin.as_ref().filter(|it| !it.chain.is_empty()) {
        html.push_str(&origin.html());
    }
    html
}

/// The calls of the run, of the slice and of the test, as bars.
fn funnel(test: &TestEntry, text: &TestText) -> String {
    let rows = [
        ("recorded", test.captured),
        ("in the slice", test.sliced),
        ("left", test.calls),
    ];
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let mut html = format!(
        "<table class=\"funnel\">\n<caption>{}</caption>\n",
        escape(&text.summary(test))
    );
    for (name, count) in rows {
        let share = 100.0 * count as f64 / most.max(1) as f64;
        let _ = writeln!(
            html,
            "<tr><th scope=\"row\">{name}</th><td>{}</td><td class=\"bar\"><div style=\"width:{share:.1}%\"></div></td></tr>",
            grouped(count as u64)
        );
    }
    html.push_str("</table>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::super::tests::{failure, missed};
    use super::*;

    #[test]
    fn tests_of_one_failure_share_a_section() {
        let mut outer = failure();
        if let (Some(test), Some(text)) = (&mut outer.entry.test, &mut outer.text) {
            test.level = Level::Outermost;
            text.thrower = None;
        }
        let failures = vec![outer, failure()];
        let page = TestsReport { failures }.html("culprit debug -- java A");
        assert_eq!(page.matches("<section").count(), 1);
        assert_eq!(
            page.matches("<h1>a.Thrown &quot;&lt;b&gt;&quot;</h1>")
                .count(),
            1
        );
        assert_eq!(page.matches("<pre class=\"source\">").count(), 4);
        assert_eq!(
            page.matches("<p>Confirmed: with 0 here, nothing fails.</p>")
                .count(),
            2
        );
        assert!(page.contains("<h3>The test from inside: calls of a.B</h3>"));
        assert!(page.contains("<span class=\"k\">class</span> BTest {}"));
        assert!(page.contains("<th scope=\"row\">in the slice</th><td>8</td>"));
        assert!(!page.contains("<script") && !page.contains("http"));
    }

    #[test]
    fn a_failure_without_a_test_has_its_reason_and_its_stack() {
        let mut other = missed();
        other.entry.failure = "a.Other".to_owned();
        let failures = vec![failure(), other];
        let page = TestsReport { failures }.html("culprit debug -- java A");
        assert!(page.contains("<h1>2 failures</h1>"));
        assert!(page.contains("<a href=\"#f1\">a.Other</a>"));
        assert!(page.contains("<p class=\"doubt\">No test: nothing was observed.</p>"));
        assert!(page.contains("<details open>"));
    }
}
