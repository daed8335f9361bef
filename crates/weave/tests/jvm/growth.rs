//! How much code each kind of probe adds.

use culprit_classfile::ClassFile;
use culprit_verifier::Class;

use crate::plan::{Loom, Part, Plan};
use crate::totals::Totals;

/// One kind of probe, woven into every class besides the entry probes.
pub(crate) struct Growth {
    pub(crate) part: Part,
    pub(crate) totals: Totals,
    /// Sites of this kind, and the bytes of code that they added.
    pub(crate) sites: usize,
    pub(crate) bytes: usize,
}

/// Weaves one kind of probe at a time; what it adds to the entries alone is its own.
pub(crate) fn of(loom: &Loom, classes: &[&Class]) -> Vec<Growth> {
    let mut all: Vec<Growth> = Vec::new();
    for part in [Part::Entries, Part::Calls, Part::Fields, Part::Elements] {
        let mut totals = Totals::default();
        for class in classes {
            let before = ClassFile::parse(&class.bytes).unwrap();
            let woven = loom.weave(Plan::Part(part), &class.module, before.clone());
            let after = ClassFile::parse(&woven.bytes).unwrap();
            totals.add(&before, &after, &woven);
        }
        let (sites, bytes) = match all.first() {
            None => (totals.all_sites(), totals.code_before),
            Some(entries) => (
                totals.all_sites() - entries.totals.all_sites(),
                entries.totals.code_after,
            ),
        };
        let bytes = totals.code_after - bytes;
        all.push(Growth {
            part,
            totals,
            sites,
            bytes,
        });
    }
    all
}
