//! The places of a slice, in the order in which they are to be looked at.

use std::collections::{BTreeMap, BTreeSet};

use culprit_signature::Thrown;
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
    /// The number of its first instruction in the trace.
    pub(crate) start: u32,
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
                    let step = own.step(run, parent, kind);
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

    /// The length of a step from a node to one that it depends on.
    pub(crate) fn step(&self, run: &Replayed, parent: NodeId, kind: Dependence) -> f32 {
        self.own.step(run, parent, kind)
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
        at_most(each, found)
    }

    /// The instances of the program's own instructions outside of the slice that leave no value, such as branches, the
    /// last first: of each instruction at most `each`.
    pub(crate) fn outside(&self, run: &Replayed, each: usize) -> Vec<NodeId> {
        let found = run.graph.nodes().rev().filter_map(|node| {
            let Origin::Instruction(number) = run.graph.origin(node) else {
                return None;
            };
            let is_outside = self.own.has(number) && self.at(node).is_infinite();
            (is_outside && run.graph.value(node).is_none()).then_some((node, number))
        });
        at_most(each, found.collect())
    }
}

/// The first instances of each instruction.
fn at_most(each: usize, mut found: Vec<(NodeId, u32)>) -> Vec<NodeId> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    found.retain(|(_, number)| {
        let count = counts.entry(*number).or_default();
        *count += 1;
        *count <= each
    });
    found.into_iter().map(|(node, _)| node).collect()
}

/// The methods that were run, the likeliest to be at fault first. `stack` is the stack trace of the failure.
pub(crate) fn suspects(
    run: &Replayed,
    distances: &Distances,
    experiments: &[Experiment],
    stack: &str,
) -> Vec<Suspect> {
    let mut methods = Methods::of(run, distances);
    methods.add_stack(stack);
    methods.add_experiments(run, experiments);
    methods.ranked()
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

    fn step(&self, run: &Replayed, parent: NodeId, kind: Dependence) -> f32 {
        let is_own = match run.graph.origin(parent) {
            Origin::Instruction(number) => self.has(number),
            // Behind it are the guards of the script.
            Origin::Statement(_) => kind == Dependence::Control,
        };
        match (is_own, kind) {
            (false, _) => THROUGH,
            (true, Dependence::Base) => 2.0,
            (true, Dependence::Return) => 0.5,
            (true, _) => 1.0,
        }
    }
}

/// The methods of the program that were run, by their first instructions.
struct Methods(BTreeMap<u32, (Suspect, Traits)>);

/// What speaks for or against a method.
#[derive(Clone, Copy, Debug)]
struct Traits {
    /// The distance of its nearest instruction from the failure; infinite outside of the slice.
    distance: f32,
    /// Its place on the stack of the failure, among the methods of the program.
    frame: Option<u16>,
    lines_run: u16,
}

impl Methods {
    fn of(run: &Replayed, distances: &Distances) -> Methods {
        let mut nearest: BTreeMap<u32, f32> = BTreeMap::new();
        for node in run.graph.nodes() {
            if let Origin::Instruction(number) = run.graph.origin(node)
                && distances.own.has(number)
            {
                let at = nearest.entry(number).or_insert(f32::INFINITY);
                *at = at.min(distances.at(node));
            }
        }
        let mut nearest: Vec<(u32, f32)> = nearest.into_iter().collect();
        nearest.sort_by(|one, other| one.1.total_cmp(&other.1));
        let mut methods = BTreeMap::new();
        let mut lines: BTreeSet<(u32, u16)> = BTreeSet::new();
        for (number, distance) in nearest {
            let (Some(start), Some(place)) =
                (run.program.method_start(number), run.program.place(number))
            else {
                continue;
            };
            let line = place.line;
            let (suspect, traits) = methods.entry(start).or_insert_with(|| {
                let suspect = Suspect {
                    class: place.class,
                    method: place.method,
                    descriptor: place.descriptor,
                    source: place.source,
                    lines: Vec::new(),
                    is_confirmed: false,
                    start,
                };
                let traits = Traits {
                    distance,
                    frame: None,
                    lines_run: 0,
                };
                (suspect, traits)
            });
            if let Some(line) = line
                && lines.insert((start, line))
            {
                traits.lines_run = traits.lines_run.saturating_add(1);
                if distance.is_finite() {
                    suspect.lines.push(line);
                }
            }
        }
        Methods(methods)
    }

    /// Adds where methods are on the stack of the failure.
    fn add_stack(&mut self, stack: &str) {
        let Some(thrown) = Thrown::parse(stack) else {
            return;
        };
        let frames = thrown.chain().last().map(|it| it.frames.as_slice());
        let mut place: u16 = 0;
        for frame in frames.unwrap_or_default() {
            let class = frame.class.replace('.', "/");
            let line = frame.line.and_then(|line| u16::try_from(line).ok());
            let is_there = |suspect: &Suspect| {
                suspect.class == class
                    && suspect.method == frame.method
                    && line.is_none_or(|line| suspect.lines.contains(&line))
            };
            let mut named = self.0.values_mut().filter(|it| is_there(&it.0));
            if let Some((_, traits)) = named.next() {
                traits.frame = traits.frame.or(Some(place));
                place = place.saturating_add(1);
            }
        }
    }

    /// Adds what experiments have shown.
    fn add_experiments(&mut self, run: &Replayed, experiments: &[Experiment]) {
        for it in experiments.iter().filter(|it| it.ended == Ended::Passed) {
            let start = run.program.method_start(it.spot.instruction);
            let method = start.and_then(|start| self.0.get_mut(&start));
            if let Some((suspect, _)) = method {
                suspect.is_confirmed = true;
            }
        }
    }

    fn ranked(self) -> Vec<Suspect> {
        let methods = self.0.into_values();
        let mut scored: Vec<(f32, Suspect)> = methods
            .map(|(suspect, traits)| (traits.score(&suspect), suspect))
            .collect();
        scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        scored.into_iter().map(|(_, suspect)| suspect).collect()
    }
}

impl Traits {
    /// The likelihood that a method is at fault, on a scale of its own.
    ///
    /// A value that decides the failure weighs most, then the number of lines that the failure depended on, a place high
    /// on the stack, and a short way to the failure. The weights were fitted to the bugs of `docs/studies/corpus.md` and
    /// to 114 bugs of Defects4J; fitted to three quarters of these, they rank the others about as well.
    fn score(&self, suspect: &Suspect) -> f32 {
        let confirmed = if suspect.is_confirmed { 2.5 } else { 0.0 };
        let lines = (1.0 + suspect.lines.len() as f32).ln();
        let frame = self.frame.map_or(0.0, |it| 1.5 / (1.0 + f32::from(it)));
        let distance = match self.distance.is_finite() {
            true => 0.8 * (1.0 + self.distance.min(FARTHEST)).ln(),
            false => 2.0 + 0.8 * (1.0 + FARTHEST).ln(),
        };
        let initialiser = if suspect.method == "<clinit>" {
            1.1
        } else {
            0.0
        };
        let one_line = if self.lines_run == 1 { 0.5 } else { 0.0 };
        confirmed + lines + frame - distance - initialiser - one_line
    }
}

/// Beyond this distance from the failure a method is no less likely.
const FARTHEST: f32 = 30.0;
