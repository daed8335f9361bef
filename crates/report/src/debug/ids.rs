//! The ids of the parts of `report.html`, and the places that links of the page lead to.

use super::OriginEntry;

/// The ids of the parts that are about one test.
pub(super) struct Ids {
    failure: usize,
    test: usize,
}

impl Ids {
    /// The ids of a test, by its number among those of a failure and the number of the failure.
    pub(super) fn of(failure: usize, test: usize) -> Ids {
        Ids { failure, test }
    }

    /// The section of a failure.
    pub(super) fn failure(failure: usize) -> String {
        format!("f{failure}")
    }

    /// The stack trace of a failure.
    pub(super) fn stack(&self) -> String {
        format!("f{}-stack", self.failure)
    }

    /// A part of the test.
    pub(super) fn part(&self, name: &str) -> String {
        format!("f{}-t{}-{name}", self.failure, self.test)
    }

    /// A link of the chain, in the list.
    pub(super) fn link(&self, at: usize) -> String {
        self.part(&format!("link{at}"))
    }

    /// An excerpt of the source.
    pub(super) fn excerpt(&self, at: usize) -> String {
        self.part(&format!("m{at}"))
    }

    /// A line of an excerpt.
    pub(super) fn line(&self, excerpt: usize, line: u16) -> String {
        self.part(&format!("m{excerpt}-l{line}"))
    }

    /// The source of a link: its line in an excerpt, else the excerpt, else its place in the list.
    pub(super) fn source(&self, origin: &OriginEntry, link: usize) -> String {
        let entry = &origin.chain[link];
        let excerpts = || {
            let all = origin.excerpts.iter().enumerate();
            all.filter(|(_, it)| it.class == entry.class && it.method == entry.method)
        };
        let with_line = excerpts().find_map(|(at, excerpt)| {
            let line = excerpt
                .lines
                .iter()
                .find(|it| Some(it.line) == entry.line)?;
            Some(self.line(at, line.line))
        });
        let excerpt = || excerpts().next().map(|(at, _)| self.excerpt(at));
        with_line
            .or_else(excerpt)
            .unwrap_or_else(|| self.link(link))
    }
}
