//! The report on changes: the lines, files and commits that decide between two versions of a program.

mod document;

use std::fmt::Write as _;

use culprit_isolate::changes::{Change, ChangeOrigin, Commit, Error, Isolation, NoText, reason_in};
use culprit_model::count::counted;
use culprit_model::{clean, secret};
use culprit_reduce::{SearchEnd, Tested, Verdict, VerdictKind};

use super::comparison::{Comparison, Sides};
use super::search::Search;
use super::{Verdict as VerdictWord, early_end, seconds, within};
use crate::document::Document;
use crate::markup::html::escape;
use crate::markup::markdown::{block, cell, code, plain};
use crate::page::{self, Point};
use crate::style::Styles;
pub use document::{ChangesCandidate, ChangesDocument};

/// Changes, and commits, that are printed to a terminal, at most.
const PRINTED: usize = 40;

/// Commits that one sentence names, at most.
const NAMED: usize = 5;

/// An isolation of changes, with all that its report needs.
pub struct ChangesReport<'r> {
    /// The command that found it, without the folder for results.
    pub command: String,
    /// The test, as it was typed.
    pub test: String,
    /// The version that passes.
    pub good: String,
    /// The version that fails.
    pub bad: String,
    /// Candidates that ran at the same time.
    pub jobs: u8,
    /// The result.
    pub found: &'r Isolation,
    /// The verdicts, in order.
    pub course: &'r [Tested],
    /// The command that continues the search.
    pub resume: String,
}

