//! What is to be reduced: the deltas, what they need, how they are grouped, and the two ends.

use std::collections::BTreeMap;

use crate::digest::{Digest, Digester};
use crate::error::ProblemError;
use crate::needs::Needs;
use crate::set::DeltaSet;
use crate::units::Units;

/// Deltas and what is known of them. Candidates lie between the passing and the failing set.
#[derive(Clone, Debug)]
pub struct Problem {
    passing: DeltaSet,
    failing: DeltaSet,
    needs: Needs,
    levels: Vec<Units>,
    atoms: Units,
    key: String,
}

impl Problem {
    /// Independent deltas from 0 to `size`. All of them fail, none of them pass.
    pub fn new(size: u64) -> Problem {
        Problem {
            passing: DeltaSet::empty(),
            failing: DeltaSet::all(size),
            needs: Needs::nothing(),
            levels: Vec::new(),
            atoms: Units::singles(),
            key: String::new(),
        }
    }

    /// The nodes of a tree, each with its parent: a node goes with all below it, and nodes near
    /// the root are tried first.
    pub fn tree(parents: &[Option<u32>]) -> Problem {
        let mut depths: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for (node, depth) in depths_of(parents).into_iter().enumerate() {
            depths.entry(depth).or_default().push(node as u64);
        }
        let sets = depths
            .into_values()
            .map(|nodes| nodes.into_iter().collect());
        Problem::new(parents.len() as u64)
            .needs(Needs::tree(parents))
            .levels(sets.map(Units::within))
    }

    /// What deltas need.
    pub fn needs(self, needs: Needs) -> Problem {
        Problem { needs, ..self }
    }

    /// Levels from coarse to fine, each of which is reduced before the next.
    pub fn levels(self, levels: impl IntoIterator<Item = Units>) -> Problem {
        Problem {
            levels: levels.into_iter().collect(),
            ..self
        }
    }

    /// What the result is minimal in, after all levels: single deltas unless told otherwise.
    pub fn atoms(self, atoms: Units) -> Problem {
        Problem { atoms, ..self }
    }

    /// What every candidate has. `dd` starts from it; it must pass there.
    pub fn passing(self, passing: DeltaSet) -> Problem {
        Problem { passing, ..self }
    }

    /// What every candidate is a part of. It must fail.
    pub fn failing(self, failing: DeltaSet) -> Problem {
        Problem { failing, ..self }
    }

    /// What else verdicts depend on: the subject's version, the oracle's settings, the seed. A
    /// journal with another key is refused.
    pub fn key(self, key: impl Into<String>) -> Problem {
        Problem {
            key: key.into(),
            ..self
        }
    }

    /// Whether the problem can be told from others by its key.
    pub(crate) fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    /// What every candidate is a part of.
    pub fn all(&self) -> &DeltaSet {
        &self.failing
    }

    /// The digest of everything that verdicts may depend on, by which journals know the problem.
    pub fn digest(&self) -> Digest {
        let mut digester = Digester::default();
        digester.field(self.key.as_bytes());
        digester.digest(self.passing.digest());
        digester.digest(self.failing.digest());
        self.needs.add_to(&mut digester);
        digester.number(self.levels.len() as u64);
        let levels = self.levels.iter();
        levels.for_each(|level| level.add_to(&mut digester));
        self.atoms.add_to(&mut digester);
        digester.finish()
    }

    /// Fails with the first thing that makes no sense.
    pub(crate) fn check(&self) -> Result<(), ProblemError> {
        if !self.passing.is_subset(&self.failing) {
            return Err(ProblemError::EndsCross);
        }
        for set in [&self.passing, &self.failing] {
            if let Some((delta, needed)) = self.needs.unmet(set) {
                return Err(ProblemError::NotClosed { delta, needed });
            }
        }
        for units in self.levels.iter().chain([&self.atoms]) {
            if let Some(delta) = units.shared() {
                return Err(ProblemError::InTwoUnits { delta });
            }
        }
        Ok(())
    }

    pub(crate) fn passing_end(&self) -> &DeltaSet {
        &self.passing
    }

    pub(crate) fn failing_end(&self) -> &DeltaSet {
        &self.failing
    }

    pub(crate) fn closure(&self) -> &Needs {
        &self.needs
    }

    /// The units of a stage: the levels, then the atoms.
    pub(crate) fn stage(&self, stage: usize) -> Option<&Units> {
        let beyond = stage.checked_sub(self.levels.len());
        match beyond {
            None => self.levels.get(stage),
            Some(0) => Some(&self.atoms),
            Some(_) => None,
        }
    }

    /// The stage whose units are the atoms.
    pub(crate) fn last_stage(&self) -> usize {
        self.levels.len()
    }
}

/// The depth of each node. Parents may come after their children.
fn depths_of(parents: &[Option<u32>]) -> Vec<usize> {
    let mut depths = vec![None; parents.len()];
    let mut path = Vec::new();
    for start in 0..parents.len() {
        let mut node = start;
        let base = loop {
            if let Some(depth) = depths[node] {
                break depth + 1;
            }
            path.push(node);
            assert!(path.len() <= parents.len(), "a node is above itself");
            match parents[node] {
                Some(parent) => node = parent as usize,
                None => break 0,
            }
        };
        for (depth, node) in (base..).zip(path.drain(..).rev()) {
            depths[node] = Some(depth);
        }
    }
    depths.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_known_in_any_order() {
        let parents = [Some(2), Some(0), None, Some(1), None];
        assert_eq!(depths_of(&parents), [1, 2, 0, 3, 0]);
    }

    #[test]
    fn nonsense_is_named() {
        let check = |problem: Problem, expect: &str| {
            assert_eq!(problem.check().unwrap_err().to_string(), expect);
        };
        let one = DeltaSet::from(1..2);
        check(
            Problem::new(3).passing(DeltaSet::from(2..5)),
            "the passing set is not a part of the failing one",
        );
        check(
            Problem::new(3)
                .needs(Needs::graph(3, [(1, 0)]))
                .passing(one.clone()),
            "delta 1 needs delta 0, which is not in the same end of the problem",
        );
        check(
            Problem::new(3).levels([Units::groups([one.clone(), one])]),
            "delta 1 is in two units of one level",
        );
    }

    #[test]
    fn the_digest_depends_on_everything_that_verdicts_may_depend_on() {
        let plain = || Problem::new(4);
        let all = [
            plain(),
            Problem::new(5),
            plain().key("other"),
            plain().passing(DeltaSet::from(0..1)),
            plain().needs(Needs::graph(4, [(1, 0)])),
            plain().needs(Needs::chains(std::iter::once(0..4))),
            plain().levels([Units::singles()]),
            plain().atoms(Units::within(DeltaSet::from(0..2))),
        ];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(i == j, a.digest() == b.digest(), "{i} {j}");
            }
        }
    }
}
