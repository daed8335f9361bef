//! A pass: one way to cut the difference of both sides into deltas. It is the oracle *inputs* of the
//! driver.

use culprit_reduce::{Artefact, ArtefactOracle, DeltaSet, Problem, Units, Verdict, Wanted};

use super::material::Material;
use super::runner::Runner;
use super::well_formed::WellFormed;
use crate::Error;

/// One cut, and how candidates are put together again.
pub(crate) struct Pass<'a> {
    pub(crate) name: String,
    pub(crate) problem: Problem,
    pub(crate) render: &'a (dyn Fn(&DeltaSet) -> Material + Sync),
    /// The files that must stay well-formed.
    pub(crate) well_formed: Option<&'a WellFormed>,
}

/// The candidates of a pass, run by the test.
pub(crate) struct Candidates<'a> {
    pub(crate) pass: &'a Pass<'a>,
    pub(crate) runner: &'a Runner,
}

impl ArtefactOracle for Candidates<'_> {
    type Content = Material;
    type Error = Error;

    fn make(&self, candidate: &DeltaSet) -> Result<Artefact<Material>, Error> {
        let material = (self.pass.render)(candidate);
        Ok(Artefact {
            digest: material.digest(),
            size: material.len(),
            content: match self.pass.well_formed.and_then(|form| form.flaw(&material)) {
                None => Ok(material),
                Some(flaw) => Err(flaw.to_owned()),
            },
        })
    }

    fn judge(&self, material: &Material, wanted: &Wanted<'_>) -> Result<Verdict<String>, Error> {
        self.runner.judge(material, &|| wanted.still())
    }
}

/// A problem of independent deltas. Of `ddmin` each is tried at least once, and no more: what is
/// minimal in the end is seen by passes that change nothing.
pub(crate) fn independent(count: u64) -> Problem {
    Problem::new(count)
        .levels([Units::singles()])
        .atoms(Units::within(DeltaSet::empty()))
}
