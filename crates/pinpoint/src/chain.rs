//! The chain from a failure back to where it comes from: at each step one of the instructions that the one before
//! depended on, preferably one with which an experiment made the failure go away.

use std::collections::BTreeMap;

use culprit_slice::{Criterion, DefinedValue, Dependence, NodeId, Origin, Place, Replayed};

use crate::change::Change;
use crate::dependence::{LinkDependence, Passed};
use crate::experiment::{Ended, Experiment};
use crate::neighbour::{PassingValue, PassingValues};
use crate::rank::{Distances, Suspect};

/// The most links of a chain.
const LONGEST: usize = 12;

/// The most branches that decide beside a chain.
const MOST_OMISSIONS: usize = 3;

/// The methods that a chain leads to, if it can: the likeliest ones.
const AIMS: usize = 6;

/// The worth of a confirmed instruction on a chain, where the likeliest method is worth 1; so many of them count.
const CONFIRMED: f32 = 0.4;
const MOST_CONFIRMED: u8 = 3;

/// What a step costs.
const STEP: f32 = 0.02;

/// A link of a chain.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    pub place: Place,
    /// The line of the source file without its indentation, if the file was found.
    pub code: Option<String>,
    /// The value that the instruction left, as text.
    pub value: Option<String>,
    /// The dependence of the link before on this one; none for the first.
    pub dependence: Option<LinkDependence>,
    pub evidence: Evidence,
    /// The value in a passing neighbour, if it is another one there.
    pub passing: Option<PassingValue>,
}

/// The evidence that a link has to do with the failure.
#[derive(Clone, PartialEq, Debug)]
pub enum Evidence {
    /// With this change of the value, nothing fails.
    Confirmed(Change),
    /// The failure depended on it; no experiment made the failure go away.
    Related,
}

/// The chain from a criterion back: the way through the dependences that leads past the likeliest methods and past
/// instructions that an experiment confirmed.
pub(crate) fn chain(
    run: &Replayed,
    criterion: &Criterion,
    distances: &Distances,
    experiments: &[Experiment],
    suspects: &[Suspect],
    passing: &PassingValues<'_>,
) -> Vec<Link> {
    let mut confirmed: BTreeMap<NodeId, &Experiment> = BTreeMap::new();
    for it in experiments.iter().filter(|it| it.ended == Ended::Passed) {
        let known = confirmed.entry(it.spot.node).or_insert(it);
        if complexity(it) < complexity(known) {
            *known = it;
        }
    }
    let ways = Ways::of(run, criterion, distances, &confirmed, suspects);
    let mut links: Vec<Link> = Vec::new();
    let mut passed = Passed::default();
    for (node, kind) in ways.best(run, distances) {
        if !distances.is_own(run, node) {
            passed.through(run, node);
            continue;
        }
        let dependence = passed.to(run, node, kind);
        if let Origin::Instruction(number) = run.graph.origin(node)
            && let Some(place) = run.program.place(number)
        {
            let experiment = confirmed.get(&node);
            let evidence = match experiment {
                Some(experiment) => Evidence::Confirmed(experiment.change.clone()),
                None => Evidence::Related,
            };
            let link = Link {
                place,
                code: None,
                value: value(run, node),
                dependence,
                evidence,
                passing: passing.at(node, experiment.and_then(|it| it.neighbour)),
            };
            add(&mut links, link);
        }
    }
    shorten(&mut links);
    links
}

/// The branches that lead no value to the failure, but with which it goes away if they go the other way.
pub(crate) fn omissions(
    run: &Replayed,
    experiments: &[Experiment],
    may_be: &dyn Fn(NodeId) -> bool,
) -> Vec<Link> {
    let decide = experiments
        .iter()
        .filter(|it| it.ended == Ended::Passed && may_be(it.spot.node));
    let mut links: Vec<Link> = Vec::new();
    for it in decide {
        if let Some(place) = run.program.place(it.spot.instruction) {
            let link = Link {
                place,
                code: None,
                value: None,
                dependence: None,
                evidence: Evidence::Confirmed(it.change.clone()),
                passing: None,
            };
            add(&mut links, link);
        }
    }
    links.truncate(MOST_OMISSIONS);
    links
}

