//! What weaving did to some classes, in figures.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use culprit_classfile::{ClassFile, Code, Member, op};
use culprit_model::SiteKind;
use culprit_weave::Woven;
use culprit_weave::probe::PROBE;

/// Sizes beyond which HotSpot treats a method worse, in bytes of code: `MaxInlineSize` (not inlined
/// unless hot), `FreqInlineSize` (never inlined), `HugeMethodLimit` (never compiled).
pub(crate) const LIMITS: [usize; 3] = [35, 325, 8000];

#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) classes: usize,
    /// Methods with code.
    pub(crate) methods: usize,
    pub(crate) woven: usize,
    /// Reasons to skip methods, without their figures.
    pub(crate) skipped: BTreeMap<String, usize>,
    pub(crate) sites: BTreeMap<SiteKind, usize>,
    /// Calls of probes.
    pub(crate) probes: BTreeMap<String, usize>,
    pub(crate) code_before: usize,
    pub(crate) code_after: usize,
    pub(crate) class_before: usize,
    pub(crate) class_after: usize,
    /// Methods within each of the limits before.
    pub(crate) within: [usize; 3],
    /// And of those, the ones beyond it after.
    pub(crate) crossing: [usize; 3],
    pub(crate) time: Duration,
}

impl Totals {
    pub(crate) fn add(&mut self, before: &ClassFile, after: &ClassFile, woven: &Woven) {
        self.classes += 1;
        self.class_before += before.write().unwrap().len();
        self.class_after += woven.bytes.len();
        for (_, reason) in &woven.skipped {
            let reason = reason.replace(|c: char| c.is_ascii_digit(), "");
            *self.skipped.entry(reason).or_default() += 1;
        }
        for site in &woven.sites {
            *self.sites.entry(site.kind).or_default() += 1;
        }
        for (old, new) in before.methods.iter().zip(&after.methods) {
            if let (Some(old), Some(new)) = (code(before, old), code(after, new)) {
                self.add_method(&old, &new);
                self.count_probes(after, &new);
            }
        }
    }

    fn add_method(&mut self, old: &Code, new: &Code) {
        self.methods += 1;
        self.woven += usize::from(old != new);
        self.code_before += old.bytes.len();
        self.code_after += new.bytes.len();
        for (i, limit) in LIMITS.into_iter().enumerate() {
            if old.bytes.len() <= limit {
                self.within[i] += 1;
                self.crossing[i] += usize::from(new.bytes.len() > limit);
            }
        }
    }

    fn count_probes(&mut self, class: &ClassFile, code: &Code) {
        for instruction in code.instructions() {
            let instruction = instruction.unwrap();
            if instruction.opcode != op::INVOKESTATIC {
                continue;
            }
            let member = class
                .pool
                .member(instruction.pool_index().unwrap())
                .unwrap();
            if member.owner == PROBE {
                *self.probes.entry(member.name.into_owned()).or_default() += 1;
            }
        }
    }

    pub(crate) fn add_probes(&mut self, other: &Totals) {
        for (probe, count) in &other.probes {
            *self.probes.entry(probe.clone()).or_default() += count;
        }
    }

    pub(crate) fn all_sites(&self) -> usize {
        self.sites.values().sum()
    }

    pub(crate) fn all_skipped(&self) -> usize {
        self.skipped.values().sum()
    }

    pub(crate) fn microseconds(&self) -> f64 {
        self.time.as_secs_f64() * 1e6 / self.classes.max(1) as f64
    }
}

fn code(class: &ClassFile, method: &Member) -> Option<Code> {
    let attribute = method.attribute(&class.pool, "Code")?;
    Some(Code::parse(attribute, &class.pool).unwrap())
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} classes, {} of {} methods woven, skipped {:?}; sites {:?}; code {} -> {} bytes (x {:.2}), \
             classes {} -> {} (x {:.2}); {:.0} us/class; crossing {LIMITS:?}: {:?}",
            self.classes,
            self.woven,
            self.methods,
            self.skipped,
            self.sites,
            self.code_before,
            self.code_after,
            self.code_after as f64 / self.code_before as f64,
            self.class_before,
            self.class_after,
            self.class_after as f64 / self.class_before as f64,
            self.microseconds(),
            self.crossing,
        )
    }
}
