//! What was found, as text, Markdown, JSON and a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use culprit_isolate::changes::{Change, Commit, Isolation, NoText, Origin, Row};
use culprit_model::{clean, secret};
use culprit_reduce::{DeltaSet, End, Kind, Tested};
use serde_json::{Value, json};

use super::{explained, word};
use crate::console::Console;
use crate::isolate::results::Results;
use crate::isolate::say;
use culprit_report::figure::counted;
use culprit_report::markup::html::{escape, prose};
use culprit_report::markup::json as json_text;
use culprit_report::markup::markdown::{block, cell, code, plain};
use culprit_report::page::{self, Point, marked};

/// Changes, and commits, that are printed to the console, at most.
const PRINTED: usize = 40;

/// Commits that one sentence names, at most.
const NAMED: usize = 5;

/// What a report is about.
pub(crate) struct Report<'r> {
    /// The command that found it, but for the folder.
    pub(crate) command: String,
    pub(crate) test: String,
    pub(crate) good: String,
    pub(crate) bad: String,
    /// Candidates that ran at the same time.
    pub(crate) jobs: u8,
    pub(crate) found: &'r Isolation,
    pub(crate) course: &'r [Tested],
}

impl Report<'_> {
    /// Writes all files of the report.
    pub(crate) fn write(&self, results: &Results) -> anyhow::Result<()> {
        let found = self.found;
        let patch = |from, to| found.difference.patch(from, to, NoText::Held);
        let minimal = patch(&found.passing, &found.failing);
        results.write("minimal.patch", minimal.map_err(explained)?)?;
        if !found.passing.is_empty() {
            let context = patch(&DeltaSet::empty(), &found.passing);
            results.write("context.patch", context.map_err(explained)?)?;
        }
        results.write("report.json", json_text(&self.json()))?;
        results.write("report.md", self.markdown()?)?;
        results.write("report.html", self.html()?)?;
        Ok(())
    }

    /// Whether both versions were seen to do the same in new folders, as far as they were run there.
    pub(crate) fn is_confirmed(&self) -> Option<bool> {
        let checks = &self.found.checks;
        let passing = checks.passing.map(|kind| kind == Kind::Pass);
        let failing = checks.failing.map(|kind| kind == Kind::Fail);
        match (passing, failing) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }

    pub(crate) fn print(&self, results: &Results, console: &mut Console) -> anyhow::Result<()> {
        let (styles, found) = (console.styles(), self.found);
        let (title, bad) = (styles.title, styles.bad);
        let dim = styles.dim;
        writeln!(console.out(), "{title}{}{title:#}", self.headline())?;
        let commits = self.commit_lines();
        for line in commits.iter().take(PRINTED) {
            writeln!(console.out(), "  {line}")?;
        }
        if commits.len() > PRINTED {
            let more = commits.len() - PRINTED;
            writeln!(console.out(), "  and {more} more commits, in report.md")?;
        }
        for change in found.changes.iter().take(PRINTED) {
            writeln!(console.out(), "  {}", place(change))?;
            for line in &change.removed {
                writeln!(console.out(), "    {dim}-{line}{dim:#}")?;
            }
            for line in &change.added {
                writeln!(console.out(), "    {bad}+{line}{bad:#}")?;
            }
        }
        if found.changes.len() > PRINTED {
            let more = found.changes.len() - PRINTED;
            writeln!(console.out(), "  and {more} more, in minimal.patch")?;
        }
        for note in self.notes() {
            say("  ", &note, console)?;
        }
        writeln!(
            console.err(),
            "  {}",
            clean::path(&results.path("report.html"))
        )?;
        Ok(())
    }

    fn headline(&self) -> String {
        let changes = &self.found.changes;
        let lines: usize = changes
            .iter()
            .map(|change| change.removed.len().max(change.added.len()))
            .sum();
        let other = changes
            .iter()
            .filter(|change| change.what.is_some())
            .count();
        let mut parts = Vec::new();
        if lines > 0 {
            parts.push(counted(lines as u64, "line"));
        }
        if other > 0 {
            parts.push(
                counted(other as u64, "change of a file as a whole").replace("wholes", "whole"),
            );
        }
        let verb = if lines + other == 1 {
            "decides"
        } else {
            "decide together"
        };
        let verb = match self.found.end {
            _ if self.is_confirmed() == Some(false) => format!("{verb}, which is not confirmed"),
            End::Minimal => verb.to_owned(),
            _ => format!("{verb} (fewer may)"),
        };
        let failure = clean::line(&self.found.failure);
        format!("{} {verb}: {failure}", parts.join(" and "))
    }

    /// The commits that decide, and those that they meet.
    fn commit_lines(&self) -> Vec<String> {
        let Some(commits) = &self.found.commits else {
            return Vec::new();
        };
        let left = commits.left.iter().map(commit_line);
        let met = commits.met().map(|it| format!("with {}", commit_line(it)));
        left.chain(met).collect()
    }

    fn is_up_to_bad(&self) -> bool {
        let commits = self.found.commits.as_ref();
        commits.is_none_or(|commits| commits.is_up_to_bad)
    }

    /// The version that the difference begins with.
    fn begin(&self) -> String {
        match &self.found.commits {
            Some(commits) if !commits.is_from_good => merged(&commits.passing),
            _ => "the good version".to_owned(),
        }
    }

    /// The version that the difference ends with.
    fn end(&self) -> String {
        match &self.found.commits {
            Some(commits) if !commits.is_up_to_bad => merged(&commits.failing),
            _ => "the bad version".to_owned(),
        }
    }

    /// From when on it fails, as the beginning of a sentence.
    fn since(&self) -> String {
        let named = |commit: &Commit| {
            let (id, day) = (short(&commit.id), day(&commit.date));
            let Commit {
                subject, author, ..
            } = commit;
            format!(
                "commit {id} (\"{}\", {}, {day})",
                plain(subject),
                plain(author)
            )
        };
        let Some(commits) = &self.found.commits else {
            return format!("Between {} and {}", plain(&self.good), plain(&self.bad));
        };
        let met: Vec<String> = commits.met().map(named).collect();
        match &commits.left[..] {
            left if commits.has_work_tree && left.len() <= NAMED => {
                let mut parts: Vec<String> = left.iter().map(named).collect();
                parts.push("changes that are not committed yet".to_owned());
                format!("With {}", parts.join(" and "))
            }
            [one] if met.is_empty() => format!("Since {}", named(one)),
            [one] => format!("Where {} meets {}", named(one), met.join(" and ")),
            _ => format!("Between {} and {}", plain(&self.good), plain(&self.bad)),
        }
    }

    /// What else there is to know.
    fn notes(&self) -> Vec<String> {
        let found = self.found;
        let difference = &found.difference;
        let mut notes = vec![format!(
            "{} in {:.0} s: {}",
            counted(found.tests, "test"),
            found.took.as_secs_f64(),
            self.levels()
        )];
        let begins = match &found.commits {
            Some(commits) if commits.of > 0 => {
                let of = counted(commits.of, "commit");
                notes.push(match commits.is_up_to_work_tree {
                    true => format!("of {of} and the work tree"),
                    false => format!("of {of}"),
                });
                "the deciding ones have"
            }
            _ => "of",
        };
        notes.push(format!(
            "{begins} {} in {} ({})",
            counted(difference.places() as u64, "changed place"),
            counted(difference.changed_files() as u64, "file"),
            counted(difference.size(), "change"),
        ));
        if !found.rate.is_always() {
            let runs = match found.runs {
                1 => "once".to_owned(),
                runs => format!("up to {runs} times"),
            };
            notes.push(format!(
                "the bad version {}; each candidate was run {runs}",
                found.rate
            ));
        }
        if found.strays > 0 {
            let strays = counted(found.strays as u64, "process");
            notes.push(format!("the test left {strays} behind, which were ended"));
        }
        match found.end {
            End::Minimal => notes.push(
                "minimal: without any single one of them, the test passes or has no verdict"
                    .to_owned(),
            ),
            End::Tests => notes.push("may not be minimal: --max-tests was reached".to_owned()),
            End::Time => notes.push("may not be minimal: --max-time was reached".to_owned()),
            End::Cancelled => notes.push("may not be minimal: interrupted".to_owned()),
        }
        let checks = &found.checks;
        if self.is_confirmed().is_none() {
            notes.push("not seen again in new folders: there was no time".to_owned());
        }
        if self.is_confirmed() == Some(false) {
            notes.push(format!(
                "not confirmed in new folders: the passing version {}, the failing one {}",
                checks.passing.map_or("was not run", word),
                checks.failing.map_or("was not run", word),
            ));
            notes.push(
                "try --fresh (leftovers had a say) or --repeat (the test is not steady)".to_owned(),
            );
            if self.jobs > 1 {
                notes.push("or --jobs 1 (tests may share a port or a file)".to_owned());
            }
        }
        let (begin, end) = (self.begin(), self.end());
        let context = match found.passing.is_empty() {
            true => "",
            false => " with context.patch",
        };
        notes.push(format!("minimal.patch applies to {begin}{context}"));
        if let Some(kind) = checks.alone.filter(|_| !found.passing.is_empty()) {
            notes.push(format!("{begin} with these changes alone: {}", word(kind)));
        }
        if let Some(kind) = checks.without {
            notes.push(format!("{end} without them: {}", word(kind)));
        }
        if let Some(kind) = checks.reverted.filter(|_| !self.is_up_to_bad()) {
            let why = match kind {
                Kind::Unresolved => " (later changes may be in the way)",
                Kind::Pass | Kind::Fail => "",
            };
            notes.push(format!("the bad version without them: {}{why}", word(kind)));
        }
        if checks.reverted == Some(Kind::Fail) {
            notes.push(
                "if they are not what you mean, a failure that looks the same may have come first: \
                 --fail-if 'stderr contains TEXT' names yours"
                    .to_owned(),
            );
        }
        notes
    }

    fn levels(&self) -> String {
        let mut counts: Vec<(&str, [usize; 3])> = Vec::new();
        for tested in self.course {
            let level = tested.search.as_str();
            if counts.last().is_none_or(|(last, _)| *last != level) {
                counts.push((level, [0; 3]));
            }
            if let Some((_, kinds)) = counts.last_mut() {
                kinds[tested.kind as usize] += 1;
            }
        }
        let mut sums: BTreeMap<usize, (&str, [usize; 3])> = BTreeMap::new();
        let mut order: Vec<&str> = Vec::new();
        for (level, kinds) in counts {
            let at = order
                .iter()
                .position(|known| *known == level)
                .unwrap_or_else(|| {
                    order.push(level);
                    order.len() - 1
                });
            let sum = sums.entry(at).or_insert((level, [0; 3]));
            for (total, kind) in sum.1.iter_mut().zip(kinds) {
                *total += kind;
            }
        }
        let all = sums.values().map(|(level, [passed, failed, unresolved])| {
            let total = passed + failed + unresolved;
            match unresolved {
                0 => format!("{total} on {level}"),
                _ => format!("{total} on {level} ({unresolved} without a verdict)"),
            }
        });
        all.collect::<Vec<_>>().join(", ")
    }

    /// What to say in a bug report.
    fn paragraph(&self) -> String {
        let found = self.found;
        let mut text = String::new();
        let since = self.since();
        // Writing to a text cannot fail.
        let _ = write!(
            text,
            "{since}, {} fails: {}. ",
            code(&secret::text(&self.test)),
            plain(&found.failure)
        );
        let places: Vec<String> = found.changes.iter().take(5).map(told).collect();
        let more = match found.changes.len().saturating_sub(5) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = match found.changes.len() {
            1 => "This change decides",
            _ => "These changes decide together",
        };
        let _ = write!(text, "{what}: {}{more}. ", places.join("; "));
        let (it, does) = match found.changes.len() {
            1 => ("it", "it does"),
            _ => ("them", "they do"),
        };
        let seen = format!("With {it} the test fails, without {it} it passes");
        let _ = match self.is_confirmed() {
            Some(false) => write!(text, "{seen}, which was not seen again in new folders"),
            _ => write!(text, "{seen}"),
        };
        let taken_back = match found.checks.reverted {
            Some(Kind::Pass) => "makes the test pass, which is a workaround",
            Some(Kind::Fail) => "is not enough: other changes make the test fail there too",
            _ => "",
        };
        if !taken_back.is_empty() {
            let _ = write!(text, "; taking {it} back in the bad version {taken_back}");
        }
        if !found.passing.is_empty() && found.checks.alone == Some(Kind::Pass) {
            let _ = write!(
                text,
                "; in {} {does} no harm, so other changes (context.patch) have a part in it",
                self.begin()
            );
        }
        let _ = write!(
            text,
            ". This is a cause that was seen in {}; the defect may lie elsewhere, for \
             example in what relies on the old behaviour.",
            counted(found.tests, "test")
        );
        text
    }

    pub(crate) fn json(&self) -> Value {
        let found = self.found;
        let commit = |commit: &Commit| {
            json!({
                "id": commit.id,
                "author": commit.author,
                "mail": commit.mail,
                "date": commit.date,
                "subject": commit.subject,
            })
        };
        let change = |change: &Change| {
            json!({
                "file": change.path,
                "what": change.what,
                "oldMode": change.modes.map(|(old, _)| old),
                "newMode": change.modes.map(|(_, new)| new),
                "oldLine": change.old_line,
                "newLine": change.new_line,
                "removed": change.removed,
                "added": change.added,
                "commit": match &change.origin {
                    Origin::Commit(origin) => commit(origin),
                    Origin::Uncommitted => json!("uncommitted"),
                    Origin::NotLookedUp => json!("not looked up"),
                    Origin::Unknown => Value::Null,
                },
            })
        };
        let checks = &found.checks;
        json!({
            "version": 1,
            "kind": "changes",
            "command": self.command,
            "good": self.good,
            "bad": self.bad,
            "failure": found.failure,
            "rate": { "failed": found.rate.failed, "of": found.rate.of },
            "runsOfEach": found.runs,
            "tests": found.tests,
            "strays": found.strays,
            "seconds": (found.took.as_secs_f64() * 10.0).round() / 10.0,
            "minimal": found.end == End::Minimal,
            "confirmed": self.is_confirmed(),
            "commits": found.commits.as_ref().map(|commits| json!({
                "of": commits.of,
                "left": commits.left.iter().map(commit).collect::<Vec<_>>(),
                "with": commits.met().map(commit).collect::<Vec<_>>(),
                "workTree": commits.has_work_tree,
                "passing": commits.passing.iter().map(|it| &it.id).collect::<Vec<_>>(),
                "failing": commits.failing.iter().map(|it| &it.id).collect::<Vec<_>>(),
            })),
            "difference": {
                "files": found.difference.changed_files(),
                "places": found.difference.places(),
                "deltas": found.difference.size(),
            },
            "changes": found.changes.iter().map(change).collect::<Vec<_>>(),
            "checks": {
                "passing": checks.passing.map(word),
                "failing": checks.failing.map(word),
                "alone": checks.alone.map(word),
                "without": checks.without.map(word),
                "reverted": checks.reverted.map(word),
            },
            "begin": self.begin(),
            "end": self.end(),
            "patch": "minimal.patch",
            "context": (!found.passing.is_empty()).then_some("context.patch"),
            "bugReport": self.paragraph(),
        })
    }

    fn markdown(&self) -> anyhow::Result<String> {
        let found = self.found;
        let difference = &found.difference;
        let patch = difference.patch(&found.passing, &found.failing, NoText::Named);
        let patch = patch.map_err(explained)?;
        let mut text = format!("# {}\n\n", plain(&self.headline()));
        for line in self.commit_lines() {
            let _ = writeln!(text, "- {}", plain(&line));
        }
        let patch = String::from_utf8_lossy(&patch);
        let _ = write!(text, "\n{}\n", block("diff", &patch));
        text.push_str("| where | from |\n|---|---|\n");
        for change in &found.changes {
            let _ = writeln!(
                text,
                "| {} | {} |",
                cell(&code(&place(change))),
                cell(&plain(&origin(&change.origin)))
            );
        }
        text.push_str("\n## For the bug report\n\n");
        let _ = write!(text, "{}\n\n## How it was found\n\n", self.paragraph());
        for note in self.notes() {
            let _ = writeln!(text, "- {}", plain(&note));
        }
        let _ = write!(text, "\n{}", block("sh", &self.command));
        Ok(text)
    }

    fn html(&self) -> anyhow::Result<String> {
        let found = self.found;
        let mut body = String::new();
        for line in self.commit_lines() {
            let _ = writeln!(body, "<p>{}</p>", escape(&line));
        }
        let files = found
            .difference
            .side_by_side(&found.passing, &found.failing);
        body.push_str("<h2>Passes and fails, side by side</h2>\n");
        for file in files.map_err(explained)? {
            let name = |side: &Option<String>| match side {
                Some(path) => escape(&clean::line(path)),
                None => "(no such file)".to_owned(),
            };
            let (old_mode, new_mode) = match file.modes {
                Some((old, new)) => (format!(", mode {old}"), format!(", mode {new}")),
                None => Default::default(),
            };
            let _ = writeln!(
                body,
                "<table class=\"pair\"><tr><td class=\"n\"></td><th>passes: <code>{}</code>{old_mode}</th>\
                 <td class=\"n\"></td><th>fails: <code>{}</code>{new_mode}</th></tr>",
                name(&file.old),
                name(&file.new)
            );
            let indent = indent(&file.rows);
            file.rows
                .iter()
                .for_each(|row| body.push_str(&row_html(row.as_ref(), indent)));
            body.push_str("</table>\n");
        }
        body.push_str("<h2>Where it is from</h2>\n<table class=\"facts\">\n");
        for change in &found.changes {
            let (place, from) = (escape(&place(change)), escape(&origin(&change.origin)));
            let _ = writeln!(
                body,
                "<tr><td><code>{place}</code></td><td>{from}</td></tr>"
            );
        }
        let _ = write!(
            body,
            "</table>\n<h2>For the bug report</h2>\n<p>{}</p>\n<h2>How it was found</h2>\n<ul>\n",
            prose(&self.paragraph())
        );
        for note in self.notes() {
            let _ = writeln!(body, "<li>{}</li>", escape(&note));
        }
        let points: Vec<Point> = self
            .course
            .iter()
            .map(|tested| Point {
                left: tested.open,
                kind: tested.kind,
                level: tested.search.clone(),
            })
            .collect();
        body.push_str(&page::ending(&points, &self.command));
        Ok(page::page(&self.headline(), &body))
    }
}

