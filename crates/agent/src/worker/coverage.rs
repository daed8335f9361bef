//! Which lines of the observed classes a run has reached.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use culprit_weave::lines::{LineCounters, MOST_LINES};
use culprit_wire::ClassCoverage;

use crate::agent::Agent;

/// Counters of lines, which woven code adds to.
static COUNTS: OnceLock<Box<[AtomicU64]>> = OnceLock::new();

fn counts() -> &'static [AtomicU64] {
    COUNTS.get_or_init(|| (0..MOST_LINES).map(|_| AtomicU64::new(0)).collect())
}

/// Where the counters are, if lines are counted.
pub(super) fn address(agent: &Agent) -> i64 {
    match agent.lines {
        Some(_) => counts().as_ptr() as i64,
        None => 0,
    }
}

/// The lines reached since the last time, and how often.
pub(super) fn take(lines: &LineCounters) -> Vec<ClassCoverage> {
    let all = counts();
    let count = |number: u32| {
        all.get(number as usize)
            .map_or(0, |count| count.swap(0, Ordering::Relaxed))
    };
    let classes = lines.counts(count).into_iter();
    classes
        .map(|(class, lines)| ClassCoverage {
            class,
            lines: lines.into_iter().collect(),
        })
        .collect()
}
