//! The time of the engine itself per candidate, with an oracle that takes almost none.

use std::time::Duration;

use culprit_reduce::{DeltaSet, Engine, Judge, Needs, Problem, Schedule, Settings, Verdict};
use rustix::time::{ClockId, clock_gettime};

/// Deltas of a measurement.
pub const DELTAS: u32 = 10_000;

/// The duration of a measurement.
const TIMED: Duration = Duration::from_millis(500);

/// The processor time of a candidate, the cached ones included. The needs are those of a real
/// sequence, again and again until there are [`DELTAS`]; so many deltas are relevant, evenly spread.
pub fn overhead(
    size: u32,
    pairs: &[(u32, u32)],
    schedule: Schedule,
    relevant: u32,
) -> anyhow::Result<Duration> {
    let copies = DELTAS / size;
    let deltas = u64::from(copies * size);
    let pairs = (0..copies).flat_map(|copy| {
        let from = copy * size;
        pairs.iter().map(move |(a, b)| (a + from, b + from))
    });
    let problem = Problem::new(deltas).needs(Needs::graph(copies * size, pairs));
    let step = deltas / u64::from(relevant);
    let relevant: Vec<u64> = (0..u64::from(relevant))
        .map(|n| n * step + step / 2)
        .collect();
    let relevant: DeltaSet = relevant.into_iter().collect();
    let oracle = Judge(|candidate: &DeltaSet| match relevant.is_subset(candidate) {
        true => Verdict::Fail(()),
        false => Verdict::Pass,
    });
    let settings = Settings {
        schedule,
        ..Settings::default()
    };
    let start = processor_time();
    let mut candidates = 0;
    while processor_time() - start < TIMED {
        let engine = Engine::new(&problem, &oracle).settings(settings.clone());
        let counts = engine.ddmin()?.counts;
        candidates += counts.tests + counts.cached;
    }
    Ok((processor_time() - start).div_f64(candidates as f64))
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