/// The spaces that all lines begin with: they would only make lines wrap.
fn indent(rows: &[Option<Row>]) -> usize {
    let sides = rows.iter().flatten().flat_map(|row| [&row.old, &row.new]);
    let lines = sides.flatten().map(|(_, line)| line.as_str());
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0)
}

fn row_html(row: Option<&Row>, indent: usize) -> String {
    let Some(row) = row else {
        return "<tr><td class=\"n\">⋯</td><td></td><td class=\"n\">⋯</td><td></td></tr>\n"
            .to_owned();
    };
    let number = |side: &Option<(usize, String)>| match side {
        Some((number, _)) => number.to_string(),
        None => String::new(),
    };
    let cut = |line: &str| line.get(indent..).unwrap_or_default().to_owned();
    let (old, new) = match (&row.old, &row.new) {
        (Some((_, old)), Some((_, new))) if row.is_changed => marked(&cut(old), &cut(new)),
        (old, new) => {
            let text = |side: &Option<(usize, String)>| {
                side.as_ref()
                    .map_or(String::new(), |(_, line)| escape(&cut(line)))
            };
            (text(old), text(new))
        }
    };
    let class = |side: &Option<(usize, String)>, name: &str| match (row.is_changed, side) {
        (true, Some(_)) => format!("l {name}"),
        _ => "l".to_owned(),
    };
    format!(
        "<tr><td class=\"n\">{}</td><td class=\"{}\">{old}</td><td class=\"n\">{}</td><td class=\"{}\">{new}</td></tr>\n",
        number(&row.old),
        class(&row.old, "old"),
        number(&row.new),
        class(&row.new, "new"),
    )
}

