//! Each unit alone, from the last to the first and round again, until none of them can go: after
//! it, what is left is 1-minimal. A unit goes with everything that needs it.

use crate::needs::Closing;
use crate::schedule::Removal;
use crate::set::DeltaSet;

#[derive(Clone, Default)]
pub(crate) struct Singles {
    /// Those that cannot go from what is left now.
    refused: DeltaSet,
    /// Where the next is looked for: below this one, or from the end.
    below: Option<u64>,
}

impl Singles {
    pub(crate) fn propose(&mut self, alive: &DeltaSet) -> Option<Removal> {
        let open = alive.minus(&self.refused);
        let ahead = self.below.and_then(|below| {
            let before = open.intersection(&DeltaSet::all(below));
            before.last()
        });
        let unit = ahead.or_else(|| open.last())?;
        let units = DeltaSet::from(unit..unit + 1);
        self.refused = self.refused.union(&units);
        self.below = Some(unit);
        Some(Removal {
            units,
            closing: Closing::Drop,
        })
    }

    pub(crate) fn accepted(&mut self) {
        self.refused = DeltaSet::empty();
    }
}
