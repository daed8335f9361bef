//! ddmin (Zeller and Hildebrandt, 2002): try each of n parts alone, then all without each of them,
//! then twice as many parts.
//!
//! Deviations: after a part went, its neighbour is next rather than the first part, and parts
//! alone are not tried again, since their verdicts are known. Parts bring what they need. Parts of
//! several units leave behind what others need; single units go with what needs them.

use std::sync::Arc;

use crate::needs::Closing;
use crate::schedule::Removal;
use crate::set::DeltaSet;

#[derive(Clone)]
pub(crate) struct Classic {
    parts: Arc<Vec<DeltaSet>>,
    step: ClassicPhase,
    at: usize,
    /// Complements tried in a row without success.
    misses: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum ClassicPhase {
    Parts,
    Complements,
}

impl Classic {
    pub(crate) fn new(alive: &DeltaSet) -> Classic {
        Classic {
            parts: Arc::new(alive.split(2)),
            step: ClassicPhase::Parts,
            at: 0,
            misses: 0,
        }
    }

    pub(crate) fn propose(&mut self, alive: &DeltaSet) -> Option<Removal> {
        let part = self.parts.get(self.at)?;
        let (units, closing) = match self.step {
            ClassicPhase::Parts => (alive.minus(part), Closing::Keep),
            ClassicPhase::Complements if part.len() == 1 => (part.clone(), Closing::Drop),
            ClassicPhase::Complements => (part.clone(), Closing::Keep),
        };
        Some(Removal { units, closing })
    }

    pub(crate) fn accepted(&mut self, alive: &DeltaSet) {
        if self.step == ClassicPhase::Parts {
            *self = Classic::new(alive);
            return;
        }
        // Closing may have left some of the part and taken some of others.
        let left = self.parts.iter().enumerate().map(|(i, part)| {
            let left = part.intersection(alive);
            (i < self.at && left.is_empty(), left)
        });
        let (mut before, mut parts) = (0, Vec::with_capacity(self.parts.len()));
        for (earlier, part) in left {
            before += usize::from(earlier);
            if !part.is_empty() {
                parts.push(part);
            }
        }
        if parts.len() < 2 && alive.len() > 1 {
            *self = Classic::new(alive);
            return;
        }
        self.at = (self.at - before) % parts.len().max(1);
        self.parts = Arc::new(parts);
        self.misses = 0;
    }

    pub(crate) fn refused(&mut self, alive: &DeltaSet) {
        self.at += 1;
        match self.step {
            ClassicPhase::Parts if self.at == self.parts.len() => {
                self.step = ClassicPhase::Complements;
                self.at = 0;
                self.misses = 0;
            }
            ClassicPhase::Parts => {}
            ClassicPhase::Complements => {
                self.misses += 1;
                if self.misses < self.parts.len() {
                    self.at %= self.parts.len();
                } else if self.parts.iter().any(|part| part.len() > 1) {
                    self.parts = Arc::new(alive.split(self.parts.len() as u64 * 2));
                    self.step = ClassicPhase::Parts;
                    self.at = 0;
                } else {
                    self.at = self.parts.len();
                }
            }
        }
    }

    pub(crate) fn chance(&self) -> f64 {
        1.0 / (1.0 + self.parts.len() as f64)
    }

    pub(crate) fn granularity(&self) -> u64 {
        self.parts.len() as u64
    }
}
