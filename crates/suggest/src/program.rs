//! The program as the counters saw it: its classes, who called whom, and what a border around
//! some of them would record. Pure; the counts come from `culprit_trace::Coupling`.
//!
//! A border is a set of classes. Whoever is outside and calls in, or inside and calls out, makes
//! events: two for a call, one more where an object is constructed from outside, one more for
//! each array given outwards, one for an access to a field.

use std::collections::{BTreeMap, BTreeSet};

use culprit_model::observe::{ClassOrigin, is_tool_name};
use culprit_model::{Pattern, Selection};
use culprit_trace::{CoupledClass, Coupling, Edge};

/// Bytes an event takes in a recording, on average.
pub(crate) const BYTES_PER_EVENT: u64 = 3;

/// The classes of all JVMs of a run, by name.
#[derive(Debug)]
pub(crate) struct CoupledProgram {
    pub(crate) time_ms: u64,
    /// In order of their names.
    pub(crate) classes: Vec<CoupledClass>,
    /// Numbers are positions in `classes` plus one, as in the files.
    pub(crate) edges: Vec<Edge>,
    /// Classes that may be inside a border.
    pub(crate) own: Vec<bool>,
    /// Classes that extend or implement the class.
    heirs: Vec<Vec<usize>>,
}

/// The counts for a border around a set of classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Measure {
    /// Classes inside.
    pub classes: usize,
    /// Calls from inside to inside.
    pub inside: u64,
    /// Events at the border.
    pub events: u64,
}

/// A set of classes, by position.
pub(crate) type Members = Vec<bool>;

impl CoupledProgram {
    /// Joins what the JVMs left behind. A JVM without any class to choose (a build tool's own) does
    /// not count, not even its time.
    pub(crate) fn join(couplings: &[Coupling], selection: &Selection) -> CoupledProgram {
        let is_own = |class: &CoupledClass| {
            let name = class.name.replace('.', "/");
            !is_tool_name(&name) && selection.selects(&name, class.origin)
        };
        let mut choice: Vec<&Coupling> = couplings.iter().collect();
        choice.retain(|coupling| coupling.classes.iter().any(is_own));
        let mut classes: BTreeMap<&str, CoupledClass> = BTreeMap::new();
        for class in choice.iter().flat_map(|coupling| &coupling.classes) {
            classes
                .entry(&class.name)
                .and_modify(|known| {
                    known.live_calls += class.live_calls;
                    known.methods = known.methods.max(class.methods);
                })
                .or_insert_with(|| class.clone());
        }
        let positions: BTreeMap<&str, usize> = classes.keys().copied().zip(1..).collect();
        let mut edges: BTreeMap<(usize, usize), Edge> = BTreeMap::new();
        for coupling in &choice {
            let place = |number: usize| match number.checked_sub(1) {
                Some(index) => positions[coupling.classes[index].name.as_str()],
                None => 0,
            };
            for edge in &coupling.edges {
                let (from, to) = (place(edge.from), place(edge.to));
                let sum = edges.entry((from, to)).or_insert(Edge {
                    from,
                    to,
                    ..Edge::default()
                });
                sum.calls += edge.calls;
                sum.constructions += edge.constructions;
                sum.arrays += edge.arrays;
                sum.accesses += edge.accesses;
            }
        }
        let classes: Vec<CoupledClass> = classes.into_values().collect();
        let mut heirs = vec![Vec::new(); classes.len()];
        for (heir, class) in classes.iter().enumerate() {
            for supertype in &class.supertypes {
                if let Ok(at) = classes.binary_search_by(|c| c.name.as_str().cmp(supertype)) {
                    heirs[at].push(heir);
                }
            }
        }
        CoupledProgram {
            time_ms: choice.iter().map(|coupling| coupling.time_ms).sum(),
            own: classes.iter().map(is_own).collect(),
            edges: edges.into_values().collect(),
            classes,
            heirs,
        }
    }

    /// The classes that these patterns would observe: those that match, and their subclasses.
    pub(crate) fn matching(&self, patterns: &[Pattern]) -> Members {
        let matches = |class: &CoupledClass| {
            class.origin != ClassOrigin::Jdk && patterns.iter().any(|p| p.matches(&class.name))
        };
        self.with_heirs(self.classes.iter().map(matches).collect())
    }

    /// Every class to choose from, and their subclasses.
    pub(crate) fn whole(&self) -> Members {
        self.with_heirs(self.own.clone())
    }

    /// Adds subclasses of members.
    fn with_heirs(&self, mut members: Members) -> Members {
        let mut open: Vec<usize> = (0..members.len()).filter(|i| members[*i]).collect();
        while let Some(class) = open.pop() {
            for &heir in &self.heirs[class] {
                if !members[heir] {
                    members[heir] = true;
                    open.push(heir);
                }
            }
        }
        members
    }

    /// The events that a border around the members would record.
    pub(crate) fn measure(&self, members: &Members) -> Measure {
        let has = |number: usize| number.checked_sub(1).is_some_and(|index| members[index]);
        let mut measure = Measure {
            classes: members.iter().filter(|m| **m).count(),
            ..Measure::default()
        };
        for edge in &self.edges {
            let calls = edge.calls + edge.constructions;
            match (has(edge.from), has(edge.to)) {
                (true, true) => measure.inside += calls,
                (false, true) => measure.events += 2 * calls + edge.constructions + edge.accesses,
                (true, false) => measure.events += 2 * calls + edge.arrays + edge.accesses,
                (false, false) => {}
            }
        }
        measure
    }

    /// All calls of methods and constructors that may be inside a border.
    pub(crate) fn calls(&self) -> u64 {
        let counts = self.edges.iter().filter(|edge| {
            let to = edge.to.checked_sub(1);
            to.is_some_and(|index| self.own[index])
        });
        counts.map(|edge| edge.calls + edge.constructions).sum()
    }

    /// Packages of the classes to choose from, parents included.
    pub(crate) fn packages(&self) -> BTreeSet<&str> {
        let mut packages = BTreeSet::new();
        for class in self.own_classes() {
            let mut rest = self.classes[class].name.as_str();
            while let Some((package, _)) = rest.rsplit_once('.') {
                packages.insert(package);
                rest = package;
            }
        }
        packages
    }

    pub(crate) fn own_classes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.classes.len()).filter(|index| self.own[*index])
    }
}