impl ChangesReport<'_> {
    /// The command that continues a search which ended early.
    pub fn resume(&self) -> Option<&str> {
        early_end(self.found.end).map(|_| self.resume.as_str())
    }

    /// Whether the result was confirmed in new folders; `None` if it was not run there.
    pub fn is_confirmed(&self) -> Option<bool> {
        let checks = &self.found.checks;
        let passing = kind(&checks.passing).map(|kind| kind == VerdictKind::Pass);
        let failing = kind(&checks.failing).map(|kind| kind == VerdictKind::Fail);
        match (passing, failing) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }
    }

    /// The result for a terminal of so many columns, if that is known.
    pub fn text(&self, columns: Option<usize>, styles: Styles) -> String {
        let (title, bad, dim) = (styles.title, styles.bad, styles.dim);
        let headline = within(&self.headline(), "", columns);
        let mut out = format!("{title}{headline}{title:#}\n");
        let commits = self.commit_lines();
        // Writing to a text cannot fail.
        for line in commits.iter().take(PRINTED) {
            let _ = writeln!(out, "{}", within(line, "  ", columns));
        }
        if commits.len() > PRINTED {
            let more = commits.len() - PRINTED;
            let _ = writeln!(out, "  and {more} more commits, in report.md");
        }
        let changes = &self.found.changes;
        for change in changes.iter().take(PRINTED) {
            let _ = writeln!(out, "  {}", place(change));
            for line in &change.removed {
                let _ = writeln!(out, "    {dim}-{line}{dim:#}");
            }
            for line in &change.added {
                let _ = writeln!(out, "    {bad}+{line}{bad:#}");
            }
        }
        if changes.len() > PRINTED {
            let more = changes.len() - PRINTED;
            let _ = writeln!(out, "  and {more} more, in minimal.patch");
        }
        out
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
        let verb = match self.needs_context() {
            true => format!("{verb}, given the changes in context.patch"),
            false => verb.to_owned(),
        };
        let verb = match self.found.end {
            _ if self.is_confirmed() == Some(false) => format!("{verb}, which is not confirmed"),
            SearchEnd::Minimal => verb,
            _ => format!("{verb} (fewer may)"),
        };
        let failure = clean::line(&self.found.failure);
        format!("{} {verb}: {failure}", parts.join(" and "))
    }

    /// Whether the changes were not seen to fail without those of `context.patch`.
    fn needs_context(&self) -> bool {
        let alone = kind(&self.found.checks.alone);
        !self.found.passing.is_empty() && alone != Some(VerdictKind::Fail)
    }

    /// The commits that decide, and those that they meet; without a search among commits, those that the
    /// changes are from.
    fn commit_lines(&self) -> Vec<String> {
        let Some(commits) = &self.found.commits else {
            let mut lines = Vec::new();
            for change in &self.found.changes {
                if let ChangeOrigin::Commit(commit) = &change.origin {
                    let line = commit_line(commit);
                    if !lines.contains(&line) {
                        lines.push(line);
                    }
                }
            }
            return lines;
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

    /// Figures and reservations, each a sentence.
    pub fn notes(&self) -> Vec<String> {
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
        let minimal = "minimal: without any single one of them, the test passes or has no verdict";
        notes.push(early_end(found.end).unwrap_or(minimal).to_owned());
        let checks = &found.checks;
        if self.is_confirmed().is_none() {
            notes.push("not seen again in new folders: there was no time".to_owned());
        }
        if self.is_confirmed() == Some(false) {
            notes.push(format!(
                "not confirmed in new folders: the passing version {}, the failing one {}",
                checks
                    .passing
                    .as_ref()
                    .map_or("was not run".to_owned(), verdict_words),
                checks
                    .failing
                    .as_ref()
                    .map_or("was not run".to_owned(), verdict_words),
            ));
            notes.push(
                "try --fresh (old build results may matter) or --repeat (the test may be flaky)"
                    .to_owned(),
            );
            if self.jobs > 1 {
                notes.push("or --jobs 1 (tests may share a port or a file)".to_owned());
            }
        }
        let (begin, end) = (self.begin(), self.end());
        notes.push(match found.passing.is_empty() {
            true => format!("minimal.patch applies to {begin}"),
            false => format!("apply context.patch to {begin} first, then minimal.patch"),
        });
        if let Some(verdict) = checks.alone.as_ref().filter(|_| !found.passing.is_empty()) {
            let verdict = verdict_words(verdict);
            notes.push(format!("{begin} with these changes alone: {verdict}"));
        }
        if let Some(verdict) = &checks.without {
            notes.push(format!("{end} without them: {}", verdict_words(verdict)));
        }
        if let Some(verdict) = checks.reverted.as_ref().filter(|_| !self.is_up_to_bad()) {
            let verdict = verdict_words(verdict);
            notes.push(format!("the bad version without them: {verdict}"));
        }
        if self.needs_context() {
            notes.push(
                "--simplify finds all lines that make the good version fail, with no others"
                    .to_owned(),
            );
        }
        if kind(&checks.reverted) == Some(VerdictKind::Fail) {
            notes.push(
                "if they are not what you mean, a failure that looks the same may have come first: \
                 --fail-if 'stderr contains TEXT' names yours"
                    .to_owned(),
            );
        }
        notes
    }

    /// The number of tests on each level, in the order in which the levels were first reached.
    fn levels(&self) -> String {
        struct Level {
            name: String,
            tests: usize,
            unresolved: usize,
        }
        let mut levels: Vec<Level> = Vec::new();
        for tested in self.course {
            let known = levels.iter().position(|level| level.name == tested.search);
            let at = known.unwrap_or_else(|| {
                levels.push(Level {
                    name: tested.search.clone(),
                    tests: 0,
                    unresolved: 0,
                });
                levels.len() - 1
            });
            levels[at].tests += 1;
            levels[at].unresolved += usize::from(tested.kind == VerdictKind::Unresolved);
        }
        let all = levels.iter().map(|level| match level.unresolved {
            0 => format!("{} on {}", level.tests, level.name),
            count => format!(
                "{} on {} ({count} without a verdict)",
                level.tests, level.name
            ),
        });
        all.collect::<Vec<_>>().join(", ")
    }

    /// A paragraph for a bug report, in Markdown.
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
        let context = match found.passing.is_empty() {
            true => "",
            false => " with the other changes in context.patch",
        };
        let begin = self.begin();
        let seen = format!("In {begin}{context}, the test fails with {it} and passes without {it}");
        let _ = match self.is_confirmed() {
            Some(false) => write!(text, "{seen}, which was not seen again in new folders"),
            _ => write!(text, "{seen}"),
        };
        let taken_back = match &found.checks.reverted {
            Some(Verdict::Pass) => "makes the test pass, which is a workaround".to_owned(),
            Some(Verdict::Fail(_)) => {
                "is not enough: other changes make the test fail there too".to_owned()
            }
            Some(Verdict::Unresolved(why)) => {
                format!("gives no verdict ({})", plain(reason_in(why)))
            }
            None => String::new(),
        };
        if !taken_back.is_empty() {
            let _ = write!(text, "; taking {it} back in the bad version {taken_back}");
        }
        let alone = found
            .checks
            .alone
            .as_ref()
            .filter(|_| !found.passing.is_empty());
        let _ = match alone {
            Some(Verdict::Pass) => write!(
                text,
                "; in {begin} alone {does} no harm, so other changes (context.patch) have a part in it"
            ),
            Some(Verdict::Unresolved(why)) => write!(
                text,
                "; {begin} with {it} alone has no verdict ({})",
                plain(reason_in(why))
            ),
            Some(Verdict::Fail(_)) | None => Ok(()),
        };
        let _ = write!(
            text,
            ". This is a cause that was seen in {}; the defect may lie elsewhere, for \
             example in what relies on the old behaviour.",
            counted(found.tests, "test")
        );
        text
    }

    /// `report.json`.
    pub fn document(&self) -> Document<ChangesDocument> {
        let (found, checks) = (self.found, &self.found.checks);
        let verdict = |verdict: &Option<Verdict<String>>| kind(verdict).map(VerdictWord::from);
        let reason = |verdict: &Option<Verdict<String>>| match verdict {
            Some(Verdict::Unresolved(why)) => Some(reason_in(why).to_owned()),
            _ => None,
        };
        Document::new(ChangesDocument {
            kind: document::ChangesKind::Changes,
            command: self.command.clone(),
            good: self.good.clone(),
            bad: self.bad.clone(),
            failure: found.failure.clone(),
            rate: found.rate.into(),
            runs_of_each: found.runs,
            tests: found.tests,
            strays: found.strays as u64,
            seconds: seconds(found.took, 1),
            minimal: found.end == SearchEnd::Minimal,
            confirmed: self.is_confirmed(),
            commits: found.commits.as_ref().map(Into::into),
            difference: document::Difference {
                files: found.difference.changed_files(),
                places: found.difference.places(),
                deltas: found.difference.size(),
            },
            changes: found.changes.iter().map(Into::into).collect(),
            checks: document::Checks {
                passing: verdict(&checks.passing),
                failing: verdict(&checks.failing),
                alone: verdict(&checks.alone),
                without: verdict(&checks.without),
                reverted: verdict(&checks.reverted),
                no_verdict: document::NoVerdict {
                    passing: reason(&checks.passing),
                    failing: reason(&checks.failing),
                    alone: reason(&checks.alone),
                    without: reason(&checks.without),
                    reverted: reason(&checks.reverted),
                },
            },
            begin: self.begin(),
            end: self.end(),
            patch: "minimal.patch".to_owned(),
            context: (!found.passing.is_empty()).then(|| "context.patch".to_owned()),
            bug_report: self.paragraph(),
        })
    }

    fn search(&self) -> Search<'_> {
        let point = |tested: &Tested| Point {
            left: tested.open,
            kind: tested.kind,
            level: tested.search.clone(),
        };
        Search {
            paragraph: self.paragraph(),
            notes: self.notes(),
            course: self.course.iter().map(point).collect(),
            command: &self.command,
            resume: self.resume(),
        }
    }

    /// `report.md`.
    pub fn markdown(&self) -> Result<String, Error> {
        let found = self.found;
        let difference = &found.difference;
        let patch = difference.patch(&found.passing, &found.failing, NoText::Named);
        let patch = patch?;
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
        text.push_str(&self.search().markdown());
        Ok(text)
    }

    /// `report.html`.
    pub fn html(&self) -> Result<String, Error> {
        let found = self.found;
        let mut body = String::new();
        for line in self.commit_lines() {
            let _ = writeln!(body, "<p>{}</p>", escape(&line));
        }
        let files = found
            .difference
            .side_by_side(&found.passing, &found.failing);
        body.push_str("<h2>Passes and fails, side by side</h2>\n");
        for file in files? {
            body.push_str(&Comparison::of_changes(&file).html(Sides::VERDICTS));
        }
        body.push_str("<h2>Where it is from</h2>\n<table class=\"facts\">\n");
        for change in &found.changes {
            let (place, from) = (escape(&place(change)), escape(&origin(&change.origin)));
            let _ = writeln!(
                body,
                "<tr><td><code>{place}</code></td><td>{from}</td></tr>"
            );
        }
        body.push_str("</table>\n<h2>For the bug report</h2>\n");
        body.push_str(&self.search().html());
        Ok(page::page(&self.headline(), &body))
    }
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

