//! The places of a slice, in the order in which they are to be looked at.

use std::collections::{BTreeMap, BTreeSet};

use culprit_slice::{Criterion, Dependence, NodeId, Origin, Place, Replayed};

use crate::experiment::{Ended, Experiment};

/// A method that a failure depended on.
#[derive(Clone, PartialEq, Debug)]
pub struct Suspect {
    /// The internal name of its class.
    pub class: String,
    pub method: String,
    pub descriptor: String,
    /// The name of the source file.
    pub source: Option<String>,
    /// The lines that the failure depended on, the nearest first.
    pub lines: Vec<u16>,
    /// An experiment with one of its values made the failure go away.
    pub is_confirmed: bool,
    /// How far it is from the failure.
    pub distance: f32,
}

/// A step through code that is not looked at.
const THROUGH: f32 = 0.05;

/// How far the instructions of a run are from its failure.
pub(crate) struct Distances {
    /// By node; infinite outside of the slice.
    nodes: Vec<f32>,
    own: OwnInstructions,
}

impl Distances {
    /// The distances from a criterion. `is_own` admits the code that is looked at.
    pub(crate) fn of(
        run: &Replayed,
        criterion: &Criterion,
        is_own: &dyn Fn(&Place) -> bool,
    ) -> Distances {
        let own = OwnInstructions::of(run, is_own);
        let mut nodes = vec![f32::INFINITY; run.graph.len()];
        for node in run.nodes(criterion) {
            nodes[node.0 as usize] = 0.0;
        }
        // Nodes come after those that they depend on.
        for node in run.graph.nodes().rev() {
            let distance = nodes[node.0 as usize];
            if distance.is_finite() {
                for (parent, kind) in run.graph.parents(node) {
                    let step = step(run, &own, parent, kind);
                    let at = &mut nodes[parent.0 as usize];
                    *at = at.min(distance + step);
                }
            }
        }
        Distances { nodes, own }
    }

    /// True for an instance of an instruction that is looked at.
    pub(crate) fn is_own(&self, run: &Replayed, node: NodeId) -> bool {
        match run.graph.origin(node) {
            Origin::Instruction(number) => self.own.has(number),
            Origin::Statement(_) => false,
        }
    }

    pub(crate) fn at(&self, node: NodeId) -> f32 {
        self.nodes[node.0 as usize]
    }

    /// The instances of the program's own instructions in the slice, the nearest first: of each instruction at most
    /// `each`.
    pub(crate) fn nearest(&self, run: &Replayed, each: usize) -> Vec<NodeId> {
        let mut found: Vec<(NodeId, u32)> = Vec::new();
        for node in run.graph.nodes() {
            if let Origin::Instruction(number) = run.graph.origin(node)
                && self.own.has(number)
                && self.at(node).is_finite()
            {
                found.push((node, number));
            }
        }
        found.sort_by(|one, other| {
            let distances = self.at(one.0).total_cmp(&self.at(other.0));
            distances.then(other.0.cmp(&one.0))
        });
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        found.retain(|(_, number)| {
            let count = counts.entry(*number).or_default();
            *count += 1;
            *count <= each
        });
        found.into_iter().map(|(node, _)| node).collect()
    }
}

/// The methods that a failure depended on: those with a value that decides it first, then the nearest.
pub(crate) fn suspects(
    run: &Replayed,
    distances: &Distances,
    experiments: &[Experiment],
) -> Vec<Suspect> {
    let mut confirmed: BTreeSet<u32> = BTreeSet::new();
    for it in experiments.iter().filter(|it| it.ended == Ended::Passed) {
        confirmed.insert(it.spot.instruction);
    }
    let mut nearest: BTreeMap<u32, f32> = BTreeMap::new();
    for node in distances.nearest(run, 1) {
        if let Origin::Instruction(number) = run.graph.origin(node) {
            nearest.insert(number, distances.at(node));
        }
    }
    by_method(run, nearest, &confirmed)
}

fn step(run: &Replayed, own: &OwnInstructions, parent: NodeId, kind: Dependence) -> f32 {
    let is_own = match run.graph.origin(parent) {
        Origin::Instruction(number) => own.has(number),
        Origin::Statement(_) => false,
    };
    match (is_own, kind) {
        (false, _) => THROUGH,
        (true, Dependence::Base) => 2.0,
        (true, Dependence::Return) => 0.5,
        (true, _) => 1.0,
    }
}

/// The instructions that are looked at, by number.
struct OwnInstructions(Vec<bool>);

impl OwnInstructions {
    fn of(run: &Replayed, is_own: &dyn Fn(&Place) -> bool) -> OwnInstructions {
        let count = run.program.instructions() as u32;
        let is_own = |number: u32| {
            let place = run.program.place(number);
            !run.program.is_library(number) && place.is_some_and(|place| is_own(&place))
        };
        OwnInstructions((0..count).map(is_own).collect())
    }

    fn has(&self, number: u32) -> bool {
        self.0.get(number as usize).copied().unwrap_or(false)
    }
}

/// Methods from the distances of their instructions.
fn by_method(
    run: &Replayed,
    nearest: BTreeMap<u32, f32>,
    confirmed: &BTreeSet<u32>,
) -> Vec<Suspect> {
    let mut found: Vec<(f32, Place, bool)> = nearest
        .into_iter()
        .filter_map(|(number, distance)| {
            Some((
                distance,
                run.program.place(number)?,
                confirmed.contains(&number),
            ))
        })
        .collect();
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut methods: Vec<Suspect> = Vec::new();
    for (distance, place, is_confirmed) in found {
        let is_known = |it: &Suspect| {
            (&it.class, &it.method, &it.descriptor)
                == (&place.class, &place.method, &place.descriptor)
        };
        let at = methods.iter().position(is_known).unwrap_or(methods.len());
        if at == methods.len() {
            methods.push(Suspect {
                class: place.class,
                method: place.method,
                descriptor: place.descriptor,
                source: place.source,
                lines: Vec::new(),
                is_confirmed: false,
                distance,
            });
        }
        let suspect = &mut methods[at];
        suspect.is_confirmed |= is_confirmed;
        if let Some(line) = place.line
            && !suspect.lines.contains(&line)
        {
            suspect.lines.push(line);
        }
    }
    methods.sort_by(|one, other| {
        let confirmed = other.is_confirmed.cmp(&one.is_confirmed);
        confirmed.then(one.distance.total_cmp(&other.distance))
    });
    methods
}
