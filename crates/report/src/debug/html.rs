//! `report.html`: the failures with their tests, as a page to read.

use std::fmt::Write;

use super::ids::Ids;
use super::{FailureEntry, OUTSIDE, ReportedFailure, TestEntry, TestText, TestsReport};
use crate::figure::{clipped, counted, grouped};
use crate::markup::html::escape;
use crate::markup::source::source;
use crate::page;

/// The most characters of the name of a class.
const NAME: usize = 200;

impl TestsReport {
    /// `report.html`.
    pub fn html(&self, command: &str) -> String {
        let failures: Vec<&[ReportedFailure]> = self.failures.chunk_by(is_same).collect();
        let (title, heading) = match failures.as_slice() {
            [one] => (one[0].entry.failure.clone(), headline(one)),
            several => {
                let count = counted(several.len() as u64, "failure");
                (count.clone(), count)
            }
        };
        let mut body = String::new();
        // Writing to a text cannot fail.
        if failures.len() > 1 {
            body.push_str("<nav aria-label=\"failures\"><ol>\n");
            for (number, failure) in failures.iter().enumerate() {
                let name = escape(&failure[0].entry.failure);
                let id = Ids::failure(number);
                let _ = writeln!(body, "<li><a href=\"#{id}\">{name}</a></li>");
            }
            body.push_str("</ol></nav>\n");
        }
        for (number, failure) in failures.iter().enumerate() {
            let _ = writeln!(body, "<section id=\"{}\">", Ids::failure(number));
            if failures.len() > 1 {
                let _ = writeln!(body, "<h2>{}</h2>", escape(&headline(failure)));
            }
            body.push_str(&levels(failure, number));
            body.push_str("</section>\n");
        }
        let _ = writeln!(
            body,
            "<h2>How to repeat it</h2>\n<pre>{}</pre>\n<p><code>repeat.sh</code> in the folder of this page does so.</p>",
            escape(command)
        );
        page::with_heading(&title, &heading, &body)
    }
}

/// Whether two entries are tests of one failure.
pub(super) fn is_same(one: &ReportedFailure, other: &ReportedFailure) -> bool {
    (&one.entry.failure, &one.entry.stack) == (&other.entry.failure, &other.entry.stack)
}

/// The sentence on a failure: the one on the level whose experiments decide it, or else the first.
fn headline(failure: &[ReportedFailure]) -> String {
    let tests = failure.iter().filter_map(|it| it.entry.test.as_ref());
    let origins = tests.filter_map(|test| test.origin.as_ref());
    let origins = origins.filter(|origin| !origin.chain.is_empty());
    let best = origins.min_by_key(|origin| !origin.is_confirmed());
    best.map_or_else(
        || failure[0].entry.failure.clone(),
        |origin| origin.headline.clone(),
    )
}

/// The tests of a failure, each in a tab if there are several, and its stack trace.
fn levels(failure: &[ReportedFailure], number: usize) -> String {
    let mut html = String::new();
    if let Some(rate) = failure[0].rate {
        let _ = writeln!(html, "<p>The command {}.</p>", escape(&rate.to_string()));
    }
    let missed = failure.iter().filter(|it| it.text.is_none());
    for reported in missed {
        let verdict = escape(&reported.entry.verdict);
        let _ = writeln!(html, "<p class=\"doubt\">No test: {verdict}.</p>");
    }
    let parts = |reported| LevelPage::of(reported);
    let levels: Vec<LevelPage<'_>> = failure.iter().filter_map(parts).collect();
    if levels.len() > 1 {
        html.push_str(&tabs(&levels, number));
    }
    for (at, level) in levels.iter().enumerate() {
        let content = level.html(&Ids::of(number, at));
        let _ = match levels.len() {
            1 => write!(html, "{content}"),
            _ => write!(
                html,
                "<section class=\"panel panel{at}\" aria-label=\"{}\">\n{content}</section>\n",
                escape(&level.name())
            ),
        };
    }
    if levels.len() > 1 {
        html.push_str("</div>\n");
    }
    let _ = writeln!(
        html,
        "<details id=\"{}\"{}>\n<summary>Stack trace of the program</summary>\n<pre>{}</pre>\n</details>",
        Ids::of(number, 0).stack(),
        match failure[0].entry.test {
            Some(_) => "",
            None => " open",
        },
        escape(&failure[0].entry.stack)
    );
    html
}

/// The names of the levels, of which one is shown at a time; on paper there are all.
fn tabs(levels: &[LevelPage<'_>], failure: usize) -> String {
    let mut html = "<div class=\"levels\">\n<fieldset class=\"tabs\">\n<legend>Levels of the failure</legend>\n".to_owned();
    for (at, level) in levels.iter().enumerate() {
        let id = Ids::of(failure, at).part("tab");
        let checked = if at == 0 { " checked" } else { "" };
        // Writing to a text cannot fail.
        let _ = writeln!(
            html,
            "<input type=\"radio\" class=\"tab{at}\" name=\"{}-tabs\" id=\"{id}\"{checked}>\
             <label for=\"{id}\">{}</label>",
            Ids::failure(failure),
            escape(&level.name())
        );
    }
    html.push_str("</fieldset>\n");
    html
}

/// A test of a failure.
struct LevelPage<'r> {
    failure: &'r FailureEntry,
    test: &'r TestEntry,
    text: &'r TestText,
}

