//! Tests that each schedule needs, and what the engine itself costs:
//! `cargo bench -p culprit-reduce`. Rows are means over the same made-up subjects.
#![allow(clippy::print_stdout, reason = "the tables are the result")]

#[path = "../tests/support/mod.rs"]
mod support;

use culprit_reduce::{Engine, Inference, Judge, Schedule, Settings};
use support::{Shape, Subject};

const SUBJECTS: u64 = 20;
const SCHEDULES: [Schedule; 3] = [
    Schedule::Splitting,
    Schedule::Classic,
    Schedule::Probabilistic,
];

fn main() {
    println!("tests (deltas left), means of {SUBJECTS} subjects");
    print!(
        "{:>6} {:>3} {:<9} {:>6} {:>5}",
        "deltas", "rel", "where", "hidden", "masks"
    );
    SCHEDULES
        .iter()
        .for_each(|s| print!(" {:>18}", format!("{s:?}")));
    println!();
    let mut sums = [0.0; 3];
    for size in [10, 100, 1000, 10_000] {
        for relevant in [1, 3, 12] {
            for clustered in [false, true] {
                for (hidden, masks) in [(0, 0), (10, 0), (30, 0), (10, 5)] {
                    let shape = Shape {
                        size,
                        relevant: relevant.min(size / 2),
                        clustered,
                        hidden,
                        masks,
                    };
                    row(shape, &mut sums);
                }
            }
        }
    }
    println!("geometric means {sums:?}");
}

fn row(shape: Shape, sums: &mut [f64; 3]) {
    let place = if shape.clustered {
        "clustered"
    } else {
        "scattered"
    };
    print!(
        "{:>6} {:>3} {place:<9} {:>5}% {:>4}%",
        shape.size, shape.relevant, shape.hidden, shape.masks
    );
    for (i, schedule) in SCHEDULES.into_iter().enumerate() {
        let (mut tests, mut left) = (0, 0);
        for seed in 0..SUBJECTS {
            let subject = Subject::generate(shape, seed);
            let oracle = Judge(|candidate: &_| subject.judge(candidate));
            let settings = Settings {
                schedule,
                inference: Inference::Exact,
                ..Settings::default()
            };
            let problem = subject.problem();
            let result = Engine::new(&problem, &oracle).settings(settings).ddmin();
            let result = result.expect("a result");
            tests += result.counts.tests;
            left += result.failing.len();
        }
        let mean = |sum: u64| sum as f64 / SUBJECTS as f64;
        print!(" {:>9.1} ({:>6.1})", mean(tests), mean(left));
        sums[i] += mean(tests).ln() / 96.0;
    }
    println!();
}
