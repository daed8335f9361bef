//! The parts of its surroundings that the failure of a test depends on, found by delta debugging.

use culprit_reduce::{
    Artefact, ArtefactOracle, Budget, DeltaSet, Digester, Driver, Error as Refused, Goal, Problem,
    Scale, Schedule, Search, SearchEnd, Verdict, Wanted,
};

use super::{Compiled, Fails, LIMIT, RunSettings, Verified};
use crate::Error;

/// A search for the parts that a test needs. The test fails with all of them.
pub(super) struct Parts<'a, P> {
    /// The name of the search, in events.
    pub(super) name: &'static str,
    /// The number of parts.
    pub(super) size: usize,
    /// Bounds of the search, besides those of the user.
    pub(super) budget: Budget,
    pub(super) compiled: &'a Compiled<'a>,
    pub(super) fails: Fails<'a>,
    /// Surroundings with some of the parts only.
    pub(super) only: &'a (dyn Fn(&DeltaSet) -> P + Sync),
    /// The settings of a run with all parts, and how they change in such surroundings.
    pub(super) settings: RunSettings<'a>,
    pub(super) within: for<'p> fn(RunSettings<'p>, &'p P) -> RunSettings<'p>,
}

impl<P: Send + Sync> Parts<'_, P> {
    /// The parts without any single one of which the test does not fail; `None` if they were not found in time.
    pub(super) fn needed(&self, driver: &Driver<'_>) -> Result<Option<DeltaSet>, Error> {
        let size = self.size as u64;
        let search = Search {
            name: self.name,
            problem: Problem::new(size),
            goal: Goal::Simplify,
            schedule: Schedule::Classic,
            scale: Scale {
                whole: size,
                best: size,
                extent: 1.0,
            },
            // Tests may share the folder of the user.
            is_sequential: true,
            learn: None,
        };
        match driver.within(self.budget, || driver.search(search, self)) {
            Ok(found) if found.end == SearchEnd::Minimal => Ok(Some(found.failing)),
            Err(Refused::Oracle { source, .. }) if !source.is_end() => Err(source),
            Ok(_) | Err(_) => Ok(None),
        }
    }
}

impl<P: Send + Sync> ArtefactOracle for Parts<'_, P> {
    type Content = P;
    type Error = Error;

    fn make(&self, candidate: &DeltaSet) -> Result<Artefact<P>, Error> {
        let mut digester = Digester::default();
        digester.field(self.name.as_bytes());
        digester.field(self.compiled.test.source.as_bytes());
        digester.digest(candidate.digest());
        Ok(Artefact {
            digest: digester.finish(),
            size: candidate.len(),
            content: Ok((self.only)(candidate)),
        })
    }

    fn judge(&self, part: &P, _: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        let verified = self
            .compiled
            .run((self.within)(self.settings, part), LIMIT)?;
        Ok(match verified {
            _ if (self.fails)(&verified) => Verdict::Fail(String::new()),
            Verified::Passed => Verdict::Pass,
            _ => Verdict::Unresolved(String::new()),
        })
    }
}
