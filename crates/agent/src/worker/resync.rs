//! Going on after a difference: the steps that the observed code did not come to are skipped, up to
//! one that answers what it does. This is re-synchronisation as in JINSI (algorithm A4), with two
//! additions: a call that ends early skips what is left of it, and values that differ are noted.
//!
//! Only within one call into the observed code, and only for one thread: what another thread did
//! between its steps cannot be skipped without it.

use culprit_model::{Actor, EventKind, Reference, Site, SiteId, Step, TypeId, Value};
use culprit_wire::Mode;

use super::run::{Incoming, WorkerRun};

/// Differences that are kept; a run with more of them ends.
const MOST: usize = 1000;

impl WorkerRun {
    /// Notes a difference and finds the step to go on with, which is then the next one. `false` if
    /// there is none.
    pub(super) fn resynchronise(
        &mut self,
        (kind, site, values): (EventKind, SiteId, &[Value]),
        why: &str,
        incoming: &Incoming,
    ) -> bool {
        if self.mode != Mode::Skip || self.differences.len() >= MOST || self.threads().len() > 1 {
            return false;
        }
        let Some(done) = self.done.decoder.site(site).cloned() else {
            return false;
        };
        let Some(skipped) = self.place_of(kind, &done, values, incoming) else {
            return false;
        };
        let got = Some((kind, site, values.to_vec()));
        let mut divergence = self.divergence(got, why.to_owned());
        if skipped > 0 {
            divergence.why = format!("{why}; {skipped} of the recording's events are skipped");
        }
        self.differences.push(divergence);
        for _ in 0..skipped {
            self.take();
        }
        true
    }

    /// How many steps ahead the one is that fits what the observed code does.
    fn place_of(
        &mut self,
        kind: EventKind,
        done: &Site,
        values: &[Value],
        incoming: &Incoming,
    ) -> Option<usize> {
        let first = self.look(0, incoming)?;
        if first.part() == Actor::Drive {
            return None;
        }
        // The observed code acts, so what comes next is its own.
        let depth = first.depth;
        let mut ahead = 0;
        loop {
            let step = self.look(ahead, incoming)?.clone();
            if step.depth < depth {
                return None;
            }
            if step.depth == depth && ends(step.kind) {
                // However it ends: it ends here.
                return ends(kind).then_some(ahead);
            }
            if step.depth == depth && !ends(kind) && self.fits(&step, kind, done, values) {
                return Some(ahead);
            }
            ahead += 1;
        }
    }

    /// Whether a step has the same kind and member, and a receiver of the same class.
    fn fits(&self, step: &Step, kind: EventKind, done: &Site, values: &[Value]) -> bool {
        let Some(said) = self.site(step.site) else {
            return false;
        };
        let receiver = |values: &[Value], name: &dyn Fn(TypeId) -> String| {
            let first = values.first().filter(|_| done.has_receiver());
            match first {
                Some(Value::Reference(Reference::Object { class, .. })) => Some(name(*class)),
                _ => None,
            }
        };
        let told = receiver(&step.values, &|class| self.said.type_name(class).to_owned());
        let here = receiver(values, &|class| self.done.type_name(class).to_owned());
        matches!(kind, EventKind::OutgoingCall | EventKind::OutgoingWrite)
            && step.kind == kind
            && said.target == done.target
            && told == here
    }
}

/// Whether it ends a call into the observed code.
fn ends(kind: EventKind) -> bool {
    matches!(kind, EventKind::IncomingReturn | EventKind::IncomingThrow)
}