/// For each node the best way to it from the failure.
struct Ways(Vec<Way>);

#[derive(Clone, Copy)]
struct Way {
    /// A bit for each of the likeliest methods on it, the lowest for the likeliest.
    suspects: u8,
    /// Instructions that an experiment confirmed, at most [`MOST_CONFIRMED`].
    confirmed: u8,
    /// Infinite without a way.
    length: f32,
    /// The node before, which depends on this one, and how.
    before: Option<(NodeId, Dependence)>,
}

impl Way {
    const NONE: Way = Way {
        suspects: 0,
        confirmed: 0,
        length: f32::INFINITY,
        before: None,
    };

    /// A way is worth what it leads past: likely methods, each by its rank, and confirmed instructions. Of ways that are
    /// worth the same the shortest is the best.
    fn worth(&self) -> f32 {
        let suspects = (0..AIMS).filter(|at| self.suspects & (1 << at) != 0);
        let suspects: f32 = suspects.map(|at| 1.0 / (1.0 + at as f32)).sum();
        suspects + CONFIRMED * f32::from(self.confirmed) - STEP * self.length
    }

    fn is_better(&self, other: &Way) -> bool {
        self.worth() > other.worth()
    }
}

impl Ways {
    fn of(
        run: &Replayed,
        criterion: &Criterion,
        distances: &Distances,
        confirmed: &BTreeMap<NodeId, &Experiment>,
        suspects: &[Suspect],
    ) -> Ways {
        let aims: BTreeMap<u32, u8> = suspects
            .iter()
            .take(AIMS)
            .enumerate()
            .map(|(at, suspect)| (suspect.start, 1 << at))
            .collect();
        let aim = |node: NodeId| match run.graph.origin(node) {
            Origin::Instruction(number) if distances.is_own(run, node) => {
                let start = run.program.method_start(number);
                start.and_then(|start| aims.get(&start).copied())
            }
            Origin::Instruction(_) | Origin::Statement(_) => None,
        };
        let mut ways = vec![Way::NONE; run.graph.len()];
        for node in run.nodes(criterion) {
            ways[node.0 as usize] = Way {
                suspects: aim(node).unwrap_or(0),
                confirmed: u8::from(confirmed.contains_key(&node)),
                length: 0.0,
                ..Way::NONE
            };
        }
        // Nodes come after those that they depend on.
        for node in run.graph.nodes().rev() {
            let way = ways[node.0 as usize];
            if way.length.is_infinite() {
                continue;
            }
            let mut kinds = run.graph.parents(node).map(|(_, kind)| kind);
            let is_given_exception = kinds.any(|kind| kind == Dependence::Exception);
            for (parent, kind) in run.graph.parents(node) {
                // The branches that a handler depends on are those of the instruction that has thrown.
                if is_given_exception && kind == Dependence::Control {
                    continue;
                }
                let is_confirmed = u8::from(confirmed.contains_key(&parent));
                let longer = Way {
                    suspects: way.suspects | aim(parent).unwrap_or(0),
                    confirmed: MOST_CONFIRMED.min(way.confirmed + is_confirmed),
                    length: way.length + distances.step(run, parent, kind),
                    before: Some((node, kind)),
                };
                let known = &mut ways[parent.0 as usize];
                if longer.is_better(known) {
                    *known = longer;
                }
            }
        }
        Ways(ways)
    }

    /// The nodes of the best way, from the failure back, each with the dependence of the one before on it.
    fn best(&self, run: &Replayed, distances: &Distances) -> Vec<(NodeId, Option<Dependence>)> {
        let own = run.graph.nodes().filter(|it| distances.is_own(run, *it));
        let worth = |node: &NodeId| self.0[node.0 as usize].worth();
        let best = own.max_by(|one, other| worth(one).total_cmp(&worth(other)));
        let mut nodes = Vec::new();
        let mut at = best.filter(|node| worth(node).is_finite());
        while let Some(node) = at {
            let before = self.0[node.0 as usize].before;
            nodes.push((node, before.map(|(_, kind)| kind)));
            at = before.map(|(node, _)| node);
        }
        nodes.reverse();
        nodes.drain(..thrown_again(run, &nodes));
        if let Some((_, kind)) = nodes.first_mut() {
            *kind = None;
        }
        nodes
    }
}

