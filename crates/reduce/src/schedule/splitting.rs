//! Binary splitting, as in adaptive group testing (Hwang, 1972): a portion of units is taken out;
//! if that does not work, one of them matters, and halving the portion finds it in as many tests
//! as its size has binary digits. The rest of the portion is as unknown as before.
//!
//! Deviations from group testing: the number of units that matter is not known, so the size of
//! portions follows what was found so far; and taking out need not be monotone, so nothing here is
//! a proof. What group testing concludes is believed until the last pass.
//!
//! Units are tried from the last to the first: later ones need earlier ones more often than the
//! other way round, so that who needs a unit is decided before the unit is.

use crate::needs::Closing;
use crate::schedule::Removal;
use crate::set::DeltaSet;

/// Units that are expected to matter before anything is known.
const EXPECTED: f64 = 1.5;

#[derive(Clone)]
pub(crate) struct Splitting {
    /// Not decided yet.
    open: DeltaSet,
    /// A part of the open ones: at least one of them matters.
    suspect: DeltaSet,
    /// What was proposed last.
    portion: DeltaSet,
    /// Units at the start, those decided, and those of them that matter.
    all: u64,
    decided: u64,
    found: u64,
}

impl Splitting {
    pub(crate) fn new(alive: &DeltaSet) -> Splitting {
        Splitting {
            open: alive.clone(),
            suspect: DeltaSet::empty(),
            portion: DeltaSet::empty(),
            all: alive.len(),
            decided: 0,
            found: 0,
        }
    }

    pub(crate) fn propose(&mut self) -> Option<Removal> {
        if self.suspect.len() == 1 {
            let unit = std::mem::take(&mut self.suspect);
            self.decide(&unit, 1);
        }
        self.portion = match self.suspect.len() {
            0 => self.open.take_last(self.size()),
            several => self.suspect.take_last(several / 2),
        };
        (!self.portion.is_empty()).then(|| Removal {
            units: self.portion.clone(),
            closing: Closing::Keep,
        })
    }

    pub(crate) fn accepted(&mut self, alive: &DeltaSet) {
        // What is left of the portion is needed by later units, which matter.
        let portion = std::mem::take(&mut self.portion);
        self.decide(&portion, 0);
        self.open = self.open.intersection(alive);
        self.suspect = self.suspect.minus(&portion).intersection(alive);
    }

    pub(crate) fn refused(&mut self) {
        let portion = std::mem::take(&mut self.portion);
        if portion.len() == 1 {
            self.suspect = DeltaSet::empty();
            self.decide(&portion, 1);
        } else {
            self.suspect = portion;
        }
    }

    fn decide(&mut self, units: &DeltaSet, matter: u64) {
        self.open = self.open.minus(units);
        self.decided += units.len();
        self.found += matter;
    }

    /// The share of open units that matter, estimated.
    fn rate(&self) -> f64 {
        let found = self.found as f64 + EXPECTED;
        let seen = self.decided as f64 + self.all as f64;
        (found / seen).min(1.0)
    }

    /// So many units are without effect in one of two cases.
    fn size(&self) -> u64 {
        let even = 0.5f64.ln() / (-self.rate()).ln_1p();
        (even as u64).clamp(1, self.open.len().max(1))
    }

    pub(crate) fn chance(&self) -> f64 {
        if self.portion.len() > 1 {
            0.5
        } else {
            1.0 - self.rate()
        }
    }

    pub(crate) fn granularity(&self, alive: &DeltaSet) -> u64 {
        alive.len().div_ceil(self.portion.len().max(1))
    }
}