fn place(change: &Change) -> String {
    let line = change.new_line.or(change.old_line);
    let path = clean::line(&change.path);
    match (&change.what, line) {
        (Some(what), _) => format!("{path}: {}", clean::line(what)),
        (None, Some(line)) if change.new_line.is_none() => {
            format!("{path}: line {line} is gone")
        }
        (None, Some(line)) => format!("{path}:{line}"),
        (None, None) => path.into_owned(),
    }
}

/// Where a change is, with its line where it is of one.
fn told(change: &Change) -> String {
    let line = |lines: &[String]| match lines {
        [one] => Some(code(one.trim())),
        _ => None,
    };
    let place = plain(&place(change));
    match (line(&change.removed), line(&change.added)) {
        (Some(old), Some(new)) => format!("{place}, where {old} became {new}"),
        (Some(old), None) if change.added.is_empty() => format!("{place}, {old}"),
        (None, Some(new)) if change.removed.is_empty() => format!("{place}, {new}"),
        _ => place,
    }
}

fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Unknown => "cannot be told".to_owned(),
        Origin::NotLookedUp => "not looked up".to_owned(),
        Origin::Uncommitted => "not committed yet".to_owned(),
        Origin::Commit(commit) => commit_line(commit),
    }
}

fn commit_line(commit: &Commit) -> String {
    format!(
        "commit {}, {} <{}>, {}: {}",
        short(&commit.id),
        clean::line(&commit.author),
        clean::line(&commit.mail),
        day(&commit.date),
        clean::line(&commit.subject)
    )
}

/// A version that is one commit, or what Git makes of several.
fn merged(commits: &[Commit]) -> String {
    let names: Vec<&str> = commits.iter().map(|commit| short(&commit.id)).collect();
    match &names[..] {
        [one] => format!("commit {one}"),
        _ => format!("commits {} merged", names.join(" and ")),
    }
}

fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

fn day(date: &str) -> &str {
    date.get(..10).unwrap_or(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_with_its_line() {
        let change = |removed: &[&str], added: &[&str]| Change {
            path: "a.c".to_owned(),
            what: None,
            modes: None,
            old_line: (!removed.is_empty()).then_some(3),
            new_line: (!added.is_empty()).then_some(4),
            removed: removed.iter().map(|line| (*line).to_owned()).collect(),
            added: added.iter().map(|line| (*line).to_owned()).collect(),
            origin: Origin::Unknown,
        };
        assert_eq!(
            told(&change(&["  x();"], &["  y();"])),
            "a.c:4, where `x();` became `y();`"
        );
        assert_eq!(told(&change(&[], &["  y();"])), "a.c:4, `y();`");
        assert_eq!(told(&change(&["x();"], &[])), "a.c: line 3 is gone, `x();`");
    }
}
