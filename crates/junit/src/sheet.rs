//! A scenario on paper: written as it is, or with loops where that is shorter.

use std::collections::BTreeSet;

use crate::access::Access;
use crate::error::Error;
use crate::flow::flow;
use crate::imports::Imports;
use crate::inline::Inline;
use crate::order::order;
use crate::repeats::repeats;
use crate::roll::Rolled;
use crate::source::{self, Comment};
use crate::story::Story;
use crate::variables::scope;
use crate::{Options, Test};

/// Lines of a loop that do nothing.
const FRAME: usize = 2;

/// What tests are printed with.
pub(crate) struct Press<'a> {
    pub(crate) access: Access<'a>,
    pub(crate) options: &'a Options,
    pub(crate) comment: Comment<'a>,
}

pub(crate) struct Sheet {
    pub(crate) test: Test,
    /// Characters of the statements, without those that nobody sees.
    length: usize,
    lines: usize,
}

impl Press<'_> {
    pub(crate) fn print(&self, rolled: &Rolled) -> Result<Sheet, Error> {
        let story = Story::read(&rolled.scenario)?;
        let loops = &rolled.loops;
        let mut kept = BTreeSet::new();
        loop {
            let flow = flow(&story);
            let inline = Inline::plan(&story, &flow, loops, &kept);
            let order = order(&story, &inline);
            let Access { hierarchy, package } = self.access;
            let imports = Imports::new(hierarchy, package, &self.options.name);
            let scope = scope(&story, &order, self.access, imports, (flow, inline, loops))?;
            let body = scope.statements(&order)?;
            let refused = scope.refused.take();
            if refused.is_empty() {
                let written = rolled.origins.iter().flatten().copied().collect();
                let test = source::test(&scope, &body, self.options, (written, self.comment));
                let text = body.lines.iter().flat_map(|line| line.chars());
                let length = text.filter(|c| !c.is_whitespace()).count();
                let lines = body.lines.len();
                return Ok(Sheet {
                    test,
                    length,
                    lines,
                });
            }
            kept.extend(refused);
        }
    }

    /// With the loops that make a test shorter, the best of them first.
    pub(crate) fn shortest(&self, straight: Rolled, sheet: Sheet) -> Sheet {
        let compares_constants = sheet.test.notes.compares_constants;
        let (mut rolled, mut best) = (straight, sheet);
        while let Some((next, sheet)) = self.shorter(&rolled, &best) {
            (rolled, best) = (next, sheet);
        }
        best.test.notes.compares_constants = compares_constants;
        best
    }

    fn shorter(&self, rolled: &Rolled, than: &Sheet) -> Option<(Rolled, Sheet)> {
        let story = Story::read(&rolled.scenario).ok()?;
        let repeats = repeats(&story, &rolled.loops);
        let tried = repeats.iter().filter_map(|repeat| {
            let next = rolled.roll(&story, repeat);
            let sheet = self.print(&next).ok()?;
            let of_loops =
                |rolled: &Rolled| rolled.origins.iter().filter(|it| it.is_none()).count();
            let variables = of_loops(&next) - of_loops(rolled) - repeat.columns.len();
            // Who does something twice writes it twice, unless it is much.
            let is_worth_it = repeat.saves() > FRAME + variables
                && (repeat.rounds > 2 || sheet.lines <= than.lines);
            (sheet.length < than.length && is_worth_it).then_some((next, sheet))
        });
        tried.min_by_key(|(_, sheet)| sheet.length)
    }
}
