//! Proposals for `--observe`: sets of classes that call each other often and the rest of the
//! program rarely.
//!
//! The input are the counts of calls between classes that the agents leave behind under
//! `culprit record --suggest`, already read; the result is a value. [`Suggestions::of`] computes it.
//!
//! This crate opens no files and knows no console and no arguments.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod border;
mod program;

use culprit_model::Selection;
use culprit_trace::Coupling;

pub use border::Border;
pub use program::Measure;
use program::{BYTES_PER_EVENT, CoupledProgram};

/// The number of borders proposed at most.
const PROPOSALS: usize = 8;
/// The number of pairs of classes listed at most.
const PAIRS: usize = 5;

/// The borders proposed for a run, with the numbers behind them.
#[derive(Clone, PartialEq, Debug)]
pub struct Suggestions {
    /// The number of JVMs whose counts were given.
    pub jvms: usize,
    /// The running time of the JVMs with classes to choose from, in milliseconds.
    pub time_ms: u64,
    /// All calls of methods and constructors of the classes to choose from.
    pub calls: u64,
    /// The border around all classes to choose from; its patterns are those of the selection.
    pub whole: Border,
    /// Borders around a part of them, best first.
    pub borders: Vec<Border>,
    /// The pairs of classes with most calls between them, busiest first.
    pub pairs: Vec<Pair>,
}

/// Two classes that call each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The dotted names of the classes, in the order of the alphabet.
    pub classes: [String; 2],
    /// The calls in both directions together.
    pub calls: u64,
}

impl Suggestions {
    /// Computes the proposals from the counts of all JVMs of a run. The selection limits the classes
    /// to choose from.
    pub fn of(couplings: &[Coupling], selection: &Selection) -> Suggestions {
        let program = CoupledProgram::join(couplings, selection);
        let name = |class: usize| program.classes[class].name.clone();
        let pairs = border::closest_pairs(&program, PAIRS);
        let pairs = pairs.into_iter().map(|(a, b, calls)| Pair {
            classes: [name(a), name(b)],
            calls,
        });
        Suggestions {
            jvms: couplings.len(),
            time_ms: program.time_ms,
            calls: program.calls(),
            whole: border::whole(&program, &selection.observe),
            borders: border::propose(&program, PROPOSALS),
            pairs: pairs.collect(),
        }
    }

    /// A count divided by the running time in seconds.
    pub fn per_second(&self, count: u64) -> u64 {
        let time = u128::from(self.time_ms.max(1));
        u64::try_from(u128::from(count) * 1000 / time).unwrap_or(u64::MAX)
    }

    /// The estimated size of a recording of this border, in bytes per second of running time.
    pub fn bytes_per_second(&self, measure: &Measure) -> u64 {
        self.per_second(measure.events * BYTES_PER_EVENT)
    }

    /// The share of all calls that are inside a border, from 0 to 1.
    pub fn share(&self, measure: &Measure) -> f64 {
        measure.inside as f64 / self.calls.max(1) as f64
    }

    /// True if there is no class to choose from.
    pub fn is_empty(&self) -> bool {
        self.whole.measure.classes == 0
    }

    /// True if the first proposal has neither fewer events than the whole nor more calls inside, or
    /// if there is none.
    pub fn is_whole_best(&self) -> bool {
        let whole = &self.whole.measure;
        self.borders.first().is_none_or(|best| {
            whole.events <= best.measure.events && whole.inside >= best.measure.inside
        })
    }
}

#[cfg(test)]
mod tests {
    use culprit_model::observe::ClassOrigin;
    use culprit_trace::{CoupledClass, Edge};

    use super::*;

    fn coupling(edges: &[(usize, usize, u64)]) -> Coupling {
        let class = |name: &str| CoupledClass {
            name: name.to_owned(),
            origin: ClassOrigin::Program,
            methods: 1,
            live_calls: 0,
            supertypes: Vec::new(),
        };
        let edges = edges.iter().map(|&(from, to, calls)| Edge {
            from,
            to,
            calls,
            ..Edge::default()
        });
        Coupling {
            time_ms: 2000,
            classes: ["a.Main", "b.Parser", "c.Lexer"].map(class).to_vec(),
            edges: edges.collect(),
        }
    }

    #[test]
    fn counts_become_ranked_borders_with_their_numbers() {
        let counts = coupling(&[(0, 1, 100), (1, 2, 10), (2, 3, 5000)]);
        let found = Suggestions::of(&[counts], &Selection::default());
        assert_eq!((found.jvms, found.time_ms, found.calls), (1, 2000, 5110));
        assert_eq!(found.whole.measure.classes, 3);
        let best = &found.borders[0];
        let patterns: Vec<String> = best.patterns.iter().map(ToString::to_string).collect();
        assert_eq!(patterns, ["b.Parser", "c.Lexer"]);
        assert_eq!(best.measure.events, 20);
        assert_eq!(found.per_second(best.measure.inside), 2500);
        assert_eq!(found.bytes_per_second(&best.measure), 30);
        assert_eq!(found.pairs[0].classes, ["b.Parser", "c.Lexer"]);
        assert!(!found.is_whole_best());
        assert!(!found.is_empty());
    }

    #[test]
    fn without_a_class_to_choose_there_is_nothing_to_propose() {
        for couplings in [Vec::new(), vec![Coupling::default()]] {
            let found = Suggestions::of(&couplings, &Selection::default());
            assert_eq!(found.jvms, couplings.len());
            assert!(found.is_empty() && found.is_whole_best());
            assert!(found.borders.is_empty() && found.pairs.is_empty());
        }
    }
}
