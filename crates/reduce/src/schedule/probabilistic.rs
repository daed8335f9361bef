//! ProbDD (Wang, Shen, Chen, Xiong and Zhang, 2021): each unit has a probability to matter. The
//! portion to take out has the largest expected gain; a portion that cannot go makes its units
//! likelier to matter.
//!
//! Deviations: units of one probability are one set, so that billions of them take no room; among
//! them the last come first. The probability at the start depends on the number of units: the
//! published constant of 0.1 takes ten at a time however many there are.

use crate::needs::Closing;
use crate::schedule::Removal;
use crate::set::DeltaSet;

/// Units that are expected to matter before anything is known, and the most that is believed of
/// one unit then.
const EXPECTED: f64 = 2.0;
const MOST: f64 = 0.25;

/// From here on a unit is certain to matter.
const CERTAIN: f64 = 1.0 - 1e-9;

#[derive(Clone)]
pub(crate) struct Probabilistic {
    /// By probability, least first; none of them certain.
    classes: Vec<Class>,
    /// What was proposed last, by probability, and the probability that none of it matters.
    portion: Vec<Class>,
    none: f64,
}

#[derive(Clone)]
struct Class {
    probability: f64,
    units: DeltaSet,
}

impl Probabilistic {
    pub(crate) fn new(alive: &DeltaSet) -> Probabilistic {
        let probability = (EXPECTED / alive.len().max(1) as f64).min(MOST);
        Probabilistic {
            classes: vec![Class {
                probability,
                units: alive.clone(),
            }],
            portion: Vec::new(),
            none: 1.0,
        }
    }

    pub(crate) fn propose(&mut self) -> Option<Removal> {
        self.portion.clear();
        self.none = 1.0;
        let mut taken = 0.0;
        for class in &self.classes {
            // The gain of `size` more is (taken + size) * none * (1 - p)^size: it grows up to here.
            let best = -1.0 / (-class.probability).ln_1p() - taken;
            let least = if taken == 0.0 { 1.0 } else { 0.0 };
            let size = (best.max(least) as u64).min(class.units.len());
            if size == 0 {
                break;
            }
            self.portion.push(Class {
                probability: class.probability,
                units: class.units.take_last(size),
            });
            taken += size as f64;
            self.none *= ((-class.probability).ln_1p() * size as f64).exp();
            if size < class.units.len() {
                break;
            }
        }
        let portion = self.portion.iter();
        let units = portion.fold(DeltaSet::empty(), |all, class| all.union(&class.units));
        (!units.is_empty()).then_some(Removal {
            units,
            closing: Closing::Keep,
        })
    }

    pub(crate) fn accepted(&mut self, alive: &DeltaSet) {
        // What is left of the portion is needed by others and no longer asked for.
        for class in &mut self.classes {
            class.units = class.units.intersection(alive);
            for gone in &self.portion {
                class.units = class.units.minus(&gone.units);
            }
        }
        self.classes.retain(|class| !class.units.is_empty());
    }

    pub(crate) fn refused(&mut self) {
        let some = 1.0 - self.none;
        let single = self.portion.iter().map(|c| c.units.len()).sum::<u64>() == 1;
        for part in std::mem::take(&mut self.portion) {
            for class in &mut self.classes {
                if class.probability == part.probability {
                    class.units = class.units.minus(&part.units);
                }
            }
            let probability = part.probability / some;
            if single || probability >= CERTAIN {
                continue;
            }
            let same = |class: &&mut Class| class.probability == probability;
            match self.classes.iter_mut().find(same) {
                Some(class) => class.units = class.units.union(&part.units),
                None => self.classes.push(Class {
                    probability,
                    units: part.units,
                }),
            }
        }
        self.classes.retain(|class| !class.units.is_empty());
        self.classes
            .sort_by(|a, b| a.probability.total_cmp(&b.probability));
    }

    pub(crate) fn chance(&self) -> f64 {
        self.none
    }

    pub(crate) fn granularity(&self, alive: &DeltaSet) -> u64 {
        let size: u64 = self.portion.iter().map(|class| class.units.len()).sum();
        alive.len().div_ceil(size.max(1))
    }
}
