//! The reduction engine beside other reducers, on real sequences of calls and with the real oracle.
//! See `docs/studies/reduce.md`.

pub mod ddmin;
pub mod meter;
pub mod overhead;
pub mod page;
pub mod picire;
pub mod record;
pub mod sequence;

use std::time::{Duration, Instant};

use anyhow::ensure;
use culprit_reduce::Schedule;

use meter::{Closing, Meter};
use picire::Picire;
use sequence::Sequence;

/// The reducers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reducer {
    /// The engine, which knows what calls need.
    Engine(Schedule),
    /// ddmin as it was published.
    Plain(Closing),
    Picire(picire::Way, Closing),
}

impl Reducer {
    /// All, ours first.
    pub const EACH: [Reducer; 8] = [
        Reducer::Engine(Schedule::Splitting),
        Reducer::Engine(Schedule::Classic),
        Reducer::Engine(Schedule::Probabilistic),
        Reducer::Plain(Closing::Refuse),
        Reducer::Plain(Closing::Complete),
        Reducer::Picire(picire::Way::Default, Closing::Refuse),
        Reducer::Picire(picire::Way::Default, Closing::Complete),
        Reducer::Picire(picire::Way::Backward, Closing::Complete),
    ];

    pub fn label(self) -> &'static str {
        match self {
            Reducer::Engine(Schedule::Splitting) => "splitting",
            Reducer::Engine(Schedule::Classic) => "classic",
            Reducer::Engine(Schedule::Probabilistic) => "ProbDD",
            Reducer::Plain(Closing::Refuse) => "ddmin",
            Reducer::Plain(Closing::Complete) => "ddmin+",
            Reducer::Picire(picire::Way::Default, Closing::Refuse) => "picire",
            Reducer::Picire(picire::Way::Default, Closing::Complete) => "picire+",
            Reducer::Picire(picire::Way::Backward, Closing::Refuse) => "picire back",
            Reducer::Picire(picire::Way::Backward, Closing::Complete) => "picire back+",
        }
    }
}

/// The result of a reducer on a sequence.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub reducer: Reducer,
    /// Different candidates that it asked for.
    pub tests: u64,
    /// The number of these that a JVM ran.
    pub runs: u64,
    /// The calls that are left.
    pub left: Vec<u32>,
    pub time: Duration,
    /// The part of it that was not spent in the oracle.
    pub own: Duration,
}

/// Reduces a sequence; what is left was seen to fail.
pub fn reduce(
    sequence: &Sequence,
    reducer: Reducer,
    picire: Option<&Picire>,
) -> anyhow::Result<Reduced> {
    let closing = match reducer {
        Reducer::Engine(_) => Closing::Refuse,
        Reducer::Plain(closing) | Reducer::Picire(_, closing) => closing,
    };
    let meter = Meter::new(sequence, closing);
    let start = Instant::now();
    let left = match (reducer, picire) {
        (Reducer::Engine(schedule), _) => meter.by_engine(schedule)?,
        (Reducer::Plain(_), _) => ddmin::ddmin(sequence.size(), &mut |it| meter.fails(it))?,
        (Reducer::Picire(way, _), Some(picire)) => {
            picire.reduce(way, sequence.size(), &mut |it| meter.fails(it))?
        }
        (Reducer::Picire(..), None) => anyhow::bail!("there is no picire"),
    };
    let time = start.elapsed();
    let count = meter.count();
    let left = match closing {
        Closing::Refuse => left,
        Closing::Complete => sequence.completed(&left),
    };
    let label = reducer.label();
    ensure!(meter.fails(&left)?, "what {label} left does not fail");
    Ok(Reduced {
        reducer,
        tests: count.tests,
        runs: count.runs,
        left,
        time,
        own: time.saturating_sub(count.time),
    })
}