impl LevelPage<'_> {
    fn of(reported: &ReportedFailure) -> Option<LevelPage<'_>> {
        Some(LevelPage {
            failure: &reported.entry,
            test: reported.entry.test.as_ref()?,
            text: reported.text.as_ref()?,
        })
    }

    /// The name of the level.
    fn name(&self) -> String {
        match &self.test.inside {
            Some(class) => format!("The test from inside: calls of {}", clipped(class, NAME)),
            None => "The test".to_owned(),
        }
    }

    /// The source code of the test, the verdict on it, where the failure comes from, and the way to the test.
    fn html(&self, ids: &Ids) -> String {
        let LevelPage {
            failure,
            test,
            text,
        } = self;
        let sureness = match failure.verified {
            true => "sure",
            false => "doubt",
        };
        let mut html = format!(
            "<h3>{}</h3>\n<pre class=\"source\">{}</pre>\n<p class=\"{sureness}\">{}</p>\n",
            escape(&self.name()),
            source(&text.source),
            escape(&failure.verdict)
        );
        let notes: Vec<String> = text
            .reservation(test)
            .into_iter()
            .chain(text.notes(test))
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
        if let Some(origin) = test.origin.as_ref().filter(|it| !it.chain.is_empty()) {
            html.push_str(&origin.html(&failure.failure, ids));
        }
        html.push_str(&funnel(test, text));
        html
    }
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
    use super::super::Level;
    use super::super::tests::{failure, missed};
    use super::*;

    fn outermost() -> ReportedFailure {
        let mut outer = failure();
        if let Some(test) = &mut outer.entry.test {
            test.level = Level::Outermost;
            test.inside = None;
        }
        outer
    }

    /// The values of an attribute.
    fn values<'p>(page: &'p str, attribute: &str) -> Vec<&'p str> {
        let start = format!(" {attribute}=\"");
        let behind = page.split(&start).skip(1);
        behind.filter_map(|it| it.split('"').next()).collect()
    }

    /// Checks that every element is closed in its turn.
    fn is_well_formed(page: &str) {
        const VOID: [&str; 3] = ["meta", "input", "!doctype"];
        let body = page.split_once("</style>").unwrap().1;
        let mut open: Vec<&str> = vec!["html"];
        for tag in body.split('<').skip(1) {
            let (tag, text) = tag.split_once('>').unwrap();
            assert!(!text.contains('>'), "{tag}{text}");
            let name = tag.split([' ', '/']).next().unwrap();
            match tag.strip_prefix('/') {
                Some(closed) => assert_eq!(open.pop(), Some(closed), "{tag}"),
                None if VOID.contains(&name) || tag.ends_with('/') => {}
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn the_page_is_well_formed_and_its_links_lead_somewhere() {
        let mut other = failure();
        other.entry.failure = "a.Other".to_owned();
        let failures = vec![outermost(), failure(), other, missed()];
        let page = TestsReport { failures }.html("culprit debug -- java A");
        is_well_formed(&page);
        let ids = values(&page, "id");
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        let mut targets = values(&page, "href");
        assert!(targets.len() > 12, "{targets:?}");
        targets
            .iter_mut()
            .for_each(|it| *it = it.strip_prefix('#').unwrap());
        for attribute in ["for", "aria-labelledby", "aria-describedby"] {
            targets.extend(values(&page, attribute));
        }
        for target in targets {
            assert!(ids.contains(&target), "{target}");
        }
        assert!(!page.contains("<script") && !page.contains("http"));
    }

    #[test]
    fn one_level_has_no_tab() {
        let failures = vec![failure()];
        let page = TestsReport { failures }.html("culprit debug -- java A");
        is_well_formed(&page);
        assert!(!page.contains("<fieldset") && !page.contains("class=\"panel"));
    }

    #[test]
    fn tests_of_one_failure_share_a_section() {
        let failures = vec![outermost(), failure()];
        let page = TestsReport { failures }.html("culprit debug -- java A");
        assert_eq!(page.matches("<section id").count(), 1);
        assert_eq!(
            page.matches("<title>a.Thrown &quot;&lt;b&gt;&quot;</title>")
                .count(),
            1
        );
        assert!(
            page.contains(
                "<h1>a.Thrown &quot;&lt;b&gt;&quot; is decided at B.java:7, in B.c: with 0"
            )
        );
        assert_eq!(page.matches("<pre class=\"source\">").count(), 4);
        assert_eq!(
            page.matches("<p>✓ Confirmed: with 0 here, nothing fails.")
                .count(),
            2
        );
        assert!(page.contains("<h3>The test from inside: calls of a.B</h3>"));
        assert_eq!(page.matches("<input type=\"radio\"").count(), 2);
        assert_eq!(page.matches("<section class=\"panel").count(), 2);
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
        assert!(page.contains("<details id=\"f1-stack\" open>"));
    }
}
