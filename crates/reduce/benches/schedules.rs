//! Tests that each schedule needs, what the engine itself costs, and what jobs bring:
//! `cargo bench -p culprit-reduce`. Rows are means over the same made-up subjects.
#![allow(clippy::print_stdout, reason = "the tables are the result")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::convert::Infallible;
use std::thread;
use std::time::{Duration, Instant};

use culprit_reduce::{
    DeltaSet, Engine, Inference, Journal, Judge, Oracle, Reduction, Schedule, Settings, Verdict,
    Wanted,
};
use support::{Shape, Subject};

const SCHEDULES: [Schedule; 3] = [
    Schedule::Splitting,
    Schedule::Classic,
    Schedule::Probabilistic,
];

/// Hidden needs and masks, of a hundred calls; haze, of a hundred candidates.
const NOISE: [(u64, u64, u32); 6] = [
    (0, 0, 0),
    (10, 0, 0),
    (30, 0, 0),
    (10, 5, 0),
    (10, 0, 30),
    (10, 0, 60),
];

fn main() {
    overhead();
    jobs();
    tests();
}

fn tests() {
    println!("\ntests, and the same where the oracle is taken for monotone; deltas left");
    print!("deltas rel where     hidden masks haze");
    SCHEDULES
        .iter()
        .for_each(|s| print!("  {:>15}", format!("{s:?}")));
    println!("    left");
    let mut rows = 0;
    let mut logs = [[0.0; 2]; 3];
    for (size, subjects) in [(10, 40), (100, 40), (1000, 20), (10_000, 2)] {
        for relevant in [1, 3, 12] {
            for clustered in [false, true] {
                for (hidden, masks, haze) in NOISE {
                    let relevant = relevant.min(size / 2);
                    let shape = Shape {
                        size,
                        relevant,
                        clustered,
                        hidden,
                        masks,
                        haze,
                    };
                    row(shape, subjects, &mut logs);
                    rows += 1;
                }
            }
        }
    }
    print!("geometric means                       ");
    for [exact, monotone] in logs {
        let mean = |log: f64| (log / f64::from(rows)).exp();
        print!("  {:>7.1} {:>7.1}", mean(exact), mean(monotone));
    }
    println!();
}

fn row(shape: Shape, subjects: u64, logs: &mut [[f64; 2]; 3]) {
    let place = if shape.clustered {
        "clustered"
    } else {
        "scattered"
    };
    print!(
        "{:>6} {:>3} {place:<9} {:>5}% {:>4}% {:>3}%",
        shape.size, shape.relevant, shape.hidden, shape.masks, shape.haze
    );
    let mut left = Vec::new();
    for (schedule, logs) in SCHEDULES.into_iter().zip(logs) {
        print!(" ");
        for (inference, log) in [Inference::Exact, Inference::Monotone]
            .into_iter()
            .zip(logs)
        {
            let settings = Settings {
                schedule,
                inference,
                ..Settings::default()
            };
            let (mut tests, mut deltas) = (0, 0);
            for seed in 0..subjects {
                let subject = Subject::generate(shape, seed);
                let result = reduce(&subject, &settings);
                tests += result.counts.tests;
                deltas += result.failing.len();
            }
            let mean = tests as f64 / subjects as f64;
            print!(" {mean:>7.1}");
            *log += mean.ln();
            left.push(deltas as f64 / subjects as f64);
        }
    }
    let (least, most) = left
        .iter()
        .fold((f64::MAX, 0.0f64), |(a, b), x| (a.min(*x), b.max(*x)));
    match least == most {
        true => println!("  {least:>6.1}"),
        false => println!("  {left:?}"),
    }
}

fn reduce(subject: &Subject, settings: &Settings) -> Reduction<()> {
    let problem = subject.problem();
    let oracle = Judge(|candidate: &_| subject.judge(candidate));
    let engine = Engine::new(&problem, &oracle).settings(settings.clone());
    engine.ddmin().expect("a result")
}

/// Nanoseconds that this thread ran, where the system tells; other processes do not count.
fn nanos() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ran = text.split(' ').next().and_then(|word| word.parse().ok());
    ran.expect("a system that tells")
}

/// Time with an oracle that takes next to none, by the number of candidates, cached ones included.
fn overhead() {
    println!("microseconds per candidate with next to no oracle, 10,000 deltas with needs");
    println!("rel schedule          jobs 1   with journal");
    let dir = tempfile::tempdir().expect("a folder");
    for relevant in [3, 12, 1000] {
        for schedule in SCHEDULES {
            let shape = Shape {
                size: 10_000,
                relevant,
                clustered: false,
                hidden: 0,
                masks: 0,
                haze: 0,
            };
            let settings = Settings {
                schedule,
                ..Settings::default()
            };
            let subject = Subject::generate(shape, 7);
            let problem = subject.problem();
            let path = dir.path().join(format!("{relevant}-{schedule:?}"));
            let oracle = Judge(|candidate: &DeltaSet| {
                let relevant = &subject.relevant;
                let fails = relevant.iter().all(|d| candidate.contains(u64::from(*d)));
                if fails {
                    Verdict::Fail(())
                } else {
                    Verdict::Pass
                }
            });
            // The system counts in steps of milliseconds, so a row takes many of them. With a
            // journal, its making is a part of the cost.
            let cost = |journalled: bool| {
                let start = nanos();
                let mut candidates = 0;
                while nanos() - start < 200_000_000 {
                    let mut journal = journalled.then(|| {
                        std::fs::write(&path, "").expect("room");
                        Journal::open(&path, &problem).expect("a journal")
                    });
                    let mut engine = Engine::new(&problem, &oracle).settings(settings.clone());
                    if let Some(journal) = &mut journal {
                        engine = engine.journal(journal);
                    }
                    let counts = engine.ddmin().expect("a result").counts;
                    candidates += counts.tests + counts.cached;
                }
                (nanos() - start) as f64 / 1000.0 / candidates as f64
            };
            let (plain, journalled) = (cost(false), cost(true));
            let name = format!("{schedule:?}");
            println!("{relevant:>4} {name:<15} {plain:>7.2}   {journalled:>7.2}");
        }
    }
}

/// Takes its time, and stops when it is told to.
struct Slow<'a>(&'a Subject);

impl Oracle for Slow<'_> {
    type Detail = ();
    type Error = Infallible;

    fn judge(&self, set: &DeltaSet, wanted: &Wanted<'_>) -> Result<Verdict<()>, Infallible> {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(10) && wanted.still() {
            thread::sleep(Duration::from_micros(500));
        }
        Ok(self.0.judge(set))
    }
}

fn jobs() {
    println!("\nseconds with an oracle that takes 10 ms; candidates asked for in all");
    println!("schedule          jobs 1       jobs 2       jobs 4       jobs 8");
    for schedule in SCHEDULES {
        let shape = Shape {
            size: 1000,
            relevant: 6,
            clustered: false,
            hidden: 10,
            masks: 0,
            haze: 0,
        };
        let subject = Subject::generate(shape, 7);
        let problem = subject.problem();
        let oracle = Slow(&subject);
        print!("{:<15}", format!("{schedule:?}"));
        for jobs in [1, 2, 4, 8] {
            let settings = Settings {
                schedule,
                jobs,
                ..Settings::default()
            };
            let start = Instant::now();
            let engine = Engine::new(&problem, &oracle).settings(settings);
            let result = engine.ddmin().expect("a result");
            let seconds = start.elapsed().as_secs_f64();
            print!("  {seconds:>5.2} {:>5}", result.counts.asked);
        }
        println!();
    }
}
