//! Units: what is taken out or put in as one. A level of a reduction works on units.

use std::sync::Arc;

use crate::digest::Digester;
use crate::set::DeltaSet;

/// How deltas are grouped.
#[derive(Clone, Debug, Default)]
pub struct Units(UnitsKind);

#[derive(Clone, Debug, Default)]
enum UnitsKind {
    #[default]
    Singles,
    Within(DeltaSet),
    Groups(Arc<[DeltaSet]>),
}

impl Units {
    /// Every delta is a unit.
    pub fn singles() -> Units {
        Units(UnitsKind::Singles)
    }

    /// Every delta of the set is a unit; all others stay unless they need one that goes. The nodes
    /// at one depth of a tree are such a level.
    pub fn within(set: DeltaSet) -> Units {
        Units(UnitsKind::Within(set))
    }

    /// Groups of deltas that go together. They share no delta; deltas in no group stay unless they
    /// need one that goes.
    pub fn groups(groups: impl IntoIterator<Item = DeltaSet>) -> Units {
        Units(UnitsKind::Groups(groups.into_iter().collect()))
    }

    /// The numbers of the units that have deltas in the set. Those of single deltas are theirs.
    pub(crate) fn of(&self, set: &DeltaSet) -> DeltaSet {
        match &self.0 {
            UnitsKind::Singles => set.clone(),
            UnitsKind::Within(some) => set.intersection(some),
            UnitsKind::Groups(groups) => {
                let numbered = (0u64..).zip(groups.iter());
                let found = numbered.filter(|(_, group)| group.intersects(set));
                found.map(|(number, _)| number).collect()
            }
        }
    }

    /// Those of the units that have deltas in the set.
    pub(crate) fn among(&self, units: &DeltaSet, set: &DeltaSet) -> DeltaSet {
        match &self.0 {
            UnitsKind::Singles | UnitsKind::Within(_) => units.intersection(set),
            UnitsKind::Groups(groups) => units
                .iter()
                .filter(|number| groups[*number as usize].intersects(set))
                .collect(),
        }
    }

    /// The deltas of the units.
    pub(crate) fn deltas(&self, units: &DeltaSet) -> DeltaSet {
        match &self.0 {
            UnitsKind::Singles | UnitsKind::Within(_) => units.clone(),
            UnitsKind::Groups(groups) => units
                .iter()
                .flat_map(|number| groups[number as usize].ranges())
                .collect(),
        }
    }

    /// A delta that is in two groups.
    pub(crate) fn shared(&self) -> Option<u64> {
        let UnitsKind::Groups(groups) = &self.0 else {
            return None;
        };
        let mut ranges: Vec<_> = groups.iter().flat_map(DeltaSet::ranges).collect();
        ranges.sort_by_key(|range| range.start);
        let mut pairs = ranges.windows(2);
        let twice = pairs.find(|pair| pair[1].start < pair[0].end)?;
        Some(twice[1].start)
    }

    pub(crate) fn add_to(&self, digester: &mut Digester) {
        match &self.0 {
            UnitsKind::Singles => digester.number(0),
            UnitsKind::Within(set) => {
                digester.number(1);
                digester.digest(set.digest());
            }
            UnitsKind::Groups(groups) => {
                digester.number(2);
                digester.number(groups.len() as u64);
                let groups = groups.iter().map(DeltaSet::digest);
                groups.for_each(|group| digester.digest(group));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_numbered_and_found_again() {
        let units = Units::groups([0..3, 5..6, 8..20].map(DeltaSet::from));
        let set: DeltaSet = [2, 4, 9].into_iter().collect();
        let found = units.of(&set);
        assert_eq!(found.to_string(), "0 2");
        assert_eq!(units.deltas(&found).to_string(), "0-2 8-19");
        assert_eq!(units.among(&found, &DeltaSet::from(9..10)).to_string(), "2");
        assert_eq!(units.shared(), None);
        let twice = Units::groups([DeltaSet::from(0..3), DeltaSet::from(2..5)]);
        assert_eq!(twice.shared(), Some(2));
    }
}