fn origin(origin: &ChangeOrigin) -> String {
    match origin {
        ChangeOrigin::Unknown => "cannot be told".to_owned(),
        ChangeOrigin::NotLookedUp => "not looked up".to_owned(),
        ChangeOrigin::Uncommitted => "not committed yet".to_owned(),
        ChangeOrigin::Commit(commit) => commit_line(commit),
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

/// The kind of a verdict, if there is one.
fn kind(verdict: &Option<Verdict<String>>) -> Option<VerdictKind> {
    verdict.as_ref().map(Verdict::kind)
}

/// A verdict as the end of a sentence, with the reason why there is none.
fn verdict_words(verdict: &Verdict<String>) -> String {
    let word = VerdictWord::from(verdict.kind()).words();
    match verdict {
        Verdict::Unresolved(why) => format!("{word}: it {}", clean::line(reason_in(why))),
        Verdict::Pass | Verdict::Fail(_) => word.to_owned(),
    }
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
            origin: ChangeOrigin::Unknown,
        };
        assert_eq!(
            told(&change(&["  x();"], &["  y();"])),
            "a.c:4, where `x();` became `y();`"
        );
        assert_eq!(told(&change(&[], &["  y();"])), "a.c:4, `y();`");
        assert_eq!(told(&change(&["x();"], &[])), "a.c: line 3 is gone, `x();`");
    }
}
