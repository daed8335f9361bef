//! Lines that are run: on replay, each line of observed code may count how often it is reached.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use culprit_classfile::Asm;

use crate::Error;
use crate::method::Weaver;
use crate::probe::ANSWER;

/// Lines that are counted at most; further ones are not.
pub const MOST_LINES: u32 = 1 << 20;

/// The counters of a JVM: each belongs to a line of a class.
#[derive(Debug, Default)]
pub struct LineCounters(Mutex<Vec<(String, u16)>>);

impl LineCounters {
    /// A counter for a line.
    fn counter(&self, class: &str, line: u16) -> Option<u32> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = u32::try_from(lines.len())
            .ok()
            .filter(|n| *n < MOST_LINES)?;
        lines.push((class.to_owned(), line));
        Some(number)
    }

    /// The counts of lines that were run, by class, given the count of each counter.
    pub fn counts(&self, count: impl Fn(u32) -> u64) -> BTreeMap<String, BTreeMap<u16, u64>> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts: BTreeMap<String, BTreeMap<u16, u64>> = BTreeMap::new();
        for (number, (class, line)) in (0..).zip(lines.iter()) {
            let times = count(number);
            if times > 0 {
                let of_class = counts.entry(class.clone()).or_default();
                // A line has several counters where its code is in several places.
                let known = of_class.entry(*line).or_default();
                *known = times.max(*known);
            }
        }
        counts
    }
}

/// Has each line of a method count.
pub(crate) fn count(weaver: &mut Weaver<'_>, lines: &LineCounters) -> Result<(), Error> {
    for (pc, line) in weaver.line_entries() {
        let Some(counter) = lines.counter(weaver.class, line) else {
            return Ok(());
        };
        let mut asm = Asm::new();
        asm.push_int(weaver.pool, counter as i32)?;
        let method = weaver.pool.add_method_ref(ANSWER, "line", "(I)V")?;
        asm.invokestatic(method);
        weaver.editor.insert_before(u32::from(pc), asm);
    }
    Ok(())
}
