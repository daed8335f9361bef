//! Reduces a problem that is described in a file, or writes such files, so that other reducers can
//! be given the same:
//!
//! ```text
//! cargo run --example reduce -- generate SIZE RELEVANT scattered|clustered HIDDEN MASKS HAZE SEED
//! cargo run --example reduce -- ddmin|dd [splitting|classic|probabilistic] [JOBS] < FILE
//! ```
//!
//! A file has one word and numbers to a line: `deltas N`; `needs A B`, which the engine knows;
//! `hidden A B`, which it does not: A without B is unresolved; `masks A B`: A without B passes;
//! `relevant A`: without all of them it passes; `haze P`: unresolved if the CRC-32 of the candidate
//! as text (`0-3 7 9-12`), modulo 100, is below P, except for the whole and the empty candidate.
//! Otherwise it fails.
#![allow(clippy::print_stdout, reason = "the answer goes there")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::time::Instant;

use culprit_reduce::{DeltaSet, Engine, Judge, Schedule, Settings};
use support::{Shape, Subject};

const USAGE: &str = "reduce generate SIZE RELEVANT scattered|clustered HIDDEN MASKS HAZE SEED
reduce ddmin|dd [splitting|classic|probabilistic] [JOBS] < FILE";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["generate", size, relevant, place, hidden, masks, haze, seed] => {
            let shape = Shape {
                size: size.parse()?,
                relevant: relevant.parse()?,
                clustered: place == "clustered",
                hidden: hidden.parse()?,
                masks: masks.parse()?,
                haze: haze.parse()?,
            };
            print!("{}", Subject::generate(shape, seed.parse()?));
            Ok(())
        }
        [mode @ ("ddmin" | "dd"), ref rest @ ..] => {
            let settings = Settings {
                schedule: match rest.first() {
                    Some(&"classic") => Schedule::Classic,
                    Some(&"probabilistic") => Schedule::Probabilistic,
                    Some(&"splitting") | None => Schedule::Splitting,
                    Some(_) => return Err(USAGE.into()),
                },
                jobs: rest.get(1).map_or(Ok(1), |jobs| jobs.parse())?,
                ..Settings::default()
            };
            reduce(&std::io::read_to_string(std::io::stdin())?, mode, settings)
        }
        _ => Err(USAGE.into()),
    }
}

fn reduce(text: &str, mode: &str, settings: Settings) -> Result<(), Box<dyn Error>> {
    let subject: Subject = text.parse()?;
    let problem = subject.problem();
    let oracle = Judge(|candidate: &DeltaSet| subject.judge(candidate));
    let start = Instant::now();
    let engine = Engine::new(&problem, &oracle).settings(settings);
    let result = if mode == "dd" {
        engine.dd()
    } else {
        engine.ddmin()
    }?;
    let seconds = start.elapsed().as_secs_f64();
    let counts = result.counts;
    println!("tests {}", counts.tests);
    println!("passed {}", counts.passed);
    println!("failed {}", counts.failed);
    println!("unresolved {}", counts.unresolved);
    println!("cached {}", counts.cached);
    println!("seconds {seconds:.6}");
    println!("left {}", result.difference().len());
    println!("failing {}", result.failing);
    println!("passing {}", result.passing);
    Ok(())
}
