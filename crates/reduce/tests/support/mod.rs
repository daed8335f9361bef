//! Made-up subjects: sequences of calls on objects, in which some calls make the failure.
#![allow(dead_code, reason = "every user has its own part of it")]

use std::fmt;
use std::str::FromStr;

use culprit_reduce::{DeltaSet, Needs, Problem, Verdict};

/// A subject. It fails if all relevant deltas are there, and nothing else is wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Subject {
    pub(crate) size: u32,
    /// The first needs the second, and everyone knows.
    pub(crate) needs: Vec<(u32, u32)>,
    /// The first needs the second, and nobody knows: without it the verdict is unresolved.
    pub(crate) hidden: Vec<(u32, u32)>,
    /// The first without the second hides the failure: the verdict is pass.
    pub(crate) masks: Vec<(u32, u32)>,
    pub(crate) relevant: Vec<u32>,
    /// Of a hundred candidates so many are unresolved for no reason, always the same ones.
    pub(crate) haze: u32,
}

/// What a subject is to look like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) size: u32,
    pub(crate) relevant: u32,
    /// Relevant calls are close to each other rather than anywhere.
    pub(crate) clustered: bool,
    /// Of a hundred calls so many have a hidden need.
    pub(crate) hidden: u64,
    /// Of a hundred calls so many hide the failure alone.
    pub(crate) masks: u64,
    /// Of a hundred candidates so many are unresolved for no reason.
    pub(crate) haze: u32,
}

impl Subject {
    /// One subject of the shape for each seed.
    pub(crate) fn generate(shape: Shape, seed: u64) -> Subject {
        let mut chance = Chance(seed);
        let mut subject = Subject {
            size: shape.size,
            haze: shape.haze,
            ..Subject::default()
        };
        // Each object with the deltas of its construction and of its calls.
        let mut objects: Vec<Vec<u32>> = Vec::new();
        for delta in 0..shape.size {
            let argument = chance.of(100) < 30;
            if argument && !objects.is_empty() {
                let one = chance.below(objects.len());
                subject.needs.push((delta, objects[one][0]));
            }
            if objects.is_empty() || chance.of(100) < 15 {
                objects.push(vec![delta]);
                continue;
            }
            // Recent objects are called more often.
            let back = chance.below(objects.len()).min(chance.below(objects.len()));
            let object = objects.len() - 1 - back;
            let before = &objects[object];
            subject.needs.push((delta, before[0]));
            let earlier = before[chance.below(before.len())];
            if chance.of(100) < shape.hidden {
                subject.hidden.push((delta, earlier));
            }
            if chance.of(100) < shape.masks {
                let later = (delta + 1 + chance.of(8) as u32).min(shape.size - 1);
                subject.masks.push((delta, later));
            }
            objects[object].push(delta);
        }
        let span = match shape.clustered {
            true => (u64::from(shape.relevant) * 4).min(u64::from(shape.size)),
            false => u64::from(shape.size),
        };
        let start = chance.of(u64::from(shape.size) - span + 1);
        while subject.relevant.len() < shape.relevant.min(shape.size) as usize {
            let delta = (start + chance.of(span)) as u32;
            if !subject.relevant.contains(&delta) {
                subject.relevant.push(delta);
            }
        }
        subject.relevant.sort_unstable();
        subject
    }

    pub(crate) fn problem(&self) -> Problem {
        let needs = Needs::graph(self.size, self.needs.iter().copied());
        Problem::new(u64::from(self.size)).needs(needs)
    }

    pub(crate) fn judge(&self, candidate: &DeltaSet) -> Verdict<()> {
        let mut there = vec![false; self.size as usize];
        for range in candidate.ranges() {
            there[range.start as usize..range.end as usize].fill(true);
        }
        let has = |delta: &u32| there[*delta as usize];
        let lacks = |pairs: &[(u32, u32)]| pairs.iter().any(|(a, b)| has(a) && !has(b));
        let inner = candidate.len() < u64::from(self.size) && !candidate.is_empty();
        let haze = || crc32fast::hash(candidate.to_string().as_bytes()) % 100 < self.haze;
        if lacks(&self.needs) || lacks(&self.hidden) || inner && haze() {
            Verdict::Unresolved(())
        } else if lacks(&self.masks) || !self.relevant.iter().all(has) {
            Verdict::Pass
        } else {
            Verdict::Fail(())
        }
    }
}

/// One word and numbers to a line: `deltas N`, `needs A B`, `hidden A B`, `masks A B`, `relevant A`,
/// `haze P`. Haze is where the CRC-32 of the candidate as text, modulo 100, is below P.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "deltas {}\nhaze {}", self.size, self.haze)?;
        for (word, pairs) in [
            ("needs", &self.needs),
            ("hidden", &self.hidden),
            ("masks", &self.masks),
        ] {
            for (a, b) in pairs {
                writeln!(f, "{word} {a} {b}")?;
            }
        }
        self.relevant
            .iter()
            .try_for_each(|d| writeln!(f, "relevant {d}"))
    }
}

impl FromStr for Subject {
    type Err = String;

    fn from_str(text: &str) -> Result<Subject, String> {
        let mut subject = Subject::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut words = line.split_whitespace();
            let word = words.next().unwrap_or_default();
            let numbers: Result<Vec<u32>, _> = words.map(str::parse).collect();
            match (word, numbers.as_deref()) {
                ("deltas", Ok([n])) => subject.size = *n,
                ("haze", Ok([percent])) => subject.haze = *percent,
                ("needs", Ok([a, b])) => subject.needs.push((*a, *b)),
                ("hidden", Ok([a, b])) => subject.hidden.push((*a, *b)),
                ("masks", Ok([a, b])) => subject.masks.push((*a, *b)),
                ("relevant", Ok([a])) => subject.relevant.push(*a),
                _ => return Err(format!("cannot read `{line}`")),
            }
        }
        Ok(subject)
    }
}

/// Numbers without a pattern, the same for the same seed (SplitMix64).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub(crate) fn of(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.of(limit as u64) as usize
    }
}
