//! Prints a script as a test: straight, or with loops where they make the test shorter.

use std::collections::BTreeSet;

use culprit_model::script::Script;
use culprit_model::script::loops::{Looped, Repetition};

use crate::access::Access;
use crate::error::Error;
use crate::flow::flow;
use crate::graph::Graph;
use crate::imports::Imports;
use crate::inline::Inline;
use crate::java;
use crate::order::order;
use crate::source::{Comment, File};
use crate::variables::{VariablePlan, scope};
use crate::{Options, PrintedTest};

/// Lines of a loop besides its body.
const FRAME: usize = 2;

pub(crate) struct Printer<'a> {
    pub(crate) access: Access<'a>,
    pub(crate) options: &'a Options,
    pub(crate) comment: Comment<'a>,
}

/// A test, and its size.
struct Printed {
    test: PrintedTest,
    /// Characters of the statements, without white space.
    length: usize,
    lines: usize,
}

/// A script with its loops, as it is printed.
struct PrintedVersion {
    looped: Looped,
    printed: Printed,
}

impl Printer<'_> {
    pub(crate) fn print(&self, script: &Script) -> Result<PrintedTest, Error> {
        let looped = Looped::straight(script);
        let printed = self.printed(&looped)?;
        let compares_constants = printed.test.notes.compares_constants;
        let mut best = PrintedVersion { looped, printed };
        while let Some(shorter) = self.shorter(&best) {
            best = shorter;
        }
        let mut test = best.printed.test;
        test.notes.compares_constants = compares_constants;
        Ok(test)
    }

    fn printed(&self, looped: &Looped) -> Result<Printed, Error> {
        let graph = Graph::of(&looped.script)?;
        let loops = &looped.loops;
        // Results that need a variable, though they are used once.
        let mut named = BTreeSet::new();
        loop {
            let flow = flow(&graph);
            let inline = Inline::plan(&graph, &flow, loops, &named);
            let order = order(&graph, &inline);
            let Access { hierarchy, package } = self.access;
            let imports = Imports::new(hierarchy, package, &self.options.name);
            let plan = VariablePlan {
                flow,
                inline,
                loops,
                condition: self.options.condition.as_ref(),
            };
            let scope = scope(&graph, &order, self.access, imports, plan)?;
            let body = scope.statements(&order)?;
            let refused = scope.refused.take();
            if refused.is_empty() {
                let written = looped.origins.iter().flatten().copied().collect();
                let file = File {
                    options: self.options,
                    written,
                    comment: self.comment,
                };
                let test = file.test(&scope, &body)?;
                let lines = java::statements(&body.lines);
                let text = lines.iter().flat_map(|line| line.chars());
                return Ok(Printed {
                    test,
                    length: text.filter(|c| !c.is_whitespace()).count(),
                    lines: lines.len(),
                });
            }
            named.extend(refused);
        }
    }

    /// The version with one more loop that is shortest, if one is shorter.
    fn shorter(&self, than: &PrintedVersion) -> Option<PrintedVersion> {
        if !self.options.loops {
            return None;
        }
        let graph = Graph::of(&than.looped.script).ok()?;
        // The argument of an assertion is written in place, or has a variable there.
        let mut fixed = BTreeSet::new();
        for (argument, source) in flow(&graph).sources {
            fixed.extend([argument.0, source]);
        }
        let all = than.looped.repetitions(&fixed);
        let versions = all.iter().filter_map(|it| self.with_loop(than, it));
        versions.min_by_key(|version| version.printed.length)
    }

    /// The version with one more loop, if it is shorter and easier to read.
    fn with_loop(&self, than: &PrintedVersion, repetition: &Repetition) -> Option<PrintedVersion> {
        let looped = than.looped.rerolled(repetition);
        let printed = self.printed(&looped).ok()?;
        let of_loops = |it: &Looped| it.origins.iter().filter(|it| it.is_none()).count();
        let variables = of_loops(&looped) - of_loops(&than.looped) - repetition.varying.len();
        // A person who does something twice writes it twice, unless it is long.
        let is_worth_it = repetition.saves() > FRAME + variables
            && (repetition.rounds > 2 || printed.lines <= than.printed.lines);
        let is_shorter = printed.length < than.printed.length;
        (is_shorter && is_worth_it).then_some(PrintedVersion { looped, printed })
    }
}