/// The number of nodes that only throw an exception again, such as the end of `finally`: it does not come from there.
fn thrown_again(run: &Replayed, nodes: &[(NodeId, Option<Dependence>)]) -> usize {
    let is_throw = |node: NodeId| match run.graph.origin(node) {
        Origin::Instruction(number) => run.program.is_throw(number),
        Origin::Statement(_) => false,
    };
    // The operand of a node, through variables.
    let operand = |node: &NodeId| {
        let mut parents = run.graph.parents(*node);
        parents
            .find(|(_, kind)| *kind != Dependence::Control)
            .map(|(it, _)| it)
    };
    let mut first = 0;
    // An instruction throws what a handler was given by another one.
    while let Some((node, rest)) = nodes.get(first..).and_then(<[_]>::split_first)
        && is_throw(node.0)
        && let Some(thrown) = rest
            .iter()
            .position(|(_, kind)| *kind == Some(Dependence::Exception))
    {
        let handler = nodes[first + thrown].0;
        let mut operands = std::iter::successors(operand(&node.0), operand);
        if !operands.any(|it| it == handler) {
            break;
        }
        first += thrown + 1;
    }
    first
}

/// Removes links of a long chain that tell least: such as are not confirmed, between others.
fn shorten(links: &mut Vec<Link>) {
    while links.len() > LONGEST {
        let inner = 1..links.len() - 1;
        let mut related = inner.filter(|at| links[*at].evidence == Evidence::Related);
        let first = related.clone().next();
        let is_between = |at: &usize| {
            let methods = [at - 1, *at, at + 1].map(|at| &links[at].place);
            let [before, own, after] = methods.map(|it| (&it.class, &it.method, &it.descriptor));
            before == own && own == after
        };
        match related.find(is_between).or(first) {
            Some(at) => remove(links, at),
            None => links.truncate(LONGEST),
        }
    }
}

/// Removes a link; the one behind it depends on the one before through it.
pub(crate) fn remove(links: &mut Vec<Link>, at: usize) {
    links.remove(at);
    if let Some(next) = links.get_mut(at) {
        next.dependence = Some(LinkDependence::Indirect);
    }
}

/// Adds a link, unless it is of the same line as the one before and tells less.
fn add(links: &mut Vec<Link>, link: Link) {
    match links.last_mut() {
        Some(last)
            if last.place.class == link.place.class
                && last.place.method == link.place.method
                && last.place.line == link.place.line =>
        {
            if last.evidence == Evidence::Related && link.evidence != Evidence::Related {
                last.evidence = link.evidence;
                last.value = link.value;
                last.passing = link.passing;
            }
        }
        _ => links.push(link),
    }
}

/// A measure for how much an experiment tells, the smaller the more: the value of a run that passes is no chance.
pub(crate) fn complexity(experiment: &Experiment) -> u8 {
    match experiment.neighbour {
        Some(_) => 0,
        None => experiment.change.complexity(),
    }
}

/// The value of a node as text.
fn value(run: &Replayed, node: NodeId) -> Option<String> {
    Some(match run.graph.value(node)? {
        DefinedValue::Int(value) => value.to_string(),
        DefinedValue::Long(value) => value.to_string(),
        DefinedValue::Float(value) => value.to_string(),
        DefinedValue::Double(value) => value.to_string(),
        DefinedValue::Object(0) => "null".to_owned(),
        DefinedValue::Object(id) => {
            let object = run.objects.get(id as usize - 1)?;
            object.text.clone().map_or_else(
                || object.class.replace('/', "."),
                |text| format!("\"{text}\""),
            )
        }
    })
}
