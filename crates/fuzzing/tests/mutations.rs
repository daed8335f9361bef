//! A minute of fuzzing without coverage guidance, for any toolchain: the seeds of each target, then mutations
//! of them. The order of mutations is fixed; how many there are depends on the machine.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use culprit_fuzzing::TARGETS;

/// The time that each target gets: a minute for all of them.
const TIME: Duration = Duration::from_millis(6_700);

/// Mutations of one input.
const MOST_EDITS: u64 = 6;

/// The largest input.
const LARGEST: usize = 16 << 10;

#[test]
fn recordings_of_any_bytes_are_read_or_refused() {
    fuzz("recording");
}

#[test]
fn messages_of_any_bytes_are_read_or_refused() {
    fuzz("wire");
}

#[test]
fn classes_of_any_bytes_are_woven_or_refused() {
    fuzz("class");
}

#[test]
fn manifests_of_any_bytes_are_read() {
    fuzz("manifest");
}

#[test]
fn traces_are_found_in_any_text() {
    fuzz("trace");
}

#[test]
fn the_output_of_git_may_be_anything() {
    fuzz("git");
}

#[test]
fn scenarios_of_any_text_are_read_or_refused() {
    fuzz("scenario");
}

#[test]
fn journals_of_any_bytes_are_read_or_refused() {
    fuzz("journal");
}

#[test]
fn instruction_traces_of_any_bytes_are_replayed_or_refused() {
    fuzz("instructions");
}

#[test]
fn every_target_has_a_fuzzer_and_seeds() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for target in TARGETS {
        let name = target.name;
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        assert!(
            fuzz.join(format!("fuzz_targets/{name}.rs")).exists(),
            "{name}"
        );
        assert!(!seeds(name).is_empty(), "{name}");
    }
}

fn fuzz(name: &str) {
    let end = Instant::now() + TIME;
    let seeds = seeds(name);
    for seed in &seeds {
        check(name, 0, seed);
    }
    for number in 1.. {
        if Instant::now() > end {
            break;
        }
        check(name, number, &mutated(&seeds, number));
    }
}

/// Gives bytes to a target. What made it panic is kept, to be given to the fuzzer or a debugger.
#[track_caller]
fn check(name: &str, number: u64, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| culprit_fuzzing::read(name, bytes))).is_err() {
        let file = tempfile::Builder::new().prefix("culprit-fuzz-").tempfile();
        let (_, path) = file.unwrap().keep().unwrap();
        fs::write(&path, bytes).unwrap();
        panic!("mutation {number} of the target {name}: {}", path.display());
    }
}

fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fuzz/corpus/{name}"));
    let files = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| fs::read(path).unwrap())
        .collect()
}

/// The mutation of a number: a seed with some edits.
fn mutated(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut chance = Chance(number);
    let mut bytes = chance.of(seeds).clone();
    for _ in 0..=chance.below(MOST_EDITS) {
        edit(&mut bytes, seeds, &mut chance);
    }
    bytes.truncate(LARGEST);
    bytes
}

fn edit(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], chance: &mut Chance) {
    let at = chance.below(bytes.len() as u64 + 1) as usize;
    let bits = chance.below(8);
    let length = chance.below(1 << bits) as usize;
    let end = bytes.len().min(at + length);
    match chance.below(7) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
        }
        1 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = *chance.of(&[0, 1, 0x7f, 0x80, 0xff, b'\n', b' ']);
            }
        }
        2 => drop(bytes.drain(at..end)),
        3 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        4 => {
            let numbers: [&[u8]; 4] = [&[0xff; 4], &[0xff, 0xff, 0x7f], &[0; 8], &[0x80; 9]];
            let number = chance.of(&numbers).to_vec();
            bytes.splice(at..at, number);
        }
        5 => {
            let other = chance.of(seeds);
            let from = chance.below(other.len() as u64 + 1) as usize;
            let part = &other[from..other.len().min(from + length)];
            bytes.splice(at..end, part.iter().copied());
        }
        _ => bytes.truncate(at),
    }
}

/// Numbers that look like chance and are always the same (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}
